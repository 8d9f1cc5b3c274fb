"""Information states as index arithmetic against their enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import naive
from restive.mdp.certificate import bandit_parameters
from restive.mdp.iteration import BanditIteration
from restive.mdp.representation import Representation
from restive.model.bandit import Arm, Bandit
from restive.planning import forecast
from restive.problems import example1, example4, random_problem
from zoo import as_arrays, draw_bandit, draw_caps

SEEDS = range(60)


def drawn(seed: int) -> tuple[Bandit, list[int], Representation]:
    bandit = draw_bandit(seed)
    caps = draw_caps(seed, bandit)
    return bandit, caps, Representation.of(bandit, caps)


def rested_ages(cap: int, loop: int) -> list[int]:
    """Stored ages of an arm that was not pulled last: those of the true ages 2, 3, ..."""
    return sorted({naive.stored(age, cap, loop) for age in range(2, cap + 2 * loop + 2)})


def enumerated(rep: Representation) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """Every (arm pulled last, last states, stored ages)."""
    cells = []
    for last in range(rep.n_arms):
        ages = [rested_ages(c, m) for c, m in zip(rep.caps, rep.periods, strict=True)]
        ages[last] = [1]
        for states in product(*(range(size) for size in rep.sizes)):
            cells += [(last, states, chosen) for chosen in product(*ages)]
    return cells


@pytest.mark.parametrize("seed", SEEDS)
def test_states_and_colors_are_as_many_as_listed(seed):
    _, caps, rep = drawn(seed)
    assert rep.n_states == len(enumerated(rep))
    listed = [
        (j, s, n)
        for j, size in enumerate(rep.sizes)
        for s in range(size)
        for n in sorted({naive.stored(age, caps[j], rep.periods[j]) for age in range(1, 40)})
    ]
    assert rep.n_colors == len(listed)
    assert [rep.color(*color) for color in listed] == list(range(rep.n_colors))
    grids = [rep.color_grid(j).ravel() for j in range(rep.n_arms)]
    np.testing.assert_array_equal(np.concatenate(grids), np.arange(rep.n_colors))


@pytest.mark.parametrize("seed", SEEDS)
def test_memory_is_forecast_to_the_byte(seed):
    bandit, caps, rep = drawn(seed)
    iteration = BanditIteration(rep, bandit_parameters(bandit, rep))
    assert rep.n_bytes == iteration.values.nbytes + iteration.entries.nbytes
    ahead = forecast(bandit, caps=caps)
    assert (ahead.states, ahead.colors) == (rep.n_states, rep.n_colors)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_cell_of_the_blocks_has_one_place(seed):
    """Places of all cells, got by arithmetic, are those that the block views show."""
    _, _, rep = drawn(seed)
    array = np.arange(int(rep.layout.block[-1]))
    viewed = {}
    for last in range(rep.n_arms):
        block, ages = rep.block(array, last), rep.block_ages(last)
        for index in np.ndindex(*block.shape):
            chosen = tuple(int(a[k]) for a, k in zip(ages, index[rep.n_arms :], strict=True))
            viewed[last, index[: rep.n_arms], chosen] = int(block[index])
    cells = enumerated(rep)
    assert set(viewed) == set(cells)
    assert len(set(viewed.values())) == rep.n_states
    last, states, ages = (np.array(column) for column in zip(*cells, strict=True))
    np.testing.assert_array_equal(rep.place(last, states, ages), [viewed[c] for c in cells])


@pytest.mark.parametrize("seed", SEEDS)
def test_positions_follow_the_naive_lasso(seed):
    """A random play with true ages: stored ages, arm pulled last and place at every step."""
    _, caps, rep = drawn(seed)
    rng = np.random.default_rng(seed)
    count = rep.n_arms
    states, ages = [0] * count, list(range(count, 0, -1))
    for _ in range(60):
        pull = int(rng.integers(count))
        states[pull] = int(rng.integers(rep.sizes[pull]))
        ages = [1 if j == pull else age + 1 for j, age in enumerate(ages)]
        wanted = [naive.stored(n, c, m) for n, c, m in zip(ages, caps, rep.periods, strict=True)]
        assert list(rep.stored_ages(ages)) == wanted
        stored, last = rep.store(ages)
        assert (stored.tolist(), int(last)) == (wanted, pull)
        place = rep.place(np.array(pull), np.array(states), np.array(wanted))
        assert int(rep.positions(states, ages)) == int(place)


@pytest.mark.parametrize("seed", range(30))
def test_reachable_states_have_places_of_their_own(seed):
    bandit = draw_bandit(seed)
    caps = [max(2, cap) for cap in draw_caps(seed, bandit)]  # at cap 1 two arms may have age 1
    rep = Representation.of(bandit, caps)
    reached = list(naive.information_states(bandit, caps))
    assert len(np.unique(rep.positions(*as_arrays(reached)))) == len(reached) <= rep.n_states


@pytest.mark.parametrize("seed", range(40))
def test_no_pull_leads_out_of_a_class(seed):
    """Classes are the connected parts of what can be reached, no coarser and no finer."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    rng = np.random.default_rng(seed)
    bandit = draw_bandit(seed, ("periodic", "periodic", "dense"))
    caps = [int(c) for c in rng.integers(1, 4, bandit.n_arms)]
    rep, mdp = Representation.of(bandit, caps), naive.dense_mdp(bandit, caps)
    count, label = connected_components(csr_array(mdp.P.sum(axis=0) > 0), directed=False)
    classes = rep.classes(*as_arrays(mdp.states))
    assert len(set(zip(label, classes, strict=True))) == count == rep.n_classes
    for last in range(rep.n_arms):
        block = np.broadcast_to(rep.block_classes(last), rep.block(np.zeros(10**5), last).shape)
        ages = rep.block_ages(last)
        for index in list(np.ndindex(*block.shape))[::7]:
            chosen = [a[k] for a, k in zip(ages, index[rep.n_arms :], strict=True)]
            assert block[index] == rep.classes(index[: rep.n_arms], chosen)


@pytest.mark.parametrize(
    "bandit", [example1(0.1), example4(), random_problem(2, [4, 3], rng=2), random_problem(1, 5)]
)
@pytest.mark.parametrize("horizon", [1, 2, 9])
def test_t_step_representation_has_the_exact_rows_of_every_age_up_to_t(bandit, horizon):
    rep = Representation.of(bandit, horizon)
    exact = bandit_parameters(bandit, rep, loop="power")
    limits = bandit_parameters(bandit, rep)
    for j, arm in enumerate(bandit.arms):
        for age in range(1, horizon + arm.period):
            power = np.array(naive.exact_power(arm, age), dtype=float)
            for s in range(arm.n_states):
                color, cut = rep.color(j, s, age), slice(None, arm.n_states)
                np.testing.assert_allclose(exact.probabilities[color, cut], power[s], atol=1e-11)
                assert exact.rewards[color] == pytest.approx(power[s] @ arm.rewards, abs=1e-11)
                row = naive.limit(arm, age)[s] if age >= horizon else power[s]
                np.testing.assert_allclose(limits.probabilities[color, cut], row, atol=1e-11)
                assert not exact.probabilities[color, arm.n_states :].any()


def test_refuses_numbers_that_make_no_sense():
    for sizes, caps, periods, named in [
        ((), 3, 1, "sizes"),
        ((2, 0), 3, 1, "sizes"),
        ((2, 2), 0, 1, "caps"),
        ((2, 2), (3,), 1, "caps"),
        ((2, 2), 3, (1, 0), "periods"),
        ((2, 2), 3, (1, 1, 1), "periods"),
    ]:
        with pytest.raises(ValueError, match=named):
            Representation(sizes, caps, periods)


def test_an_arm_that_loops_back_to_age_one_keeps_it_as_a_rested_age():
    flip = Arm([[0, 1], [1, 0]], [0, 1])
    rep = Representation.of(Bandit([flip, flip]), 1)
    assert rep.n_ages == (2, 2)
    assert rep.n_states == 2 * 2 * (2 * 2)
    assert rep.stored_ages([3, 1]) == (1, 1)
    assert rep.positions([0, 0], [3, 1]) != rep.positions([0, 0], [1, 3])


# --- verbs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_older_colors_and_successors_are_those_of_the_enumeration(seed):
    _, caps, rep = drawn(seed)
    last, states, stored = rep.every_state()
    cells = [(int(i), tuple(s), tuple(n)) for i, s, n in
             zip(last, states.tolist(), stored.tolist(), strict=True)]  # fmt: skip
    assert cells == enumerated(rep)
    colors, older = rep.colors(states, stored), rep.older(stored)
    for row in np.random.default_rng(seed).integers(len(cells), size=10):
        _, seen, ages = cells[row]
        info = tuple(zip(seen, ages, strict=True))
        for arm, size in enumerate(rep.sizes):
            assert colors[row, arm] == rep.color(arm, *info[arm])
            assert older[row, arm] == naive.stored(ages[arm] + 1, caps[arm], rep.periods[arm])
            assert older[row, arm] == rep.older(ages[arm], arm)
            assert rep.older_colors[colors[row, arm]] == rep.color(arm, seen[arm], ages[arm] + 1)
            after, later = rep.successors(states[row], stored[row], arm)
            for outcome in range(size):
                wanted = naive.after(info, arm, outcome, caps, rep.periods)
                pairs = zip(after[outcome].tolist(), later[outcome].tolist(), strict=True)
                assert tuple(pairs) == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_a_place_is_the_sum_of_what_its_colors_add(seed):
    _, _, rep = drawn(seed)
    last, states, stored = rep.every_state()
    steps = rep.offsets[last[:, None], rep.colors(states, stored)].sum(axis=1)
    np.testing.assert_array_equal(rep.layout.block[last] + steps, rep.place(last, states, stored))


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_packed_color_by_color(seed):
    _, _, rep = drawn(seed)
    rng = np.random.default_rng(seed)
    shapes = list(zip(rep.sizes, rep.n_ages, strict=True))
    laws = [rng.random((size, ages, size)) for size, ages in shapes]
    means = [rng.random(shape) for shape in shapes]
    packed, flat = rep.pack(laws), rep.pack(means)
    assert packed.shape == (rep.n_colors, rep.max_support)
    for arm, (size, ages) in enumerate(shapes):
        for s, n in np.ndindex(size, ages):
            color = rep.color(arm, s, n + 1)
            assert flat[color] == means[arm][s, n]
            np.testing.assert_array_equal(packed[color, :size], laws[arm][s, n])
            assert not packed[color, size:].any()
