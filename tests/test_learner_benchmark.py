"""The comparison of learners: its problems, its equal search for constants, and its sums."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed with the package

from benchmarks.learners import compare, deep, suite, tuning  # noqa: E402
from benchmarks.learners.deep_q import DeepQ, Network  # noqa: E402
from benchmarks.learners.kinds import KINDS, draw  # noqa: E402
from benchmarks.learners.page import page  # noqa: E402

from restive import Arm, Bandit, BanditWorld  # noqa: E402
from restive.learners import LEARNERS  # noqa: E402

DOCS = suite.TUNING.parent
RECORD = json.loads(suite.TUNING.read_text("utf-8"))


def numbers(bandit):
    return [[*arm.transitions.tolist(), arm.rewards.tolist()] for arm in bandit.arms]


@pytest.mark.parametrize("kind", KINDS)
def test_draws_follow_from_the_seed_alone(kind):
    first = numbers(draw(kind, 1, 0))
    assert first == numbers(draw(kind, 1, 0))
    assert first != numbers(draw(kind, 2, 0))
    assert first != numbers(draw(kind, 1, 1))


def test_kinds_are_what_they_are_called():
    for seed in range(5):
        assert all(arm.transitions[0, 1] + arm.transitions[1, 0] > 1
                   for arm in draw("negative correlation", seed, 0).arms)  # fmt: skip
        assert draw("periodic", seed, 0).arms[0].period in (3, 4)
        rare = draw("rare good state", seed, 0).arms[0]
        assert rare.transitions[0, 1] < 0.013
        steps = draw("birth and death", seed, 0).arms[1]
        assert steps.transitions[0, 2] == 0.0
        assert list(steps.rewards) == sorted(steps.rewards)
        assert len(set(map(id, draw("identical", seed, 0).arms))) == 1
        assert 10 <= draw("many arms", seed, 0).n_arms <= 20
        gains = [arm.gain for arm in draw("five states", seed, 0).arms]
        assert abs(gains[0] - gains[1]) < 0.1


def test_there_are_forty_problems_and_none_was_tuned_on():
    reported, tuned = suite.problems(), tuning.problems()
    assert len(reported) >= 40
    assert suite.seed() != tuning.SEED
    seen = [arm.transitions.tobytes() for bandit in tuned.values() for arm in bandit.arms
            if arm.n_states > 1 and arm.period == 1]  # fmt: skip
    for bandit in reported.values():
        assert not any(arm.transitions.tobytes() in seen for arm in bandit.arms)
    assert {suite.kind_of(name) for name in reported} == set(KINDS)
    assert {*suite.problems("fast"), *suite.problems("large")} == set(reported)


def test_every_learner_has_the_same_search():
    with_constants = {name for name, entry in LEARNERS.items() if entry.practice is not None}
    assert with_constants <= {*tuning.GRIDS, "ucrl2"}  # which takes the width of colored-ucrl2
    for name, grid in tuning.GRIDS.items():
        assert len(grid) == tuning.SETTINGS
        assert len({json.dumps(options) for options in grid}) == tuning.SETTINGS
        for options in grid:
            assert LEARNERS[name].option_faults(options) == []


def test_tuned_forms_have_the_constants_that_the_search_found():
    best = tuning.chosen(RECORD)
    assert set(best) == set(tuning.GRIDS)
    for name, entry in LEARNERS.items():
        if entry.practice is not None:
            shared = "colored-ucrl2-tuned" if name == "ucrl2" else name
            assert dict(entry.practice.options) == best[shared]
        elif name in best and name != "colored-ucrl2-tuned":  # no second form: the first is best
            own = {option.name: option.default for option in entry.options}
            assert {key: own[key] for key in best[name]} == best[name]
    width = {p.name: p.default for p in LEARNERS["colored-ucrl2-tuned"].options}["width"]
    assert {"width": width} == best["colored-ucrl2-tuned"]
    for name, record in RECORD["learners"].items():
        tried = [setting["options"] for setting in record["settings"]]
        assert tried == [dict(options) for options in tuning.GRIDS[name]]
        assert record["score"] == min(setting["score"] for setting in record["settings"])


def test_problems_follow_from_what_was_chosen_before(monkeypatch, tmp_path):
    seed = suite.seed()
    monkeypatch.setattr(suite, "SALT", b"another choice")
    assert suite.seed() != seed
    monkeypatch.undo()
    monkeypatch.setattr(suite, "TUNING", tmp_path / "tuning.json")
    suite.TUNING.write_text("other constants", "utf-8")
    assert suite.seed() != seed


def test_the_page_says_if_its_runs_are_of_former_problems():
    results = json.loads((DOCS / "learners.json").read_text("utf-8"))
    for seed, former in ((suite.seed(), False), (suite.seed() + 1, True)):
        assert ("are of former problems" in page({**results, "seed": seed}, RECORD)) is former


def test_all_rivals_take_part_in_both_forms():
    labels = [entrant.label for part in ("fast", "slow") for entrant in suite.entrants(part)]
    assert len(labels) == len(set(labels))
    for name, entry in LEARNERS.items():
        assert name in labels or name in suite.SKIPPED
        assert not entry.published or entry.published in labels
    told = {name for name, entry in LEARNERS.items() if entry.yardstick}
    assert set(suite.YARDSTICKS) == told - {"optimal"}  # which regret is measured by already


# --- sums --------------------------------------------------------------------------------------


def table():
    """tied-sampling loses to ucb1 on the first problem and wins on the second."""
    return {
        ("two channels 1", "tied-sampling"): np.array([8.0, 10.0, 12.0, 10.0, 9.0, 11.0]),
        ("two channels 1", "ucb1"): np.array([3.0, 4.0, 5.0, 4.0, 2.0, 6.0]),
        ("slow 1", "tied-sampling"): np.full(6, 4.0),
        ("slow 1", "ucb1"): np.full(6, 99.0),
        ("slow 1", "rca"): np.array([39.0, 59.0]),
        ("slow 1", "myopic"): np.zeros(6),
    }


def test_losing_cases_are_those_where_a_rival_lost_less():
    (case,) = compare._losing(table())
    assert (case["problem"], case["rival"], case["own"]) == ("two channels 1", "ucb1", 10.0)
    assert case["difference"] == 6.0
    assert 4.0 < case["low"] < 6.0 < case["high"]
    few = {place: values[:3] for place, values in table().items()}
    assert compare._losing(few)[0]["low"] is None  # too few seeds for an interval


def test_ratios_are_geometric_means_over_problems_both_can_play():
    ratio = compare._ratio(table(), "tied-sampling", "ucb1")
    assert ratio["ratio"] == pytest.approx(np.sqrt(11 / 5 * 5 / 100))
    assert (ratio["problems"], ratio["wins"], ratio["worst"]) == (2, 1, "two channels 1")
    ratio = compare._ratio(table(), "tied-sampling", "rca")
    assert (ratio["runs"], ratio["problems"]) == (2, 1)
    assert ratio["ratio"] == pytest.approx(5 / 50)
    best = compare._best(table(), "tied-sampling")  # rca has too few seeds
    assert best["ratio"] == pytest.approx(np.sqrt(11 / 5 * 5 / 100))
    more = table() | {("slow 1", "rca"): np.full(6, 49.0)}
    best = compare._best(more, "tied-sampling")
    assert best["ratio"] == pytest.approx(np.sqrt(11 / 5 * 5 / 50))


def test_intervals_are_over_problems_where_seeds_are_too_few():
    lost = {}
    for k in range(8):
        lost[f"slow {k}", "tied-sampling"] = np.array([3.0])
        lost[f"slow {k}", "ucb1"] = np.array([7.0 + 8 * (k % 2)])
    ratio = compare._ratio(lost, "tied-sampling", "ucb1")
    assert ratio["unit"] == "problems"
    assert ratio["ratio"] == pytest.approx(4 / np.sqrt(8 * 16))
    assert 4 / 16 < ratio["low"] < ratio["ratio"] < ratio["high"] < 4 / 8
    assert compare._ratio(table(), "tied-sampling", "ucb1")["unit"] == "seeds"


def test_a_seed_is_the_unit_of_a_kind():
    lost = {("slow 1", "ucb1"): np.arange(1.0, 21.0, 3.0),
            ("slow 2", "ucb1"): np.arange(19.0, 0.0, -3.0)}  # fmt: skip
    (row,) = compare._kinds(lost)
    assert (row["kind"], row["mean"], row["runs"], row["problems"]) == ("slow", 10.0, 7, 2)
    assert row["low"] == pytest.approx(10.0)  # every seed lost 10 on average: no spread


def test_the_page_opens_with_the_losing_cases():
    text = page(json.loads((suite.TUNING.parent / "learners.json").read_text("utf-8")), RECORD)
    assert text == (suite.TUNING.parent / "learners.md").read_text("utf-8")
    assert text.index("## Where tied-sampling loses") < text.index("## Ratios")


def test_gradients_of_the_network_are_slopes():
    rng = np.random.default_rng(1)
    network = Network((3, 5, 4, 2), rng)
    x, actions, targets = rng.normal(size=(7, 3)), rng.integers(2, size=7), rng.normal(size=7)

    def loss(weights):
        errors = network.values(x, weights)[np.arange(7), actions] - targets
        return 0.5 * np.mean(errors**2)

    step = 1e-6 * np.eye(len(network.weights))
    slopes = [(loss(network.weights + s) - loss(network.weights - s)) / 2e-6 for s in step]
    np.testing.assert_allclose(network.gradient(x, actions, targets), slopes, atol=1e-8)


def test_the_network_learns_to_take_turns():
    turns = [[0.05, 0.95], [0.95, 0.05]]
    bandit = Bandit([Arm(turns, [0, 1]), Arm(turns, [0, 1])])  # either arm alone earns .5
    learner = DeepQ(bandit, 3_000, rng=1, rate=3e-3)
    rewards = []
    walk = BanditWorld(bandit, 1).walk()
    for _ in range(3_000):
        arm = learner.ask()
        (seen,) = walk.step([arm])
        learner.tell(arm, seen.state, seen.reward)
        rewards.append(seen.reward)
    assert np.mean(rewards[-1_000:]) > 0.6


def test_the_network_has_as_many_settings_as_the_learners():
    assert len(deep.GRID) == tuning.SETTINGS
    assert len({json.dumps(options) for options in deep.GRID}) == tuning.SETTINGS


@pytest.mark.skipif("deep" not in suite.PARTS, reason="its search has not been made")
def test_the_network_plays_with_the_best_setting_of_its_search():
    record = json.loads(deep.DEEP.read_text("utf-8"))
    assert [setting["options"] for setting in record["settings"]] == deep.GRID
    assert record["score"] == min(setting["score"] for setting in record["settings"])
    (entrant,) = suite.entrants("deep")
    assert (entrant.label, entrant.options) == (deep.NAME, record["best"])
    assert set(suite.problems("deep")) == set(suite.problems("fast"))
