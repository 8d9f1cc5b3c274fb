"""Classes of the user's own that have ``ask`` and ``tell`` and nothing more."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NoReturn

from restive.base.errors import refusal
from restive.learners.contract import Learner
from restive.learners.storage import SavedArrays, SavedState, Snapshot


class PlainLearner(Learner):
    """Plays whatever has ``ask()`` and ``tell(arm, state, reward)``; it cannot be saved.

    >>> class Stay:
    ...     def ask(self):
    ...         return 1
    ...
    ...     def tell(self, arm, state, reward):
    ...         pass
    >>> as_learner(Stay(), 2).ask()
    1
    """

    def __init__(self, player: Any, n_arms: int) -> None:
        self.player, self.n_arms = player, n_arms
        self.name = type(player).__name__
        self.rng = getattr(player, "rng", None)

    def ask(self) -> int:
        return self.check_arm(self.player.ask())

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        self.player.tell(arm, state, reward)

    def snapshot(self) -> Snapshot:
        self._refuse()

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        remedy = "Make it a subclass of restive.learners.Learner, with snapshot and restore."
        raise refusal("learner", "cannot be saved", self.name, remedy)


def as_learner(player: Any, n_arms: int) -> Learner:
    """The player itself if it is a Learner, else anything with ``ask`` and ``tell`` as one."""
    if isinstance(player, Learner):
        return player
    if not all(callable(getattr(player, name, None)) for name in ("ask", "tell")):
        remedy = "Give a learner, or an object with ask() and tell(arm, state, reward)."
        raise refusal("learner", "not a learner", type(player).__name__, remedy)
    return PlainLearner(player, n_arms)
