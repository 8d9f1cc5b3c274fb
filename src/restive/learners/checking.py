"""A check of the learner contract, for anybody's own class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.errors import ProblemError, RestiveError
from restive.base.randomness import generator
from restive.learners.contract import Learner
from restive.learners.storage import pack, unpack
from restive.policies.sight import Observation


class ContractError(RestiveError, AssertionError):
    """A learner breaks the contract; the message says which clause, and when."""


def check_learner(
    factory: Callable[[], Learner],
    sizes: Sequence[int],
    *,
    steps: int = 300,
    rng: int | np.random.Generator = 0,
) -> None:
    """Raise ContractError unless the learners that ``factory`` builds keep the contract.

    sizes: number of states of each arm, for the made-up observations. One pull in eight is not
    the one the learner asked for, one step in eight is missed, in one in eight some arms are not
    available, and in one in sixteen two arms are seen, which a learner may refuse with a
    ProblemError. Along a path ``play_path`` must do what ask and tell do, and look at nothing but
    the arms it pulls.
    """
    _check_kind(factory(), len(sizes))
    luck = generator(rng)
    data = _made_up(sizes, steps, luck)
    first = _drive(factory(), data)
    if _drive(factory(), data)[0] != first[0]:
        raise ContractError("two learners from the same factory differ on the same observations")
    if _drive(factory(), data, asks=3) != first:
        raise ContractError("asking more often changes what the learner does")
    for cut in sorted({1, 2, steps // 5, steps // 2, 4 * steps // 5}):
        _check_snapshot(factory, data, cut, first)
    _check_path(factory, sizes, steps, luck)


def _check_kind(learner: Learner, n_arms: int) -> None:
    """What has to be there before anything is played."""
    if not isinstance(learner, Learner):
        kind = type(learner).__name__
        words = f"{kind} is not derived from restive.learners.Learner, which play() relies on"
        raise ContractError(words)
    if getattr(learner, "n_arms", None) != n_arms:
        own = getattr(learner, "n_arms", "missing")
        raise ContractError(f"n_arms is {own}, but sizes has {n_arms} entries, one for each arm")
    if not learner.name or not learner.guarantee:
        raise ContractError("a learner needs a name and the words of its guarantee")


def _check_path(
    factory: Callable[[], Learner], sizes: Sequence[int], steps: int, rng: np.random.Generator
) -> None:
    """play_path ends as ask and tell do, also where the arms that are not pulled differ."""
    states, other = (
        np.array([rng.integers(size, size=steps) for size in sizes]).reshape(-1, steps)
        for _ in range(2)
    )
    rewards = rng.random(states.shape)
    slow = factory()
    pulls = _play(slow, Learner.play_path, states, rewards)
    expected = pulls, _packed(slow, steps)
    _compare_path(factory(), states, rewards, expected, "unlike ask and tell")
    unseen = np.arange(len(sizes))[:, None] != np.array(pulls)
    states, rewards = np.where(unseen, other, states), np.where(unseen, 1 - rewards, rewards)
    _compare_path(factory(), states, rewards, expected, "by arms that were not pulled")


def _play(
    learner: Learner, play: Callable[[Learner, Ints, Floats], Ints], states: Ints, rewards: Floats
) -> list[int]:
    """Pulls along a path in three parts, with a missed step after each of them."""
    steps = states.shape[1]
    pulls: list[int] = []
    for part in (slice(0, 1), slice(1, steps // 3), slice(steps // 3, steps)):
        pulls += np.asarray(play(learner, states[:, part], rewards[:, part])).tolist()
        learner.step(())
    return pulls


def _compare_path(
    learner: Learner, states: Ints, rewards: Floats, expected: tuple[list[int], bytes], how: str
) -> None:
    steps = states.shape[1]
    try:
        pulls = _play(learner, type(learner).play_path, states, rewards)
    except Exception as error:
        raise ContractError(f"play_path failed: {error!r}") from error
    differ = [t for t, (a, b) in enumerate(zip(pulls, expected[0], strict=False)) if a != b]
    if differ or len(pulls) != steps:
        step = differ[0] if differ else min(len(pulls), steps)
        raise ContractError(f"play_path chooses {how}: the first difference is at step {step}")
    if _packed(learner, steps) != expected[1]:
        raise ContractError(f"play_path learns {how}: the snapshots after it differ")


def _check_snapshot(
    factory: Callable[[], Learner], data: list[_Step], cut: int, expected: tuple[list[int], bytes]
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


class _Step(NamedTuple):
    """One made-up step: what happens in it, and what every arm would show."""

    kind: str  # "asked", "forced", "missed", "restricted" or "several"
    arms: list[int]  # that are pulled whatever is asked for, or that are available
    states: list[int]
    reward: float


def _made_up(sizes: Sequence[int], steps: int, rng: np.random.Generator) -> list[_Step]:
    kinds = 9 * ["asked"] + 2 * ["forced", "missed", "restricted"] + ["several"]
    data = []
    for _ in range(steps):
        kind = kinds[rng.integers(len(kinds))]
        order = rng.permutation(len(sizes)).tolist()
        count = {"several": 2, "restricted": int(rng.integers(1, len(sizes) + 1))}.get(kind, 1)
        states = [int(rng.integers(size)) for size in sizes]
        data.append(_Step(kind, order[:count], states, float(rng.random())))
    return data


def _drive(learner: Learner, data: list[_Step], asks: int = 1) -> tuple[list[int], bytes]:
    """Feed the observations; returns what was asked for, and the final snapshot."""
    asked = []
    for number, step in enumerate(data):
        before = _packed(learner, number) if number % 50 == 0 else b""
        answers = {_answer(learner, step, number) for _ in range(asks + 1)}
        arm = answers.pop()
        if answers:
            raise ContractError(f"step {number}: asking twice gave {arm} and then {answers.pop()}")
        if before and _packed(learner, number) != before:
            raise ContractError(f"step {number}: asking changed the learner's snapshot")
        asked.append(arm)
        pulled = {"asked": [arm], "restricted": [arm], "missed": []}.get(step.kind, step.arms)
        seen = [Observation(arm, step.states[arm], step.reward) for arm in pulled]
        try:
            _tell(learner, seen)
        except Exception as error:
            words = f"step {number}: {_words(seen)} failed: {error!r}"
            raise ContractError(words) from error
    return asked, _packed(learner, len(data))


def _answer(learner: Learner, step: _Step, number: int) -> int:
    """The arm that a learner asks for, of those available."""
    arm = learner.ask()
    if not isinstance(arm, int | np.integer) or not 0 <= arm < learner.n_arms:
        words = f"step {number}: ask() gave {arm!r}, not an arm below {len(step.states)}"
        raise ContractError(words)
    if step.kind != "restricted":
        return int(arm)
    chosen = learner.ask_step(available=step.arms)
    if len(chosen) != 1 or chosen[0] not in ([arm] if arm in step.arms else step.arms):
        words = f"step {number}: ask_step gave {chosen!r} where arms {step.arms} are available"
        raise ContractError(f"{words} and ask() gave {arm}")
    return int(chosen[0])


def _tell(learner: Learner, seen: list[Observation]) -> None:
    if len(seen) == 1:
        learner.tell(*seen[0])
        return
    try:
        learner.step(seen)
    except ProblemError:
        if not seen:
            raise
        learner.tell(*seen[0])  # one of several at least


def _words(seen: list[Observation]) -> str:
    if len(seen) == 1:
        return f"tell({seen[0].arm}, {seen[0].state}, {seen[0].reward:.3g})"
    return f"step of {len(seen)} observations"


def _packed(learner: Learner, step: int) -> bytes:
    try:
        return pack(*learner.snapshot())
    except (TypeError, ValueError) as error:
        raise ContractError(
            f"step {step}: the snapshot does not fit JSON and arrays: {error}"
        ) from error
