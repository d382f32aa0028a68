// The table of all states: filtered by the search and the slider.

class Table extends Listing {
  constructor(page, host) {
    super(host, "states");
    this.page = page;
  }

  columns() {
    const { page } = this;
    const scopes = Object.keys(page.target.scopes);
    return [
      { key: "name", title: "State", text: true }, ...(Object.keys(page.data.labels).length ? [{ key: "labels", title: "Labels", text: true, wide: true }] : []),
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

  row(state) {
    const { page } = this;
    return { class: [page.kind(state), state === page.selected ? "selected" : ""].join(" "), "data-state": state, onclick: () => page.select(state, true) };
  }

  titled(shown, all) {
    const { page, sort } = this;
    const some = all > shown ? `${shown.toLocaleString("en")} of ` : "";
    return `${page.data.map ? "States of the learned model: " : ""}${some}${counted(all, "state")}${sort.key === "rank" ? ", most important first" : ""}`;
  }

  cell(column, state) {
    const { page } = this;
    if (column.key === "name") return element("th", { scope: "row" }, page.link(state));
    if (column.key === "labels") return element("td", { class: "wide-only muted" }, bdi(page.labels(state).join(", ")));
    const bounds = page.bounds(state, column.scope);
    return element("td", { class: column.wide ? "num wide-only" : "num" }, bounds ? element("span", { class: "cell" }, bar(...bounds), element("span", {}, span(...bounds))) : "");
  }

  mark() {
    for (const row of this.host.querySelectorAll("tbody tr")) row.classList.toggle("selected", Number(row.dataset.state) === this.page.selected);
  }
}
