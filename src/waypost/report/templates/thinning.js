// Which part of a graph is drawn: pure functions over arrows {s, t, ...} between keys.

function through(keys, arrows, kept) {
  // the arrows between kept keys, and for a key that none enters or leaves, the way to the nearest kept one behind others
  const shown = arrows.filter((a) => kept.has(a.s) && kept.has(a.t));
  const after = new Map(keys.map((k) => [k, []]));
  const before = new Map(keys.map((k) => [k, []]));
  for (const a of arrows) {
    if (a.s === a.t) continue;
    after.get(a.s).push(a.t);
    before.get(a.t).push(a.s);
  }
  const nearest = (from, near) => {
    const seen = new Set([from]);
    const queue = [from];
    for (let i = 0; i < queue.length; i++) {
      for (const next of near.get(queue[i])) {
        if (seen.has(next)) continue;
        if (kept.has(next)) return next;
        seen.add(next);
        queue.push(next);
      }
    }
    return null;
  };
  const made = new Map();
  for (const key of keys) {
    if (!kept.has(key)) continue;
    if (before.get(key).length && !before.get(key).some((k) => kept.has(k))) {
      const found = nearest(key, before);
      if (found != null) made.set(`${found} ${key}`, { s: found, t: key, hidden: true });
    }
    if (after.get(key).length && !after.get(key).some((k) => kept.has(k))) {
      const found = nearest(key, after);
      if (found != null) made.set(`${key} ${found}`, { s: key, t: found, hidden: true });
    }
  }
  return [...shown, ...made.values()];
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

function most(n, fits) {
  // the largest count from 1 to n that fits, if fewer always fit better; tried from above in steps of a quarter
  let count = n;
  while (count > 2 && !fits(count)) count = Math.min(count - 1, Math.floor(count * .8));
  return count;
}
