"""The tiling algorithm (Filippi, Cappe, Garivier): explore until one policy is clearly the best."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log, sqrt

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import require_horizon
from restive.base.errors import refusal
from restive.base.options import Parameter
from restive.learners.declaration import declare
from restive.learners.rivals.committing import Committing
from restive.learners.storage import SavedArrays, SavedState, Snapshot
from restive.mdp.representation import Representation
from restive.model.bandit import Arm, Bandit
from restive.policies.policy import Policy
from restive.policies.tables import IndexPolicy, reward_tables

LONGEST_WAIT = 64
NEVER_AGAIN = 0  # in place of a wait: the channel is not sensed any more
GRID = 5  # points along each side of the confidence rectangle
GROWTH = 1.1  # by which the samples grow between two looks at the rectangle
REMEDY = (
    "The tiling algorithm takes one two-state arm beside an arm of independent states, or "
    "two-state arms that are all the same."
)


def _independent(arm: Arm) -> bool:
    return bool(np.allclose(arm.transitions, arm.transitions[0], atol=1e-12))


def channel_of(bandit: Bandit) -> tuple[int, float | None]:
    """The arm to explore and what resting pays, as in ``Tiling``; or a ProblemError."""
    arms = bandit.arms
    for j, arm in enumerate(arms):
        if arm.n_states != 2 and not (len(arms) == 2 and _independent(arm)):
            message = f"{bandit.arm_name(j)} has {arm.n_states} states, not 2"
            raise refusal(f"arms[{j}]", message, "", REMEDY)
    chains = [j for j, arm in enumerate(arms) if not _independent(arm)]
    if len(arms) == 2 and len(chains) <= 1:
        channel = chains[0] if chains else next(j for j in (0, 1) if arms[j].n_states <= 2)
        if arms[channel].n_states == 2:
            return channel, arms[1 - channel].gain
        raise refusal(f"arms[{channel}]", "no two-state arm", "", REMEDY)
    for j, arm in enumerate(arms[1:], 1):
        same = np.array_equal(arm.transitions, arms[0].transitions)
        if not same or not np.array_equal(arm.rewards, arms[0].rewards):
            message = f"{bandit.arm_name(j)} differs from {bandit.arm_name(0)}"
            raise refusal(f"arms[{j}]", message, "", REMEDY)
    if len(arms) == 1:
        raise refusal("arms", "there is nothing to choose", "1 arm", REMEDY)
    return 0, None


@declare(
    "tiling",
    "explore a two-state channel until one policy is clearly best (tiling algorithm)",
    guarantee="single channel: regret against rho* of order log T inside a policy zone, "
    "T^(2/3) log(T)^(1/3) uniformly; identical channels: against the myopic policy",
    assumes="one two-state channel beside an arm of independent states, or identical two-state "
    "channels",
    told="the horizon and the rewards",
    deviation=f"zones are told on a grid of {GRID} x {GRID} points and waits are at most "
    f"{LONGEST_WAIT} or for ever; the rectangle is looked at when samples have grown by a tenth; "
    "constants are guessed, the papers' text was not at hand: half-widths sqrt(log T / (6 N)) and "
    "frontier zones of half-width (log T / T)^(1/3)",
    cites=(
        "filippi2011",
        "filippi2009",
    ),
    options=(
        Parameter("width", "float", ..., "multiple of the rectangle's half-widths", 0, above=True),
        Parameter("frontier", "float", ..., "multiple of the frontier zones' half-width", 0),
    ),
    refuse=channel_of,
)
class Tiling(Committing):
    """The tiling algorithm for two-state channels.

    The report of 2009 also treats identical channels. Each policy has a zone: the pairs
    alpha = P(0,1), beta = P(1,1) for which it is optimal. The channel is sensed at every step until
    the confidence rectangle around the estimates lies in one zone, or is so small that it lies in
    a frontier zone; then that policy is followed to the end.

    Single channel: one two-state arm beside an arm of independent states (resting, or a known
    side income). Policies: after a 0 sense again w_0 steps later, after a 1 w_1 steps later, or
    never. Identical channels: two zones, alpha < beta and alpha > beta, in both of which the
    myopic policy is followed.

    Written from the papers' abstracts and what is generally known of them. Guessed: half-widths
    sqrt(log(T) / (6 N_s)), N_s transitions seen from s, and frontier zones of half-width
    (log(T) / T)^(1/3): the pair that gives the uniform bound. ``width`` and ``frontier`` multiply
    the two.

    channel: the arm that is explored. rest: mean reward of the other arm in the single-channel
    model, None where all arms are identical channels. rewards: (2,) of the channel's states.
    """

    def __init__(
        self, sizes: Sequence[int], channel: int, rest: float | None, rewards: Sequence[float],
        horizon: int, width: float = 1.0, frontier: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(sizes)
        self.channel, self.rest = channel, rest
        self.rewards = tuple(float(reward) for reward in rewards)
        self.horizon = require_horizon(horizon)
        self.width, self.frontier = float(width), float(frontier)
        self.least = self.frontier * (log(self.horizon) / self.horizon) ** (1 / 3)
        self._look_at = 2  # pulls of the channel at which the rectangle is looked at
        self._decided = False

    @classmethod
    def from_problem(
        cls, bandit: Bandit, horizon: int, width: float = 1.0, frontier: float = 1.0
    ) -> Tiling:
        channel, rest = channel_of(bandit)
        rewards = bandit.arms[channel].rewards.tolist()
        return cls(bandit.n_states, channel, rest, rewards, horizon, width, frontier)

    def exploring(self) -> tuple[int, int, int] | None:
        if self._decided:
            return None
        return self.channel, max(1, self._look_at - self._pulled), 0

    @property
    def _pulled(self) -> int:
        return int(self.visits[self.channel].sum())

    def _settle(self) -> None:
        if not self._decided and self._pulled >= self._look_at:
            self._decided = self._clear()
            self._look_at = max(self._pulled + 1, ceil(GROWTH * self._pulled))
        super()._settle()

    def _clear(self) -> bool:
        """Whether the confidence rectangle lies in one zone, or in a frontier zone."""
        left = self.moves[self.channel, :2, :2].sum(axis=1)
        if left.min() == 0:
            return False
        width = [self.width * sqrt(log(self.horizon) / (6 * count)) for count in left.tolist()]
        if max(width) <= self.least:
            return True
        alpha, beta = self._estimates()
        if self.rest is None:
            return abs(alpha - beta) > width[0] + width[1]
        steps = np.linspace(-1.0, 1.0, GRID)
        alphas = np.clip(alpha + width[0] * steps, 0.0, 1.0)
        betas = np.clip(beta + width[1] * steps, 0.0, 1.0)
        ends = [0, -1]  # corners first: most rectangles fail there already
        return self._agree(alphas[ends], betas[ends]) and self._agree(alphas, betas)

    def _agree(self, alphas: Floats, betas: Floats) -> bool:
        """Whether one policy is the best at all points of a grid."""
        assert self.rest is not None
        first, second = (part.ravel() for part in np.meshgrid(alphas, betas))
        waits = best_waits(first, second, self.rewards, self.rest)
        return bool((waits == waits[0]).all())

    def _estimates(self) -> tuple[float, float]:
        moves = self.moves[self.channel, :2, :2]
        alpha, beta = (moves[:, 1] / moves.sum(axis=1)).tolist()
        return alpha, beta

    def commit(self) -> Policy:
        alpha, beta = self._estimates()
        if self.rest is None:
            return self._myopic(alpha, beta)
        pair = np.array([alpha]), np.array([beta])
        waits = best_waits(*pair, self.rewards, self.rest)[0]
        ages = np.arange(1, LONGEST_WAIT + 1)
        sense = np.array([(ages >= w) & (w != NEVER_AGAIN) for w in waits]).astype(np.float64)
        rep = Representation(self.sizes, LONGEST_WAIT)
        tables = [
            sense if j == self.channel else np.full((size, LONGEST_WAIT), 0.5)
            for j, size in enumerate(self.sizes)
        ]
        return IndexPolicy(rep, tables, 0.5)

    def _myopic(self, alpha: float, beta: float) -> Policy:
        """The myopic policy of identical channels; unseen ones have the stationary law."""
        inside = 1 / self.horizon  # keeps the chain irreducible and aperiodic
        alpha, beta = min(max(alpha, inside), 1 - inside), min(max(beta, inside), 1 - inside)
        model = Arm([[1 - alpha, alpha], [1 - beta, beta]], self.rewards)
        bandit = Bandit([model] * self.n_arms)
        rep = Representation.of(bandit, model.mixing_time(1e-9))
        return IndexPolicy(rep, reward_tables(bandit, rep), model.gain)

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        return {**state, "look_at": self._look_at, "decided": self._decided}, arrays

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        self._look_at, self._decided = int(state["look_at"]), bool(state["decided"])
        super().restore(state, arrays)


def best_waits(alpha: Floats, beta: Floats, rewards: Sequence[float], rest: float) -> Ints:
    """Best (w_0, w_1) of a single channel for each pair (alpha, beta), shape (n, 2).

    After state s is seen, rest w_s - 1 times and sense again. With a = P^w_0(0, 1),
    b = P^w_1(1, 1) the gain is
    [(1-b) ((w_0 - 1) rest + r(a)) + a ((w_1 - 1) rest + r(b))] / [(1-b) w_0 + a w_1],
    where r(p) = (1-p) r_0 + p r_1. (0, 0): never sense, which gains ``rest``.
    """
    rows = np.empty((2, LONGEST_WAIT, len(alpha)))
    rows[0, 0], rows[1, 0] = alpha, beta
    for n in range(1, LONGEST_WAIT):
        rows[:, n] = alpha + (beta - alpha) * rows[:, n - 1]
    wait = np.arange(1, LONGEST_WAIT + 1)[:, None]
    paid = (wait - 1) * rest + rewards[0] + (rewards[1] - rewards[0]) * rows
    up, stay = rows[0][:, None], rows[1][None]  # (w_0, 1, n), (1, w_1, n)
    total = (1 - stay) * paid[0][:, None] + up * paid[1][None]
    length = (1 - stay) * wait[:, None] + up * wait[None]
    gains = np.where(length > 0, total / np.where(length > 0, length, 1.0), rest)
    flat = gains.reshape(-1, len(alpha))
    best = flat.argmax(axis=0)
    waits = np.stack(np.unravel_index(best, gains.shape[:2]), axis=1) + 1
    waits[flat.max(axis=0) <= rest] = NEVER_AGAIN
    return np.asarray(waits)
