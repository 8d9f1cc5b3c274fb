"""Worlds whose arms change: at once, or little by little."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.described import in_brief
from restive.base.errors import Fault, refusal, refuse
from restive.base.randomness import Seed
from restive.model.bandit import Arm, Bandit
from restive.simulation.worlds import ArmPath, BanditWorld

Stage = tuple[int, Bandit]  # the steps before it, and what the arms are from there on


class ChangingWorld(BanditWorld):
    """A path of arms that become those of another bandit at given steps.

    stages: a bandit and the number of steps before it, the first with 0. An arm keeps its state
    when it changes, so its number of states stays the same. As in a BanditWorld the path follows
    from the seed alone, and up to the first change it is the path of the first bandit.

    >>> from restive.problems import example1, example2
    >>> world = ChangingWorld([(0, example1()), (3, example2())], rng=7)
    >>> before, _ = next(BanditWorld(example1(), 7).blocks(3))
    >>> states, _ = next(world.blocks(6))
    >>> bool((states[:, :3] == before).all()), world.at(2).name, world.at(3).name
    (True, 'Example 1, epsilon = 0.1', 'Example 2, epsilon = 0.9')
    """

    def __init__(self, stages: Iterable[Stage], rng: Seed = 0) -> None:
        self.stages = tuple((int(begin), bandit) for begin, bandit in stages)
        refuse(_check(self.stages))
        super().__init__(self.stages[0][1], rng)

    def __repr__(self) -> str:
        changes = [begin for begin, _ in self.stages[1:]]
        return in_brief(self, bandit=self.bandit.name, changes_at=changes, seed=self.seed)

    def at(self, steps: int) -> Bandit:
        """What the arms are after so many steps."""
        begins = [begin for begin, _ in self.stages]
        return self.stages[int(np.searchsorted(begins, steps, side="right")) - 1][1]

    def _path(self, arm: int, seeds: np.random.SeedSequence) -> ArmPath:
        return _ChangingPath([(begin, bandit.arms[arm]) for begin, bandit in self.stages], seeds)


class _ChangingPath(ArmPath):
    """One arm's path through its stages."""

    def __init__(self, stages: list[tuple[int, Arm]], seeds: np.random.SeedSequence) -> None:
        (_, first), *self._changes = stages
        super().__init__(first, seeds)
        self._drawn = 0  # steps so far

    def fill(self, states: Ints, rewards: Floats) -> None:
        done, count = 0, len(states)
        while self._changes and self._changes[0][0] < self._drawn + count:
            begin, arm = self._changes.pop(0)
            part = slice(done, begin - self._drawn)
            super().fill(states[part], rewards[part])
            done = begin - self._drawn
            self.become(arm)
        super().fill(states[done:], rewards[done:])
        self._drawn += count


def drifting(
    first: Bandit, last: Bandit, begin: int, end: int, pieces: int = 100
) -> tuple[Stage, ...]:
    """Stages from one bandit to another: transitions and rewards move evenly, in small jumps.

    >>> from restive.problems import example1
    >>> stages = drifting(example1(0.1), example1(0.3), 100, 200, pieces=4)
    >>> [(step, round(float(bandit.arms[0].transitions[0, 1]), 3)) for step, bandit in stages]
    [(0, 0.1), (100, 0.15), (125, 0.2), (150, 0.25), (175, 0.3)]
    """
    if not 0 < begin < end or not 1 <= pieces <= end - begin:
        remedy = "Begin after step 0, end later, with at most one piece for each step between."
        raise refusal("begin, end, pieces", "no drift", str((begin, end, pieces)), remedy)
    refuse(_check(((0, first), (begin, last))))
    steps = np.linspace(begin, end, pieces, endpoint=False).astype(int).tolist()
    return ((0, first), *(
        (step, _between(first, last, (k + 1) / pieces)) for k, step in enumerate(steps)
    ))  # fmt: skip


def _between(first: Bandit, last: Bandit, share: float) -> Bandit:
    arms = [
        Arm(
            (1 - share) * a.transitions + share * b.transitions,
            (1 - share) * a.rewards + share * b.rewards,
            name=a.name, states=a.states, reward_noise=a.reward_noise,
        )
        for a, b in zip(first.arms, last.arms, strict=True)
    ]  # fmt: skip
    return Bandit(arms, name=f"{share:.0%} of the way", pulls=first.pulls)


def _check(stages: Sequence[Stage]) -> list[Fault]:
    begins = [begin for begin, _ in stages]
    if not stages or begins[0] != 0 or sorted(set(begins)) != begins:
        remedy = "Begin with step 0 and let every stage begin later than the one before."
        return [Fault("stages", "not in order of time", str(begins), remedy)]
    shapes = {(bandit.pulls, bandit.n_states) for _, bandit in stages}
    if len(shapes) > 1:
        remedy = "Let arms keep their number of states, and pull as many of them at every stage."
        return [Fault("stages", "arms of different sizes", str(sorted(shapes)), remedy)]
    return []
