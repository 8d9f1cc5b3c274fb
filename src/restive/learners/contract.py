"""What every learner can do: say which arms to pull, and learn from the steps made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import require
from restive.base.described import in_brief
from restive.base.errors import refusal
from restive.learners.storage import (
    SavedArrays,
    SavedState,
    Snapshot,
    read_snapshot,
    write_snapshot,
)
from restive.policies.policy import most_preferred
from restive.policies.sight import Observation, Sight

if TYPE_CHECKING:
    from restive.learners.declaration import Declaration
    from restive.simulation.structured import StructuredWalk

WHOLE, NUMBER = (int, np.integer), (float, Real, np.bool_)  # a union would be made at every step


class Learner(ABC):
    """Chooses arms and learns from what it is told.

    One pull a step: ``ask`` for the arm, ``tell`` what was seen. In general a step of time brings
    none, one or several observations (``step``), and some arms may not be available for it
    (``ask_step``). Asking is a pure read: asking twice changes nothing. Any arm may be told of,
    since a pull that somebody else decided on is a valid sample too. ``snapshot`` and ``restore``
    hold everything, random generator included, in what JSON and arrays can hold.

    A class of your own needs ``ask``, ``tell``, ``snapshot`` and ``restore``. If it counts time or
    ages it also needs ``pass_time``. With ``several_pulls`` it is told of several observations of
    one step one after the other; if they are more to it than that, it needs ``step``.
    """

    declaration: ClassVar[Declaration | None] = None  # made by ``declare``, with the next four
    name: str = ""
    guarantee: str = ""  # which regret is bounded, and under which assumptions
    deviation: str = ""  # from the paper's algorithm; empty if there is none
    several_pulls: bool = False  # whether it can choose several arms a step, and learn from them
    n_arms: int
    _seconds: float = 0.0  # of planning

    @abstractmethod
    def ask(self) -> int:
        """The arm to pull next."""

    @abstractmethod
    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        """A step with one pull: ``arm`` was found in ``state`` and paid ``reward``."""

    @property
    def most_pulls(self) -> int:
        """How many arms it can choose for one step."""
        return self.n_arms if self.several_pulls else 1

    def ask_step(self, pulls: int = 1, available: Iterable[int] | None = None) -> tuple[int, ...]:
        """The arms to pull next: ``pulls`` of those available, or all of these if they are fewer.

        One arm is the one of ``ask`` wherever that is available.
        """
        whole = isinstance(pulls, int | np.integer) and pulls >= 1
        require(whole, "pulls", pulls, "Give the number of arms to choose, from 1 on.")
        if pulls > self.most_pulls:
            from restive.learners.declaration import too_many_pulls

            raise too_many_pulls(self.name, pulls, f"Ask for at most {self.most_pulls}")
        among = None if available is None else {self.check_arm(arm) for arm in available}
        if pulls == 1 and (among is None or self.ask() in among):
            return (self.ask(),)
        return most_preferred(self.preferences(), pulls, among)

    def preferences(self) -> Floats:
        """How much each arm is preferred now, shape (K,); a pure read, largest where ``ask`` is.

        By default the arm of ``ask`` and then those after it in turn.
        """
        return -((np.arange(self.n_arms) - self.ask()) % self.n_arms).astype(np.float64)

    def step(self, observations: Sequence[Observation]) -> None:
        """One step of time and what was seen in it: the arms pulled, or nothing at all."""
        if len(observations) > 1 and not self.several_pulls:
            remedy = "Tell it of one pull for every step of time."
            message = f"{self.name} learns from one pull a step"
            raise refusal("observations", message, str(len(observations)), remedy)
        for observation in self.check_step(observations):
            self.tell(*observation)
        if not observations:
            self.pass_time()

    def pass_time(self) -> None:  # noqa: B027  (not abstract: many learners count pulls alone)
        """A step was missed: all arms moved and nothing was seen. By default it is not counted."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Everything needed to go on later: a dictionary for JSON, and named arrays."""

    @abstractmethod
    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        """Go on where ``snapshot`` was taken; the learner must have been built in the same way."""

    @property
    def settings(self) -> dict[str, Any]:
        """What it was built with, for JSON: the constructor's arguments, if it is declared."""
        return {} if self.declaration is None else self.declaration.settings(self)

    def __repr__(self) -> str:
        """Its class with the settings that are one word or number."""
        plain = {k: v for k, v in self.settings.items() if isinstance(v, str | int | float)}
        return in_brief(self, **{"n_arms": self.n_arms} | plain)

    @property
    def episodes(self) -> tuple[int, ...]:
        """First steps (from 1) of the episodes so far; empty for learners without episodes."""
        return ()

    @property
    def planning_seconds(self) -> float:
        """Time spent on computing policies since the learner was built."""
        return self._seconds

    def save(self, path: str | Path) -> None:
        """Write the snapshot to one zip file of JSON and arrays."""
        write_snapshot(path, self.snapshot())

    def load(self, path: str | Path) -> None:
        """Go on from a saved file; the learner must have been built in the same way."""
        from restive.learners.loading import restore_checked

        restore_checked(self, read_snapshot(path), str(path))

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

    def play_steps(self, states: Ints, rewards: Floats, pulls: int) -> Ints:
        """As ``play_path`` with so many pulls a step, shape (n, pulls)."""
        chosen = np.empty((states.shape[1], pulls), dtype=np.int64)
        for t in range(len(chosen)):
            chosen[t] = arms = self.ask_step(pulls)
            seen = (Observation(j, int(states[j, t]), float(rewards[j, t])) for j in arms)
            self.step(tuple(seen))
        return chosen

    def play_walk(self, walk: StructuredWalk, count: int) -> tuple[Ints, Floats]:
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
                made_with, own_text = repr(state.get(key))[:300], repr(own)[:300]
                remedy = f"Restore it into a learner built with {key} {made_with}."
                raise refusal(f"snapshot.{key}", "made by another learner", own_text, remedy)

    def check_step(self, observations: Sequence[Observation]) -> list[Observation]:
        """What was seen in a step, with arms and rewards checked before anything is learned."""
        pulled = []
        for k, seen in enumerate(observations):
            if not isinstance(seen, tuple | list) or len(seen) != len(Observation._fields):
                remedy = "Give restive.learners.Observation(arm, state, reward)."
                raise refusal(f"observations[{k}]", "not allowed", repr(seen)[:80], remedy)
            arm, state, reward = seen
            pulled.append(Observation(self.check_arm(arm), state, self.check_reward(reward)))
        arms = {seen.arm for seen in pulled}
        if len(arms) < len(pulled):
            remedy = "Give each arm pulled in the step once."
            told = str([seen.arm for seen in pulled])
            raise refusal("observations", "an arm twice in one step", told, remedy)
        return pulled

    def check_arm(self, arm: int) -> int:
        if not isinstance(arm, WHOLE) or not 0 <= arm < self.n_arms:
            remedy = f"Arms are numbered 0..{self.n_arms - 1}."
            raise refusal("arm", "no such arm", repr(arm), remedy)
        return int(arm)

    def check_reward(self, reward: float) -> float:
        if not isinstance(reward, NUMBER):
            remedy = "Give what the arm paid as a number from 0 to 1."
            raise refusal("reward", "not a number", repr(reward)[:80], remedy)
        if not 0 <= reward <= 1:
            remedy = "Rescale rewards to [0, 1], those of all arms alike."
            raise refusal("reward", "outside [0, 1]", repr(reward), remedy)
        return float(reward)


class SightedLearner(Learner):
    """Base: remembers what was last seen of every arm. One pull is a step like any other.

    A subclass says how it learns in ``step``, or in a ``tell`` of its own.
    """

    def __init__(self, n_arms: int) -> None:
        self.n_arms, self.sight = n_arms, Sight(n_arms)

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        self.step([Observation(arm, state, reward)])

    def snapshot(self) -> Snapshot:
        return {"name": self.name, "settings": self.settings, "sight": self.sight.snapshot()}, {}

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        self.check_origin(state)
        self.sight.restore(state["sight"])
