"""Surprises: the period that shows in them, and arms that are surprised together.

The surprise of a look is its score (the mean reward of the state) less the mean score of all looks
that followed the same state at the same gap. Where the arm is a Markov chain, surprises are
unpredictable: white noise, whose periodogram has no line. Given each arm's own past, independent
arms have uncorrelated surprises. In a log that shows one arm at a time, each surprise is set
against the latest of the other arm within a few steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.data.change import find_moves
from restive.data.tables import LEAST, TAIL

if TYPE_CHECKING:
    from restive.data.traces import ArmTrace


FEWEST = 60  # surprises below which no period is looked for
CYCLES = 3  # of a period, at least, in the time that was seen
GRID = 1 << 20  # cells of time; longer traces are looked at more coarsely
PERMUTED = 2_000  # surprises up to which they are permuted; beyond, sums are close to normal
DRAWS = 999
WINDOWS = (1, 2, 4, 8, 16)  # steps between two looks that may still be set against each other
PLENTY = 100  # pairs of looks at which no wider window is tried
LAGS = (-1, 0, 1)


@dataclass(frozen=True, eq=False)
class Surprises:
    """times, values: (n,); values have mean 0 in each stratum. strata: state and gap before."""

    times: Ints
    values: Floats
    strata: Ints


@dataclass(frozen=True)
class Cycle:
    """The strongest line of the periodogram."""

    period: float
    p: float
    looks: int


def state_scores(trace: ArmTrace) -> Floats:
    """Mean reward of every state; where rewards tell no states apart, the commonest against all."""
    size = len(trace.labels)
    known = np.isfinite(trace.rewards)
    counts = np.bincount(trace.states[known], minlength=size)
    sums = np.bincount(trace.states[known], weights=trace.rewards[known], minlength=size)
    scores = np.asarray(sums / np.maximum(counts, 1))
    seen = counts > 0
    if seen.sum() > 1 and np.ptp(scores[seen]) > 0:
        return scores
    common = np.bincount(trace.states, minlength=size).argmax()
    return np.asarray(np.arange(size) == common, dtype=np.float64)


def find_surprises(trace: ArmTrace) -> Surprises:
    """Surprises of all moves of an arm."""
    moves = find_moves(trace)
    scores = state_scores(trace)[moves.after]
    often = moves.strata >= 0
    scores, strata = scores[often], moves.strata[often]
    counts = np.bincount(strata)
    means = np.bincount(strata, weights=scores) / np.maximum(counts, 1)
    return Surprises(moves.times[often], np.asarray(scores - means[strata]), strata)


def find_cycle(trace: ArmTrace) -> Cycle | None:
    """The most visible period between 2 steps and a third of the time seen; None: too few looks.

    p: m exp(-x) for the largest of m ordinates x = |sum e exp(-iwt)|^2 / sum e^2, which is the
    chance of the union and thus never too small for white noise.
    """
    surprises = find_surprises(trace)
    noise = float(np.square(surprises.values).sum())
    if len(surprises.values) < FEWEST or noise <= 1e-12:
        return None
    times = surprises.times - surprises.times.min()
    unit = int(np.gcd.reduce(times)) or 1  # looks at every third step tell no periods below six
    times = times // unit
    span = int(times.max()) + 1
    cell = -(-span // GRID)
    series = np.bincount(times // cell, weights=surprises.values, minlength=-(-span // cell))
    power = np.square(np.abs(np.fft.rfft(series))) / noise
    if len(series) % 2 == 0:
        power[-1] /= 2  # this ordinate is one square, not two
    lines = power[CYCLES:]
    if not len(lines):
        return None
    place = int(lines.argmax()) + CYCLES
    p = min(1.0, len(lines) * float(np.exp(-power[place])))
    return Cycle(len(series) / place * cell * unit, p, len(surprises.values))


@dataclass(frozen=True)
class DependenceTest:
    """Arms ``first`` and ``second``: the strongest correlation of surprises among three lags.

    lag: 0 together; 1: ``second`` moves after ``first``; -1: before. looks: pairs of surprises.
    within: steps between the two at most. p: None if they were hardly seen near each other.
    """

    first: int
    second: int
    p: float | None
    correlation: float
    lag: int
    looks: int
    within: int


def dependence_tests(
    arms: Sequence[ArmTrace], rng: np.random.Generator, draws: int = DRAWS
) -> list[DependenceTest]:
    """Every pair of arms; p-values are of single pairs, not yet corrected for their number."""
    surprises = [find_surprises(arm) for arm in arms]
    tests = []
    for i, first in enumerate(surprises[:-1]):
        permuted = _permuted(first, rng, draws) if 0 < len(first.values) <= PERMUTED else None
        others = range(i + 1, len(arms))
        tests += [_pair(i, j, first, surprises[j], permuted) for j in others]
    return tests


def _permuted(surprises: Surprises, rng: np.random.Generator, draws: int) -> Floats:
    """(draws, n): values permuted among looks that followed the same state at the same gap."""
    values = np.empty((draws, len(surprises.values)))
    for stratum in range(int(surprises.strata.max()) + 1):
        own = np.flatnonzero(surprises.strata == stratum)
        copies = np.broadcast_to(surprises.values[own], (draws, len(own)))
        values[:, own] = rng.permuted(copies, axis=1)
    return values


def _pair(
    i: int, j: int, first: Surprises, second: Surprises, permuted: Floats | None
) -> DependenceTest:
    columns, within = _matched(first, second)
    looks = (columns != 0).sum(axis=0)
    if looks.max(initial=0) < LEAST:
        return DependenceTest(i, j, None, 0.0, 0, int(looks.max(initial=0)), within)
    sizes = _sizes(first.values[None], columns)[0]
    best = int(np.abs(sizes).argmax())
    p = _tail(float(np.abs(sizes).max()))
    if permuted is not None:
        null = np.abs(_sizes(permuted, columns)).max(axis=1)
        beyond = int((null >= np.abs(sizes).max() * (1 - 1e-9)).sum())
        exact = (1 + beyond) / (1 + len(null))
        p = exact if beyond >= TAIL * len(null) else min(exact, p)
    used = columns[:, best] != 0
    correlation = _correlation(first.values[used], columns[used, best])
    return DependenceTest(i, j, p, correlation, LAGS[best], int(looks[best]), within)


def _tail(size: float) -> float:
    """Chance that the largest of three normal variables is as far out."""
    from scipy.special import ndtr

    alone = min(1.0 - 1e-12, 2 * float(ndtr(-size)))
    return float(-np.expm1(len(LAGS) * np.log1p(-alone)))


def _sizes(values: Floats, columns: Floats) -> Floats:
    """sum e v / sqrt(sum e^2 v^2): close to normal whatever the laws of e and v."""
    spread = np.square(values) @ np.square(columns)
    return np.asarray((values @ columns) / np.sqrt(np.maximum(spread, 1e-300)))


def _correlation(x: Floats, y: Floats) -> float:
    spread = float(np.sqrt(np.square(x).sum() * np.square(y).sum()))
    return float(x @ y) / spread if spread > 0 else 0.0


def _matched(first: Surprises, second: Surprises) -> tuple[Floats, int]:
    """For each surprise of ``first``: those of ``second`` before, with and after it; 0: none."""
    columns = np.zeros((len(first.values), len(LAGS)))
    within = WINDOWS[0]
    for within in WINDOWS:
        columns = np.stack([_near(first, second, lag, within) for lag in LAGS], axis=1)
        if (columns != 0).sum(axis=0).max(initial=0) >= PLENTY:
            break
    return columns, within


def _near(first: Surprises, second: Surprises, lag: int, within: int) -> Floats:
    """The nearest surprise of ``second`` on that side, at most ``within`` steps away."""
    nearest = np.zeros(len(first.values))
    if not len(second.times):
        return nearest
    if lag == 0:
        place = np.searchsorted(second.times, first.times)
    elif lag < 0:
        place = np.searchsorted(second.times, first.times, side="left") - 1
    else:
        place = np.searchsorted(second.times, first.times, side="right")
    inside = (place >= 0) & (place < len(second.times))
    place = place.clip(0, len(second.times) - 1)
    distance = np.abs(second.times[place] - first.times)
    inside &= distance <= (0 if lag == 0 else within)
    nearest[inside] = second.values[place[inside]]
    return nearest
