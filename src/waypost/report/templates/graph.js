// The picture: builders say what stands where, one renderer draws it, and paint() colours it.

const MARGIN = 34;
const TALLEST = 640;

function overviewPicture(view, room) {
  // of the two layouts, the one that can be shown larger
  const scale = (layout) => Math.min(room / (layout.width + 2 * MARGIN), TALLEST / (layout.height + 2 * MARGIN));
  const layout = scale(view.tall) > scale(view.wide) ? view.tall : view.wide;
  const nodes = view.states.map((state, i) => ({ state, x: layout.centres[i][0], y: layout.centres[i][1], w: view.sizes[i][0], h: view.sizes[i][1] }));
  const edges = view.edges.map((edge, i) => ({ ...edge, curve: layout.curves[i] }));
  return { nodes, edges, width: layout.width, height: layout.height };
}

function aroundPicture(page, state) {
  // the state in the middle, where it can come from on the left, where it can go on the right
  const limit = 9;
  const before = [...page.predecessors(state)].sort(page.byImportance);
  const after = [...page.successors(state).keys()].filter((s) => s !== state).sort(page.byImportance);
  const size = (s) => [Math.min(190, Math.max(70, 26 + 7.4 * page.caption(s).length)), 38];
  const column = (states, x, total) => states.slice(0, limit).map((s, i, all) => ({ state: s, x, y: total / 2 + (i - (all.length - 1) / 2) * 56, w: size(s)[0], h: 38 }));
  const rows = Math.max(1, Math.min(limit, Math.max(before.length, after.length)));
  const height = rows * 56;
  const nodes = [{ state, x: 330, y: height / 2, w: size(state)[0] + 12, h: 46 }, ...column(before.filter((s) => !after.includes(s)), 95, height), ...column(after, 565, height)];
  const at = new Map(nodes.map((node) => [node.state, node]));
  const edges = [];
  for (const node of nodes) {
    for (const [target, ways] of page.successors(node.state)) {
      if (node.state !== state && target !== state) continue;
      const end = at.get(target);
      if (!end || target === node.state) continue;
      const right = end.x > node.x;
      const from = [node.x + (right ? node.w : -node.w) / 2, node.y + (right ? 0 : 8)];
      const to = [end.x + (right ? -end.w : end.w) / 2, end.y + (right ? 0 : 8)];
      const bend = (to[0] - from[0]) / 2;
      edges.push({ s: node.state, t: target, c: ways.map((w) => w[0]), p: ways.map((w) => w[1]), curve: [from, [from[0] + bend, from[1]], [to[0] - bend, to[1]], to] });
    }
  }
  const rest = Math.max(0, before.length - limit) + Math.max(0, after.length - limit);
  return { nodes, edges, width: 660, height, note: rest ? `and ${counted(rest, "more neighbour")}` : "" };
}

function mapPicture(grid) {
  // states stand where their coordinates say; several on one tile share it
  const cell = 74;
  const groups = new Map();
  for (const [state, x, y] of grid.cells) {
    const key = `${x},${y}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(state);
  }
  const nodes = [];
  const tiles = [];
  for (const [key, states] of groups) {
    const [x, y] = key.split(",").map(Number);
    tiles.push([x * cell, y * cell, cell, cell, grid.marks[key] || ""]);
    // as wide as high: columns and rows that leave the largest squares
    const columns = Math.ceil(Math.sqrt(states.length));
    const [w, h] = [(cell - 12) / columns, (cell - 26) / Math.ceil(states.length / columns)];
    states.forEach((state, i) => nodes.push({ state, bare: true, x: x * cell + 6 + w * ((i % columns) + .5), y: y * cell + 6 + h * (Math.floor(i / columns) + .5), w: w - 3, h: h - 3 }));
  }
  return { nodes, edges: [], tiles, width: grid.width * cell, height: grid.height * cell };
}

function curvePath(points) {
  const at = ([x, y]) => `${x} ${y}`;
  let text = `M${at(points[0])}`;
  for (let i = 1; i + 2 < points.length; i += 3) text += `C${at(points[i])},${at(points[i + 1])},${at(points[i + 2])}`;
  return text;
}

function middleOf(points) {
  const k = Math.floor((points.length - 1) / 6) * 3;
  const [a, b, c, d] = points.slice(k, k + 4);
  return d ? [(a[0] + 3 * b[0] + 3 * c[0] + d[0]) / 8, (a[1] + 3 * b[1] + 3 * c[1] + d[1]) / 8] : a;
}

function addition(caption, name) {
  // what a state's name adds to what the state is called
  return name.includes(caption) ? name.replace(caption, "").replace(/^[\s:;,()[\]-]+|[\s:;,()[\]-]+$/g, "") : name;
}

function shorten(text, room) { return text.length > room ? text.slice(0, Math.max(1, room - 1)) + "…" : text; }

class Graph {
  constructor(page, svg) {
    this.page = page;
    this.svg = svg;
    this.nodes = new Map();
    this.edges = [];
    this.box = { x: 0, y: 0, w: 100, h: 100 };
    this.listen();
  }

  show(picture) {
    this.picture = picture;
    this.nodes.clear();
    const marker = element("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" }, element("path", { d: "M0 .6 8 4 0 7.4z" }));
    const layers = [element("defs", {}, marker)];
    layers.push(element("g", {}, (picture.tiles || []).flatMap(([x, y, w, h, mark]) => [element("rect", { class: "tile", x, y, width: w, height: h }), element("text", { class: "tile-mark", x: x + w / 2, y: y + h - 5, "text-anchor": "middle" }, mark)])));
    this.edges = picture.edges.map((edge) => ({ edge, made: this.edge(edge) }));
    layers.push(element("g", {}, this.edges.map((e) => e.made)));
    layers.push(element("g", {}, picture.nodes.map((node) => { const made = this.node(node); this.nodes.set(node.state, made); return made; })));
    if (picture.note) layers.push(element("text", { x: picture.width / 2, y: picture.height + 24, "text-anchor": "middle", class: "sub", fill: "currentColor", "font-size": 12 }, picture.note));
    this.svg.replaceChildren(...layers);
    this.svg.classList.toggle("quiet", picture.edges.length > 40);
    this.fit();
  }

  node({ state, x, y, w, h, bare }) {
    const page = this.page;
    const caption = page.caption(state);
    const name = page.data.states[state];
    const sub = bare ? "" : addition(caption, name);
    const room = Math.floor((w - 14) / 7.8);
    const made = element("g", {
      class: "node", tabindex: 0, role: "button", transform: `translate(${x - w / 2},${y - h / 2})`, "data-state": state, "data-bare": bare ? "bare" : "",
      onclick: () => { if (!this.moved) page.press(state); },
      onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); page.press(state); } },
    },
    element("title", {}, ""),
    element("rect", { class: "ring-line", x: -4, y: -4, width: w + 8, height: h + 8, rx: 11 }),
    element("rect", { class: "body", width: w, height: h, rx: bare ? 4 : 8 }));
    if (!bare) {
      made.append(element("text", { x: w / 2, y: h / 2 + (sub ? -2 : 4.5), "text-anchor": "middle" }, shorten(caption, room)));
      if (sub) made.append(element("text", { class: "sub", x: w / 2, y: h / 2 + 12, "text-anchor": "middle" }, shorten(sub, Math.floor(room * 1.25))));
    }
    const mark = state === page.data.initial ? "▶" : page.isTarget(state) ? "◎" : "";
    if (mark) made.append(element("text", { class: "mark", x: bare ? w / 2 : 4, y: bare ? h / 2 + 4 : mark === "▶" ? -9 : h + 17, "text-anchor": bare ? "middle" : "start" }, mark + (bare ? "" : mark === "▶" ? " start" : " target")));
    return made;
  }

  edge(edge) {
    const page = this.page;
    const hidden = !edge.c.length;
    const labels = edge.c.slice(0, 2).map((c, i) => {
      const action = page.choicesOf(edge.s) > 1 ? page.action(c) : "";
      const p = edge.p[i] === 1 ? "" : number(edge.p[i]);
      return [shorten(action, 18), p].filter(Boolean).join(" ");
    }).filter(Boolean);
    if (edge.c.length > 2) labels.push(`+${edge.c.length - 2}`);
    const [x, y] = middleOf(edge.curve);
    return element("g", { class: hidden ? "edge hidden-way" : "edge" },
      element("title", {}, hidden ? "through states that are not shown" : edge.c.map((c, i) => `${page.action(c)} ${number(edge.p[i])}`).join("\n")),
      element("path", { d: curvePath(edge.curve), "marker-end": "url(#tip)" }),
      labels.length ? element("text", { x, y: y + 3.5 }, labels.join(", ")) : null);
  }

  paint() {
    // colours, what is hidden, what is chosen: everything that changes without moving a node
    const page = this.page;
    const visible = new Map();
    const taken = page.takenEdges();
    for (const [state, made] of this.nodes) {
      const value = page.shade(state);
      const keep = page.keeps(state);
      visible.set(state, keep);
      const classes = ["node", page.kind(state), made.dataset.bare];
      if (value == null) classes.push("unknown");
      else if (value > .5) classes.push("strong");
      if (state === page.selected) classes.push("selected");
      if (page.matches && page.matches.has(state)) classes.push("found");
      else if (page.matches) classes.push("dim");
      if (page.path && page.path.states.includes(state)) classes.push("onpath");
      made.setAttribute("class", classes.join(" "));
      made.setAttribute("style", (value == null ? "" : `--v:${(100 * value).toFixed(1)}%;`) + (keep ? "" : "display:none"));
      const text = `${page.data.states[state]}: ${page.boundsText(state)}`;
      made.setAttribute("aria-label", text);
      made.firstChild.textContent = text;
    }
    for (const { edge, made } of this.edges) {
      const classes = [edge.c.length ? "edge" : "edge hidden-way"];
      const weight = taken ? taken(edge) : null;
      if (edge.s === page.selected || edge.t === page.selected) classes.push("near");
      if (weight != null) classes.push(weight > 0 ? "taken" : "untaken");
      if (page.path && page.path.states.some((s, i) => s === edge.s && page.path.states[i + 1] === edge.t)) classes.push("onpath");
      made.setAttribute("class", classes.join(" "));
      made.style.display = visible.get(edge.s) && visible.get(edge.t) ? "" : "none";
      made.querySelector("path").style.strokeWidth = weight > 0 ? (1.4 + 4 * weight).toFixed(1) : "";
    }
  }

  fit() {
    const { width, height } = this.picture;
    const wide = this.svg.clientWidth || 800;
    const margin = MARGIN;
    const ideal = (height + 2 * margin) * Math.min(1.25, wide / (width + 2 * margin));
    const high = matchMedia("print").matches ? this.svg.clientHeight : Math.round(Math.max(Math.min(ideal, TALLEST), Math.min(380, TALLEST)));
    this.svg.style.height = `${high}px`;
    const least = wide < 620 ? .8 : .6; // text below this size is not read
    const whole = Math.min(wide / (width + 2 * margin), high / (height + 2 * margin), 1.25);
    const scale = Math.max(whole, least);
    const start = this.picture.nodes.find((node) => node.state === this.page.data.initial) || this.picture.nodes[0] || { x: 0, y: 0 };
    const [w, h] = [wide / scale, high / scale];
    const x = w >= width + 2 * margin ? (width - w) / 2 : Math.max(-margin, Math.min(start.x - w / 3, width + margin - w));
    const y = h >= height + 2 * margin ? (height - h) / 2 : Math.max(-margin, Math.min(start.y - h / 2, height + margin - h));
    this.look({ x, y, w, h });
  }

  look(box) {
    this.box = box;
    this.svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
  }

  zoom(factor, point) {
    const { x, y, w, h } = this.box;
    const wide = Math.min(Math.max(w / factor, 120), 20000);
    const f = w / wide;
    const [px, py] = point || [x + w / 2, y + h / 2];
    this.look({ x: px - (px - x) / f, y: py - (py - y) / f, w: wide, h: h / f });
  }

  centre(state) {
    const node = this.picture.nodes.find((n) => n.state === state);
    if (!node) return;
    const { x, y, w, h } = this.box;
    if (node.x > x + 40 && node.x < x + w - 40 && node.y > y + 30 && node.y < y + h - 30) return;
    this.look({ x: node.x - w / 2, y: node.y - h / 2, w, h });
  }

  listen() {
    const svg = this.svg;
    const pointers = new Map();
    const inside = (event) => {
      const frame = svg.getBoundingClientRect();
      return [this.box.x + (event.clientX - frame.left) / frame.width * this.box.w, this.box.y + (event.clientY - frame.top) / frame.height * this.box.h];
    };
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), inside(event));
    }, { passive: false });
    svg.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, event); this.moved = false; });
    svg.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const unit = this.box.w / svg.clientWidth;
      const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
      if (pointers.size === 1) {
        if (!this.moved && Math.hypot(dx, dy) < 5) return;
        if (!this.moved) { this.moved = true; svg.setPointerCapture(event.pointerId); svg.classList.add("dragging"); }
        this.look({ ...this.box, x: this.box.x - dx * unit, y: this.box.y - dy * unit });
      } else {
        this.moved = true;
        const other = [...pointers.values()].find((p) => p.pointerId !== event.pointerId);
        const reach = (p) => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY) || 1;
        this.zoom(reach(event) / reach(before), inside(other));
      }
      pointers.set(event.pointerId, event);
    });
    const drop = (event) => { pointers.delete(event.pointerId); svg.classList.remove("dragging"); };
    svg.addEventListener("pointerup", drop);
    svg.addEventListener("pointercancel", drop);
    svg.addEventListener("keydown", (event) => {
      const step = this.box.w / 10;
      const move = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
      if (move) this.look({ ...this.box, x: this.box.x + move[0], y: this.box.y + move[1] });
      else if (event.key === "+" || event.key === "=") this.zoom(1.25);
      else if (event.key === "-") this.zoom(.8);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    });
  }
}
