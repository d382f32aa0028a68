// What a typed pattern says: counted over the cases of a log, or bounded over the strategies of a model.

const MOST_PRODUCT = 60000; // states of model times pattern

function caseReading(page, text) {
  // a case is read as `waypost pattern` reads it: the start, its activities, how it ended
  const { stops } = page.data.map;
  const language = new Language(stops.length);
  const stepsOf = (name) => { const found = stops.flatMap((stop, k) => (stop.name === name ? [k] : [])); return found.length ? found : null; };
  return [language, new PatternReader(language, stepsOf, page.data.templates).read(text)];
}

function countCases(map, language, node) {
  // how many good and bad cases match, and the names of some of them
  const found = { good: 0, allGood: 0, bad: 0, allBad: 0, examples: [] };
  for (const journey of map.journeys) {
    const side = map.stops[journey[journey.length - 1]].role === "good" ? "good" : "bad";
    found[side === "good" ? "allGood" : "allBad"] += journey[0];
    const word = journey.slice(1);
    word[0] = 0;
    if (!language.matches(node, word)) continue;
    found[side] += journey[0];
    if (found.examples.length < 6) found.examples.push(journey[1]);
  }
  return found;
}

class ActionNamed extends Error {}

function modelReading(page, text) {
  // a typed pattern over the states of a model; where it names an action, over states and choices
  try { return reading(page, text, false); } catch (error) { if (!(error instanceof ActionNamed)) throw error; }
  return reading(page, text, true);
}

function reading(page, text, byAction) {
  // the pattern, and how a run is read: a state on entering it, or on leaving it together with the action taken there;
  // then the target, where none is taken, when all is over. Letters are states and, behind them, choices
  const { data, model } = page;
  const n = data.states.length;
  const language = new Language(byAction ? n + model.owner.length : n);
  const choices = (holds) => { const found = []; model.owner.forEach((s, c) => { if (holds(c, s)) found.push(n + c); }); return found; };
  const stepsOf = (name) => {
    const own = new Set(statesCalled(page, name));
    if (own.size) return byAction ? [...own, ...choices((c, s) => own.has(s))] : [...own];
    return data.actions.includes(name) ? actionsOf(name) : null;
  };
  const actionsOf = (action, name) => {
    if (!byAction) throw new ActionNamed();
    const own = name == null ? null : new Set(statesCalled(page, name));
    return choices((c, s) => page.action(c) === action && (!own || own.has(s)));
  };
  const node = new PatternReader(language, stepsOf, data.templates, actionsOf).read(text);
  const silent = new Set(data.silent);
  const read = (state, s, letter) => (silent.has(s) ? state : language.derivative(state, letter));
  return {
    language, node,
    enter: byAction ? (state) => state : (state, s) => read(state, s, s),
    leave: byAction ? (state, c) => read(state, model.owner[c], n + c) : (state) => state,
    end: byAction ? (state, s) => read(state, s, s) : (state) => state,
  };
}

function statesCalled(page, name) {
  // as the library takes a name: a label before a state; then what the page calls states
  const { states, labels } = page.data;
  if (Object.hasOwn(labels, name)) return labels[name];
  const named = (called) => states.flatMap((known, s) => (called(known, s) === name ? [s] : []));
  const found = named((known) => known);
  return found.length ? found : named((_, s) => page.caption(s));
}

function* patternProduct(model, target, initial, { language, node, enter, leave, end }, worse) {
  // the reachable product of model and pattern, without the choices that are `worse`
  const number = new Map();
  const states = [];
  const at = (s, state) => { const key = `${s} ${state.id}`; if (!number.has(key)) { if (states.length >= MOST_PRODUCT) throw new PatternError("the model is too large for this pattern here; run: waypost pattern"); number.set(key, states.length); states.push([s, state]); } return number.get(key); };
  at(initial, enter(node, initial));
  const [first, ptr, succ, prob] = [[0], [0], [], []];
  const [match, miss] = [[], []];
  for (let i = 0; i < states.length; i++) {
    const [s, state] = states[i];
    const fits = target[s] && language.nullable(end(state, s));
    match.push(fits ? 1 : 0);
    miss.push(target[s] && !fits ? 1 : 0);
    if (target[s]) { succ.push(i); prob.push(1); ptr.push(succ.length); }
    else {
      for (let c = model.first[s]; c < model.first[s + 1]; c++) {
        if (worse.has(c)) continue;
        const after = leave(state, c);
        for (let k = model.ptr[c]; k < model.ptr[c + 1]; k++) { succ.push(at(model.succ[k], enter(after, model.succ[k]))); prob.push(model.prob[k]); }
        ptr.push(succ.length);
      }
    }
    first.push(ptr.length - 1);
    if (i % 500 === 499) yield;
  }
  return { product: arena(packed({ first, ptr, succ, prob })), match: Uint8Array.from(match), miss: Uint8Array.from(miss) };
}

function* patternImportance(model, target, initial, reading) {
  // least and greatest share of the runs that reach the target which match, over all strategies, as enclosures: in the
  // product a run that can no longer reach the target, or need not, starts again
  const { product, match, miss } = yield* patternProduct(model, target, initial, reading, new Set());
  const again = startingAgain(product, match.map((x, i) => x | miss[i]));
  return again ? yield* sharesOf(again, match, miss, 1) : { undefined: true };
}

function* bestPatternImportance(model, target, initial, reading, { worse, best }) {
  // the same over the best strategies, which avoid the worse choices and all reach the target equally often
  const { product, match, miss } = yield* patternProduct(model, target, initial, reading, worse);
  return yield* sharesOf(product, match, miss, best);
}

function* sharesOf(product, match, miss, all) {
  // how often runs match at most, and at least: those that are left when as many as can be do not. What is exactly 0 or
  // 1 is a fact of the graph: a strategy lets none match that surely comes to an end which does not, or to no end at all
  const won = yield* reachability(product, match, new Map(), true);
  const lost = yield* reachability(product, miss, new Map(), true);
  const dead = neverReaching(product, allowed(product, new Map()), match.map((x, i) => x | miss[i]), true);
  const avoids = (goal) => reachingSurely(product, goal.map((x, i) => x | dead[i]))[0] === 1;
  const [never, always] = [won.zero[0] === 1, lost.zero[0] === 1];
  const share = ({ lower, upper }) => [lower[0] / all, Math.min(1, upper[0] / all)];
  return {
    never, always,
    upper: never ? [0, 0] : avoids(match) ? [1, 1] : share(won),
    lower: always ? [1, 1] : avoids(miss) ? [0, 0] : share(lost).map((x) => 1 - x).reverse(),
  };
}

function packed({ first, ptr, succ, prob }) { return { first: Int32Array.from(first), ptr: Int32Array.from(ptr), succ: Int32Array.from(succ), prob: Float64Array.from(prob) }; }

function startingAgain(model, ends) {
  // where the target is out of reach a run starts again; where one may stay for ever it may
  const may = allowed(model, new Map());
  const zero = neverReaching(model, may, ends, true);
  if (zero[0]) return null;
  const open = ends.map((x, s) => (x || zero[s] ? 0 : 1));
  const stays = new Uint8Array(model.n);
  for (const members of endComponents(model, may, open).sets) for (const s of members) stays[s] = 1;
  const [first, ptr, succ, prob] = [[0], [0], [], []];
  for (let s = 0; s < model.n; s++) {
    if (!zero[s]) {
      for (let c = model.first[s]; c < model.first[s + 1]; c++) {
        for (let k = model.ptr[c]; k < model.ptr[c + 1]; k++) { succ.push(model.succ[k]); prob.push(model.prob[k]); }
        ptr.push(succ.length);
      }
    }
    if ((zero[s] || stays[s]) && s !== 0) { succ.push(0); prob.push(1); ptr.push(succ.length); }
    else if (zero[s]) { succ.push(s); prob.push(1); ptr.push(succ.length); }
    first.push(ptr.length - 1);
  }
  return arena(packed({ first, ptr, succ, prob }));
}

class PatternBox {
  // a line to type a pattern into, and what it says; in a process map a click adds a step to it
  constructor(page) {
    this.page = page;
    this.run = 0;
    this.text = "";
  }

  parts() {
    const { page } = this;
    this.input = element("input", { type: "text", id: "pattern-text", spellcheck: "false", autocomplete: "off", placeholder: "… A … B …", "aria-describedby": "pattern-help", oninput: (event) => { this.text = event.target.value; this.ask(); } });
    this.input.value = this.text;
    this.answer = element("div", { id: "pattern-answer", role: "status" });
    return [
      element("label", { class: "heading", for: "pattern-text" }, page.data.map ? "A pattern of steps" : "Or type a pattern"),
      this.input,
      element("p", { class: "muted", id: "pattern-help" }, page.data.map ? "Click steps in the map, or type: " : "Type: ", element("code", {}, "... A ... B ..."), " A, later B; ", element("code", {}, "A B"), " one right after the other; ", element("code", {}, "A{2,}"), " at least twice; ", element("code", {}, "|"), " or; ", element("code", {}, "not(...)"), "; ", element("code", {}, "response(A, B)"), page.data.map ? "." : "; ", ...(page.data.map ? [] : [element("code", {}, "A/go"), " the action go taken in A; ", element("code", {}, "/go"), " anywhere."])),
      this.answer,
    ];
  }

  add(name) {
    const quoted = /^(?:(?!\.\.\.)[^\s|&!*?(){}/,"])+$/.test(name) && name !== "." ? name : `"${name.replace(/[\\"]/g, "\\$&")}"`;
    this.text = this.text.trim() ? `${this.text.trim()} ${quoted} ...` : `... ${quoted} ...`;
    this.input.value = this.text;
    this.ask();
  }

  ask() {
    const run = ++this.run;
    const { page } = this;
    if (!this.text.trim()) { this.answer.replaceChildren(); return; }
    this.guarded(() => {
      if (page.data.map) this.counted(countCases(page.data.map, ...caseReading(page, this.text)));
      else this.bounded(run, page.patternWork(this.text));
    });
  }

  guarded(act) {
    // what is wrong with a pattern is said
    try { act(); } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.answer.replaceChildren(element("p", { class: "hint" }, `In this pattern ${error.message}.`));
    }
  }

  counted({ good, allGood, bad, allBad, examples }) {
    const row = (title, part, all, tone) => element("div", { class: `row ${tone}` }, element("span", { class: "muted" }, title), all ? bar(part / all, part / all) : element("span", { class: "bar" }), element("span", {}, all ? percent(part / all) : "none"));
    this.answer.replaceChildren(...[
      row("Good cases", good, allGood, "for"), row("Bad cases", bad, allBad, "against"),
      element("p", { id: "pattern-count" }, `${counted(good + bad, "case")} match${good + bad ? `; ${percent(good / (good + bad))} of them end well, ${allGood + allBad - good - bad ? percent((allGood - good) / (allGood + allBad - good - bad)) : "no case"} of the others` : ""}.`),
      examples.length ? element("p", { class: "muted" }, "For example ", examples.flatMap((name, i) => [i ? ", " : "", bdi(name)])) : null,
    ].filter(Boolean));
  }

  bounded(run, work) {
    const slice = () => {
      if (run !== this.run) return;
      const until = performance.now() + 25;
      let step = work.next();
      while (!step.done && performance.now() < until) step = work.next();
      if (step.done) this.answer.replaceChildren(...this.shares(step.value));
      else setTimeout(() => this.guarded(slice));
    };
    this.answer.replaceChildren(element("p", { class: "muted" }, "Computing…"));
    slice();
  }

  shares(found) {
    // a row for each scope; a pattern that always matches, or never, is said to
    const goal = bdi(this.page.target.name);
    const { undefined: out, never, always } = found.all || found.optimal;
    if (out) return [element("p", {}, "The target cannot be reached.")];
    const row = (scope, { lower, upper }) => { const [low, high] = [enclosed(lower), enclosed(upper)]; return element("div", { class: "row", "data-scope": scope }, element("span", { class: "muted" }, SCOPES[scope]), bar(lower[0], upper[1]), element("span", {}, low === high ? low : `${low} to ${high}`)); };
    return [
      element("p", {}, never ? "No run that reaches " : always ? "Every run that reaches " : "Share of the runs that reach ", goal, never || always ? " matches it." : " which match it:"),
      scale(), ...Object.entries(found).map(([scope, bounds]) => row(scope, bounds)),
    ];
  }
}
