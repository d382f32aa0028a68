// A path that the reader builds, and its importance.

class PathBuilder {
  constructor(page, host) {
    this.page = page;
    this.host = host;
    this.run = 0;
    this.box = new PatternBox(page);
  }

  reset() { this.page.path = { states: [this.page.data.initial], choices: [] }; this.only = null; this.show(); }

  closer() { return element("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => { const mode = document.getElementById("path-mode"); mode.click(); mode.focus(); } }, "✕"); }

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
    if (page.data.map) { this.host.replaceChildren(this.closer(), ...this.box.parts()); this.box.ask(); page.graph.paint(); return; }
    const { states, choices } = page.path;
    const line = states.flatMap((s, i) => (i ? [" ", element("em", {}, "–", bdi(page.told(choices[i - 1])), "→"), " "] : []).concat(bdi(page.data.states[s])));
    const steps = this.steps().filter((step) => this.only == null || step.target === this.only);
    this.answer = element("div", { id: "path-answer" });
    this.host.replaceChildren(
      this.closer(),
      element("h3", {}, "A path"),
      element("p", { class: "pathline" }, line),
      this.answer,
      this.say ? element("p", { class: "muted", role: "status" }, this.say) : "",
      element("h4", {}, this.only == null ? (steps.length ? "Click the next state, or choose" : "The path cannot go on") : "By which action?"),
      element("ul", { class: "steps", id: "next-steps" }, steps.slice(0, 40).map((step) => element("li", {}, element("button", { type: "button", onclick: () => this.extend(step) }, element("span", {}, element("b", {}, bdi(page.caption(step.target))), " ", element("span", { class: "muted" }, "by ", bdi(page.told(step.choice)))), element("span", { class: "num" }, number(step.p)))))),
      element("div", { class: "buttons" }, element("button", { type: "button", disabled: !choices.length, onclick: () => this.undo() }, "Undo"), element("button", { type: "button", disabled: !choices.length, onclick: () => this.reset() }, "Start again")),
      ...this.box.parts());
    page.graph.paint();
    page.graph.centre(states[states.length - 1]);
    this.box.ask();
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
