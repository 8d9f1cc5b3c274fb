"""The picture of one run: luck is not taken for regret, and nothing is empty, cut or doubled."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from typer.testing import CliRunner

from restive import Arm, Bandit, make_learner, plan, problems
from restive.cli import app
from restive.report.learning import learning_figure, luck
from restive.simulation import BanditWorld, play

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def channels():
    bandit = problems.example1(0.1)
    return bandit, plan(bandit, 1e-6)


def run_of(channels, seed=0, steps=20_000, learner="optimal"):
    bandit, best = channels
    return play(make_learner(learner, bandit, steps), BanditWorld(bandit, seed), steps, plan=best)


def drawn(run, **options):
    """The figure itself, laid out, with its words and their boxes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    kept = []

    def keep(figure, suffix):
        FigureCanvasAgg(figure).draw()
        words = [t for t in figure.findobj(Text) if t.get_text() and t.get_visible()]
        kept.append((figure, [(t.get_text(), t.get_window_extent()) for t in words]))
        return b"x"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("restive.report.drawing.picture._saved", keep)
        patch.setattr("restive.report.drawing.picture.write_bytes", lambda path, content: None)
        learning_figure(run, "run.svg", **options)
    return kept[0]


def test_luck_is_that_of_fair_coins():
    """One arm that pays 1 or 0 by a fair coin: after t steps luck has the deviation sqrt(t) / 2."""
    coin = Bandit([Arm([[0.5, 0.5], [0.5, 0.5]], [0, 1])])
    best = plan(coin, 1e-6)
    rates = []
    for seed in range(20):
        run = play(
            make_learner("round-robin", coin, 4000), BanditWorld(coin, seed), 4000, plan=best
        )
        rates.append(float(luck(run)[-1] / np.sqrt(4000)))
    assert np.mean(rates) == pytest.approx(1.96 * 0.5, rel=0.05)
    assert np.std(rates) < 0.2


def test_the_best_policy_stays_inside_its_luck(channels):
    """38 of 40 runs are expected inside; fewer than 31 have a probability below 1e-4."""
    runs = [run_of(channels, seed, 5000) for seed in range(40)]
    assert sum(abs(run.regret[-1]) <= luck(run)[-1] for run in runs) >= 31
    lost = run_of(channels, learner="best-arm")  # what loses indeed is far outside
    assert lost.regret[-1] > 5 * luck(lost)[-1]


def test_the_band_is_drawn_around_zero(channels):
    run = run_of(channels)
    figure, texts = drawn(run, title="optimal")
    assert len(figure.axes) == 2
    for axes in figure.axes:
        (band,) = axes.collections
        heights = band.get_paths()[0].vertices[:, 1]
        assert heights.max() == pytest.approx(luck(run)[-1])
        assert heights.min() == pytest.approx(-luck(run)[-1])
    assert any("Grey: as far as luck" in words.replace("\n", " ") for words, _ in texts)


def test_an_unknown_regret_leaves_no_empty_axes():
    bandit = problems.gilbert_elliott(3)
    run = play(make_learner("ucb1", bandit, 500), BanditWorld(bandit, 1), 500)
    assert luck(run) is None
    figure, texts = drawn(run)
    (axes,) = figure.axes
    assert len(axes.lines) == 2  # zero and weak regret
    said = " ".join(words for words, _ in texts).replace("\n", " ")
    assert "Not known are regret and gap regret: no plan was given" in said
    assert "Grey" not in said


@pytest.mark.parametrize("steps", [1, 20_000])
@pytest.mark.parametrize("learner", ["optimal", "best-arm", "round-robin"])
def test_no_word_is_cut_or_written_over(channels, learner, steps):
    run = run_of(channels, steps=steps, learner=learner)
    figure, texts = drawn(run, title="Example 1, epsilon = 0.1: a learner")
    width, height = figure.canvas.get_width_height()
    names = ("regret", "gap regret", "weak regret")
    shown = [box for words, box in texts if words in names]
    assert len(shown) == 6
    for box in (*shown, *(box for words, box in texts if len(words) > 30)):
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= -1
    assert not any(a.overlaps(b) for a, b in combinations(shown, 2))


@pytest.mark.parametrize(
    "command", [["learn", "example-1", "--horizon", "500"], ["plan", "example-1"]]
)
def test_commands_draw_pdf_svg_and_png(command, tmp_path):
    heads = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}
    for suffix, head in heads.items():
        target = tmp_path / f"a.{suffix}"
        done = CliRunner().invoke(app, [*command, "--figure", str(target)])
        assert done.exit_code == 0, done.stderr
        assert target.read_bytes().startswith(head)
    wrong = CliRunner().invoke(app, [*command, "--figure", str(tmp_path / "a.bmp")])
    assert wrong.exit_code == 2
    assert ".pdf, .svg or .png" in wrong.stderr


def test_a_ceiling_shows_how_large_an_unknown_regret_is_at_most():
    bandit = problems.gilbert_elliott(3)
    run = play(make_learner("ucb1", bandit, 500), BanditWorld(bandit, 1), 500)
    figure, texts = drawn(run, ceiling=0.9)
    (axes,) = figure.axes
    _, at_most, _ = axes.lines
    np.testing.assert_allclose(at_most.get_ydata(), 0.9 * run.times - run.rewards)
    said = " ".join(words for words, _ in texts).replace("\n", " ")
    assert "regret, at most" in said
    assert "play(" not in said  # what Python could do is no help on the command line
