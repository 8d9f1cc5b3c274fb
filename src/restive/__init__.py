"""restive: restless Markov bandits, planned exactly and learned.

The names below are loaded when they are first used, so that ``import restive`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from restive.bandit import Arm, Bandit
    from restive.errors import ProblemError, RestiveError, TooLargeError
    from restive.evaluation import Value, evaluate
    from restive.experiments import Experiment, Results, compare, load_results
    from restive.files import dump_problem, load_problem, parse_problem
    from restive.learners import check_learner, make_learner
    from restive.planning import Plan, forecast, plan
    from restive.representation import Representation
    from restive.simulation import BanditWorld, Run, play
    from restive.solver import Solution, solve
    from restive.structured import Parameters, StructuredMDP

__version__ = "0.1.0"

_HOMES = {
    "Arm": "bandit",
    "Bandit": "bandit",
    "BanditWorld": "simulation",
    "Experiment": "experiments",
    "Parameters": "structured",
    "Plan": "planning",
    "ProblemError": "errors",
    "Representation": "representation",
    "RestiveError": "errors",
    "Results": "experiments",
    "Run": "simulation",
    "Solution": "solver",
    "StructuredMDP": "structured",
    "TooLargeError": "errors",
    "Value": "evaluation",
    "check_learner": "learners",
    "compare": "experiments",
    "dump_problem": "files",
    "evaluate": "evaluation",
    "forecast": "planning",
    "load_problem": "files",
    "load_results": "experiments",
    "make_learner": "learners",
    "parse_problem": "files",
    "plan": "planning",
    "play": "simulation",
    "solve": "solver",
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
