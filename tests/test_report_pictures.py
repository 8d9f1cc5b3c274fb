"""Pictures inside the page: they show what the chain, the plan and the curves say."""

from __future__ import annotations

import re
from itertools import combinations, product
from xml.etree import ElementTree

import numpy as np
import pytest

from restive import Arm, Bandit, plan, problems
from restive.report.drawing import palette
from restive.report.drawing.chain import chain_picture
from restive.report.policy.maps import resolution
from restive.report.policy.svg import MAP, ROW, STRIP, policy_picture
from synthetic_results import hostile_bandit

# Machado, Oliveira and Fernandes (2009): what protanopes, deuteranopes and tritanopes see.
VISIONS = [
    [1, 0, 0, 0, 1, 0, 0, 0, 1],
    [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
    [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881],
    [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900],
]


def elements(picture, tag, kind=""):
    """Elements of a picture with this tag and class."""
    root = ElementTree.fromstring(str(picture))
    return [node for node in root.iter(tag) if kind in node.get("class", "").split() or not kind]


def words(picture, kind=""):
    return [node.text for node in elements(picture, "text", kind)]


# --- chains

SMALL_ARMS = {
    "two": problems.example1(0.1).arms[0],
    "three": problems.random_problem(1, 3, rng=4).arms[0],
    "cycle": problems.lower_bound(2, 5).arms[0],
    "one": Arm([[1.0]], [0.25]),
}


@pytest.mark.parametrize("arm", SMALL_ARMS.values(), ids=SMALL_ARMS)
def test_a_small_chain_has_a_circle_for_each_state_and_an_arrow_for_each_move(arm):
    picture = chain_picture(arm)
    assert len(elements(picture, "circle", "node")) == arm.n_states
    assert words(picture, "name") == list(arm.states)
    moves = arm.transitions[arm.transitions > 0]
    assert len(elements(picture, "path", "arrow")) == len(moves)
    assert sorted(words(picture, "chance")) == sorted(f"{chance:.3g}" for chance in moves)
    rewards = [float(pay.split()[1]) for pay in words(picture, "pay")]
    assert rewards == pytest.approx(arm.rewards, abs=5e-4)


@pytest.mark.parametrize("arm", SMALL_ARMS.values(), ids=SMALL_ARMS)
def test_arrows_end_at_the_states_they_lead_to(arm):
    picture = chain_picture(arm)
    nodes = [(float(n.get("cx")), float(n.get("cy"))) for n in elements(picture, "circle", "node")]
    ends = []
    for arrow in elements(picture, "path", "arrow"):
        numbers = [float(x) for x in re.findall(r"-?[\d.]+", arrow.get("d"))]
        places = np.array(numbers).reshape(-1, 2)[[0, -1]]
        ends.append(tuple(int(np.argmin(np.hypot(*(np.array(nodes) - p).T))) for p in places))
    assert sorted(ends) == sorted(map(tuple, np.argwhere(arm.transitions > 0).tolist()))


def test_larger_and_denser_chains_become_a_matrix():
    dense = problems.random_problem(1, 4, rng=1).arms[0]
    picture = chain_picture(dense)
    assert not elements(picture, "circle")
    assert len(words(picture, "halo")) == 16  # small enough for numbers in the cells
    large = problems.random_problem(1, 30, rng=1).arms[0]
    cells = "".join(path.get("d") for path in elements(chain_picture(large), "path", "cell"))
    assert cells.count("M") == (large.transitions > 0).sum()
    assert len(elements(chain_picture(large), "rect", "bar")) == 30
    assert chain_picture(problems.random_problem(1, 61, rng=1).arms[0]) is None


def test_darker_cells_are_likelier():
    arm = problems.random_problem(1, 8, rng=3).arms[0]
    shade = np.zeros((8, 8))
    for path in elements(chain_picture(arm), "path", "cell"):
        level = float(path.get("style").split(":")[1])
        for x, y in re.findall(r"M([\d.]+) ([\d.]+)", path.get("d")):
            shade[round(float(y) / 24), round(float(x) / 24)] = level
    order = np.argsort(arm.transitions.ravel())
    assert (np.diff(shade.ravel()[order]) >= 0).all()


def test_names_cannot_leave_their_place():
    for arm in hostile_bandit().arms:
        picture = str(chain_picture(arm))
        ElementTree.fromstring(picture)
        assert "<img" not in picture
    pictures, _ = policy_picture(plan(hostile_bandit(), 1e-3))
    for picture in pictures:
        ElementTree.fromstring(str(picture))
        assert "<script" not in str(picture)


# --- policies


def expected(solution, states, ages):
    """The pull that a picture must show there, by the plan alone."""
    gaps = np.sort(solution.gap(states, ages))
    return "either" if gaps[1] <= resolution(solution) else f"pull{solution.action(states, ages)}"


@pytest.mark.parametrize("bandit", [problems.example3(0.1), problems.example1(0.2)])
def test_strips_show_the_best_pull_at_every_age(bandit):
    solution = plan(bandit, 1e-6)
    pictures, note = policy_picture(solution)
    assert len(pictures) == 2
    assert "first" in note
    states = {"busy": 0, "free": 1}
    for last, picture in enumerate(pictures):
        rects = elements(picture, "rect")
        top = max(float(r.get("x")) + float(r.get("width")) for r in rects)
        assert top == pytest.approx(STRIP, abs=0.2)
        rows = words(picture, "name")
        for row, named in enumerate(rows):
            seen = [states[word] for word in named.split(", ")] + [0]
            for age in (2, 3, 5, 6, 9):
                x = (age - 2 + 0.5) / 9 * STRIP  # ages 2 to 10, evenly spread
                shown = next(
                    r.get("class").split()[-1]
                    for r in rects
                    if float(r.get("y")) // ROW == row
                    and float(r.get("x")) <= x < float(r.get("x")) + float(r.get("width"))
                )
                ages = [age, age]
                ages[last] = 1
                assert shown == expected(solution, seen[:2], ages)


def test_maps_show_the_best_pull_for_every_pair_of_ages():
    solution = plan(problems.random_problem(3, [2, 3, 2], rng=35), 1e-4)
    pictures, note = policy_picture(solution)
    assert 1 <= len(pictures) <= 4
    assert "% of it" in note
    for picture in pictures:
        head = words(picture, "head")[0]
        sights = [head[4:].rsplit(":", 1)[0]]
        axes = [word[7:] for word in words(picture, "pay") if word.startswith("age of ")]
        last_seen = dict(re.match(r"arm (\d) \((\d|any)\)", s).groups() for s in [*sights, *axes])
        states = [int(last_seen[str(j + 1)].replace("any", "1")) for j in range(3)]
        last = int(sights[0][4]) - 1
        a, b = (j for j in range(3) if j != last)
        for x, y in product(range(2, 11), repeat=2):
            ages = [1, 1, 1]
            ages[a], ages[b] = x, y
            never = x == y < 10  # two arms are not seen at once; 10 stands for longer ages too
            assert _at(picture, x, y) == (None if never else expected(solution, states, ages))


def _at(picture, x, y):
    """Class of the region around a pair of ages, where ages go from 2 to 10."""
    px, py = (x - 1.5) / 9 * MAP, MAP - (y - 1.5) / 9 * MAP
    for path in elements(picture, "path"):
        for step in path.get("d").split("z")[:-1]:
            left, top, right, low, _ = (float(v) for v in re.findall(r"[\d.]+", step))
            if left <= px < right and top <= py < low:
                return path.get("class").split()[-1]
    return None


def test_four_arms_get_shares_that_add_up():
    rates = [0.4, 0.41, 0.42, 0.43]
    pictures, _ = policy_picture(plan(problems.gilbert_elliott(4, rates, 0.4), 1e-4))
    (picture,) = pictures
    rows = {}
    for node in elements(picture, "text", "in"):
        rows.setdefault(node.get("y"), []).append(int(node.text.rstrip("%")))
    assert len(rows) == 6  # one arm is never pulled
    assert all(abs(sum(shares) - 100) <= 2 for shares in rows.values())


# --- colours


def linear(color):
    levels = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)


def contrast(ink, paper):
    light = sorted(linear(color) @ [0.2126, 0.7152, 0.0722] for color in (ink, paper))
    return (light[1] + 0.05) / (light[0] + 0.05)


def lab(rgb):
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize(
    ("colors", "page"), [(palette.LIGHT, "#ffffff"), (palette.DARK, "#14171c")]
)
def test_learners_are_told_apart_by_any_colour_vision(colors, page):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert min(contrast(color, page) for color in colors) >= 3
    for vision in VISIONS:
        seen = [lab(np.reshape(vision, (3, 3)) @ linear(color)) for color in colors]
        assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 15


def test_no_two_of_35_learners_look_alike():
    looks = {(palette.color_index(k), palette.dash(k)) for k in range(35)}
    assert len(looks) == 35
    assert len(palette.LIGHT) == len(palette.DARK)


def test_one_arm_and_single_states_are_drawn():
    for bandit in (problems.random_problem(1, 3), Bandit([Arm([[1.0]], [0.4])] * 2)):
        pictures, _ = policy_picture(plan(bandit, 1e-3))
        for picture in pictures:
            ElementTree.fromstring(str(picture))
