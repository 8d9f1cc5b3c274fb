"""Value iteration on blocks of arms with clocks where several arms are pulled a step.

A state is (arms pulled last, their states, a point of every other arm's clock). Values and choices
of the states after a set of arms was pulled are an array with an axis an arm, in one order for all
sets: the state of an arm in the set, the point of any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from time import perf_counter

import numpy as np

from restive.base.arrays import Floats
from restive.base.errors import OutOfTimeError
from restive.many.clock_process import STEP, TIE, Blindfold, ClockProcess, mixed
from restive.many.clocks import ArmClock, PulledSet, Rows, pull_order, pull_sets


class SetProcess(ClockProcess):
    """Arms with clocks, several of them pulled a step; a pull that is not used earns the price.

    price: None where as many arms are pulled as may be; then choices do not see the points of
    tails, otherwise they see all.
    """

    def __init__(
        self, clocks: Sequence[ArmClock], pulls: int, price: float | None, deadline: float = np.inf
    ) -> None:
        self.clocks, self.pulls, self.price = tuple(clocks), pulls, price
        self.blind, self.deadline = price is None, deadline
        self.sets = pull_sets(len(self.clocks), pulls, price)
        self.count = len(self.sets)
        self.order = pull_order(self.clocks)
        self.sizes = [clock.arm.n_states for clock in self.clocks]
        self.states = sum(prod(self.shape(now)) for now in range(self.count))
        self._moves = [_moves(clock, np.eye(clock.size)) for clock in self.clocks]

    def shape(self, last: int) -> tuple[int, ...]:
        """Of the array of states after this set."""
        now = self.sets[last]
        return tuple(self.sizes[j] if j in now else self.clocks[j].size for j in self.order)

    @cached_property
    def _blind_moves(self) -> list[_Moves]:
        return [_moves(clock, clock.blind) for clock in self.clocks]

    def worths(
        self, values: list[Floats], then: int, moves: Sequence[_Moves]
    ) -> Iterator[tuple[int, Floats]]:
        """What pulling set ``then`` is worth in the states after each set, one set after another.

        Q(x, B) = sum over what the arms of B show of its chance times
        [their rewards + (m - |B|) price + value one step later].
        """
        pulled = self.sets[then]
        spare = 0.0 if self.price is None else self.price * (self.pulls - len(pulled))
        value = values[then] + spare
        for axis, j in enumerate(self.order):
            if j in pulled:
                rewards = self.clocks[j].arm.rewards
                value += rewards.reshape([-1, *[1] * (value.ndim - 1 - axis)])
        # arms at rest first: what the others show makes the arrays larger
        arms = sorted(range(len(self.order)), key=lambda axis: self.order[axis] in pulled)
        yield from self._branches(value, arms, (), pulled, moves)

    def _branches(
        self,
        value: Floats,
        left: list[int],
        now: PulledSet,
        then: PulledSet,
        moves: Sequence[_Moves],
    ) -> Iterator[tuple[int, Floats]]:
        """The arms of these axes were pulled last or not; ``now``: those that were, so far."""
        if not left:
            yield self._number[now], value
            return
        if perf_counter() > self.deadline:
            raise OutOfTimeError
        axis, j = left[0], self.order[left[0]]
        for was in (True, False):
            known = tuple(sorted((*now, j))) if was else now
            if len(known) <= self._most and len(known) + len(left) > self._least:
                fresh = mixed(moves[j][was, j in then], value, axis)
                yield from self._branches(fresh, left[1:], known, then, moves)

    @cached_property
    def _number(self) -> dict[PulledSet, int]:
        return {part: number for number, part in enumerate(self.sets)}

    @cached_property
    def _least(self) -> int:
        return min(map(len, self.sets))

    @cached_property
    def _most(self) -> int:
        return max(map(len, self.sets))

    def choose(self, values: list[Floats]) -> Blindfold:
        """The best sets, as far as choices can see; of equal ones the set pulled last."""
        ways = [np.zeros(self.shape(now), dtype=np.uint8) for now in range(self.count)]
        best = [np.full(self.shape(now), -np.inf) for now in range(self.count)]
        for then in range(self.count):
            for now, worth in self.worths(values, then, self._blind_moves):
                if now == then:
                    worth = worth + TIE
                better = worth > best[now]
                ways[now][better] = then
                np.maximum(best[now], worth, out=best[now])
        taken = [np.isin(np.arange(self.count), np.unique(part)) for part in ways]
        return Blindfold(ways, taken)

    def sweep(
        self, values: list[Floats], fresh: list[Floats], policy: Blindfold | None, gain: float
    ) -> tuple[float, float]:
        for part in fresh:
            part.fill(-np.inf)
        for then in range(self.count):
            for now, worth in self.worths(values, then, self._moves):
                if policy is None:
                    np.maximum(fresh[now], worth, out=fresh[now])
                elif policy.taken[now][then]:
                    np.copyto(fresh[now], worth, where=policy.ways[now] == then)
        low, high = np.inf, -np.inf
        for old, part in zip(values, fresh, strict=True):
            part -= old  # the change of an undamped sweep
            low, high = min(low, float(part.min())), max(high, float(part.max()))
            part -= gain
            part *= STEP
            part += old
        return low, high

    def rounding(self, values: list[Floats]) -> float:
        """As with one pull, of sums that are so many times as long."""
        return self.pulls * super().rounding(values)


_Moves = dict[tuple[bool, bool], Rows]


def _moves(clock: ArmClock, view: Floats) -> _Moves:
    """From where an arm is to where it is a step later, by (pulled last, pulled now).

    view: what choices see of each point.
    """
    return {
        (True, True): Rows.of(clock.arm.transitions),
        (True, False): Rows.of(clock.first),
        (False, True): Rows.of(view @ clock.shown),
        (False, False): Rows.of(view @ clock.older),
    }
