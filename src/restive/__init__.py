"""restive: restless Markov bandits, planned exactly and learned.

The names below are loaded when they are first used, so that ``import restive`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from restive import learners, problems, theory
    from restive.base.errors import Fault, ProblemError, RestiveError, TooLargeError
    from restive.base.options import Parameter
    from restive.experiments import (
        Experiment,
        Participant,
        Results,
        compare,
        load_results,
        summarize,
    )
    from restive.learners import (
        LEARNERS,
        Learner,
        Observation,
        check_learner,
        declare,
        load_learner,
        make_learner,
    )
    from restive.learners.tied.sampling import TiedSampling
    from restive.many.bounded import BoundedPlan
    from restive.many.lagrangian import lagrangian_bound
    from restive.many.planner import best_plan
    from restive.many.scheduler import Scheduler
    from restive.many.whittle import whittle_table
    from restive.mdp.representation import Representation
    from restive.mdp.solver import Solution, solve
    from restive.mdp.structured import Parameters, StructuredMDP
    from restive.model.bandit import Arm, Bandit
    from restive.model.files import dump_problem, load_problem, parse_problem, problem_schema
    from restive.planning import Plan, forecast, plan, plan_within
    from restive.planning.evaluation import Value, evaluate
    from restive.planning.indices import whittle_indices
    from restive.policies.greedy import plan_policy
    from restive.policies.policy import Always, FunctionPolicy, InTurn, Policy
    from restive.policies.tables import myopic_policy, whittle_policy
    from restive.problems.lookup import find_problem
    from restive.problems.suites import suite, suite_gains, suites
    from restive.report import policy_figure, write_report
    from restive.simulation import BanditWorld, RecordedWorld, Run, StructuredWorld, play

__version__ = "0.1.0"

__all__ = [
    "LEARNERS",
    "Always",
    "Arm",
    "Bandit",
    "BanditWorld",
    "BoundedPlan",
    "Experiment",
    "Fault",
    "FunctionPolicy",
    "InTurn",
    "Learner",
    "Observation",
    "Parameter",
    "Parameters",
    "Participant",
    "Plan",
    "Policy",
    "ProblemError",
    "RecordedWorld",
    "Representation",
    "RestiveError",
    "Results",
    "Run",
    "Scheduler",
    "Solution",
    "StructuredMDP",
    "StructuredWorld",
    "TiedSampling",
    "TooLargeError",
    "Value",
    "__version__",
    "best_plan",
    "check_learner",
    "compare",
    "declare",
    "dump_problem",
    "evaluate",
    "find_problem",
    "forecast",
    "lagrangian_bound",
    "learners",
    "load_learner",
    "load_problem",
    "load_results",
    "make_learner",
    "myopic_policy",
    "parse_problem",
    "plan",
    "plan_policy",
    "plan_within",
    "play",
    "policy_figure",
    "problem_schema",
    "problems",
    "solve",
    "suite",
    "suite_gains",
    "suites",
    "summarize",
    "theory",
    "whittle_indices",
    "whittle_policy",
    "whittle_table",
    "write_report",
]

_HOMES = {
    "base.errors": "Fault ProblemError RestiveError TooLargeError",
    "base.options": "Parameter",
    "experiments": "Experiment Participant Results compare load_results summarize",
    "learners": "LEARNERS Learner Observation check_learner declare load_learner make_learner",
    "learners.tied.sampling": "TiedSampling",
    "many.bounded": "BoundedPlan",
    "many.lagrangian": "lagrangian_bound",
    "many.planner": "best_plan",
    "many.scheduler": "Scheduler",
    "many.whittle": "whittle_table",
    "mdp.representation": "Representation",
    "mdp.solver": "Solution solve",
    "mdp.structured": "Parameters StructuredMDP",
    "model.bandit": "Arm Bandit",
    "model.files": "dump_problem load_problem parse_problem problem_schema",
    "planning": "Plan forecast plan plan_within",
    "planning.evaluation": "Value evaluate",
    "planning.indices": "whittle_indices",
    "policies.greedy": "plan_policy",
    "policies.policy": "Always FunctionPolicy InTurn Policy",
    "policies.tables": "myopic_policy whittle_policy",
    "problems.lookup": "find_problem",
    "problems.suites": "suite suite_gains suites",
    "report": "policy_figure write_report",
    "simulation": "BanditWorld RecordedWorld Run StructuredWorld play",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
_ROOMS = ("learners", "problems", "theory")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"restive.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'restive' has no attribute {name!r}")
    value = getattr(import_module(f"restive.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
