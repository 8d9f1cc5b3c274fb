"use strict";
// Draws the regret curves from the numbers in the page and answers its controls. Names that users
// chose reach the page as text only, never as markup.
(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("data").textContent);
  const state = { regret: data.regret, centre: "mean", scale: "log", bands: true,
                  horizon: data.horizon, hidden: new Set(), raised: -1 };
  const charts = [];

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
    if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
    return value.toLocaleString("en", { maximumSignificantDigits: size >= 1e4 ? 5 : 4 });
  };
  const tick = (value) => {
    const size = Math.abs(value);
    if (size >= 1e6 || (size > 0 && size < 1e-3)) return Number(value.toPrecision(3)).toExponential().replace("e+", "e");
    return value.toLocaleString("en", { maximumSignificantDigits: 4 });
  };
  const ink = (node, learner) => {
    node.style.setProperty("--line", `var(--c${data.learners[learner].color})`);
    if (data.learners[learner].dash) node.setAttribute("stroke-dasharray", data.learners[learner].dash);
    return node;
  };
  const fit = (words, room) => words.length <= room ? words : words.slice(0, Math.max(1, room - 1)) + "…";

  // --- axes

  function axis(low, high, start, end, log) {
    if (log) {
      const a = Math.log10(low), b = Math.log10(high);
      return { place: (v) => start + (Math.log10(v) - a) / (b - a) * (end - start), marks: powers(low, high) };
    }
    return { place: (v) => start + (v - low) / (high - low) * (end - start), marks: rounds(low, high) };
  }
  function powers(low, high) {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const steps = last - first <= 2 ? [1, 2, 5] : [1], every = Math.ceil((last - first) / 7), found = [];
    for (let p = first; p <= last; p += every)
      for (const s of steps) found.push(s * 10 ** p);
    return found.filter((v) => v >= low * 0.999 && v <= high * 1.001);
  }
  function rounds(low, high) {
    const rough = (high - low) / 6, unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 5, 10].find((s) => s * unit >= rough), found = [];
    for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) found.push(Math.abs(v) < step / 1e6 ? 0 : v);
    return found;
  }

  // --- one chart

  function linesOf(chart) {
    const panel = data.problems[chart.problem].panels[state.horizon];
    if (!panel || !panel.regrets[state.regret]) return null;
    const lines = panel.regrets[state.regret][state.centre];
    const shown = lines.map((line, learner) => ({ line, learner }))
      .filter(({ line, learner }) => line && !state.hidden.has(learner));
    return { times: panel.times, shown };
  }

  function ranges(times, shown, log) {
    let low = Infinity, high = -Infinity;
    for (const { line } of shown) {
      for (const part of state.bands ? [0, 1, 2] : [0])
        for (const v of line[part])
          if (v !== null && (!log || v > 0)) { low = Math.min(low, v); high = Math.max(high, v); }
    }
    if (!isFinite(low)) return null;
    if (log) {
      // A lower edge that falls towards zero would squeeze everything else.
      let least = Infinity;
      for (const { line } of shown) for (const v of line[0]) if (v > 0) least = Math.min(least, v);
      low = Math.max(low, (isFinite(least) ? least : high) / 3, high / 1e6);
      if (high / low < 10) low = high / 10;
      return [low, high * 1.1];
    }
    low = Math.min(low, 0); high = Math.max(high, 0);
    if (high === low) high = low + 1;
    const room = 0.04 * (high - low);
    return [low < 0 ? low - room : 0, high > 0 ? high + room : 0];
  }

  function draw(chart) {
    const { canvas } = chart;
    chart.shape = null;
    hideReadout(chart);
    const found = linesOf(chart);
    canvas.textContent = "";
    chart.remark.textContent = "";
    if (!found || !found.shown.length) return empty(chart, found);
    const { times, shown } = found, log = state.scale === "log";
    const width = Math.max(300, Math.min(1060, canvas.clientWidth || 700)), narrow = width < 560;
    const letters = Math.min(narrow ? 10 : 22, Math.max(...shown.map(({ learner }) => data.learners[learner].name.length)));
    const left = 58, right = 34 + 7 * letters, top = 10, bottom = 38;
    const height = Math.max(narrow ? 300 : 380, 15 * shown.length + 80);
    const span = ranges(times, shown, log);
    if (!span) return empty(chart, found);
    const x = axis(log ? times[0] : 0, times[times.length - 1], left, width - right, log && times.length > 1 && times[0] > 0);
    const y = axis(span[0], span[1], height - bottom, top, log);
    const svg = make("svg", { class: "curves", viewBox: `0 0 ${width} ${height}`, width, height, tabindex: 0, role: "img" }, canvas);
    svg.setAttribute("aria-label", describe(chart, times, shown));
    drawGrid(svg, x, y, left, width - right, top, height - bottom, narrow);
    if (log) drawGuide(svg, x, y, times, shown, span);
    if (state.bands) for (const one of shown) drawBand(svg, x, y, times, one, log, span[0]);
    for (const one of shown) drawLine(svg, x, y, times, one, log, span[0]);
    drawNames(svg, y, shown, width - right + 6, letters, top, height - bottom, log, span[0]);
    chart.shape = { svg, x, y, times, shown, top, bottom: height - bottom, width, log, low: span[0] };
    chart.remark.textContent = remark(shown, log);
    listen(chart);
  }

  function empty(chart, found) {
    const words = document.createElement("p");
    words.className = "note";
    words.textContent = !found ? "This regret is not known here."
      : found.shown.length ? "Nothing here is above zero, which a logarithmic scale cannot show: choose the linear scale."
      : "No learner is chosen.";
    chart.canvas.appendChild(words);
  }
  function describe(chart, times, shown) {
    const last = times.length - 1;
    const ends = shown.map(({ line, learner }) => `${data.learners[learner].name} ${short(line[0][last])}`);
    return `${data.words[state.regret]} on ${data.problems[chart.problem].name}, ${state.centre} after ${times[last]} steps: ${ends.join(", ")}. Left and right arrow keys read out values.`;
  }
  function remark(shown, log) {
    if (!log) return "";
    const lost = shown.filter(({ line }) => !(line[0][line[0].length - 1] > 0)).map(({ learner }) => data.learners[learner].name);
    return lost.length ? `At or below zero at the end, which a logarithmic scale cannot show: ${lost.join(", ")}.` : "";
  }

  function drawGrid(svg, x, y, left, right, top, bottom, narrow) {
    let before = -Infinity;
    for (const mark of x.marks) {
      const at = x.place(mark);
      make("path", { d: `M${at} ${top}V${bottom}`, class: "grid" }, svg);
      if (at - before < (narrow ? 48 : 40)) continue;
      write(svg, at, bottom + 16, tick(mark), "middle");
      before = at;
    }
    for (const mark of y.marks) {
      const at = y.place(mark);
      make("path", { d: `M${left} ${at}H${right}`, class: mark === 0 ? "zero" : "grid" }, svg);
      write(svg, left - 6, at + 4, tick(mark), "end");
    }
    write(svg, (left + right) / 2, bottom + 33, "step", "middle", "axis");
  }
  function drawGuide(svg, x, y, times, shown, span) {
    const last = times.length - 1, end = Math.max(...shown.map(({ line }) => line[0][last] || 0));
    const tip = end / 3;
    if (!(tip > 0)) return;
    const from = Math.max(times[0], times[last] * (span[0] / tip) ** 2, times[last] / 1e4);
    if (!(from < times[last])) return;
    const height = (t) => y.place(tip * Math.sqrt(t / times[last]));
    make("path", { d: `M${x.place(from)} ${height(from)}L${x.place(times[last])} ${height(times[last])}`, class: "guide" }, svg);
    write(svg, x.place(from) + 4, height(from) - 6, "like √t", "start", "axis");
  }
  const clip = (v, log, low) => log ? Math.max(v, low) : v;
  function drawLine(svg, x, y, times, { line, learner }, log, low) {
    let d = "", pen = false;
    times.forEach((t, k) => {
      const v = line[0][k];
      if (v === null || (log && v < low)) { pen = false; return; }
      d += `${pen ? "L" : "M"}${x.place(t).toFixed(1)} ${y.place(v).toFixed(1)}`;
      pen = true;
    });
    if (d) ink(make("path", { d, class: "line", "data-learner": learner }, svg), learner);
  }
  function drawBand(svg, x, y, times, { line, learner }, log, low) {
    const there = times.map((_, k) => k).filter((k) => line[1][k] !== null && line[2][k] !== null && (!log || line[2][k] > low));
    if (there.length < 2) return;
    const point = (k, part) => `${x.place(times[k]).toFixed(1)} ${y.place(clip(line[part][k], log, low)).toFixed(1)}`;
    const d = `M${there.map((k) => point(k, 2)).join("L")}L${there.reverse().map((k) => point(k, 1)).join("L")}z`;
    ink(make("path", { d, class: "band", "data-learner": learner }, svg), learner).removeAttribute("stroke-dasharray");
  }
  function drawNames(svg, y, shown, left, letters, top, bottom, log, low) {
    const ends = shown.map(({ line, learner }) => {
      const v = line[0][line[0].length - 1];
      return { learner, at: y.place(clip(v === null ? low : v, log, low)) };
    }).sort((a, b) => a.at - b.at);
    ends.forEach((one, k) => { one.at = Math.max(one.at, top + 4, k ? ends[k - 1].at + 15 : 0); });
    for (let k = ends.length - 1, most = bottom; k >= 0; k--, most -= 15) ends[k].at = Math.min(ends[k].at, most);
    for (const { learner, at } of ends) {
      const group = make("g", { "data-learner": learner }, svg);
      ink(make("path", { d: `M${left} ${at}h20`, class: "line" }, group), learner);
      write(group, left + 24, at + 4, fit(data.learners[learner].name, letters), "start");
    }
  }

  // --- reading values

  function listen(chart) {
    const { svg, x, times } = chart.shape;
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) * chart.shape.width / box.width;
      let best = 0;
      times.forEach((t, k) => { if (Math.abs(x.place(t) - at) < Math.abs(x.place(times[best]) - at)) best = k; });
      show(chart, best);
    });
    svg.addEventListener("pointerleave", () => { if (document.activeElement !== svg) hideReadout(chart); });
    svg.addEventListener("blur", () => hideReadout(chart));
    svg.addEventListener("keydown", (event) => {
      const last = times.length - 1, now = chart.at === null ? last + 1 : chart.at;
      const next = { ArrowLeft: now - 1, ArrowRight: chart.at === null ? 0 : now + 1, Home: 0, End: last }[event.key];
      if (event.key === "Escape") hideReadout(chart);
      if (next === undefined) return;
      event.preventDefault();
      show(chart, Math.max(0, Math.min(last, next)));
    });
  }
  function show(chart, k) {
    if (chart.at === k) return;
    hideReadout(chart);
    const { svg, x, y, times, shown, top, bottom, width, log, low } = chart.shape;
    chart.at = k;
    const at = x.place(times[k]);
    chart.marks = make("g", {}, svg);
    make("path", { d: `M${at} ${top}V${bottom}`, class: "cross" }, chart.marks);
    for (const { line, learner } of shown) {
      const v = line[0][k];
      if (v === null || (log && v < low)) continue;
      ink(make("circle", { cx: at, cy: y.place(v), r: 4, class: "spot" }, chart.marks), learner).removeAttribute("stroke-dasharray");
    }
    fill(chart, k, times, shown);
    const share = at / width, box = chart.readout;
    box.hidden = false;
    const room = chart.canvas.clientWidth, scale = room / width;
    const wanted = share < 0.5 ? at * Math.min(scale, 1) + 14 : at * Math.min(scale, 1) - 14 - box.offsetWidth;
    box.style.left = `${Math.max(0, Math.min(room - box.offsetWidth, wanted))}px`;
  }
  function fill(chart, k, times, shown) {
    const box = chart.readout;
    box.textContent = "";
    const head = document.createElement("b"), table = document.createElement("table");
    head.textContent = `step ${times[k].toLocaleString("en")}, ${state.centre}`;
    const order = shown.slice().sort((a, b) => (a.line[0][k] ?? Infinity) - (b.line[0][k] ?? Infinity));
    for (const { line, learner } of order) {
      const row = table.insertRow(), swatch = make("svg", { width: 20, height: 8, class: "curves", "aria-hidden": "true" });
      ink(make("path", { d: "M0 4h20", class: "line" }, swatch), learner);
      row.insertCell().appendChild(swatch);
      row.insertCell().textContent = data.learners[learner].name;
      row.insertCell().textContent = short(line[0][k]);
      row.insertCell().textContent = line[1][k] === null ? "" : `${short(line[1][k])} to ${short(line[2][k])}`;
    }
    box.append(head, table);
  }
  function hideReadout(chart) {
    chart.at = null;
    chart.readout.hidden = true;
    if (chart.marks) chart.marks.remove();
    chart.marks = null;
  }

  // --- controls

  function redraw() { charts.forEach(draw); raise(state.raised); }
  function raise(learner) {
    state.raised = learner;
    for (const { shape } of charts) {
      if (!shape) continue;
      for (const node of shape.svg.querySelectorAll("[data-learner]"))
        node.classList.toggle("dim", learner >= 0 && !state.hidden.has(learner) && Number(node.dataset.learner) !== learner);
    }
  }
  function choose(name, value) {
    if (name === "theme") {
      if (value === "system") delete root.dataset.theme; else root.dataset.theme = value;
      return;
    }
    state[name] = name === "horizon" ? Number(value) : value;
    if (name === "horizon") showHorizon();
    if (name === "regret")
      for (const node of document.querySelectorAll("[data-regret-words]")) node.textContent = data.words[value];
    redraw();
  }
  function showHorizon() {
    for (const node of document.querySelectorAll("[data-horizon]"))
      node.hidden = Number(node.dataset.horizon) !== state.horizon;
  }
  function toggle(button) {
    const learner = Number(button.dataset.learner), off = !state.hidden.has(learner);
    if (off) state.hidden.add(learner); else state.hidden.delete(learner);
    button.setAttribute("aria-pressed", String(!off));
    redraw();
  }
  function sort(button) {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
    const column = head.cellIndex, down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    // A number stands in the cell itself, before its interval; a wide cell leaves some columns out.
    const value = (row) => {
      const cell = row.cells[column];
      if (!cell || cell.colSpan > 1) return "";
      return cell.dataset.value ?? (cell.firstChild?.textContent ?? "").replaceAll(",", "").replace("−", "-").replace(/^<(?=[\d.]+$)/, "");
    };
    const rows = [...body.rows].sort((a, b) => {
      const p = value(a), q = value(b);
      if (p === "" || q === "") return (p === "") - (q === "");
      const numbers = Number(p) - Number(q);
      return down * (Number.isNaN(numbers) ? p.localeCompare(q) : numbers);
    });
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down > 0 ? "ascending" : "descending");
    body.append(...rows);
  }

  function start() {
    root.classList.add("js");
    for (const figure of document.querySelectorAll("figure.chart")) {
      const [canvas, readout, remarked] = ["canvas", "readout", "remark"].map((name) => figure.querySelector(`.${name}`));
      charts.push({ problem: Number(figure.dataset.problem), canvas, readout, remark: remarked, at: null, marks: null, shape: null });
    }
    for (const input of document.querySelectorAll(".controls input[type=radio]"))
      input.addEventListener("change", () => choose(input.name, input.value));
    for (const list of document.querySelectorAll(".controls select"))
      list.addEventListener("change", () => choose(list.name, list.value));
    for (const box of document.querySelectorAll(".controls input[type=checkbox]"))
      box.addEventListener("change", () => choose(box.name, box.checked));
    for (const button of document.querySelectorAll(".learner")) {
      button.addEventListener("click", () => toggle(button));
      for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => raise(Number(button.dataset.learner)));
      for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => raise(-1));
    }
    for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => sort(button));
    let width = window.innerWidth;
    window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; redraw(); } });
    showHorizon();
    redraw();
  }
  start();
})();
