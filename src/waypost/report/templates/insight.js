// Decisions, ways and segments: beside a step, and drawn in the picture.

function decisionsOf(page, key, kind) {
  // of a state, or of a stop of the process map
  const { insight } = page.target;
  return insight ? insight.decisions.filter((decision) => decision[kind] === key) : [];
}

function decisionParts(page, key, kind) {
  // what each action is worth, how often it is taken, what the choice costs as it is made, and how important each is
  const { insight } = page.target;
  return decisionsOf(page, key, kind).slice(0, 4).flatMap((decision) => [
    element("h4", {}, `The choice ${decision.where}`),
    element("p", { class: "muted" }, `${percent(decision.met)} of the runs of ${insight.called} come here.`, decision.cost > .0005 ? ` ${points(decision.cost)} of success are lost.` : ""),
    ...decision.actions.slice(0, 8).map((action, i) => choiceRows(page, decision, action, i)),
    decision.actions.length > 8 ? element("p", { class: "muted" }, `and ${decision.actions.length - 8 + decision.more} more, down to ${percent(decision.actions[decision.actions.length - 1][1])}`) : null,
    decision.importance
      ? element("p", { class: "muted" }, `Importance of a choice: the share of the successful runs that take it (${SCOPES[choiceScope(page, decision)].toLowerCase()}).`)
      : element("p", { class: "muted" }, "The importance of each choice is not in this page; for it run ", element("code", {}, "waypost decisions --importance all"), "."),
  ]);
}

function choiceScope(page, decision) { return decision.importance[page.scope] ? page.scope : Object.keys(decision.importance)[0]; }

function choiceRows(page, decision, [name, worth, taken], i) {
  const row = (title, tone, bounds, text) => element("div", { class: `row ${tone}` }, element("span", { class: "muted" }, title), bar(...bounds), element("span", {}, text));
  const bounds = decision.importance && decision.importance[choiceScope(page, decision)][i];
  return element("div", { class: "choice" },
    element("b", {}, bdi(name)), page.target.insight.given ? element("small", { class: "muted" }, ` taken ${percent(taken)}`) : null,
    row("Success after", i < decision.best ? "for" : "", [worth, worth], percent(worth)),
    bounds ? row("Importance", "", bounds, span(...bounds)) : null);
}

function points(share) { return `${percent(share).replace(/ %$/, "")} points`; }

function whatIfParts(page, state) {
  const known = page.target.whatifs;
  const p = page.position.get(state);
  if (!known || p == null || page.roleOf(state)) return [];
  const [low, high, without] = known.map((values) => values[p]);
  const row = (title, a, b) => element("div", { class: "row" }, element("span", { class: "muted" }, title), bar(a, b), element("span", {}, span(a, b)));
  return [element("h4", {}, "Success"), scale(), row("After it", low, high), row("Without it", without, without),
    element("p", { class: "muted" }, without < page.target.reach[1] ? without === 0 ? "Without it the target cannot be reached." : `Forbidding it leaves ${number(without)} at best, instead of ${number(page.target.reach[1])}.` : "It can be done without: forbidding it costs nothing at best.")];
}

function trailsThrough(page, key) {
  // the usual ways and the telling segments that pass a step
  const { insight } = page.target;
  if (!insight || (page.data.map && page.stop == null)) return []; // of a log they lead over activities
  const through = (kind) => insight[kind].map((trail, i) => ({ trail, i })).filter(({ trail }) => trail.steps.includes(key)).slice(0, 4);
  const [routes, segments] = [through("routes"), through("segments")];
  const item = (kind, figure) => ({ trail, i }) => element("li", {}, element("span", { class: "num" }, figure(trail)), " ", page.trailLink(kind, i, trail.text));
  return [
    segments.length ? element("h4", {}, "Telling segments through here (good · bad)") : null,
    segments.length ? element("ul", { class: "steps" }, segments.map(item("segments", (s) => `${shortPercent(s.good)} · ${shortPercent(s.bad)}`))) : null,
    routes.length ? element("h4", {}, "Usual ways through here") : null,
    routes.length ? element("ul", { class: "steps" }, routes.map(item("routes", (r) => shortPercent(r.share)))) : null,
  ];
}

function interval(stop, name) {
  // where a share lies when the cases are drawn again, 19 times of 20
  const ends = stop.intervals && stop.intervals[name];
  return ends ? element("small", {}, ` (${ends.map(shortPercent).join(" to ").replace(" % to", " to")})`) : null;
}
