// Where things stand: dagre lays out boxes whose text was measured, in the direction that fits the frame better.

const MARGIN = 16;
const NAME_FONT = 14;
const NOTE_FONT = 13;
const SMALLEST = 11; // what is smaller on the screen is not read
const LEAST_SCALE = SMALLEST / NOTE_FONT + .005;

const pen = typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
const family = () => getComputedStyle(document.body).fontFamily;

function textWidth(text, size, weight = 400) {
  if (!pen) return text.length * size * .55;
  pen.font = `${weight} ${size}px ${family()}`;
  return pen.measureText(text).width;
}

function cut(text, room, size, weight) {
  // as much of a text as fits into `room`
  if (textWidth(text, size, weight) <= room) return text;
  const letters = [...text];
  let [low, high] = [1, letters.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(letters.slice(0, middle).join("") + "…", size, weight) <= room) low = middle; else high = middle - 1;
  }
  return letters.slice(0, low).join("") + "…";
}

function lines(text, room, size, weight) {
  // a name on one line or two, broken where words or parts of it end
  if (textWidth(text, size, weight) <= room) return [text];
  const parts = text.split(/(?<=[\s_\-/:,.])/);
  let first = "";
  while (parts.length > 1 && textWidth(first + parts[0], size, weight) <= room) first += parts.shift();
  if (!first) return [cut(text, room, size, weight)];
  return [first.trim(), cut(parts.join("").trim(), room, size, weight)];
}

function boxOf(name, note, widest = 168) {
  // what is written into a box, and how large that makes it
  const rows = lines(name, widest, NAME_FONT, 600);
  const under = note ? cut(note, widest, NOTE_FONT) : "";
  const w = Math.max(56, ...rows.map((row) => textWidth(row, NAME_FONT, 600)), under ? textWidth(under, NOTE_FONT) : 0) + 22;
  return { rows, note: under, w: Math.ceil(w), h: 12 + 17 * rows.length + (under ? 16 : 0) };
}

function smooth(points) {
  // a curve near the points of a polyline, as SVG path data
  const at = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const middle = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  let path = `M${at(points[0])}`;
  for (let i = 1; i + 1 < points.length; i++) {
    const end = i + 2 === points.length ? points[i + 1] : middle(points[i], points[i + 1]);
    path += `Q${at(points[i])} ${at(end)}`;
  }
  return points.length === 2 ? path + `L${at(points[1])}` : path;
}

function laid(boxes, arrows, rankdir, before = []) {
  // `before` are pairs of keys of which the first must come before the second
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir, acyclicer: "greedy", nodesep: rankdir === "TB" ? 26 : 20, edgesep: 14, ranksep: rankdir === "TB" ? 14 : 26 });
  for (const box of boxes) graph.setNode(String(box.key), { width: box.w, height: box.h });
  arrows.forEach((arrow, i) => {
    if (arrow.s === arrow.t) { graph.setEdge(String(arrow.s), String(arrow.t), loopRoom(arrow, rankdir), String(i)); return; }
    const label = arrow.label ? { width: textWidth(arrow.label, NOTE_FONT) + 8, height: 17 } : { width: 0, height: 0 };
    graph.setEdge(String(arrow.s), String(arrow.t), { ...label, labelpos: "c", weight: arrow.weight || 1 }, String(i));
  });
  for (const [first, second] of before) graph.setEdge(String(first), String(second), { weight: 0, width: 0, height: 0 }, "before");
  try { dagre.layout(graph); } catch {
    // its greedy way to break cycles leaves some of them standing; the other one never does, but draws more arrows up
    graph.graph().acyclicer = "dfs";
    dagre.layout(graph);
  }
  const start = boxes.find((box) => box.role === "start");
  const along = (box) => graph.node(String(box.key))[rankdir === "TB" ? "y" : "x"];
  if (start && !before.length) {
    // cycles may have put something in front of the start
    const early = boxes.filter((box) => box !== start && along(box) <= along(start));
    if (early.length) return laid(boxes, arrows, rankdir, early.map((box) => [start.key, box.key]));
  }
  const nodes = boxes.map((box) => { const { x, y } = graph.node(String(box.key)); return { ...box, x, y }; });
  const at = new Map(nodes.map((node) => [node.key, node]));
  const edges = arrows.map((arrow, i) => {
    if (arrow.s === arrow.t) return { ...arrow, ...loop(at.get(arrow.s), rankdir) };
    const { points, x, y } = graph.edge(String(arrow.s), String(arrow.t), String(i));
    return { ...arrow, points, label_x: x ?? (points[0].x + points[points.length - 1].x) / 2, label_y: y ?? (points[0].y + points[points.length - 1].y) / 2 };
  });
  return framed({ nodes, edges, rankdir });
}

function framed({ nodes, edges, rankdir }) {
  // all of it, arrows and numbers too, moved to where x and y start at 0
  const xs = nodes.flatMap((n) => [n.x - n.w / 2, n.x + n.w / 2]);
  const ys = nodes.flatMap((n) => [n.y - n.h / 2, n.y + n.h / 2]);
  for (const edge of edges) {
    for (const { x, y } of edge.points) { xs.push(x); ys.push(y); }
    if (!edge.label) continue;
    const half = textWidth(edge.label, NOTE_FONT) / 2;
    xs.push(edge.label_x - (edge.start ? 0 : half), edge.label_x + (edge.start ? 2 * half : half));
    ys.push(edge.label_y - 9, edge.label_y + 9);
  }
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return {
    nodes: nodes.map((node) => ({ ...node, x: node.x - left, y: node.y - top })),
    edges: edges.map((edge) => {
      const points = edge.points.map(({ x, y }) => ({ x: x - left, y: y - top }));
      return { ...edge, points, path: edge.loop ? bow(points) : smooth(points), label_x: edge.label_x - left, label_y: edge.label_y - top };
    }),
    width: Math.max(...xs) - left, height: Math.max(...ys) - top, rankdir,
  };
}

// An arrow from a box back to itself stands where dagre keeps room for it: beside the box where the picture runs down,
// under it where the picture runs to the right.
const LOOP = 24; // how far it stands out

function loopRoom(arrow, rankdir) {
  const wide = arrow.label ? textWidth(arrow.label, NOTE_FONT) + 12 : 8;
  return rankdir === "TB" ? { width: LOOP + 5 + wide, height: 30 } : { width: Math.max(48, wide), height: LOOP + (arrow.label ? 24 : 6) };
}

function loop(node, rankdir) {
  // two ends and the points that bend it
  if (rankdir === "LR") {
    const [x, y] = [node.x, node.y + node.h / 2];
    return { points: [{ x: x - 9, y }, { x: x - 22, y: y + 30 }, { x: x + 22, y: y + 30 }, { x: x + 9, y }], label_x: x, label_y: y + LOOP + 11, loop: true };
  }
  const [x, y] = [node.x + node.w / 2, node.y];
  return { points: [{ x, y: y - 9 }, { x: x + 30, y: y - 22 }, { x: x + 30, y: y + 22 }, { x, y: y + 9 }], label_x: x + LOOP + 5, label_y: y, loop: true, start: true };
}

function bow(points) {
  const [a, b, c, d] = points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
  return `M${a}C${b} ${c} ${d}`;
}

function scaleIn({ width, height }, room) {
  return Math.min(room.w / (width + 2 * MARGIN), room.h / (height + 2 * MARGIN), 1.2);
}

function arrange(boxes, arrows, room) {
  // of the two directions, the one that can be shown larger; from top to bottom where it makes no difference
  const [down, right] = [laid(boxes, arrows, "TB"), laid(boxes, arrows, "LR")];
  return scaleIn(right, room) > 1.02 * scaleIn(down, room) ? right : down;
}

function readable(boxes, arrows, room) {
  // whether it can all be shown in a size that can be read; the second direction is tried only where the first fails
  return ["TB", "LR"].some((rankdir) => scaleIn(laid(boxes, arrows, rankdir), room) >= LEAST_SCALE);
}
