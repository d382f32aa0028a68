// The map of a gridworld: fields where they stand, walls between them, and what the strategy does on each.

const CELL = 76;
const HEADING = { up: [0, -1], north: [0, -1], n: [0, -1], down: [0, 1], south: [0, 1], s: [0, 1], left: [-1, 0], west: [-1, 0], w: [-1, 0], right: [1, 0], east: [1, 0], e: [1, 0] };

function headingOf(action, from, to) {
  // which way an action goes: what its name says, or else where it leads
  const word = action.toLowerCase().split(/[\s_-]+/).map((w) => HEADING[w]).find(Boolean);
  if (word) return word;
  if (!to) return null;
  const [dx, dy] = [Math.sign(to[0] - from[0]), Math.sign(to[1] - from[1])];
  return dx || dy ? [dx, dy] : null;
}

function gridPicture(page, room) {
  // states stand where their coordinates say; several on one field share it
  const { grid } = page.data;
  const groups = new Map();
  const place = new Map();
  for (const [state, x, y] of grid.cells) {
    const key = `${x},${y}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(state);
    place.set(state, [x, y]);
  }
  page.place = place;
  const size = Math.max(NOTE_FONT, (SMALLEST + .1) / scaleIn({ width: grid.width * CELL, height: grid.height * CELL }, room)); // of text
  const nodes = [];
  for (const [key, states] of groups) {
    const [x, y] = key.split(",").map(Number);
    const columns = Math.ceil(Math.sqrt(states.length));
    const [w, h] = [(CELL - 8) / columns, (CELL - 8) / Math.ceil(states.length / columns)];
    states.forEach((state, i) => {
      const fits = (text, high) => (h > high && textWidth(text, size) < w - 6 ? text : "");
      const note = fits(page.fieldNote(state), size + 22);
      const word = fits(grid.marks[key] || "", size + 4);
      nodes.push({ key: state, state, bare: true, x: x * CELL + 4 + w * ((i % columns) + .5), y: y * CELL + 4 + h * (Math.floor(i / columns) + .5), w: w - 2, h: h - 2, drawn: (wide, high) => fieldDrawing(page, state, { w: wide, h: high, size, note, word: i ? "" : word }) });
    });
  }
  return { nodes, edges: [], width: grid.width * CELL, height: grid.height * CELL, ground: () => ground(grid, groups) };
}

function fieldDrawing(page, state, { w, h, size, note, word }) {
  const made = [];
  const mark = [state === page.data.initial ? "▶" : page.isTarget(state) ? "◎" : "", word].filter(Boolean).join(" ");
  const arrow = ([dx, dy, p], other) => {
    const [cx, cy] = [w / 2 + (other ? 9 * Math.abs(dy) : 0), h / 2 - (note ? 3 : 0) + (other ? 9 * Math.abs(dx) : 0)];
    const r = Math.min(w, h) * .26;
    made.push(element("path", { class: other ? "heading other" : "heading", d: `M${cx - dx * r} ${cy - dy * r}L${cx + dx * r} ${cy + dy * r}`, "marker-end": "url(#tip)", style: `stroke-width:${(1.2 + 2 * p).toFixed(1)}` }));
  };
  const own = page.headings(state, page.strategyNow);
  own.forEach((way) => arrow(way, false));
  const same = (a) => own.some((b) => a[0] === b[0] && a[1] === b[1]);
  page.headings(state, page.strategyOther).filter((way) => !same(way)).forEach((way) => arrow(way, true));
  if (mark) made.push(element("text", { class: "mark", x: 4, y: size + 1, style: `font-size:${size.toFixed(1)}px` }, mark));
  if (note) made.push(element("text", { class: "note", x: w / 2, y: h - 5, style: `font-size:${size.toFixed(1)}px` }, note));
  return made;
}

function ground(grid, groups) {
  // fields that no state stands on are walls
  const made = [];
  for (let y = 0; y < grid.height; y++) {
    for (let x = 0; x < grid.width; x++) {
      const key = `${x},${y}`;
      const mark = grid.marks[key] || (groups.has(key) ? "" : "wall");
      made.push(element("rect", { class: `tile ${mark}`, x: x * CELL, y: y * CELL, width: CELL, height: CELL }));
    }
  }
  return element("g", {}, made);
}
