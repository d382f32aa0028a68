// The importance of a path, computed in the page.
//
// Reachability values are enclosed from below and above (Gauss-Seidel sweeps, component by component in reverse
// topological order; end components are deflated so that the upper bound comes down as well). Whether a value is
// exactly 0 is decided on the graph alone, never by rounding.

const TIGHT = 1e-11; // the enclosure a component is iterated to
const PATIENCE = 20000; // sweeps over one component before its bounds are taken as they are

function arena(model) {
  // predecessors: the choices that may lead to a state
  const n = model.first.length - 1;
  const owner = new Int32Array(model.ptr.length - 1);
  for (let s = 0; s < n; s++) for (let c = model.first[s]; c < model.first[s + 1]; c++) owner[c] = s;
  const start = new Int32Array(n + 1);
  for (const y of model.succ) start[y + 1]++;
  for (let s = 0; s < n; s++) start[s + 1] += start[s];
  const into = new Int32Array(model.succ.length);
  const fill = start.slice();
  for (let c = 0; c < owner.length; c++) {
    for (let k = model.ptr[c]; k < model.ptr[c + 1]; k++) into[fill[model.succ[k]]++] = c;
  }
  return { ...model, n, owner, start, into };
}

function allowed(model, forced) {
  // the choices of a state are those from low[s] up to, not including, high[s]
  const low = Int32Array.from(model.first.slice(0, model.n));
  const high = Int32Array.from(model.first.slice(1));
  for (const [state, choice] of forced) { low[state] = choice; high[state] = choice + 1; }
  return { low, high, has: (c) => { const s = model.owner[c]; return low[s] <= c && c < high[s]; } };
}

function neverReaching(model, may, target, maximise) {
  // states whose best (maximise) or worst value is exactly 0
  const reaching = new Uint8Array(model.n);
  const queue = [];
  const waiting = new Int32Array(model.n);
  const touched = new Uint8Array(model.owner.length);
  for (let s = 0; s < model.n; s++) {
    waiting[s] = maximise ? 1 : may.high[s] - may.low[s];
    if (target[s]) { reaching[s] = 1; queue.push(s); }
  }
  for (let i = 0; i < queue.length; i++) {
    const y = queue[i];
    for (let k = model.start[y]; k < model.start[y + 1]; k++) {
      const c = model.into[k];
      const s = model.owner[c];
      if (touched[c] || reaching[s] || !may.has(c)) continue;
      touched[c] = 1;
      if (--waiting[s] === 0) { reaching[s] = 1; queue.push(s); }
    }
  }
  return reaching.map((x) => 1 - x);
}

function reachingSurely(model, goal) {
  // states from which some strategy reaches the goal with probability exactly 1
  let inside = new Uint8Array(model.n).fill(1);
  for (;;) {
    const stays = Uint8Array.from(model.owner, (_, c) => { for (let k = model.ptr[c]; k < model.ptr[c + 1]; k++) if (!inside[model.succ[k]]) return 0; return 1; });
    const never = neverReaching(model, { has: (c) => stays[c] }, goal, true);
    if (never.every((x, s) => x === 1 - inside[s])) return inside;
    inside = never.map((x) => 1 - x);
  }
}

function components(model, open, choiceOpen, low, high) {
  // Tarjan without recursion: strongly connected components, successors first
  const n = model.n;
  const index = new Int32Array(n).fill(-1);
  const lowest = new Int32Array(n);
  const on = new Uint8Array(n);
  const choice = new Int32Array(n);
  const edge = new Int32Array(n);
  const stack = [];
  const call = [];
  const found = [];
  let counter = 0;
  const enter = (s) => {
    index[s] = lowest[s] = counter++;
    on[s] = 1;
    stack.push(s);
    call.push(s);
    choice[s] = low[s];
    edge[s] = model.ptr[low[s]];
  };
  for (let root = 0; root < n; root++) {
    if (!open[root] || index[root] >= 0) continue;
    enter(root);
    while (call.length) {
      const s = call[call.length - 1];
      let descended = false;
      while (choice[s] < high[s]) {
        const c = choice[s];
        if ((choiceOpen && !choiceOpen[c]) || edge[s] >= model.ptr[c + 1]) {
          choice[s]++;
          edge[s] = model.ptr[c + 1];
          continue;
        }
        const y = model.succ[edge[s]++];
        if (!open[y]) continue;
        if (index[y] < 0) { enter(y); descended = true; break; }
        if (on[y]) lowest[s] = Math.min(lowest[s], index[y]);
      }
      if (descended) continue;
      call.pop();
      if (call.length) { const up = call[call.length - 1]; lowest[up] = Math.min(lowest[up], lowest[s]); }
      if (lowest[s] === index[s]) {
        const members = [];
        let x;
        do { x = stack.pop(); on[x] = 0; members.push(x); } while (x !== s);
        found.push(members);
      }
    }
  }
  return found;
}

function endComponents(model, may, open) {
  // maximal sets in which a strategy can stay for ever, with the choices that stay
  const alive = Uint8Array.from(open);
  const stays = new Uint8Array(model.owner.length);
  for (let s = 0; s < model.n; s++) if (alive[s]) for (let c = may.low[s]; c < may.high[s]; c++) stays[c] = 1;
  const part = new Int32Array(model.n).fill(-1);
  for (;;) {
    const found = components(model, alive, stays, may.low, may.high);
    found.forEach((members, id) => members.forEach((s) => { part[s] = id; }));
    let changed = false;
    for (let s = 0; s < model.n; s++) {
      if (!alive[s]) continue;
      let left = 0;
      for (let c = may.low[s]; c < may.high[s]; c++) {
        if (!stays[c]) continue;
        for (let k = model.ptr[c]; k < model.ptr[c + 1]; k++) {
          const y = model.succ[k];
          if (!alive[y] || part[y] !== part[s]) { stays[c] = 0; changed = true; break; }
        }
        left += stays[c];
      }
      if (!left) { alive[s] = 0; changed = true; }
    }
    if (!changed) return { sets: found, stays };
  }
}

function* reachability(model, target, forced, maximise) {
  // lower and upper bound on the greatest (or least) probability of the target, for every state
  const may = allowed(model, forced);
  const zero = neverReaching(model, may, target, maximise);
  yield;
  const lower = new Float64Array(model.n);
  const upper = new Float64Array(model.n);
  const open = new Uint8Array(model.n);
  for (let s = 0; s < model.n; s++) {
    lower[s] = target[s] ? 1 : 0;
    upper[s] = zero[s] ? 0 : 1;
    open[s] = target[s] || zero[s] ? 0 : 1;
  }
  const ends = maximise ? endComponents(model, may, open) : { sets: [], stays: null };
  yield;
  const endOf = new Int32Array(model.n).fill(-1);
  ends.sets.forEach((members, id) => members.forEach((s) => { endOf[s] = id; }));
  const value = (v, c) => { let sum = 0; for (let k = model.ptr[c]; k < model.ptr[c + 1]; k++) sum += model.prob[k] * v[model.succ[k]]; return sum; };
  const best = (v, s) => {
    let found = maximise ? -1 : 2;
    for (let c = may.low[s]; c < may.high[s]; c++) {
      const x = value(v, c);
      if (maximise ? x > found : x < found) found = x;
    }
    return Math.min(1, Math.max(0, found));
  };
  const deflate = (id) => {
    let exit = 0;
    for (const s of ends.sets[id]) for (let c = may.low[s]; c < may.high[s]; c++) if (!ends.stays[c]) exit = Math.max(exit, value(upper, c));
    for (const s of ends.sets[id]) upper[s] = Math.min(upper[s], exit);
  };
  let work = 0;
  for (const members of components(model, open, null, may.low, may.high)) {
    const inside = [...new Set(members.map((s) => endOf[s]).filter((id) => id >= 0))];
    for (let sweep = 0; sweep < PATIENCE; sweep++) {
      let gap = 0;
      let moved = 0;
      for (const s of members) {
        const low = Math.max(lower[s], best(lower, s));
        const high = Math.min(upper[s], best(upper, s));
        moved = Math.max(moved, low - lower[s], upper[s] - high);
        lower[s] = low;
        upper[s] = Math.max(high, low);
        gap = Math.max(gap, upper[s] - lower[s]);
      }
      for (const id of inside) deflate(id);
      if (gap <= TIGHT || moved <= 1e-16) break;
      if ((work += members.length) > 5000) { work = 0; yield; }
    }
  }
  return { lower, upper, zero };
}

function* pathImportance(model, target, path) {
  // path: {states: [s0, ..., sn], choices: [c0, ...]}; bounds come as enclosures [low, high]
  const { states, choices } = path;
  const forced = new Map(choices.map((c, i) => [states[i], c]));
  const max = yield* reachability(model, target, forced, true);
  const min = yield* reachability(model, target, forced, false);
  const last = states[states.length - 1];
  let along = 1;
  const aside = []; // where a run may leave the path, and how likely that is
  choices.forEach((c, i) => {
    let on = 0;
    for (let k = model.ptr[c]; k < model.ptr[c + 1]; k++) {
      if (model.succ[k] === states[i + 1]) on += model.prob[k];
      else aside.push([along * model.prob[k], model.succ[k]]);
    }
    along *= on;
  });
  const sum = (v) => aside.reduce((total, [p, y]) => total + p * v[y], 0);
  const never = (zero) => aside.every(([, y]) => zero[y]);
  const following = [max.lower[states[0]], max.upper[states[0]]];
  if (max.zero[last] && never(max.zero)) return { undefined: true, following };
  const ratio = (end, off) => {
    if (end.zero[last]) return never(off.zero) ? [1, 1] : [0, 0];
    if (never(off.zero)) return [1, 1];
    const share = (a, b) => a / (a + b);
    return [share(along * end.lower[last], sum(off.upper)), share(along * end.upper[last], sum(off.lower))];
  };
  const lower = max.zero[last] ? [0, 0] : ratio(min, max);
  const upper = max.zero[last] ? [0, 0] : ratio(max, min);
  const best = max.zero[last] ? [0, 0] : [along * max.lower[last] / following[1], Math.min(1, along * max.upper[last] / following[0])];
  if (!max.zero[last] && never(max.zero)) best[0] = best[1] = 1;
  return { lower, upper, following, best };
}

function choiceValues(model, values, state) {
  // what each choice of a state is worth: bounds on the probability of the target after it, at worst and at best
  const found = [];
  for (let choice = model.first[state]; choice < model.first[state + 1]; choice++) {
    let [low, high] = [0, 0];
    for (let k = model.ptr[choice]; k < model.ptr[choice + 1]; k++) {
      low += model.prob[k] * values.min.lower[model.succ[k]];
      high += model.prob[k] * values.max.upper[model.succ[k]];
    }
    const snap = (x) => (x < 1e-12 ? 0 : x > 1 - 1e-12 ? 1 : x);
    found.push({ choice, bounds: [snap(low), snap(high)] });
  }
  return found;
}
