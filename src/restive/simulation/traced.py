"""Worlds made of a trace: what was recorded is what there is, and the rest stays unseen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.base.described import Brief, in_brief
from restive.base.errors import refusal
from restive.learners.contract import Learner
from restive.learners.fixed import FollowPolicy
from restive.policies.policy import Policy
from restive.policies.sight import Observation
from restive.simulation.worlds import require_tables

NOBODY = -1  # in place of a pull, where no arm was recorded
REPORT_EVERY = 1000  # steps from one report of progress to the next


@dataclass(frozen=True, eq=False, repr=False)
class TraceWorld(Brief):
    """Recorded states and rewards of K arms over n steps, both (K, n).

    A state of -1, or a reward that is nan, was not recorded. Pulling such an arm is a missed step:
    all arms move, nothing is seen, and nothing is earned or counted.

    >>> world = TraceWorld(np.array([[0, -1], [1, 1]]), np.array([[0.2, np.nan], [0.5, 0.5]]))
    >>> walk = world.walk()
    >>> walk.step([0]), walk.step([0])
    ((Observation(arm=0, state=0, reward=0.2),), ())
    """

    states: Ints
    rewards: Floats

    def __post_init__(self) -> None:
        require_tables(self.states, self.rewards)
        known = self.rewards[self.seen]
        if len(known) and not (known.min() >= 0 and known.max() <= 1):
            raise refusal("rewards", "outside [0, 1]", "", "Rescale the rewards of all arms alike.")

    @property
    def n_arms(self) -> int:
        return len(self.states)

    @property
    def steps(self) -> int:
        return int(self.states.shape[1])

    @property
    def seen(self) -> Bools:
        """(K, n): which arm was recorded when."""
        return (self.states >= 0) & ~np.isnan(self.rewards)

    @property
    def complete(self) -> bool:
        """Whether every arm was recorded at every step."""
        return bool(self.seen.all())

    def part(self, begin: int, end: int) -> TraceWorld:
        """Steps ``begin`` to before ``end``."""
        return TraceWorld(self.states[:, begin:end], self.rewards[:, begin:end])

    def walk(self) -> TraceWalk:
        return TraceWalk(self)


class TraceWalk:
    """A run along a trace, one step of time after the other."""

    def __init__(self, world: TraceWorld) -> None:
        self.world, self.n_arms, self.steps = world, world.n_arms, 0
        self._seen = world.seen

    def __repr__(self) -> str:
        return in_brief(self, n_arms=self.n_arms, steps=self.steps)

    def step(self, arms: Sequence[int] = ()) -> tuple[Observation, ...]:
        """Pull these arms, and see those that were recorded."""
        if self.steps >= self.world.steps:
            remedy = "End here, or begin a new walk."
            raise refusal("walk", "the trace is over", str(self.steps), remedy)
        now, world = self.steps, self.world
        self.steps += 1
        return tuple(
            Observation(int(j), int(world.states[j, now]), float(world.rewards[j, now]))
            for j in arms
            if self._seen[j, now]
        )


@dataclass(frozen=True, eq=False, repr=False)
class Replayed(Brief):
    """What a learner did along a trace."""

    pulls: Ints  # (n,) arms; -1 where no arm at all was recorded
    paid: Floats  # (n,) nan where the arm pulled was not recorded

    @property
    def counted(self) -> Bools:
        """(n,): whether the pull was recorded."""
        return ~np.isnan(self.paid)


def play_trace(
    learner: Learner | Policy, world: TraceWorld, progress: Callable[[int], None] | None = None
) -> Replayed:
    """Let a learner, or a policy, pull one arm a step along a trace."""
    player = FollowPolicy(learner) if isinstance(learner, Policy) else learner
    if player.n_arms != world.n_arms:
        remedy = f"Build it for the {world.n_arms} arms of this trace."
        raise refusal("learner.n_arms", "another number of arms", str(player.n_arms), remedy)
    if world.complete:
        pulls = player.play_path(world.states, world.rewards)
        return Replayed(pulls, world.rewards[pulls, np.arange(world.steps)])
    pulls, paid = np.full(world.steps, NOBODY), np.full(world.steps, np.nan)
    walk, recorded = world.walk(), np.asarray(world.seen.any(axis=0))
    for step in range(world.steps):
        if not recorded[step]:  # whatever is asked for, nothing is seen
            player.step(walk.step())
            continue
        arm = pulls[step] = player.ask()
        seen = walk.step([int(arm)])
        player.step(seen)
        if seen:
            paid[step] = seen[0].reward
        if progress is not None and step % REPORT_EVERY == 0:
            progress(step)
    return Replayed(pulls, paid)
