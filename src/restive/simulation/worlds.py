"""Worlds: paths of a bandit's arms, which do not depend on the pulls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.described import Brief, in_brief
from restive.base.errors import refusal
from restive.base.machine import helpers
from restive.base.randomness import Seed, heights_of, recorded_seed, seed_sequence
from restive.model.arguments import require_bandit
from restive.model.bandit import BETA_CONCENTRATION, Arm, Bandit
from restive.policies.sight import Observation

Block = tuple[Ints, Floats]  # states and rewards, both (K, steps)

ENDLESS = 1 << 62
BLOCK = 1 << 16  # steps held in memory at a time
WALK_BLOCK = 1 << 8  # the same for a walk step by step
AHEAD_FROM = 1 << 14  # steps of a block from which on another thread draws the next one


class BanditWorld:
    """A bandit's path: states and rewards of all arms, step by step, whatever is pulled.

    The path follows from the seed alone: every learner meets the same one, a longer horizon only
    continues it, and each arm has streams of its own, so that adding an arm changes no other.

    >>> from restive.problems import example1
    >>> states, rewards = next(BanditWorld(example1(), 7).blocks(4))
    >>> states.shape, rewards.dtype
    ((2, 4), dtype('float64'))
    """

    def __init__(self, bandit: Bandit, rng: Seed = 0) -> None:
        self.bandit = require_bandit(bandit)
        self._seeds = seed_sequence(rng)

    def __repr__(self) -> str:
        return in_brief(self, bandit=self.bandit.name, n_arms=self.bandit.n_arms, seed=self.seed)

    @property
    def seed(self) -> int | list[int] | None:
        """What the path follows from, for the record."""
        return recorded_seed(self._seeds)

    def blocks(self, horizon: int, size: int = BLOCK) -> Iterator[Block]:
        """The path from its first step on, ``size`` steps at a time."""
        for states, rewards in self.stream(horizon, size):
            yield states.copy(), rewards.copy()

    def stream(self, horizon: int, size: int = BLOCK) -> Iterator[Block]:
        """As ``blocks``, but what was yielded is overwritten: long runs allocate nothing."""
        from restive.base.machine import thread_count

        walks = self.paths()
        ahead = size >= AHEAD_FROM and horizon > size and thread_count() > 1
        shape = (2 if ahead else 1, len(walks), min(size, horizon))
        states, rewards = np.empty(shape, dtype=np.int64), np.empty(shape)

        def draw(begin: int) -> Block:
            turn, steps = begin // size % len(states), min(size, horizon - begin)
            block = states[turn], rewards[turn]
            if steps < shape[2]:  # kernels are compiled for whole arrays, not for parts of them
                block = np.empty((len(walks), steps), dtype=np.int64), np.empty((len(walks), steps))
            for walk, path, paid in zip(walks, *block, strict=True):
                walk.fill(path, paid)
            return block

        begins = range(0, horizon, size)
        yield from _drawn_ahead(draw, begins) if ahead else map(draw, begins)

    def paths(self) -> list[ArmPath]:
        """The arms at their first step, to be followed one by one."""
        key, entropy = self._seeds.spawn_key, self._seeds.entropy
        return [
            self._path(j, np.random.SeedSequence(entropy, spawn_key=(*key, j)))
            for j in range(self.bandit.n_arms)
        ]

    def _path(self, arm: int, seeds: np.random.SeedSequence) -> ArmPath:
        return ArmPath(self.bandit.arms[arm], seeds)

    def walk(self) -> PathWalk:
        """The path from its first step on, to pull arms step by step."""
        return PathWalk(self.bandit.n_arms, self.stream(ENDLESS, WALK_BLOCK))

    def record(self, horizon: int) -> RecordedWorld:
        """The first ``horizon`` steps held in memory, for many learners to replay."""
        states, rewards = zip(*self.blocks(horizon), strict=True)
        return RecordedWorld(
            np.concatenate(states, axis=1), np.concatenate(rewards, axis=1), self.bandit, self.seed
        )


def _drawn_ahead(draw: Callable[[int], Block], begins: Iterable[int]) -> Iterator[Block]:
    """The blocks of a path, each drawn by another thread while the one before is in use."""
    with helpers(1) as pool:
        coming: Future[Block] | None = None
        for begin in begins:
            block = None if coming is None else coming.result()
            coming = pool.submit(draw, begin)
            if block is not None:
                yield block
        if coming is not None:
            yield coming.result()


class ArmPath:
    """One arm's chain and rewards, drawn from two streams of its own.

    The chain is drawn by inversion from the numbers of NumPy's SFC64, one a step.
    """

    def __init__(self, arm: Arm, seeds: np.random.SeedSequence) -> None:
        moves, noise = seeds.spawn(2)
        self.noise = np.random.default_rng(noise)
        self.generator = np.array(np.random.SFC64(moves).state["state"]["state"])
        self.start = np.ceil(heights_of(arm.initial_law) * 2.0**53).astype(np.int64)
        self.state = -1
        self.become(arm)

    def become(self, arm: Arm) -> None:
        """From the next step on, move and pay as this arm does."""
        self.arm = arm
        self.steps = np.ceil(heights_of(arm.transitions) * 2.0**53).astype(np.int64)

    def fill(self, states: Ints, rewards: Floats) -> None:
        from restive._kernels.paths import chain_path

        self.state = chain_path(
            self.steps, self.start, self.arm.rewards, self.generator, self.state, states, rewards
        )
        if self.arm.reward_noise != "none":
            rewards[:] = draw_rewards(rewards, self.arm.reward_noise, self.noise)


def draw_rewards(means: Floats, noise: str, rng: np.random.Generator) -> Floats:
    """Rewards with exactly these means: themselves, 0 or 1, or beta variables."""
    if noise == "none":
        return means
    if noise == "bernoulli":
        return np.asarray((rng.random(means.shape) < means).astype(np.float64))
    sure = (means <= 0) | (means >= 1)
    inside = np.where(sure, 0.5, means)
    drawn = rng.beta(BETA_CONCENTRATION * inside, BETA_CONCENTRATION * (1 - inside))
    return np.where(sure, means, drawn)


def require_tables(states: Ints, rewards: Floats) -> None:
    """Refuse a record that is not two tables of one shape, (K, n)."""
    if states.ndim != 2 or states.shape != rewards.shape:
        shapes = f"{states.shape} and {rewards.shape}"
        remedy = "Give one row per arm and one column per step in both."
        raise refusal("states, rewards", "not two tables of one shape", shapes, remedy)


@dataclass(frozen=True, eq=False, repr=False)
class RecordedWorld(Brief):
    """A path held in memory: drawn before, or measured; states and rewards are (K, n)."""

    states: Ints
    rewards: Floats
    bandit: Bandit | None = None
    seed: int | list[int] | None = None

    def __post_init__(self) -> None:
        require_tables(self.states, self.rewards)
        if self.states.min(initial=0) < 0:
            remedy = "Number the states of each arm from 0 on."
            raise refusal("states", "negative", str(self.states.min()), remedy)
        if not ((self.rewards >= 0) & (self.rewards <= 1)).all():
            remedy = "Rescale the rewards of all arms alike, and leave no gaps."
            raise refusal("rewards", "outside [0, 1]", "", remedy)

    def blocks(self, horizon: int, size: int = BLOCK) -> Iterator[Block]:
        """As for a BanditWorld; refuses to go beyond the record."""
        if horizon > self.states.shape[1]:
            remedy = f"Play at most the {self.states.shape[1]} steps on record."
            raise refusal("horizon", "longer than the record", str(horizon), remedy)
        for begin in range(0, horizon, size):
            part = slice(begin, min(horizon, begin + size))
            states, rewards = self.states[:, part], self.rewards[:, part]
            yield np.ascontiguousarray(states), np.ascontiguousarray(rewards)

    stream = blocks

    def walk(self) -> PathWalk:
        """As for a BanditWorld; refuses to go beyond the record."""
        return PathWalk(len(self.states), self.stream(self.states.shape[1]))


class PathWalk:
    """A run along a world's path, one step of time after the other.

    >>> from restive.problems import example1
    >>> walk = BanditWorld(example1(), 7).walk()
    >>> [len(walk.step(arms)) for arms in ([0], [1, 0], [])], walk.steps
    ([1, 2, 0], 3)
    """

    def __init__(self, n_arms: int, blocks: Iterator[Block]) -> None:
        self.n_arms, self.steps = n_arms, 0
        self._blocks, self._begin = blocks, 0
        self._states, self._rewards = np.zeros((n_arms, 0), dtype=np.int64), np.zeros((n_arms, 0))

    def __repr__(self) -> str:
        return in_brief(self, n_arms=self.n_arms, steps=self.steps)

    def step(self, arms: Sequence[int] = ()) -> tuple[Observation, ...]:
        """Pull these arms, and see what they show; all arms move, also if none is pulled."""
        pulled = [int(arm) for arm in arms if 0 <= arm < self.n_arms]
        if len(set(pulled)) < len(arms):
            remedy = f"Give different arms of 0..{self.n_arms - 1}."
            raise refusal("arms", "no such arms to pull", repr(list(arms)), remedy)
        now = self.steps - self._begin
        if now == self._states.shape[1]:
            self._begin, now = self.steps, 0
            self._states, self._rewards = self._next_block()
        self.steps += 1
        seen = ((j, int(self._states[j, now]), float(self._rewards[j, now])) for j in pulled)
        return tuple(Observation(*what) for what in seen)

    def _next_block(self) -> Block:
        block = next(self._blocks, None)
        if block is None:
            remedy = "End here, or begin a new walk."
            raise refusal("walk", "the path is over", str(self.steps), remedy)
        return block
