"""What a reader of an estimated chain must be told, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from restive.base.arrays import Floats
from restive.estimation.chain import MOST_CURVED, ChainEstimate

MANY = 50  # sightings after a state from which on wide intervals are due to gaps
DEPENDENT = 0.01  # p-value of independence below which dependence is seen


def remarks(estimate: ChainEstimate, labels: Sequence[str]) -> tuple[str, ...]:
    """Sentences about what the data do not show; empty if all is well."""
    told = [*_smoothing(estimate, labels), *_roots(estimate, labels), *_doubts(estimate, labels)]
    if not estimate.converged:
        told.append("The likelihood is so flat that its maximum was not reached.")
    if estimate.n_states > MOST_CURVED and not estimate.counts.every_step:
        told.append("With so many states, intervals rest on sightings one step apart alone.")
    if estimate.counts.rounded:
        told.append("There are so many different gaps that long ones were rounded (by 0.2%).")
    return tuple(told)


def _smoothing(estimate: ChainEstimate, labels: Sequence[str]) -> list[str]:
    if not estimate.smoothed:
        return []
    counts = estimate.counts.counts.sum(axis=0)
    reasons = []
    for s, label in enumerate(labels):
        others = np.delete(counts, s, axis=0)[:, s].sum(), np.delete(counts[s], s).sum()
        if not others[1]:
            reasons.append(f"{label} is never seen to be left")
        elif not others[0]:
            reasons.append(f"{label} is never seen to be entered")
    why = ", ".join(reasons) or "some states are never reached from others"
    return [
        f"Counts alone give a chain that gets stuck ({why}): {estimate.smoothed:g} of a move was "
        "added to each row, spread evenly."
    ]


def _roots(estimate: ChainEstimate, labels: Sequence[str]) -> list[str]:
    """Gaps with a common divisor, and other chains that explain the data as well."""
    told, divisor = [], estimate.counts.divisor
    if divisor > 1:
        told.append(
            f"All gaps are multiples of {divisor}: the data show what happens in {divisor} steps, "
            "and the chain of one step is a root of that."
        )
    if estimate.twin is not None:
        told.append(
            f"Another chain explains the data as well: {_rows(estimate.twin, labels)}. "
            "Sightings at other gaps would tell them apart."
        )
    return told


def _rows(chain: Floats, labels: Sequence[str]) -> str:
    """The probabilities of staying, which tell most chains apart in few numbers."""
    stays = [f"{label} stays with {chain[s, s]:.2f}" for s, label in enumerate(labels)]
    return ", ".join(stays[:5]) + (", ..." if len(stays) > 5 else "")


def _doubts(estimate: ChainEstimate, labels: Sequence[str]) -> list[str]:
    width = estimate.upper - estimate.lower
    if width.max() < 0.5:
        return []
    s, e = divmod(int(width.argmax()), len(width))
    range_text = f"{estimate.lower[s, e]:.2f} to {estimate.upper[s, e]:.2f}"
    entry = f"the probability of {labels[s]} -> {labels[e]} could be anything from {range_text}"
    shortest = int(estimate.counts.gaps[0])
    if shortest > 1 and estimate.dependence > DEPENDENT:
        return [
            f"Sightings {shortest} or more steps apart look independent of each other: only the "
            f"long-run shares of the states are known, and {entry}. Look again sooner."
        ]
    row = estimate.counts.counts[:, s].sum()
    if not estimate.counts.every_step and row >= MANY:
        return [f"The gaps hide much: {entry}. Look again sooner after {labels[s]}."]
    seen = "1 sighting" if row == 1 else f"{row:.0f} sightings"
    return [f"Little is known: {entry} ({seen} after {labels[s]})."]
