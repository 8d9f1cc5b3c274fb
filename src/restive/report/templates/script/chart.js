// --- one chart

const ink = (node, learner) => {
  node.style.setProperty("--line", `var(--c${data.learners[learner].color})`);
  if (data.learners[learner].dash) node.setAttribute("stroke-dasharray", data.learners[learner].dash);
  return node;
};
const REWARD = "reward";

// What the runs of a learner came to: [centre, lower, upper], and single runs, of what is shown.
function linesOf(chart) {
  const problem = data.problems[chart.problem], panel = problem.panels[state.horizon];
  const source = state.show === REWARD ? "weak" : state.show;
  if (!panel || !panel.regrets[source]) return null;
  const traces = (panel.runs || {})[state.show === "gap" ? "gap" : "weak"] || [];
  const lines = panel.regrets[source][state.centre];
  const shown = lines.map((line, learner) => ({ line, learner, runs: traces[learner] || [] }))
    .filter(({ line, learner }) => line && !state.hidden.has(learner))
    .map((one) => ({ ...one, ...seen(one, panel, problem) }));
  return settled({ times: panel.times, runTimes: panel.run_times || [], shown, problem });
}
// An average reward is luck alone in the first steps, and would fill the picture: it begins later.
function settled(view) {
  if (state.show !== REWARD) return view;
  const late = (times) => Math.max(0, times.findIndex((t) => t >= times[times.length - 1] / 200));
  const [from, fromRun] = [late(view.times), late(view.runTimes)];
  const shown = view.shown.map((one) => ({ ...one, line: one.line.map((part) => part.slice(from)), runs: one.runs.map((run) => run.slice(fromRun)) }));
  return { ...view, shown, times: view.times.slice(from), runTimes: view.runTimes.slice(fromRun) };
}
// Plain regret and reward follow from weak regret, since all runs have the same yardsticks.
function seen({ line, runs }, panel, { alone, gain }) {
  const turned = (times, turn) => (part) => part.map((v, k) => v === null ? null : turn(v, times[k]));
  const paid = (v, t) => alone - v / t, plain = (v, t) => v + (gain - alone) * t;
  if (state.show === "plain") return { runs: runs.map(turned(panel.run_times, plain)) };
  if (state.show !== REWARD) return {};
  const earned = turned(panel.times, paid);
  return { line: [earned(line[0]), earned(line[2]), earned(line[1])], runs: runs.map(turned(panel.run_times, paid)) };
}

function draw(chart) {
  const { canvas } = chart;
  chart.shape = null;
  hideReadout(chart);
  canvas.textContent = "";
  chart.remark.textContent = "";
  const view = linesOf(chart);
  if (!view || !view.shown.length) return empty(chart, view);
  const reward = state.show === REWARD, log = state.scale === "log";
  const size = layout(chart, view.shown);
  const span = ranges(heights(view, reward), log, reward);
  if (!span) return empty(chart, view);
  const { times } = view, last = times[times.length - 1], logTime = log && times.length > 1 && times[0] > 0;
  const x = axis(logTime ? times[0] : 0, last, size.left, size.width - size.right, logTime);
  const y = axis(span.low, span.high, size.height - size.bottom, size.top, log && !reward, span.unit);
  const svg = make("svg", { class: "curves", viewBox: `0 0 ${size.width} ${size.height}`, width: size.width, height: size.height, tabindex: 0, role: "img" }, canvas);
  svg.setAttribute("aria-label", describe(chart, view));
  drawGrid(svg, x, y, size);
  const plot = clipped(svg, chart, size);
  plot.style.setProperty("--veil", Math.min(0.11, 0.25 / view.shown.length).toFixed(3));  // many veils are a wall
  if (log && !reward) drawGuide(plot, x, y, view, span);
  if (reward) drawLevels(plot, y, size, view.problem);
  if (state.bands) for (const one of view.shown) drawBand(plot, x, y, times, one);
  if (state.runs) for (const one of view.shown) drawRuns(plot, x, y, view.runTimes, one);
  for (const one of view.shown) drawLine(plot, x, y, times, one);
  (size.narrow ? drawLegend : drawNames)(svg, y, view.shown, size);
  chart.shape = { svg, x, y, times, shown: view.shown, size };
  chart.remark.textContent = remark(view, span);
  listen(chart);
}
function layout(chart, shown) {
  const width = Math.max(300, Math.min(1060, chart.canvas.clientWidth || 700)), narrow = width < 620;
  const letters = Math.min(30, Math.max(...shown.map(({ learner }) => data.learners[learner].name.length)));
  const right = narrow ? 14 : 38 + 7 * letters, legend = narrow ? 18 * shown.length + 8 : 0;
  const tall = narrow ? 300 : Math.max(380, 15 * shown.length + 80);
  return { width, narrow, letters, left: 76, right, top: 10, bottom: 38 + legend, height: tall + legend };
}
// All heights that the axis must hold.
function heights({ shown, problem }, reward) {
  const parts = state.bands ? [0, 1, 2] : [0];
  const lines = shown.flatMap(({ line, runs }) => [...parts.map((part) => line[part]), ...(state.runs ? runs : [])]);
  return reward ? [...lines, [problem.alone, problem.gain]] : lines;
}
function clipped(svg, chart, { width, height, left, right, top, bottom }) {
  const id = `plot-${charts.indexOf(chart)}`;
  const hole = make("clipPath", { id }, make("defs", {}, svg));
  make("rect", { x: left, y: top - 2, width: width - right - left + 2, height: height - bottom - top + 4 }, hole);
  return make("g", { "clip-path": `url(#${id})` }, svg);
}

function empty(chart, view) {
  const words = document.createElement("p");
  words.className = "note";
  words.textContent = view ? "No learner is chosen." : "This regret is not known here.";
  chart.canvas.appendChild(words);
}
function describe(chart, { times, shown }) {
  const last = times.length - 1;
  const ends = shown.map(({ line, learner }) => `${data.learners[learner].name} ${short(line[0][last])}`);
  return `${data.words[state.show]} on ${data.problems[chart.problem].name}, ${state.centre} after ${times[last]} steps: ${ends.join(", ")}. Left and right arrow keys read out values.`;
}
function remark({ times, shown, runTimes }, { unit }) {
  const words = [];
  if (unit) words.push(`Below ${tick(unit)} the scale goes on in even steps, through zero.`);
  if (state.bands && shown.some(({ line }) => begun(line))) words.push("Bands begin where they leave zero.");
  if (state.show === REWARD) words.push(`Shown from step ${tick(times[0])} on: before, it is luck alone.`);
  const traced = Math.max(0, ...shown.map(({ runs }) => runs.length));
  if (state.runs && runTimes.length && traced) words.push(`Thin lines: the first ${traced} of ${data.runs} runs.`);
  return words.join(" ");
}

function drawGrid(svg, x, y, { width, height, left, right, top, bottom, narrow }) {
  const low = height - bottom, end = width - right;
  let before = -Infinity;
  for (const mark of x.marks) {
    const at = x.place(mark);
    make("path", { d: `M${at} ${top}V${low}`, class: "grid" }, svg);
    if (at - before < (narrow ? 48 : 40)) continue;
    write(svg, Math.min(at, width - 3.4 * tick(mark).length), low + 16, tick(mark), "middle");
    before = at;
  }
  before = Infinity;
  for (const mark of y.marks) {
    const at = y.place(mark);
    make("path", { d: `M${left} ${at}H${end}`, class: mark === 0 ? "zero" : "grid" }, svg);
    if (before - at < 13) continue;
    write(svg, left - 6, at + 4, tick(mark), "end");
    before = at;
  }
  write(svg, (left + end) / 2, low + 33, "step", "middle", "axis");
  const title = write(svg, 0, 0, `${state.centre} ${data.names[state.show]}`, "middle", "axis");
  title.setAttribute("transform", `translate(14 ${(top + low) / 2}) rotate(-90)`);
}
function drawGuide(plot, x, y, { times, shown }, { low, unit }) {
  const last = times[times.length - 1], ends = shown.map(({ line }) => line[0][times.length - 1] || 0);
  const tip = Math.max(...ends) / 3, least = unit || low;
  if (!(tip > least)) return;
  const from = Math.max(times[0], last * (least / tip) ** 2, last / 1e4), points = [];
  if (!(from < last)) return;
  for (let k = 0; k <= 40; k++) {
    const t = from * (last / from) ** (k / 40);
    points.push(`${x.place(t).toFixed(1)} ${y.place(tip * Math.sqrt(t / last)).toFixed(1)}`);
  }
  make("path", { d: `M${points.join("L")}`, class: "guide" }, plot);
  write(plot, x.place(from) + 4, y.place(tip * Math.sqrt(from / last)) - 6, "like √t", "start", "axis");
}
function drawLevels(plot, y, { left, width, right }, { alone, arms, gain }) {
  for (const [level, words] of [[alone, arms], [gain, "best policy"]]) {
    if (level === null) continue;
    make("path", { d: `M${left} ${y.place(level)}H${width - right}`, class: "guide" }, plot);
    write(plot, left + 4, y.place(level) + (level === gain ? -5 : 13), words, "start", "axis halo");
  }
}
function pathOf(x, y, times, values) {
  let d = "", pen = false;
  times.forEach((t, k) => {
    const v = values[k];
    if (v === null || (v <= 0 && !isFinite(y.place(v)))) { pen = false; return; }
    d += `${pen ? "L" : "M"}${x.place(t).toFixed(1)} ${y.place(v).toFixed(1)}`;
    pen = true;
  });
  return d;
}
function drawLine(plot, x, y, times, { line, learner }) {
  const d = pathOf(x, y, times, line[0]);
  if (d) ink(make("path", { d, class: "line", "data-learner": learner }, plot), learner);
}
function drawRuns(plot, x, y, times, { runs, learner }) {
  for (const run of runs) {
    const d = pathOf(x, y, times, run);
    if (d) ink(make("path", { d, class: "trace", "data-learner": learner }, plot), learner).removeAttribute("stroke-dasharray");
  }
}
function drawBand(plot, x, y, times, { line, learner }) {
  const known = times.map((_, k) => k).filter((k) => line[1][k] !== null && line[2][k] !== null);
  const there = begun(line) ? known.filter((k) => line[1][k] > 0) : known;
  if (there.length < 2) return;
  const point = (k, part) => `${x.place(times[k]).toFixed(1)} ${y.place(line[part][k]).toFixed(1)}`;
  const d = `M${there.map((k) => point(k, 2)).join("L")}L${there.reverse().map((k) => point(k, 1)).join("L")}z`;
  ink(make("path", { d, class: "band", "data-learner": learner }, plot), learner).removeAttribute("stroke-dasharray");
}
// Whether a band leaves zero for good: on a logarithmic scale it is drawn from there on.
function begun([, lower]) {
  const ends = lower[lower.length - 1] > 0 && lower[0] !== null && lower[0] <= 0;
  return state.scale === "log" && state.show === "gap" && ends;
}
function drawNames(svg, y, shown, { width, height, right, top, bottom, letters }) {
  const left = width - right + 6;
  const ends = shown.map(({ line, learner }) => ({ learner, at: y.place(line[0][line[0].length - 1] ?? 0) }))
    .sort((a, b) => a.at - b.at);
  ends.forEach((one, k) => { one.at = Math.max(one.at, top + 4, k ? ends[k - 1].at + 15 : 0); });
  for (let k = ends.length - 1, most = height - bottom; k >= 0; k--, most -= 15) ends[k].at = Math.min(ends[k].at, most);
  for (const { learner, at } of ends) drawName(svg, learner, left, at, letters);
}
// Where there is no room beside the curves: names below, whole.
function drawLegend(svg, y, shown, { width, height, bottom, left }) {
  const room = Math.floor((width - left + 40) / 6.7);
  shown.forEach(({ learner }, k) => drawName(svg, learner, left - 66, height - bottom + 56 + 18 * k, room));
}
function drawName(svg, learner, x, at, letters) {
  const group = make("g", { "data-learner": learner }, svg);
  ink(make("path", { d: `M${x} ${at}h20`, class: "line" }, group), learner);
  write(group, x + 24, at + 4, fit(data.learners[learner].name, letters), "start");
}

