"""restive: restless Markov bandits, planned exactly and learned.

The names below are loaded when they are first used, so that ``import restive`` is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restive.base.lazy import lazy

if TYPE_CHECKING:
    from restive import learners, problems, theory
    from restive.base.backends import Workplace
    from restive.base.errors import Fault, ProblemError, RestiveError, TooLargeError
    from restive.base.options import Parameter
    from restive.data.fitting import Fit, fit
    from restive.data.markov import check_markov
    from restive.data.reading import read_traces
    from restive.data.replay import replay
    from restive.data.replay_result import Replay
    from restive.data.traces import Traces
    from restive.experiments import (
        Experiment,
        Participant,
        Results,
        compare,
        load_experiment,
        load_results,
        summarize,
    )
    from restive.experiments.schema import experiment_schema
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
    from restive.many.index_tables import IndexTable
    from restive.many.lagrangian import lagrangian_bound
    from restive.many.planner import best_plan
    from restive.many.scheduler import Scheduler
    from restive.many.simulating import simulate_policy
    from restive.many.two_state import two_state_bound
    from restive.many.whittle import whittle_table
    from restive.mdp.representation import Representation
    from restive.mdp.solver import Solution, solve
    from restive.mdp.structured import Parameters, StructuredMDP
    from restive.model.bandit import Arm, Bandit
    from restive.model.files import dump_problem, load_problem, parse_problem, problem_schema
    from restive.planning import Plan, forecast, plan, plan_within
    from restive.planning.evaluation import evaluate
    from restive.planning.indices import whittle_indices
    from restive.planning.policy_chain import Value
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
    "Fit",
    "FunctionPolicy",
    "InTurn",
    "IndexTable",
    "Learner",
    "Observation",
    "Parameter",
    "Parameters",
    "Participant",
    "Plan",
    "Policy",
    "ProblemError",
    "RecordedWorld",
    "Replay",
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
    "Traces",
    "Value",
    "Workplace",
    "__version__",
    "best_plan",
    "check_learner",
    "check_markov",
    "compare",
    "declare",
    "dump_problem",
    "evaluate",
    "experiment_schema",
    "find_problem",
    "fit",
    "forecast",
    "lagrangian_bound",
    "learners",
    "load_experiment",
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
    "read_traces",
    "replay",
    "simulate_policy",
    "solve",
    "suite",
    "suite_gains",
    "suites",
    "summarize",
    "theory",
    "two_state_bound",
    "whittle_indices",
    "whittle_policy",
    "whittle_table",
    "write_report",
]

_HOMES = {
    "base.backends": "Workplace",
    "base.errors": "Fault ProblemError RestiveError TooLargeError",
    "base.options": "Parameter",
    "data.fitting": "Fit fit",
    "data.replay": "replay",
    "data.replay_result": "Replay",
    "data.reading": "read_traces",
    "data.traces": "Traces",
    "data.markov": "check_markov",
    "experiments.schema": "experiment_schema",
    "experiments": "Experiment Participant Results compare load_experiment load_results summarize",
    "learners": "LEARNERS Learner Observation check_learner declare load_learner make_learner",
    "learners.tied.sampling": "TiedSampling",
    "many.bounded": "BoundedPlan",
    "many.index_tables": "IndexTable",
    "many.lagrangian": "lagrangian_bound",
    "many.planner": "best_plan",
    "many.scheduler": "Scheduler",
    "many.simulating": "simulate_policy",
    "many.two_state": "two_state_bound",
    "many.whittle": "whittle_table",
    "mdp.representation": "Representation",
    "mdp.solver": "Solution solve",
    "mdp.structured": "Parameters StructuredMDP",
    "model.bandit": "Arm Bandit",
    "model.files": "dump_problem load_problem parse_problem problem_schema",
    "planning": "Plan forecast plan plan_within",
    "planning.evaluation": "evaluate",
    "planning.indices": "whittle_indices",
    "planning.policy_chain": "Value",
    "policies.greedy": "plan_policy",
    "policies.policy": "Always FunctionPolicy InTurn Policy",
    "policies.tables": "myopic_policy whittle_policy",
    "problems.lookup": "find_problem",
    "problems.suites": "suite suite_gains suites",
    "report": "policy_figure write_report",
    "simulation": "BanditWorld RecordedWorld Run StructuredWorld play",
}
__getattr__ = lazy(__name__, _HOMES, ("learners", "problems", "theory"))


def __dir__() -> list[str]:
    return sorted(__all__)
