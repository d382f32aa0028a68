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

function closer(page) { return element("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => page.deselect(true) }, "✕"); }

function scale() { return element("div", { class: "row scale", "aria-hidden": "true" }, element("span", {}), element("span", { class: "ends" }, element("span", {}, "0"), element("span", {}, "1")), element("span", {})); }

function showDetails(page, host) {
  const state = page.selected;
  const idle = state == null && page.stop == null;
  host.classList.toggle("idle", idle);
  if (page.stop != null) { showStop(page, host, page.stop); return; }
  if (idle) { host.replaceChildren(...((page.data.map && stopRanking(page)) || stateRanking(page))); return; }
  const labels = page.labels(state).filter((label) => label !== page.title(state));
  const name = page.data.states[state];
  const parts = [
    closer(page),
    element("h3", {}, bdi(page.title(state))),
    name === page.title(state) ? null : element("p", { class: "muted" }, bdi(name)),
    labels.length ? element("ul", { class: "chips" }, labels.map((label) => element("li", { class: "chip" }, bdi(label)))) : null,
    page.kind(state) ? element("p", {}, KIND_WORDS[page.kind(state)].replace("WHATEVER", UNDER[page.mainScope])) : null,
    ...boundsRows(page, state),
    ...whatIfParts(page, state),
    ...(decisionsOf(page, state, "state").length ? decisionParts(page, state, "state") : choiceParts(page, state)),
    ...trailsThrough(page, state),
    ...witnessParts(page, state),
    ...neighbours(page, state),
    ...examples(page, state),
  ];
  host.replaceChildren(...parts.filter(Boolean));
}

function stateRanking(page) {
  // what stands beside the picture before anything is clicked
  const shown = page.order.filter((s) => s !== page.data.initial && !page.isTarget(s) && !page.aside.has(s)).slice(0, 8);
  return [
    element("h3", {}, "Most important first"), element("p", { class: "muted" }, `Importance, ${SCOPES[page.scope].toLowerCase()}. Click one to see how it comes about.`),
    scale(),
    ...shown.map((s) => element("div", { class: "row" }, page.link(s), bar(...page.bounds(s, page.scope)), element("span", {}, span(...page.bounds(s, page.scope))))),
  ];
}

function boundsRows(page, state) {
  const rows = [];
  for (const scope of Object.keys(page.target.scopes)) {
    const bounds = page.bounds(state, scope);
    if (bounds) rows.push(element("div", { class: "row", "data-scope": scope }, element("span", { class: "muted" }, SCOPES[scope]), bar(...bounds), element("span", {}, page.exactText(state, scope) || span(...bounds), drawnAgain(page, state, scope))));
  }
  const absolute = page.bounds(state, "absolute");
  if (absolute) rows.push(element("div", { class: "row", title: "probability of passing the state and then reaching the target, over all runs" }, element("span", { class: "muted" }, "Of all runs"), bar(...absolute), element("span", {}, span(...absolute))));
  const known = page.target.intervals;
  if (known && rows.some((row) => row.querySelector("small"))) rows.push(element("p", { class: "muted" }, `In brackets: from the least lower to the greatest upper bound, in ${Math.round(100 * known.level)} % of ${known.resamples} draws of the cases.`));
  else if (known && rows.length) rows.push(element("p", { class: "muted" }, "When cases are drawn again no state is found in its place: it rests on a handful of cases."));
  return rows.length ? [element("h4", {}, "Importance"), scale(), ...rows] : [element("p", { class: "muted" }, "Its importance was not asked for.")];
}

function drawnAgain(page, state, scope) {
  // where the bounds of a state lie when the cases of the log are drawn again
  const rows = page.target.intervals && page.target.intervals.scopes[scope];
  const ends = rows && rows[page.position.get(state)];
  return ends ? element("small", {}, ` (${number(ends[0])} to ${number(ends[3])})`) : null;
}

function choiceParts(page, state) {
  // what each choice is worth: how likely the target still is, at best and at worst
  if (!page.model || page.isTarget(state)) return [];
  const worth = page.worthOf(state);
  if (!worth) { page.whenValued(() => { if (page.selected === state) showDetails(page, document.getElementById("details")); }); return []; }
  if (worth.length < 2) return [element("p", { class: "muted" }, "From here the target is reached with probability ", element("b", {}, span(...worth[0].bounds)), ".")];
  return [element("h4", {}, "Choices, and how likely the target is after each"), scale(), ...worth.map(({ choice, bounds }) => element("div", { class: "row worth" }, element("span", {}, bdi(page.told(choice))), bar(...bounds), element("span", {}, span(...bounds))))];
}

function witnessParts(page, state) {
  const witness = page.witness();
  if (!witness) return [];
  const value = page.bounds(state, page.scope)[witness.side === "lower" ? 0 : 1];
  const item = ([choice, p]) => element("li", {}, "in ", page.link(page.model.owner[choice]), " take ", element("b", {}, bdi(page.told(choice))), p === 1 ? "" : ` (${number(p)})`);
  const before = witness.modes[witness.start];
  const later = witness.modes.filter((_, mode) => mode !== witness.start);
  const known = new Set(before.map(([c]) => c));
  const changed = later.flat().filter(([c]) => !known.has(c));
  const rules = (entries) => element("ul", { class: "steps" }, entries.map(item));
  const list = (entries) => (entries.length <= 8 ? rules(entries) : element("div", {}, rules(entries.slice(0, 6)), element("details", {}, element("summary", {}, `${entries.length - 6} more`), rules(entries.slice(6, 200)), entries.length > 200 ? element("p", { class: "muted" }, `and ${counted(entries.length - 200, "more state")}`) : "")));
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
    after.length ? element("ul", { class: "steps" }, after.slice(0, first).map(([c, y, p, k]) => element("li", {}, page.link(y), " ", element("span", { class: "muted" }, bdi(page.told(c)), ` ${number(p)}`, seen ? `, seen ${counted(seen[k], "time")}` : ""))), after.length > first ? element("li", { class: "muted" }, `and ${counted(after.length - first, "more way")}`) : null) : null,
    before.length ? element("h4", {}, "Comes from") : null,
    before.length ? element("p", {}, before.slice(0, first).flatMap((s, i) => [i ? ", " : "", page.link(s)]), before.length > first ? ` and ${before.length - first} more` : "") : null,
  ];
}

function examples(page, state) {
  const found = page.data.cases && page.data.cases[state];
  return found && found.length ? [element("h4", {}, "Example cases"), element("p", {}, found.slice(0, 8).flatMap((name, i) => [i ? ", " : "", bdi(name)]))] : [];
}
