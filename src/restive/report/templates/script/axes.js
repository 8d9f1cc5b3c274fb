// --- numbers and axes

const make = (name, attributes, parent) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(node);
  return node;
};
const write = (parent, x, y, words, anchor, kind) => {
  const node = make("text", { x, y, "text-anchor": anchor, class: kind || "" }, parent);
  node.textContent = words;
  return node;
};
const short = (value) => {
  if (value === null || value === undefined) return "?";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("e+", "e").replace("-", "−");
  return value.toLocaleString("en", { maximumSignificantDigits: size >= 1e4 ? 5 : 4 }).replace("-", "−");
};
const tick = (value) => {
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return Number(value.toPrecision(3)).toExponential().replace("e+", "e").replace(/^-/, "−");
  return value.toLocaleString("en", { maximumSignificantDigits: 4 }).replace("-", "−");
};
const fit = (words, room) => words.length <= room ? words : words.slice(0, Math.max(1, room - 1)) + "…";

// unit: below it, on both sides of zero, a logarithmic axis goes on in even steps.
function axis(low, high, start, end, log, unit) {
  const along = log ? (unit ? (v) => bent(v, unit) : Math.log10) : (v) => v;
  const a = along(low), b = along(high);
  const marks = log ? (unit ? bentMarks(low, high, unit) : powers(low, high)) : rounds(low, high);
  return { place: (v) => start + (along(v) - a) / (b - a) * (end - start), marks };
}
function bent(value, unit) {
  const size = Math.abs(value) / unit;
  return Math.sign(value) * (size <= 1 ? size : 1 + Math.log10(size));
}
function bentMarks(low, high, unit) {
  const tall = bent(high, unit) - bent(low, unit), every = Math.ceil(tall / 8), marks = [0];
  for (let p = 0; p < 40; p += every) marks.push(unit * 10 ** p, -unit * 10 ** p);
  return marks.filter((v) => v >= low && v <= high).sort((a, b) => a - b);
}
function powers(low, high) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const steps = last - first <= 2 ? [1, 2, 5] : [1], every = Math.ceil((last - first) / 7), marks = [];
  for (let p = first; p <= last; p += every)
    for (const s of steps) marks.push(s * 10 ** p);
  return marks.filter((v) => v >= low * 0.999 && v <= high * 1.001);
}
function rounds(low, high) {
  const rough = (high - low) / 6, unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((s) => s * unit >= rough), marks = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) marks.push(Math.abs(v) < step / 1e6 ? 0 : v);
  return marks;
}

// The heights to show, and the unit of a logarithmic axis that has to pass zero.
function ranges(lines, log, reward) {
  let low = Infinity, high = -Infinity;
  for (const line of lines)
    for (const v of line) if (v !== null) { low = Math.min(low, v); high = Math.max(high, v); }
  if (!isFinite(low)) return null;
  if (reward) {
    const room = Math.max(0.06 * (high - low), 1e-6);
    return { low: low - room, high: high + room, unit: 0 };
  }
  if (log && low > 0) {
    low = Math.max(low, high / 1e6);
    return { low: high / low < 10 ? high / 10 : low / 1.1, high: high * 1.1, unit: 0 };
  }
  low = Math.min(low, 0); high = Math.max(high, 0);
  if (high === low) high = low + 1;
  if (log) return { low: low * 1.2, high: high * 1.2, unit: smallest(lines, Math.max(high, -low)) };
  const room = 0.04 * (high - low);
  return { low: low < 0 ? low - room : 0, high: high > 0 ? high + room : 0, unit: 0 };
}
// A power of ten well below the end of every curve that does not end in nothing.
function smallest(lines, top) {
  const ends = lines.map((line) => Math.abs(line[line.length - 1] ?? 0)).filter((v) => v > 0);
  const least = Math.min(top / 10, Math.max(top / 1e4, ends.length ? Math.min(...ends) / 10 : top));
  return 10 ** Math.floor(Math.log10(least) + 1e-9);
}

