// What a typed pattern says: counted over the cases of a log, or bounded over all strategies of a model.

const MOST_PRODUCT = 60000; // states of model times pattern

function caseLanguage(map) {
  // a case is read as `waypost pattern` reads it: the start, its activities, how it ended
  return { language: new Language(map.stops.length), lettersOf: (name) => { const found = map.stops.flatMap((stop, k) => (stop.name === name ? [k] : [])); return found.length ? found : null; } };
}

function countCases(map, language, node) {
  // how many good and bad cases match, and the names of some of them
  const found = { good: 0, allGood: 0, bad: 0, allBad: 0, examples: [] };
  for (const course of map.courses) {
    const side = map.stops[course[course.length - 1]].role === "good" ? "good" : "bad";
    found[side === "good" ? "allGood" : "allBad"] += course[0];
    const word = course.slice(1);
    word[0] = 0;
    if (!language.matches(node, word)) continue;
    found[side] += course[0];
    if (found.examples.length < 6) found.examples.push(course[1]);
  }
  return found;
}

function stateLanguage(page) {
  // a letter for every state; a name stands for the states that have it, as name, caption or label
  const { states, labels } = page.data;
  const named = (name) => {
    const own = new Set(Object.hasOwn(labels, name) ? labels[name] : []);
    states.forEach((known, s) => { if (known === name || page.caption(s) === name) own.add(s); });
    return own.size ? [...own] : null;
  };
  return { language: new Language(states.length), lettersOf: named };
}

function* patternImportance(model, target, initial, language, node) {
  // least and greatest share of the runs that reach the target which match, over all strategies, as enclosures: the
  // product with the pattern, in which a run that can no longer reach the target, or need not, starts again
  const number = new Map();
  const states = [];
  const at = (s, state) => { const key = `${s} ${state.id}`; if (!number.has(key)) { if (states.length >= MOST_PRODUCT) throw new PatternError("the model is too large for this pattern here; run: waypost pattern"); number.set(key, states.length); states.push([s, state]); } return number.get(key); };
  at(initial, language.derivative(node, initial));
  const [first, ptr, succ, prob, ends] = [[0], [0], [], [], []];
  const match = [];
  for (let i = 0; i < states.length; i++) {
    const [s, state] = states[i];
    ends.push(target[s] ? 1 : 0);
    match.push(target[s] && language.nullable(state) ? 1 : 0);
    if (target[s]) { succ.push(i); prob.push(1); ptr.push(succ.length); }
    else {
      for (let c = model.first[s]; c < model.first[s + 1]; c++) {
        for (let k = model.ptr[c]; k < model.ptr[c + 1]; k++) { succ.push(at(model.succ[k], language.derivative(state, model.succ[k]))); prob.push(model.prob[k]); }
        ptr.push(succ.length);
      }
    }
    first.push(ptr.length - 1);
    if (i % 500 === 499) yield;
  }
  const again = startingAgain(arena(packed({ first, ptr, succ, prob })), Uint8Array.from(ends));
  if (!again) return { undefined: true };
  yield;
  const won = yield* reachability(again, Uint8Array.from(match), new Map(), true);
  const lost = yield* reachability(again, Uint8Array.from(ends.map((x, i) => (x && !match[i] ? 1 : 0))), new Map(), true);
  const upper = won.zero[0] ? [0, 0] : lost.zero[0] ? [1, 1] : [won.lower[0], won.upper[0]];
  return { upper, lower: lost.zero[0] ? [1, 1] : won.zero[0] ? [0, 0] : [1 - lost.upper[0], 1 - lost.lower[0]] };
}

function packed({ first, ptr, succ, prob }) { return { first: Int32Array.from(first), ptr: Int32Array.from(ptr), succ: Int32Array.from(succ), prob: Float64Array.from(prob) }; }

function startingAgain(model, ends) {
  // where the target is out of reach a run starts again; where one may stay for ever it may
  const may = allowed(model, new Map());
  const zero = neverReaching(model, may, ends, true);
  if (zero[0]) return null;
  const open = ends.map((x, s) => (x || zero[s] ? 0 : 1));
  const stays = new Uint8Array(model.n);
  for (const members of endComponents(model, may, open).sets) for (const s of members) stays[s] = 1;
  const [first, ptr, succ, prob] = [[0], [0], [], []];
  for (let s = 0; s < model.n; s++) {
    if (!zero[s]) {
      for (let c = model.first[s]; c < model.first[s + 1]; c++) {
        for (let k = model.ptr[c]; k < model.ptr[c + 1]; k++) { succ.push(model.succ[k]); prob.push(model.prob[k]); }
        ptr.push(succ.length);
      }
    }
    if ((zero[s] || stays[s]) && s !== 0) { succ.push(0); prob.push(1); ptr.push(succ.length); }
    else if (zero[s]) { succ.push(s); prob.push(1); ptr.push(succ.length); }
    first.push(ptr.length - 1);
  }
  return arena(packed({ first, ptr, succ, prob }));
}

class PatternBox {
  // a line to type a pattern into, and what it says; in a process map a click adds a step to it
  constructor(page) {
    this.page = page;
    this.run = 0;
    this.text = "";
  }

  parts() {
    const { page } = this;
    this.input = element("input", { type: "text", id: "pattern-text", spellcheck: "false", autocomplete: "off", placeholder: "… A … B …", "aria-describedby": "pattern-help", oninput: (event) => { this.text = event.target.value; this.ask(); } });
    this.input.value = this.text;
    this.answer = element("div", { id: "pattern-answer", role: "status" });
    return [
      element("label", { class: "heading", for: "pattern-text" }, page.data.map ? "A pattern of steps" : "Or type a pattern"),
      this.input,
      element("p", { class: "muted", id: "pattern-help" }, page.data.map ? "Click steps in the map, or type: " : "Type: ", element("code", {}, "... A ... B ..."), " A, later B; ", element("code", {}, "A B"), " one right after the other; ", element("code", {}, "A{2,}"), " at least twice; ", element("code", {}, "|"), " or; ", element("code", {}, "not(...)"), "; ", element("code", {}, "response(A, B)"), "."),
      this.answer,
    ];
  }

  add(name) {
    const quoted = /^(?:(?!\.\.\.)[^\s|&!*?(){}/,"])+$/.test(name) && name !== "." ? name : `"${name.replace(/[\\"]/g, "\\$&")}"`;
    this.text = this.text.trim() ? `${this.text.trim()} ${quoted} ...` : `... ${quoted} ...`;
    this.input.value = this.text;
    this.ask();
  }

  ask() {
    const run = ++this.run;
    const { page } = this;
    if (!this.text.trim()) { this.answer.replaceChildren(); return; }
    try {
      const { language, lettersOf } = page.data.map ? caseLanguage(page.data.map) : stateLanguage(page);
      const node = new PatternReader(language, lettersOf, page.data.templates).read(this.text);
      if (page.data.map) this.counted(countCases(page.data.map, language, node));
      else this.bounded(run, patternImportance(page.model, page.targetMask, page.data.initial, language, node));
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.answer.replaceChildren(element("p", { class: "hint" }, `In this pattern ${error.message}.`));
    }
  }

  counted({ good, allGood, bad, allBad, examples }) {
    const row = (title, part, all, tone) => element("div", { class: `row ${tone}` }, element("span", { class: "muted" }, title), all ? bar(part / all, part / all) : element("span", { class: "bar" }), element("span", {}, all ? percent(part / all) : "none"));
    this.answer.replaceChildren(...[
      row("Good cases", good, allGood, "for"), row("Bad cases", bad, allBad, "against"),
      element("p", { id: "pattern-count" }, `${counted(good + bad, "case")} match${good + bad ? `; ${percent(good / (good + bad))} of them end well, ${allGood + allBad - good - bad ? percent((allGood - good) / (allGood + allBad - good - bad)) : "no case"} of the others` : ""}.`),
      examples.length ? element("p", { class: "muted" }, "For example ", examples.flatMap((name, i) => [i ? ", " : "", bdi(name)])) : null,
    ].filter(Boolean));
  }

  bounded(run, work) {
    const slice = () => {
      if (run !== this.run) return;
      const until = performance.now() + 25;
      let step = work.next();
      while (!step.done && performance.now() < until) step = work.next();
      if (!step.done) { setTimeout(slice); return; }
      const { lower, upper, undefined: never } = step.value;
      const [low, high] = never ? ["", ""] : [enclosed(lower), enclosed(upper)];
      this.answer.replaceChildren(never ? element("p", {}, "The target cannot be reached.") : element("p", { class: "big", id: "pattern-importance" }, low === high ? low : `${low} to ${high}`), element("p", {}, "of the runs that reach ", bdi(this.page.target.name), " match it, whatever is done."));
    };
    this.answer.replaceChildren(element("p", { class: "muted" }, "Computing…"));
    slice();
  }
}
