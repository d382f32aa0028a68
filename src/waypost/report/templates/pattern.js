// Patterns: the language of `waypost pattern`, read and matched by derivatives as `waypost.patterns` does it.
//
// A node is a regular language over letters 0 .. n - 1; equal nodes are the same object, so that derivatives are found
// once. What the templates mean comes with the page, written in the language itself.

class Language {
  constructor(letters) {
    this.letters = letters; // how many
    this.known = new Map();
    this.all = this.set(Array.from({ length: letters }, (_, i) => i));
    this.nothing = this.set([]);
    this.noStep = this.make("row", []);
    this.anything = this.make("times", [this.all], 0, null);
  }

  make(kind, parts, least = null, most = null, own = null) {
    const key = `${kind} ${least} ${most} ${own || parts.map((part) => part.id).join()}`;
    if (!this.known.has(key)) this.known.set(key, { id: this.known.size, kind, parts, least, most, own: own && new Set(own), after: [] });
    return this.known.get(key);
  }

  set(own) { return this.make("set", [], null, null, [...new Set(own)].sort((a, b) => a - b)); }

  row(nodes) {
    const flat = nodes.flatMap((node) => (node.kind === "row" ? node.parts : [node]));
    if (flat.includes(this.nothing)) return this.nothing;
    const merged = flat.filter((node, i) => !(node === this.anything && flat[i - 1] === this.anything));
    return merged.length === 1 ? merged[0] : this.make("row", merged);
  }

  joined(kind, nodes) {
    // sets become one set; the order of the others says nothing
    const parts = [...new Set(nodes.flatMap((node) => (node.kind === kind ? node.parts : [node])))];
    const sets = parts.filter((part) => part.kind === "set");
    const others = parts.filter((part) => part.kind !== "set");
    const [wins, loses] = kind === "or" ? [this.anything, this.nothing] : [this.nothing, this.anything];
    if (sets.length) others.push(this.set([...sets[0].own].filter((x) => kind === "or" || sets.every((s) => s.own.has(x))).concat(kind === "or" ? sets.flatMap((s) => [...s.own]) : [])));
    if (others.includes(wins)) return wins;
    const left = others.filter((part) => part !== loses).sort((a, b) => a.id - b.id);
    return left.length === 0 ? loses : left.length === 1 ? left[0] : this.make(kind, left);
  }

  not(node) { return node === this.nothing ? this.anything : node === this.anything ? this.nothing : node.kind === "not" ? node.parts[0] : this.make("not", [node]); }

  times(node, least, most) {
    if (most === 0 || node === this.noStep) return this.noStep;
    if (node === this.nothing) return least === 0 ? this.noStep : this.nothing;
    if ((least === 1 && most === 1) || node === this.anything) return node;
    return this.make("times", [node], this.nullable(node) ? 0 : least, most);
  }

  nullable(node) {
    if (node.empty === undefined) {
      const { kind, parts } = node;
      node.empty = kind === "set" ? false : kind === "or" ? parts.some((p) => this.nullable(p)) : kind === "not" ? !this.nullable(parts[0]) : kind === "times" ? node.least === 0 || this.nullable(parts[0]) : parts.every((p) => this.nullable(p));
    }
    return node.empty;
  }

  derivative(node, letter) {
    // what may follow the letter
    if (node.after[letter]) return node.after[letter];
    if (this.known.size > 50000) throw new PatternError("this pattern needs too many states; use smaller counts");
    const next = (part) => this.derivative(part, letter);
    const { kind, parts } = node;
    let found;
    if (kind === "set") found = node.own.has(letter) ? this.noStep : this.nothing;
    else if (kind === "or" || kind === "and") found = this.joined(kind, parts.map(next));
    else if (kind === "not") found = this.not(next(parts[0]));
    else if (kind === "times") found = this.row([next(parts[0]), this.times(parts[0], Math.max(node.least - 1, 0), node.most == null ? null : node.most - 1)]);
    else {
      const ways = [];
      for (let i = 0; i < parts.length; i++) {
        ways.push(this.row([next(parts[i]), ...parts.slice(i + 1)]));
        if (!this.nullable(parts[i])) break;
      }
      found = this.joined("or", ways.length ? ways : [this.nothing]);
    }
    node.after[letter] = found;
    return found;
  }

  matches(node, word) {
    for (const letter of word) {
      node = this.derivative(node, letter);
      if (node === this.nothing) return false;
    }
    return this.nullable(node);
  }
}

class PatternError extends Error {}

class PatternReader {
  // one token of lookahead, one method per rule of the grammar in docs/patterns.md
  // names are looked up by stepsOf(name) and actionsOf(action, name of the step or nothing); a log has no actions
  constructor(language, stepsOf, templates, actionsOf = null) { Object.assign(this, { language, stepsOf, templates, actionsOf, given: {} }); }

  read(text, given = {}) {
    const inner = new PatternReader(this.language, this.stepsOf, this.templates, this.actionsOf);
    Object.assign(inner, { text, given, at: 0 });
    inner.advance();
    const found = inner.pattern();
    if (inner.token.kind !== "end") inner.wrong(inner.token.kind === ")" ? "a bracket closes that was not open" : "something does not belong");
    return found;
  }

  wrong(what) { throw new PatternError(`${what} ${this.token.kind === "end" ? "at the end" : `at character ${this.token.at + 1}, “${this.text.slice(this.token.at, this.token.at + 12)}”`}`); }

  advance() {
    const signs = /\s*(?:(?<dots>\.\.\.)|"(?<quoted>(?:[^"\\]|\\[^])*)"|(?<bare>(?:(?!\.\.\.)[^\s|&!*?(){}/,"])+)|(?<sign>[^\s])|$)/y;
    signs.lastIndex = this.at;
    const found = signs.exec(this.text);
    const { dots, quoted, bare, sign } = found.groups;
    const kind = dots ? "..." : quoted != null ? "quoted" : bare === "." ? "." : bare != null ? "name" : sign || "end";
    const start = found.index + found[0].length - found[0].trimStart().length;
    this.token = { kind, text: quoted != null ? quoted.replace(/\\([^])/g, "$1") : bare, at: start, end: signs.lastIndex };
    this.at = signs.lastIndex;
    if (kind === '"') this.wrong("a quotation mark is not closed");
  }

  take(...kinds) {
    const { token } = this;
    if (!kinds.includes(token.kind)) return null;
    this.advance();
    return token;
  }

  pattern() { const parts = [this.both()]; while (this.take("|")) parts.push(this.both()); return this.language.joined("or", parts); }
  both() { const parts = [this.row()]; while (this.take("&")) parts.push(this.row()); return parts.length === 1 ? parts[0] : this.language.joined("and", parts); }
  row() { const parts = [this.repeated()]; while (["...", ".", "name", "quoted", "/", "!", "("].includes(this.token.kind)) parts.push(this.repeated()); return this.language.row(parts); }

  repeated() {
    let found = this.one();
    for (let sign = this.take("*", "?", "{"); sign; sign = this.take("*", "?", "{")) {
      if (sign.kind === "*") found = this.language.times(found, 0, null);
      else if (sign.kind === "?") found = this.language.times(found, 0, 1);
      else {
        const least = this.number();
        const most = this.take(",") ? (this.token.kind === "}" ? null : this.number()) : least;
        if (!this.take("}")) this.wrong("a count is written {2}, {2,} or {2,5}, but is not");
        if (most != null && most < Math.max(least, 1)) this.wrong("a count is empty");
        found = this.language.times(found, least, most);
      }
    }
    return found;
  }

  number() {
    if (this.token.kind !== "name" || !/^\d{1,9}$/.test(this.token.text)) this.wrong("a number is missing");
    return Number(this.take("name").text);
  }

  one() {
    if (this.take("...")) return this.language.anything;
    if (this.take(".")) return this.language.all;
    if (this.take("!")) {
      const part = this.one();
      if (part.kind !== "set") this.wrong("! stands before more than one step (for all but these write not(...))");
      return this.language.set([...this.language.all.own].filter((x) => !part.own.has(x)));
    }
    if (this.take("(")) { const found = this.pattern(); this.closed(); return found; }
    const { token } = this;
    if (token.kind === "name" && this.text[token.end] === "(" && !this.given[token.text]) return this.called();
    if (this.take("/")) return this.action(null);
    if (token.kind !== "name" && token.kind !== "quoted") this.wrong("a step is missing");
    const found = this.given[token.text] || this.stepsOf(token.text);
    if (!found) this.wrong(`there is no step “${token.text}”`);
    this.advance();
    if (this.token.kind === "/" && this.token.at === token.end) { this.advance(); return this.action(token.text); } // "A/go" is one step, "A /go" are two
    return found.kind ? found : this.language.set(found);
  }

  action(step) {
    const { token } = this;
    if (token.kind !== "name" && token.kind !== "quoted") this.wrong("an action is missing");
    if (!this.actionsOf) this.wrong("the cases of a log are steps without actions");
    const found = this.actionsOf(token.text, step);
    if (!found.length) this.wrong(step == null ? `there is no action “${token.text}”` : `“${token.text}” is taken in no state “${step}”`);
    this.advance();
    return this.language.set(found);
  }

  closed() { if (!this.take(")")) this.wrong(this.token.kind === "end" ? "a bracket is not closed" : "something does not belong"); }

  called() {
    // response(A, B), existence(A, 2), not(pattern)
    const word = this.token;
    const meaning = this.templates[word.text];
    if (word.text !== "not" && !meaning) this.wrong(`there is no template “${word.text}” (if it is a step, put a space before the bracket)`);
    this.advance();
    this.advance();
    const given = [this.pattern()];
    let number = null;
    while (this.take(",")) {
      if (/N/.test(meaning || "") && this.token.kind === "name" && /^\d{1,9}$/.test(this.token.text)) number = this.number();
      else given.push(this.pattern());
    }
    this.closed();
    if (word.text === "not") return this.language.not(given[0]);
    const wanted = /\bB\b/.test(meaning) ? 2 : 1;
    if (given.length !== wanted || given.some((part) => part.kind !== "set") || number === 0) this.wrong(`${word.text} is about ${wanted === 1 ? "one step" : "two steps"}, and this is not, before what is`);
    const text = meaning.replace(/\{M\}|\bM\b/g, (m) => m.replace("M", (number ?? 1) + 1)).replace(/\{N\}|\bN\b/g, (n) => n.replace("N", number ?? 1));
    return this.read(text, { A: given[0], B: given[1] });
  }
}
