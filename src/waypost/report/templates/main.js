// The page: what is chosen, and what follows from it.

const ENDS = { start: "Start", good: "Good end", bad: "Bad end", end: "End" };

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
    this.colour = "upper";
    this.arrowText = "count";
    this.selected = null; // a state
    this.stop = null; // an activity
    this.path = null;
    this.matches = null;
    this.detail = {};
    this.forced = new Set();
    this.shownToo = [];
    this.place = new Map();
    this.shared = new Map();
    data.states.forEach((_, s) => this.shared.set(this.caption(s), (this.shared.get(this.caption(s)) || 0) + 1));
    this.aside = new Set(data.aside || []);
    this.byImportance = (a, b) => (this.rank.get(a) ?? 1e9) - (this.rank.get(b) ?? 1e9);
    this.graph = new Graph(this, document.getElementById("graph"));
    this.table = new Table(this, document.getElementById("live-table"));
    this.builder = new PathBuilder(this, document.getElementById("path"));
    this.choose(0);
    this.enliven();
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
    // the number that places a state in a comparison and sorts the table
    const bounds = this.bounds(state, this.scope, target);
    if (!bounds) return null;
    return this.colour === "lower" ? bounds[0] : this.colour === "width" ? bounds[1] - bounds[0] : bounds[1];
  }

  get boundName() { return { lower: "lower bound", width: "width" }[this.colour] || "upper bound"; }

  title(state) {
    const caption = this.caption(state);
    const more = this.shared.get(caption) > 1 ? addition(caption, this.data.states[state]) : "";
    return more ? `${caption} · ${more}` : caption;
  }

  stateNote(state) { const bounds = this.bounds(state, this.scope); return bounds && !this.roleOf(state) ? span(...bounds) : ""; }
  fieldNote(state) { const bounds = this.bounds(state, this.scope); return bounds ? number(bounds[this.colour === "lower" ? 0 : 1], 2) : ""; }
  roleOf(state) { return state === this.data.initial ? "start" : this.isTarget(state) ? "target" : ""; }
  stopName(k) { const stop = this.data.map.stops[k]; return stop.role === "activity" ? stop.name : ENDS[stop.role]; }
  stopNote(k) { return stopNote(this, k); }

  edgeText(edge) {
    if (!edge.c || !edge.c.length) return { label: "", title: "through states that are not shown" };
    const labels = edge.c.slice(0, 2).map((c, i) => {
      const action = this.choicesOf(edge.s) > 1 ? shorten(this.action(c), 18) : "";
      return [action, edge.p[i] === 1 ? "" : number(edge.p[i])].filter(Boolean).join(" ");
    }).filter(Boolean);
    if (edge.c.length > 2) labels.push(`+${edge.c.length - 2}`);
    return { label: labels.join(", "), title: edge.c.map((c, i) => `${this.action(c)} ${number(edge.p[i])}`).join("\n") };
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
    if (this.colour === "kind") classes.push(this.kind(state), shade === 1 ? "full" : "");
    return { text, tone: "ramp", value: shade, classes: [...classes.filter((c) => !role || c !== "indispensable"), role].filter(Boolean) };
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

  strategyShown() {
    // on a grid: of the state that was clicked, or else the given one, or else a best one
    const own = this.witness();
    if (own) return own;
    const scope = this.scope === "strategy" ? "strategy" : "optimal";
    const side = 1;
    const found = Object.values(this.target.witnesses).find((w) => w[scope] && w[scope][side]);
    return found ? this.unpackedStrategy(found[scope][side], "upper") : null;
  }

  headings(state) {
    // which way the strategy that is shown goes from a field: [dx, dy, probability]
    const strategy = this.model && this.data.grid ? this.strategyNow : null;
    if (!strategy || this.isTarget(state)) return [];
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
    return (edge) => (edge.c.length ? Math.max(...modes.map((_, mode) => weight(edge, mode))) : null);
  }

  link(state) {
    return element("button", { type: "button", class: "link", onclick: (event) => { event.stopPropagation(); this.select(state, true); } }, bdi(this.title(state)));
  }

  stopLink(k) { return element("button", { type: "button", class: "link", onclick: (event) => { event.stopPropagation(); this.selectStop(k, true); } }, bdi(this.stopName(k))); }

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
    this.view = this.data.map ? "process" : this.data.grid ? "map" : "overview";
    this.detail.overview = null;
    this.lookFirst();
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
    [this.scope, this.colour] = best;
    this.stateColour = this.colour;
    if (this.data.grid) [this.scope, this.stateColour] = [this.mainScope, "kind"]; // on a map the kind says most
  }

  colours() {
    const here = this.view === "process" ? ["contrast", "success", "cases", "upper", "lower", "width"] : ["kind", "upper", "lower", "width"];
    const told = this.data.map && this.data.map.stops.some((stop) => stop.good_share != null);
    const bounded = this.target.stops && Object.values(this.target.stops).some((list) => list.some(Boolean));
    return here.filter((key) => (["contrast", "success"].includes(key) ? told : this.view !== "process" || key === "cases" || bounded));
  }

  lookFirst() {
    // a view opens in the colours that say most in it
    const possible = this.colours();
    this.colour = this.view === "process" ? possible[0] : possible.includes(this.stateColour) ? this.stateColour : possible[0];
  }

  press(state) { if (this.path) this.builder.offer(state); else this.select(state); }

  select(state, centre = false) {
    [this.selected, this.stop] = [state, null];
    document.getElementById("details").hidden = false;
    if (this.view === "process") { this.view = "around"; this.lookFirst(); this.draw(); }
    else if (!this.graph.has(state)) {
      if (this.view === "overview" && this.target.view.states.includes(state)) { this.shownToo.push(state); this.draw(); }
      else if (this.model) { this.view = "around"; this.draw(); }
    } else if (this.view === "around" || this.view === "map") this.draw();
    this.chosen(state, centre);
  }

  selectStop(k, centre = false) {
    [this.selected, this.stop] = [null, k];
    document.getElementById("details").hidden = false;
    if (this.view !== "process") { this.view = "process"; this.lookFirst(); this.draw(); }
    if (!this.graph.nodes.has(k + STOPS)) { this.forced.add(k); this.draw(); }
    this.chosen(k + STOPS, centre);
  }

  chosen(key, centre) {
    this.graph.paint();
    if (centre) {
      this.graph.centre(key);
      const stage = document.querySelector(".stage").getBoundingClientRect();
      if (stage.top > innerHeight - 200 || stage.bottom < 200) document.querySelector(".explorer").scrollIntoView();
    }
    showDetails(this, document.getElementById("details"));
    this.table.mark();
    this.controls();
    for (const dot of document.querySelectorAll("#compare circle.selected")) dot.classList.remove("selected");
  }

  deselect(focus = false) {
    const key = this.chosenKey();
    if (key == null) return;
    [this.selected, this.stop] = [null, null];
    if (this.view === "around") { this.view = this.data.map ? "process" : this.data.grid ? "map" : "overview"; this.lookFirst(); this.draw(); }
    else if (this.view === "map") this.draw();
    this.chosen(null, false);
    const found = this.graph.nodes.get(key);
    if (focus && found) found.made.focus();
  }

  draw() {
    if (this.view === "around" && this.selected == null) this.view = "overview";
    const { room } = this.graph;
    if (this.view === "process") this.graph.show(processPicture(this, room));
    else if (this.view === "map") { this.strategyNow = this.strategyShown(); this.graph.show(gridPicture(this)); }
    else if (this.view === "around") this.graph.show(aroundPicture(this, this.selected, room));
    else this.graph.show(overviewPicture(this, room));
  }

  find(text) {
    const wanted = text.trim().toLowerCase();
    this.wanted = wanted;
    this.matches = null;
    if (wanted) {
      this.matches = new Set();
      this.lowered.forEach((name, i) => { if (name.includes(wanted) || this.labels(i).some((label) => label.toLowerCase().includes(wanted))) this.matches.add(i); });
    }
    this.graph.paint();
    this.table.show();
  }

  controls() {
    const show = (id, on) => { document.getElementById(id).hidden = !on; };
    segments(document.getElementById("scope"), Object.fromEntries(Object.keys(this.target.scopes).map((s) => [s, SCOPES[s]])), this.scope, (key) => { this.scope = key; this.draw(); this.refresh(); });
    show("scope-field", Object.keys(this.target.scopes).length > 1 && !["contrast", "success", "cases"].includes(this.colour));
    const select = document.getElementById("colour");
    select.replaceChildren(...this.colours().map((key) => element("option", { value: key, selected: key === this.colour }, COLOURS[key])));
    select.value = this.colour;
    const views = { ...(this.data.map ? { process: "Process map" } : {}), ...(this.data.grid ? { map: "Map" } : {}), overview: this.data.map ? "States" : this.target.view.states.length < this.data.states.length ? "Important part" : "Whole process", ...(this.model ? { around: "Around a state" } : {}) };
    segments(document.getElementById("view"), views, this.view, (key) => this.go(key));
    this.legend();
    this.sliders(show);
    document.getElementById("path-mode").setAttribute("aria-pressed", String(!!this.path));
    show("path-mode", this.view !== "process");
    show("arrow-text-field", this.view === "process" && this.data.map.arrows.some((a) => a[3] != null));
  }

  go(view) {
    if (view === "around" && this.selected == null) this.selected = this.data.initial;
    if (view === "process") this.selected = null; else this.stop = null;
    this.view = view;
    this.lookFirst();
    this.draw();
    this.refresh();
  }

  sliders(show) {
    const detail = this.detail[this.view];
    show("detail-field", !!detail);
    show("ways-field", this.view === "process");
    if (detail) {
      const { total } = this.graph.picture;
      const slider = document.getElementById("detail");
      slider.max = total;
      slider.value = detail.count;
      document.getElementById("detail-name").textContent = this.view === "process" ? "Steps" : "States";
      document.getElementById("detail-value").textContent = `${Math.min(detail.count, total)} of ${total}`;
      if (this.view === "process") {
        document.getElementById("ways").value = detail.share;
        document.getElementById("ways-value").textContent = detail.share >= 1 ? "all" : detail.share <= 0 ? "main ways" : `${Math.round(100 * detail.share)} % of the traffic`;
      }
    }
    const shown = this.graph.nodes.size;
    document.getElementById("shown").textContent = this.view === "process" ? `${counted(this.data.map.cases, "case")}` : `${shown.toLocaleString("en")} of ${counted(this.data.states.length, "state")} shown${this.graph.picture.rest ? `, ${this.graph.picture.rest} more around` : ""}`;
  }

  legend() {
    const words = {
      contrast: ["more of the bad cases have it", "more of the good cases have it"], kind: ["marginal", "indispensable"], success: ["0 % end well after it", "100 %"], cases: ["no case", "every case"],
    }[this.colour] || (this.colour === "width" ? ["importance certain", "open"] : [`importance 0 (${this.boundName})`, "1"]);
    document.getElementById("ramp-low").textContent = words[0];
    document.getElementById("ramp-high").textContent = words[1];
    document.querySelector(".ramp i").className = this.colour === "contrast" ? "two-sided" : "";
    for (const key of document.querySelectorAll("figcaption .kinds")) key.hidden = ["contrast", "success", "cases"].includes(this.colour);
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

  enliven() {
    // the names in the findings lead into the picture
    for (const name of document.querySelectorAll("b[data-state], b[data-stop]")) {
      const { state, stop } = name.dataset;
      name.replaceWith(element("button", { type: "button", class: "link", onclick: () => (stop != null ? this.selectStop(Number(stop), true) : this.select(Number(state), true)) }, ...name.childNodes));
    }
  }

  listen() {
    const on = (id, event, act) => document.getElementById(id).addEventListener(event, act);
    const redraw = () => { this.draw(); this.graph.paint(); this.controls(); };
    on("detail", "input", (event) => { this.detail[this.view].count = Number(event.target.value); this.forced.clear(); this.shownToo = []; redraw(); });
    on("ways", "input", (event) => { this.detail.process.share = Number(event.target.value); redraw(); });
    on("colour", "change", (event) => { this.colour = event.target.value; if (this.view !== "process") this.stateColour = this.colour; this.draw(); this.refresh(); });
    on("arrow-text", "change", (event) => { this.arrowText = event.target.value; redraw(); });
    on("search", "input", (event) => this.find(event.target.value));
    on("search", "keydown", (event) => {
      if (event.key !== "Enter" || !this.matches || !this.matches.size) return;
      event.preventDefault();
      const stop = this.data.map ? this.data.map.stops.findIndex((each) => each.role === "activity" && each.name.toLowerCase().includes(this.wanted)) : -1;
      if (this.view === "process" && stop >= 0) { this.selectStop(stop, true); return; }
      this.select([...this.matches].sort(this.byImportance)[0], true);
    });
    on("zoom-in", "click", () => this.graph.zoom(1.3));
    on("zoom-out", "click", () => this.graph.zoom(1 / 1.3));
    on("zoom-fit", "click", () => this.graph.fit());
    const mode = document.getElementById("path-mode");
    if (!this.model) { mode.disabled = true; mode.title = "This model is too large to be part of the page; run: waypost path"; }
    on("path-mode", "click", () => {
      const panel = document.getElementById("path");
      panel.hidden = !!this.path;
      document.getElementById("details").hidden = !this.path && this.selected == null;
      document.querySelector(".graph").classList.toggle("building", !this.path);
      if (this.path) { this.path = null; this.graph.paint(); } else this.builder.reset();
      this.controls();
    });
    addEventListener("keydown", (event) => {
      if (event.key === "Escape") { this.deselect(true); return; }
      if (event.key === "/" && !/input|select|textarea/i.test(event.target.tagName)) { event.preventDefault(); document.getElementById("search").focus(); }
    });
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; this.detail = {}; redraw(); } });
    addEventListener("beforeprint", () => this.table.printed(true));
    addEventListener("afterprint", () => this.table.printed(false));
  }
}

document.documentElement.classList.add("has-js");
window.waypost = new Page(JSON.parse(document.getElementById("data").textContent));
