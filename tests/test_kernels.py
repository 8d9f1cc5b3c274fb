"""The innermost compiled loops against slow twins on random rows."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from restive._kernels import lookup, rows

SIZES = [1, 2, 3, 4, 5, 7, 8, 10]
SEEDS = range(12)


class Row:
    """A random row: S outcomes with n values each, two laws, and a place to write to."""

    def __init__(self, size: int, seed: int) -> None:
        rng = self.rng = np.random.default_rng([size, seed])
        self.size, self.n = size, int(rng.choice([1, 2, 5, 63, 64, 65, 200]))
        self.stride, self.start = self.n + int(rng.integers(0, 5)), int(rng.integers(0, 4))
        self.values = rng.normal(size=self.start + size * self.stride + self.n)
        if seed % 3 == 0:
            self.values = self.values.round(1)  # ties
        if seed % 3 == 1:
            self.values = np.sort(self.values)  # one choice of best and worst along the row
        self.chances = rng.dirichlet(np.full(size, 0.6), 3)
        self.chances[1] *= 0
        self.chances[1, rng.integers(size)] = 1.0
        self.color, self.constant = int(rng.integers(3)), float(rng.random())
        self.radius = float(rng.choice([0.0, 0.1, 0.7, 2.0, 50.0]))
        self.out = rng.normal(size=3 * self.n + 2)
        self.before = self.out.copy()
        self.o, self.best = 1, self.n + 1

    def place(self) -> tuple:
        return self.values, u(self.start), u(self.stride), self.chances, self.color

    def scratch(self) -> tuple:
        return np.empty(self.size), self.rng.permutation(self.size), np.empty(self.size)

    def outcomes(self, q: int) -> np.ndarray:
        return self.values[self.start + q + self.stride * np.arange(self.size)]

    def worth(self, radius: float) -> np.ndarray:
        """The twin: cell by cell, the best expectation within the radius."""
        p = self.chances[self.color]
        return np.array(
            [
                self.constant + naive.extended_backup(p, self.outcomes(q), radius)
                for q in range(self.n)
            ]
        )

    def check(self, expected: np.ndarray) -> None:
        """Cells o, ..., o + n - 1 are as expected and no other cell has been touched."""
        here = slice(self.o, self.o + self.n)
        np.testing.assert_allclose(self.out[here], expected, atol=1e-12)
        self.out[here] = self.before[here]
        np.testing.assert_array_equal(self.out, self.before)


def u(number: int) -> np.uint64:
    return np.uint64(number)


every_row = pytest.mark.parametrize("size", SIZES)


@every_row
def test_expected_backups(size):
    for seed in SEEDS:
        row = Row(size, seed)
        rows.expected(row.out, u(row.o), *row.place(), size, row.constant, u(row.n))
        row.check(row.worth(0.0))
        row = Row(size, seed)
        best = row.before[row.best : row.best + row.n]
        rows.expected_max(
            row.out, u(row.o), u(row.best), *row.place(), size, row.constant, u(row.n)
        )
        row.check(np.maximum(best, row.worth(0.0)))


@every_row
def test_optimistic_backups(size):
    for seed in SEEDS:
        row = Row(size, seed)
        arguments = (size, row.constant, row.radius, u(row.n), *row.scratch())
        rows.optimistic(row.out, u(row.o), *row.place(), *arguments)
        row.check(row.worth(row.radius))
        if size > 1:
            row = Row(size, seed)
            rows.optimistic_many(row.out, u(row.o), *row.place(), *arguments)
            row.check(row.worth(row.radius))


@every_row
def test_optimistic_weights_are_a_law_within_the_radius_and_the_best_one(size):
    for seed in range(40):
        row = Row(size, seed)
        weights, order, _ = row.scratch()
        values, p = row.outcomes(0), row.chances[row.color]
        rows.optimistic_weights(weights, order, values, row.chances, row.color, size, row.radius)
        assert weights.sum() == pytest.approx(1)
        assert weights.min() >= 0
        assert np.abs(weights - p).sum() <= row.radius + 1e-12
        assert (np.diff(values[order]) >= 0).all()
        best = naive.extended_backup_by_lp(p, values, row.radius)
        assert weights @ values == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("extended", [None, True])
@every_row
def test_switches_whose_law_varies_along_the_row(size, extended):
    for seed in SEEDS:
        row = Row(size, seed)
        laws = row.rng.dirichlet(np.ones(size), (2, row.n)).transpose(0, 2, 1).copy()
        pay, radii = row.rng.random((2, row.n)), row.rng.choice([0, 0.2, 1, 3], (2, row.n))
        values, table = row.values[row.start : row.start + size], seed % 2
        used = radii[table] if extended else np.zeros(row.n)
        worth = [
            pay[table, q] + naive.extended_backup(laws[table, :, q], values, used[q])
            for q in range(row.n)
        ]
        order = np.empty(size, dtype=np.int64)
        given = (row.values, u(row.start), size, laws, pay, radii, table, extended, u(row.n), order)
        rows.switch_row(row.out, u(row.o), u(row.best), *given)
        row.check(np.maximum(worth, row.before[row.best : row.best + row.n]))


def test_small_row_operations():
    for seed in SEEDS:
        row = Row(2, seed)
        here, there = slice(row.o, row.o + row.n), slice(row.best, row.best + row.n)
        rows.larger(row.out, u(row.o), u(row.best), u(row.n))
        row.check(np.maximum(row.before[here], row.before[there]))
        extremes = row.rng.normal(size=(4, row.n))
        low, high = extremes[:2].copy()
        change = row.values[row.start : row.start + row.n] - row.before[there]
        flat = (extremes.ravel(), u(0), u(2 * row.n), u(row.n))
        rows.bound_row(row.values, u(row.start), row.out, u(row.best), *flat)
        wanted = [low, high, np.minimum(low, change), np.maximum(high, change)]
        np.testing.assert_array_equal(extremes, wanted)
        rows.copy_cells(row.out, u(row.o), row.values, u(row.start), u(row.n))
        row.check(row.values[row.start : row.start + row.n])


def ends(p: float, radius: float) -> tuple[float, float]:
    """Range of the chance of the first of two outcomes."""
    return max(0.0, p - radius / 2), min(1.0, p + radius / 2)


class RowSwitch:
    """A switch to the row arm, of two states: its law varies along the row, its values do not."""

    def __init__(self, row: Row, seed: int, extended: bool) -> None:
        rng, n = row.rng, row.n
        self.laws = rng.dirichlet(np.ones(2), (2, n)).transpose(0, 2, 1).copy()
        self.pay, radii = rng.random((2, n)), rng.choice([0, 0.2, 1, 3], (2, n)) * extended
        self.least = np.maximum(0.0, self.laws - radii[:, None] / 2)
        self.table, values = seed % 2, rng.normal(size=2).round(1 if seed % 3 else 0)
        self.worse, self.top = int(values[0] >= values[1]), values.max()
        self.loss = self.top - values.min()
        self.worth = np.array(
            [
                self.pay[self.table, q]
                + naive.extended_backup(self.laws[self.table, :, q], values, radii[self.table, q])
                for q in range(n)
            ]
        )


@pytest.mark.parametrize("extended", [False, True])
def test_pulls_of_two_outcomes_each(extended):
    for seed in range(40):
        row = Row(2, seed)
        n, start, p = u(row.n), u(row.start), row.chances[row.color]
        second, best = u(row.start + row.stride), row.before[row.best : row.best + row.n]
        first = (row.out, u(row.o), u(row.best), row.values, start, second, row.constant)
        worth = row.worth(row.radius * extended)
        switch = RowSwitch(row, seed, extended)
        pull = (switch.pay, switch.least, switch.table, switch.worse, switch.top, switch.loss, n)
        if extended:
            rows.optimistic_switch_two(*first, *ends(p[0], row.radius), 1.0, n)
        else:
            rows.switch_two(*first, p[0], p[1], n)
        row.check(np.maximum(best, worth))
        if extended:
            rows.optimistic_stay_two(*first, *ends(p[0], row.radius), *pull)
        else:
            rows.stay_two(*first, p[0], p[1], *pull)
        row.check(np.maximum(np.maximum(best, worth), switch.worth))


@pytest.mark.parametrize("extended", [False, True])
def test_all_pulls_and_a_damped_step_in_one_pass(extended):
    step, gain = 0.7, 0.1
    for seed in range(40):
        row, other = Row(2, seed), Row(2, seed)  # the same row, pulled with two laws
        other.color, other.constant, other.radius = seed % 3, 0.3, 0.4
        switch, old = RowSwitch(row, seed, extended), row.before[row.o : row.o + row.n]
        best = row.before[row.best : row.best + row.n]
        worth = np.maximum(row.worth(row.radius * extended), other.worth(other.radius * extended))
        worth = np.maximum(np.maximum(worth, switch.worth), best)
        scaled, place = row.before * step, (row.values, u(row.start), u(row.start + row.stride))
        scaled -= step * gain
        given = [row.out, u(row.o), 1 - step, scaled, u(row.best)]
        for pull in (row, other):
            law = pull.chances[pull.color]
            law = np.array(ends(law[0], pull.radius)) if extended else law
            given += [*place, step * (pull.constant - gain), *(step * law)]
        if extended:
            given.insert(3, step)
        pays = step * (switch.pay[switch.table] - gain)
        given += [pays, switch.least, switch.table, switch.worse]
        kernel = rows.optimistic_move_two if extended else rows.move_two
        kernel(*given, step * switch.top, step * switch.loss, u(row.n))
        row.check(old + step * (worth - old - gain))
        rows.move_row(row.out, u(row.o), row.before, u(row.best), step, gain, u(row.n))
        row.check(old + step * (best - old - gain))


@every_row
def test_optimistic_sum(size):
    for seed in range(40):
        row = Row(size, seed)
        largest = lookup.optimistic_sum(
            row.values, row.start, row.stride, row.chances, row.color, size, row.radius
        )
        assert largest == pytest.approx(row.worth(row.radius)[0] - row.constant, abs=1e-12)
