// The page: what is chosen, and what follows from it.

class Page extends Reading {
  constructor(data) {
    super(data);
    this.graph = new Graph(this, document.getElementById("graph"));
    this.table = new Table(this, document.getElementById("live-table"));
    document.getElementById("live-table").hidden = this.mapOnly;
    this.builder = new PathBuilder(this, document.getElementById("path"));
    this.namedBy = this.sides.map((_, i) => [...document.querySelectorAll(`.findings[data-target="${i}"] [data-stop]`)].map((name) => Number(name.dataset.stop)));
    this.choose(0);
    this.enliven();
    this.listen();
  }

  choose(index) {
    this.targetIndex = index;
    if (this.sides.length > 1) this.take(this.sides[index]);
    this.named = new Set(this.namedBy[index] || this.namedBy[0]);
    this.target = this.data.targets[this.sides.length > 1 ? 0 : index];
    this.targetMask = new Uint8Array(this.data.states.length);
    for (const s of this.target.states) this.targetMask[s] = 1;
    const asked = [...this.position.keys()];
    this.order = this.target.order.map((p) => asked[p]);
    this.rank = new Map(this.order.map((s, i) => [s, i]));
    const scopes = Object.keys(this.target.scopes);
    this.mainScope = scopes.includes("all") ? "all" : scopes[0];
    if (!scopes.includes(this.scope)) this.lookBest(scopes);
    for (const part of document.querySelectorAll(".summary")) part.hidden = Number(part.dataset.target) !== index;
    this.view = this.firstView;
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
    if (this.target.label && scopes.includes("strategy")) [this.scope, this.stateColour] = ["strategy", "upper"];
    if (this.data.grid) [this.scope, this.stateColour] = scopes.includes("strategy") ? ["strategy", "upper"] : [this.mainScope, "kind"]; // on a map the kind says most, or what the given strategy does
  }

  get firstView() { return this.data.map ? "process" : this.data.grid ? "map" : "overview"; }

  scopeNames() {
    // of the bounds that the view shows
    const stop = this.view === "process" && this.data.map.stops.find((each) => each.bounds);
    return Object.keys(stop ? stop.bounds : this.target.scopes);
  }

  colours() {
    const here = this.view === "process" ? ["change", "contrast", "success", "cases", "upper", "lower", "width"] : ["kind", "upper", "lower", "width"];
    const told = this.data.map && this.data.map.stops.some((stop) => stop.good_share != null);
    const bounded = this.data.map && this.data.map.stops.some((stop) => stop.bounds && Object.keys(stop.bounds).length);
    const changed = this.data.map && this.data.map.stops.some((stop) => stop.change);
    return here.filter((key) => (key === "change" ? changed : ["contrast", "success"].includes(key) ? told : this.view !== "process" || key === "cases" || bounded));
  }

  lookFirst() {
    // a view opens in the colours that say most in it
    if (!this.scopeNames().includes(this.scope)) this.scope = this.scopeNames()[0] || this.mainScope;
    const possible = this.colours();
    this.colour = this.view === "process" ? possible[0] : possible.includes(this.stateColour) ? this.stateColour : possible[0];
  }

  press(state) { if (this.path) this.builder.offer(state); else this.select(state); }

  select(state, centre = false) {
    if (this.mapOnly) { this.selectStop(this.data.map.stops.findIndex((stop) => stop.states.includes(state)), centre); return; }
    [this.selected, this.stop, this.trail] = [state, null, null];
    document.getElementById("details").hidden = false;
    if (this.view === "process") { this.view = "around"; this.lookFirst(); this.draw(); }
    else if (!this.graph.has(state)) {
      if (this.view === "overview" && this.target.view.states.includes(state)) { this.shownToo.push(state); this.draw(); }
      else if (this.model) { this.view = "around"; this.draw(); }
    } else if (this.view === "around" || this.view === "map") this.draw();
    this.chosen(state, centre);
  }

  selectStop(k, centre = false) {
    if (this.path && !centre && this.data.map.stops[k].role === "activity") { this.builder.box.add(this.data.map.stops[k].name); return; }
    [this.selected, this.stop, this.trail] = [null, k, null];
    document.getElementById("details").hidden = false;
    if (this.view !== "process") { this.view = "process"; this.lookFirst(); this.draw(); }
    if (!this.graph.nodes.has(k + STOPS)) { this.forced.add(k); this.draw(); }
    this.chosen(k + STOPS, centre);
  }

  follow(kind, i) {
    // a usual way or a telling segment, drawn in the picture; a second click takes it away
    const again = this.trail && this.trail.kind === kind && this.trail.i === i;
    [this.selected, this.stop, this.trail] = [null, null, null];
    if (!again) {
      const { steps, text } = this.target.insight[kind][i];
      const own = this.data.map ? STOPS : 0;
      this.trail = { kind, i, text, keys: steps.map((key) => key + own) };
      this.view = this.firstView;
      this.lookFirst();
      if (own) for (const k of steps) this.forced.add(k);
      else if (this.view === "overview") this.shownToo.push(...steps.filter((s) => this.target.view.states.includes(s)));
    }
    this.draw();
    this.chosen(null, false);
    if (this.trail) document.querySelector(".explorer").scrollIntoView({ block: "nearest" });
    for (const link of document.querySelectorAll("[data-trail]")) link.setAttribute("aria-pressed", String(!!this.trail && link.dataset.trail === `${kind} ${i}`));
  }

  chosen(key, centre) {
    this.graph.paint();
    if (centre) {
      this.graph.centre(key);
      const picture = document.querySelector(".graph");
      const { top, bottom } = picture.getBoundingClientRect();
      if (top > innerHeight - 200 || bottom < 200) (innerWidth < 960 ? picture : document.querySelector(".explorer")).scrollIntoView(); // on a phone the details come up over it
    }
    showDetails(this, document.getElementById("details"));
    this.table.mark();
    this.controls();
    for (const dot of document.querySelectorAll("#compare circle.selected")) dot.classList.remove("selected");
  }

  deselect(focus = false) {
    const key = this.chosenKey();
    if (this.trail) { this.follow(this.trail.kind, this.trail.i); return; }
    if (key == null) return;
    [this.selected, this.stop] = [null, null];
    if (this.view === "around") { this.view = this.firstView; this.lookFirst(); this.draw(); }
    else if (this.view === "map") this.draw();
    this.chosen(null, false);
    const found = this.graph.nodes.get(key);
    if (focus && found) found.made.focus();
  }

  draw() {
    if (this.view === "around" && this.selected == null) this.view = this.firstView;
    const { room } = this.graph;
    if (this.view === "process") this.graph.show(processPicture(this, room));
    else if (this.view === "map") {
      this.strategyNow = this.strategyShown();
      this.strategyOther = this.scope === "strategy" && this.selected == null ? this.strategyShown("optimal") : null; // the best, beside the given one
      this.graph.show(gridPicture(this, room));
    }
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
    segments(document.getElementById("scope"), Object.fromEntries(this.scopeNames().map((s) => [s, SCOPES[s]])), this.scope, (key) => { this.scope = key; this.draw(); this.refresh(); });
    show("scope-field", this.scopeNames().length > 1 && !COUNTED.includes(this.colour));
    const select = document.getElementById("colour");
    select.replaceChildren(...this.colours().map((key) => element("option", { value: key, selected: key === this.colour }, COLOURS[key])));
    select.value = this.colour;
    const views = { ...(this.data.map ? { process: "Process map" } : {}), ...(this.data.grid ? { map: "Map" } : {}), ...(this.mapOnly ? {} : { overview: this.data.map ? "States" : this.target.view.states.length < this.data.states.length ? "Important part" : "Whole process" }), ...(this.model ? { around: "Around a state" } : {}) };
    segments(document.getElementById("view"), views, this.view, (key) => this.go(key));
    this.legend();
    this.sliders(show);
    document.getElementById("path-mode").setAttribute("aria-pressed", String(!!this.path));
    show("path-mode", !this.data.map || (this.view === "process" && this.data.map.journeys.length > 0));
    document.getElementById("path-mode").textContent = this.data.map ? "Try a pattern" : "Paths and patterns";
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
        document.getElementById("ways-value").textContent = detail.share >= 1 ? "all" : detail.share <= 0 ? "fewest" : `${Math.round(100 * detail.share)} %`;
      }
    }
    const shown = this.graph.nodes.size;
    document.getElementById("shown").textContent = this.view === "process" ? `${counted(this.data.map.cases, "case")}` : `${shown.toLocaleString("en")} of ${counted(this.data.states.length, "state")} shown${this.graph.picture.rest ? `, ${this.graph.picture.rest} more around` : ""}`;
  }

  legend() {
    const words = {
      change: ["fewer cases have it", "more cases have it"], contrast: ["more of the bad cases have it", "more of the good cases have it"], kind: ["marginal", "indispensable"], success: ["0 % end well after it", "100 %"], cases: ["no case", "every case"],
    }[this.colour] || (this.colour === "width" ? ["importance certain", "open"] : [`importance 0 (${this.boundName})`, "1"]);
    document.getElementById("ramp-low").textContent = words[0];
    document.getElementById("ramp-high").textContent = words[1];
    document.querySelector(".ramp i").className = ["contrast", "change"].includes(this.colour) ? "two-sided" : "";
    document.getElementById("actors").replaceChildren(...(this.view === "process" ? actorKey(this) : []));
    document.getElementById("other-key").hidden = !(this.view === "map" && this.strategyOther);
    for (const key of document.querySelectorAll("figcaption .kinds")) key.hidden = COUNTED.includes(this.colour);
  }

  refresh() {
    this.controls();
    this.graph.paint();
    this.table.show();
    showDetails(this, document.getElementById("details"));
    showCompare(this, document.getElementById("compare"));
    const host = document.getElementById("target-switch");
    const named = this.sides.length > 1 ? this.sides.map((side) => side.side) : this.data.targets.map((t) => t.label || t.name);
    if (named.length > 1) {
      host.className = "segments";
      host.setAttribute("role", "radiogroup");
      host.setAttribute("aria-label", this.sides.length > 1 ? "Log" : this.data.targets[0].label ? "Strategy" : "Target");
      segments(host, Object.fromEntries(named.map((name, i) => [i, shorten(name, 28)])), String(this.targetIndex), (key) => this.choose(Number(key)));
    }
  }

  enliven() {
    // the names in the findings, the ways and the segments lead into the picture
    for (const name of document.querySelectorAll("b[data-trail]")) {
      const [kind, i] = name.dataset.trail.split(" ");
      name.replaceWith(element("button", { type: "button", class: "link", "data-trail": name.dataset.trail, "aria-pressed": "false", onclick: () => this.follow(kind, Number(i)) }, ...name.childNodes));
    }
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
    if (!this.model && !this.data.map) { mode.disabled = true; mode.title = "This model is too large to be part of the page; run: waypost path"; }
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
    addEventListener("resize", () => { if (innerWidth !== width && !matchMedia("print").matches) { width = innerWidth; this.detail = {}; redraw(); } });
    addEventListener("beforeprint", () => this.table.printed(true));
    addEventListener("afterprint", () => this.table.printed(false));
  }
}

document.documentElement.classList.add("has-js");
window.waypost = new Page(JSON.parse(document.getElementById("data").textContent));
