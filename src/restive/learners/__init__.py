"""Learners: Algorithm 2 with its extensions, and yardsticks; by name for the command line.

Listing them imports neither NumPy nor numba.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from restive.base.errors import Fault, ProblemError
from restive.base.options import Parameter
from restive.learners import defaults

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from restive.learners.contract import Learner, check_learner
    from restive.learners.paper.colored_ucrl2 import ColoredUCRL2
    from restive.learners.paper.inputs import Inputs
    from restive.learners.paper.restless import RestlessLearner
    from restive.model.bandit import Bandit

__all__ = [
    "LEARNERS",
    "ColoredUCRL2",
    "Inputs",
    "Learner",
    "LearnerEntry",
    "RestlessLearner",
    "check_learner",
    "load_learner",
    "make_learner",
]

_WHERE = {
    "ColoredUCRL2": "paper.colored_ucrl2",
    "Inputs": "paper.inputs",
    "Learner": "contract",
    "RestlessLearner": "paper.restless",
    "check_learner": "contract",
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"restive.learners.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'restive.learners' has no attribute {name!r}")


@dataclass(frozen=True)
class LearnerEntry:
    """A learner that can be built by name for a bandit."""

    name: str
    description: str
    guarantee: str
    parameters: tuple[Parameter, ...]
    builder: str  # name in restive.learners.builders, or "module:name" below restive.learners
    assumes: str = field(kw_only=True)  # of the problem, and what it is told
    deviation: str = field(default="", kw_only=True)  # from its paper, if there is one

    def build(self, *arguments: Any, **options: Any) -> Learner:
        module, _, name = self.builder.rpartition(":")
        function: Callable[..., Learner]
        function = getattr(import_module(f"restive.learners.{module or 'builders'}"), name)
        return function(*arguments, **options)


def _unknown(default: bool) -> tuple[Parameter, ...]:
    words = {
        "horizon": "do without T: rounds of doubling length",
        "mixing": "do without mixing times: guess log t, in rounds of doubling length",
        "states": "do without state spaces: states join as they are seen",
        "periods": "do without periods: lcm(1..|S|) for each arm",
    }
    return tuple(Parameter(f"unknown_{key}", "bool", default, text) for key, text in words.items())


_BOUND = "regret against rho* of order sqrt(T) with probability 1 - delta (Theorem 2)"
_TOLD = (
    "irreducible chains, rewards in [0, 1]; told horizon, state spaces, mixing times and periods, "
    "unless an option says that one is unknown"
)
_TIMES = Parameter("mixing_times", "ints", None, "Tmix(1/4) of the arms, if not their own", 1)
_GROWTH = Parameter(
    "growth", "float", defaults.GROWTH, "longest episode, as a share of all steps before", 0
)
_AGGREGATION = Parameter(
    "aggregation", "float", defaults.AGGREGATION,
    "L1 distance at which ages are no longer told apart", 0, 2, above=True,
)  # fmt: skip


_TOLERANCE = Parameter(
    "tolerance", "float", defaults.TOLERANCE, "width of the plan's interval", 1e-12, 1
)


def _rivals() -> tuple[LearnerEntry, ...]:
    from restive.learners.rivals import policy_entries, weak_entries  # which need LearnerEntry

    return weak_entries.ENTRIES + policy_entries.ENTRIES


LEARNERS: dict[str, LearnerEntry] = {
    entry.name: entry
    for entry in (
        LearnerEntry(
            "tied-sampling",
            "posterior sampling with all ages of an arm tied to one matrix; told nothing",
            "none proven; Bayesian, the posterior is exact for Dirichlet rows and normal rewards",
            (_GROWTH, _AGGREGATION),
            "tied_sampling",
            assumes="irreducible chains, rewards in [0, 1]; told the number of arms only",
        ),
        LearnerEntry(
            "tied-ucrl",
            "Algorithm 2 with confidence sets for P that bind all its powers",
            "the regret bound of Algorithm 2 with smaller radii, with probability 1 - 2 delta",
            (*_unknown(False), _TIMES),
            "tied_ucrl",
            assumes=_TOLD,
            deviation="from Algorithm 2: sets for powers of P, pooled rewards, shorter episodes",
        ),
        LearnerEntry(
            "colored-ucrl2",
            "the restless bandits algorithm (Algorithm 2), constants as published",
            _BOUND,
            (*_unknown(False), _TIMES),
            "algorithm_2",
            assumes=_TOLD,
        ),
        LearnerEntry(
            "colored-ucrl2-unknown",
            "Algorithm 2 without being told horizon, mixing times, states and periods",
            f"{_BOUND}, with worse constants",
            (*_unknown(True), _TIMES),
            "algorithm_2_unknown",
            assumes="irreducible chains, rewards in [0, 1]; told the number of arms and delta only",
        ),
        LearnerEntry(
            "colored-ucrl2-keeping",
            "the same, but samples are kept from round to round",
            "confidence sets that hold with probability 1 - delta; no regret bound is proven",
            (*_unknown(True), _TIMES),
            "algorithm_2_keeping",
            assumes="irreducible chains, rewards in [0, 1]; told the number of arms and delta only",
            deviation="samples are not forgotten at the beginning of a round",
        ),
        LearnerEntry(
            "optimal",
            "knows the bandit and follows its plan: the yardstick",
            "regret against rho* that does not grow but for luck; no gap regret",
            (_TOLERANCE,),
            "optimal",
            assumes="told the bandit",
        ),
        LearnerEntry(
            "best-arm",
            "knows which single arm pays most and pulls it for ever",
            "weak regret that does not grow but for luck; regret against rho* may grow linearly",
            (),
            "best_arm",
            assumes="told which arm pays most on average",
        ),
        LearnerEntry(
            "round-robin",
            "pulls all arms in turn",
            "none",
            (),
            "round_robin",
            assumes="nothing; told the number of arms only",
        ),
        *_rivals(),
    )
}


def make_learner(
    name: str,
    bandit: Bandit,
    horizon: int | None,
    delta: float = 0.05,
    rng: int | np.random.Generator = 0,
    **options: Any,
) -> Learner:
    """A learner by name for a bandit, told what its algorithm asks for and no more.

    >>> from restive.problems import example1
    >>> make_learner("colored-ucrl2", example1(), 10_000).representation.caps
    (49, 49)
    """
    entry = LEARNERS.get(name)
    if entry is None:
        remedy = f"Learners are {', '.join(LEARNERS)}."
        raise ProblemError([Fault("learner", "no such learner", name, remedy)])
    known = {parameter.name: parameter for parameter in entry.parameters}
    faults = [fault for key, value in options.items() if key in known
              for fault in known[key].check(value)]  # fmt: skip
    for key in options.keys() - known.keys():
        remedy = f"Its options are {', '.join(known)}." if known else "It has no options."
        faults.append(Fault(key, f"{name} has no such option", repr(options[key]), remedy))
    if faults:
        raise ProblemError(faults)
    return entry.build(bandit, horizon, delta, rng, **options)


def load_learner(path: str | Path) -> Learner:
    """The learner that a ``save`` wrote, for those that need nothing but their settings."""
    from restive.learners.builders import from_snapshot
    from restive.learners.storage import read_snapshot

    return from_snapshot(*read_snapshot(path))
