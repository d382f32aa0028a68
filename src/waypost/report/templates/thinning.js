// Which part of a graph is drawn: pure functions over arrows {s, t, ...} between keys.

function through(keys, arrows, kept) {
  // the arrows between kept keys; and where the main way out of one of them, or into it, leads over others, an arrow
  // that says so: to the first kept key on that way. `arrows` come most frequent first
  const shown = arrows.filter((a) => kept.has(a.s) && kept.has(a.t));
  const ways = (from, to) => {
    const found = new Map(keys.map((k) => [k, []]));
    for (const a of arrows) if (a.s !== a.t) found.get(a[from]).push(a[to]);
    return found;
  };
  const [after, before] = [ways("s", "t"), ways("t", "s")];
  const first = (key, near) => {
    // depth first, always by the most frequent arrow
    const seen = new Set([key]);
    const stack = [near.get(key)[0]];
    while (stack.length) {
      const next = stack.pop();
      if (next == null || seen.has(next)) continue;
      if (kept.has(next)) return next;
      seen.add(next);
      stack.push(...[...near.get(next)].reverse());
    }
    return null;
  };
  const known = new Set(shown.map((a) => `${a.s} ${a.t}`));
  const made = [];
  const add = (s, t) => { if (s != null && t != null && !known.has(`${s} ${t}`)) { known.add(`${s} ${t}`); made.push({ s, t, hidden: true }); } };
  for (const key of keys) {
    if (!kept.has(key)) continue;
    const [from, to] = [before.get(key), after.get(key)];
    if (to.length && !kept.has(to[0])) add(key, first(key, after));
    if (from.length && !kept.has(from[0])) add(first(key, before), key);
  }
  return [...shown, ...made];
}

function projected(journeys, kept, start) {
  // what comes next among the kept stops, counted over the journeys [cases, example, ...stops] of all cases: how often,
  // and how often directly; most frequent first
  const found = new Map();
  for (const journey of journeys) {
    let [source, direct] = [start, true];
    for (let i = 2; i < journey.length; i++) {
      const target = journey[i];
      if (!kept.has(target)) { direct = false; continue; }
      const key = source * 1e6 + target;
      let arrow = found.get(key);
      if (!arrow) found.set(key, arrow = { s: source, t: target, count: 0, direct: 0 });
      arrow.count += journey[0];
      if (direct) arrow.direct += journey[0];
      [source, direct] = [target, true];
    }
  }
  return [...found.values()].sort((a, b) => b.count - a.count || a.s - b.s || a.t - b.t);
}

function mainArrows(arrows, share) {
  // the arrows that carry `share` of all that happens, and those that keep every stop on a way from start to end:
  // for each stop its most frequent arrow in and its most frequent arrow out; `arrows` are sorted, most frequent first
  const kept = new Set();
  const entered = new Set();
  const left = new Set();
  for (const a of arrows) {
    if (a.s === a.t) continue;
    if (!entered.has(a.t)) { entered.add(a.t); kept.add(a); }
    if (!left.has(a.s)) { left.add(a.s); kept.add(a); }
  }
  const total = arrows.reduce((sum, a) => sum + (a.count || 0), 0);
  let carried = 0;
  for (const a of arrows) {
    if (carried >= share * total && share < 1) break;
    kept.add(a);
    carried += a.count || 0;
  }
  return arrows.filter((a) => kept.has(a));
}

function thinned(keys, arrows, { count, share, always = [] }) {
  // the first `count` keys and those that are always there, with the main arrows between them
  const kept = new Set([...keys.slice(0, count), ...always]);
  const ways = through(keys, arrows, kept);
  return { kept, arrows: [...mainArrows(ways.filter((a) => !a.hidden), share), ...ways.filter((a) => a.hidden)] };
}

function walkShown(path, arrows) {
  // the arrows "s t" that a walk takes where it is drawn: from each step to the next, or by as few arrows as lead there
  const after = new Map();
  for (const { s, t } of arrows) after.set(s, [...(after.get(s) || []), t]);
  const found = new Set();
  for (let i = 0; i + 1 < path.length; i++) {
    const [start, end] = [path[i], path[i + 1]];
    if ((after.get(start) || []).includes(end)) { found.add(`${start} ${end}`); continue; }
    const from = new Map([[start, null]]);
    const queue = [start];
    for (let here = queue.shift(); here != null && !from.has(end); here = queue.shift()) {
      for (const next of after.get(here) || []) if (!from.has(next)) { from.set(next, here); queue.push(next); }
    }
    if (start !== end) for (let here = end; from.get(here) != null; here = from.get(here)) found.add(`${from.get(here)} ${here}`);
  }
  return found;
}

function most(n, fits) {
  // the largest count up to n that fits, looked for from below: small pictures are laid out in no time
  let best = Math.min(n, 3);
  for (let count = best + 1, misses = 0; count <= n && misses < 2; count++) {
    if (fits(count)) { best = count; misses = 0; } else misses++;
  }
  return best;
}
