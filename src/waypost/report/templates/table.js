// The table of all states: sortable, filtered by the search and the slider, a page at a time.

class Table {
  constructor(page, host) {
    this.page = page;
    this.host = host;
    this.sort = { key: "rank", down: false };
    this.rows = 60;
  }

  columns() {
    const { page } = this;
    const scopes = Object.keys(page.target.scopes);
    return [
      { key: "name", title: page.data.thing === "activity" ? "Activity" : "State" }, ...(Object.keys(page.data.labels).length && page.data.thing === "state" ? [{ key: "labels", title: "Labels", wide: true }] : []),
      ...scopes.map((scope) => ({ key: scope, title: SCOPES[scope], scope })),
      ...(page.target.columns || []).map((column, k) => ({ key: `column${k}`, title: column.title, texts: column.values, wide: true })),
      ...(page.target.absolute ? [{ key: "absolute", title: "Of all runs", scope: "absolute", wide: true }] : []),
    ];
  }

  ordered() {
    const { page, sort } = this;
    const ranked = page.order.filter((s) => page.keeps(s) && (!page.matches || page.matches.has(s)));
    if (sort.key === "rank") return ranked;
    const way = sort.down ? -1 : 1;
    if (sort.key === "name") return ranked.sort((a, b) => way * page.data.states[a].localeCompare(page.data.states[b], "en", { numeric: true }));
    if (sort.key === "labels") return ranked.sort((a, b) => way * page.labels(a).join().localeCompare(page.labels(b).join(), "en", { numeric: true }));
    const column = this.columns().find((one) => one.key === sort.key);
    if (column.texts) return ranked.sort((a, b) => way * column.texts[page.position.get(a)].localeCompare(column.texts[page.position.get(b)], "en", { numeric: true }));
    const side = page.bound === "lower" ? 0 : 1;
    const key = (s) => { const [low, high] = page.bounds(s, sort.key); return page.bound === "width" ? high - low : side ? high + low / 1e6 : low + high / 1e6; };
    const values = new Map(ranked.map((s) => [s, key(s)]));
    return ranked.sort((a, b) => way * (values.get(a) - values.get(b)));
  }

  show() {
    const { page, sort } = this;
    const columns = this.columns();
    const all = this.ordered();
    const head = columns.map((column) => {
      const active = sort.key === column.key;
      return element("th", { scope: "col", class: column.wide ? "wide-only" : null, "aria-sort": active ? (sort.down ? "descending" : "ascending") : "none" },
        element("button", { type: "button", "data-column": column.key, onclick: () => this.sortBy(column) }, column.title + (active ? (sort.down ? " ↓" : " ↑") : "")));
    });
    const body = all.slice(0, this.rows).map((state) => element("tr", { class: [page.kind(state), state === page.selected ? "selected" : ""].join(" "), "data-state": state, onclick: () => page.select(state, true) },
      columns.map((column) => this.cell(column, state))));
    const left = all.length - body.length;
    this.host.replaceChildren(
      element("table", { id: "states" }, element("caption", {}, sort.key === "rank" ? `${counted(all.length, page.data.thing)}, most important first` : counted(all.length, page.data.thing)), element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)),
      element("div", { class: "table-more" }, left > 0 ? element("button", { type: "button", onclick: () => { this.rows += 100; this.show(); } }, `Show ${Math.min(100, left)} more`) : "", left > 0 ? element("span", { class: "muted" }, `${left.toLocaleString("en")} not listed`) : ""));
  }

  cell(column, state) {
    const { page } = this;
    if (column.key === "name") return element("th", { scope: "row" }, page.link(state));
    if (column.key === "labels") return element("td", { class: "wide-only muted" }, bdi(page.labels(state).join(", ")));
    if (column.texts) return element("td", { class: "num wide-only" }, column.texts[page.position.get(state)] ?? "");
    const bounds = page.bounds(state, column.scope);
    return element("td", { class: column.wide ? "num wide-only" : "num" }, bounds ? element("span", { class: "cell" }, bar(...bounds), element("span", {}, span(...bounds))) : "");
  }

  sortBy(column) {
    const first = !(column.key === "name" || column.key === "labels");
    if (this.sort.key !== column.key) this.sort = { key: column.key, down: first };
    else if (this.sort.down === first) this.sort = { key: column.key, down: !first };
    else this.sort = { key: "rank", down: false };
    this.show();
    this.host.querySelector(`[data-column="${column.key}"]`).focus();
  }

  mark() {
    for (const row of this.host.querySelectorAll("tbody tr")) row.classList.toggle("selected", Number(row.dataset.state) === this.page.selected);
  }
}

// --- two targets side by side ---

function showCompare(page, host) {
  const targets = page.data.targets;
  if (targets.length < 2) return;
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
  const plot = element("svg", { viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": "Importance for one target against the other" },
    [0, .5, 1].flatMap((v) => [element("line", { x1: at(v), y1: side - at(0), x2: at(v), y2: side - at(1) }), element("line", { x1: at(0), y1: side - at(v), x2: at(1), y2: side - at(v) }), element("text", { x: at(v), y: side - 28, "text-anchor": "middle" }, String(v)), element("text", { x: 40, y: side - at(v) + 4, "text-anchor": "end" }, String(v))]),
    element("line", { x1: at(0), y1: side - at(0), x2: at(1), y2: side - at(1) }), dots,
    element("text", { x: side / 2, y: side - 6, "text-anchor": "middle" }, "for ", shorten(targets[mine].name, 34)),
    element("text", { x: -side / 2, y: 13, transform: "rotate(-90)", "text-anchor": "middle" }, "for ", shorten(targets[other].name, 34)));
  const choose = targets.length > 2 ? element("select", { "aria-label": "Other target", onchange: (event) => { page.compared = Number(event.target.value); showCompare(page, host); } }, targets.map((t, i) => (i === mine ? null : element("option", { value: i, selected: i === other }, t.name)))) : null;
  host.replaceChildren(
    element("h2", {}, "Two targets side by side"),
    element("p", { class: "muted" }, `Each dot is a state, or several at the same place: its importance (${page.bound === "width" ? "width" : `${page.bound} bound`}, ${SCOPES[page.scope].toLowerCase()}) for one target and for the other. Dots off the diagonal matter more for one of them.`),
    choose || "",
    element("div", { class: "two" }, element("div", { class: "plot" }, plot),
      element("table", { id: "compare-table" }, element("caption", {}, apart.length ? "Furthest apart" : "No state differs"), element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "State"), [mine, other].map((i) => element("th", { scope: "col" }, "for ", bdi(targets[i].name))))),
        element("tbody", {}, apart.map(([s, a, b]) => element("tr", {}, element("th", { scope: "row" }, page.link(s)), element("td", { class: "num" }, number(a)), element("td", { class: "num" }, number(b))))))));
}
