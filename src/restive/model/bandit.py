"""The problem: arms, each a Markov chain with rewards, and the bandit they make up."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.described import Brief
from restive.base.errors import Fault, refusal, refuse
from restive.model import chains, validation
from restive.model.units import PLAIN, Units, check_range
from restive.model.validation import Initial, RewardNoise, frozen

BETA_CONCENTRATION = 4.0  # reward ~ Beta(4 r, 4 (1 - r)): mean r, spread out but inside [0, 1]


@dataclass(frozen=True, eq=False)
class Arm:
    """One arm: a Markov chain that moves every step, and a mean reward for each of its states.

    transitions: (S, S), row s is the law of the state after s; the chain must be irreducible.
    rewards: (S,), mean reward r(s) in [0, 1].
    states: S distinct names; "0", "1", ... where none are given.
    reward_noise: "none" pays r(s) itself, "bernoulli" pays 1 with probability r(s), "beta" pays a
        beta variable with mean r(s); all stay in [0, 1].
    reward_range: smallest and largest reward, if they are not 0 and 1. ``rewards`` are then given
        between them and kept from 0 to 1, with which everything is computed; what is shown or
        written is in the units given (``units`` converts).
    group: arms that bear the same word here are alike, and a learner may pool what it sees of them.
    initial: law of the first state: "stationary", a state (name or number) or probabilities. The
        word "stationary" always means the law; a state of that name is given by its number.

    >>> arm = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1], states=["busy", "free"])
    >>> arm.mixing_time(), round(arm.gain, 12)
    (7, 0.5)
    """

    transitions: Floats
    rewards: Floats
    name: str = ""
    states: tuple[str, ...] = ()
    reward_noise: RewardNoise = "none"
    initial: Initial = "stationary"
    group: str = ""
    units: Units = PLAIN
    rewards_given: Floats = field(default_factory=lambda: np.empty(0), repr=False)

    def __init__(
        self,
        transitions: ArrayLike,
        rewards: ArrayLike,
        *,
        name: str = "",
        states: Iterable[Hashable] | None = None,
        reward_noise: RewardNoise = "none",
        initial: Initial = "stationary",
        reward_range: Sequence[float] = (0.0, 1.0),
        group: str = "",
    ) -> None:
        matrix, faults = validation.check_transitions(transitions)
        size = 0 if matrix is None else len(matrix)
        names, more = validation.check_states(states, size)
        if matrix is not None and not faults:
            faults += validation.check_irreducible(matrix, names)
        faults += more
        units, more = check_range(reward_range)
        faults += more
        means, more = validation.check_rewards(rewards, size, units)
        faults += more
        faults += validation.check_noise(reward_noise)
        law, more = validation.check_initial(initial, names, size or len(names))
        faults += more
        refuse(faults)
        assert matrix is not None
        assert means is not None
        self.__dict__.update(  # frozen to everybody else
            transitions=frozen(validation.normalised(matrix)),
            rewards=frozen(means if units.plain else units.inside(means).clip(0, 1)),
            units=units,
            group=str(group),
            rewards_given=frozen(means),
            name=str(name),
            states=names,
            reward_noise=reward_noise,
            initial=law,
        )

    @property
    def n_states(self) -> int:
        return len(self.rewards)

    @cached_property
    def stationary(self) -> Floats:
        """mu: the stationary law, shape (S,)."""
        return frozen(chains.stationary(self.transitions))

    @cached_property
    def _cyclic(self) -> tuple[int, Ints]:
        return chains.cyclic_classes(self.transitions)

    @property
    def period(self) -> int:
        """m: the period of the chain, 1 if it is aperiodic."""
        return self._cyclic[0]

    @property
    def cyclic_class(self) -> Ints:
        """Cyclic class 0..m-1 of each state, shape (S,); one step leads to the next class."""
        return self._cyclic[1]

    @cached_property
    def diameter(self) -> float:
        """D: the largest expected time to reach one state from another."""
        return chains.diameter(self.transitions)

    @cached_property
    def reversible(self) -> bool:
        return chains.is_reversible(self.transitions)

    @property
    def gain(self) -> float:
        """Average reward of pulling this arm at every step."""
        return float(self.stationary @ self.rewards)

    @cached_property
    def initial_law(self) -> Floats:
        """Law of the state at the first step, shape (S,)."""
        if isinstance(self.initial, str) and self.initial == "stationary":
            return self.stationary
        if isinstance(self.initial, int):
            return frozen(np.eye(self.n_states)[self.initial])
        return frozen(np.asarray(self.initial, dtype=np.float64))

    def mixing_time(self, epsilon: float = 0.25, most: int | None = None) -> int:
        """Tmix(eps): steps until every row of P^t is within eps (L1) of its limit.

        most: the answer where there are more, or more than can be counted.
        """
        cache = self.__dict__.setdefault("_mixing", {})
        if epsilon not in cache:
            try:
                cache[epsilon] = chains.mixing_time(self.transitions, epsilon)
            except ArithmeticError:
                if most is None:
                    raise
                return most
        steps = int(cache[epsilon])
        return steps if most is None else min(steps, most)

    def power(self, n: int) -> Floats:
        """P^n: n-step transition probabilities, accurate at any n."""
        return chains.power(self.transitions, n)

    def alike(self, other: Arm) -> bool:
        """Whether both move and pay in the same way, whatever they are called and start in."""
        return (
            np.array_equal(self.transitions, other.transitions)
            and np.array_equal(self.rewards_given, other.rewards_given)
            and (self.states, self.reward_noise) == (other.states, other.reward_noise)
        )

    def without_units(self) -> Arm:
        """The same arm with rewards given from 0 to 1."""
        if self.units.plain:
            return self
        return Arm(
            self.transitions, self.rewards, name=self.name, states=self.states,
            reward_noise=self.reward_noise, initial=self.initial, group=self.group,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Arm) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        initial = self.initial if isinstance(self.initial, str | int) else tuple(self.initial)
        arrays = (self.transitions.tobytes(), self.rewards_given.tobytes())
        return (*arrays, self.name, self.states, self.reward_noise, initial, self.units, self.group)


@dataclass(frozen=True, repr=False)
class Bandit(Brief):
    """K arms of which ``pulls`` are pulled at each step, one by default, while all of them move.

    >>> arm = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])
    >>> Bandit([arm, arm]).n_arms
    2
    """

    arms: tuple[Arm, ...]
    name: str = field(default="")
    pulls: int = field(default=1)

    def __init__(self, arms: Iterable[Arm], name: str = "", pulls: int = 1) -> None:
        collected = tuple(arms)
        if not collected:
            raise refusal("arms", "there are no arms", "[]", "Give at least one arm.")
        for j, arm in enumerate(collected):
            if not isinstance(arm, Arm):
                raise refusal(f"arms[{j}]", "not an Arm", repr(arm), "Build it with restive.Arm.")
        faults = _check_units(collected) + _check_groups(collected)
        refuse(faults + validation.check_pulls(pulls, len(collected)))
        object.__setattr__(self, "arms", collected)
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "pulls", int(pulls))

    @property
    def n_arms(self) -> int:
        return len(self.arms)

    @property
    def n_states(self) -> tuple[int, ...]:
        """Number of states of each arm."""
        return tuple(arm.n_states for arm in self.arms)

    @property
    def units(self) -> Units:
        """In which rewards were given."""
        return self.arms[0].units

    @property
    def groups(self) -> tuple[int, ...]:
        """For each arm the first that is declared to be like it; empty if none are."""
        names = [arm.group or f"\0{j}" for j, arm in enumerate(self.arms)]
        leaders = tuple(names.index(name) for name in names)
        return () if leaders == tuple(range(self.n_arms)) else leaders

    @property
    def best_arms(self) -> tuple[int, ...]:
        """The arms with the largest average rewards, as many as are pulled at a step."""
        order = sorted(range(self.n_arms), key=lambda j: -self.arms[j].gain)
        return tuple(order[: self.pulls])

    @property
    def best_arms_gain(self) -> float:
        """What pulling the best arms for ever earns per step."""
        return sum(self.arms[j].gain for j in self.best_arms)

    @property
    def best_arm(self) -> int:
        """The arm with the largest average reward (the first of several)."""
        return int(np.argmax([arm.gain for arm in self.arms]))

    def arm_name(self, arm: int) -> str:
        """The arm's name, or "arm 1", "arm 2", ... where it has none."""
        return self.arms[arm].name or f"arm {arm + 1}"


def _check_units(arms: Sequence[Arm]) -> list[Fault]:
    """Faults of arms whose rewards cannot be added up, since their units differ."""
    first = arms[0].units
    remedy = f"Give all arms the same reward_range, such as {list(first.range)} of the first."
    return [
        Fault(f"arms[{j}].reward_range", "not that of the first arm", str(arm.units.range), remedy)
        for j, arm in enumerate(arms)
        if arm.units != first
    ]


def _check_groups(arms: Sequence[Arm]) -> list[Fault]:
    """Faults of arms that are declared alike and are not."""
    first: dict[str, int] = {}
    faults = []
    for j, arm in enumerate(arms):
        model = arms[first.setdefault(arm.group, j)] if arm.group else arm
        if not arm.alike(model):
            message = f"unlike arms[{first[arm.group]}], which is in the same group"
            remedy = "Give arms of a group the same transitions, rewards, states and reward_noise."
            faults.append(Fault(f"arms[{j}].group", message, repr(arm.group), remedy))
    return faults
