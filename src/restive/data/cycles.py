"""Surprises, and the period that shows in them.

The surprise of a look is its score (the mean reward of the state) less the mean score of all looks
that followed the same state at the same gap. Where the arm is a Markov chain, surprises are
unpredictable: white noise, whose periodogram has no line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.data.change import find_moves

if TYPE_CHECKING:
    from restive.data.traces import ArmTrace


FEWEST = 60  # surprises below which no period is looked for
CYCLES = 3  # of a period, at least, in the time that was seen
GRID = 1 << 20  # cells of time; longer traces are looked at more coarsely


@dataclass(frozen=True, eq=False)
class Surprises:
    """times, values: (n,); values have mean 0 in each stratum. strata: state and gap before."""

    times: Ints
    values: Floats
    strata: Ints


@dataclass(frozen=True)
class Cycle:
    """The strongest line of the periodogram; swing: from the best phase to the worst, in score."""

    period: float
    p: float
    swing: float
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
    swing = 4 * np.sqrt(max(0.0, power[place] - 1) * noise) / len(surprises.values)
    return Cycle(len(series) / place * cell * unit, p, float(swing), len(surprises.values))
