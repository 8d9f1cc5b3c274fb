"""From a bandit and a name to a learner: each is told what its algorithm asks for and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.errors import Fault, ProblemError
from restive.base.options import spread
from restive.learners.contract import Learner
from restive.learners.defaults import TOLERANCE
from restive.learners.fixed import PlanPolicy, RoundRobin, SingleArm
from restive.learners.paper.inputs import Inputs
from restive.learners.paper.restless import COLORED_UCRL2, KEEPING, RestlessLearner
from restive.learners.tied.optimism import TIED_OPTIMISM
from restive.learners.tied.plan_size import require_plannable
from restive.learners.tied.posterior import ChainPosterior, RewardPosterior
from restive.learners.tied.sampling import TiedSampling, TiedSettings
from restive.model.bandit import Bandit
from restive.planning import plan

Seed = int | np.random.Generator

METHODS = {method.name: method for method in (COLORED_UCRL2, KEEPING, TIED_OPTIMISM)}


def tied_sampling(
    bandit: Bandit, horizon: int | None, delta: float, rng: Seed, **options: Any
) -> Learner:
    require_plannable(bandit.n_states)  # now, and not once it has seen them all
    return TiedSampling(bandit.n_arms, rng, TiedSettings(**options))


def tied_ucrl(
    bandit: Bandit, horizon: int | None, delta: float, rng: Seed, **options: Any
) -> Learner:
    return RestlessLearner(restless_inputs(bandit, horizon, delta, **options), TIED_OPTIMISM, rng)


def algorithm_2(
    bandit: Bandit, horizon: int | None, delta: float, rng: Seed, **options: Any
) -> Learner:
    inputs = restless_inputs(bandit, horizon, delta, **options)
    return RestlessLearner(inputs, COLORED_UCRL2, rng)


def algorithm_2_unknown(
    bandit: Bandit, horizon: int | None, delta: float, rng: Seed, **options: Any
) -> Learner:
    return algorithm_2(bandit, horizon, delta, rng, **{**_ALL_UNKNOWN, **options})


def algorithm_2_keeping(
    bandit: Bandit, horizon: int | None, delta: float, rng: Seed, **options: Any
) -> Learner:
    chosen = {**_ALL_UNKNOWN, **options}
    inputs = restless_inputs(bandit, horizon, delta, keep_samples=True, **chosen)
    return RestlessLearner(inputs, KEEPING, rng)


_ALL_UNKNOWN = dict.fromkeys(
    ("unknown_horizon", "unknown_mixing", "unknown_states", "unknown_periods"), True
)


def restless_inputs(
    bandit: Bandit, horizon: int | None, delta: float, *, unknown_horizon: bool = False,
    unknown_mixing: bool = False, unknown_states: bool = False, unknown_periods: bool = False,
    mixing_times: int | Sequence[int] | None = None, keep_samples: bool = False,
) -> Inputs:  # fmt: skip
    """What a learner may know of this bandit: everything but what is unknown."""
    if horizon is None and not unknown_horizon:
        remedy = "Give the number of steps, or set unknown_horizon."
        raise ProblemError([Fault("horizon", "needed by this learner", "None", remedy)])
    times = None
    if not unknown_mixing:
        own = [arm.mixing_time() for arm in bandit.arms]
        times = tuple(
            own if mixing_times is None else spread("mixing_times", mixing_times, len(own))
        )
    return Inputs(
        bandit.n_arms,
        delta,
        None if unknown_horizon else horizon,
        times,
        None if unknown_states else bandit.n_states,
        None if unknown_periods else tuple(arm.period for arm in bandit.arms),
        keep_samples,
    )


def optimal(
    bandit: Bandit, horizon: int | None, delta: float, rng: Seed, tolerance: float = TOLERANCE
) -> Learner:
    return PlanPolicy(plan(bandit, tolerance))


def best_arm(bandit: Bandit, horizon: int | None, delta: float, rng: Seed) -> Learner:
    return SingleArm(bandit.n_arms, bandit.best_arm)


def round_robin(bandit: Bandit, horizon: int | None, delta: float, rng: Seed) -> Learner:
    return RoundRobin(bandit.n_arms)


def from_snapshot(state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Learner:
    """A learner of its own settings, gone on from a snapshot."""
    learner = _from_settings(str(state.get("name")), state.get("settings", {}))
    learner.restore(state, arrays)
    return learner


def _from_settings(name: str, settings: dict[str, Any]) -> Learner:
    if name == TiedSampling.name:
        rest = {key: value for key, value in settings.items() if key != "n_arms"}
        rest["chains"] = ChainPosterior(**rest["chains"])
        rest["rewards"] = RewardPosterior(**rest["rewards"])
        return TiedSampling(settings["n_arms"], settings=TiedSettings(**rest))
    if name not in METHODS:
        remedy = "Build the learner as before and call its load()."
        raise ProblemError([Fault("name", "cannot be built from its settings", name, remedy)])
    return RestlessLearner(Inputs.from_dict(settings), METHODS[name])
