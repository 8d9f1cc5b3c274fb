"""Learners: the paper's algorithms, those with tied ages, rivals and yardsticks; by name.

Each is declared at its class (``declaration``). Importing this package imports no NumPy; listing
the learners imports theirs, and no numba.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from restive.base.errors import refusal
from restive.base.lazy import lazy
from restive.learners.declaration import DEFAULT, LEARNERS, Declaration, declare

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from restive.learners.checking import check_learner
    from restive.learners.contract import Learner
    from restive.learners.paper.colored_ucrl2 import ColoredUCRL2
    from restive.learners.paper.inputs import Inputs
    from restive.learners.paper.restless import RestlessLearner
    from restive.model.bandit import Bandit
    from restive.policies.sight import Observation

__all__ = [
    "DEFAULT",
    "LEARNERS",
    "ColoredUCRL2",
    "Declaration",
    "Inputs",
    "Learner",
    "Observation",
    "RestlessLearner",
    "check_learner",
    "declare",
    "load_learner",
    "make_learner",
]

__getattr__ = lazy(
    __name__,
    {
        "checking": "check_learner",
        "contract": "Learner Observation",
        "paper.colored_ucrl2": "ColoredUCRL2",
        "paper.inputs": "Inputs",
        "paper.restless": "RestlessLearner",
    },
)


def make_learner(
    name: str,
    problem: Bandit | int,
    horizon: int | None = None,
    delta: float = 0.05,
    rng: int | np.random.Generator = 0,
    *,
    reward_range: Sequence[float] = (0.0, 1.0),
    **options: Any,
) -> Learner:
    """A learner by name for a bandit, told what its algorithm asks for and no more.

    problem: a number of arms will do for learners that are told nothing else of them.
    reward_range: smallest and largest reward that you will tell it, if not 0 and 1.

    >>> from restive.problems import example1
    >>> make_learner("colored-ucrl2", example1(), 10_000).representation.caps
    (49, 49)
    >>> make_learner("ucb1", 3).n_arms
    3
    """
    from restive.learners.in_units import in_units

    return in_units(
        LEARNERS.find(name).build(problem, horizon, delta, rng, **options), reward_range
    )


def load_learner(path: str | Path) -> Learner:
    """The learner that a ``save`` wrote; one of your own once its class is imported."""
    from restive.learners.loading import refusing, restore_checked
    from restive.learners.storage import read_snapshot

    state, arrays = read_snapshot(path)
    name = str(state.get("name"))
    entry = LEARNERS.declared().get(name)
    if entry is None:
        remedy = "Import the module that declares it, or build it as before and call its load()."
        raise refusal(f"{path}.name", "no such learner", name, remedy)
    from restive.learners.in_units import in_units

    with refusing(str(path)):
        learner = entry.rebuild(state.get("settings", {}))
        learner = in_units(learner, state.get("reward_range", (0.0, 1.0)))
    restore_checked(learner, (state, arrays), str(path))
    return learner
