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
  if (name === "show")
    for (const node of document.querySelectorAll("[data-shown-words]")) node.textContent = data.words[value];
  redraw();
}
function showHorizon() {
  for (const node of document.querySelectorAll("[data-horizon]"))
    node.hidden = Number(node.dataset.horizon) !== state.horizon;
  hint();
}
function toggle(button) {
  const learner = Number(button.dataset.learner), off = !state.hidden.has(learner);
  if (off) state.hidden.add(learner); else state.hidden.delete(learner);
  button.setAttribute("aria-pressed", String(!off));
  redraw();
}
// A table that is wider than its place says so.
function hint() {
  for (const box of document.querySelectorAll(".scroll"))
    box.classList.toggle("more", box.scrollWidth > box.clientWidth + 1);
}
function sort(button) {
  const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
  const column = head.cellIndex, down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  // A number stands in the cell itself, before its interval; a wide cell leaves some columns out.
  const value = (row) => {
    const cell = row.cells[column];
    if (!cell || cell.colSpan > 1) return "";
    return cell.dataset.value ?? (cell.firstChild?.textContent ?? "").replaceAll(",", "").replace("−", "-").replace(/^<(?=[\d.]+$)/, "").replace(/%$/, "");
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
    charts.push({ figure, problem: Number(figure.dataset.problem), canvas, readout, remark: remarked, at: null, marks: null, shape: null });
  }
  document.querySelector(".controls").addEventListener("submit", (event) => event.preventDefault());
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
  window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; redraw(); hint(); } });
  const panels = data.problems.flatMap((problem) => Object.values(problem.panels));
  document.querySelector("label.runs").hidden = !panels.some((panel) => panel.runs);
  offerSaves();
  showHorizon();
  redraw();
}
start();
})();
