"""Compiled paths: the same numbers as NumPy's generator, inverted exactly, and independent."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from restive._kernels.paths import chain_path
from restive.base.errors import ProblemError
from restive.learners import Learner, make_learner
from restive.model.bandit import Arm, Bandit
from restive.problems import example1, random_problem
from restive.simulation import BanditWorld
from restive.simulation.worlds import ArmPath

ALPHA = 1e-4
ARMS = {
    "one state": Arm([[1.0]], [0.4]),
    "two states": Arm([[0.9, 0.1], [0.3, 0.7]], [0.0, 1.0]),
    "never twice in 0": Arm([[0.0, 1.0], [0.5, 0.5]], [0.2, 0.7], initial=[0.25, 0.75]),
    "gaps": Arm([[0.0, 1 / 3, 0.0, 2 / 3], [0.5, 0.0, 0.5, 0.0], [0.0, 0.1, 0.9, 0.0],
                 [1.0, 0.0, 0.0, 0.0]], [0.1, 0.2, 0.3, 0.4], initial=[0.0, 0.5, 0.5, 0.0]),
}  # fmt: skip


def inverted(law, number):
    """First state whose cumulative probability exceeds the number, among those possible."""
    possible = np.flatnonzero(law)
    place = np.searchsorted(np.cumsum(law)[possible], number, side="right")
    return int(possible[min(place, len(possible) - 1)])


@pytest.mark.parametrize("name", list(ARMS))
def test_a_path_inverts_the_numbers_of_numpy(name):
    arm = ARMS[name]
    states, rewards = next(BanditWorld(Bandit([ARMS["two states"], arm]), 5).blocks(3000))
    seeds = np.random.SeedSequence(5, spawn_key=(1,)).spawn(2)[0]
    numbers = np.random.Generator(np.random.SFC64(seeds)).random(3000)
    law, expected = arm.initial_law, []
    for number in numbers:
        expected.append(inverted(law, number))
        law = arm.transitions[expected[-1]]
    assert states[1].tolist() == expected
    assert rewards[1].tolist() == arm.rewards[expected].tolist()


@pytest.mark.parametrize("name", ["never twice in 0", "gaps"])
def test_the_steps_between_states_lie_where_the_probabilities_say(name):
    """Around every step the draw is set by hand: a + b + counter is SFC64's next word."""
    arm, tried = ARMS[name], 0
    walk = ArmPath(arm, np.random.SeedSequence(0))
    for before, law in enumerate(arm.transitions):
        for height in {0.0, 1.0, *np.cumsum(law).tolist()}:
            near = int(Fraction(height) * 2**53)
            for draw in {max(near - 1, 0), min(near, 2**53 - 1), min(near + 1, 2**53 - 1)}:
                generator = np.array([draw << 11 | 5, 0, 0, 0], dtype=np.uint64)
                states, rewards = np.empty(1, dtype=np.int64), np.empty(1)
                chain_path(walk.steps, walk.start, arm.rewards, generator, before, states, rewards)
                assert states[0] == inverted(law, draw / 2**53)
                assert law[states[0]] > 0
                tried += 1
    assert tried >= 8


def word_law(arm, before, length):
    """Probability of every word of states after one state, the first state leading."""
    laws = {(before,): 1.0}
    for _ in range(length):
        laws = {
            (*word, state): chance * arm.transitions[word[-1], state]
            for word, chance in laws.items()
            for state in range(arm.n_states)
        }
    return np.array(list(laws.values()))


@pytest.mark.parametrize("name", ["two states", "gaps"])
def test_words_of_a_path_have_their_law(name):
    """Words of four steps, cut from two streams, tell dependence of successive draws."""
    arm = ARMS[name]
    size, length, n = arm.n_states, 4, 200_000
    for path in next(BanditWorld(Bandit([arm, arm]), 8).blocks(n, n))[0]:
        starts = np.arange(0, n - length, length)
        codes = np.zeros(len(starts), dtype=np.int64)
        for k in range(1, length + 1):
            codes = size * codes + path[starts + k]
        for before in range(size):
            counts = np.bincount(codes[path[starts] == before], minlength=size**length)
            law = word_law(arm, before, length)
            assert counts[law == 0].sum() == 0
            expected = counts.sum() * law
            kept = expected >= 5  # rarer words count together
            seen = np.append(counts[kept], counts[~kept].sum())
            due = np.append(expected[kept], expected[~kept].sum())
            seen, due = seen[due > 0], due[due > 0]
            statistic = ((seen - due) ** 2 / due).sum()
            assert statistic <= chi2.ppf(1 - ALPHA, len(due) - 1)


# --- following a policy along a path ---------------------------------------------------------


@pytest.mark.parametrize("most", [0, 1 << 26])
def test_a_graph_that_is_too_small_changes_nothing(most, monkeypatch):
    """Room for two information states at first: the graph grows, or is begun anew each time."""
    bandit = random_problem(n_arms=3, n_states=[2, 3, 2], rng=4)
    record = BanditWorld(bandit, 3).record(2000)
    expected = make_learner("colored-ucrl2", bandit, 2000)
    pulls = Learner.play_path(expected, record.states, record.rewards)
    monkeypatch.setattr("restive.policies.greedy.ROWS", 2)
    monkeypatch.setattr("restive.policies.greedy.MOST_CELLS", most)
    learner = make_learner("colored-ucrl2", bandit, 2000)
    parts = [
        learner.play_path(record.states[:, part], record.rewards[:, part])
        for part in (slice(0, 900), slice(900, 2000))
    ]
    assert np.concatenate(parts).tolist() == pulls.tolist()
    ours, theirs = learner.snapshot(), expected.snapshot()
    assert ours[0] == theirs[0]
    assert all(np.array_equal(ours[1][key], theirs[1][key]) for key in theirs[1])


@pytest.mark.parametrize("options", [{}, {"unknown_states": True}])
def test_states_below_zero_are_refused(options):
    learner = make_learner("colored-ucrl2", example1(), 100, **options)
    states = np.array([[0, 1, 0], [1, -1, 0]])
    with pytest.raises(ProblemError, match="from 0 on"):
        learner.play_path(states, np.zeros((2, 3)))
