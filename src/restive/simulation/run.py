"""Play a learner in a world, and the run that results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import require_horizon
from restive.base.described import Described
from restive.base.errors import Fault, refusal, refuse
from restive.base.machine import installed_version
from restive.base.notebook import notebook_line
from restive.base.pictured import Pictured
from restive.base.randomness import recorded_seed
from restive.base.table import Table
from restive.base.words import duration_text, python_text
from restive.learners.contract import Learner
from restive.learners.fixed import FollowPolicy
from restive.learners.plain import as_learner
from restive.many.several_pulls import PullsPlan
from restive.model.bandit import Bandit
from restive.planning import Plan
from restive.policies.policy import Policy
from restive.simulation.changing import ChangingWorld
from restive.simulation.scoring import GapSum, RewardSum, marks
from restive.simulation.structured import StructuredWorld
from restive.simulation.worlds import BLOCK, BanditWorld, RecordedWorld

World = BanditWorld | RecordedWorld | StructuredWorld
Yardsticks = tuple[float | None, float | None, dict[str, str]]  # rho*, best arms, what is missing

ONE_PULL = "gap regret is only defined for one pull a step"
NO_PLAN = "no plan was given: play(..., plan=plan(bandit)) computes it"


@dataclass(frozen=True, eq=False, repr=False)
class Run(Described, Pictured):
    """One run. Curves belong to the steps in ``times`` (counted from 1) and are sums up to there.

    regret: t rho* - sum of rewards, against the best policy that knows the bandit.
    gap_regret: sum of what each pull lost against the best one in its information state: the same
        in expectation up to ``boundary``, without luck; it never falls.
    weak_regret: t times the mean reward of the best single arm - sum of rewards; below 0 for
        learners that beat every single arm. With m pulls a step, of the m best arms together.
    What could not be computed is None, and ``missing`` says why. Where the world ended before the
    horizon, so do the curves, and ``steps`` says where. ``plot(path)`` draws the regrets.
    """

    picture: ClassVar[str] = "restive.report.learning:learning_figure"

    horizon: int  # steps that were asked for
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
    def steps(self) -> int:
        """Steps that were made."""
        return int(self.times[-1]) if len(self.times) else 0

    @property
    def replans(self) -> int:
        """How often a policy was computed."""
        return len(self.episodes)

    def in_units(self, bandit: Bandit) -> Run:
        """The same run with rewards and regrets in the units that the bandit's rewards are in."""
        units, pulls = bandit.units, bandit.pulls
        if units.plain:
            return self

        def lost(amount: Any) -> Any:
            return None if amount is None else units.loss(amount)

        def mean(rate: float | None) -> float | None:
            return None if rate is None else units.mean(rate, pulls)

        return replace(
            self, total_reward=units.total(self.total_reward, self.steps * pulls),
            rewards=units.total(self.rewards, self.times * pulls), regret=lost(self.regret),
            gap_regret=lost(self.gap_regret), weak_regret=lost(self.weak_regret),
            boundary=lost(self.boundary), gain=mean(self.gain),
            best_arm_gain=mean(self.best_arm_gain),
        )  # fmt: skip

    def table(self) -> Table:
        """The curves: one row for each step in ``times``."""
        names = ("times", "rewards", "regret", "gap_regret", "weak_regret")
        curves = {name: getattr(self, name) for name in names}
        return Table({name: curve.tolist() for name, curve in curves.items() if curve is not None})

    def _title(self) -> str:
        problem, asked = self.provenance["problem"], self.horizon
        place = f" on {problem}" if problem else ""
        short = f" of {asked:,}" if self.steps < asked else ""
        return f"Run of {self.provenance['learner']}{place}, {self.steps:,}{short} steps"

    def _facts(self) -> list[tuple[str, str]]:
        count = sum(self.pulls) // max(self.steps, 1)
        alone = f"best {count} arms alone" if count > 1 else "best arm alone"
        rates = {"earned per step": self.total_reward / self.steps if self.steps else None,
                 "best policy": self.gain, alone: self.best_arm_gain}  # fmt: skip
        facts = [(who, f"{rate:.4f}") for who, rate in rates.items() if rate is not None]
        for name in ("regret", "gap_regret", "weak_regret") if self.steps else ():
            curve, why = getattr(self, name), self.missing.get(name)
            words = f"unknown, {why}" if curve is None else f"{curve[-1]:,.1f}"
            facts.append((name.replace("_", " "), words))
        times = f"{duration_text(self.seconds_playing)} playing"
        times += f", {duration_text(self.seconds_planning)} planning {self.replans:,} times"
        return [*facts, ("took", times)]

    def to_dict(self) -> dict[str, Any]:
        """The run for JSON."""
        listed = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, value in listed.items():
            if isinstance(value, np.ndarray):
                listed[name] = value.tolist()
            elif isinstance(value, tuple):
                listed[name] = list(value)
        return {**listed, "steps": self.steps, "replans": self.replans}


def play(
    learner: Learner | Policy,
    world: World,
    horizon: int,
    *,
    plan: Plan | PullsPlan | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Run:
    """Let a learner, or a policy, play ``horizon`` steps, from the world's first one on.

    A class of your own needs only ``ask()`` and ``tell(arm, state, reward)``. It pulls as many
    arms a step as the world's bandit says. plan: of that bandit, for ``regret`` and ``gap_regret``;
    for a StructuredWorld the regret needs none. progress: called with steps done and their rewards.

    >>> from restive.policies.policy import InTurn
    >>> from restive.problems import example1
    >>> run = play(InTurn(2), BanditWorld(example1(), 1), 1000)
    >>> run.pulls, run.missing["regret"]
    ((500, 500), 'no plan was given: play(..., plan=plan(bandit)) computes it')
    """
    steps = require_horizon(horizon)
    learner = _player(learner, world, plan)
    yardsticks = _yardsticks(world, plan)
    began, planned = perf_counter(), learner.planning_seconds
    rewards = RewardSum(marks(steps), learner.n_arms)
    gaps = GapSum(plan, rewards.at) if isinstance(plan, Plan) else None
    with notebook_line() as tell:
        for _ in _played(learner, world, steps, rewards, gaps):
            if progress is not None:
                progress(rewards.steps, rewards.total)
            elif tell is not None:
                tell(f"{learner.name}: {rewards.steps:,} of {steps:,} steps")
    planning = learner.planning_seconds - planned
    seconds = planning, perf_counter() - began - planning
    provenance = _provenance(learner, world, steps)
    # the plan for the step after the run is no episode of it
    episodes = tuple(start for start in learner.episodes if start <= rewards.steps)
    return _run(rewards, gaps, yardsticks, episodes, seconds, provenance)


def _run(
    rewards: RewardSum, gaps: GapSum | None, yardsticks: Yardsticks, episodes: tuple[int, ...],
    seconds: tuple[float, float], provenance: dict[str, Any],
) -> Run:  # fmt: skip
    """The sums beside the yardsticks. seconds: planning and playing."""
    gain, best, missing = yardsticks
    rewards.end()
    if gaps is not None:
        gaps.end()
        gain = gaps.gain
    return Run(
        provenance["horizon"], rewards.total, rewards.at, rewards.curve, _against(gain, rewards),
        None if gaps is None else gaps.curve, _against(best, rewards),
        None if gaps is None else gaps.boundary, gain, best, episodes,
        tuple(rewards.pulled.tolist()), *seconds, provenance, missing,
    )  # fmt: skip


def _played(
    learner: Learner, world: World, steps: int, rewards: RewardSum, gaps: GapSum | None
) -> Iterator[None]:
    """Play part after part, and add up what it brought."""
    if isinstance(world, StructuredWorld):
        walk = world.walk()
        while rewards.steps < steps:
            rewards.add_paid(*learner.play_walk(walk, min(BLOCK, steps - rewards.steps)))
            yield
        return
    for path, paid in world.stream(steps):
        if (count := _pulls(world)) > 1:
            chosen = learner.play_steps(path, paid, count)
            rewards.add_paid(chosen, paid[chosen.T, np.arange(len(chosen))].sum(axis=0))
        else:
            pulls = learner.play_path(path, paid)
            rewards.add(pulls, paid)
            if gaps is not None:
                gaps.add(pulls, path, paid)
        yield


def _pulls(world: BanditWorld | RecordedWorld) -> int:
    return 1 if world.bandit is None else world.bandit.pulls


def _yardsticks(world: World, plan: Plan | PullsPlan | None) -> Yardsticks:
    """rho* if it takes no plan, what the best arms alone earn, and why there is no more."""
    if isinstance(world, StructuredWorld):
        why = "a structured MDP has no arms"
        return world.gain(), None, {"gap_regret": why, "weak_regret": why}
    if isinstance(world, ChangingWorld):
        names = ("regret", "gap_regret", "weak_regret")
        return None, None, dict.fromkeys(names, "the arms change")
    missing = {} if plan else {"regret": NO_PLAN, "gap_regret": NO_PLAN}
    missing |= {"gap_regret": ONE_PULL} if _pulls(world) > 1 else {}
    if world.bandit is None:
        return None, None, {**missing, "weak_regret": "the world is a record without a bandit"}
    return None if plan is None else plan.gain, world.bandit.best_arms_gain, missing


def _against(rate: float | None, rewards: RewardSum) -> Floats | None:
    return None if rate is None else np.asarray(rate * rewards.at - rewards.curve)


def _arms(world: BanditWorld | RecordedWorld) -> int:
    return len(world.states) if isinstance(world, RecordedWorld) else world.bandit.n_arms


def _player(learner: Learner | Policy, world: World, plan: Plan | PullsPlan | None) -> Learner:
    """Who plays, checked to fit the world: a learner, or one that follows the policy."""
    _check_kinds(learner, world)
    if isinstance(learner, Policy):
        learner = FollowPolicy(learner)
    elif not isinstance(world, StructuredWorld):
        learner = as_learner(learner, _arms(world))
    _check(learner, world, plan)
    return learner


def _check_kinds(learner: object, world: object) -> None:
    """Say what to give where a name, a class or a bandit stands for what is made of it."""
    faults = []
    plays = all(callable(getattr(learner, name, None)) for name in ("ask", "tell"))
    if isinstance(learner, type) or not (plays or isinstance(learner, Policy)):
        remedy = "Give a learner or a policy; restive.FunctionPolicy makes one of a function."
        if isinstance(learner, str):
            remedy = f"Build it first: restive.make_learner({learner!r}, bandit, horizon)."
        faults.append(Fault("learner", "not a learner", python_text(learner), remedy))
    if not isinstance(world, World):
        remedy = "Give a world to play in: restive.BanditWorld(bandit, rng)."
        faults.append(Fault("world", "not a world", python_text(world), remedy))
    refuse(faults)


def _check(learner: Learner, world: World, plan: Plan | PullsPlan | None) -> None:
    if isinstance(world, StructuredWorld):
        return
    arms = _arms(world)
    if learner.n_arms != arms:
        remedy = f"Build it for the {arms} arms of this world."
        raise refusal("learner.n_arms", "another number of arms", str(learner.n_arms), remedy)
    if _pulls(world) > 1:
        learner.ask_step(_pulls(world))  # refuses what it cannot choose
    if plan is not None and isinstance(world, ChangingWorld):
        remedy = "Leave the plan out, and compare rewards with those of each stage's plan."
        raise refusal("plan", "for arms that change", plan.bandit.name, remedy)
    if plan is not None and plan.bandit != world.bandit:
        remedy = "Give plan(world.bandit)."
        raise refusal("plan", "made for another bandit", plan.bandit.name, remedy)


def _provenance(learner: Learner, world: World, steps: int) -> dict[str, Any]:
    bandit = None if isinstance(world, StructuredWorld) else world.bandit
    # the world's seed gives the arms' paths, the learner's own what it draws itself
    rng = getattr(learner, "rng", None)
    luck = rng.bit_generator.seed_seq if isinstance(rng, np.random.Generator) else None
    own = recorded_seed(luck) if isinstance(luck, np.random.SeedSequence) else None
    return {
        "restive": installed_version("restive"), "learner": learner.name,
        "settings": learner.settings, "problem": "" if bandit is None else bandit.name,
        "seed": world.seed, "learner_seed": own, "horizon": steps,
    }  # fmt: skip
