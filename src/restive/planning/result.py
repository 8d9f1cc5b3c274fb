"""A plan: what to pull in every information state, and what that is worth for certain."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive.base.arrays import Floats, Ints
from restive.base.described import Described
from restive.base.errors import ArgumentError
from restive.base.pictured import Pictured
from restive.base.words import duration_text, outward
from restive.mdp.numpy_iteration import pull_values
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters
from restive.model.arguments import state_numbers
from restive.model.bandit import Bandit

if TYPE_CHECKING:
    from restive.policies.greedy import GreedyPolicy


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Described, Pictured):
    """The optimal policy of a bandit, with its certified gain.

    lower, upper: (n_classes,) bounds of rho* in each part of the state space that no policy can
    leave. There is one part, except where the periods of several arms have a common divisor;
    then the gain depends on which phases the arms start in, and ``gain`` is its mean over the
    bandit's initial laws.
    parameters: of every color, as the plan was made with them.
    note: why the interval is wider than the tolerance, or the plan rougher than asked; mostly "".
    ``plot(path)`` draws which arm to pull, by the states last seen and their ages.
    """

    picture: ClassVar[str] = "restive.report:policy_figure"

    bandit: Bandit
    representation: Representation
    parameters: Parameters
    lower: Floats
    upper: Floats
    values: Floats = field(repr=False)
    tolerance: float
    sweeps: int
    converged: bool
    seconds: float
    note: str = ""

    # what plans of any kind tell, see ``restive.many.bounded``
    method = "exact"
    lower_kind = upper_kind = "certified"
    price = None

    def _title(self) -> str:
        return f"Plan of {self.bandit.name or 'an unnamed problem'}"

    def _facts(self) -> list[tuple[str, str]]:
        mean, best = self.bandit.units.mean, self.bandit.best_arm
        low, high = outward(mean(self.gain_lower), mean(self.gain_upper))
        alone = f"{mean(self.bandit.arms[best].gain):.6g} with {self.bandit.arm_name(best)}"
        facts = [
            ("best average reward", f"{mean(self.gain):.6g}, certified between {low} and {high}"),
            ("one arm for ever", alone),
            ("information states", f"{self.states:,}, ages apart up to {max(self.caps):,}"),
            ("made in", f"{self.sweeps:,} sweeps, {duration_text(self.seconds)}"),
        ]
        return facts + ([("note", self.note)] if self.note else [])

    @property
    def gain(self) -> float:
        """rho*, in the middle of its interval."""
        return 0.5 * (self.gain_lower + self.gain_upper)

    @property
    def proven_optimal(self) -> bool:
        """Whether the policy is certainly optimal, within the tolerance."""
        return self.gain_upper - self.gain_lower <= self.tolerance

    @property
    def block(self) -> tuple[int, ...]:
        """Arms that were planned together: all of them."""
        return tuple(range(self.bandit.n_arms))

    @cached_property
    def policy(self) -> GreedyPolicy:
        from restive.policies.greedy import plan_policy

        return plan_policy(self)

    @cached_property
    def gain_lower(self) -> float:
        return float(self.class_law @ self.lower)

    @cached_property
    def gain_upper(self) -> float:
        return float(self.class_law @ self.upper)

    @cached_property
    def class_law(self) -> Floats:
        """Probability of each part under the bandit's initial laws, shape (n_classes,)."""
        rep = self.representation
        law = np.ones(())
        for arm in self.bandit.arms:
            phases = np.bincount(arm.cyclic_class, arm.initial_law, minlength=arm.period)
            law = np.multiply.outer(law, phases)
        parts = np.bincount(rep.orbits.ravel(), law.ravel(), minlength=rep.n_classes)
        return parts.astype(np.float64)

    @property
    def starts(self) -> list[tuple[float, float, float]]:
        """(probability, lower, upper) of each part in which play may start; mostly one."""
        rows = zip(self.class_law.tolist(), self.lower.tolist(), self.upper.tolist(), strict=True)
        return [row for row in rows if row[0] > 0]

    @property
    def states(self) -> int:
        return self.representation.n_states

    @property
    def caps(self) -> tuple[int, ...]:
        return self.representation.caps

    def action(self, last_states: ArrayLike, ages: ArrayLike) -> int:
        """Arm to pull, given for each arm the state last seen and the steps since then.

        States are numbers from 0 or names; the arm pulled last has age 1, the others are older.
        """
        return int(self.actions(last_states, ages))

    def actions(self, last_states: ArrayLike, ages: ArrayLike) -> Ints:
        """``action`` for many information states at once; inputs (..., K)."""
        return np.asarray(np.argmax(self.pull_values(last_states, ages), axis=-1))

    def gap(self, last_states: ArrayLike, ages: ArrayLike) -> Floats:
        """What each pull loses against the best: rho + h(x) - r(x, a) - sum_y p(y|x, a) h(y).

        Shape (..., K), the best pull at 0 up to the tolerance; from the best pull's value, so
        that it is never negative.
        """
        worth = self.pull_values(last_states, ages)
        return np.asarray(worth.max(axis=-1, keepdims=True) - worth)

    def bias(self, last_states: ArrayLike, ages: ArrayLike) -> Floats:
        """h(x): the advantage of starting in x, up to a constant; shape (...)."""
        states, raw = self._checked(last_states, ages)
        return np.asarray(self.values[self.representation.positions(states, raw)])

    def gain_from(self, last_states: ArrayLike, ages: ArrayLike) -> tuple[float, float]:
        """Bounds of the best gain from this information state on."""
        states, raw = self._checked(last_states, ages)
        part = int(self.representation.classes(states, raw))
        return float(self.lower[part]), float(self.upper[part])

    def pull_values(self, last_states: ArrayLike, ages: ArrayLike) -> Floats:
        """r(x, a) + sum_y p(y|x, a) h(y) for every arm a, shape (..., K)."""
        states, raw = self._checked(last_states, ages)
        rep = self.representation
        colors = rep.colors(states, rep.store(raw)[0]).reshape(-1, rep.n_arms)
        return pull_values(rep, self.parameters, self.values, colors).reshape(raw.shape)

    def _checked(self, last_states: ArrayLike, ages: ArrayLike) -> tuple[Ints, Ints]:
        states = _as_whole("last_states", state_numbers(self.bandit, last_states))
        raw = _as_whole("ages", np.asarray(ages))
        shape = np.broadcast_shapes(states.shape, raw.shape)
        states, raw = (np.array(np.broadcast_to(a, shape), order="C") for a in (states, raw))
        sizes = self.representation.sizes
        if raw.shape[-1:] != (len(sizes),):
            raise ArgumentError(f"last_states and ages need {len(sizes)} entries, one per arm")
        if (states < 0).any() or (states >= np.array(sizes)).any():
            raise ArgumentError(
                f"last_states must be below {sizes}, not {np.asarray(last_states)!r}"
            )
        # an arm with a cap of 1 has one stored age, which stands for all of them
        fresh = ((raw == 1) & (np.array(self.caps) > 1)).sum(axis=-1)
        if (raw < 1).any() or (raw.min(axis=-1) > 1).any() or (fresh > 1).any():
            raise ArgumentError(
                "ages count the steps since each arm was seen: they are at least 1, and 1 for the "
                f"arm pulled last and for no other; not {np.asarray(ages)!r}"
            )
        return states, raw


def _as_whole(what: str, values: NDArray[Any]) -> Ints:
    """The numbers as integers, if that is what they are."""
    if values.dtype.kind in "iu":
        return values.astype(np.int64, copy=False)
    if values.dtype.kind != "f" or not (values == np.floor(values)).all():
        raise ArgumentError(f"{what} must be whole numbers, one per arm, not {values!r}")
    return values.astype(np.int64)
