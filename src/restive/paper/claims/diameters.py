"""Lemma 1: the true diameter of the aggregated MDP against its bound."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2, prod
from typing import Any

import numpy as np

from restive import theory
from restive.model.bandit import Arm, Bandit
from restive.paper import criteria
from restive.paper.chart import ratios_chart
from restive.paper.claim import Claim, Finding, Measurement, Scale, judged, seeded
from restive.paper.problems import random_chain
from restive.planning.diameter import bandit_diameter
from restive.problems import example1, example3

EPSILONS = (0.25, 0.1, 0.03)
MOST_STATES = 400  # of an aggregated MDP; larger ones are left out


def draw_bandit(seed: int) -> Bandit:
    """Two arms of 2 to 3 states, or three of 2, with chains of every kind."""
    rng = np.random.default_rng([seed, 13])
    count = 3 if seed % 4 == 0 else 2
    arms: list[Arm] = []
    while len(arms) < count:
        rows = random_chain(rng)
        if len(rows) <= (2 if count == 3 else 3):
            arms.append(Arm(rows, rng.random(len(rows))))
    return Bandit(arms)


def measure_diameter(seed: int) -> list[dict[str, float]]:
    """True D_eps over Lemma 1's bound, for each eps whose MDP is small enough."""
    bandit, pairs = draw_bandit(seed), []
    for epsilon in EPSILONS:
        caps = [arm.mixing_time(epsilon) for arm in bandit.arms]
        states = prod(bandit.n_states) * bandit.n_arms * max(caps) ** (bandit.n_arms - 1)
        if states > MOST_STATES:
            continue
        true = bandit_diameter(bandit, caps, tolerance=1e-3).upper
        diameters = [arm.diameter for arm in bandit.arms]
        pairs.append({"true": true, "bound": theory.diameter_bound(diameters, max(caps))})
    return pairs


DIAMETERS = Measurement("diameters", seeded(150, 30), measure_diameter, (0.4, 0.4))


def judge_lemma(scale: Scale, results: Sequence[Any]) -> Finding:
    many = [pair for block in results for pair in block]
    worst = max(pair["true"] / pair["bound"] for pair in many)
    example = example1(0.1).arms[0]
    cap, sides = example.mixing_time(0.01), [example.diameter] * 2
    true = bandit_diameter(example1(0.1), cap, tolerance=1e-3).upper
    bound = theory.diameter_bound(sides, cap)
    return Finding(
        f"{len(many)} aggregated MDPs of {len(results)} random bandits with two and three arms, "
        f"eps = {', '.join(map(str, EPSILONS))}",
        f"largest true D_eps / bound {worst:.2g}; Example 1 at eps = 0.01: {true:.1f} against "
        f"{bound:.3g}",
        "at most 1 in every MDP",
        judged(worst <= criteria.MOST),
        "The bound is far from tight. A trial of the proof may take K - 2 steps more than 2 "
        "Tmix(eps), and log2(4 tau) should read log2(2 tau); the bound holds all the same.",
        {"largest": worst, "example_1": true, "example_1_bound": bound},
        ratios_chart("true D_eps / bound", {"MDPs": [p["true"] / p["bound"] for p in many]},
                     what="MDPs"),
    )  # fmt: skip


def judge_single(scale: Scale, results: Sequence[Any]) -> Finding:
    bandit = example3(0.1)
    diameters = [arm.diameter for arm in bandit.arms]
    caps = [arm.mixing_time(0.25) for arm in bandit.arms]
    printed = 2 * ceil(log2(4 * max(diameters))) * max(caps) * prod(4 * d for d in diameters)
    true = bandit_diameter(bandit, caps).upper
    return Finding(
        "Example 3 with epsilon = 0.1, its coin an arm with one state; eps = 1/4",
        f"true D_eps {true:.2f}, bound as printed {printed:g}",
        "D_eps is at most the bound as printed",
        judged(true <= printed),
        "Counterexample: an arm with a single state has diameter 0, which makes the product 0. "
        "4 D_j stands for 2/mu_j(s), which is 2 then; the code takes max(4 D_j, 2).",
        {"true": true, "printed": printed},
    )


CLAIMS = (
    Claim("lemma-1", "Section 7, Lemma 1",
          "D_eps <= 2 ceil(log2(4 max D_j)) Tmix(eps) prod_j (4 D_j) for arms of two states or "
          "more.", DIAMETERS, judge_lemma, notices=("lemma-1-product",)),
    Claim("lemma-1-single-state", "Section 7, Lemma 1", "The same for arms with one state.",
          DIAMETERS, judge_single, "fails"),
)  # fmt: skip
