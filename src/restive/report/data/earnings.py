"""What planning would earn on the fitted arms, beside simpler ways to play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restive.base.errors import RestiveError
from restive.base.words import outward
from restive.many.planner import best_plan
from restive.planning import Plan, plan_within
from restive.planning.evaluation import evaluate
from restive.report.policy.svg import policy_section

if TYPE_CHECKING:
    from restive.model.bandit import Bandit

PATIENCE = 10.0  # seconds for an exact plan as forecast, and for a bounded one
TOLERANCES = (1e-5, 1e-4, 1e-3)
MOST_EVALUATED = 3  # arms up to which taking turns and the like are worked out,
EVALUATED_BYTES = 50 << 20  # with no more memory than this: some seconds


def earnings_of(bandit: Bandit) -> dict[str, Any]:
    """Plan the fitted arms within some seconds.

    rows: way to play, average reward in words, its length as a bar in %, a remark. policy: what
    ``policy_section`` gives.
    """
    exact = plan_within(bandit, PATIENCE, tolerances=TOLERANCES)
    best: Any = exact if isinstance(exact, Plan) else best_plan(bandit, time=PATIENCE)
    low, high = outward(best.gain_lower, best.gain_upper, 6)
    remark = "certain for the fitted chains"
    if best.lower_kind != "certified":
        remark = "lower end simulated, upper end certain for the fitted chains"
    alone = bandit.best_arm
    single = bandit.arms[alone].gain
    rows = [
        ("best plan", f"{low} to {high}", 100 * best.gain, remark),
        (f"always {bandit.arm_name(alone)}", f"{single:.4f}", 100 * single, "the best arm alone"),
        *_simple(bandit),
    ]
    method = f"Found by the method “{best.method}”; restive plan works longer on it."
    policy = policy_section(exact if isinstance(exact, Plan) else None, note=method)
    return {"rows": rows, "lead": _lead(best.gain, single), "policy": policy}


def _simple(bandit: Bandit) -> list[tuple[str, str, float, str]]:
    rows = []
    if bandit.n_arms <= MOST_EVALUATED:
        for policy, words in (("myopic", "the best reward at once"), ("round-robin", "in turn")):
            try:
                gain = evaluate(bandit, policy, 1e-4, memory=EVALUATED_BYTES).gain
            except (RestiveError, ArithmeticError, MemoryError):
                rows.append((policy, "not worked out", 0.0, "too large to do in some seconds"))
                continue
            rows.append((policy, f"{gain:.4f}", 100 * gain, words))
    return rows


def _lead(best: float, single: float) -> str:
    if best - single < 5e-5:
        return "Planning earns no more than the best arm alone."
    share = f" ({(best - single) / single:.1%})" if single > 0 else ""
    return f"Planning earns {best - single:.4f} a step more{share} than the best arm alone."
