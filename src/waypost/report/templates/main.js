// The page: what is chosen, and what follows from it.

class Page {
  constructor(data) {
    this.data = data;
    this.model = data.model ? arena(this.unpacked(data.model)) : null;
    this.position = new Map((data.asked || data.states.map((_, i) => i)).map((state, i) => [state, i]));
    this.lowered = data.states.map((name, i) => `${name} ${data.captions[i] || ""}`.toLowerCase());
    this.labelsOf = new Map();
    for (const [label, states] of Object.entries(data.labels)) {
      for (const s of states) this.labelsOf.set(s, [...(this.labelsOf.get(s) || []), label]);
    }
    this.bound = "upper";
    this.threshold = 0;
    this.selected = null;
    this.path = null;
    this.matches = null;
    this.byImportance = (a, b) => (this.rank.get(a) ?? 1e9) - (this.rank.get(b) ?? 1e9);
    this.graph = new Graph(this, document.getElementById("graph"));
    this.table = new Table(this, document.getElementById("live-table"));
    this.builder = new PathBuilder(this, document.getElementById("path"));
    this.choose(0);
    this.listen();
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

  // --- what the data says ---
  caption(state) { return this.data.captions[state] || this.data.states[state]; }
  labels(state) { return this.labelsOf.get(state) || []; }
  action(choice) { return this.data.actions[this.data.action[choice]]; }
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
    // the number that hides a state below the slider and places it in a comparison
    const bounds = this.bounds(state, this.scope, target);
    if (!bounds) return null;
    return this.bound === "lower" ? bounds[0] : this.bound === "width" ? bounds[1] - bounds[0] : bounds[1];
  }

  shade(state) {
    // how strongly a state is coloured, from 0 to 1
    return this.bound === "kind" ? KIND_SHADES[this.kind(state)] ?? null : this.value(state);
  }

  boundsText(state) {
    const bounds = this.bounds(state, this.scope);
    return bounds ? `${span(...bounds)} (${SCOPES[this.scope].toLowerCase()})` : "importance not asked for";
  }

  keeps(state) {
    if (state === this.data.initial || this.isTarget(state)) return true;
    const value = this.value(state);
    return value == null ? this.threshold === 0 : value >= this.threshold;
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

  witness() {
    if (this.selected == null || !this.model) return null;
    const side = this.bound === "lower" ? "lower" : "upper";
    const found = this.target.witnesses[this.selected];
    const pair = found && found[this.scope];
    const packed = pair && pair[side === "lower" ? 0 : 1];
    if (!packed) return null;
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
    return (edge) => (edge.c.length ? Math.max(...modes.map((_, mode) => weight(edge, mode))) : null);
  }

  link(state) {
    return element("button", { type: "button", class: "link", onclick: (event) => { event.stopPropagation(); this.select(state, true); } }, bdi(this.data.states[state]));
  }

  // --- what the reader does ---
  choose(index) {
    this.targetIndex = index;
    this.target = this.data.targets[index];
    this.targetMask = new Uint8Array(this.data.states.length);
    for (const s of this.target.states) this.targetMask[s] = 1;
    const asked = [...this.position.keys()];
    this.order = this.target.order.map((p) => asked[p]);
    this.rank = new Map(this.order.map((s, i) => [s, i]));
    const scopes = Object.keys(this.target.scopes);
    this.mainScope = scopes.includes("all") ? "all" : scopes[0];
    if (!scopes.includes(this.scope)) this.lookBest(scopes);
    for (const part of document.querySelectorAll(".summary")) part.hidden = Number(part.dataset.target) !== index;
    this.view = this.data.grid ? "map" : "overview";
    if (this.path) this.builder.reset();
    this.draw();
    this.refresh();
  }

  lookBest(scopes) {
    // at first, colour by what tells the states of the picture apart best
    const spread = ([scope, bound]) => {
      const pair = this.target.scopes[scope][bound === "lower" ? 0 : 1];
      const values = this.target.view.states.map((s) => pair[this.position.get(s)]).filter((x) => x != null);
      const mean = values.reduce((a, b) => a + b, 0) / values.length;
      return values.reduce((a, x) => a + (x - mean) ** 2, 0) / values.length;
    };
    const looks = [[this.mainScope, "upper"], ...scopes.flatMap((scope) => [[scope, "upper"], [scope, "lower"]])];
    let best = looks[0];
    for (const look of looks) if (spread(look) > 1.5 * spread(best)) best = look;
    [this.scope, this.bound] = best;
    if (this.data.grid) [this.scope, this.bound] = [this.mainScope, "kind"]; // on a map the kind says most
  }

  press(state) { if (this.path) this.builder.offer(state); else this.select(state); }

  select(state, centre = false) {
    this.selected = state;
    document.getElementById("details").hidden = false;
    if (!this.graph.nodes.has(state) && this.model) { this.view = "around"; this.draw(); }
    else if (this.view === "around") this.draw();
    this.graph.paint();
    if (centre) {
      this.graph.centre(state);
      const stage = document.querySelector(".stage").getBoundingClientRect();
      if (stage.bottom < 120 || stage.top > innerHeight - 120) document.querySelector(".explorer").scrollIntoView();
    }
    showDetails(this, document.getElementById("details"));
    this.table.mark();
    this.controls();
    for (const dot of document.querySelectorAll("#compare circle.selected")) dot.classList.remove("selected");
  }

  draw() {
    if (this.view === "around" && this.selected == null) this.view = "overview";
    if (this.view === "map") this.graph.show(mapPicture(this.data.grid));
    else if (this.view === "around") this.graph.show(aroundPicture(this, this.selected));
    else this.graph.show(overviewPicture(this.target.view, this.graph.svg.clientWidth));
  }

  find(text) {
    const wanted = text.trim().toLowerCase();
    this.matches = null;
    if (wanted) {
      this.matches = new Set();
      this.lowered.forEach((name, i) => { if (name.includes(wanted) || this.labels(i).some((label) => label.toLowerCase().includes(wanted))) this.matches.add(i); });
    }
    this.graph.paint();
    this.table.show();
  }

  controls() {
    segments(document.getElementById("scope"), Object.fromEntries(Object.keys(this.target.scopes).map((s) => [s, SCOPES[s]])), this.scope, (key) => { this.scope = key; this.refresh(); });
    segments(document.getElementById("bound"), { kind: "Kind", lower: "Lower bound", upper: "Upper bound", width: "Width" }, this.bound, (key) => { this.bound = key; this.refresh(); });
    const views = { ...(this.data.grid ? { map: "Map" } : {}), overview: this.target.view.states.length < this.data.states.length ? "Important part" : "Whole process", ...(this.model ? { around: `Around ${this.data.thing === "activity" ? "an activity" : "a state"}` } : {}) };
    segments(document.getElementById("view"), views, this.view, (key) => { if (key === "around" && this.selected == null) this.selected = this.data.initial; this.view = key; this.draw(); this.refresh(); });
    document.getElementById("ramp-title").textContent = { kind: "", width: "width of the bounds" }[this.bound] ?? `importance, ${this.bound} bound`;
    document.getElementById("ramp-low").textContent = this.bound === "kind" ? "marginal" : "0";
    document.getElementById("ramp-high").textContent = this.bound === "kind" ? "indispensable" : "1";
    const kept = [...this.graph.nodes.keys()].filter((s) => this.keeps(s)).length;
    document.getElementById("shown").textContent = `${kept.toLocaleString("en")} of ${counted(this.data.states.length, this.data.thing)} shown`;
    document.getElementById("path-mode").setAttribute("aria-pressed", String(!!this.path));
  }

  refresh() {
    this.controls();
    this.graph.paint();
    this.table.show();
    showDetails(this, document.getElementById("details"));
    showCompare(this, document.getElementById("compare"));
    const host = document.getElementById("target-switch");
    if (this.data.targets.length > 1) {
      host.className = "segments";
      host.setAttribute("role", "radiogroup");
      host.setAttribute("aria-label", "Target");
      segments(host, Object.fromEntries(this.data.targets.map((t, i) => [i, shorten(t.name, 28)])), String(this.targetIndex), (key) => this.choose(Number(key)));
    }
  }

  listen() {
    const on = (id, event, act) => document.getElementById(id).addEventListener(event, act);
    on("threshold", "input", (event) => {
      this.threshold = Number(event.target.value);
      document.getElementById("threshold-value").textContent = number(this.threshold);
      this.controls();
      this.graph.paint();
      cancelAnimationFrame(this.later);
      this.later = requestAnimationFrame(() => this.table.show());
    });
    on("search", "input", (event) => this.find(event.target.value));
    on("search", "keydown", (event) => {
      if (event.key !== "Enter" || !this.matches || !this.matches.size) return;
      event.preventDefault();
      this.select([...this.matches].sort(this.byImportance)[0], true);
    });
    on("zoom-in", "click", () => this.graph.zoom(1.3));
    on("zoom-out", "click", () => this.graph.zoom(1 / 1.3));
    on("zoom-fit", "click", () => this.graph.fit());
    const mode = document.getElementById("path-mode");
    if (!this.model) { mode.disabled = true; mode.title = this.data.thing === "activity" ? "A map of activities remembers one step only; run: waypost path" : "This model is too large to be part of the page; run: waypost path"; }
    on("path-mode", "click", () => {
      const panel = document.getElementById("path");
      panel.hidden = !!this.path;
      document.getElementById("details").hidden = !this.path && this.selected == null;
      document.querySelector(".graph").classList.toggle("building", !this.path);
      if (this.path) { this.path = null; this.graph.paint(); } else this.builder.reset();
      this.controls();
    });
    addEventListener("keydown", (event) => {
      if (event.key === "/" && !/input|select|textarea/i.test(event.target.tagName)) { event.preventDefault(); document.getElementById("search").focus(); }
    });
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; this.draw(); this.graph.paint(); } });
  }
}

document.documentElement.classList.add("has-js");
window.waypost = new Page(JSON.parse(document.getElementById("data").textContent));
