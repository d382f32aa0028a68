// The page of an agent: its places in a table, on the map, and one of them in detail.

class Places extends Listing {
  constructor(page, host) {
    super(host, "places");
    this.page = page;
  }

  columns() {
    const { columns } = this.page.data;
    return columns.map((title, k) => ({ key: String(k), title, at: k, text: k < columns.length - 2, wide: k > 0 && k === columns.length - 2 && columns.length === 5 }));
  }

  ordered() {
    const { page, sort } = this;
    const found = page.data.rows.map((_, i) => i).filter((i) => !page.wanted || page.lowered[i].includes(page.wanted));
    if (sort.key === "rank") return found;
    const way = sort.down ? -1 : 1;
    const k = Number(sort.key);
    const first = page.data.columns.length - 2;
    if (k < first) return found.sort((a, b) => way * page.cell(a, k).localeCompare(page.cell(b, k), "en", { numeric: true }));
    const value = (i) => page.data.rows[i].numbers[k - first] ?? Infinity; // it may stay for ever
    return found.sort((a, b) => way * (value(a) - value(b) || 0));
  }

  row(i) { return { class: i === this.page.selected ? "selected" : null, "data-place": i, onclick: () => this.page.select(i) }; }

  titled(shown, all) {
    const { data, wanted } = this.page;
    const total = wanted ? all : data.all;
    const kept = data.all > data.rows.length ? `; this page has the ${data.rows.length.toLocaleString("en")} most costly` : "";
    return `${total > shown ? `${shown.toLocaleString("en")} of ` : ""}${counted(total, "place")}${this.sort.key === "rank" ? ", the most costly first" : ""}${kept}`;
  }

  cell(column, i) {
    const { page } = this;
    const text = page.cell(i, column.at);
    if (column.at === 0) return element("th", { scope: "row" }, page.link(i));
    if (column.text) return element("td", {}, bdi(text));
    const lost = column.at - (page.data.columns.length - 2);
    const bars = page.worst > 0 && (lost === 1 || page.data.columns.length > 5);
    return element("td", { class: column.wide ? "num wide-only" : "num" }, bars ? element("span", { class: "cell" }, bar(0, page.data.rows[i].numbers[lost] / page.worst), element("span", {}, text)) : text);
  }

  mark() { for (const row of this.host.querySelectorAll("tbody tr")) row.classList.toggle("selected", Number(row.dataset.place) === this.page.selected); }
}

class AgentPage {
  constructor(data) {
    this.data = data;
    this.selected = null; // a place
    this.wanted = "";
    this.lowered = data.rows.map((row) => row.cells.join(" ").toLowerCase());
    this.two = data.columns.length > 5;
    this.worst = Math.max(0, ...data.rows.flatMap((row) => (this.two ? row.numbers : row.numbers.slice(1))));
    this.fields = new Map(); // column,row -> places, the most costly first
    data.rows.forEach((row, i) => { if (row.at) this.fields.set(row.at.join(), [...(this.fields.get(row.at.join()) || []), i]); });
    this.details = document.getElementById("details");
    const host = document.getElementById("live-table");
    this.table = host && new Places(this, host);
    if (this.table) this.table.show();
    this.enliven();
    this.listen();
  }

  cell(i, k) { return this.data.rows[i].cells[k]; }
  link(i) { return element("button", { type: "button", class: "link", onclick: (event) => { event.stopPropagation(); this.select(i); } }, bdi(this.cell(i, 0))); }

  enliven() {
    // names in the findings lead to their place, fields of the map to what is lost on them
    for (const name of document.querySelectorAll(".findings [data-state]")) {
      const place = (event) => { event.preventDefault(); this.select(Number(name.dataset.state)); };
      name.replaceChildren(element("a", { class: "link", href: "#explorer", onclick: place }, ...name.childNodes)); // not a button: a long name breaks as text does
    }
    for (const [at, places] of this.fields) {
      for (const tile of this.tiles(at)) {
        tile.classList.add("lossy");
        tile.prepend(element("title", {}, `${this.cell(places[0], 0)}: ${this.lossText(places[0])}`));
        tile.addEventListener("click", () => this.select(places[0]));
      }
    }
  }

  tiles(at) { return [0, 1].map((k) => document.getElementById(`field-${k}-${at.replace(",", "-")}`)).filter(Boolean); }
  lossText(i) { const [a, b] = this.data.rows[i].numbers; return this.two ? `the agent loses ${number(a)}, the other ${number(b)}` : `loses ${number(b)} of success`; }

  select(i) {
    this.selected = i;
    this.details.classList.toggle("idle", i == null);
    this.details.hidden = i == null;
    this.details.replaceChildren(...(i == null ? [] : this.told(i)));
    for (const ring of document.querySelectorAll(".map .chosen")) ring.remove();
    for (const tile of i == null || !this.data.rows[i].at ? [] : this.tiles(this.data.rows[i].at.join())) tile.ownerSVGElement.append(element("path", { class: "chosen", d: tile.querySelector("path").getAttribute("d") }));
    if (this.table) this.table.mark();
    if (i != null && innerWidth >= 960) document.getElementById("explorer").scrollIntoView({ block: "nearest" });
  }

  told(i) {
    const { best, actions, numbers, at, hoped } = this.data.rows[i];
    const least = Math.max(...actions.map((action) => action[1]));
    const here = at ? this.fields.get(at.join()).filter((other) => other !== i) : [];
    const taken = (shares) => (this.two ? `agent ${percent(shares[0])}, other ${percent(shares[1])}` : `taken ${percent(shares[0])}`);
    const row = ([name, worth, ...shares], k) => element("div", { class: "choice" },
      element("b", {}, bdi(name)), best.includes(k) ? [" ", element("span", { class: "chip" }, "best")] : "",
      element("div", { class: `row ${best.includes(k) ? "for" : "against"}` }, element("small", {}, number(worth)), bar(0, worth), element("small", {}, taken(shares))));
    return [
      element("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => this.close() }, "✕"),
      element("h3", {}, bdi(this.cell(i, 0))),
      element("p", {}, this.two ? `Here ${this.lossText(i)} of success.` : `Here the agent ${this.lossText(i)}, in ${numbers[0] == null ? "visits without end" : `${this.cell(i, 3)} visits a run`}.`),
      element("h4", {}, `How likely the target is ${hoped == null ? "" : "in time "}after each action, if the best follows`),
      ...actions.map(row),
      ...(hoped == null ? [] : [element("p", { class: "muted" }, `On average over the visits ${this.two ? "of the one that loses more here" : "of the agent"}. ${hoped - least < 0.0005 ? "To count the steps left would gain less than 0.001." : `Who counts the steps left and always does the best reaches ${number(hoped)}.`}`)]),
      ...(here.length ? [element("h4", {}, "Also on this field"), element("ul", { class: "steps" }, here.slice(0, 12).map((other) => element("li", {}, this.link(other), ` ${this.cell(other, this.data.columns.length - 1)}`)), here.length > 12 ? element("li", { class: "muted" }, `and ${here.length - 12} more`) : "")] : []),
    ];
  }

  close() {
    const last = this.selected;
    this.select(null);
    const row = last != null && document.querySelector(`[data-place="${last}"] .link`);
    if (row) row.focus({ preventScroll: true });
  }

  listen() {
    const search = document.getElementById("search");
    if (search) search.addEventListener("input", () => { this.wanted = search.value.trim().toLowerCase(); this.table.rows = 60; this.table.show(); });
    addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
      if (event.key === "/" && search && !/input|select|textarea/i.test(event.target.tagName)) { event.preventDefault(); search.focus(); }
    });
    const legible = () => { for (const drawing of document.querySelectorAll(".map svg")) drawing.classList.toggle("far", drawing.clientWidth / drawing.viewBox.baseVal.width < 1.3); }; // what is written there would be too small
    legible();
    addEventListener("resize", legible);
    if (this.table) { addEventListener("beforeprint", () => this.table.printed(true)); addEventListener("afterprint", () => this.table.printed(false)); }
  }
}

document.documentElement.classList.add("has-js");
window.waypost = new AgentPage(JSON.parse(document.getElementById("data").textContent));
