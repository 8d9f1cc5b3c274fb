"""From the model of an episode to Whittle's index of every arm, for slow and for many arms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from restive.base.arrays import Floats
from restive.learners.paper.rules import Evidence
from restive.learners.records import arrays_of, record_from
from restive.learners.replanning import Planner, Structure, ValuePlanner
from restive.learners.storage import SavedArrays, SavedState, Snapshot
from restive.policies.spaced import SpacedIndexPolicy, SpacedTable, SpacedTables

Index = Callable[[Floats, Floats, Floats], Floats]

LEAST = 1e-9  # chance of a move below which an arm is planned for as if it had this one
MOST_AGES = 2_048  # stored ages of an arm
CAPS = np.array([16, 32, 64, 128, 256])  # ages up to which a loop is looked for
DOUBLINGS = 14  # ages must repeat over 2^14 loops too: slow arms change little by little
PREFIX = "index_"


def index_table(
    chain: Floats, means: Floats, error: float, oldest: int, index: Index | None = None
) -> SpacedTable:
    """Whittle's index of an arm by state last seen and age, with as many ages as its chain needs.

    error: L1 distance at which ages are no longer told apart. oldest: age from which on they are
    not, however slow the chain is. Two states have a closed form; more take a sweep over the price
    (``restive.many.whittle``). An arm of more than two states that runs round a loop for longer
    than 256 steps is taken to do so for ever. index: another one, from the chain, its mean rewards
    and its powers (A, S, S) to (S, A).
    """
    from restive._kernels import indices, tied

    size = len(chain)
    if size == 1:
        return SpacedTable(means[:, None].copy(), np.ones(1, dtype=np.int64), 0)
    rows = np.maximum(chain, LEAST)
    rows /= rows.sum(axis=1, keepdims=True)
    cap, loop = tied.lasso(rows, error, CAPS, DOUBLINGS)
    if cap == CAPS[-1] and (loop == 1 or size == 2):  # it needs more, and they cost little
        cap = 0
    ages = np.empty(MOST_AGES, dtype=np.int64)
    powers = np.empty((MOST_AGES, size, size))
    count = indices.spread(rows, error, cap, loop, oldest, ages, powers)
    ages, powers, back = ages[:count].copy(), powers[:count], count - loop
    values = index(rows, means, powers) if index else _indices(rows, means, ages, powers, back)
    return SpacedTable(values, ages, back)


def _indices(chain: Floats, means: Floats, ages: Any, powers: Floats, back: int) -> Floats:
    """(S, A): the indices at these ages, whose rows are ``powers`` (A, S, S)."""
    from restive._kernels import indices

    if len(chain) == 2:
        better = int(means[1] >= means[0])
        up, down = chain[1 - better, better], chain[better, 1 - better]
        values = np.empty((2, len(ages)))
        indices.two_state(up, down, means, ages, values)
        return values
    from restive.many.whittle import indices_from

    laws = np.ascontiguousarray(powers.transpose(1, 2, 0))
    rewards = np.ascontiguousarray((powers @ means).T)
    table = indices_from(laws, rewards, ages, back, means)
    return np.where(np.isnan(table), rewards, table)  # the sweep passed it over


def thinned(chain: Floats, share: float) -> Floats:
    """The chain from one sight to the next if each step shows something with probability q.

    sum_n q (1 - q)^(n - 1) P^n = q P (I - (1 - q) P)^-1

    >>> thinned(np.array([[0.5, 0.5], [0.5, 0.5]]), 0.1).round(9).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    rest = np.eye(len(chain)) - (1 - share) * chain
    return np.asarray(np.linalg.solve(rest.T, share * chain.T).T)


def seldom_table(
    chain: Floats, means: Floats, error: float, oldest: int, share: float,
    index: Index | None = None,
) -> SpacedTable:  # fmt: skip
    """As ``index_table`` where only a share q of the steps shows anything.

    A decision then stands until something is seen, 1/q steps on average, so it is planned from
    sight to sight: on the ``thinned`` chain, whose age m is 1 + (m - 1)/q steps.
    """
    most = 1 + int(np.ceil(share * oldest))
    table = index_table(thinned(chain, share), means, error, most, index)
    ages = 1 + np.round((table.ages - 1) / share).astype(np.int64)
    return SpacedTable(table.indices, ages, len(ages) - 1)  # a thinned chain has no period


class IndexPlanner(Planner):
    """Whittle's index of every arm of the model, which has ``chains`` and ``means``.

    What it takes grows with the number of arms and not with its powers, and hardly with how slow
    they are. No bound of the gain comes with it. error, oldest: evidence -> as in ``index_table``,
    as is ``index``. share: of the steps that will show something, as in ``seldom_table``.
    """

    def __init__(
        self, error: float, oldest: Callable[[Evidence], int], index: Index | None = None,
        share: Callable[[], float] = lambda: 1.0,
    ) -> None:  # fmt: skip
        self._error, self._oldest, self._index, self._share = error, oldest, index, share
        self.forget()

    def forget(self) -> None:
        self.tables: SpacedTables | None = None
        self._policy: SpacedIndexPolicy | None = None

    def plan(self, evidence: Evidence, model: Any, tolerance: float) -> None:
        oldest, fresh = self._oldest(evidence), getattr(model, "fresh", None)
        kept = None if fresh is None else self.tables  # of arms that are what they were
        arms = range(len(model.chains)) if fresh is None or kept is None else fresh.tolist()
        tables = {arm: self._table(model.chains[arm], model.means[arm], oldest) for arm in arms}
        self.tables = SpacedTables.of([*tables.values()]) if kept is None else kept.put(tables)
        self._policy = None

    def _table(self, chain: Floats, means: Floats, oldest: int) -> SpacedTable:
        share = self._share()
        if share < 1:
            return seldom_table(chain, means, self._error, oldest, share, self._index)
        return index_table(chain, means, self._error, oldest, self._index)

    @property
    def policy(self) -> SpacedIndexPolicy:
        if self._policy is None:
            assert self.tables is not None
            self._policy = SpacedIndexPolicy(self.tables)
        return self._policy

    def snapshot(self) -> Snapshot:
        return {}, {} if self.tables is None else arrays_of(self.tables, PREFIX)

    def restore(self, state: SavedState, arrays: SavedArrays, structure: Structure) -> None:
        self.forget()
        if f"{PREFIX}ages" in arrays:
            self.tables = record_from(SpacedTables, arrays, PREFIX)


class ChoosingPlanner(Planner):
    """Plans exactly where the plan is small enough, otherwise by index.

    small: (evidence, model) -> whether the exact plan is. It must not look at a clock, so that the
    same seed gives the same play.
    """

    def __init__(
        self, exact: ValuePlanner, index: IndexPlanner, small: Callable[[Evidence, Any], bool]
    ) -> None:
        self.exact, self.index, self._small = exact, index, small
        self.by_index = False

    def forget(self) -> None:
        self.exact.forget()
        self.index.forget()

    def plan(self, evidence: Evidence, model: Any, tolerance: float) -> None:
        self.by_index = not self._small(evidence, model)
        if self.by_index:
            self.index.plan(evidence, model, tolerance)
        else:
            self.index.forget()  # its tables; values are kept, to start the next plan from
            self.exact.plan(evidence, model, tolerance)

    @property
    def policy(self) -> Any:
        return self.index.policy if self.by_index else self.exact.policy

    def snapshot(self) -> Snapshot:
        state, arrays = self.exact.snapshot()
        return {**state, "by_index": self.by_index}, {**arrays, **self.index.snapshot()[1]}

    def restore(self, state: SavedState, arrays: SavedArrays, structure: Structure) -> None:
        self.by_index = bool(state["by_index"])
        self.exact.restore(state, arrays, structure)
        self.index.restore(state, arrays, structure)
