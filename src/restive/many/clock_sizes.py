"""How many states a block has by what it tells apart, and the clocks that do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod

from restive.many.clock_ages import OLDEST, ArmUse, arm_uses
from restive.many.clocks import ArmClock, hidden_clock, mixed_clock, resting
from restive.model.bandit import Arm

FIRST_LOSS, FIRST_LEAST = 0.02, 0.002  # of a first level: from this one down to that,
FIRST_STATES = 4_000  # until there are so many
FINER = 0.9  # in steps of this, until the states have grown
GROWTH = 2.5  # by so much from one level to the next
FINEST = 1e-14


class BlockSizes:
    """What a block tells apart by what doing without may cost, and how many states that makes."""

    def __init__(self, arms: Sequence[Arm], deadline: float) -> None:
        self.arms, self.deadline = tuple(arms), deadline
        self._seen: dict[tuple[float, bool], list[int]] = {}

    @cached_property
    def uses(self) -> list[ArmUse]:
        return arm_uses(self.arms, self.deadline)

    def clocks(self, loss: float, price: float | None) -> tuple[ArmClock, ...]:
        """Hidden tails for the arms alone, mixed ones beside a price."""
        if price is None:
            told = [use.ages(loss) for use in self.uses]
            guesses = [use.tail_law(ages) for use, ages in zip(self.uses, told, strict=True)]
            return tuple(map(hidden_clock, self.arms, told, guesses))
        points = (use.beliefs.until(loss) for use in self.uses)
        return resting(price), *(mixed_clock(part, OLDEST) for part in points)

    def blocks(self, loss: float, alone: bool) -> list[int]:
        """States of each block: after a pull of each arm and, beside a price, after a rest."""
        if (loss, alone) not in self._seen:
            sizes = [use.count(loss, alone) for use in self.uses]
            every = prod(sizes)
            after = [
                every // size * arm.n_states for arm, size in zip(self.arms, sizes, strict=True)
            ]
            self._seen[loss, alone] = after if alone else [every, *after]
        return self._seen[loss, alone]

    def first(self, alone: bool) -> float:
        loss = FIRST_LOSS
        while loss > FIRST_LEAST and sum(self.blocks(loss, alone)) < FIRST_STATES:
            loss *= FINER
        return loss

    def finer(self, loss: float, alone: bool) -> float:
        """The next smaller loss with clearly more states."""
        states = sum(self.blocks(loss, alone))
        while loss > FINEST and sum(self.blocks(loss, alone)) < GROWTH * states:
            loss *= FINER
        return loss
