"""Theorem 1: every index policy against the two problems of its proof, exactly.

An index may look at the belief about its own arm: the law of its state now, given what was seen of
it. For L, which has one state, that never changes. An index that looks at (state last seen, age)
knows more: when its own arm was pulled. The paper says "a function of time, states, and rewards";
theorem-1 is about the first kind, theorem-1-counting about the second.

In Example 4 nothing depends on the past but the toss of R, which is over after five steps; so play
repeats every 15 steps whatever is pulled, and a gain is what 15 steps earn. An index of R depends
on what is known of its state: phase 0, 1, 2, the toss itself (3), the step after it (4) unseen,
lucky, or unlucky. That of C depends on its phase. L has one state and so one index, 0: an index
matters only by the order in which it stands with those of other arms.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from typing import Any

import numpy as np

from restive.base.arrays import Bools, Floats
from restive.paper import criteria
from restive.paper.claim import Claim, Finding, Measurement, Scale, fixed, judged
from restive.planning.evaluation import evaluate
from restive.problems import example4

CYCLE = 15  # steps after which everything starts again
TOSS, LUCKY, UNLUCKY = 3, 5, 6  # what is known of R; 4: after the toss, unseen
C_PAYS = np.array([1.0, 0.5, 0.0])
R_PAYS = np.array([1.0, 0.0, 0.0, 7 / 16, 3 / 8, 3 / 4, 0.0])  # in expectation
L_PAYS = 0.5


def all_orders() -> tuple[Floats, Floats]:
    """Indices of C (n, 3) and R (n, 7), L at 0: every order that tells two policies apart.

    Arms below L are never pulled, so only those above it need an order: the phases of C above L
    stand at 1, 2, 3 in any order, and each one of R is below L or anywhere between them.
    """
    c_rows, r_rows = [], []
    for above in product((False, True), repeat=3):
        phases = np.flatnonzero(above)
        for order in permutations(range(1, len(phases) + 1)):
            c = np.full(3, -1.0)
            c[phases] = order
            levels = np.array([-0.5, *(0.5 + np.arange(len(phases) + 1))])
            r = np.stack(np.meshgrid(*[levels] * 7, indexing="ij"), axis=-1).reshape(-1, 7)
            c_rows.append(np.broadcast_to(c, (len(r), 3)))
            r_rows.append(r)
    return np.concatenate(c_rows), np.concatenate(r_rows)


def gains(c_index: Floats, r_index: Floats, center: bool) -> Floats:
    """Average reward of each index policy, with C or without it."""
    total, seen = np.zeros(len(c_index)), np.zeros(len(c_index), dtype=bool)
    for t in range(CYCLE):
        c = c_index[:, t % 3] if center else np.full(len(c_index), -2.0)
        pays, phase = C_PAYS[t % 3], t % 5
        if phase < 4:
            paid, tossed = _step(c, pays, r_index[:, phase], R_PAYS[phase])
            total += paid
            seen = tossed if phase == TOSS else seen
            continue
        unseen = _step(c, pays, r_index[:, 4], R_PAYS[4])[0]
        known = [_step(c, pays, r_index[:, k], R_PAYS[k])[0] for k in (LUCKY, UNLUCKY)]
        total += np.where(seen, 0.5 * (known[0] + known[1]), unseen)
    return total / CYCLE


def _step(c: Floats, c_pays: float, r: Floats, r_pays: float) -> tuple[Floats, Bools]:
    """What the arm with the largest index pays, and whether it was R."""
    right = (r > 0) & (r > c)
    return np.where(right, r_pays, np.where(c > 0, c_pays, L_PAYS)), right


def measure_orders(center_only: bool) -> dict[str, Any]:
    """The least loss that any index policy has in the worse of the two problems, or with C."""
    c_index, r_index = all_orders()
    lost = _best(True) - gains(c_index, r_index, True)
    if not center_only:
        lost = np.maximum(lost, _best(False) - gains(c_index, r_index, False))
    return {"policies": len(lost), "margin": float(lost.min())}


def _best(center: bool) -> float:
    """rho* of the problem with or without C."""
    limits = criteria.EXAMPLES
    return float(limits.with_center if center else limits.without_center)


ORDERS = Measurement("index-policies", fixed(False, True), measure_orders, (1.5, 1.5))


def judge_orders(scale: Scale, results: Sequence[Any]) -> Finding:
    both, alone = results[0]["margin"], results[1]["margin"]
    margin = criteria.EXAMPLES.margin
    return Finding(
        f"all {results[0]['policies']:,} orders of indices of beliefs, both problems, exactly",
        f"the best index policy loses {both:.6f} a step in the worse problem ({1 / both:.0f}th of "
        f"a step's reward), and {alone:.6f} with C alone",
        f"at least {margin} = {float(margin):.6f}, that is 1/16 once in {CYCLE} steps",
        judged(both >= float(margin) - 1e-12),
        "In this reconstruction of the figure no index policy is optimal even on the problem with "
        "C alone: after the toss of step 8 L is better, after that of step 13 R." if alone > 0
        else "",
        {"margin": both, "margin_with_center": alone, "policies": results[0]["policies"]},
    )  # fmt: skip


# --- an index that knows when its own arm was pulled -------------------------------------------


def counting_index(arm: str, state: int, age: int) -> float:
    """An index of the arm's own past only: what was seen of it, and how long ago it was pulled."""
    if arm == "L":
        return {1: 0.1, 2: 0.2, 3: 0.0, 4: 0.9}.get(age, 0.05)
    if arm == "C":
        return (1.0, 0.15, -1.0)[(state + age) % 3]
    known = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 3, 6: 4}[state]  # phase in which a state is
    phase = (known + age) % 5
    if phase == 4 and age == 1:  # the toss was seen a step ago
        return 0.8 if state == 3 else -1.0
    return (1.0, -1.0, -1.0, 0.5, -1.0)[phase]


def measure_counting(center: bool) -> tuple[bool, float, float]:
    """Gain of that policy, exact, and the best one."""
    names = "LCR" if center else "LR"

    def policy(states: tuple[int, ...], ages: tuple[int, ...]) -> int:
        worth = [counting_index(*arm) for arm in zip(names, states, ages, strict=True)]
        return int(np.argmax(worth))

    value = evaluate(example4(center), policy, 1e-9, caps=CYCLE)
    return center, value.gain, _best(center)


COUNTING = Measurement("counting-index", fixed(False, True), measure_counting, (1.0, 1.0))


def judge_counting(scale: Scale, results: Sequence[Any]) -> Finding:
    lost = {center: best - gain for center, gain, best in results}
    worst = max(lost.values())
    return Finding(
        "one policy by indices of (state last seen, age), evaluated exactly on both problems",
        f"it loses {abs(lost[True]):.1e} with C and {abs(lost[False]):.1e} without",
        f"it loses at least {criteria.EXAMPLES.margin} in one of them",
        judged(worst >= float(criteria.EXAMPLES.margin) - 1e-9),
        "Counterexample: let the index of L also depend on the steps since L was pulled (0.1, 0.2, "
        "0, 0.9 for 1, 2, 3, 4 of them), and let the others go by the phase: C 1, 0.15, -1; R 1, "
        "-1, -1, 0.5 at the toss, 0.8 after a lucky one. In the situation of the proof L was "
        "pulled four steps ago if C is there and one step ago if not, so the two do not "
        "contradict each other. The proof holds for indices of an arm's states and rewards; this "
        "reconstruction of its figure says nothing of indices that count pulls, such as UCB's.",
        {"lost_with_center": lost[True], "lost_without_center": lost[False]},
    )


CLAIMS = (
    Claim("theorem-1", "Section 3, Theorem 1",
          "No policy by indices that look at the belief about their own arm, what its states seen "
          "say of its state now, is optimal on both problems of the proof.", ORDERS, judge_orders,
          notices=("tosses-pay-more",)),
    Claim("theorem-1-counting", "Section 3, Theorem 1",
          "The same for indices that look at the state last seen of their arm and its age, the "
          "steps since it was pulled.", COUNTING, judge_counting, "fails"),
)  # fmt: skip
