// Two targets, or two strategies, side by side.

function showCompare(page, host) {
  const targets = page.data.targets;
  if (targets.length < 2) return;
  const labelled = targets[0].label != null; // strategies; the target is the same
  const called = (t) => (labelled ? t.label : t.name);
  const word = labelled ? "under " : "for ";
  host.hidden = false;
  const mine = page.targetIndex;
  const other = page.compared === mine || page.compared == null ? (mine + 1) % targets.length : page.compared;
  const value = (index, state) => page.value(state, targets[index]);
  const rows = page.order.map((s) => [s, value(mine, s), value(other, s)]).filter(([, a, b]) => a != null && b != null);
  const apart = [...rows].sort((a, b) => Math.abs(b[1] - b[2]) - Math.abs(a[1] - a[2])).slice(0, 12).filter(([, a, b]) => a !== b);
  const side = 400;
  const at = (v) => 48 + v * (side - 68);
  const spots = new Map(); // states at the same place share a dot, the larger the more there are
  for (const [s, a, b] of rows) {
    const key = `${a.toFixed(2)},${b.toFixed(2)}`;
    if (!spots.has(key)) spots.set(key, { a, b, states: [] });
    spots.get(key).states.push(s);
  }
  const dots = [...spots.values()].map(({ a, b, states }) => element("circle", { cx: at(a), cy: side - at(b), r: Math.min(16, 4 + 1.6 * Math.sqrt(states.length)), class: states.includes(page.selected) ? "selected" : null, onclick: () => page.select(states[0]) },
    element("title", {}, `${states.slice(0, 8).map((s) => page.data.states[s]).join(", ")}${states.length > 8 ? ` and ${states.length - 8} more` : ""}: ${number(a)} and ${number(b)}`)));
  const plot = element("svg", { viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": labelled ? "Importance under one strategy against the other" : "Importance for one target against the other" },
    [0, .5, 1].flatMap((v) => [element("line", { x1: at(v), y1: side - at(0), x2: at(v), y2: side - at(1) }), element("line", { x1: at(0), y1: side - at(v), x2: at(1), y2: side - at(v) }), element("text", { x: at(v), y: side - 28, "text-anchor": "middle" }, String(v)), element("text", { x: 40, y: side - at(v) + 4, "text-anchor": "end" }, String(v))]),
    element("line", { x1: at(0), y1: side - at(0), x2: at(1), y2: side - at(1) }), dots,
    element("text", { x: side / 2, y: side - 6, "text-anchor": "middle" }, word, shorten(called(targets[mine]), 34)),
    element("text", { x: -side / 2, y: 13, transform: "rotate(-90)", "text-anchor": "middle" }, word, shorten(called(targets[other]), 34)));
  const choose = targets.length > 2 ? element("select", { "aria-label": labelled ? "Other strategy" : "Other target", onchange: (event) => { page.compared = Number(event.target.value); showCompare(page, host); } }, targets.map((t, i) => (i === mine ? null : element("option", { value: i, selected: i === other }, called(t))))) : null;
  host.replaceChildren(
    element("h2", {}, labelled ? "Two strategies side by side" : "Two targets side by side"),
    element("p", { class: "muted" }, `Each dot is a state, or several at the same place: its importance (${page.boundName}, ${SCOPES[page.scope].toLowerCase()}) ${labelled ? "under one strategy and under the other" : "for one target and for the other"}. Dots off the diagonal matter more ${labelled ? "under" : "for"} one of them.`),
    choose || "",
    element("div", { class: "two" }, element("div", { class: "plot" }, plot),
      element("table", { id: "compare-table" }, element("caption", {}, apart.length ? "Furthest apart" : "No state differs"), element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "State"), [mine, other].map((i) => element("th", { scope: "col" }, word, bdi(called(targets[i])))))),
        element("tbody", {}, apart.map(([s, a, b]) => element("tr", {}, element("th", { scope: "row" }, page.link(s)), element("td", { class: "num" }, number(a)), element("td", { class: "num" }, number(b))))))));
}
