"""Certified plans: the interval contains the true gain, and is as narrow as asked."""

from __future__ import annotations

import re
from functools import cache
from itertools import count
from math import inf, prod
from typing import NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import naive
import restive.mdp.iteration
from restive.base.errors import TooLargeError
from restive.model.bandit import Arm, Bandit
from restive.planning import Plan, forecast, plan
from restive.planning.evaluation import evaluate
from restive.problems import example1, example3, gilbert_elliott, random_problem
from zoo import as_arrays, draw_bandit, draw_caps

FAST_KINDS = ("dense", "sparse", "iid", "single", "periodic")
ROW_ERROR = 1e-11
MOST_STATES = 3000


class Truth(NamedTuple):
    """The true gain from every information state, up to ``slack``."""

    states: list[naive.Info]
    gain: np.ndarray
    slack: float


def far_caps(bandit: Bandit) -> list[int]:
    """Ages from which on every row is within ROW_ERROR of its limit."""
    caps = []
    for arm in bandit.arms:
        power, limits = (
            np.eye(arm.n_states),
            [naive.limit(arm, n) for n in range(naive.period(arm))],
        )
        for age in count(1):
            power = power @ arm.transitions
            if np.abs(power - limits[age % len(limits)]).sum(axis=1).max() <= ROW_ERROR:
                break
        caps.append(age)
    return caps


@cache
def truth(seed: int) -> tuple[Bandit, Truth] | None:
    """A drawn bandit with its gain by naive value iteration, or None if that is too large."""
    bandit = draw_bandit(seed, FAST_KINDS)
    caps, sizes = far_caps(bandit), bandit.n_states
    if len(caps) * prod(sizes) * prod(sorted(caps)[1:]) > MOST_STATES:
        return None
    number, loops = naive.information_states(bandit, caps), [naive.period(a) for a in bandit.arms]
    pulls = []
    for j, arm in enumerate(bandit.arms):
        laws, place = naive.rows(arm, caps[j]), np.zeros((len(number), arm.n_states), dtype=int)
        for x, state in enumerate(number):
            place[x] = [
                number[naive.after(state, j, s, caps, loops)] for s in range(len(arm.rewards))
            ]
        law = np.array([laws[state[j][1]][state[j][0]] for state in number])
        entries = (law.ravel(), (np.repeat(np.arange(len(number)), arm.n_states), place.ravel()))
        pulls.append((law @ arm.rewards, csr_array(entries, shape=(len(number),) * 2)))
    return bandit, Truth(list(number), *_iterated(pulls))


def _iterated(pulls: list[tuple[np.ndarray, csr_array]]) -> tuple[np.ndarray, float]:
    """Damped value iteration, each connected part with its own Odoni bounds."""
    parts, label = connected_components(sum(p for _, p in pulls), directed=False)
    h = np.zeros(len(label))
    for _ in range(20_000):
        change = np.max([r + p @ h for r, p in pulls], axis=0) - h
        low, high = np.full(parts, np.inf), np.full(parts, -np.inf)
        np.minimum.at(low, label, change)
        np.maximum.at(high, label, change)
        if (high - low).max() <= 1e-10:
            return 0.5 * (low + high)[label], 1e-10 + ROW_ERROR * (1 + np.ptp(h))
        h = h + 0.9 * (change - low[label])
    raise ArithmeticError("naive value iteration did not converge")


def check(best: Plan, known: Truth) -> None:
    """The interval of every class contains the true gain of every state in it."""
    classes = best.representation.classes(*as_arrays(known.states))
    assert (best.lower[classes] <= known.gain + known.slack).all()
    assert (known.gain - known.slack <= best.upper[classes]).all()
    assert best.gain_lower <= best.gain <= best.gain_upper


def law_of_start(bandit: Bandit, state: naive.Info) -> float:
    """Probability of this state after one pull of each arm in turn."""
    if [age for _, age in state] != list(range(bandit.n_arms, 0, -1)):
        return 0.0
    laws = [
        arm.initial_law @ np.linalg.matrix_power(arm.transitions, j)
        for j, arm in enumerate(bandit.arms)
    ]
    return float(np.prod([law[s] for law, (s, _) in zip(laws, state, strict=True)]))


@pytest.mark.parametrize("first", range(0, 400, 40))
def test_intervals_of_small_caps_contain_the_truth(first):
    checked = 0
    for seed in range(first, first + 40):
        known = truth(seed)
        if known is not None:
            bandit, answer = known
            check(plan(bandit, caps=draw_caps(seed, bandit)), answer)
            check(plan(bandit, 1e-9, caps=1), answer)
            checked += 1
    assert checked >= 20


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_intervals_are_as_narrow_as_asked(first):
    for seed in range(first, first + 40):
        known = truth(seed)
        if known is None:
            continue
        bandit, answer = known
        tolerance = 10.0 ** -(3 + seed % 6)
        best = plan(bandit, tolerance)
        assert best.converged
        assert (best.upper - best.lower <= tolerance).all()
        check(best, answer)
        start = np.array([law_of_start(bandit, state) for state in answer.states])
        if start.sum() > 0.999:  # the start may be hidden by a cap of 1
            assert best.gain == pytest.approx(start @ answer.gain, abs=tolerance)


@pytest.mark.parametrize("caps", [1, 2, 7, 40, (3, 11)])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 0.9, 1 - 1e-6])
def test_intervals_of_nearly_reducible_arms_contain_the_closed_forms(epsilon, caps):
    gain = 1 / 2 + abs(1 - 2 * epsilon) / 4
    best = plan(example1(epsilon), caps=caps)
    assert best.gain_lower <= gain <= best.gain_upper
    ages = np.arange(2, 20_000)
    w = (1 - (1 - 2 * epsilon) ** ages) / 2
    gain = (((ages - 1) / 2 + w / epsilon) / (ages + w / epsilon)).max()
    best = plan(example3(epsilon), caps=caps)
    if epsilon < 0.5:  # the closed form is for a sticky channel
        assert best.gain_lower <= gain <= best.gain_upper


def test_gaps_and_biases_solve_the_optimality_equation():
    """rho + h(x) = max_a [r + sum p h] at ages before the caps, with the bandit's own rows."""
    bandit = random_problem(3, 2, rng=6)
    best = plan(bandit, 1e-9)
    rng = np.random.default_rng(0)
    for _ in range(50):
        states, ages = rng.integers(2, size=3), rng.permutation([1, 2, rng.integers(3, 8)])
        worth = []
        for j, arm in enumerate(bandit.arms):
            p = np.linalg.matrix_power(arm.transitions, ages[j])[states[j]]
            nexts = [(np.where(np.arange(3) == j, s, states)) for s in range(2)]
            older = np.where(np.arange(3) == j, 1, ages + 1)
            worth.append(p @ (arm.rewards + best.bias(nexts, older)))
        assert max(worth) == pytest.approx(best.gain + best.bias(states, ages), abs=1e-8)
        np.testing.assert_allclose(best.pull_values(states, ages), worth, atol=1e-8)
        np.testing.assert_allclose(best.gap(states, ages), max(worth) - worth, atol=1e-8)
        assert best.action(states, ages) == np.argmax(worth)


def test_threads_give_the_same_plan(monkeypatch):
    bandit = random_problem(3, 2, rng=3)
    alone = plan(bandit, 1e-4, compiled=True)
    monkeypatch.setattr(restive.mdp.iteration, "THREADS_FROM_PAIRS", 0)
    monkeypatch.setenv("RESTIVE_THREADS", "2")
    together = plan(bandit, 1e-4, compiled=True)
    assert alone.values.tobytes() == together.values.tobytes()
    assert (alone.gain_lower, alone.gain_upper) == (together.gain_lower, together.gain_upper)


def test_progress_is_told():
    seen: list[tuple[str, int, float]] = []
    best = plan(example1(0.1), progress=lambda *step: seen.append(step))
    assert seen[-1][0] == "certified"
    assert seen[-1][1] == best.sweeps
    assert seen[-1][2] <= 1e-6


# --- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [0, -1e-6, 1e-13, 1.5, float("nan"), float("inf")])
def test_tolerance_out_of_range(tolerance):
    for ask in (plan, forecast):
        with pytest.raises(ValueError, match=re.escape(f"{tolerance!r}")):
            ask(example1(0.1), tolerance)


@pytest.mark.parametrize(
    ("states", "ages", "named"),
    [
        ([0, 0], [2, 3], "1 for the arm pulled last"),
        ([0, 0], [0, 1], "at least 1"),
        ([0, 0], [1, -4], "at least 1"),
        ([0, 0], [1, 1], "for no other"),
        ([0, 0], [1, 2.7], "ages must be whole numbers"),
        ([0, 0], [1, float("nan")], "ages must be whole numbers"),
        ([0, 0.5], [1, 2], "last_states must be whole numbers"),
        ([True, False], [1, 2], "last_states must be whole numbers"),
        (["busy", "gone"], [1, 2], "channel 2 has no state 'gone'; its states are busy, free"),
        ("busy", [1, 2], "last_states must be whole numbers"),
        ([0, 2], [1, 2], "last_states"),
        ([-1, 0], [1, 2], "last_states"),
        ([0, 0, 0], [1, 2, 3], "one per arm"),
        ([0], [1], "one per arm"),
    ],
)
def test_information_states_that_cannot_be(states, ages, named):
    best = plan(example1(0.3))
    for ask in (best.action, best.gap, best.bias, best.gain_from):
        with pytest.raises(ValueError, match=named):
            ask(states, ages)


def test_states_may_be_given_by_name():
    best = plan(example1(0.3))
    for ask in (best.action, best.bias, best.gain_from):
        assert ask(["free", "busy"], [4, 1]) == ask([1, 0], [4.0, 1.0])
    several = [["busy", "free"], ["free", "free"]]
    np.testing.assert_array_equal(
        best.gap(several, [[1, 2], [3, 1]]), best.gap([[0, 1], [1, 1]], [[1, 2], [3, 1]])
    )


def test_a_plan_that_tells_no_ages_apart_is_still_evaluated():
    """With a cap of 1 the stored age of every arm is 1, which no play can show."""
    best = plan(example1(0.1), caps=1)
    assert evaluate(best.bandit, best).gain <= 0.7


def test_the_interval_stops_where_rounding_does():
    """rho* = 1/2 + |1 - 2 epsilon| / 4; biases of 500 leave no room for 1e-12."""
    best = plan(example1(0.001), 1e-12)
    assert not best.converged
    assert best.gain_lower <= 0.7495 <= best.gain_upper
    assert best.gain_upper - best.gain_lower < 1e-10


def test_too_large_is_refused_before_anything_is_allocated():
    bandit = gilbert_elliott(6, 0.01, 0.02)
    ahead = forecast(bandit, memory=10**9)
    assert not ahead.fits
    with pytest.raises(TooLargeError, match="information states") as refusal:
        plan(bandit, memory=10**9)
    assert "more than the 1.0 GB it may use" in str(refusal.value)
    with pytest.raises(TooLargeError, match=r"2\.0 kB"):
        plan(example1(0.01), memory=2000)


def sticky(*chances: float) -> Bandit:
    return Bandit([Arm([[1 - c, c], [c, 1 - c]], [0, 1]) for c in chances])


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
@pytest.mark.parametrize(
    "bandit",
    [
        sticky(0.3, 0.3), sticky(0.01, 0.01), sticky(1e-3, 1e-3), sticky(1e-3, 0.1),
        sticky(0.1, 0.1, 0.1), random_problem(2, 5, rng=1), random_problem(3, 3, rng=2),
    ],
)  # fmt: skip
def test_the_forecast_of_states_is_within_a_factor_of_two(bandit, tolerance):
    ahead, best = forecast(bandit, tolerance), plan(bandit, tolerance)
    assert best.states / 2 <= ahead.states <= 2 * best.states


def test_what_no_machine_can_hold_is_refused_before_arms_are_looked_at(monkeypatch):
    """Mixing times of ten thousand arms, and products of as many numbers, take minutes."""
    asked = []
    monkeypatch.setattr(Arm, "mixing_time", lambda arm, epsilon=0.25: asked.append(arm) or 5)
    bandit = Bandit([Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])] * 10_000)
    ahead = forecast(bandit)
    assert (ahead.states, ahead.seconds, ahead.fits) == (2**10_000, inf, False)
    with pytest.raises(TooLargeError, match="plan of 10,000 arms takes more than 2e3010"):
        plan(bandit)
    assert not asked


def test_slow_arms_are_forecast_to_take_long():
    """Sweeps of the coarse level take the mixing time: 35,000 of them at 1e-4, seen to last."""
    assert forecast(sticky(0.1, 0.1)).seconds < 0.1
    assert forecast(sticky(1e-4, 1e-4)).seconds > 3
    assert forecast(sticky(1e-5, 0.1)).seconds > 60
    assert forecast(sticky(1e-5)).seconds < 1  # alone it is solved at once


@pytest.mark.parametrize("bandit", [sticky(1e-8, 0.1), sticky(1e-3, 1e-3, 1e-3)])
def test_what_is_hopeless_is_refused_before_a_sweep(bandit, monkeypatch):
    monkeypatch.setattr("restive.planning.exact.solve", lambda *_, **__: pytest.fail("it began"))
    assert not forecast(bandit, memory=10**10).fits
    with pytest.raises(TooLargeError, match="Ask for a larger tolerance"):
        plan(bandit, memory=10**10)


@pytest.mark.parametrize(
    ("bandit", "memory"),
    [
        (example1(0.01), 250_000),
        (example1(0.01), 400_000),
        (example3(0.05), 20_000),
        (random_problem(2, 4, rng=2, stickiness=0.9), 400_000),
    ],
)
def test_the_tolerance_said_to_fit_does_fit(bandit, memory):
    with pytest.raises(TooLargeError) as refusal:
        plan(bandit, 1e-10, memory=memory)
    fitting = re.search(r"A tolerance of (\S+) fits", str(refusal.value))
    assert fitting is not None
    best = plan(bandit, float(fitting[1]), memory=memory)
    assert best.converged


def test_memory_is_honoured():
    bandit = Bandit([Arm([[0.9, 0.1], [0.2, 0.8]], [0, 1])] * 2)
    needed = forecast(bandit, caps=30).bytes
    assert plan(bandit, caps=30, memory=needed).caps == (30, 30)
    with pytest.raises(TooLargeError):
        plan(bandit, caps=30, memory=needed - 1)


@pytest.mark.parametrize("leave", [1e-3, 1e-8, 1e-13])
def test_one_arm_alone_is_planned_at_once_however_slow(leave):
    """There is no choice, so the gain is mu r whatever the chain."""
    arm = Arm([[1 - leave, leave], [3 * leave, 1 - 3 * leave]], [0.2, 0.9])
    best = plan(Bandit([arm]), 1e-12)
    assert best.converged
    assert best.gain == pytest.approx(0.75 * 0.2 + 0.25 * 0.9, abs=1e-14)
    assert best.gain_lower <= best.gain <= best.gain_upper
    assert best.sweeps < 100
    assert best.action([1], [1]) == 0
