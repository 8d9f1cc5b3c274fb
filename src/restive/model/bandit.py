"""The problem: arms, each a Markov chain with rewards, and the bandit they make up."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive.base.errors import Fault, ProblemError
from restive.model import chains

__all__ = ["Arm", "Bandit", "Initial", "RewardNoise", "check_pulls", "require_one_pull"]

RewardNoise = Literal["none", "bernoulli", "beta"]
Initial = str | int | Sequence[float] | NDArray[np.float64]

ROW_SUM_TOLERANCE = 1e-9
BETA_CONCENTRATION = 4.0  # reward ~ Beta(4 r, 4 (1 - r)): mean r, spread out but inside [0, 1]


@dataclass(frozen=True, eq=False)
class Arm:
    """One arm: a Markov chain that moves every step, and a mean reward for each of its states.

    transitions: (S, S), row s is the law of the state after s; the chain must be irreducible.
    rewards: (S,), mean reward r(s) in [0, 1].
    states: S distinct names; "0", "1", ... where none are given.
    reward_noise: "none" pays r(s) itself, "bernoulli" pays 1 with probability r(s), "beta" pays a
        beta variable with mean r(s); all stay in [0, 1].
    initial: law of the first state: "stationary", a state (name or number) or probabilities. The
        word "stationary" always means the law; a state of that name is given by its number.

    >>> arm = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1], states=["busy", "free"])
    >>> arm.mixing_time(), round(arm.gain, 12)
    (7, 0.5)
    """

    transitions: NDArray[np.float64]
    rewards: NDArray[np.float64]
    name: str = ""
    states: tuple[str, ...] = ()
    reward_noise: RewardNoise = "none"
    initial: Initial = "stationary"

    def __init__(
        self,
        transitions: ArrayLike,
        rewards: ArrayLike,
        *,
        name: str = "",
        states: Iterable[Hashable] | None = None,
        reward_noise: RewardNoise = "none",
        initial: Initial = "stationary",
    ) -> None:
        matrix, faults = _check_transitions(transitions)
        size = 0 if matrix is None else len(matrix)
        names, more = _check_states(states, size)
        if matrix is not None and not faults:
            faults += _check_irreducible(matrix, names)
        faults += more
        means, more = _check_rewards(rewards, size)
        faults += more
        faults += _check_noise(reward_noise)
        law, more = _check_initial(initial, names, size or len(names))
        faults += more
        if faults:
            raise ProblemError(faults)
        assert matrix is not None
        assert means is not None
        for attribute, value in [
            ("transitions", _frozen(_normalised(matrix))),
            ("rewards", _frozen(means)),
            ("name", str(name)),
            ("states", names),
            ("reward_noise", reward_noise),
            ("initial", law),
        ]:
            object.__setattr__(self, attribute, value)

    @property
    def n_states(self) -> int:
        return len(self.rewards)

    @cached_property
    def stationary(self) -> NDArray[np.float64]:
        """mu: the stationary law, shape (S,)."""
        return _frozen(chains.stationary(self.transitions))

    @cached_property
    def _cyclic(self) -> tuple[int, NDArray[np.int64]]:
        return chains.cyclic_classes(self.transitions)

    @property
    def period(self) -> int:
        """m: the period of the chain, 1 if it is aperiodic."""
        return self._cyclic[0]

    @property
    def cyclic_class(self) -> NDArray[np.int64]:
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
    def initial_law(self) -> NDArray[np.float64]:
        """Law of the state at the first step, shape (S,)."""
        if isinstance(self.initial, str) and self.initial == "stationary":
            return self.stationary
        if isinstance(self.initial, int):
            return _frozen(np.eye(self.n_states)[self.initial])
        return _frozen(np.asarray(self.initial, dtype=np.float64))

    def mixing_time(self, epsilon: float = 0.25) -> int:
        """Tmix(eps): steps until every row of P^t is within eps (L1) of its limit."""
        cache = self.__dict__.setdefault("_mixing", {})
        if epsilon not in cache:
            cache[epsilon] = chains.mixing_time(self.transitions, epsilon)
        return int(cache[epsilon])

    def power(self, n: int) -> NDArray[np.float64]:
        """P^n: n-step transition probabilities, accurate at any n."""
        return chains.power(self.transitions, n)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Arm) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        initial = self.initial if isinstance(self.initial, str | int) else tuple(self.initial)
        arrays = (self.transitions.tobytes(), self.rewards.tobytes())
        return (*arrays, self.name, self.states, self.reward_noise, initial)


@dataclass(frozen=True)
class Bandit:
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
            raise ProblemError([Fault("arms", "there are no arms", "[]", "Give at least one arm.")])
        for j, arm in enumerate(collected):
            if not isinstance(arm, Arm):
                fault = Fault(f"arms[{j}]", "not an Arm", repr(arm), "Build it with restive.Arm.")
                raise ProblemError([fault])
        if faults := check_pulls(pulls, len(collected)):
            raise ProblemError(faults)
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
    def best_arm(self) -> int:
        """The arm with the largest average reward (the first of several)."""
        return int(np.argmax([arm.gain for arm in self.arms]))

    def arm_name(self, arm: int) -> str:
        """The arm's name, or "arm 1", "arm 2", ... where it has none."""
        return self.arms[arm].name or f"arm {arm + 1}"


def check_pulls(pulls: object, n_arms: int) -> list[Fault]:
    """What is wrong with a number of pulls a step."""
    whole = isinstance(pulls, int | np.integer) and not isinstance(pulls, bool)
    if whole and 1 <= int(pulls) <= n_arms:  # type: ignore[call-overload]
        return []
    remedy = f"Give a whole number from 1 to {n_arms}, the number of arms."
    return [Fault("pulls", "not a number of arms to pull at each step", _show(pulls), remedy)]


def require_one_pull(bandit: Bandit, what: str) -> None:
    """Refuse a bandit with several pulls a step where only one is provided for."""
    if bandit.pulls > 1:
        message = f"{what} is there for one pull a step only"
        remedy = "Set pulls to 1, or play myopic, whittle or round-robin, which can pull several."
        raise ProblemError([Fault("pulls", message, str(bandit.pulls), remedy)])


def _frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array = np.ascontiguousarray(array, dtype=np.float64)
    array.setflags(write=False)
    return array


def _normalised(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide rows by their sums, unless those are 1 up to rounding.

    The threshold covers the rounding of one division, so a normalised row comes back unchanged
    and a problem written to a file and read again is the same to the last bit.
    """
    sums = rows.sum(axis=-1, keepdims=True)
    rounding = (rows.shape[-1] + 1) * np.finfo(np.float64).eps
    return np.where(np.abs(sums - 1) <= rounding, rows, rows / sums)


def _show(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{float(value):.12g}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _check_transitions(raw: ArrayLike) -> tuple[NDArray[np.float64] | None, list[Fault]]:
    try:
        matrix = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None, _ragged(raw)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        shape = " x ".join(map(str, matrix.shape)) or "a single number"
        remedy = "Give one row per state, each with one probability per state."
        return None, [Fault("transitions", "not a square matrix", shape, remedy)]
    return matrix, [fault for s, row in enumerate(matrix) for fault in _check_row(s, row)]


def _check_row(s: int, row: NDArray[np.float64]) -> list[Fault]:
    bad = [k for k, p in enumerate(row) if not 0 <= p <= 1]
    if bad:
        remedy = "Probabilities lie between 0 and 1."
        return [
            Fault(f"transitions[{s}][{k}]", "not a probability", _show(row[k]), remedy) for k in bad
        ]
    if abs(row.sum() - 1) <= ROW_SUM_TOLERANCE:
        return []
    message = f"row {s} of transitions sums to {row.sum():.10g}, not 1"
    remedy = "The probabilities of all next states must sum to 1"
    if row.sum() > 0:
        remedy += f"; dividing the row by its sum gives {_show((row / row.sum()).round(6))}"
    return [Fault(f"transitions[{s}]", message, _show(row), remedy + ".")]


def _ragged(raw: Any) -> list[Fault]:
    try:
        rows = [list(row) for row in raw]
    except TypeError:
        remedy = "Give a list of rows, one per state."
        return [Fault("transitions", "not a matrix", _show(raw), remedy)]
    faults = []
    for s, row in enumerate(rows):
        if len(row) != len(rows):
            message = f"row {s} has {len(row)} entries where the matrix has {len(rows)} rows"
            remedy = "The matrix must be square: one probability per state in every row."
            faults.append(Fault(f"transitions[{s}]", message, _show(row), remedy))
        words = [k for k, entry in enumerate(row) if not _is_number(entry)]
        for k in words:
            remedy = "Write a number between 0 and 1."
            path = f"transitions[{s}][{k}]"
            faults.append(Fault(path, "not a number", _show(row[k]), remedy))
        if not words and len(row) == len(rows):
            faults += _check_row(s, np.array(row, dtype=np.float64))
    if not faults:
        remedy = "Give one row per state, each with one probability per state."
        faults.append(Fault("transitions", "not a square matrix", _show(raw), remedy))
    return faults


def _is_number(entry: object) -> bool:
    return isinstance(entry, int | float | np.number) and not isinstance(entry, bool)


def _check_states(raw: Iterable[Hashable] | None, size: int) -> tuple[tuple[str, ...], list[Fault]]:
    if raw is None:
        return tuple(str(s) for s in range(size)), []
    names = tuple(str(state) for state in raw)
    if size and len(names) != size:
        message = f"{len(names)} names for {size} states"
        remedy = "Give one name per row of transitions, or leave states out."
        return names, [Fault("states", message, _show(list(names)), remedy)]
    faults = []
    for s, state in enumerate(names):
        remedy = "Give every state its own name."
        if not state:
            faults.append(Fault(f"states[{s}]", "empty name", _show(state), remedy))
        elif state in names[:s]:
            faults.append(Fault(f"states[{s}]", "name used twice", _show(state), remedy))
    return names, faults


def _check_rewards(raw: ArrayLike, size: int) -> tuple[NDArray[np.float64] | None, list[Fault]]:
    try:
        means = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        means = np.empty((0, 0))
    if means.ndim != 1:
        remedy = "Give a list with one mean reward per state."
        return None, [Fault("rewards", "not a list of numbers", _show(raw), remedy)]
    faults = []
    if size and len(means) != size:
        message = f"{len(means)} rewards for {size} states"
        remedy = "Give one mean reward per row of transitions."
        faults.append(Fault("rewards", message, _show(means), remedy))
    for s, mean in enumerate(means):
        if not 0 <= mean <= 1:
            path = f"rewards[{s}]"
            faults.append(Fault(path, "outside [0, 1]", _show(mean), rescaling(means, means)))
    return means, faults


def rescaling(means: NDArray[np.float64], pool: NDArray[np.float64]) -> str:
    """Words for the one affine map that brings ``pool``, the rewards of all arms, into [0, 1]."""
    low, high = min(float(pool.min()), 0.0), max(float(pool.max()), 1.0)
    width = high - low
    if not np.isfinite(width):
        return "Mean rewards are finite numbers between 0 and 1."
    there = f"(r + {-low:.12g}) / {width:.12g}" if low else f"r / {width:.12g}"
    back = f"{width:.12g} g" + (f" - {-low:.12g}" if low else "")
    scaled = _show(((means - low) / width).round(6))
    return (
        f"Rescale all arms alike by r -> {there}, which keeps the best policy and gives {scaled} "
        f"here; a gain g then means {back} in the old units."
    )


def _check_irreducible(matrix: NDArray[np.float64], names: Sequence[str]) -> list[Fault]:
    classes = chains.communicating_classes(matrix)
    if len(classes) == 1:
        return []
    if len(names) != len(matrix):
        names = [str(s) for s in range(len(matrix))]
    listing = "; ".join(
        "{" + ", ".join(names[s] for s in states) + "}" + (" closed" if closed else " transient")
        for states, closed in classes
    )
    message = f"the chain is not irreducible: it falls into {len(classes)} classes: {listing}"
    remedy = (
        "Every state must be reachable from every other: keep one closed class, "
        "or add small transition probabilities between the classes."
    )
    return [Fault("transitions", message, _show(matrix), remedy)]


def _check_noise(raw: object) -> list[Fault]:
    if raw in get_args(RewardNoise):
        return []
    remedy = 'Choose "none", "bernoulli" or "beta".'
    return [Fault("reward_noise", "unknown kind of noise", _show(raw), remedy)]


def _check_initial(raw: Any, names: Sequence[str], size: int) -> tuple[Initial, list[Fault]]:
    choices = ", ".join(repr(name) for name in names)
    remedy = f'Write "stationary", one of the states {choices}, or {size} probabilities.'
    if isinstance(raw, str):
        if raw == "stationary":  # always the law, so that a state's name cannot change the default
            return raw, []
        if raw in names:
            return list(names).index(raw), []
        return raw, [Fault("initial", "no such state", _show(raw), remedy)] if names else []
    if isinstance(raw, int | np.integer) and not isinstance(raw, bool):
        if 0 <= raw < size or not size:
            return int(raw), []
        return int(raw), [Fault("initial", "no such state", _show(raw), remedy)]
    try:
        law = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        law = np.empty((0, 0))
    if law.ndim != 1 or isinstance(raw, bool):
        return raw, [Fault("initial", "not a start", _show(raw), remedy)]
    if size and len(law) != size:
        message = f"{len(law)} probabilities for {size} states"
        return raw, [Fault("initial", message, _show(law), remedy)]
    if not (law >= 0).all() or abs(law.sum() - 1) > ROW_SUM_TOLERANCE:
        message = f"not a probability law: it sums to {law.sum():.10g}"
        return raw, [Fault("initial", message, _show(law), remedy)]
    return _frozen(_normalised(law)), []
