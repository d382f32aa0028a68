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
      { key: "name", title: "State" }, ...(Object.keys(page.data.labels).length ? [{ key: "labels", title: "Labels", wide: true }] : []),
      ...scopes.map((scope) => ({ key: scope, title: SCOPES[scope], scope })),
      ...(page.target.absolute ? [{ key: "absolute", title: "Of all runs", scope: "absolute", wide: true }] : []),
    ];
  }

  ordered() {
    const { page, sort } = this;
    const ranked = page.order.filter((s) => !page.matches || page.matches.has(s));
    if (sort.key === "rank") return ranked;
    const way = sort.down ? -1 : 1;
    if (sort.key === "name") return ranked.sort((a, b) => way * page.data.states[a].localeCompare(page.data.states[b], "en", { numeric: true }));
    if (sort.key === "labels") return ranked.sort((a, b) => way * page.labels(a).join().localeCompare(page.labels(b).join(), "en", { numeric: true }));
    const side = page.colour === "lower" ? 0 : 1;
    const key = (s) => { const [low, high] = page.bounds(s, sort.key); return page.colour === "width" ? high - low : side ? high + low / 1e6 : low + high / 1e6; };
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
      element("table", { id: "states" }, element("caption", {}, `${page.data.map ? "States of the learned model: " : ""}${left > 0 ? `${body.length.toLocaleString("en")} of ${counted(all.length, "state")}` : counted(all.length, "state")}${sort.key === "rank" ? ", most important first" : ""}`), element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)),
      element("div", { class: "table-more" }, left > 0 ? element("button", { type: "button", onclick: () => { this.rows += 100; this.show(); } }, `Show ${Math.min(100, left)} more`) : "", left > 0 ? element("span", { class: "muted" }, `${left.toLocaleString("en")} not listed`) : ""));
  }

  printed(on) {
    // on paper all rows, or so many that the caption says how many there are
    this.rows = on ? 1000 : 60;
    this.show();
  }

  cell(column, state) {
    const { page } = this;
    if (column.key === "name") return element("th", { scope: "row" }, page.link(state));
    if (column.key === "labels") return element("td", { class: "wide-only muted" }, bdi(page.labels(state).join(", ")));
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
