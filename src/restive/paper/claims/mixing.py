"""Section 2 and Section 4: mixing times, eq. (1), which ages are alike, and how many colors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from restive import theory
from restive.base.arrays import Floats
from restive.mdp.representation import Representation
from restive.paper import criteria
from restive.paper.chart import ratios_chart
from restive.paper.claim import Claim, Finding, Measurement, Scale, judged, ratios_finding, seeded
from restive.paper.problems import arm_of, chain_block

SMALLEST_SQUARED = 1e-3  # below, 2 eps^2 comes near the rounding of the powers
WINDOW = 12  # ages after the cap whose rows are compared


def mixing_time_by_definition(rows: Floats, epsilon: float = 0.25) -> int:
    """Tmix(eps) from its definition, power by power."""
    limit, power, t = arm_of(rows).stationary, rows, 1
    while np.abs(power - limit).sum(axis=1).max() > epsilon:
        power, t = power @ rows, t + 1
    return t


def far_apart(rows: Floats, age: int, step: int = 1) -> float:
    """Largest L1 distance of P^n(s, .) and P^n'(s, .) over n, n' in age, age + step, ..."""
    power, turn = np.linalg.matrix_power(rows, age), np.linalg.matrix_power(rows, step)
    powers = [power]
    for _ in range(WINDOW):
        powers.append(powers[-1] @ turn)
    laws = np.array(powers)  # (ages, S, S)
    return float(np.abs(laws[:, None] - laws[None]).sum(axis=-1).max())


def measure_chains(block: int) -> list[dict[str, Any]]:
    """For each chain of a block: how far it is after eq. (1), and what else Section 2 says."""
    return [_chain(rows) for rows in chain_block(block, 5)]


def _chain(rows: Floats) -> dict[str, Any]:
    time, arm = mixing_time_by_definition(rows), arm_of(rows)
    limit = arm.stationary
    left, square, alike, alike_exact = [], [], [], []
    for epsilon in criteria.MIXING.epsilons:
        cap = theory.mixing_time_bound(epsilon, time)
        distance = np.abs(np.linalg.matrix_power(rows, cap) - limit).sum(axis=1).max()
        left.append(float(distance) / epsilon)
        if epsilon >= SMALLEST_SQUARED:
            square.append(float(distance) / (2 * epsilon**2))
        alike.append(far_apart(rows, cap) / epsilon)
        alike_exact.append(far_apart(rows, arm.mixing_time(epsilon)) / epsilon)
    returns = float(1 / limit.min()) / (2 * arm.diameter)
    return {"left": max(left), "square": max(square), "alike": max(alike),
            "alike_exact": max(alike_exact), "returns": returns}  # fmt: skip


CHAINS = Measurement("chains", seeded(60, 6), measure_chains, (0.6, 0.6))


def _ran(results: Sequence[Any]) -> str:
    count = sum(len(block) for block in results)
    least = min(criteria.MIXING.epsilons)
    return f"{count:,} random chains of 2 to 6 states, eps from 1/4 to {least:g}"


def _values(results: Sequence[Any], key: str) -> list[float]:
    return [float(case[key]) for block in results for case in block]


def judge_ratio(key: str, words: str, note: str, scale: Scale, results: Sequence[Any]) -> Finding:
    """No chain above 1 in a ratio; words: what it is."""
    criterion = f"{words}: at most {criteria.MOST:g} in every chain"
    ratios = {"random chains": _values(results, key)}
    return ratios_finding(_ran(results), "largest {:.3g}", criterion, words, ratios,
                          slack=criteria.ROUNDING, note=note)  # fmt: skip


def judge_alike_exact(scale: Scale, results: Sequence[Any]) -> Finding:
    swap = criteria.MIXING.alternating
    rows = np.array([[1 - swap, swap], [swap, 1 - swap]])
    epsilon = 0.01
    age = mixing_time_by_definition(rows, epsilon)
    apart = far_apart(rows, age)
    many = _values(results, "alike_exact")
    share = float(np.mean(np.array(many) > criteria.MOST))
    worst = max(apart / epsilon, max(many))
    note = (
        f"Counterexample: two states that swap with probability {swap:g}. At eps = {epsilon:g} the "
        f"ages {age} and {age + 1} have one color, and their rows are {apart:.4f} apart: both are "
        "within eps of the limit, on two sides of it. Caps from eq. (1) make up for it."
    )
    return Finding(
        _ran(results),
        f"largest {worst:.3g}, above 1 in {share:.0%} of the chains",
        "distance of two rows from age Tmix(eps) on, over eps: at most 1",
        judged(worst <= criteria.MOST),
        note,
        {"largest": worst, "share_above": share, "counterexample": apart},
        ratios_chart("distance of two rows from age Tmix(eps) on, over eps",
                     {"random chains": many}),
    )  # fmt: skip


# --- colors ----------------------------------------------------------------------------------


def _small_problems(scale: Scale) -> Sequence[tuple[tuple[int, ...], tuple[int, ...]]]:
    sizes, caps = ((2, 2), (2, 3), (1, 4), (2, 2, 2)), (1, 2, 3, 5)
    return [(size, cap) for size in sizes for cap in product(caps, repeat=len(size))]


def measure_colors(cell: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[int, int, int]:
    """Colors counted in the T-step representation, by the formula, and in the code's tables."""
    sizes, caps = cell
    colors = set()
    for ages in product(range(1, max(caps) + 3), repeat=len(sizes)):
        if 1 in ages and len(set(ages)) == len(ages):
            for j, age in enumerate(ages):
                colors |= {(j, s, min(age, caps[j])) for s in range(sizes[j])}
    stored = Representation(sizes, caps, (1,) * len(sizes)).n_colors
    return len(colors), theory.n_colors(sizes, caps), stored


COLORS = Measurement("colors", _small_problems, measure_colors, (0.01, 0.01))


def judge_colors(scale: Scale, results: Sequence[Any]) -> Finding:
    equal = sum(counted == formula == stored for counted, formula, stored in results)
    return Finding(
        "two and three arms, every pair of colors in the T-step representation told apart",
        f"equal in {equal} of {len(results)} problems",
        "sum_j |S_j| Tmix_j(eps) is the number counted, in every problem",
        judged(equal == len(results)),
        values={"equal": equal, "problems": len(results)},
    )


CLAIMS = (
    Claim("equation-1", "Section 2, eq. (1)", "Tmix(eps) <= ceil(log2(1/eps)) Tmix.",
          CHAINS,
          partial(judge_ratio, "left",
                  "distance to the limit after ceil(log2(1/eps)) Tmix, over eps",
                  "For eps >= 1 the printed bound is 0 or less; the code takes at least one Tmix."),
          notices=("equation-1-constant",)),
    Claim("equation-1-square", "Section 2, eq. (1)", "In L1 distance eq. (1) even reaches 2 eps^2.",
          CHAINS,
          partial(judge_ratio, "square", "that distance over 2 eps^2, for eps from 1e-3 on",
                  "Not in the paper: why caps from eq. (1) give what Definition 1 asks for.")),
    Claim("aggregation", "Section 5, Structure of the MDP Representation",
          "Laws at ages from Tmix(eps) on are eps-close to each other (Definition 1).",
          CHAINS, judge_alike_exact, "fails"),
    Claim("coloring", "Section 5, Coloring; Algorithm 2",
          "With the caps of eq. (1), laws of pairs of one color are eps-close.",
          CHAINS,
          partial(judge_ratio, "alike", "distance of two rows from that age on, over eps", ""),
          notices=("equation-1-constant",)),
    Claim("colors", "Section 5, Coloring; proof of Theorem 2",
          "The T-step representation has sum_j |S_j| Tmix_j(eps) colors.", COLORS, judge_colors),
    Claim("return-times", "Section 7, proof of Lemma 1",
          "Mean return times are at most twice the diameter.", CHAINS,
          partial(judge_ratio, "returns", "longest mean return time over twice the diameter", "")),
)  # fmt: skip
