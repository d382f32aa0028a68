// How numbers and names are written: 0 and 1 only where they are exactly that.

const SCOPES = { all: "Any strategy", optimal: "Best strategies", strategy: "Given strategy", observed: "Good cases", contrast: "Bad cases" };
const UNDER = { all: "whatever is done", optimal: "under every best strategy", strategy: "under the given strategy", observed: "as the process was run" };

function number(x, digits = 3) {
  if (x === 0 || x === 1) return String(x);
  const text = x.toFixed(digits);
  if (Number(text) === 0) return "<" + (10 ** -digits).toFixed(digits);
  if (Number(text) === 1) return ">" + (1 - 10 ** -digits).toFixed(digits);
  return text.replace(/0+$/, "");
}

function span(low, high) {
  const a = number(low);
  const b = number(high);
  return a === b ? a : `${a} to ${b}`;
}

function enclosed([low, high]) {
  // a number known up to an enclosure: the digits both ends agree on, or both ends
  return high - low < 1e-7 ? number((low + high) / 2) : `between ${number(low)} and ${number(high)}`;
}

function counted(n, noun) { return `${n.toLocaleString("en")} ${n === 1 ? noun : noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`}`; }

function element(tag, attributes = {}, ...children) {
  // names only ever become text nodes
  const svg = ["svg", "g", "rect", "path", "text", "circle", "line", "marker", "defs", "title", "tspan"].includes(tag);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child != null && child !== false));
  return made;
}

function bdi(text) { return element("bdi", {}, text); }

function bar(low, high) {
  const point = high - low < 1e-9;
  const percent = (x) => `${(100 * x).toFixed(2)}%`;
  return element("span", { class: point ? "bar point" : "bar", "aria-hidden": "true" },
    element("i", { style: point ? `left:0;width:${percent(high)}` : `left:${percent(low)};width:${percent(high - low)}` }),
    point ? null : element("b", { style: `width:${percent(low)}` }));
}

function segments(host, options, chosen, choose) {
  // a radio group: arrow keys move, space and click choose
  const buttons = Object.entries(options).map(([key, label]) => element("button", {
    type: "button", role: "radio", "data-key": key, "aria-checked": String(key === chosen), tabindex: key === chosen ? 0 : -1,
    onclick: () => choose(key),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const keys = Object.keys(options);
      choose(keys[(keys.indexOf(key) + step + keys.length) % keys.length]);
      host.querySelector('[aria-checked="true"]').focus();
    },
  }, label));
  host.replaceChildren(...buttons);
}

function percent(x) {
  // as `waypost.report.wording.percent` writes it
  const text = number(x);
  if (text.startsWith("<")) return "less than 0.1 %";
  if (text.startsWith(">")) return "more than 99.9 %";
  return `${(100 * Number(text)).toFixed(1).replace(/\.0$/, "")} %`;
}

function duration(seconds) {
  // a waiting time as people say it
  for (const [unit, name] of [[86400, "day"], [3600, "hour"], [60, "minute"]]) {
    if (seconds >= unit) { const n = seconds / unit; const shown = n < 10 ? Number(n.toFixed(1)) : Math.round(n); return `${shown.toLocaleString("en")} ${name}${shown === 1 ? "" : "s"}`; }
  }
  return `${Math.round(seconds)} s`;
}

function shortPercent(x) { return x > 0 && x < .01 ? "<1 %" : x < 1 && x > .99 ? ">99 %" : `${Math.round(100 * x)} %`; }

function shorten(text, room) { return text.length > room ? text.slice(0, Math.max(1, room - 1)) + "…" : text; }

function addition(caption, name) {
  // what a state's name adds to what the state is called
  return name.includes(caption) ? name.replace(caption, "").replace(/^[\s:;,()[\]-]+|[\s:;,()[\]-]+$/g, "") : name;
}
