"""Figures and tables for papers: nothing cut, nothing on top of each other, right for TeX."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from typer.testing import CliRunner

import synthetic_results
from restive import ProblemError, problems
from restive.base.latex import tex
from restive.cli import app
from restive.experiments.bands import Bands
from restive.learners import LEARNERS
from restive.learners.references import REFERENCES, citation, cited
from restive.report import bibtex, regret_picture, regret_table
from restive.report.comparison import figures
from restive.report.drawing.look import Look
from restive.report.drawing.picture import printable

pytest.importorskip("matplotlib")

NAMES = ("tied-sampling", "colored-ucrl2-with-a-long-name", "a_b & 50% $x^2$", "optimal", "ucb1")
LOOKS = [
    Look(width, panels, labels, style)
    for width, panels, labels, style in product(
        ("one", "two"), (1, 2), ("direct", "legend"), ("plain", "serif", "tex")
    )
]


def results(**changes):
    named = {"example 3": problems.example3(0.1), "two_channels": problems.example1(0.1)}
    options = {"horizons": (100_000,), "runs": 12, "points": 40}
    comparison = synthetic_results.results(named, NAMES, **(options | changes))
    curves = dict(comparison.finished)
    for place, c in comparison.finished.items():  # one learner loses nothing
        if place[1] == "optimal":
            curves[place] = replace(c, gap_regret=np.zeros_like(c.gap_regret))
    return replace(comparison, finished=curves)


@pytest.fixture(scope="module")
def bands():
    return Bands(results())


def drawn(bands, look, regret="gap"):
    """The figure itself, laid out."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    kept = []

    def keep(figure, suffix):
        FigureCanvasAgg(figure).draw()
        kept.append((figure, _texts(figure)))
        return b""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("restive.report.drawing.picture._saved", keep)
        figures.regret_figure(bands, "example 3", 100_000, (".svg",), regret, look)
    assert matplotlib.rcParams["font.size"] == 10.0  # the user's settings are as before
    return kept[0]


def _texts(figure):
    """Words and their boxes, in pixels, of everything that is written."""
    from matplotlib.text import Text

    return [
        (text.get_text(), text.get_window_extent())
        for text in figure.findobj(Text)
        if text.get_text() and text.get_visible()
    ]


def on_axis(axis):
    low, high = sorted(axis.get_view_interval())
    ticks = [t for t in axis.get_major_ticks() if low <= t.get_loc() <= high]
    return [t.label1.get_window_extent() for t in ticks if t.label1.get_text()]


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_no_word_is_cut_and_no_two_touch(bands, look):
    figure, texts = drawn(bands, look)
    width, height = figure.canvas.get_width_height()
    every = [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
    ticks = [box for axis in every for box in on_axis(axis)]
    written = [printable(name, figures.LONGEST[look.labels]) for name in NAMES]
    names = [box for words, box in texts if words in written]
    assert len(names) == len(NAMES) * (2 if look.stacked and look.labels == "direct" else 1)
    titles = ("step", "example 3", "gap regret, mean of 12 runs", "gap regret")
    titled = [box for words, box in texts if words in titles]
    assert len(titled) >= 3
    for box in (*ticks, *names, *titled):
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= -1
    for axis in every:
        boxes = on_axis(axis)
        assert len(boxes) >= 2
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))
    assert not any(a.overlaps(b) for a, b in combinations(names, 2))
    panels = [axes.get_window_extent() for axes in figure.axes]
    assert min(p.width for p in panels) > 0.28 * width
    if look.labels == "direct":
        assert not any(n.overlaps(p) for n in names for p in panels)


@pytest.mark.parametrize("regret", ["gap", "plain", "weak"])
def test_curves_at_or_below_zero_are_whole(bands, regret):
    figure, _ = drawn(bands, Look(panels=1), regret)
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    curves = [line.get_ydata() for line in axes.lines if len(line.get_ydata()) > 10]
    assert len(curves) == len(NAMES)
    for curve in curves:
        assert np.isfinite(curve).all()
        assert low <= min(curve) <= max(curve) <= high
    assert axes.get_yscale() == ("log" if regret == "plain" else "symlog")


def test_one_panel_or_two_one_column_or_two(bands):
    sizes = {}
    for look in (Look(), Look(panels=1), Look("one"), Look("one", 1)):
        figure, _ = drawn(bands, look)
        sizes[look.width, look.panels] = (len(figure.axes), figure.get_size_inches()[0])
    assert sizes == {("two", 2): (2, 7.0), ("two", 1): (1, 7.0), ("one", 2): (2, 3.4),
                     ("one", 1): (1, 3.4)}  # fmt: skip


@pytest.mark.parametrize(("style", "font"), [("serif", b"STIXGeneral"), ("tex", b"Cmr10")])
def test_styles_bring_their_letters_without_tex(style, font, tmp_path):
    target = tmp_path / "regret.pdf"
    regret_picture(results(), target, style=style)
    fonts = re.findall(rb"/BaseFont /(?:[A-Z]{6}\+)?([\w-]+)", target.read_bytes())
    assert any(name.lower().startswith(font.lower()) for name in fonts)


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png", "pgf"])
def test_the_same_results_give_the_same_file(suffix, tmp_path):
    for name in ("a", "b"):
        regret_picture(results(), tmp_path / f"{name}.{suffix}", panels=1, width="one")
    first, second = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("a", "b"))
    assert first == second
    assert len(first) > 5000


def test_pgf_has_names_that_tex_can_read(tmp_path):
    regret_picture(results(), tmp_path / "regret.pgf", width="two")
    text = (tmp_path / "regret.pgf").read_text()
    assert r"a\_b \& 50\% \$x\textasciicircum{}2\$" in text
    assert text.count(r"\begin{pgfpicture}") == text.count(r"\end{pgfpicture}") == 1
    assert "100,000" in text
    assert "−" not in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_figure_table_and_references_go_into_a_document(tmp_path):
    comparison = results()
    regret_picture(comparison, tmp_path / "regret.pgf", width="one")
    regret_picture(comparison, tmp_path / "regret.pdf", width="one", style="tex")
    regret_table(comparison, tmp_path / "table.tex")
    regret_table(comparison, tmp_path / "narrow.tex", width="one")
    (tmp_path / "restive.bib").write_text(bibtex())
    (tmp_path / "main.tex").write_text(
        r"\documentclass[twocolumn]{article}\usepackage{booktabs,graphicx,pgf}\begin{document}"
        r"\nocite{*}\begin{figure}\input{regret.pgf}\caption{A}\end{figure}"
        r"\begin{figure}\includegraphics{regret.pdf}\caption{B}\end{figure}"
        r"\begin{table*}\input{table.tex}\end{table*}\begin{table}\input{narrow.tex}\end{table}"
        r"x\bibliographystyle{plain}"
        r"\bibliography{restive}\end{document}"
    )
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    for command in (latex, ["bibtex", "main"], latex, latex):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout[-1500:]
        assert b"Warning--" not in done.stdout
    assert (tmp_path / "main.pdf").read_bytes().startswith(b"%PDF")


# --- the table


def test_the_table_has_the_numbers_of_the_page(tmp_path):
    comparison = results()
    regret_table(comparison, tmp_path / "table.tex")
    text = (tmp_path / "table.tex").read_text()
    lines = text.splitlines()
    assert r"\begin{tabular}{lrr}" in lines
    assert r"learner & example 3 & two\_channels \\" in lines
    mean = comparison.curves("example 3", "ucb1", 100_000).gap_regret[:, -1].mean()
    row = next(line for line in lines if line.startswith("ucb1"))
    assert row.split(" & ")[1].rstrip("\\ ").startswith(f"{mean:,.0f}")
    assert r"a\_b \& 50\% \$x\textasciicircum{}2\$" in text
    assert text.count(r"\textbf") == 2  # the winner on each problem
    assert text.count("&") - text.count(r"\&") == 2 * (1 + 2 * len(NAMES))
    for command in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"):
        assert text.count(command) == 1


def test_problems_that_do_not_fit_a_column_stand_below(tmp_path):
    comparison = results()
    regret_table(comparison, tmp_path / "narrow.tex", width="one")
    regret_table(comparison, tmp_path / "wide.tex")
    narrow, wide = ((tmp_path / f"{k}.tex").read_text().splitlines() for k in ("narrow", "wide"))
    assert r"\begin{tabular}{lr}" in narrow
    assert [line for line in narrow if line.startswith("learner")] == [
        r"learner & example 3 \\",
        r"learner & two\_channels \\",
    ]
    cells = [re.split(r"(?<!\\)&", line.removesuffix(r"\\")) for line in wide if " & " in line]
    alone = [line.removesuffix(r"\\").split(" & ")[-1] for line in narrow if " & " in line]
    assert [text.strip() for text in alone] == [
        text.strip() for k in (1, 2) for text in (row[k] for row in cells)
    ]  # the same numbers in the same order


def test_letters_are_no_wider_than_the_table_takes_them_to_be():
    pytest.importorskip("matplotlib")
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    from restive.report.comparison.table import _points

    font, ruler = FontProperties(family="cmr10", size=10), TextToPath()
    for letter in map(chr, range(32, 127)):
        if letter not in "<>\\^_{}~":  # which the font lacks
            width = ruler.get_text_width_height_descent(10 * letter, font, ismath=False)[0]
            assert width <= 10 * _points(letter) <= 2.2 * width, letter


def test_tables_and_looks_that_cannot_be_are_refused(tmp_path):
    comparison = results()
    with pytest.raises(ProblemError, match=r"ends in \.tex"):
        regret_table(comparison, tmp_path / "table.csv")
    with pytest.raises(ProblemError, match="not in these results"):
        regret_table(comparison, tmp_path / "table.tex", horizon=7)
    with pytest.raises(ProblemError, match="Did you mean serif"):
        regret_picture(comparison, tmp_path / "a.pdf", style="serifs")
    with pytest.raises(ProblemError, match="one, two"):
        regret_picture(comparison, tmp_path / "a.pdf", width="3")
    with pytest.raises(ProblemError, match="Did you mean labels"):
        regret_picture(comparison, tmp_path / "a.pdf", label="direct")
    with pytest.raises(ProblemError, match="gap, plain, weak"):
        regret_picture(comparison, tmp_path / "a.pdf", regret="total")
    assert list(tmp_path.iterdir()) == []


# --- words for TeX


def test_tex_takes_nothing_for_a_command():
    assert tex(r"\input{x}") == r"\textbackslash{}input\{x\}"
    assert tex("Nicolò Cesa-Bianchi, Szepesvári") == r"Nicol{\`o} Cesa-Bianchi, Szepesv{\'a}ri"
    assert tex("naïve ñ ö ř") == r"na{\"\i}ve {\~n} {\"o} {\v r}"
    every = tex("".join(map(chr, range(32, 0x250))))
    assert every.isascii()
    plain = re.sub(r"\\[{}$&#%_]", "", every)
    assert plain.count("{") == plain.count("}")
    assert not re.search(r"[$&#%_]", plain)


# --- what to cite


def test_every_citation_of_a_learner_has_its_entry():
    for name, entry in LEARNERS.items():
        for cite in entry.cites:
            reference = cited(cite)
            assert reference is not None, (name, cite)
            assert str(reference) in citation(cite)
            assert reference.bibtex() in bibtex([name])
    used = {cited(cite).key for entry in LEARNERS.values() for cite in entry.cites}
    assert used == set(REFERENCES)


def test_entries_are_well_formed_and_come_once():
    text = bibtex()
    keys = re.findall(r"^@\w+\{([\w-]+),$", text, re.M)
    assert len(keys) == len(set(keys)) == text.count("@")
    assert {"restive", "restive-suite-v1", "ortner2012", "whittle1988"} <= set(keys)
    for entry in text.split("\n\n"):
        assert entry.count("{") - entry.count(r"\{") == entry.count("}") - entry.count(r"\}")
        assert re.search(r"^  author = \{.+\},$", entry, re.M)
        assert re.search(r"^  title = \{\{.+\}\},$", entry, re.M)
    assert "Cesa-Bianchi, Nicol{\\`o}" in text
    assert "Lui, John C. S." in text


def test_the_command_prints_what_was_asked_for():
    done = CliRunner().invoke(app, ["cite", "ucb1", "whittle"])
    heads = ["@article{auer2002-finite,", "@article{whittle1988,"]
    assert re.findall("^@.*", done.stdout, re.M) == heads
    assert CliRunner().invoke(app, ["cite"]).stdout == bibtex()
    own = CliRunner().invoke(app, ["cite", "tied-sampling"]).stdout
    assert own.startswith("@misc{restive,")
    wrong = CliRunner().invoke(app, ["cite", "whitle"])
    assert wrong.exit_code == 2
    assert "Did you mean whittle?" in wrong.stderr
