"""Worlds: paths of a bandit's arms, which ignore what is pulled, and structured MDPs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive.base.errors import Fault, ProblemError
from restive.mdp.structured import Parameters, StructuredMDP
from restive.model.bandit import BETA_CONCENTRATION, Arm, Bandit

__all__ = ["BanditWorld", "RecordedWorld", "Seed", "StructuredWorld"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Block = tuple[Ints, Floats]  # states and rewards, both (K, steps)
Seed = int | np.random.SeedSequence | np.random.Generator | None

BLOCK = 1 << 16  # steps held in memory at a time
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
        self.bandit = bandit
        self._seeds = seed_sequence(rng)

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
        from restive.mdp.iteration import thread_count

        key, entropy = self._seeds.spawn_key, self._seeds.entropy
        walks = [
            _ArmPath(arm, np.random.SeedSequence(entropy, spawn_key=(*key, j)))
            for j, arm in enumerate(self.bandit.arms)
        ]
        ahead = size >= AHEAD_FROM and horizon > size and thread_count() > 1
        shape = (2 if ahead else 1, len(walks), min(size, horizon))
        states, rewards = np.empty(shape, dtype=np.int64), np.empty(shape)

        def draw(begin: int) -> Block:
            part, turn = slice(min(size, horizon - begin)), begin // size % len(states)
            for walk, path, paid in zip(walks, states[turn], rewards[turn], strict=True):
                walk.fill(path[part], paid[part])
            return states[turn][:, part], rewards[turn][:, part]

        begins = range(0, horizon, size)
        yield from _drawn_ahead(draw, begins) if ahead else map(draw, begins)

    def record(self, horizon: int) -> RecordedWorld:
        """The first ``horizon`` steps held in memory, for many learners to replay."""
        states, rewards = zip(*self.blocks(horizon), strict=True)
        return RecordedWorld(
            np.concatenate(states, axis=1), np.concatenate(rewards, axis=1), self.bandit, self.seed
        )


def _drawn_ahead(draw: Callable[[int], Block], begins: Iterable[int]) -> Iterator[Block]:
    """The blocks of a path, each drawn by another thread while the one before is in use."""
    with ThreadPoolExecutor(1) as pool:
        coming: Future[Block] | None = None
        for begin in begins:
            block = None if coming is None else coming.result()
            coming = pool.submit(draw, begin)
            if block is not None:
                yield block
        if coming is not None:
            yield coming.result()


class _ArmPath:
    """One arm's chain and rewards, drawn from two streams of its own.

    The chain is drawn by inversion from the numbers of NumPy's SFC64, one a step.
    """

    def __init__(self, arm: Arm, seeds: np.random.SeedSequence) -> None:
        self.arm = arm
        moves, noise = seeds.spawn(2)
        self.noise = np.random.default_rng(noise)
        self.generator = np.array(np.random.SFC64(moves).state["state"]["state"])
        self.steps = np.ceil(_heights(arm.transitions) * 2.0**53).astype(np.int64)
        self.start = np.ceil(_heights(arm.initial_law) * 2.0**53).astype(np.int64)
        self.state = -1

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


@dataclass(frozen=True, eq=False)
class RecordedWorld:
    """A path held in memory: drawn before, or measured; states and rewards are (K, n)."""

    states: Ints
    rewards: Floats
    bandit: Bandit | None = None
    seed: int | list[int] | None = None

    def __post_init__(self) -> None:
        if self.states.ndim != 2 or self.states.shape != self.rewards.shape:
            shapes = f"{self.states.shape} and {self.rewards.shape}"
            remedy = "Give one row per arm and one column per step in both."
            fault = Fault("states, rewards", "not two tables of one shape", shapes, remedy)
            raise ProblemError([fault])
        if self.states.min(initial=0) < 0:
            remedy = "Number the states of each arm from 0 on."
            raise ProblemError([Fault("states", "negative", str(self.states.min()), remedy)])
        if not ((self.rewards >= 0) & (self.rewards <= 1)).all():
            remedy = "Rescale the rewards of all arms alike, and leave no gaps."
            raise ProblemError([Fault("rewards", "outside [0, 1]", "", remedy)])

    def blocks(self, horizon: int, size: int = BLOCK) -> Iterator[Block]:
        """As for a BanditWorld; refuses to go beyond the record."""
        if horizon > self.states.shape[1]:
            remedy = f"Play at most the {self.states.shape[1]} steps on record."
            raise ProblemError([Fault("horizon", "longer than the record", str(horizon), remedy)])
        for begin in range(0, horizon, size):
            part = slice(begin, min(horizon, begin + size))
            yield self.states[:, part], self.rewards[:, part]

    stream = blocks


class StructuredWorld:
    """An eps-structured MDP to act in: a law over outcomes and a mean reward for each pair.

    laws: (N, A, B), or (C, B) per color. rewards: (N, A), or (C,). Rewards are 0 or 1 with these
    means, or with reward_noise="none" the means themselves.
    """

    def __init__(
        self, mdp: StructuredMDP, laws: ArrayLike, rewards: ArrayLike, rng: Seed = 0, *,
        start: int = 0, reward_noise: Literal["none", "bernoulli"] = "bernoulli",
    ) -> None:  # fmt: skip
        self.mdp, self.start = mdp, start
        self.laws = self._spread(laws, 2)
        self.rewards = self._spread(rewards, 1)
        self.noisy = reward_noise == "bernoulli"
        self._seeds = seed_sequence(rng)
        used = mdp.colors >= 0
        sums = self.laws[used].sum(axis=-1)
        if (self.laws[used] < 0).any() or not np.allclose(sums, 1.0, atol=1e-9):
            remedy = "The probabilities of a pair's outcomes are not negative and sum to 1."
            raise ProblemError([Fault("laws", "not probabilities", "", remedy)])
        if ((self.rewards[used] < 0) | (self.rewards[used] > 1)).any():
            raise ProblemError([Fault("rewards", "outside [0, 1]", "", "Rescale the rewards.")])

    @property
    def seed(self) -> int | list[int] | None:
        return recorded_seed(self._seeds)

    @cached_property
    def epsilon(self) -> float:
        """The eps of Definition 1: how far pairs of one color differ (L1 of laws, rewards)."""
        widest = 0.0
        for color in range(self.mdp.n_colors):
            same = self.mdp.colors == color
            laws, means = self.laws[same], self.rewards[same]
            for k in range(len(means)):
                widest = max(widest, float(np.abs(laws - laws[k]).sum(axis=1).max()))
            widest = max(widest, float(np.ptp(means)) if len(means) else 0.0)
        return widest

    def gain(self, tolerance: float = 1e-6) -> float:
        """rho*: the best average reward of the true MDP."""
        from restive.mdp.solver import solve

        pairs = np.full(self.mdp.colors.shape, -1, dtype=np.int64)
        used = self.mdp.colors >= 0
        pairs[used] = np.arange(used.sum())
        truth = Parameters(self.rewards[used], self.laws[used])
        return solve(StructuredMDP(pairs, self.mdp.successors), truth, tolerance=tolerance).gain

    def begin(self) -> StructuredWalk:
        """A run from the start; the random numbers are the same for every run."""
        return StructuredWalk(self, np.random.default_rng(self._seeds))

    def _spread(self, given: ArrayLike, trailing: int) -> Floats:
        """Per pair, whether given per pair or per color."""
        array = np.asarray(given, dtype=np.float64)
        shape = self.mdp.successors.shape[: 1 + trailing]
        if array.ndim == trailing and len(array) == self.mdp.n_colors:
            array = array[self.mdp.colors]
        if array.shape != shape:
            remedy = f"Give one entry per color ({self.mdp.n_colors}) or per pair {shape}."
            name = "laws" if trailing == 2 else "rewards"
            raise ProblemError([Fault(name, "wrong shape", str(array.shape), remedy)])
        return array


class StructuredWalk:
    """One run through a StructuredWorld; two random numbers a step, for outcome and reward."""

    def __init__(self, world: StructuredWorld, rng: np.random.Generator) -> None:
        self.state = world.start
        self.successors = world.mdp.successors
        self.heights = _heights(world.laws)
        self.means, self.noisy = world.rewards, world.noisy
        self._rng = rng

    def uniforms(self, count: int) -> Floats:
        return self._rng.random((count, 2))

    def step(self, action: int) -> tuple[int, float]:
        chance, luck = self.uniforms(1)[0]
        outcome = int(np.searchsorted(self.heights[self.state, action], chance, side="right"))
        reward = float(self.means[self.state, action])
        if self.noisy:
            reward = 1.0 if luck < reward else 0.0
        self.state = int(self.successors[self.state, action, outcome])
        return self.state, reward


def _heights(laws: Floats) -> Floats:
    """Cumulative sums along the last axis, above 1 from the last possible outcome on."""
    heights = np.cumsum(laws, axis=-1)
    possible = laws > 0
    from_here = np.flip(np.cumsum(np.flip(possible, axis=-1), axis=-1), axis=-1)
    heights[from_here - possible == 0] = 2.0  # nothing comes after it: rounding cannot pass it
    return np.ascontiguousarray(heights)


def seed_sequence(rng: Seed) -> np.random.SeedSequence:
    """The seeds a world draws from; a generator is asked for fresh ones."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(0, 2**32, size=4).tolist())
    return np.random.SeedSequence(rng)


def recorded_seed(seeds: np.random.SeedSequence) -> int | list[int] | None:
    """Entropy and spawn key as one number or a list, for JSON."""
    entropy = seeds.entropy
    numbers = [] if entropy is None else list(np.atleast_1d(np.array(entropy, dtype=object)))
    numbers += list(seeds.spawn_key)
    if len(numbers) == 1:
        return int(numbers[0])
    return [int(number) for number in numbers]
