"""The chain that explains best what was seen at gaps, with intervals and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv
from scipy.stats import chi2

from restive.base.arrays import Floats
from restive.base.checks import require
from restive.base.errors import refusal
from restive.base.randomness import generator
from restive.estimation.gap_counts import GapCounts
from restive.estimation.likelihood import (
    Climb,
    climb,
    entry_variances,
    log_likelihood,
    moves_expected,
    profile,
)
from restive.model import chains

FIRST_ROUNDS = 40  # from every start; only those that may still win go on
HOPELESS = 10.0  # nats behind the best after that
NEAR = 2.0  # nats behind the best within which another chain explains the data as well
APART = 0.05  # entries by which two chains differ if they are two
VALLEY = 0.1  # nats by which the likelihood falls between two chains that are two
SMOOTHING = 0.5  # moves added to each row where the data alone leave a broken chain
WEAK = 1e-4  # p-value of independence above which curvature is not trusted
FEW = 10.0  # observations' worth below which it is not either
MOST_PROFILED = 4  # states up to which profiles are affordable
MOST_CURVED = 20  # states up to which the curvature is affordable
TINY = 1e-9  # probabilities below are none
RANDOM = 3  # starts drawn at random, for arms of up to SMALL states
SMALL = 8


@dataclass(frozen=True, eq=False)
class ChainEstimate:
    """A chain with the largest likelihood, and how well it is known.

    lower, upper: for each entry an interval of Jeffreys: quantiles of the beta law that as many
    direct observations would leave as the curvature of the likelihood is worth (``worth``). Where
    the likelihood is far from a bell they hold all values of high profile likelihood instead.
    twin: another chain that explains the data about as well, if there is one.
    smoothed: moves that were added to each row, evenly, lest the chain be reducible; 0 if none.
    """

    chain: Floats  # (S, S)
    standard_errors: Floats  # (S, S), inf where the data say nothing
    lower: Floats
    upper: Floats
    level: float
    worth: Floats  # (S, S)
    profiled: bool  # how the intervals were made
    log_likelihood: float
    independent: float  # the same for steps that do not depend on each other
    counts: GapCounts
    twin: Floats | None
    smoothed: float
    converged: bool
    evaluations: int

    @property
    def n_states(self) -> int:
        return len(self.chain)

    @property
    def dependence(self) -> float:
        """p-value of independence: how rarely independent steps would look as dependent."""
        freedom = (self.n_states - 1) ** 2
        return float(chi2.sf(2 * max(0.0, self.log_likelihood - self.independent), freedom))

    @property
    def identified(self) -> bool:
        """Whether every entry is known to within less than half of all it could be."""
        return self.twin is None and bool((self.upper - self.lower).max() < 0.5)


def estimate_chain(
    counts: GapCounts, *, level: float = 0.95, rng: int | np.random.Generator = 0
) -> ChainEstimate:
    """Maximum likelihood of P from N(s, n, s'): the product of P^n(s, s')^N(s, n, s').

    Accelerated EM from several starts, among them the mirror image of the best chain, which even
    gaps cannot tell from it. Where states are never left or never entered, half a move is added to
    each row, evenly.

    >>> before, after = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])
    >>> seen = GapCounts.of_moves(before, np.ones(4, dtype=int), after, 2)
    >>> estimate_chain(seen).chain
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    require(0 < level < 1, "level", level, "Give a probability such as 0.95.")
    if counts.total < 1 or counts.n_states < 2:
        few = f"{counts.total:.0f} moves among {counts.n_states} states"
        remedy = "Give at least two sightings, of at least two states."
        raise refusal("counts", "nothing to estimate a chain from", few, remedy)
    best, twin, taken = _best(counts, 0.0, generator(rng))
    smoothed = 0.0
    if _broken(counts, best.chain):
        smoothed = SMOOTHING
        best, twin, more = _best(counts, smoothed / counts.n_states, generator(rng))
        taken += more
    chain = best.chain if smoothed else _cleared(best.chain)
    errors, worth = _worth(counts, chain, smoothed / counts.n_states)
    estimate = ChainEstimate(
        chain, errors, *_jeffreys(chain, worth, level), level, worth, False,
        log_likelihood(counts, chain), _independent(counts), counts, twin, smoothed, best.arrived,
        taken,
    )  # fmt: skip
    return _profiled(estimate) if _doubtful(estimate) else estimate


def _jeffreys(chain: Floats, worth: Floats, level: float) -> tuple[Floats, Floats]:
    """Quantiles of Beta(n p + 1/2, n (1 - p) + 1/2), up to the border where p is on it."""
    tail = 0.5 * (1 - level)
    a, b = worth * chain + 0.5, worth * (1 - chain) + 0.5
    lower = np.where(chain > 0, betaincinv(a, b, tail), 0.0)
    upper = np.where(chain < 1, betaincinv(a, b, 1 - tail), 1.0)
    return np.minimum(lower, chain), np.maximum(upper, chain)


def _doubtful(estimate: ChainEstimate) -> bool:
    """Whether the likelihood is far from a bell, so that its curvature says little.

    It is where the data hardly tell the chain from independent steps, or from a twin, at gaps.
    """
    if estimate.counts.every_step or estimate.n_states > MOST_PROFILED:
        return False
    weak = estimate.dependence > WEAK or estimate.twin is not None
    return weak or float(estimate.worth.min()) < FEW


def _profiled(estimate: ChainEstimate) -> ChainEstimate:
    """The same with intervals by profile likelihood."""
    counts, size = estimate.counts, estimate.n_states
    ends = counts.counts.sum(axis=(0, 1)) + 0.5
    others = [np.broadcast_to(ends / ends.sum(), (size, size))]
    if estimate.twin is not None:
        others.append(estimate.twin)
    prior = estimate.smoothed / size
    lower, upper = np.empty((size, size)), np.empty((size, size))
    for s in range(size):
        for e in range(size):
            if size == 2 and e == 1:
                lower[s, 1], upper[s, 1] = 1 - upper[s, 0], 1 - lower[s, 0]
            else:
                bounds = profile(counts, estimate.chain, (s, e), others, estimate.level, prior)
                lower[s, e], upper[s, e] = bounds
    return replace(estimate, lower=lower, upper=upper, profiled=True)


def _best(
    counts: GapCounts, prior: float, rng: np.random.Generator
) -> tuple[Climb, Floats | None, int]:
    """The highest maximum, another chain as likely if there is one, and likelihoods taken."""
    if counts.every_step:
        return climb(counts, np.empty(0), prior), None, 1
    tried = [climb(counts, start, prior, FIRST_ROUNDS) for start in _starts(counts, rng)]
    top = max(tried, key=lambda reached: reached.value)
    image = chains.mirror(top.chain)
    if image is not None:
        tried.append(climb(counts, image, prior, FIRST_ROUNDS))
    top_value = max(reached.value for reached in tried)
    peaks: list[Climb] = []
    for reached in sorted(tried, key=lambda reached: -reached.value):
        if reached.value < top_value - HOPELESS or _among(reached.chain, peaks):
            continue
        peaks.append(reached if reached.arrived else climb(counts, reached.chain, prior))
    best = max(peaks, key=lambda peak: (round(peak.value, 5), np.trace(peak.chain)))
    twins = [peak for peak in peaks if _rivals(counts, best, peak)]
    twin = max(twins, key=lambda peak: peak.value).chain if twins else None
    return best, twin, sum(reached.evaluations for reached in (*tried, *peaks))


def _rivals(counts: GapCounts, best: Climb, peak: Climb) -> bool:
    """Whether a peak is about as high as the best, and apart from it, with a valley between."""
    if peak.value < best.value - NEAR or np.abs(peak.chain - best.chain).max() < APART:
        return False
    between = log_likelihood(counts, 0.5 * (best.chain + peak.chain))
    return between < min(best.value, peak.value) - VALLEY


def _among(chain: Floats, peaks: list[Climb]) -> bool:
    return any(np.abs(chain - peak.chain).max() < 0.2 * APART for peak in peaks)


def _cleared(chain: Floats) -> Floats:
    kept = np.where(chain < TINY, 0.0, chain)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def _broken(counts: GapCounts, chain: Floats) -> bool:
    """Whether a state is never left, or some state cannot be reached from another."""
    unknown = moves_expected(counts, np.maximum(chain, 1e-300))[1].sum(axis=1) < 1e-6
    return bool(unknown.any()) or len(chains.communicating_classes(_cleared(chain))) > 1


def _worth(counts: GapCounts, chain: Floats, prior: float) -> tuple[Floats, Floats]:
    """Standard errors, and direct observations that would give the same.

    Where an entry is at the border, curvature is taken half a move inside of it.
    """
    if len(chain) > MOST_CURVED:
        return _direct(counts, chain)
    inside = chain
    if chain.min() * counts.total < 0.5:
        prior = max(prior, SMOOTHING / len(chain))
        inside = climb(counts, np.maximum(chain, 1e-6), prior).chain
        inside = np.maximum(inside, 1e-12)
    variances = entry_variances(counts, inside, prior)
    spread = inside * (1 - inside)
    with np.errstate(divide="ignore"):
        worth = np.where(np.isfinite(variances), spread / np.maximum(variances, 1e-300), 0.0)
    worth = np.minimum(worth, counts.total * counts.gaps[-1])
    return np.sqrt(variances), worth


def _direct(counts: GapCounts, chain: Floats) -> tuple[Floats, Floats]:
    """The same from sightings one step apart alone, which is quick for many states.

    Where others are left out it is never too narrow.
    """
    seen = counts.counts[0].sum(axis=1) if counts.gaps[0] == 1 else np.zeros(len(chain))
    worth = np.repeat(seen[:, None], len(chain), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(worth > 0, np.sqrt(chain * (1 - chain) / worth), np.inf), worth


def _independent(counts: GapCounts) -> float:
    """Log likelihood if what is seen does not depend on what was seen before."""
    ends = counts.counts.sum(axis=(0, 1))
    return float(ends[ends > 0] @ np.log(ends[ends > 0] / ends.sum()))


def _starts(counts: GapCounts, rng: np.random.Generator) -> Iterator[Floats]:
    """Where to start climbing a likelihood that may have several maxima.

    Chains, all entries positive: what the shortest gaps show, slow ones, restless ones, any.
    """
    size = counts.n_states
    even = np.full((size, size), 1.0 / size)
    ends = counts.counts.sum(axis=(0, 1)) + 1.0
    shares = np.broadcast_to(ends / ends.sum(), (size, size))
    shortest = counts.counts[0] + even
    yield shortest / shortest.sum(axis=1, keepdims=True)
    yield 0.9 * np.eye(size) + 0.1 * shares
    restless = shares * (1.0 - 0.9 * np.eye(size))
    yield restless / restless.sum(axis=1, keepdims=True)
    if size <= SMALL:
        for _ in range(RANDOM):
            yield np.maximum(rng.dirichlet(np.ones(size), size), 1e-6)
