"""The picture of a policy: its arrays against the plan, one by one, and its files."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from restive import problems
from restive.base.errors import RestiveError
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.report import policy_figure
from restive.report.drawing.picture import printable
from restive.report.policy import figure as policy_page
from restive.report.policy.colors import arm_label, keyed_top, shades
from restive.report.policy.maps import EITHER, _columns, age_maps, returns, runs, strips
from restive.report.policy.visits import Visits, simulated_play

PNG = b"\x89PNG\r\n\x1a\n"


def short_play(solution, **options):
    return simulated_play(solution, **{"steps": 200, "paths": 16, "warm_up": 100, **options})


def expected_pull(solution, states, ages):
    """Arm and gap of the second-best pull, from one state at a time; EITHER without difference."""
    gaps = sorted(solution.gap(states, ages).tolist())
    if gaps[1] <= max(solution.gain_upper - solution.gain_lower, 1e-12):
        return EITHER, gaps[1]
    return solution.action(states, ages), gaps[1]


def oddly_named(count):
    names = ["$x_1$ & <tag> -- a name of some length", "\x07bell\n\tnew", "日本", "same", "same"]
    rows = [[0.6, 0.4], [0.3, 0.7]]
    arms = [
        Arm(rows, [0.1 * j, 0.9 - 0.1 * j], name=names[j], states=["a long state", "$b^{"])
        for j in range(count)
    ]
    return Bandit(arms, name="odd $names <&> \x00")


# --- strips: two arms


@pytest.mark.parametrize(
    "bandit",
    [
        problems.random_problem(2, [3, 2], rng=4),
        problems.random_problem(2, [4, 2], rng=3, period=2),
        problems.example2(0.9),
        problems.lower_bound(2, 3),
    ],
    ids=lambda bandit: bandit.name,
)
def test_strips_say_what_the_plan_says(bandit):
    solution = plan(bandit, 1e-5)
    panels = strips(solution, Visits.of_play(short_play(solution)))
    assert [panel.last for panel in panels] == [0, 1]
    for panel in panels:
        assert panel.rested == 1 - panel.last
        assert len(panel.pairs) == np.prod(bandit.n_states)
        for r, pair in enumerate(panel.pairs.tolist()):
            for n, age in enumerate(panel.ages.tolist()):
                ages = [age, age]
                ages[panel.last] = 1
                action, gap = expected_pull(solution, pair, ages)
                assert panel.actions[r, n] == action
                assert panel.gaps[r, n] == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("period", [1, 2])
def test_beyond_the_last_age_nothing_new_happens(period):
    solution = plan(problems.random_problem(2, 4, rng=3, period=period), 1e-5)
    for panel in strips(solution, Visits.of_play(short_play(solution))):
        assert panel.period == period
        end = int(panel.ages[-1])
        for r, pair in enumerate(panel.pairs.tolist()):
            for age in range(end + 1, end + 60):
                ages = [age, age]
                ages[panel.last] = 1
                back = (age - end) % period
                column = -1 if back == 0 else back - 1 - period
                action, gap = expected_pull(solution, pair, ages)
                assert panel.actions[r, column] == action
                assert period == 1 or panel.gaps[r, column] == pytest.approx(gap, abs=1e-12)


def test_example_1_stays_on_free_and_leaves_busy():
    solution = plan(problems.example1(0.1))
    for panel in strips(solution, Visits.of_play(short_play(solution))):
        for pair, row in zip(panel.pairs.tolist(), panel.actions, strict=True):
            stay = pair[panel.last] == 1
            assert (row == (panel.last if stay else panel.rested)).all()


@pytest.mark.parametrize("epsilon", [0.2, 0.1, 0.05, 0.002, 0.0004, 0.0003])
def test_example_3_tries_the_channel_again_at_the_known_age(epsilon):
    m = np.arange(1, 400)
    w = (1 - (1 - 2 * epsilon) ** m) / 2
    best = int(m[np.argmax(((m - 1) / 2 + w / epsilon) / (m + w / epsilon))])
    assert epsilon != 0.1 or best == 5
    solution = plan(problems.example3(epsilon))
    panel = strips(solution, Visits.of_play(short_play(solution)))[1]
    busy = panel.pairs[:, 0].tolist().index(0)
    switches = [
        (arm, int(panel.ages[first])) for arm, first, _ in runs(panel.actions[busy], panel.ages)
    ]
    assert switches == [(1, 2), (0, best)]


def test_long_strips_are_thinned_but_end_where_nothing_changes():
    solution = plan(problems.example3(0.0005))
    panel = strips(solution, Visits.of_play(short_play(solution)))[1]
    assert panel.ages[-1] > 60
    assert len(panel.ages) < 80
    assert (np.diff(panel.ages) > 0).all()


def test_only_the_most_frequent_pairs_are_kept():
    solution = plan(problems.random_problem(2, 4, rng=1, stickiness=0.5), 1e-4)
    seen = Visits.of_play(short_play(solution))
    panels = strips(solution, seen), strips(solution, seen, max_rows=3)
    for full, few in zip(*panels, strict=True):
        assert len(few.pairs) == 3
        assert sorted(few.share) == sorted(full.share)[-3:]
        assert few.visits.sum(axis=1) == pytest.approx(few.share)
    assert sum(panel.share.sum() for panel in panels[0]) == pytest.approx(1)


def test_ages_beyond_the_end_are_counted_where_they_are_alike():
    shown = np.array([2, 3, 4, 5, 7])
    assert _columns(np.array([2, 4, 6, 7, 900]), shown, 1).tolist() == [0, 2, 3, 4, 4]
    assert _columns(np.array([5, 6, 7, 8, 13]), np.arange(2, 8), 3).tolist() == [3, 4, 5, 3, 5]


def test_runs():
    row = np.array([1, 1, EITHER, 0, 0, 1])
    assert runs(row, np.arange(6)) == [(1, 0, 2), (EITHER, 2, 3), (0, 3, 5), (1, 5, 6)]


# --- maps: three arms


@pytest.mark.parametrize(
    "bandit",
    [
        problems.random_problem(3, [2, 3, 2], rng=2),
        problems.example4(),
        problems.gilbert_elliott(3, [0.02, 0.1, 0.3], [0.05, 0.1, 0.1], [1, 0.9, 0.8]),
    ],
    ids=lambda bandit: bandit.name,
)
def test_maps_say_what_the_plan_says(bandit):
    solution = plan(bandit, 1e-4)
    seen = short_play(solution)
    maps = age_maps(solution, Visits.of_play(seen), max_maps=4)
    assert 1 <= len(maps) <= 4
    rng = np.random.default_rng(5)
    for part in maps:
        a, b = part.others
        assert sorted((part.last, a, b)) == [0, 1, 2]
        for i, k in rng.integers([len(part.ages[0]), len(part.ages[1])], size=(60, 2)):
            ages = [1, 1, 1]
            ages[a], ages[b] = int(part.ages[0][i]), int(part.ages[1][k])
            action, gap = expected_pull(solution, part.states, ages)
            assert part.actions[i, k] == action
            assert np.isnan(part.gaps[i, k]) or part.gaps[i, k] == pytest.approx(gap, abs=1e-12)
        for i, k in np.argwhere(np.isnan(part.gaps)):
            assert part.ages[0][i] == part.ages[1][k]


def test_maps_show_where_play_goes():
    solution = plan(problems.random_problem(3, 2, rng=2), 1e-4)
    seen = short_play(solution)
    maps = age_maps(solution, Visits.of_play(seen), max_maps=100)
    states, ages = seen.last_states.reshape(-1, 3), seen.ages.reshape(-1, 3)
    shares = [part.share for part in maps]
    assert shares == sorted(shares, reverse=True)
    for part in maps:
        meant = [np.isin(states[:, arm], part.also[arm]) for arm in range(3)]
        here = (ages[:, part.last] == 1) & np.all(meant, axis=0)
        assert part.share == pytest.approx(here.mean())
        assert part.visits.sum() == pytest.approx(part.share)
        # A place that stands for one pair of ages holds exactly that part of the time.
        a, b = part.others
        x, y = int(part.ages[0][0]), int(part.ages[1][1])
        assert (x, y) == (2, 3)
        exact = here & (ages[:, a] == x) & (ages[:, b] == y)
        assert part.visits[0, 1] == pytest.approx(exact.mean())


# --- play and what follows


def test_play_keeps_the_books():
    solution = plan(problems.random_problem(3, [2, 1, 3], rng=0), 1e-4)
    seen = short_play(solution, warm_up=0)
    steps, paths, count = seen.ages.shape
    for path in range(0, paths, 5):
        last, ages = seen.last_states[0, path].tolist(), seen.ages[0, path].tolist()
        assert ages == [3, 2, 1]
        for t in range(steps):
            assert seen.last_states[t, path].tolist() == last
            assert seen.ages[t, path].tolist() == ages
            pull = seen.pulls[t, path]
            assert pull == solution.action(last, ages)
            last[pull] = int(seen.hidden[t, path, pull])
            ages = [1 if arm == pull else age + 1 for arm, age in enumerate(ages)]
    assert count == 3


@pytest.mark.parametrize(
    "bandit", [problems.example1(0.1), problems.random_problem(2, 3, rng=7), problems.example4()]
)
def test_play_earns_the_gain(bandit):
    solution = plan(bandit, 1e-5)
    seen = simulated_play(solution)
    means = np.zeros((bandit.n_arms, max(bandit.n_states)))
    for j, arm in enumerate(bandit.arms):
        means[j, : arm.n_states] = arm.rewards
    states = np.take_along_axis(seen.hidden, seen.pulls[..., None], axis=-1)[..., 0]
    per_path = means[seen.pulls, states].mean(axis=0)
    error = per_path.std(ddof=1) / np.sqrt(len(per_path))
    assert per_path.mean() == pytest.approx(solution.gain, abs=5 * error + 1e-3)


def test_returns_of_example_3():
    solution = plan(problems.example3(0.1))
    after = returns(solution.bandit, Visits.of_play(simulated_play(solution)))
    rows = {pair: r for r, pair in enumerate(zip(after.arms, after.states, strict=True))}
    assert after.following[rows[0, 1]].tolist() == [1, 0]  # free: stay
    assert after.following[rows[0, 0]].tolist() == [0, 1]  # busy: leave
    assert after.ages[rows[0, 1]].tolist() == [1, 1, 1]
    assert after.ages[rows[0, 0]].tolist() == [5, 5, 5]
    # Each leave takes four tosses of the coin, of which the last is followed by the channel.
    assert after.following[rows[1, 0]] == pytest.approx([0.25, 0.75], abs=0.01)
    assert after.share.sum() == pytest.approx(1)
    assert after.share.tolist() == sorted(after.share, reverse=True)


# --- colours and words


def test_shades_deepen_with_the_gap_and_vanish_without_one():
    actions = np.array([0, 0, 1, EITHER, 0])
    painted = shades(actions, np.array([0.0, 0.5, 0.5, 0.0, np.nan]), 0.5)
    assert painted[1, :3] == pytest.approx([0, 0x72 / 255, 0xB2 / 255])
    assert painted[0, :3].sum() > painted[1, :3].sum()
    assert painted[2, 0] > painted[2, 2]  # orange
    assert painted[3].tolist() == [1, 1, 1, 1]
    assert painted[:, 3].tolist() == [1, 1, 1, 1, 0]


def test_the_deepest_shade_is_a_round_number():
    assert keyed_top(np.array([0.1, 0.431]), np.array([np.nan])) == pytest.approx(0.44)
    assert keyed_top(np.zeros(3)) == 1


def test_names_fit():
    assert printable("a\n\tb\x00") == "a b"
    assert printable("\x07") == "?"
    assert printable("x" * 40) == "x" * 15 + "…"
    twins = oddly_named(5)
    assert [arm_label(twins, arm) for arm in (3, 4)] == ["same (4)", "same (5)"]


# --- files

PICTURED = {
    "two arms": problems.example3(0.1),
    "long": problems.example3(0.001),
    "periodic": problems.lower_bound(2, 4),
    "three arms": problems.random_problem(3, 3, rng=1),
    "three cycles": problems.example4(),
    "four arms": problems.gilbert_elliott(4, 0.4, 0.4),
    "ten arms": problems.random_problem(10, [1, 2, 1, 1, 2, 1, 1, 1, 1, 1], rng=5),
    "many states": problems.random_problem(2, [20, 12], rng=1),
    "one arm": problems.random_problem(1, 3),
    "coins": Bandit([Arm([[1.0]], [mean]) for mean in (0.4, 0.4)]),
    "odd names, two": oddly_named(2),
    "odd names, three": oddly_named(3),
    "odd names, five": oddly_named(5),
}


@pytest.mark.parametrize("name", PICTURED)
def test_every_kind_of_problem_gets_a_whole_picture(name, tmp_path):
    pytest.importorskip("matplotlib")
    solution = plan(PICTURED[name], 1e-3)
    policy_figure(solution, tmp_path / "policy.svg")
    root = ElementTree.fromstring((tmp_path / "policy.svg").read_bytes())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert [path.name for path in tmp_path.iterdir()] == ["policy.svg"]


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf", ".PNG"])
def test_the_same_plan_gives_the_same_bytes(suffix, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    solution = plan(problems.example3(0.1))
    first, second = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    policy_figure(solution, first)
    with matplotlib.rc_context({"font.size": 20, "svg.hashsalt": "mine", "axes.grid": True}):
        policy_figure(solution, str(second))
        assert matplotlib.rcParams["font.size"] == 20
    assert first.read_bytes() == second.read_bytes()
    head = {".svg": b"<?xml", ".png": PNG, ".pdf": b"%PDF"}[suffix.lower()]
    assert first.read_bytes().startswith(head)
    assert b"Date>" not in first.read_bytes().replace(b"dc:date", b"Date")
    assert b"CreationDate" not in first.read_bytes()


def test_the_picture_says_the_value_and_the_switch(tmp_path):
    pytest.importorskip("matplotlib")
    solution = plan(problems.example3(0.1))
    policy_figure(solution, tmp_path / "policy.svg")
    text = (tmp_path / "policy.svg").read_text(encoding="utf-8")
    assert "<!-- from 5: channel -->" in text
    assert f"earns {solution.gain:.7f} a step" in text
    assert f"({solution.gain_lower:.7f} to {solution.gain_upper:.7f})" in text


def test_titles_say_no_more_than_is_known():
    alternating = Bandit([Arm([[0, 1], [1, 0]], [0, 1])] * 2)  # 1 out of step, 1/2 in step
    title = policy_page._title(plan(alternating))
    assert title.startswith("The best policy earns 0.75")
    assert re.search(r"the mean over its starts, which allow from 0\.50* to 1\.0*$", title)
    rough = policy_page._title(plan(problems.example1(0.1), caps=3))
    assert re.search(r": the best policy earns between 0\.\d+ and 1\.0* a step$", rough)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("policy.gif", ["policy.gif", "unknown kind", ".svg, .png, .pdf or .pgf"]),
        ("policy", ["unknown kind", "ends in"]),
        ("nowhere/policy.svg", ["no such folder", "nowhere"]),
        ("folder.svg", ["this is a folder"]),
    ],
)
def test_bad_targets_are_refused(name, words, tmp_path):
    (tmp_path / "folder.svg").mkdir()
    solution = plan(problems.example1(0.1), 1e-2)
    with pytest.raises(RestiveError) as caught:
        policy_figure(solution, tmp_path / name)
    for word in words:
        assert word in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.svg"]


def test_without_matplotlib_the_remedy_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    solution = plan(problems.example1(0.1), 1e-2)
    with pytest.raises(RestiveError, match=r"pip install 'restive\[plot\]'"):
        policy_figure(solution, tmp_path / "policy.svg")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("full_disk")
def test_a_failure_leaves_the_old_picture_alone(tmp_path):
    pytest.importorskip("matplotlib")
    solution = plan(problems.example1(0.1), 1e-2)
    target = tmp_path / "policy.svg"
    target.write_text("before", encoding="utf-8")
    with pytest.raises(OSError, match="disk full"):
        policy_figure(solution, target)
    assert target.read_text(encoding="utf-8") == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["policy.svg"]


def test_the_report_loads_without_matplotlib():
    code = "import sys, restive.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_rows_of_play_are_those_of_the_bars_and_bright_is_good():
    """In pictures of many arms, as in those of exact plans."""
    from matplotlib.figure import Figure

    from restive import best_plan
    from restive.report.policy.bounded_figure import _draw

    figure = Figure(figsize=(10, 5))
    _draw(best_plan(problems.example1()), figure)
    left, right = figure.axes[:2]
    assert left.get_ylim() == right.get_ylim()
    centres = {round(bar.get_y() + bar.get_height() / 2, 6) for bar in right.patches}
    assert centres == {0.0, 1.0}
    bar = next(axes for axes in figure.axes if axes.get_ylabel() == "reward")
    colors = bar.collections[-1].cmap([0.0, 1.0])[:, :3].sum(axis=1)
    assert colors[0] < colors[1]
