"""restive: restless Markov bandits, planned exactly and learned.

The names below are loaded when they are first used, so that ``import restive`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from restive.base.errors import ProblemError, RestiveError, TooLargeError
    from restive.experiments import Experiment, Results, compare, load_results
    from restive.learners import check_learner, make_learner
    from restive.mdp.representation import Representation
    from restive.mdp.solver import Solution, solve
    from restive.mdp.structured import Parameters, StructuredMDP
    from restive.model.bandit import Arm, Bandit
    from restive.model.files import dump_problem, load_problem, parse_problem
    from restive.planning import Plan, forecast, plan
    from restive.planning.evaluation import Value, evaluate
    from restive.simulation import BanditWorld, Run, play

__version__ = "0.1.0"

_HOMES = {
    "Arm": "model.bandit",
    "Bandit": "model.bandit",
    "BanditWorld": "simulation",
    "Experiment": "experiments",
    "Parameters": "mdp.structured",
    "Plan": "planning",
    "ProblemError": "base.errors",
    "Representation": "mdp.representation",
    "RestiveError": "base.errors",
    "Results": "experiments",
    "Run": "simulation",
    "Solution": "mdp.solver",
    "StructuredMDP": "mdp.structured",
    "TooLargeError": "base.errors",
    "Value": "planning.evaluation",
    "check_learner": "learners",
    "compare": "experiments",
    "dump_problem": "model.files",
    "evaluate": "planning.evaluation",
    "forecast": "planning",
    "load_problem": "model.files",
    "load_results": "experiments",
    "make_learner": "learners",
    "parse_problem": "model.files",
    "plan": "planning",
    "play": "simulation",
    "solve": "mdp.solver",
}

__all__ = [
    "Arm",
    "Bandit",
    "BanditWorld",
    "Experiment",
    "Parameters",
    "Plan",
    "ProblemError",
    "Representation",
    "RestiveError",
    "Results",
    "Run",
    "Solution",
    "StructuredMDP",
    "TooLargeError",
    "Value",
    "__version__",
    "check_learner",
    "compare",
    "dump_problem",
    "evaluate",
    "forecast",
    "load_problem",
    "load_results",
    "make_learner",
    "parse_problem",
    "plan",
    "play",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'restive' has no attribute {name!r}")
    value = getattr(import_module(f"restive.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
