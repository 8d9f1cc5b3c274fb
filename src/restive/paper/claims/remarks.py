"""Remarks on chains: reversible ones, periodic ones, and how long it takes to see every state."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import lcm, log
from typing import Any

import numpy as np

from restive import theory
from restive.base.arrays import Floats
from restive.paper import criteria
from restive.paper.chart import points_chart, ratios_chart
from restive.paper.claim import Claim, Finding, Measurement, Scale, judged, ratios_finding, seeded
from restive.paper.claims.mixing import far_apart, mixing_time_by_definition
from restive.paper.problems import arm_of, chain_block, reversible_chain
from restive.problems import random_problem

_BLOCKS = seeded(40, 4)


# --- reversible chains -----------------------------------------------------------------------


def measure_reversible(block: int) -> list[float]:
    """Tmix over the bound by the diameter, for each lazy reversible chain of a block."""
    lazy = [0.5 * (rows + np.eye(len(rows))) for rows in chain_block(block, 6, reversible_chain)]
    bounds = [theory.reversible_mixing_bound(arm_of(rows).diameter) for rows in lazy]
    times = map(mixing_time_by_definition, lazy)
    return [time / bound for time, bound in zip(times, bounds, strict=True)]


REVERSIBLE = Measurement("reversible", _BLOCKS, measure_reversible, (0.3, 0.3))


def judge_ratios(
    chains: str, more: str, ratio: str, slack: float, scale: Scale, results: Sequence[Any]
) -> Finding:
    """No chain above 1 in what was measured; chains, more: what was drawn."""
    many = np.concatenate(results)
    return ratios_finding(
        f"{len(many):,} {chains} {more}", f"largest {ratio} {{:.3g}}",
        f"at most {criteria.MOST:g} in every chain", ratio, {chains: many}, slack=slack,
    )  # fmt: skip


def judge_reversible(scale: Scale, results: Sequence[Any]) -> Finding:
    ratios = []
    for flip in criteria.MIXING.flips:
        rows = np.array([[1 - flip, flip], [flip, 1 - flip]])
        ratios.append(mixing_time_by_definition(rows) / arm_of(rows).diameter)
    flip, last = criteria.MIXING.flips[-1], ratios[-1]
    bounded = last <= ratios[0] * 2
    return Finding(
        f"two states that swap with probability {', '.join(map(str, criteria.MIXING.flips))}",
        "Tmix / D = " + ", ".join(f"{ratio:.0f}" for ratio in ratios),
        "Tmix / D stays bounded: the last ratio is at most twice the first",
        judged(bounded),
        f"Counterexample: swapping with probability {flip:g} the diameter is {1 / flip:.4f} and "
        f"the mixing time {last / flip:.0f}. The chain must not have eigenvalues near -1 (see "
        "reversible-lazy).",
        {"ratios": ratios},
        points_chart("1 - probability of swapping", "Tmix / D",
                     [("two states that swap", [1 - flip for flip in criteria.MIXING.flips],
                       ratios)],
                     [("twice the first", [1 - flip, 0.1], [2 * ratios[0]] * 2)], True, True),
    )  # fmt: skip


# --- periodic chains -------------------------------------------------------------------------


def measure_periodic(block: int) -> list[dict[str, float]]:
    """Rows from eq. (1)'s age on, compared in steps of the period, of lcm(1..S) and of 1."""
    distances = []
    for k in range(10):
        rng = np.random.default_rng([block, k, 7])
        period = int(rng.integers(2, 5))
        size = int(rng.integers(period, 7))
        arm = random_problem(1, size, rng, period=period).arms[0]
        own, unknown, without = [], [], []
        for epsilon in criteria.MIXING.epsilons[:4]:
            cap = theory.mixing_time_bound(epsilon, arm.mixing_time())
            multiple = lcm(*range(1, size + 1))
            own.append(far_apart(arm.transitions, cap, arm.period) / epsilon)
            unknown.append(far_apart(arm.transitions, cap, multiple) / epsilon)
            without.append(far_apart(arm.transitions, cap))
        distances.append({"own": max(own), "unknown": max(unknown), "without": min(without),
                      "right": float(arm.period == period)})  # fmt: skip
    return distances


PERIODIC = Measurement("periodic", _BLOCKS, measure_periodic, (0.3, 0.3))


def judge_periodic(scale: Scale, results: Sequence[Any]) -> Finding:
    many = [chain for block in results for chain in block]
    own, unknown = max(chain["own"] for chain in many), max(chain["unknown"] for chain in many)
    without = min(chain["without"] for chain in many)
    holds = max(own, unknown) <= criteria.MOST * (1 + criteria.ROUNDING)
    holds = holds and all(chain["right"] == 1 for chain in many)
    return Finding(
        f"{len(many)} random chains of period 2 to 4 with up to 6 states",
        f"largest distance over eps {own:.3g} in steps of the period, {unknown:.3g} in steps of "
        f"lcm(1, ..., |S|); in single steps the rows are {without:.3g} apart",
        f"both at most {criteria.MOST:g}",
        judged(holds),
        "The paper says least common denominator; the least common multiple is meant.",
        {"period": own, "lcm": unknown, "single_steps": without},
        ratios_chart(
            "distance of two rows over eps",
            {
                "steps of the period": [chain["own"] for chain in many],
                "steps of lcm(1, ..., |S|)": [chain["unknown"] for chain in many],
            },
        ),
    )


def log_lcm(size: int) -> float:
    """log of lcm(1, ..., size).

    >>> round(np.exp(log_lcm(10)))
    2520
    """
    prime = np.ones(size + 1, dtype=bool)
    prime[:2] = False
    for p in range(2, int(size**0.5) + 1):
        if prime[p]:
            prime[p * p :: p] = False
    return sum(int(log(size) / log(p) + 1e-12) * log(p) for p in np.flatnonzero(prime).tolist())


def judge_primes(scale: Scale, results: Sequence[Any]) -> Finding:
    limit = criteria.PRIMES
    shares = [log_lcm(n) / n for n in limit.sizes]
    holds = all(abs(x - 1) <= off for x, off in zip(shares, limit.off, strict=True))
    return Finding(
        f"lcm(1, ..., n) for n = {', '.join(map(str, limit.sizes))}",
        "log lcm / n = " + ", ".join(f"{x:.4f}" for x in shares),
        f"within {', '.join(map(str, limit.off))} of 1",
        judged(holds),
        values={"shares": shares},
        figure=points_chart("n", "log lcm(1, ..., n) / n", [("computed", limit.sizes, shares)],
                            [("limit 1", [limit.sizes[0], limit.sizes[-1]], [1, 1])], True),
    )  # fmt: skip


# --- seeing every state ----------------------------------------------------------------------


def cover_time(rows: Floats) -> float:
    """Largest expected time until all states have been seen, over the state seen first; exact.

    Sets of states are bits; the largest sets come first, each one linear system.
    """
    size = len(rows)
    everything = (1 << size) - 1
    times = np.zeros((1 << size, size))
    for seen in range(everything - 1, 0, -1):
        inside = [s for s in range(size) if seen >> s & 1]
        outside = [s for s in range(size) if not seen >> s & 1]
        later = 1 + sum(rows[inside, y] * times[seen | 1 << y, y] for y in outside)
        within = np.eye(len(inside)) - rows[np.ix_(inside, inside)]
        times[seen, inside] = np.linalg.solve(within, later)
    return float(max(times[1 << s, s] for s in range(size)))


def measure_cover(block: int) -> list[float]:
    """Cover time over D log(3 |S|), for each chain of a block."""
    return [cover_time(rows) / theory.exploration_cost([arm_of(rows).diameter], [len(rows)])
            for rows in chain_block(block, 8)]  # fmt: skip


COVER = Measurement("cover", _BLOCKS, measure_cover, (0.3, 0.3))


CLAIMS = (
    Claim("reversible", "Section 7, Remark 4",
          "For reversible chains Tmix is bounded by a multiple of the diameter.",
          REVERSIBLE, judge_reversible, "fails"),
    Claim("reversible-lazy", "Section 7, Remark 4",
          "It is, by 8 times the diameter, if the chain stays half of the time.",
          REVERSIBLE,
          partial(judge_ratios, "random walks",
                  "on weighted graphs of 2 to 8 states that stay half of the time",
                  "Tmix / (8 D - 1/2, rounded up)", criteria.ROUNDING)),
    Claim("periodic-aggregation", "Section 7, Remark 5",
          "Ages that agree modulo the period, or modulo lcm(1, ..., |S|), can be aggregated.",
          PERIODIC, judge_periodic),
    Claim("primes", "Section 7, Remark 5",
          "lcm(1, ..., |S|) is exponential in |S| (prime number theorem).", PERIODIC, judge_primes),
    Claim("cover-time", "Section 8, Unknown state space",
          "All states of an arm are seen within D log(3 |S|) expected steps.", COVER,
          partial(judge_ratios, "random chains",
                  "of 2 to 6 states, cover times exact (sets of states)",
                  "cover time / (D log(3 |S|))", 0.0),
          notices=("cover-constant",)),
)  # fmt: skip
