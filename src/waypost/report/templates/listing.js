// A table that can be sorted, a page at a time; what is in it is said by those who extend it.

class Listing {
  // columns(): [{key, title, text, wide}]; ordered(): what is listed; cell(column, item); row(item): attributes; titled(shown, all)
  constructor(host, id) {
    this.host = host;
    this.id = id;
    this.sort = { key: "rank", down: false };
    this.rows = 60;
  }

  show() {
    const { sort } = this;
    const columns = this.columns();
    const all = this.ordered();
    const head = columns.map((column) => {
      const active = sort.key === column.key;
      return element("th", { scope: "col", class: column.wide ? "wide-only" : null, "aria-sort": active ? (sort.down ? "descending" : "ascending") : "none" },
        element("button", { type: "button", "data-column": column.key, onclick: () => this.sortBy(column) }, column.title + (active ? (sort.down ? " ↓" : " ↑") : "")));
    });
    const body = all.slice(0, this.rows).map((item) => element("tr", this.row(item), columns.map((column) => this.cell(column, item))));
    const left = all.length - body.length;
    this.host.replaceChildren(
      element("table", { id: this.id }, element("caption", {}, this.titled(body.length, all.length)), element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)),
      element("div", { class: "table-more" }, left > 0 ? element("button", { type: "button", onclick: () => { this.rows += 100; this.show(); } }, `Show ${Math.min(100, left)} more`) : "", left > 0 ? element("span", { class: "muted" }, `${left.toLocaleString("en")} not listed`) : ""));
  }

  printed(on) {
    // on paper all rows, or so many that the caption says how many there are
    this.rows = on ? 1000 : 60;
    this.show();
  }

  sortBy(column) {
    // first the way that says most, then the other, then as it was
    const first = !column.text;
    if (this.sort.key !== column.key) this.sort = { key: column.key, down: first };
    else if (this.sort.down === first) this.sort = { key: column.key, down: !first };
    else this.sort = { key: "rank", down: false };
    this.show();
    this.host.querySelector(`[data-column="${column.key}"]`).focus();
  }
}
