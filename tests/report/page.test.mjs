// The page's pure functions, run by node: node --test tests/report/page.test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const folder = new URL("../../src/waypost/report/templates/", import.meta.url);
const scripts = ["vendor/dagre.js", "wording.js", "solver.js", "thinning.js", "layout.js", "pictures.js", "grid.js", "stops.js"];
const names = ["number", "span", "percent", "duration", "counted", "addition", "through", "mainArrows", "thinned", "projected", "walkShown", "textWidth", "most", "laid", "arrange", "scaleIn", "smooth", "cut", "lines", "boxOf", "headingOf", "shadeOf", "arena", "reachability", "choiceValues"];
const source = scripts.map((name) => readFileSync(new URL(name, folder), "utf8")).join("\n");
const page = new Function(`"use strict";${source.replaceAll('"use strict";', "")};return { ${names.join(", ")} };`)();

test("0 and 1 are written only where they are exactly that", () => {
  assert.deepEqual([0, 1e-9, .0816326, .5, .99999, 1].map((x) => page.number(x)), ["0", "<0.001", "0.082", "0.5", ">0.999", "1"]);
  assert.deepEqual([0, .00001, .5, .99999, 1].map(page.percent), ["0 %", "less than 0.1 %", "50 %", "more than 99.9 %", "100 %"]);
  assert.equal(page.span(.525, 1), "0.525 to 1");
  assert.equal(page.span(4 / 49, 4 / 49), "0.082");
});

test("waiting times are said as people say them", () => {
  assert.deepEqual([20, 90, 7200, 86400, 40 * 86400].map(page.duration), ["20 s", "1.5 minutes", "2 hours", "1 day", "40 days"]);
});

test("the arrows that are left keep every stop on a way from start to end", () => {
  const arrows = [["a", "b", 90], ["b", "z", 80], ["a", "c", 10], ["c", "b", 9], ["b", "c", 2], ["c", "z", 1]].map(([s, t, count]) => ({ s, t, count }));
  for (const share of [0, .3, .9]) {
    const left = page.mainArrows(arrows, share);
    for (const stop of ["b", "c", "z"]) assert.ok(left.some((a) => a.t === stop), `${stop} is entered`);
    for (const stop of ["a", "b", "c"]) assert.ok(left.some((a) => a.s === stop), `${stop} is left`);
  }
  assert.equal(page.mainArrows(arrows, 1).length, arrows.length);
  assert.ok(page.mainArrows(arrows, 0).length < arrows.length);
});

test("where the main way leads over hidden stops, an arrow says so", () => {
  const arrows = [["a", "b", 9], ["b", "c", 8], ["a", "c", 1]].map(([s, t, count]) => ({ s, t, count }));
  const found = page.through(["a", "b", "c"], [{ s: "a", t: "b", count: 9 }, { s: "b", t: "c", count: 8 }], new Set(["a", "c"]));
  assert.deepEqual(found, [{ s: "a", t: "c", hidden: true }]);
  assert.deepEqual(page.through(["a", "b", "c"], arrows, new Set(["a", "b", "c"])), arrows);
});

test("what is always shown is shown however few are wanted", () => {
  const { kept } = page.thinned(["a", "b", "c", "z"], [], { count: 1, share: 1, always: ["z"] });
  assert.deepEqual([...kept].sort(), ["a", "z"]);
});

test("as many as fit are shown", () => {
  assert.equal(page.most(20, (n) => n <= 7), 7);
  assert.equal(page.most(5, () => true), 5);
  assert.equal(page.most(2, () => false), 2);
});

test("boxes of a layout do not overlap, and everything is inside it", () => {
  const boxes = [..."abcdefgh"].map((key, i) => ({ key, ...page.boxOf(`step ${key.repeat(1 + 3 * i)}`, "12 cases") }));
  const arrows = ["ab", "bc", "ca", "bd", "de", "ee", "df", "fg", "gh", "ah"].map((pair) => ({ s: pair[0], t: pair[1], label: "1,234" }));
  for (const rankdir of ["TB", "LR"]) {
    const { nodes, edges, width, height } = page.laid(boxes, arrows, rankdir);
    for (const [i, a] of nodes.entries()) {
      assert.ok(a.x - a.w / 2 >= -1e-6 && a.x + a.w / 2 <= width + 1e-6 && a.y - a.h / 2 >= -1e-6 && a.y + a.h / 2 <= height + 1e-6);
      for (const b of nodes.slice(i + 1)) assert.ok(Math.abs(a.x - b.x) >= (a.w + b.w) / 2 - 1 || Math.abs(a.y - b.y) >= (a.h + b.h) / 2 - 1);
    }
    for (const edge of edges) for (const { x, y } of edge.points) assert.ok(x >= -1e-6 && x <= width + 1e-6 && y >= -1e-6 && y <= height + 1e-6);
  }
});

test("numbers at arrows cover neither boxes nor each other, those of loops either", () => {
  let seed = 7;
  const random = (n) => { seed = (seed * 48271) % 2147483647; return seed % n; };
  for (let round = 0; round < 40; round++) {
    const boxes = Array.from({ length: 6 }, (_, key) => ({ key, ...page.boxOf(`step ${"x".repeat(random(20))}`, "12 cases") }));
    const pairs = new Set(["0 0", "1 1", ...Array.from({ length: 9 }, () => `${random(6)} ${random(6)}`)]);
    const arrows = [...pairs].map((pair) => ({ s: Number(pair[0]), t: Number(pair[2]), label: String(10 ** random(6)) }));
    for (const rankdir of ["TB", "LR"]) {
      const { nodes, edges } = page.laid(boxes, arrows, rankdir);
      const numbers = edges.map(({ label, label_x: x, label_y: y, start }) => { const w = page.textWidth(label, 13); return { x: start ? x + w / 2 : x, y, w, h: 12 }; });
      numbers.forEach((a, i) => { for (const b of [...nodes, ...numbers.slice(i + 1)]) assert.ok(Math.abs(a.x - b.x) >= (a.w + b.w) / 2 - 1 || Math.abs(a.y - b.y) >= (a.h + b.h) / 2 - 1, `${rankdir} round ${round}`); });
    }
  }
});

test("what comes next among the kept stops is counted over all cases", () => {
  const journeys = [[3, "x", 1, 2, 9], [2, "y", 1, 1, 2, 8]]; // cases, example, stops
  assert.deepEqual(page.projected(journeys, new Set([0, 2, 8, 9]), 0), [{ s: 0, t: 2, count: 5, direct: 0 }, { s: 2, t: 9, count: 3, direct: 3 }, { s: 2, t: 8, count: 2, direct: 2 }]);
  assert.deepEqual(page.projected(journeys, new Set([0, 1, 2, 8, 9]), 0).find((a) => a.s === a.t), { s: 1, t: 1, count: 2, direct: 2 });
});

test("a walk takes the arrows that are drawn, over others where one is missing", () => {
  const arrows = ["ab", "bc", "cd", "aa"].map((pair) => ({ s: pair[0], t: pair[1] }));
  assert.deepEqual([...page.walkShown([..."aab"], arrows)], ["a a", "a b"]);
  assert.deepEqual([...page.walkShown([..."ac"], arrows)].sort(), ["a b", "b c"]);
  assert.deepEqual([...page.walkShown([..."da"], arrows)], []);
  assert.deepEqual([...page.walkShown([..."bb"], arrows)], []);
});

test("cycles that the greedy way leaves standing are laid out all the same", () => {
  const pairs = "01 10 13 17 15 30 31 32 36 23 27 21 24 42 47 46 53 50 67 64 62".split(" ");
  const boxes = [..."01234567"].map((key) => ({ key, role: key === "0" ? "start" : "", ...page.boxOf(`q${key}`, "0.5") }));
  const { nodes } = page.laid(boxes, pairs.map((pair) => ({ s: pair[0], t: pair[1], label: "0.5" })), "TB");
  assert.ok(nodes.every((node) => node.y >= nodes[0].y));
});

test("of two directions the larger picture is taken", () => {
  const boxes = [..."abcdef"].map((key) => ({ key, w: 60, h: 40, rows: [key] }));
  const arrows = ["ab", "bc", "cd", "de", "ef"].map((pair) => ({ s: pair[0], t: pair[1] }));
  assert.equal(page.arrange(boxes, arrows, { w: 2000, h: 200 }).rankdir, "LR");
  assert.equal(page.arrange(boxes, arrows, { w: 200, h: 2000 }).rankdir, "TB");
});

test("long names are cut where they no longer fit, at the ends of words where they can be", () => {
  assert.deepEqual(page.lines("short", 200, 14), ["short"]);
  assert.deepEqual(page.lines("Ultrasound of the abdomen", 120, 14), ["Ultrasound of", "the abdomen"]);
  assert.match(page.lines("x".repeat(200), 100, 14)[0], /^x+…$/);
});

test("an action goes where its name says, or where it leads", () => {
  assert.deepEqual(page.headingOf("move_left", [1, 1], null), [-1, 0]);
  assert.deepEqual(page.headingOf("a", [1, 1], [1, 2]), [0, 1]);
  assert.equal(page.headingOf("wait", [1, 1], [1, 1]), null);
});

test("only what is exactly 1 at least is drawn in full", () => {
  assert.deepEqual(page.shadeOf([1, 1], "upper").classes, ["indispensable", "full"]);
  assert.deepEqual(page.shadeOf([0, 1], "upper").classes, []);
  assert.deepEqual(page.shadeOf([0, 0], "upper").classes, ["detrimental"]);
});

test("a choice is worth what its successors are worth", () => {
  // s0: a -> goal 0.5, trap 0.5;  b -> trap
  const model = page.arena({ first: Int32Array.from([0, 2, 3, 4]), ptr: Int32Array.from([0, 2, 3, 4, 5]), succ: Int32Array.from([1, 2, 2, 1, 2]), prob: Float64Array.from([.5, .5, 1, 1, 1]) });
  const run = (maximise) => { const work = page.reachability(model, [0, 1, 0], new Map(), maximise); let step = work.next(); while (!step.done) step = work.next(); return step.value; };
  const found = page.choiceValues(model, { max: run(true), min: run(false) }, 0);
  assert.deepEqual(found.map((each) => each.bounds), [[.5, .5], [0, 0]]);
});
