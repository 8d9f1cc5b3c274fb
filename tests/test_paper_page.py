"""The page of the paper: formulas read as they are meant, figures of claims, in a real browser."""

from __future__ import annotations

import re
from dataclasses import asdict
from xml.etree import ElementTree

import numpy as np
import pytest

from restive.paper import report
from restive.paper.catalogue import CLAIMS, chosen
from restive.paper.chart import curves_chart, intervals_chart, points_chart, ratios_chart
from restive.paper.claim import Claim, Finding, Judgement, Measurement, Scale
from restive.paper.running import run_claims
from restive.report.paper.drawing import chart_key, chart_picture
from restive.report.paper.formulas import formulas, typeset
from restive.report.paper.page import paper_page

SIGNS = {"≤": "<=", "≥": ">=", "−": "-", "∗": "*", "ε": "eps", "δ": "delta", "ρ": "rho", "μ": "mu",
         "τ": "tau", "∑": "sum", "∏": "prod", "∈": "in", "…": "...", "′": "'"}  # fmt: skip


def flat(node):
    """A formula back in plain letters, brackets of roots and of rounding written out."""
    inner = "".join(map(flat, node)) if len(node) else (node.text or "")
    inner = "".join(SIGNS.get(letter, letter) for letter in inner)
    children = [flat(child) for child in node]
    if node.tag == "msub" and children[0] == "T" and children[1] == "mix":
        return "Tmix"
    if node.tag == "msub":
        return f"{children[0]}2" if children[0] == "log" else "_".join(children)
    if node.tag == "munder":
        return "_".join(children)
    if node.tag == "msup":
        return "".join(children) if children[1] == "*" else "^".join(children)
    if node.tag == "msqrt":
        return f"sqrt({inner})"
    return inner.replace("⌈", "ceil(").replace("⌉", ")")


def plain(text):
    return re.sub(r"[\s()]", "", text).replace("epsilon", "eps")


def maths(html):
    return [ElementTree.fromstring(piece) for piece in re.findall(r"<math>.*?</math>", html)]


def test_every_formula_of_the_statements_says_what_the_text_says():
    """Brackets apart, which roots and powers swallow, the two have the same signs in order."""
    read = 0
    for claim in CLAIMS:
        pieces = formulas(claim.statement)
        for piece, node in zip(pieces, maths(typeset(claim.statement)), strict=True):
            assert plain(flat(node)) == plain(piece), piece
            read += 1
    assert read >= 30


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("D_eps <= 2 ceil(log2(4 max D_j)) Tmix(eps) prod_j (4 D_j) for arms of two",
         ["D_eps <= 2 ceil(log2(4 max D_j)) Tmix(eps) prod_j (4 D_j)"]),
        ("eps (D_eps + 2) T, or more", ["eps (D_eps + 2) T"]),
        ("sum_c sum_k v_k(c)/sqrt(N_k(c)) <= (sqrt 2 + 1) sqrt(C T).",
         ["sum_c sum_k v_k(c)/sqrt(N_k(c)) <= (sqrt 2 + 1) sqrt(C T)"]),
        ("largest span / D 0.873 in 3 runs (Section 5)", ["D"]),
        ("A trial of T-step runs, theorem-2-run and Theorem 4's bound", []),
        ("T = 1e+06 as they were", ["T = 1e+06"]),
        ("x in {0, 1} and the word in the text", ["x in {0, 1}"]),
        ("exponent 0.693 (0.646 to 0.739)", []),
        ("", []), ("(((", []), ("|", []), ("sqrt", []), ("x^", []), ("|x", ["x"]),
        ("<script>x_1</script>", ["x_1"]),
    ],
)  # fmt: skip
def test_formulas_end_where_words_begin(text, pieces):
    assert formulas(text) == pieces
    assert len(maths(typeset(text))) == len(pieces)
    assert "<script" not in typeset(text)


def test_roots_powers_and_functions_are_set_as_such():
    assert typeset("sqrt(T)") == "<math><msqrt><mi>T</mi></msqrt></math>"
    assert "<msup><mn>10</mn><mn>−6</mn></msup>" in typeset("1e-06")
    assert "<mn>2.5</mn><mo>·</mo><msup>" in typeset("2.5e+07")
    assert typeset("loses 0.0e+00 here") == "loses 0.0e+00 here"
    square = typeset("log^2(T/delta)")
    assert square.index("<msup>") < square.index("<mi>δ</mi>")
    assert "</msup>" in square[: square.index("<mi>T</mi>")]  # the bracket is not in the exponent
    assert "0.17em" in typeset("eps (T)")
    assert "0.17em" not in typeset("N(c)")


# --- figures ---------------------------------------------------------------------------------


def charts():
    times = np.geomspace(10, 1e6, 80)
    curves = [(times, k * np.sqrt(times)) for k in (1.0, 2.0, 3.0)]
    return {
        "curves": curves_chart({"a": curves}, {"t": lambda t: t}),
        "points": points_chart("x", "y", [("a", [1, 2], [3, 4])], [("b", [1, 2], [3, 3])]),
        "one point": points_chart("x", "y", [("a", [1], [1])], [], True, True),
        "ratios": ratios_chart("r", {"a": [0.5, 0.2, 0.9], "b": [0.1]}),
        "small ratios": ratios_chart("r", {"a": [1e-4, 1e-3]}),
        "equal ratios": ratios_chart("r", {"a": [0.0, 0.0]}),
        "margins": ratios_chart("r", {"a": [0.1, 0.3]}, 0.0),
        "intervals": intervals_chart("x", {"a": (0, 1), "b": (2, 3)}, {"g": 1.5}),
    }


@pytest.mark.parametrize("name", charts())
def test_everything_drawn_lies_in_the_picture(name):
    chart = asdict(charts()[name])
    root = ElementTree.fromstring(chart_picture(chart, 'words <b> "'))
    width, height = float(root.get("width")), float(root.get("height"))
    points = []
    for node in root:
        if node.tag == "path":
            words = node.get("d")[1:].split("L")
            points += [tuple(map(float, word.split())) for word in words]
        elif node.tag == "circle":
            points.append((float(node.get("cx")), float(node.get("cy"))))
    assert len(points) > 4
    assert all(0 <= x <= width and 0 <= y <= height for x, y in points)
    words = [node for node in root if node.tag == "text" and node.get("x")]
    upright = [node.text for node in words if node.get("text-anchor") == "end"]
    across = [node.text for node in words if node.get("text-anchor") != "end"]
    for marks in (upright, across):
        assert len(marks) == len(set(marks)) >= 2
    assert {words for _, words in chart_key(chart)} == {drawn["name"] for drawn in chart["series"]}


def test_a_curve_has_the_mean_and_the_range_of_its_runs():
    band, line, guide = charts()["curves"].series
    assert np.allclose(np.array(line.y), 2 * np.sqrt(line.x), rtol=1e-3)
    assert np.allclose(np.array(band.y), np.sqrt(band.x), rtol=1e-3)
    assert np.allclose(np.array(band.upper), 3 * np.sqrt(band.x), rtol=1e-3)
    assert guide.y == guide.x
    assert line.x[-1] == 1e6


def test_every_ratio_is_counted_once():
    chart = ratios_chart("r", {"a": np.linspace(0, 2, 57)})
    steps, limit = chart.series
    assert sum(steps.y) == 57
    assert set(limit.x) == {1.0}


# --- the page --------------------------------------------------------------------------------

SOME = "primes,example-1,example-3,simplification,appendix-values,colors"


def known(name, verdict, expected):
    work = Measurement(name, lambda scale: [1], abs)
    claim = Claim(name, "Section 0", "says <bad>", work, lambda scale, results: None, expected)
    note = "see example-1, and simplification."
    return Judgement(claim, Finding("ran", "number", "T <= 1", verdict, note))


@pytest.fixture(scope="module")
def page():
    outcomes = list(run_claims(chosen(SOME), Scale(True)))
    outcomes += [known("a-known-failure", "fails", "fails"), known("odd", "holds", "fails")]
    return paper_page(report.facts(outcomes, version="0", quick=True, interrupted=False))


def test_the_page_has_figures_formulas_and_verdicts(page):
    assert page.count("<figure>") == 4
    assert "fails, as known" in page
    assert "holds (expected: fails)" in page
    assert "says &lt;bad&gt;" in page
    assert '<a class="keep" href="#example-1">example-1</a>' in page
    assert len(maths(page)) > 20
    assert "default-src 'none'" in page
    assert not re.search(r"<script|https?:", page)


INSIDE = """[...document.querySelectorAll('svg text')].every(e => {
    const word = e.getBoundingClientRect(), all = e.ownerSVGElement.getBoundingClientRect();
    return word.left >= all.left - 1 && word.right <= all.right + 1; })"""


def test_a_browser_shows_all_of_it(page, tmp_path):
    """No sideways scrolling, no name in two lines, formulas with a width, no errors, no blanks."""
    from test_report_browser import chromium

    api, path = pytest.importorskip("playwright.sync_api"), chromium()
    target = tmp_path / "paper.html"
    target.write_text(page, encoding="utf-8")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"], timeout=300_000
        )
        for width, scheme in ((1400, "light"), (390, "dark")):
            view = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            errors = []
            view.on("console", lambda message, kept=errors: kept.append(message.text))
            view.goto(target.as_uri())
            assert view.evaluate("document.documentElement.scrollWidth") == width
            heights = view.evaluate(
                "[...document.querySelectorAll('.keep')].map(e => e.getClientRects().length)"
            )
            assert set(heights) == {1}
            assert view.evaluate(
                "[...document.querySelectorAll('math')].every(e => e.clientWidth > 3)"
            )
            assert view.evaluate(INSIDE)
            assert errors == []
        browser.close()
