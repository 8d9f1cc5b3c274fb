// --- figures and tables as files

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order"];

function download(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
// A drawing that looks the same without this page's style sheet.
function standalone(svg) {
  const copy = svg.cloneNode(true), nodes = [...svg.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((node, k) => {
    const style = getComputedStyle(nodes[k]);
    node.removeAttribute("style");
    node.removeAttribute("class");
    for (const name of STYLES) node.setAttribute(name, style.getPropertyValue(name).replaceAll('"', "'"));
  });
  const [x, y, width, height] = svg.getAttribute("viewBox").split(" ").map(Number), margin = 8;
  copy.removeAttribute("style");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `${x - margin} ${y - margin} ${width + 2 * margin} ${height + 2 * margin}`);
  copy.setAttribute("width", width + 2 * margin);
  copy.setAttribute("height", height + 2 * margin);
  const paper = make("rect", { x: x - margin, y: y - margin, width: "100%", height: "100%" });
  paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}
function saveImage(name, svg, kind) {
  const text = standalone(svg);
  if (kind === "svg") return download(`${name}.svg`, new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const sheet = document.createElement("canvas");
    sheet.width = 3 * image.width;
    sheet.height = 3 * image.height;
    sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
    sheet.toBlob((content) => download(`${name}.png`, content));
  };
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
}

// Words that a spreadsheet would take for a formula get an apostrophe, numbers stay numbers.
function csvCell(words) {
  const plain = words.trim().replace("−", "-"), number = plain.replaceAll(",", "");
  if (plain !== "" && !Number.isNaN(Number(number))) return number;
  const safe = /^[=+\-@\t]/.test(plain) ? `'${plain}` : plain;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
const csv = (rows) => new Blob([rows.map((row) => row.map(csvCell).join(",") + "\n").join("")], { type: "text/csv" });

// A table's cells; the interval below a number gets a column of its own.
function tableRows(table) {
  const heads = [...table.tHead.rows[0].cells], bodies = [...table.tBodies[0].rows].map((row) => [...row.cells]);
  const split = heads.map((_, k) => bodies.some((cells) => cells[k]?.scope !== "row" && cells[k]?.querySelector("small")));
  const own = (cell) => {
    if (cell.scope === "row") return cell.dataset.value;
    const copy = cell.cloneNode(true);
    copy.querySelectorAll("small, svg, abbr").forEach((node) => node.remove());
    return copy.textContent;
  };
  const spread = (cells, main, more) => heads.flatMap((_, k) => split[k] ? [main(cells[k]), more(cells[k])] : [main(cells[k])]);
  const rest = (cell) => cell?.querySelector("small")?.textContent ?? "";
  return [spread(heads, own, (head) => `${own(head)} (95 % interval)`),
    ...bodies.map((cells) => spread(cells, (cell) => cell ? own(cell) : "", rest))];
}
// What a chart shows now.
function chartRows(chart) {
  const { times, shown } = linesOf(chart) ?? { times: [], shown: [] };
  return [["step", "learner", state.centre, "lower", "upper"], ...shown.flatMap(({ line, learner }) =>
    times.map((t, k) => [String(t), data.learners[learner].name, ...line.map((part) => part[k] === null ? "" : String(part[k]))]))];
}

function saveButton(bar, words, title, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words;
  button.title = title;
  button.setAttribute("aria-label", title);
  button.addEventListener("click", act);
  bar.appendChild(button);
}
function saveBar(place) {
  const bar = document.createElement("span");
  bar.className = "saves";
  place.appendChild(bar);
  return bar;
}
function offerSaves() {
  for (const figure of document.querySelectorAll("figure[data-name]")) {
    const name = figure.dataset.name, chart = charts.find((one) => one.figure === figure);
    const picture = () => figure.querySelector("svg[viewBox]");
    if (!chart && !picture()) continue;
    const bar = saveBar(figure);
    for (const kind of ["svg", "png"])
      saveButton(bar, kind.toUpperCase(), `Save this figure as ${kind.toUpperCase()}`, () => picture() && saveImage(name, picture(), kind));
    if (chart) saveButton(bar, "CSV", "Save the numbers shown as CSV", () => download(`${name}.csv`, csv(chartRows(chart))));
  }
  for (const table of document.querySelectorAll("table[data-name]"))
    saveButton(saveBar(table.caption.querySelector(".title")), "CSV", "Save this table as CSV", () => download(`${table.dataset.name}.csv`, csv(tableRows(table))));
}

