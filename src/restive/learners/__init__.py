"""Learners: the paper's algorithms, those with tied ages, rivals and yardsticks; by name.

Each is declared at its class (``declaration``). Importing this package imports no NumPy; listing
the learners imports theirs, and no numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from restive.base.errors import Fault, ProblemError
from restive.learners.declaration import DEFAULT, LEARNERS, Declaration, declare

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from restive.learners.checking import check_learner
    from restive.learners.contract import Learner, Observation
    from restive.learners.paper.colored_ucrl2 import ColoredUCRL2
    from restive.learners.paper.inputs import Inputs
    from restive.learners.paper.restless import RestlessLearner
    from restive.model.bandit import Bandit

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

_WHERE = {
    "ColoredUCRL2": "paper.colored_ucrl2",
    "Inputs": "paper.inputs",
    "Learner": "contract",
    "RestlessLearner": "paper.restless",
    "Observation": "contract",
    "check_learner": "checking",
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"restive.learners.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'restive.learners' has no attribute {name!r}")


def make_learner(
    name: str,
    problem: Bandit | int,
    horizon: int | None = None,
    delta: float = 0.05,
    rng: int | np.random.Generator = 0,
    **options: Any,
) -> Learner:
    """A learner by name for a bandit, told what its algorithm asks for and no more.

    problem: a number of arms will do for learners that are told nothing else of them.

    >>> from restive.problems import example1
    >>> make_learner("colored-ucrl2", example1(), 10_000).representation.caps
    (49, 49)
    >>> make_learner("ucb1", 3).n_arms
    3
    """
    return LEARNERS.find(name).build(problem, horizon, delta, rng, **options)


def load_learner(path: str | Path) -> Learner:
    """The learner that a ``save`` wrote; one of your own once its class is imported."""
    from restive.learners.storage import read_snapshot

    state, arrays = read_snapshot(path)
    name = str(state.get("name"))
    entry = LEARNERS.declared().get(name)
    if entry is None:
        remedy = "Import the module that declares it, or build it as before and call its load()."
        raise ProblemError([Fault(f"{path}.name", "no such learner", name, remedy)])
    learner = entry.rebuild(state.get("settings", {}))
    learner.restore(state, arrays)
    return learner
