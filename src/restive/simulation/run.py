"""Play a learner in a world, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.checks import require_horizon
from restive.base.errors import Fault, ProblemError
from restive.learners.contract import Learner
from restive.planning import Plan
from restive.simulation.scoring import GapSum, RewardSum, marks
from restive.simulation.worlds import (
    BLOCK,
    BanditWorld,
    RecordedWorld,
    StructuredWorld,
    recorded_seed,
)

__all__ = ["Run", "World", "play"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
World = BanditWorld | RecordedWorld | StructuredWorld


@dataclass(frozen=True, eq=False)
class Run:
    """One run. Curves belong to the steps in ``times`` (counted from 1) and are sums up to there.

    regret: t rho* - sum of rewards, against the best policy that knows the bandit.
    gap_regret: sum of what each pull lost against the best one in its information state: the same
        in expectation up to ``boundary``, without luck; it never falls.
    weak_regret: t times the mean reward of the best single arm - sum of rewards; below 0 for
        learners that beat every single arm.
    What could not be computed is None, and ``missing`` says why. Where the world ended before the
    horizon, so do the curves.
    """

    horizon: int
    total_reward: float
    times: Ints
    rewards: Floats
    regret: Floats | None
    gap_regret: Floats | None
    weak_regret: Floats | None
    boundary: float | None
    gain: float | None  # rho*, from the start of this run where that matters (periodic arms)
    best_arm_gain: float | None
    episodes: tuple[int, ...]  # first steps
    pulls: tuple[int, ...]  # how often each arm was pulled
    seconds_planning: float
    seconds_playing: float
    provenance: dict[str, Any]
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def replans(self) -> int:
        """How often a policy was computed."""
        return len(self.episodes)

    def to_dict(self) -> dict[str, Any]:
        """The run for JSON."""
        listed = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name, value in listed.items():
            if isinstance(value, np.ndarray):
                listed[name] = value.tolist()
            elif isinstance(value, tuple):
                listed[name] = list(value)
        return {**listed, "replans": self.replans}


def play(
    learner: Learner,
    world: World,
    horizon: int,
    *,
    plan: Plan | None = None,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Let a learner play ``horizon`` steps, from the world's first one on.

    plan: of the world's bandit, for ``regret`` and ``gap_regret``; for a StructuredWorld the
    regret needs none. progress: called with the steps done, now and then.

    >>> from restive.learners import make_learner
    >>> from restive.problems import example1
    >>> run = play(make_learner("round-robin", example1(), None), BanditWorld(example1(), 1), 1000)
    >>> run.pulls, run.missing["regret"]
    ((500, 500), 'no plan was given')
    """
    steps = require_horizon(horizon)
    if isinstance(world, StructuredWorld):
        return _play_structured(learner, world, steps, progress)
    _check(learner, world, plan)
    return _play_path(learner, world, steps, plan, progress)


def _play_path(
    learner: Learner, world: BanditWorld | RecordedWorld, steps: int, plan: Plan | None,
    progress: Callable[[int], None] | None,
) -> Run:  # fmt: skip
    began, planned = perf_counter(), learner.planning_seconds
    rewards = RewardSum(marks(steps), learner.n_arms)
    gaps = None if plan is None else GapSum(plan, rewards.at)
    for path, paid in world.stream(steps):
        pulls = learner.play_path(path, paid)
        rewards.add(pulls, paid)
        if gaps is not None:
            gaps.add(pulls, path, paid)
        if progress is not None:
            progress(rewards.steps)
    rewards.end()
    if gaps is not None:
        gaps.end()
    planning = learner.planning_seconds - planned
    playing = perf_counter() - began - planning
    missing = {} if plan else dict.fromkeys(("regret", "gap_regret"), "no plan was given")
    bandit, gain, best, name = world.bandit, None if gaps is None else gaps.gain, None, ""
    if bandit is None:
        missing["weak_regret"] = "the world is a record without a bandit"
    else:
        best, name = bandit.arms[bandit.best_arm].gain, bandit.name
    return Run(
        steps, rewards.total, rewards.at, rewards.curve, _against(gain, rewards),
        None if gaps is None else gaps.curve, _against(best, rewards),
        None if gaps is None else gaps.boundary, gain, best, _started(learner, steps),
        tuple(rewards.pulled.tolist()), planning, playing, _provenance(learner, world, steps, name),
        missing,
    )  # fmt: skip


def _play_structured(
    learner: Learner, world: StructuredWorld, steps: int, progress: Callable[[int], None] | None
) -> Run:
    gain = world.gain()
    began, planned = perf_counter(), learner.planning_seconds
    rewards, walk = RewardSum(marks(steps), 1), world.begin()
    pulled = np.zeros(learner.n_arms, dtype=np.int64)
    while rewards.steps < steps:
        pulls, paid = learner.play_walk(walk, min(BLOCK, steps - rewards.steps))
        rewards.add(np.zeros_like(pulls), paid[None])
        pulled += np.bincount(pulls, minlength=learner.n_arms)
        if progress is not None:
            progress(rewards.steps)
    why = "a structured MDP has no arms"
    planning = learner.planning_seconds - planned
    return Run(
        steps, rewards.total, rewards.at, rewards.curve, _against(gain, rewards), None, None, None,
        gain, None, _started(learner, steps), tuple(pulled.tolist()), planning,
        perf_counter() - began - planning, _provenance(learner, world, steps, ""),
        {"gap_regret": why, "weak_regret": why},
    )  # fmt: skip


def _against(rate: float | None, rewards: RewardSum) -> Floats | None:
    return None if rate is None else np.asarray(rate * rewards.at - rewards.curve)


def _started(learner: Learner, steps: int) -> tuple[int, ...]:
    """Episodes that began within the run; the plan for the step after it is none of it."""
    return tuple(start for start in learner.episodes if start <= steps)


def _check(learner: Learner, world: BanditWorld | RecordedWorld, plan: Plan | None) -> None:
    arms = len(world.states) if isinstance(world, RecordedWorld) else world.bandit.n_arms
    if learner.n_arms != arms:
        remedy = f"Build it for the {arms} arms of this world."
        fault = Fault("learner.n_arms", "another number of arms", str(learner.n_arms), remedy)
        raise ProblemError([fault])
    if plan is not None and plan.bandit != world.bandit:
        remedy = "Give plan(world.bandit)."
        raise ProblemError([Fault("plan", "made for another bandit", plan.bandit.name, remedy)])


def _provenance(learner: Learner, world: World, steps: int, problem: str) -> dict[str, Any]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        release = version("restive")
    except PackageNotFoundError:
        release = "unknown"
    # the world's seed gives the arms' paths, the learner's own what it draws itself
    rng = getattr(getattr(learner, "learner", learner), "rng", None)
    luck = rng.bit_generator.seed_seq if isinstance(rng, np.random.Generator) else None
    own = recorded_seed(luck) if isinstance(luck, np.random.SeedSequence) else None
    return {
        "restive": release,
        "learner": learner.name,
        "settings": learner.settings,
        "problem": problem,
        "seed": world.seed,
        "learner_seed": own,
        "horizon": steps,
    }
