"""What Algorithm 2 is told, and how it does without: horizon, mixing times, states, periods."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite, lcm, log, sqrt
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from restive.base.arrays import Ints
from restive.base.checks import require, require_delta, require_horizon
from restive.base.errors import refusal
from restive.base.options import Parameter, spread
from restive.learners.storage import decode_label, encode_label, plain_label
from restive.model.arguments import told_bandit
from restive.model.bandit import Bandit
from restive.theory.confidence import color_caps

# where the algorithms as run differ from the page, for the declarations
PLANNING = (
    "value iteration stops at accuracy 1/sqrt(t_k), as in UCRL2, and after 100,000 sweeps at the "
    "latest, where the page has the optimistic policy itself"
)
DEPARTURES = (
    f"{PLANNING}; the first K pulls, one an arm, are no samples, and t counts samples; where "
    "mixing times are unknown a(t) = log t is rounded up and at least 1; where states are unknown, "
    "one seen for the first time ends the episode, and where periods are unknown too it drops the "
    "samples of its arm beyond the cap if lcm(1, ..., |S|) grows"
)

MIXING_TIMES = Parameter("mixing_times", "ints", None, "Tmix(1/4) of the arms, if not their own", 1)


def unknown_options(default: bool) -> tuple[Parameter, ...]:
    """Switches for what a learner does without; see ``Inputs``."""
    words = {
        "horizon": "do without T: rounds of doubling length",
        "mixing": "do without mixing times: guess log t, in rounds of doubling length",
        "states": "do without state spaces: states join as they are seen",
        "periods": "do without periods: lcm(1..|S|) for each arm",
    }
    return tuple(Parameter(f"unknown_{key}", "bool", default, text) for key, text in words.items())


class Round(NamedTuple):
    """What the algorithm is run with, from one restart to the next."""

    number: int  # i = 1, 2, ...
    horizon: int  # T, or 2^i
    delta: float  # delta, or delta / 2^i
    epsilon: float  # 1 / sqrt(T)
    caps: tuple[int, ...]  # M_j = ceil(log2(1/eps)) Tmix_j
    steps: int | None  # samples until the next restart, None if there is none


@dataclass(frozen=True)
class Inputs:
    """Inputs of the restless bandits algorithm (Algorithm 2); None for what is not known.

    horizon: T. Unknown: rounds i = 1, 2, ... with T = 2^i and delta/2^i, each a restart.
    mixing_times: Tmix_j = Tmix_j(1/4). Unknown: in the same rounds, ``guess(t)`` at the beginning
        t of each round, rounded up and at least 1 (the paper's a(t) = log t by default).
    sizes: |S_j|. Unknown: states join as they are seen, and between two episodes every arm is
        pulled until all its known states have been seen.
    periods: m_j. Unknown: lcm(1, ..., |S_j|).
    keep_samples: carry samples over from round to round instead of forgetting them.
    """

    n_arms: int
    delta: float = 0.05
    horizon: int | None = None
    mixing_times: tuple[int, ...] | None = None
    sizes: tuple[int, ...] | None = None
    periods: tuple[int, ...] | None = None
    keep_samples: bool = False
    guess: Callable[[float], float] = log

    def __post_init__(self) -> None:
        require(self.n_arms >= 1, "n_arms", self.n_arms, "There is at least one arm.")
        require_delta(self.delta)
        if self.horizon is not None:
            object.__setattr__(self, "horizon", require_horizon(self.horizon))
        for name in ("mixing_times", "sizes", "periods"):
            numbers: Sequence[int] | None = getattr(self, name)
            if numbers is not None:
                whole = len(numbers) == self.n_arms and all(int(n) == n >= 1 for n in numbers)
                remedy = f"Give {self.n_arms} whole numbers from 1 on, one per arm."
                require(whole, name, numbers, remedy)
                object.__setattr__(self, name, tuple(int(n) for n in numbers))

    @classmethod
    def of(
        cls, problem: Bandit | int, horizon: int | None, delta: float = 0.05, *,
        unknown_horizon: bool = False, unknown_mixing: bool = False, unknown_states: bool = False,
        unknown_periods: bool = False, mixing_times: int | Sequence[int] | None = None,
        keep_samples: bool = False,
    ) -> Inputs:  # fmt: skip
        """What a learner may know of a bandit: everything but what is unknown.

        problem: the number of arms will do where nothing else of them is known.
        """
        arms = problem.arms if isinstance(problem, Bandit) else ()
        n_arms = problem.n_arms if isinstance(problem, Bandit) else problem
        told = unknown_mixing or mixing_times is not None
        if not arms and not (told and unknown_states and unknown_periods):
            told_bandit(problem, "unknown_mixing, unknown_states and unknown_periods")
        if horizon is None and not unknown_horizon:
            remedy = "Give the number of steps, or set unknown_horizon."
            raise refusal("horizon", "needed by this learner", "None", remedy)
        if mixing_times is None:
            times = [] if unknown_mixing else [arm.mixing_time() for arm in arms]
        else:
            times = spread("mixing_times", mixing_times, n_arms)
        return cls(
            n_arms,
            delta,
            None if unknown_horizon else horizon,
            None if unknown_mixing else tuple(times),
            None if unknown_states else tuple(arm.n_states for arm in arms),
            None if unknown_periods else tuple(arm.period for arm in arms),
            keep_samples,
        )

    def round(self, number: int) -> Round:
        """Round i of the doubling trick; the only one if horizon and mixing times are known."""
        times = self.mixing_times
        if self.horizon is not None and times is not None:
            epsilon = 1 / sqrt(self.horizon)
            caps = color_caps(times, self.horizon)
            return Round(1, self.horizon, self.delta, epsilon, caps, None)
        if times is None:
            times = (self._guessed(2**number - 1),) * self.n_arms
        steps = 2**number
        caps = color_caps(times, steps)
        return Round(number, steps, self.delta / steps, 1 / sqrt(steps), caps, steps)

    def _guessed(self, t: int) -> int:
        value = float(self.guess(t))
        require(isfinite(value), f"guess({t})", value, "A guessed mixing time is finite.")
        return max(1, ceil(value))

    def lassos(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """m_j, or lcm(1, ..., |S_j|) where the periods are not known."""
        return self.periods or tuple(lcm(*range(1, size + 1)) for size in sizes)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; a guess other than the logarithm is only called custom."""
        listed = {
            name: None if (given := getattr(self, name)) is None else list(given)
            for name in ("mixing_times", "sizes", "periods")
        }
        guess = "log" if self.guess is log else "custom"
        return {
            "n_arms": self.n_arms, "delta": self.delta, "horizon": self.horizon, **listed,
            "keep_samples": self.keep_samples, "guess": guess,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Inputs:
        """What ``to_dict`` wrote down."""
        rest = {key: value for key, value in fields.items() if key != "guess"}
        if fields["guess"] != "log":
            remedy = "Build the learner with the function it had, and call its load()."
            raise refusal("guess", "a function is not saved", fields["guess"], remedy)
        tuples: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in rest.items()
        }
        return cls(**tuples)


class BuiltFromInputs:
    """Base: a learner whose constructor takes ``Inputs`` and perhaps some numbers of its own."""

    numbers: ClassVar[tuple[str, ...]] = ()  # names of these arguments, kept as attributes
    inputs: Inputs

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        rest = dict(settings)
        own: dict[str, Any] = {name: rest.pop(name) for name in cls.numbers}
        return cls(Inputs.from_dict(rest), **own)  # type: ignore[call-arg]

    @property
    def settings(self) -> dict[str, Any]:
        return {**self.inputs.to_dict(), **{name: getattr(self, name) for name in self.numbers}}


class Labels:
    """Numbers of the states seen: the states themselves, or labels in order of discovery."""

    def __init__(self, n_arms: int, sizes: tuple[int, ...] | None) -> None:
        self.fixed = sizes
        self._themselves = np.tile(np.arange(max(sizes or [0])), (n_arms, 1))
        self.numbers: list[dict[Hashable, int]] = [{} for _ in range(n_arms)]
        self._sizes: tuple[int, ...] | None = sizes  # None: to be counted
        self._width = 1  # of the tables so far: one that only grows changes seldom

    def share(self, leaders: Sequence[int]) -> None:
        """Let each arm number its states as its leader does."""
        self.numbers = [self.numbers[leader] for leader in leaders] or self.numbers
        self._sizes = self.fixed

    @property
    def sizes(self) -> tuple[int, ...]:
        """Known states of each arm, at least 1 (the one to come)."""
        if self._sizes is None:
            self._sizes = tuple(max(1, len(known)) for known in self.numbers)
        return self._sizes

    def number(self, arm: int, label: Hashable) -> int:
        """Number of a state of an arm; a new label gets the next one."""
        label = plain_label(label)
        if self.fixed is None:
            known = self.numbers[arm]
            if label not in known:
                known[label] = len(known)
                if len(known) > 1:  # the first was reckoned with
                    self._sizes = None
            return known[label]
        if isinstance(label, int) and 0 <= label < self.fixed[arm]:
            return int(label)
        remedy = f"States of arm {arm} are numbered 0..{self.fixed[arm] - 1}; build the learner "
        remedy += "without sizes to let it find the states itself."
        raise refusal("state", "no such state", repr(label), remedy)

    def table(self, path: Ints) -> Ints:
        """Number of every state of a path (K, n), -1 where it is new; shape (K, states)."""
        tops = path.view(np.uint64).max(axis=1, initial=0).tolist()  # what is below 0 is huge here
        if max(tops) >= 2**63:
            remedy = "Number the states of each arm from 0 on."
            raise refusal("states", "negative", str(path.min()), remedy)
        if self.fixed is not None:
            for arm, top in enumerate(tops):
                self.number(arm, top)
            return self._themselves
        self._width = width = max(self._width, 1 + max(tops))
        names = np.full((len(path), width), -1)
        for arm, known in enumerate(self.numbers):
            for label, number in known.items():
                if isinstance(label, int) and 0 <= label < width:
                    names[arm, label] = number
        return names

    def enter(self, names: Ints, arm: int, state: int) -> None:
        """Put a state that an arm has just shown into such a table."""
        if self.fixed is None:
            shared = [k for k, known in enumerate(self.numbers) if known is self.numbers[arm]]
            names[shared, state] = self.numbers[arm][state]

    def snapshot(self) -> list[list[Any]]:
        return [[encode_label(label) for label in known] for known in self.numbers]

    def restore(self, codes: Sequence[Sequence[Any]]) -> None:
        self.numbers = [
            {decode_label(code): number for number, code in enumerate(known)} for known in codes
        ]
        self._sizes = self.fixed
