// --- reading values

function listen(chart) {
  const { svg, x, times, size } = chart.shape;
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) * size.width / box.width;
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
  const { svg, x, y, times, shown, size } = chart.shape, { width, height, top, bottom } = size;
  chart.at = k;
  const at = x.place(times[k]);
  chart.marks = make("g", {}, svg);
  make("path", { d: `M${at} ${top}V${height - bottom}`, class: "cross" }, chart.marks);
  for (const { line, learner } of shown) {
    const v = line[0][k], place = v === null ? NaN : y.place(v);
    if (!(place >= top - 2 && place <= height - bottom + 2)) continue;
    ink(make("circle", { cx: at, cy: place, r: 4, class: "spot" }, chart.marks), learner).removeAttribute("stroke-dasharray");
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

