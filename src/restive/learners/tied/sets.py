"""Confidence sets of one arm's rows and rewards, each valid at all times at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Floats

MANY = 8  # states from which on the ways to split them are too many


def mixture_excess(counts: Floats) -> Floats:
    """log of the largest likelihood of ``counts`` over their likelihood under Dirichlet(1/2, ...).

    counts: (..., S); returns (...). The mixture's likelihood over that of the true p is a
    nonnegative martingale with mean 1, so by Ville's inequality with probability 1 - delta, at all
    times at once, N KL(p^, p) <= log(1/delta) + excess.
    """
    from scipy.special import gammaln  # which takes a while to import

    size, total = counts.shape[-1], counts.sum(axis=-1)
    mixture = gammaln(0.5 * size) - gammaln(total + 0.5 * size)
    mixture = mixture + (gammaln(counts + 0.5) - gammaln(0.5)).sum(axis=-1)
    share = counts / np.maximum(total, 1)[..., None]
    largest = np.where(counts > 0, counts * np.log(np.maximum(share, 1e-300)), 0.0).sum(axis=-1)
    return np.asarray(np.maximum(0.0, largest - mixture))


@dataclass(frozen=True, eq=False)
class TiedSets:
    """Confidence sets of one arm: L1 balls around the rows of all ages, and reward intervals.

    centers: (S, A, S), radii: (S, A), rewards: (S, 2) least and most mean reward of each state.
    """

    centers: Floats
    radii: Floats
    rewards: Floats

    def contain(self, rows: Floats, rewards: Floats) -> bool:
        """Whether these rows (S, A, S) and mean rewards (S,) lie in the sets."""
        slack, (low, high) = 1e-12, self.rewards.T
        near = np.abs(rows - self.centers).sum(axis=-1) <= self.radii + slack
        return bool(near.all() and ((low - slack <= rewards) & (rewards <= high + slack)).all())


def direct_sets(counts: Floats, delta: Floats | float) -> tuple[Floats, Floats]:
    """L1 balls (center, radius) for every row of counts (..., S), each with probability 1 - delta.

    delta: one for all, or (...). The union of all times is included, that of the rows is not.
    """
    size, total = counts.shape[-1], counts.sum(axis=-1)
    mean = empirical_rows(counts)
    if size == 1:
        return mean, np.zeros(total.shape)
    if size > MANY:
        return mean, _ball_or_box(counts, np.asarray(delta))
    ways = splits(size)
    least, most = _split_intervals(counts @ ways, total, np.asarray(delta) / ways.shape[1])
    if size == 2:
        middle = 0.5 * (least + most)
        return np.concatenate([middle, 1 - middle], axis=-1), (most - least)[..., 0]
    off = np.maximum(most - mean @ ways, mean @ ways - least).max(axis=-1)
    return mean, np.where(total > 0, np.minimum(2.0, 2 * off), 2.0)


def splits(size: int) -> Floats:
    """The 2^(S-1) - 1 ways to split S outcomes in two, as columns of 0 and 1; of two, the first."""
    ways = np.arange(1, 2 ** (size - 1))
    return np.asarray((ways >> np.arange(size)[:, None]) & 1, dtype=np.float64)


def _split_intervals(counts: Floats, total: Floats, delta: Floats | float) -> tuple[Floats, Floats]:
    """Least and most chance of each event that came up so often, counts (..., M), delta (...)."""
    from restive._kernels import sets

    every = np.ascontiguousarray(np.broadcast_to(total[..., None], counts.shape))
    budgets = mixture_excess(np.stack([counts, every - counts], axis=-1))
    budgets = budgets + np.log(1 / np.asarray(delta))[..., None]
    mean = np.where(every > 0, counts / np.maximum(every, 1), 0.5)
    least, most = np.empty((2, *counts.shape))
    flat = (least.reshape(-1), most.reshape(-1))
    sets.intervals(mean.ravel(), every.ravel(), budgets.ravel(), *flat)
    return least, most


def _ball_or_box(counts: Floats, delta: Floats) -> Floats:
    """L1 radius around the frequencies for many outcomes: from KL (Pinsker), or outcome by outcome.

    Half of delta for each. The excess of p over p^ and that of p^ over p are half of it each.
    """
    size, total = counts.shape[-1], counts.sum(axis=-1)
    mean = empirical_rows(counts)
    least, most = _split_intervals(counts, total, 0.5 * delta / size)
    box = 2 * np.minimum((most - mean).sum(axis=-1), (mean - least).sum(axis=-1))
    budget = mixture_excess(counts) + np.log(2 / delta)
    ball = np.sqrt(2 * budget / np.maximum(total, 1))
    return np.asarray(np.where(total > 0, np.minimum(2.0, np.minimum(box, ball)), 2.0))


def pooled(counts: Floats, delta: float) -> Floats:
    """Bounds (2, S, A) of P^n(s, 0) from the likelihood of the samples of all ages together.

    counts: (S, A, S) of a chain of two states. With the angles of P uniform a priori, the mean of
    the likelihood over that of the true P is a martingale; the bounds are those over all P for
    which it stays below 1/delta (``_kernels.cover``).
    """
    from restive._kernels import cover

    moved = np.stack([counts[0, :, ::-1], counts[1]], axis=1)  # (A, S, 2): switches and stays
    bounds = np.empty_like(moved)
    cover.likely_switches(moved, float(np.log(1 / delta)), bounds)
    switches = bounds.transpose(2, 1, 0)
    return np.stack([1 - switches[::-1, 0], switches[:, 1]], axis=1)


def meet(middles: Floats, radii: Floats, bounds: Floats) -> None:
    """Intersect intervals of width ``radii`` around ``middles`` with bounds (2, ...), in place.

    Where they have nothing in common, the truth is not in both and the interval stays as it was.
    """
    low = np.maximum(middles - 0.5 * radii, bounds[0])
    high = np.minimum(middles + 0.5 * radii, bounds[1])
    meet = low <= high
    middles[meet], radii[meet] = 0.5 * (low + high)[meet], (high - low)[meet]


def empirical_rows(counts: Floats) -> Floats:
    """Relative frequencies along the last axis; uniform where there is no sample."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(total > 0, counts / np.maximum(total, 1), 1.0 / counts.shape[-1]))


def azuma_radius(total: Floats, size: int, delta: Floats | float) -> Floats:
    """L1 radius around the mean of rows that need not be equal, at all times at once.

    Each of the 2^(S-1) - 1 ways to split the outcomes gives a martingale with differences of range
    1; a normal mixture bounds it by sqrt((N + 1) (log(N + 1) + 2 log(1/delta))) / 2.
    """
    budget = np.log(total + 1) + 2 * np.log((2.0 ** (size - 1) - 1) / delta)
    return np.asarray(np.minimum(2.0, np.sqrt((total + 1) * budget) / np.maximum(total, 0.5)))


def join_loop(centers: Floats, radii: Floats, tail: int, epsilon: float) -> None:
    """Ages on the loop: their own samples, or the row one step after the tail, eps apart.

    All rows that a loop age stands for are within epsilon of each other (eq. (1)), so a ball for
    any of them, widened by epsilon, holds for all.
    """
    radii[tail:] = np.minimum(2.0, radii[tail:] + epsilon)
    if tail == 0 or len(radii) != tail + 1:
        return  # several loop ages (periodic arms): direct sets only
    shrink = min(1.0, _contraction(centers[tail - 1]) + float(radii[tail - 1].max()))
    joined = radii[0] * shrink + centers[0] @ radii[tail - 1] + epsilon
    better = joined < radii[tail]
    centers[tail][better] = (centers[0] @ centers[tail - 1])[better]
    radii[tail] = np.minimum(joined, radii[tail])


def _contraction(rows: Floats) -> float:
    return 0.5 * float(np.abs(rows[:, None] - rows[None]).sum(axis=-1).max())


def reward_intervals(totals: Floats, sums: Floats, squares: Floats, delta: float) -> Floats:
    """Least and most mean reward of each state, shape (S, 2), from its rewards and their squares.

    For a reward R in [0, 1] with mean r, (q/r)^R ((1-q)/(1-r))^(1-R) is convex in R and so has mean
    at most 1, as if R were 0 or 1: the Bernoulli mixture bounds such rewards too, with half of
    delta. The other half is for bounds that use how little rewards vary (``sets.most_mean``).
    """
    from restive._kernels import sets

    pair = np.stack([sums, np.maximum(0.0, totals - sums)], axis=-1)
    budgets = mixture_excess(pair) + np.log(2 / delta)
    least, most = np.empty(len(totals)), np.empty(len(totals))
    sets.intervals(sums / np.maximum(totals, 1), totals, budgets, least, most)
    side = float(np.log(4 / delta))
    sets.most_means(totals, totals - sums, totals - 2 * sums + squares, side, most)
    missed = 1 - least  # what holds for R holds for 1 - R
    sets.most_means(totals, sums, squares, side, missed)
    return np.stack([1 - missed, most], axis=-1)


def largest_means(centers: Floats, radii: Floats, rewards: Floats) -> Floats:
    """Largest mean reward over the laws within the balls; centers (S, A, S), radii (S, A)."""
    order = np.argsort(rewards)
    top = order[-1]
    best = centers @ rewards
    left = np.minimum(0.5 * radii, 1 - centers[..., top])
    for s in order[:-1]:
        taken = np.minimum(left, centers[..., s])
        best = best + taken * (rewards[top] - rewards[s])
        left = left - taken
    return np.asarray(best)
