"""A plan for any number of arms: a policy, and an interval around the best average reward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Ints
from restive.base.described import Described
from restive.base.errors import ArgumentError
from restive.base.pictured import Pictured
from restive.base.words import duration_text, outward
from restive.many.simulating import SimulatedValue
from restive.model.arguments import state_numbers
from restive.model.bandit import Bandit
from restive.planning.result import Plan
from restive.policies.policy import Policy
from restive.policies.sight import NEVER


@dataclass(frozen=True, eq=False, repr=False)
class BoundedPlan(Described, Pictured):
    """A policy, what it earns, and how much the best policy could earn at most.

    lower: what the policy earns at least: certain ("certified"), or the lower end of an interval
        from simulated play ("simulated"; see ``simulated``). upper: no policy earns more, certain.
    certified_lower: what the best policy earns at least for certain, by this policy or another.
    gain: the policy's own value: the mean of simulated play, the middle of an exact plan's
        interval, or else what is certain of it, ``lower``.
    make_policy: makes ``policy``, once it is asked for.
    method, upper_method: what gave the policy, and the upper bound. block: the arms that the
        policy may pull; it pulls no others. price: of a pull, behind the upper bound, if it sells
        pulls.
    exact: the exact plan, where one was made. note: what more time would buy.
    """

    picture: ClassVar[str] = "restive.report.policy.bounded_figure:bounded_figure"

    bandit: Bandit
    make_policy: Callable[[], Policy] = field(repr=False)
    lower: float
    upper: float
    gain: float
    lower_kind: str
    certified_lower: float
    method: str
    upper_method: str
    block: tuple[int, ...]
    price: float | None
    tolerance: float
    seconds: float
    simulated: SimulatedValue | None = None
    exact: Plan | None = field(default=None, repr=False)
    note: str = ""
    interrupted: bool = False
    upper_kind: str = "certified"

    @cached_property
    def policy(self) -> Policy:
        return self.make_policy()

    @property
    def gain_lower(self) -> float:
        return self.lower

    @property
    def gain_upper(self) -> float:
        return self.upper

    @property
    def converged(self) -> bool:
        """Whether the interval is as narrow as was asked for."""
        return self.upper - self.lower <= self.tolerance

    @property
    def proven_optimal(self) -> bool:
        """Whether the policy is certainly optimal, within the tolerance."""
        return self.converged and self.lower_kind == "certified"

    @property
    def loss(self) -> float:
        """How far from optimal the policy can be at most, as a share of the upper bound."""
        if self.upper <= 0:
            return 0.0
        return max(0.0, 1 - self.lower / self.upper)

    def action(self, last_states: ArrayLike, ages: ArrayLike) -> int | tuple[int, ...]:
        """Arm to pull, or the tuple of arms where several are pulled a step.

        last_states, ages: for each arm the state last seen, by number or name (-1: not seen yet),
        and the steps since.
        """
        chosen = self.actions(last_states, ages)
        if self.bandit.pulls == 1:
            return int(chosen[()])
        return tuple(chosen.tolist())

    def actions(self, last_states: ArrayLike, ages: ArrayLike) -> Ints:
        """``action`` for many information states at once; inputs (..., K).

        Shape (...) for one pull a step, else (..., pulls).
        """
        states, raw = self._checked(last_states, ages)
        shape, pulls = raw.shape[:-1], self.bandit.pulls
        states, raw = (a.reshape(-1, self.bandit.n_arms) for a in (states, raw))
        worth = self.policy.ranking(states, raw, raw.argmin(axis=1))
        chosen = np.argsort(-worth, axis=1, kind="stable")[:, :pulls]
        return np.asarray(chosen[:, 0].reshape(shape) if pulls == 1 else chosen.reshape(*shape, -1))

    def _checked(self, last_states: ArrayLike, ages: ArrayLike) -> tuple[Ints, Ints]:
        states, raw = state_numbers(self.bandit, last_states), np.asarray(ages)
        need = f"last_states and ages need {self.bandit.n_arms} entries, one per arm"
        try:
            shape = np.broadcast_shapes(states.shape, raw.shape)
        except ValueError:
            raise ArgumentError(f"{need}, not {states.shape} and {raw.shape}") from None
        if shape[-1:] != (self.bandit.n_arms,):
            raise ArgumentError(need)
        if not all((a == np.floor(a)).all() for a in (states, raw)):
            raise ArgumentError("last_states and ages must be whole numbers, one per arm")
        states, raw = (np.array(np.broadcast_to(a, shape), dtype=np.int64) for a in (states, raw))
        if (states < NEVER).any() or (states >= np.array(self.bandit.n_states)).any():
            raise ArgumentError(
                "last_states must be numbers of states, from 0 on, or -1 where unseen"
            )
        if (raw < 1).any():
            raise ArgumentError("ages count the steps since each arm was seen, from 1 on")
        return states, raw

    def _title(self) -> str:
        return f"Plan of {self.bandit.name or 'an unnamed problem'}"

    def _facts(self) -> list[tuple[str, str]]:
        units, pulls = self.bandit.units, self.bandit.pulls
        low, high = outward(units.mean(self.lower, pulls), units.mean(self.upper, pulls))
        kind = "certified" if self.lower_kind == "certified" else "simulated, with an interval"
        facts = [
            ("best average reward", f"at most {high}, certified ({self.upper_method})"),
            ("this policy earns", f"at least {low}, {kind} ({self.method})"),
            ("loss against the best", "none" if self.proven_optimal else percent(self.loss)),
            ("made in", duration_text(self.seconds)),
        ]
        return facts + ([("note", self.note)] if self.note else [])


def percent(share: float) -> str:
    """A share that something is at most, rounded up to two digits.

    >>> percent(0.01234), percent(0.0)
    ('at most 1.3%', 'at most 1e-06%')
    """
    share = max(100 * share, 1e-6)
    step = 10.0 ** (np.floor(np.log10(share)) - 1)
    return f"at most {np.ceil(share / step - 1e-9) * step:.2g}%" if share < inf else "unknown"


def interval_words(plan: BoundedPlan) -> str:
    """Where the best average reward lies, in the user's units, rounded outwards."""
    mean = partial(plan.bandit.units.mean, pulls=plan.bandit.pulls)
    return "between {} and {}".format(*outward(mean(plan.lower), mean(plan.upper), most=8))
