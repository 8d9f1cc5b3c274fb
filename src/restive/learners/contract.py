"""What every learner can do, and a check of it for anybody's own class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from restive.base.errors import Fault, ProblemError, RestiveError
from restive.learners.storage import (
    Snapshot,
    pack,
    read_snapshot,
    unpack,
    write_snapshot,
)

if TYPE_CHECKING:
    from restive.learners.declaration import Declaration

__all__ = ["ContractError", "Learner", "Walk", "check_learner", "require_arms"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Walk(Protocol):
    """One run through a world whose states depend on the actions, as a learner may use it."""

    state: int
    heights: Floats  # (N, A, B) cumulative probabilities of the outcomes
    successors: Ints  # (N, A, B) state after each outcome
    means: Floats  # (N, A) mean rewards
    noisy: bool  # whether rewards are 0 or 1 with these means

    def uniforms(self, count: int) -> Floats:
        """The next ``count`` steps' random numbers, shape (count, 2): outcome, reward."""

    def step(self, action: int) -> tuple[int, float]:
        """Take an action; returns the next state and the reward."""


class Learner(ABC):
    """Chooses arms and learns from what it is told.

    ``ask`` is a pure read: asking twice changes nothing. ``tell`` accepts any arm, since a pull
    that somebody else decided on is a valid sample too. ``snapshot`` and ``restore`` hold
    everything, random generator included, in what JSON and arrays can hold.
    """

    declaration: ClassVar[Declaration | None] = None  # made by ``declare``, with the next three
    name: str = ""
    guarantee: str = ""  # which regret is bounded, and under which assumptions
    deviation: str = ""  # from the paper's algorithm; empty if there is none
    n_arms: int

    @abstractmethod
    def ask(self) -> int:
        """The arm to pull next."""

    @abstractmethod
    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        """Take note that ``arm`` was pulled, was found in ``state`` and paid ``reward``."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Everything needed to go on later: a dictionary for JSON, and named arrays."""

    @abstractmethod
    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on where ``snapshot`` was taken; the learner must have been built in the same way."""

    @property
    def settings(self) -> dict[str, Any]:
        """What it was built with, for JSON: the constructor's arguments, if it is declared."""
        return {} if self.declaration is None else self.declaration.settings(self)

    @property
    def episodes(self) -> tuple[int, ...]:
        """First steps (from 1) of the episodes so far; empty for learners without episodes."""
        return ()

    @property
    def planning_seconds(self) -> float:
        """Time spent on computing policies since the learner was built."""
        return 0.0

    def save(self, path: str | Path) -> None:
        """Write the snapshot to one zip file of JSON and arrays."""
        write_snapshot(path, self.snapshot())

    def load(self, path: str | Path) -> None:
        """Go on from a saved file; the learner must have been built in the same way."""
        self.restore(*read_snapshot(path))

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        """Pulls along a path that ignores them; both (K, n). Faster than ask and tell if compiled.

        Only the entries of the arms pulled may be looked at. It must end as n rounds of ask and
        tell would.
        """
        pulls = np.empty(states.shape[1], dtype=np.int64)
        for step in range(len(pulls)):
            arm = pulls[step] = self.ask()
            self.tell(int(arm), int(states[arm, step]), float(rewards[arm, step]))
        return pulls

    def play_walk(self, walk: Walk, count: int) -> tuple[Ints, Floats]:
        """Actions and rewards of ``count`` steps in a world that reacts to them."""
        pulls, rewards = np.empty(count, dtype=np.int64), np.empty(count)
        for step in range(count):
            action = self.ask()
            state, reward = walk.step(action)
            self.tell(action, state, reward)
            pulls[step], rewards[step] = action, reward
        return pulls, rewards

    def check_origin(self, state: Mapping[str, Any]) -> None:
        """Refuse a snapshot of another learner, or of one built with other settings."""
        for key, own in (("name", self.name), ("settings", self.settings)):
            if state.get(key) != own:
                made_with, found = repr(state.get(key))[:300], repr(own)[:300]
                remedy = f"Restore it into a learner built with {key} {made_with}."
                fault = Fault(f"snapshot.{key}", "made by another learner", found, remedy)
                raise ProblemError([fault])

    def check_arm(self, arm: int) -> int:
        if not isinstance(arm, int | np.integer) or not 0 <= arm < self.n_arms:
            remedy = f"Arms are numbered 0..{self.n_arms - 1}."
            raise ProblemError([Fault("arm", "no such arm", repr(arm), remedy)])
        return int(arm)

    def check_reward(self, reward: float) -> float:
        if not isinstance(reward, Real | np.bool_):
            remedy = "Give what the arm paid as a number from 0 to 1."
            raise ProblemError([Fault("reward", "not a number", repr(reward)[:80], remedy)])
        if not 0 <= reward <= 1:
            remedy = "Rescale rewards to [0, 1], those of all arms alike."
            raise ProblemError([Fault("reward", "outside [0, 1]", repr(reward), remedy)])
        return float(reward)


def require_arms(n_arms: int) -> None:
    """Refuse a number of arms that is none."""
    if not isinstance(n_arms, int | np.integer) or n_arms < 1:
        remedy = "Give the number of arms: a whole number from 1 on."
        raise ProblemError([Fault("n_arms", "not a number of arms", repr(n_arms)[:80], remedy)])


class ContractError(RestiveError, AssertionError):
    """A learner breaks the contract; the message says which clause, and when."""


def check_learner(
    factory: Callable[[], Learner], sizes: Sequence[int], *, steps: int = 300, seed: int = 0
) -> None:
    """Raise ContractError unless the learners that ``factory`` builds keep the contract.

    sizes: number of states of each arm, for the made-up observations. One pull in eight is not
    the one the learner asked for. Along a path ``play_path`` must do what ask and tell do, and
    look at nothing but the arms it pulls.
    """
    _check_kind(factory(), len(sizes))
    data = _observations(sizes, steps, seed)
    first = _drive(factory(), data)
    if _drive(factory(), data)[0] != first[0]:
        raise ContractError("two learners from the same factory differ on the same observations")
    if _drive(factory(), data, asks=3) != first:
        raise ContractError("asking more often changes what the learner does")
    for cut in sorted({1, 2, steps // 5, steps // 2, 4 * steps // 5}):
        _check_snapshot(factory, data, cut, first)
    _check_path(factory, sizes, steps, seed)


def _check_kind(learner: Learner, n_arms: int) -> None:
    """What has to be there before anything is played."""
    if not isinstance(learner, Learner):
        kind = type(learner).__name__
        words = f"{kind} is not derived from restive.learners.Learner, which play() relies on"
        raise ContractError(words)
    if getattr(learner, "n_arms", None) != n_arms:
        found = getattr(learner, "n_arms", "missing")
        raise ContractError(f"n_arms is {found}, but sizes has {n_arms} entries, one for each arm")
    if not learner.name or not learner.guarantee:
        raise ContractError("a learner needs a name and the words of its guarantee")


def _check_path(
    factory: Callable[[], Learner], sizes: Sequence[int], steps: int, seed: int
) -> None:
    """play_path ends as ask and tell do, also where the arms that are not pulled differ."""
    rng = np.random.default_rng([seed, 1])
    states, other = (
        np.array([rng.integers(size, size=steps) for size in sizes]).reshape(-1, steps)
        for _ in range(2)
    )
    rewards = rng.random(states.shape)
    slow = factory()
    pulls = Learner.play_path(slow, states, rewards)
    expected = pulls.tolist(), _packed(slow, steps)
    _compare_path(factory(), states, rewards, expected, "unlike ask and tell")
    unseen = np.arange(len(sizes))[:, None] != pulls
    states, rewards = np.where(unseen, other, states), np.where(unseen, 1 - rewards, rewards)
    _compare_path(factory(), states, rewards, expected, "by arms that were not pulled")


def _compare_path(
    learner: Learner, states: Ints, rewards: Floats, expected: tuple[list[int], bytes], how: str
) -> None:
    steps = states.shape[1]
    pulls: list[int] = []
    for part in (slice(0, 1), slice(1, steps // 3), slice(steps // 3, steps)):
        try:
            pulls += np.asarray(learner.play_path(states[:, part], rewards[:, part])).tolist()
        except Exception as error:
            raise ContractError(f"play_path failed: {error!r}") from error
    differ = [t for t, (a, b) in enumerate(zip(pulls, expected[0], strict=False)) if a != b]
    if differ or len(pulls) != steps:
        step = differ[0] if differ else min(len(pulls), steps)
        raise ContractError(f"play_path chooses {how}: the first difference is at step {step}")
    if _packed(learner, steps) != expected[1]:
        raise ContractError(f"play_path learns {how}: the snapshots after it differ")


def _check_snapshot(
    factory: Callable[[], Learner], data: _Data, cut: int, expected: tuple[list[int], bytes]
) -> None:
    """A learner restored after ``cut`` steps, and the one it was taken of, go on as expected."""
    early, later = factory(), factory()
    _drive(early, data[:cut])
    packed = _packed(early, cut)
    later.restore(*unpack(packed))
    if _packed(later, cut) != packed:
        raise ContractError(f"restore at step {cut} does not bring back the same snapshot")
    for name, learner in (("restored", later), ("original", early)):
        if _drive(learner, data[cut:]) != (expected[0][cut:], expected[1]):
            raise ContractError(f"the {name} learner goes on differently after step {cut}")


_Data = list[tuple[int | None, list[int], float]]


def _observations(sizes: Sequence[int], steps: int, seed: int) -> _Data:
    rng = np.random.default_rng(seed)
    data: _Data = []
    for _ in range(steps):
        forced = int(rng.integers(len(sizes))) if rng.random() < 0.125 else None
        data.append((forced, [int(rng.integers(size)) for size in sizes], float(rng.random())))
    return data


def _drive(learner: Learner, data: _Data, asks: int = 1) -> tuple[list[int], bytes]:
    """Feed the observations; returns what was asked for, and the final snapshot."""
    asked = []
    for step, (forced, states, reward) in enumerate(data):
        before = _packed(learner, step) if step % 50 == 0 else b""
        answers = {learner.ask() for _ in range(asks + 1)}
        arm = answers.pop()
        if answers:
            raise ContractError(f"step {step}: asking twice gave {arm} and then {answers.pop()}")
        if before and _packed(learner, step) != before:
            raise ContractError(f"step {step}: asking changed the learner's snapshot")
        if not isinstance(arm, int | np.integer) or not 0 <= arm < learner.n_arms:
            raise ContractError(f"step {step}: ask() gave {arm!r}, not an arm below {len(states)}")
        asked.append(int(arm))
        pulled = int(arm) if forced is None else forced
        try:
            learner.tell(pulled, states[pulled], reward)
        except Exception as error:
            words = f"step {step}: tell({pulled}, {states[pulled]}, {reward:.3g}) failed: {error!r}"
            raise ContractError(words) from error
    return asked, _packed(learner, len(data))


def _packed(learner: Learner, step: int) -> bytes:
    try:
        return pack(*learner.snapshot())
    except (TypeError, ValueError) as error:
        raise ContractError(
            f"step {step}: the snapshot does not fit JSON and arrays: {error}"
        ) from error
