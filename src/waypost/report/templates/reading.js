// What the data says: bounds, names, neighbours, strategies, what choices are worth.

const ENDS = { start: "Start", good: "Good end", bad: "Bad end", end: "End" };

class Reading {
  constructor(data) {
    this.sides = data.sides || [data]; // two logs, side by side, or one thing
    this.colour = "upper";
    this.arrowText = "count";
    this.path = null;
    this.take(this.sides[0]);
  }

  take(data) {
    // what is shown from now on
    this.data = data;
    this.model = data.model ? arena(this.unpacked(data.model)) : null;
    this.position = new Map((data.asked || data.states.map((_, i) => i)).map((state, i) => [state, i]));
    this.lowered = data.states.map((name, i) => `${name} ${data.captions[i] || ""}`.toLowerCase());
    this.labelsOf = new Map();
    for (const [label, states] of Object.entries(data.labels)) {
      for (const s of states) this.labelsOf.set(s, [...(this.labelsOf.get(s) || []), label]);
    }
    this.selected = null; // a state
    this.stop = null; // an activity
    this.matches = null;
    this.detail = {};
    this.forced = new Set();
    this.shownToo = [];
    this.trail = null; // the way or segment that is drawn: {kind, i, keys}
    this.named = new Set(); // activities that the findings name
    this.place = new Map();
    this.shared = new Map();
    data.states.forEach((_, s) => this.shared.set(this.caption(s), (this.shared.get(this.caption(s)) || 0) + 1));
    this.actors = data.map ? [...new Set(data.map.stops.filter((stop) => stop.actor).map((stop) => stop.actor))] : [];
    this.aside = new Set(data.aside);
    this.mapOnly = data.thing === "activity"; // the states are the activities themselves
    this.byImportance = (a, b) => (this.rank.get(a) ?? 1e9) - (this.rank.get(b) ?? 1e9);
  }

  unpacked(model) {
    const sums = (lengths) => { const total = new Int32Array(lengths.length + 1); lengths.forEach((n, i) => { total[i + 1] = total[i] + n; }); return total; };
    return { first: sums(model.choices), ptr: sums(model.rows), succ: Int32Array.from(model.succ), prob: Float64Array.from(model.prob) };
  }

  importanceOf(packed, targets, path) {
    // the importance of any path of any model, for programs that drive the page
    const model = arena(this.unpacked(packed));
    const mask = new Uint8Array(model.n);
    for (const s of targets) mask[s] = 1;
    const work = pathImportance(model, mask, path);
    let step = work.next();
    while (!step.done) step = work.next();
    return step.value;
  }

  matchesOf(text, letters, words) {
    // which words a pattern over single letters matches, or why it is none; for programs that drive the page
    const language = new Language(letters.length);
    try {
      const node = new PatternReader(language, (name) => (letters.includes(name) && name ? [letters.indexOf(name)] : null), this.data.templates).read(text);
      return words.map((word) => language.matches(node, word));
    } catch (error) { return error.message; }
  }

  *patternWork(text) {
    // bounds of a typed pattern in each scope that the page knows, a slice at a time
    const found = {};
    const read = modelReading(this, text);
    const { model, targetMask, target } = this;
    const { initial } = this.data;
    if (target.scopes.all || !target.worse) found.all = yield* patternImportance(model, targetMask, initial, read);
    if (target.worse) found.optimal = yield* bestPatternImportance(model, targetMask, initial, read, { worse: new Set(target.worse), best: target.reach[1] });
    return found;
  }

  patternBounds(text) {
    // the same at once, for programs that drive the page
    const work = this.patternWork(text);
    let step = work.next();
    while (!step.done) step = work.next();
    return step.value;
  }

  caption(state) { return this.data.captions[state] || this.data.states[state]; }
  labels(state) { return this.labelsOf.get(state) || []; }
  action(choice) { return this.data.actions[this.data.action[choice]]; }
  told(choice) { return this.data.told[choice] || this.action(choice); } // what nobody named is told by what it does
  isTarget(state) { return this.targetMask[state] === 1; }
  choicesOf(state) { return this.model ? this.model.first[state + 1] - this.model.first[state] : 1; }
  kind(state) { const p = this.position.get(state); return p == null ? "" : this.data.kinds[this.target.kinds[p]]; }

  bounds(state, scope, target = this.target) {
    const p = this.position.get(state);
    const pair = scope === "absolute" ? target.absolute : target.scopes[scope];
    return p == null || !pair ? null : [pair[0][p], pair[1][p]];
  }

  exactText(state, scope) {
    const found = this.target.exact && this.target.exact[scope];
    if (!found) return "";
    const p = this.position.get(state);
    const [low, high] = [found[0][p], found[1][p]];
    const text = low === high ? low : `${low} to ${high}`;
    return text.length < 24 ? text : "";
  }

  value(state, target = this.target) {
    // the number that places a state in a comparison and sorts the table
    const bounds = this.bounds(state, this.scope, target);
    if (!bounds) return null;
    return this.colour === "lower" ? bounds[0] : this.colour === "width" ? bounds[1] - bounds[0] : bounds[1];
  }

  get boundName() { return { lower: "lower bound", width: "width" }[this.colour] || "upper bound"; }

  title(state) {
    const caption = this.caption(state);
    const more = this.shared.get(caption) > 1 ? addition(caption, this.data.short ? this.data.short[state] : this.data.states[state]) : "";
    return more ? `${caption} · ${more}` : caption;
  }

  stateNote(state) { const bounds = this.bounds(state, this.scope); return bounds && !this.roleOf(state) ? span(...bounds) : ""; }
  fieldNote(state) { const bounds = this.bounds(state, this.scope); return bounds ? [...new Set(bounds.map((x) => number(x, 2)))].join("–") : ""; }
  roleOf(state) { return state === this.data.initial ? "start" : this.isTarget(state) ? "target" : ""; }
  stopName(k) { const stop = this.data.map.stops[k]; return stop.role === "activity" ? stop.name : ENDS[stop.role]; }
  stopNote(k) { return stopNote(this, k); }

  edgeText(edge) {
    if (!edge.c || !edge.c.length) return { label: "", title: "through states that are not shown" };
    const labels = edge.c.slice(0, 2).map((c, i) => {
      const action = this.choicesOf(this.model ? this.model.owner[c] : edge.s) > 1 ? shorten(this.told(c), 18) : "";
      return [action, edge.p[i] === 1 ? "" : number(edge.p[i])].filter(Boolean).join(" ");
    }).filter(Boolean);
    if (edge.c.length > 2) labels.push(`+${edge.c.length - 2}`);
    return { label: labels.join(", "), title: edge.c.map((c, i) => `${this.told(c)} ${number(edge.p[i])}`).join("\n") };
  }

  look(node) {
    if (node.stop != null) return stopLook(this, node.stop);
    const { state } = node;
    const text = `${this.title(state)}: ${this.boundsText(state)}`;
    const bounds = this.bounds(state, this.scope);
    const role = this.roleOf(state);
    if (!bounds) return { text, classes: ["unknown", role], value: 0 };
    const { value, classes } = shadeOf(bounds, this.colour);
    const shade = this.colour === "kind" ? KIND_SHADES[this.kind(state)] ?? 0 : value;
    return { text, tone: "ramp", value: shade, classes: [...classes.filter((c) => !role || c === "detrimental"), role].filter(Boolean) };
  }

  matchesNode(node) { return node.stop == null ? this.matches.has(node.state) : this.data.map.stops[node.stop].name.toLowerCase().includes(this.wanted); }
  chosenKey() { return this.stop != null ? this.stop + STOPS : this.selected; }

  boundsText(state) {
    const bounds = this.bounds(state, this.scope);
    return bounds ? `${span(...bounds)} (${SCOPES[this.scope].toLowerCase()})` : "importance not asked for";
  }

  successors(state) {
    // state -> [[choice, probability], ...]
    const found = new Map();
    if (!this.model) return found;
    for (let c = this.model.first[state]; c < this.model.first[state + 1]; c++) {
      for (let k = this.model.ptr[c]; k < this.model.ptr[c + 1]; k++) {
        const y = this.model.succ[k];
        if (!found.has(y)) found.set(y, []);
        found.get(y).push([c, this.model.prob[k]]);
      }
    }
    return found;
  }

  predecessors(state) {
    const found = new Set();
    if (this.model) for (let k = this.model.start[state]; k < this.model.start[state + 1]; k++) found.add(this.model.owner[this.model.into[k]]);
    found.delete(state);
    return found;
  }

  whenValued(act) {
    // how likely the target is from every state, at best and at worst; computed in slices, once for each target
    const { model, target, targetMask } = this;
    if (!this.valuing) this.valuing = new Map();
    if (!this.valuing.has(target)) {
      this.valuing.set(target, new Promise((done) => {
        const work = (function* () { return { max: yield* reachability(model, targetMask, new Map(), true), min: yield* reachability(model, targetMask, new Map(), false) }; })();
        const slice = () => {
          const until = performance.now() + 20;
          let step = work.next();
          while (!step.done && performance.now() < until) step = work.next();
          if (step.done) { target.values = step.value; done(); } else setTimeout(slice);
        };
        setTimeout(slice);
      }));
    }
    this.valuing.get(target).then(() => { if (this.target === target) act(); });
  }

  worthOf(state) {
    const { values } = this.target;
    if (!values) return null;
    return choiceValues(this.model, values, state).sort((a, b) => b.bounds[1] - a.bounds[1] || b.bounds[0] - a.bounds[0]);
  }

  strategyShown(scope = this.scope === "strategy" ? "strategy" : "optimal") {
    // on a grid: of the state that was clicked, or else the given one, or else a best one
    const found = Object.values(this.target.witnesses).find((w) => w[scope] && w[scope][1]);
    return this.witness() || (found ? this.unpackedStrategy(found[scope][1], "upper") : null);
  }

  headings(state, strategy) {
    // which way a strategy goes from a field: [dx, dy, probability]
    if (!this.model || !strategy || this.isTarget(state)) return [];
    const own = strategy.modes.map((mode) => mode.filter(([c]) => this.model.owner[c] === state)).find((mode) => mode.length);
    return (own || []).flatMap(([c, p]) => {
      let [best, likely] = [null, 0];
      for (let k = this.model.ptr[c]; k < this.model.ptr[c + 1]; k++) if (this.model.prob[k] > likely && this.model.succ[k] !== state) { likely = this.model.prob[k]; best = this.model.succ[k]; }
      const way = headingOf(this.action(c), this.place.get(state), this.place.get(best));
      return way ? [[...way, p]] : [];
    });
  }

  witness() {
    if (this.selected == null || !this.model) return null;
    const side = this.colour === "lower" ? "lower" : "upper";
    const found = this.target.witnesses[this.selected];
    const pair = found && found[this.scope];
    const packed = pair && pair[side === "lower" ? 0 : 1];
    return packed ? this.unpackedStrategy(packed, side) : null;
  }

  unpackedStrategy(packed, side) {
    const pairs = (list) => list.map((entry) => (Array.isArray(entry) ? entry : [entry, 1]));
    return { side, start: packed.start, modes: packed.modes.map(pairs), update: packed.update.map((changes) => new Map(changes)) };
  }

  takenEdges() {
    // how likely an arrow is under the witness, in the memory mode that takes it most often; 0 where it never gets
    const witness = this.witness();
    if (!witness) return null;
    const { model } = this;
    const modes = witness.modes.map((list) => {
      const found = new Map();
      for (const [c, p] of list) { const s = model.owner[c]; if (!found.has(s)) found.set(s, []); found.get(s).push([c, p]); }
      return found;
    });
    const plays = (state, mode) => modes[mode].get(state) || (this.choicesOf(state) === 1 ? [[model.first[state], 1]] : []);
    const reached = modes.map(() => new Uint8Array(model.n));
    const queue = [[this.data.initial, witness.start]];
    reached[witness.start][this.data.initial] = 1;
    for (let i = 0; i < queue.length; i++) {
      const [state, mode] = queue[i];
      if (this.isTarget(state)) continue;
      for (const [c] of plays(state, mode)) {
        for (let k = model.ptr[c]; k < model.ptr[c + 1]; k++) {
          const y = model.succ[k];
          const next = witness.update[mode].get(y) ?? mode;
          if (!reached[next][y]) { reached[next][y] = 1; queue.push([y, next]); }
        }
      }
    }
    const weight = (edge, mode) => (reached[mode][edge.s] && !this.isTarget(edge.s)
      ? plays(edge.s, mode).reduce((sum, [c, p]) => { const i = edge.c.indexOf(c); return i < 0 ? sum : sum + p * edge.p[i]; }, 0) : 0);
    const own = (edge) => edge.c.length && model.owner[edge.c[0]] === edge.s; // not over a state that is stepped over
    return (edge) => (own(edge) ? Math.max(...modes.map((_, mode) => weight(edge, mode))) : null);
  }

  link(state) {
    return element("button", { type: "button", class: "link", onclick: (event) => { event.stopPropagation(); this.select(state, true); } }, bdi(this.title(state)));
  }

  trailLink(kind, i, text) {
    // draws a way or a segment in the picture
    return element("button", { type: "button", class: "link", onclick: (event) => { event.stopPropagation(); this.follow(kind, i); } }, bdi(text));
  }

  stopLink(k) { return element("button", { type: "button", class: "link", onclick: (event) => { event.stopPropagation(); this.selectStop(k, true); } }, bdi(this.stopName(k))); }

}
