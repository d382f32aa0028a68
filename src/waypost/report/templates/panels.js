// What stands beside the picture: the state that was clicked, and the path that is being built.

const KIND_WORDS = {
  start: "Every run starts here.", target: "The target itself.",
  indispensable: "Indispensable: every run that reaches the target passes it, WHATEVER.",
  important: "Important: most runs that reach the target pass it, WHATEVER.",
  optional: "Optional: how many of the successful runs pass it depends on the choices made.",
  marginal: "Marginal: few of the runs that reach the target pass it, WHATEVER.",
  detrimental: "To avoid: no run that reaches the target passes it, WHATEVER.",
  unreachable: "Never reached: nothing that can be done leads here before the target.",
};

const KIND_SHADES = { start: 1, target: 1, indispensable: 1, important: .75, optional: .38, marginal: .14, detrimental: 0, unreachable: 0 };

function showDetails(page, host) {
  const state = page.selected;
  host.classList.toggle("idle", state == null);
  if (state == null) {
    host.replaceChildren(element("h3", {}, page.data.thing === "activity" ? "Click an activity" : "Click a state"), element("p", { class: "muted" }, page.data.thing === "activity" ? "See how many of the good and of the bad cases pass it, and examples of them." : "See how important it is, how that comes about, and where it leads. Thick arrows then show a strategy under which the importance is exactly the bound shown."));
    return;
  }
  const labels = page.labels(state);
  const parts = [
    element("h3", {}, bdi(page.data.states[state])),
    labels.length ? element("ul", { class: "chips" }, labels.map((label) => element("li", { class: "chip" }, bdi(label)))) : null,
    page.kind(state) && page.mainScope !== "observed" ? element("p", {}, KIND_WORDS[page.kind(state)].replace("WHATEVER", UNDER[page.mainScope])) : null,
    ...boundsRows(page, state),
    ...witnessParts(page, state),
    ...neighbours(page, state),
    ...examples(page, state),
  ];
  host.replaceChildren(...parts.filter(Boolean));
}

function boundsRows(page, state) {
  const rows = [];
  for (const scope of Object.keys(page.target.scopes)) {
    const bounds = page.bounds(state, scope);
    if (bounds) rows.push(element("div", { class: "row", "data-scope": scope }, element("span", { class: "muted" }, SCOPES[scope]), bar(...bounds), element("span", {}, page.exactText(state, scope) || span(...bounds))));
  }
  const absolute = page.bounds(state, "absolute");
  if (absolute) rows.push(element("div", { class: "row", title: "probability of passing the state and then reaching the target, over all runs" }, element("span", { class: "muted" }, "Of all runs"), bar(...absolute), element("span", {}, span(...absolute))));
  return rows.length ? [element("h4", {}, "Importance"), ...rows] : [element("p", { class: "muted" }, "Its importance was not asked for.")];
}

function witnessParts(page, state) {
  const witness = page.witness();
  if (!witness) return [];
  const value = page.bounds(state, page.scope)[witness.side === "lower" ? 0 : 1];
  const item = ([choice, p]) => element("li", {}, "in ", page.link(page.model.owner[choice]), " take ", element("b", {}, bdi(page.action(choice))), p === 1 ? "" : ` (${number(p)})`);
  const before = witness.modes[witness.start];
  const later = witness.modes.filter((_, mode) => mode !== witness.start);
  const known = new Set(before.map(([c]) => c));
  const changed = later.flat().filter(([c]) => !known.has(c));
  const list = (entries) => element("ul", { class: "steps" }, entries.slice(0, 60).map(item), entries.length > 60 ? element("li", { class: "muted" }, `and ${counted(entries.length - 60, "more state")}`) : null);
  return [
    element("h4", {}, `A strategy that makes it ${number(value)} (the ${witness.side} bound)`),
    before.length ? list(before) : element("p", { class: "muted" }, "There is no choice to make on the way."),
    changed.length ? element("p", { class: "muted" }, "and once it has been passed") : null,
    changed.length ? list(changed) : null,
  ];
}

function neighbours(page, state) {
  if (!page.model) return [];
  const ways = [];
  for (let c = page.model.first[state]; c < page.model.first[state + 1]; c++) {
    for (let k = page.model.ptr[c]; k < page.model.ptr[c + 1]; k++) ways.push([c, page.model.succ[k], page.model.prob[k], k]);
  }
  ways.sort((a, b) => b[2] - a[2]);
  const seen = page.data.model.counts;
  const after = ways.filter(([c]) => page.action(c) !== "(final)");
  const before = [...page.predecessors(state)].sort(page.byImportance);
  const first = 8;
  return [
    after.length ? element("h4", {}, "Leads to") : null,
    after.length ? element("ul", { class: "steps" }, after.slice(0, first).map(([c, y, p, k]) => element("li", {}, page.link(y), " ", element("span", { class: "muted" }, bdi(page.action(c)), ` ${number(p)}`, seen ? `, seen ${counted(seen[k], "time")}` : ""))), after.length > first ? element("li", { class: "muted" }, `and ${counted(after.length - first, "more way")}`) : null) : null,
    before.length ? element("h4", {}, "Comes from") : null,
    before.length ? element("p", {}, before.slice(0, first).flatMap((s, i) => [i ? ", " : "", page.link(s)]), before.length > first ? ` and ${before.length - first} more` : "") : null,
  ];
}

function examples(page, state) {
  const found = page.data.cases && page.data.cases[state];
  return found && found.length ? [element("h4", {}, "Example cases"), element("p", {}, found.slice(0, 8).flatMap((name, i) => [i ? ", " : "", bdi(name)]))] : [];
}

// --- paths ---

class PathBuilder {
  constructor(page, host) {
    this.page = page;
    this.host = host;
    this.run = 0;
  }

  reset() { this.page.path = { states: [this.page.data.initial], choices: [] }; this.only = null; this.show(); }

  undo() {
    const { states, choices } = this.page.path;
    if (choices.length) this.page.path = { states: states.slice(0, -1), choices: choices.slice(0, -1) };
    this.only = null;
    this.show();
  }

  steps() {
    // the ways on from the end of the path: no state twice, and not through the target
    const { page } = this;
    const { states } = page.path;
    const last = states[states.length - 1];
    const found = [];
    if (page.isTarget(last)) return found;
    for (const [target, ways] of page.successors(last)) {
      if (!states.includes(target) && !page.isTarget(target)) for (const [choice, p] of ways) found.push({ choice, target, p });
    }
    return found.sort((a, b) => b.p - a.p);
  }

  offer(state) {
    const ways = this.steps().filter((step) => step.target === state);
    if (ways.length === 1) { this.extend(ways[0]); return; }
    this.only = ways.length ? state : null;
    const name = this.page.data.states[state];
    this.say = ways.length ? "" : this.page.path.states.includes(state) ? `${name} is on the path already.` : this.page.isTarget(state) ? "A path ends before the target; its importance already counts the runs that go on to it." : `${name} does not follow in one step.`;
    this.show();
  }

  extend(step) {
    const { states, choices } = this.page.path;
    this.page.path = { states: [...states, step.target], choices: [...choices, step.choice] };
    this.only = null;
    this.say = "";
    this.show();
  }

  show() {
    const { page } = this;
    const { states, choices } = page.path;
    const line = states.flatMap((s, i) => (i ? [" ", element("em", {}, "–", bdi(page.action(choices[i - 1])), "→"), " "] : []).concat(bdi(page.data.states[s])));
    const steps = this.steps().filter((step) => this.only == null || step.target === this.only);
    this.answer = element("div", { id: "path-answer" });
    this.host.replaceChildren(
      element("h3", {}, "A path"),
      element("p", { class: "pathline" }, line),
      this.answer,
      this.say ? element("p", { class: "muted", role: "status" }, this.say) : "",
      element("h4", {}, this.only == null ? (steps.length ? "Click the next state, or choose" : "The path cannot go on") : "By which action?"),
      element("ul", { class: "steps", id: "next-steps" }, steps.slice(0, 40).map((step) => element("li", {}, element("button", { type: "button", onclick: () => this.extend(step) }, element("span", {}, element("b", {}, bdi(page.caption(step.target))), " ", element("span", { class: "muted" }, "by ", bdi(page.action(step.choice)))), element("span", { class: "num" }, number(step.p)))))),
      element("div", { class: "buttons" }, element("button", { type: "button", disabled: !choices.length, onclick: () => this.undo() }, "Undo"), element("button", { type: "button", disabled: !choices.length, onclick: () => this.reset() }, "Start again")));
    page.graph.paint();
    page.graph.centre(states[states.length - 1]);
    this.compute();
  }

  compute() {
    // in slices, so that the page keeps answering
    const run = ++this.run;
    const { page } = this;
    if (!page.path.choices.length) {
      this.answer.replaceChildren(element("p", { class: "muted" }, "Every run starts here. Add a step to read the path's importance."));
      return;
    }
    const work = pathImportance(page.model, page.targetMask, page.path);
    const slice = () => {
      if (run !== this.run) return;
      const until = performance.now() + 25;
      let step = work.next();
      while (!step.done && performance.now() < until) step = work.next();
      if (step.done) this.tell(step.value);
      else setTimeout(slice);
    };
    this.answer.replaceChildren(element("p", { class: "muted" }, "Computing…"));
    setTimeout(slice, 80);
  }

  tell(result) {
    const name = this.page.target.name;
    if (result.undefined) {
      this.answer.replaceChildren(element("p", {}, "No strategy that takes these actions reaches ", bdi(name), "."));
      return;
    }
    const [worst, best] = [enclosed(result.lower), enclosed(result.upper)];
    const greatest = this.page.target.reach[1];
    const free = Math.abs(result.following[1] - greatest) < 1e-7;
    this.answer.replaceChildren(
      element("p", { class: "big", id: "path-importance" }, worst === best ? worst : `${worst} to ${best}`),
      element("p", {}, "of the runs that reach ", bdi(name), " follow this path, if the strategy takes its actions."),
      element("p", { class: "muted", id: "path-best" }, free
        ? `With a best strategy that takes them: ${enclosed(result.best)}. Taking them costs nothing: ${number(greatest)} can still be reached.`
        : `With the best that takes them: ${enclosed(result.best)}. Taking them lowers the probability of the target from ${number(greatest)} to ${enclosed(result.following)}.`));
  }
}
