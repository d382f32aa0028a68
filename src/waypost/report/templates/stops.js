// The activities of a process map: how they are called, coloured and told.

const COUNTED = ["change", "contrast", "success", "cases"]; // colours that show what was counted in the cases

const COLOURS = {
  change: "What changed", contrast: "Good cases against bad", success: "Success after it", cases: "How many cases", kind: "Kind of step",
  upper: "Importance, at most", lower: "Importance, at least", width: "Importance, how open",
};

function actorMark(actor, height) {
  // who performs a step, by colour and by stroke
  return element("line", { class: `actor actor-${actor % 5}`, x1: 5, x2: 5, y1: 5, y2: height - 5 });
}

function actorKey(page) {
  // what the marks mean, where several perform steps
  const chooses = (actor) => page.data.map.stops.some((stop) => stop.actor === actor && stop.chooses);
  const key = (actor, i) => [element("svg", { viewBox: "0 0 8 24", "aria-hidden": "true" }, actorMark(i, 24)), element("span", {}, bdi(actor), chooses(actor) ? " (chooses)" : "")];
  return page.actors.length > 1 ? [element("span", {}, "Performed by"), ...page.actors.flatMap(key)] : [];
}

function stopBounds(page, k, scope = page.scope) {
  const { bounds } = page.data.map.stops[k];
  return (bounds && bounds[scope]) || null;
}

function stopNote(page, k) {
  // the number that the colour shows
  const stop = page.data.map.stops[k];
  if (stop.role !== "activity") return counted(stop.cases, "case");
  if (page.colour === "change" && stop.change) return `${shortPercent(stop.change.before ?? 0)} → ${shortPercent(stop.change.after ?? 0)}`;
  if (page.colour === "contrast" && stop.stage && stop.good_share !== stop.good_share_as_far) return `${shortPercent(stop.stage.success_with ?? 0)} well · ${shortPercent(stop.stage.success_without ?? 0)} without`;
  if (page.colour === "contrast" && stop.good_share != null && !stop.defines_outcome) return `good ${shortPercent(stop.good_share_as_far)} · bad ${shortPercent(stop.bad_share_as_far)}`;
  if (page.colour === "success" && stop.success_after != null) return `${shortPercent(stop.success_after)} succeed`;
  const bounds = ["upper", "lower", "width", "kind"].includes(page.colour) ? stopBounds(page, k) : null;
  return bounds ? span(...bounds) : counted(stop.cases, "case");
}

function stopLook(page, k) {
  const stop = page.data.map.stops[k];
  const name = page.stopName(k);
  const says = { start: "every case starts here", good: "a good end", bad: "a bad end", end: "where cases end" }[stop.role];
  if (says) return { text: `${name}: ${says}, ${counted(stop.cases, "case")}`, classes: [stop.role], value: 0 };
  const text = `${name}: ${counted(stop.cases, "case")}, ${stopNote(page, k)}${stop.actor ? `, by ${stop.actor}` : ""}`;
  const defines = stop.defines_outcome ? ["defining"] : [];
  if (page.colour === "change") {
    const { before, after, real } = stop.change || {};
    return { text, tone: !real ? "ramp" : after > before ? "for" : "against", value: real ? Math.min(1, 3 * Math.abs(after - before)) : 0, classes: defines };
  }
  if (page.colour === "contrast") {
    if (stop.good_share == null || stop.defines_outcome) return { text, classes: defines, value: 0 };
    const apart = stop.good_share_as_far - stop.bad_share_as_far;
    return { text, tone: Math.abs(apart) < .02 ? "ramp" : apart > 0 ? "for" : "against", value: Math.abs(apart) < .02 ? 0 : Math.min(1, 1.6 * Math.abs(apart)), classes: defines };
  }
  if (page.colour === "success") return { text, tone: "ramp", value: stop.success_after ?? 0, classes: defines };
  if (page.colour === "cases") return { text, tone: "ramp", value: stop.cases / page.data.map.cases };
  const bounds = stopBounds(page, k);
  if (!bounds) return { text, classes: ["unknown"], value: 0 };
  return { text, tone: "ramp", ...shadeOf(bounds, page.colour) };
}

function shadeOf([low, high], colour) {
  // how strongly bounds colour a box; what is exactly 1 stands out, what is exactly 0 is marked
  const value = colour === "lower" || colour === "kind" ? low : colour === "width" ? high - low : high;
  const classes = [];
  if (low === 1) classes.push("indispensable");
  if (low === 1 && colour !== "width") classes.push("full");
  if (high === 0) classes.push("detrimental");
  return { value, classes };
}

function showStop(page, host, k) {
  const stop = page.data.map.stops[k];
  const arrows = page.data.map.arrows;
  const ways = (side, other) => arrows.filter((a) => a[side] === k).slice(0, 6).map((a) => element("li", {}, page.stopLink(a[other]), element("span", { class: "muted" }, ` ${counted(a[2], "time")}${a[3] == null ? "" : `, after ${duration(a[3])}`}`)));
  const [into, out] = [ways(1, 0), ways(0, 1)];
  host.replaceChildren(...[
    closer(page),
    element("h3", {}, bdi(page.stopName(k))),
    element("p", { class: "muted" }, stop.role === "activity" ? `${counted(stop.cases, "case")} of ${page.data.map.cases.toLocaleString("en")} have it, ${counted(stop.events, "event")}${stop.actor ? `, by ${stop.actor}` : ""}` : counted(stop.cases, "case")),
    ...changeRows(page, stop),
    ...contrastRows(page, stop),
    ...decisionParts(page, k, "stop"),
    ...stopImportance(page, k),
    ...trailsThrough(page, k),
    out.length ? element("h4", {}, "Followed by") : null, out.length ? element("ul", { class: "steps" }, out) : null,
    into.length ? element("h4", {}, "Comes after") : null, into.length ? element("ul", { class: "steps" }, into) : null,
    ...stopCases(page, stop),
    ...statesBehind(page, stop),
  ].filter(Boolean));
}

const endsWell = (value) => (value == null ? "none" : percent(value));

function contrastRows(page, stop) {
  if (stop.good_share == null) return [];
  const row = (title, name, tone) => {
    const value = stop[name];
    return element("div", { class: `row ${tone}` }, element("span", { class: "muted" }, title), value == null ? element("span", { class: "bar" }) : bar(value, value), element("span", {}, value == null ? "no such case" : percent(value), interval(stop, name)));
  };
  const fair = stop.stage ? [element("p", {}, `Of the ${stop.stage.cases.toLocaleString("en")} cases that pass `, bdi(stop.stage.name), `, ${endsWell(stop.stage.success_with)} end well with it, ${endsWell(stop.stage.success_without)} without it.`)] : [];
  const doubt = stop.doubt ? [element("p", {}, stop.doubt)] : [];
  const drawn = Object.keys(stop.intervals || {}).length ? [element("p", { class: "muted" }, "In brackets: where 95 % of the shares lie when cases are drawn again.")] : [];
  if (stop.defines_outcome) return [element("p", { class: "hint" }, `Says nothing new: it ${stop.defines_outcome}.`)];
  return [
    element("h4", {}, "How many have it"), row("Good cases", "good_share", "for"), row("Bad cases", "bad_share", "against"),
    element("h4", {}, "How many end well"), row("With it", "success_after", "for"), row("Without it", "success_without", "against"), ...fair, ...doubt, ...drawn,
  ];
}

function changeRows(page, stop) {
  if (!stop.change || stop.change.before == null || stop.change.after == null) return [];
  const { before, after, low, high, real } = stop.change;
  const row = (title, value) => element("div", { class: "row" }, element("span", { class: "muted" }, bdi(title)), bar(value, value), element("span", {}, percent(value)));
  const signed = (x) => `${x > 0 ? "+" : ""}${(100 * x).toFixed(1)}`;
  return [element("h4", {}, "Cases that have it"), row(page.sides[0].side, before), row(page.sides[1].side, after),
    element("p", { class: "muted" }, real ? `${signed(after - before)} points (95 % interval ${signed(low)} to ${signed(high)}).` : "No more of a difference than chance would make.")];
}

function stopImportance(page, k) {
  const rows = [];
  for (const scope of page.scopeNames()) {
    const bounds = stopBounds(page, k, scope);
    if (bounds) rows.push(element("div", { class: "row", "data-scope": scope }, element("span", { class: "muted" }, SCOPES[scope]), bar(...bounds), element("span", {}, span(...bounds), boundsInterval(page.data.map.stops[k], scope))));
  }
  return rows.length && page.data.map.stops[k].role === "activity" ? [element("h4", {}, "Importance, in the learned model"), scale(), ...rows] : [];
}

function boundsInterval(stop, scope) {
  const [low, high] = ["lower", "upper"].map((side) => stop.intervals && stop.intervals[`${scope}_${side}`]);
  return low && high ? element("small", {}, ` (${number(low[0])} to ${number(high[1])})`) : null;
}

function stopCases(page, stop) {
  const found = stop.examples || [];
  return found.length ? [element("h4", {}, "Example cases"), element("p", {}, found.slice(0, 6).flatMap((name, i) => [i ? ", " : "", bdi(name)]))] : [];
}

function statesBehind(page, stop) {
  if (!stop.states.length || page.mapOnly) return [];
  const shown = [...stop.states].sort(page.byImportance);
  return [element("details", {}, element("summary", {}, `${counted(stop.states.length, "state")} of the model behind it`),
    element("ul", { class: "steps" }, shown.slice(0, 30).map((s) => element("li", {}, page.link(s), element("span", { class: "muted" }, ` ${page.boundsText(s)}`))), shown.length > 30 ? element("li", { class: "muted" }, `and ${shown.length - 30} more`) : null))];
}

function changeRanking(page) {
  // of two logs: what changed most
  const moved = page.data.map.stops.map((stop, k) => ({ stop, k })).filter(({ stop }) => stop.change && stop.change.difference != null && !stop.defines_outcome)
    .sort((a, b) => b.stop.change.real - a.stop.change.real || Math.abs(b.stop.change.difference) - Math.abs(a.stop.change.difference)).slice(0, 8);
  return [
    element("h3", {}, "Cases that have a step"), element("p", { class: "muted" }, "What changed by more than chance would make is coloured."),
    element("table", { class: "plain" }, element("thead", {}, element("tr", {}, ["Step", page.sides[0].side, page.sides[1].side].map((t, i) => element("th", { scope: "col", class: i ? "num" : null }, bdi(shorten(t, 18)))))),
      element("tbody", {}, moved.map(({ stop, k }) => element("tr", { class: !stop.change.real ? null : stop.change.difference > 0 ? "against" : "for" }, element("th", { scope: "row" }, page.stopLink(k)), element("td", { class: "num" }, percent(stop.change.before)), element("td", { class: "num" }, percent(stop.change.after)))))),
  ];
}

function stopRanking(page) {
  // what stands beside the picture before anything is clicked
  if (page.sides.length > 1) return changeRanking(page);
  const ranked = page.data.map.stops.map((stop, k) => ({ stop, k })).filter(({ stop }) => stop.good_share != null && !stop.defines_outcome)
    .sort((a, b) => b.stop.certain - a.stop.certain || b.stop.cases - a.stop.cases).slice(0, 8);
  if (!ranked.length) return null;
  return [
    element("h3", {}, "Good cases against bad"), element("p", { class: "muted" }, "How many of them have a step, of those that came as far as it can happen; what separates most cases comes first."),
    element("table", { class: "plain" }, element("thead", {}, element("tr", {}, ["Step", "Good", "Bad"].map((t, i) => element("th", { scope: "col", class: i ? "num" : null }, t)))),
      element("tbody", {}, ranked.map(({ stop, k }) => element("tr", { class: stop.good_share_as_far >= stop.bad_share_as_far ? "for" : "against" }, element("th", { scope: "row" }, page.stopLink(k)), element("td", { class: "num" }, percent(stop.good_share_as_far)), element("td", { class: "num" }, percent(stop.bad_share_as_far)))))),
  ];
}
