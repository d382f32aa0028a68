// The picture: builders say what stands where, one renderer draws it, and paint() colours it.
//
// A picture has nodes {key, state or stop, rows, note, x, y, w, h}, edges {s, t, path, label, ...}, a width and a height.

class Graph {
  constructor(page, svg) {
    this.page = page;
    this.svg = svg;
    this.nodes = new Map();
    this.edges = [];
    this.minimap = document.getElementById("minimap");
    this.minimap.addEventListener("pointerdown", (event) => { event.preventDefault(); this.goTo(event); });
    this.minimap.addEventListener("pointermove", (event) => { if (event.buttons) this.goTo(event); });
    this.box = { x: 0, y: 0, w: 100, h: 100 };
    this.listen();
  }

  get room() {
    // how large a picture may be on the screen
    const narrow = innerWidth < 640;
    if (matchMedia("print").matches) return { w: this.svg.clientWidth, h: 548 }; // 14.5 cm, as the style has it
    return { w: this.svg.clientWidth || 800, h: narrow ? Math.max(420, Math.min(600, innerHeight * .72)) : Math.max(440, Math.min(820, innerHeight - 235)) };
  }

  show(picture) {
    this.picture = picture;
    this.nodes.clear();
    const tip = (id, size) => element("marker", { id, viewBox: "0 0 8 8", refX: 7.2, refY: 4, markerWidth: size, markerHeight: size, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, element("path", { d: "M0 .4 8 4 0 7.6z" }));
    const layers = [element("defs", {}, tip("tip", 9), tip("tip-wide", 13))];
    if (picture.ground) layers.push(picture.ground());
    this.edges = picture.edges.map((edge) => ({ edge, made: this.edge(edge) }));
    layers.push(element("g", {}, this.edges.map((e) => e.made)));
    layers.push(element("g", {}, picture.nodes.map((node) => { const made = this.node(node); this.nodes.set(node.key, { node, made }); return made; })));
    layers.push(element("g", { class: "numbers" }, this.edges.map(({ edge }) => this.label(edge))));
    this.svg.replaceChildren(...layers);
    this.fit();
  }

  has(state) { return this.nodes.has(state); }

  node(node) {
    const { page } = this;
    const { key, x, y, w, h, rows = [], note, role = "", bare } = node;
    const act = () => (node.stop == null ? page.press(node.state) : page.selectStop(node.stop));
    const top = (h - 17 * rows.length - (note ? 16 : 0)) / 2 + 13;
    return element("g", {
      class: "node", tabindex: 0, role: "button", transform: `translate(${(x - w / 2).toFixed(1)},${(y - h / 2).toFixed(1)})`, "data-key": key, "data-state": node.state, "data-stop": node.stop, "data-role": role,
      onclick: () => { if (!this.moved) act(); },
      onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); event.stopPropagation(); act(); } },
    },
    element("title", {}, ""),
    element("rect", { class: "ring-line", x: -4, y: -4, width: w + 8, height: h + 8, rx: bare ? 7 : 12 }),
    element("rect", { class: "body", width: w, height: h, rx: bare ? 4 : role && role !== "activity" ? h / 2 : 8 }),
    node.actor >= 0 ? actorMark(node.actor, h) : null,
    rows.map((row, i) => element("text", { class: "name", "aria-hidden": "true", x: w / 2, y: top + 17 * i }, row)),
    note ? element("text", { class: "note", "aria-hidden": "true", x: w / 2, y: top + 17 * rows.length }, note) : null,
    node.drawn ? node.drawn(w, h) : null);
  }

  edge(edge) {
    const wide = (edge.width || 1.4) > 4;
    return element("g", { class: "edge" }, element("title", {}, edge.title || ""), element("path", { class: "catch", d: edge.path }), element("path", { class: "line", d: edge.path, "marker-end": `url(#${wide ? "tip-wide" : "tip"})` }));
  }

  label(edge) { return edge.label ? element("text", { class: "number", x: edge.label_x.toFixed(1), y: (edge.label_y + 4.5).toFixed(1), "text-anchor": edge.start ? "start" : "middle", "data-edge": `${edge.s} ${edge.t}` }, edge.label) : null; }

  paint() {
    // colours, what is hidden, what is chosen: everything that changes without moving a node
    const { page } = this;
    const taken = page.takenEdges();
    const chosen = page.chosenKey();
    const path = page.path ? page.path.states : page.trail ? page.trail.keys : [];
    const walked = walkShown(path, this.edges.map(({ edge }) => edge));
    for (const [key, { node, made }] of this.nodes) {
      const look = page.look(node);
      const classes = ["node", look.tone || "plain", ...(look.classes || [])];
      if (node.bare) classes.push("bare");
      if (key === chosen) classes.push("selected");
      if (page.matches) classes.push(page.matchesNode(node) ? "found" : "dim");
      if (path.includes(key)) classes.push("onpath");
      made.setAttribute("class", classes.join(" "));
      made.setAttribute("aria-pressed", String(key === chosen));
      made.style.setProperty("--v", (look.value || 0).toFixed(3));
      made.dataset.label = look.text;
      made.querySelector("title").textContent = look.text;
    }
    const strong = new Set(); // arrows whose numbers stay
    for (const { edge, made } of this.edges) {
      const weight = taken && edge.c ? taken(edge) : null;
      const classes = ["edge"];
      if (edge.hidden) classes.push("hidden-way");
      if (chosen != null && (edge.s === chosen || edge.t === chosen)) classes.push("near");
      if (weight != null) classes.push(weight > 0 ? "taken" : "untaken");
      if (walked.has(`${edge.s} ${edge.t}`)) classes.push("onpath");
      if (classes.some((name) => ["near", "taken", "onpath"].includes(name))) strong.add(`${edge.s} ${edge.t}`);
      made.setAttribute("class", classes.join(" "));
      made.querySelector(".line").style.strokeWidth = (weight > 0 ? 1.4 + 4 * weight : edge.width || 1.4).toFixed(1);
    }
    this.svg.classList.toggle("choosing", chosen != null || !!page.trail);
    for (const number of this.svg.querySelectorAll(".number")) number.classList.toggle("near", strong.has(number.dataset.edge));
  }

  fit() {
    // everything into the frame
    const { width, height } = this.picture;
    const room = this.room;
    const scale = scaleIn(this.picture, room);
    const high = Math.round(Math.min(room.h, Math.max(innerWidth < 640 ? 260 : 340, (height + 2 * MARGIN) * scale)));
    this.svg.style.height = `${high}px`;
    const [w, h] = [room.w / scale, high / scale];
    this.look({ x: (width - w) / 2, y: (height - h) / 2, w, h });
  }

  look(box) {
    this.box = box;
    this.svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
    this.showMinimap();
  }

  showMinimap() {
    // where one is in a picture of which a part is seen; a click goes there
    const { width, height, nodes } = this.picture;
    const { x, y, w, h } = this.box;
    const part = x > 2 || y > 2 || x + w < width - 2 || y + h < height - 2;
    this.minimap.toggleAttribute("hidden", !part);
    if (!part) return;
    this.minimap.setAttribute("viewBox", `-8 -8 ${width + 16} ${height + 16}`);
    if (this.mini !== this.picture) {
      this.mini = this.picture;
      this.minimap.replaceChildren(...nodes.map((n) => element("rect", { x: n.x - n.w / 2, y: n.y - n.h / 2, width: n.w, height: n.h })), element("rect", { class: "frame" }));
    }
    const frame = this.minimap.querySelector(".frame");
    const [left, top] = [Math.max(x, -8), Math.max(y, -8)];
    for (const [key, value] of Object.entries({ x: left, y: top, width: Math.max(0, Math.min(x + w, width + 8) - left), height: Math.max(0, Math.min(y + h, height + 8) - top) })) frame.setAttribute(key, value.toFixed(1));
  }

  goTo(event) {
    const spot = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.minimap.getScreenCTM().inverse());
    this.look({ ...this.box, x: spot.x - this.box.w / 2, y: spot.y - this.box.h / 2 });
  }

  zoom(factor, point) {
    const { x, y, w, h } = this.box;
    const wide = Math.min(Math.max(w / factor, 120), 20000);
    const f = w / wide;
    const [px, py] = point || [x + w / 2, y + h / 2];
    this.look({ x: px - (px - x) / f, y: py - (py - y) / f, w: wide, h: h / f });
  }

  centre(key) {
    const found = this.nodes.get(key);
    if (!found) return;
    const { x, y, w, h } = this.box;
    const { node } = found;
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
      if (!event.ctrlKey && !event.metaKey && !event.altKey && document.activeElement !== svg) return; // the page scrolls, unless the picture was clicked
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), inside(event));
    }, { passive: false });
    svg.addEventListener("click", (event) => { if (!this.moved && !event.target.closest(".node")) this.page.deselect(); });
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
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) svg.addEventListener(name, drop);
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
