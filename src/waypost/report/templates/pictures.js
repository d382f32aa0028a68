// What each view draws: the process map, the important states, the neighbours of one, the grid.

const STOPS = 1e9; // keys of stops stand behind those of states

function fitting(total, part, room, shares) {
  // how much is shown at first: as many nodes as are readable in the frame, with as many arrows as leave at least eight
  let best = null;
  for (const share of shares) {
    const count = most(total, (n) => readable(...part(n, share), room));
    if (!best || count > best.count) best = { count, share };
    if (count >= Math.min(total, 9)) break;
  }
  return best;
}

function weightOf(map, k) {
  // what is worth being shown: what many cases have, and what tells good from bad
  const { cases, good_share_as_far: good, bad_share_as_far: bad, defines_outcome: defines } = map.stops[k];
  return cases / map.cases + (good == null || defines ? 0 : Math.abs(good - bad));
}

function worthShowing(page) {
  // the activities, first those that the findings name; of several that the same cases have, one comes before the others
  const { map } = page.data;
  const inner = map.stops.map((_, k) => k).filter((k) => map.stops[k].role === "activity").sort((a, b) => weightOf(map, b) - weightOf(map, a) || a - b);
  const twin = (k) => { const { cases, good_share: good } = map.stops[k]; return `${cases} ${good}`; };
  const seen = new Set();
  const rank = new Map(inner.map((k) => {
    const again = seen.has(twin(k));
    seen.add(twin(k));
    return [k, page.named.has(k) ? 0 : again ? 2 : 1];
  }));
  return inner.sort((a, b) => rank.get(a) - rank.get(b)); // stable
}

function arrowWords(page, a) {
  if (a.hidden) return { label: "", title: "through steps that are not shown" };
  const over = a.direct == null || a.direct === a.count ? "" : a.direct ? `, ${(a.count - a.direct).toLocaleString("en")} of them over steps that are not shown` : ", over steps that are not shown";
  const text = page.arrowText === "waiting" ? (a.waiting == null ? "" : duration(a.waiting)) : a.count.toLocaleString("en");
  return { label: text, title: `${page.stopName(a.s)} → ${page.stopName(a.t)}: ${counted(a.count, "time")}${over}${a.waiting == null ? "" : `, after ${duration(a.waiting)} (median)`}` };
}

function processPicture(page, room) {
  const { map } = page.data;
  const inner = worthShowing(page);
  const outer = map.stops.map((_, k) => k).filter((k) => map.stops[k].role !== "activity");
  // what most cases do first, and right before each end, belongs to every picture
  const gates = outer.map((end) => map.arrows.find(([s, t]) => s === end || t === end)).flatMap((a) => (a ? [a[0], a[1]] : []));
  const most = map.arrows.length ? map.arrows[0][2] : 1;
  const arrows = map.arrows.map(([s, t, count, waiting]) => ({ s, t, count, waiting }));
  const waits = new Map(map.arrows.map(([s, t, count, waiting]) => [`${s} ${t} ${count}`, waiting]));
  const boxes = map.stops.map((stop, k) => ({ key: k + STOPS, stop: k, role: stop.role, actor: page.actors.length > 1 ? page.actors.indexOf(stop.actor) : -1, ...boxOf(page.stopName(k), page.stopNote(k)) }));
  const always = [...outer, ...gates, ...page.forced];
  const part = (count, share) => {
    let { kept, arrows: ways } = map.journeys.length ? { kept: new Set([...inner.slice(0, count), ...always]) } : thinned([...inner, ...outer], arrows, { count, share, always });
    if (!ways) ways = mainArrows(projected(map.journeys, kept, 0), share).map((a) => ({ ...a, waiting: waits.get(`${a.s} ${a.t} ${a.direct === a.count ? a.count : -1}`) }));
    const drawn = ways.map((a) => ({
      ...a, s: a.s + STOPS, t: a.t + STOPS, width: a.hidden ? 1.4 : 1.2 + 6.5 * Math.sqrt(a.count / most), weight: a.hidden ? 1 : 1 + Math.round(20 * a.count / most), ...arrowWords(page, a),
    }));
    return [boxes.filter((box) => kept.has(box.stop)), drawn];
  };
  if (!page.detail.process) page.detail.process = fitting(inner.length, part, room, [.8, .5, 0]);
  const { count, share } = page.detail.process;
  return { ...arrange(...part(count, share), room), total: inner.length };
}

function overviewPicture(page, room) {
  const { view } = page.target;
  const [start, target] = [page.data.initial, view.states.find((s) => page.isTarget(s))];
  const always = [start, target].filter((s) => s != null);
  const keys = [...always, ...view.states.filter((s) => !always.includes(s))];
  const boxes = new Map(keys.map((state) => [state, { key: state, state, role: page.roleOf(state), ...boxOf(page.title(state), page.stateNote(state)) }]));
  const arrows = view.edges.map((edge) => ({ ...edge, hidden: !edge.c.length, count: 1 }));
  const part = (count) => {
    const { kept, arrows: ways } = thinned(keys, arrows, { count, share: 1, always: [...always, ...page.shownToo.filter((s) => boxes.has(s))] });
    return [keys.filter((s) => kept.has(s)).map((s) => boxes.get(s)), ways.map((a) => ({ ...a, c: a.c || [], p: a.p || [], ...page.edgeText(a) }))];
  };
  if (!page.detail.overview) page.detail.overview = fitting(keys.length, part, room, [1]);
  return { ...arrange(...part(page.detail.overview.count), room), total: keys.length };
}

function aroundPicture(page, state, room) {
  // the state in the middle, where it can come from on the left, where it can go on the right
  const limit = room.w < 600 ? 4 : 7;
  const before = [...page.predecessors(state)].sort(page.byImportance);
  const after = [...page.successors(state).keys()].filter((s) => s !== state).sort(page.byImportance);
  const shown = [state, ...new Set([...before.slice(0, limit), ...after.slice(0, limit)])];
  const boxes = shown.map((s) => ({ key: s, state: s, role: page.roleOf(s), ...boxOf(page.title(s), page.stateNote(s)) }));
  const arrows = [];
  for (const source of shown) {
    for (const [target, ways] of page.successors(source)) {
      if ((source !== state && target !== state) || source === target || !shown.includes(target)) continue;
      const arrow = { s: source, t: target, c: ways.map((w) => w[0]), p: ways.map((w) => w[1]) };
      arrows.push({ ...arrow, ...page.edgeText(arrow) });
    }
  }
  const rest = before.length + after.length - (shown.length - 1);
  return { ...arrange(boxes, arrows, room), rest: Math.max(0, rest) };
}
