"""Many arms as kinds and counts, and the laws by which their states are drawn when pulled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.described import Brief
from restive.base.errors import refusal
from restive.base.randomness import heights_of
from restive.model import chains
from restive.model.bandit import Arm

if TYPE_CHECKING:
    from restive._kernels.unseen_chains import Laws


CONVERGED = 1e-13  # L1 distance from its limit at which a power counts as that limit
MANY_BYTES = 1 << 28  # tables of powers beyond this are made with fewer digits
MOST_BITS = 60  # ages are below 2^60
ENDLESS = 2**50  # steps


@dataclass(frozen=True, eq=False, repr=False)
class Population(Brief):
    """Arms of which many may be alike: the different kinds, and the kind of each arm.

    >>> arm = Arm([[0.9, 0.1], [0.2, 0.8]], [0, 1])
    >>> Population([arm], [0] * 1000).n_arms
    1000
    """

    kinds: tuple[Arm, ...]
    kind_of: Ints  # (K,)

    def __init__(self, kinds: Iterable[Arm], kind_of: ArrayLike) -> None:
        collected, numbers = tuple(kinds), np.array(kind_of, dtype=np.int64)
        bad = np.flatnonzero((numbers < 0) | (numbers >= len(collected)))
        if numbers.ndim != 1 or len(numbers) == 0 or len(bad):
            remedy = f"Give one number from 0 to {len(collected) - 1} per arm."
            text = str(numbers[bad[0]]) if numbers.ndim == 1 and len(bad) else str(numbers.shape)
            raise refusal("kind_of", "not a kind of each arm", text, remedy)
        object.__setattr__(self, "kinds", collected)
        object.__setattr__(self, "kind_of", numbers)

    @classmethod
    def of(cls, arms: Iterable[Arm]) -> Population:
        """Arms one by one; equal ones (names and all) become one kind."""
        number: dict[Arm, int] = {}
        by_object: dict[int, int] = {}  # comparing arms is slow beside looking up an object
        kind_of = []
        for arm in arms:
            kind = by_object.get(id(arm))
            if kind is None:
                kind = by_object[id(arm)] = number.setdefault(arm, len(number))
            kind_of.append(kind)
        return cls(number, kind_of)

    @property
    def n_arms(self) -> int:
        return len(self.kind_of)

    @cached_property
    def settled(self) -> Population:
        """The same arms, aperiodic ones at their stationary law: the start that play approaches.

        Where a periodic arm stands in its period is never forgotten, so it keeps its own start.
        """
        own = [arm.period > 1 or arm.initial == "stationary" for arm in self.kinds]
        if all(own):
            return self
        kinds = [arm if keeps else Arm(arm.transitions, arm.rewards)
                 for arm, keeps in zip(self.kinds, own, strict=True)]  # fmt: skip
        return Population(kinds, self.kind_of)

    @cached_property
    def slowest(self) -> int:
        """Steps after which every arm has forgotten most: the largest mixing time, to 1/4."""
        return max(arm.mixing_time(most=ENDLESS) for arm in self.kinds)

    @cached_property
    def period(self) -> int:
        """Steps after which all arms are at the same place of their periods."""
        return lcm(*(arm.period for arm in self.kinds))

    @cached_property
    def laws(self) -> Laws:
        """What the kernels draw from."""
        from restive._kernels.unseen_chains import Laws

        sizes = np.array([arm.n_states for arm in self.kinds])
        bits = 6 if 8 * 64 * 3 * int((sizes**2).sum()) <= MANY_BYTES else 3
        powers = [_powers(arm, bits) for arm in self.kinds]
        lengths = np.array([part.size for part in powers])
        return Laws(
            sizes,
            np.cumsum(sizes) - sizes,
            np.cumsum(lengths) - lengths,
            np.array([len(part) for part in powers]),
            np.array([arm.period for arm in self.kinds]),
            bits,
            np.concatenate([heights_of(part).ravel() for part in powers]),
            np.concatenate([heights_of(arm.initial_law) for arm in self.kinds]),
            np.concatenate([heights_of(arm.stationary) for arm in self.kinds]),
            np.array([bool((arm.initial_law == arm.stationary).all()) for arm in self.kinds]),
            np.concatenate([arm.rewards for arm in self.kinds]),
        )


def _powers(arm: Arm, bits: int) -> Floats:
    """P^(digit * 2^(bits * place)), shape (places, 2^bits - 1, S, S), until P^n has converged."""
    steps = arm.mixing_time(CONVERGED) + arm.period
    places = 1
    while bits * places < MOST_BITS and 2 ** (bits * places) < steps + arm.period:
        places += 1
    out = np.empty((places, 2**bits - 1, arm.n_states, arm.n_states))
    for place in range(places):
        out[place, 0] = arm.power(2 ** (bits * place))
        for digit in range(1, 2**bits - 1):
            out[place, digit] = out[place, digit - 1] @ out[place, 0]
    return out


def start_rows(arm: Arm, ages: int) -> Floats:
    """Law of the state at each of the first ``ages`` steps, (ages, S); the last period repeats.

    The last ones are replaced by what they approach, like the rows of an arm that was seen.
    """
    law = arm.initial_law
    rows = np.empty((ages, arm.n_states))
    rows[0] = law
    if ages > 1:
        rows[1:] = law @ chains.powers(arm.transitions, ages - 1)
    for age in range(max(ages - arm.period + 1, 1), ages + 1):
        rows[age - 1] = law @ chains.limit_rows(arm.transitions, age - 1)
    return rows
