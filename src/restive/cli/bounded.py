"""What ``restive plan`` tells about plans for many arms: facts, words, a live line, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from decimal import ROUND_FLOOR, Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from restive.base.words import duration_text, outward
from restive.cli import facts
from restive.cli.console import console, dim, show, table, title, waiting

if TYPE_CHECKING:
    from restive.many.bounded import BoundedPlan
    from restive.report.policy.bounded_words import BoundedWords

SHOWN_ARMS = 8

METHODS = {
    "exact": "an exact plan of all arms",
    "block": "a plan of some arms that forgets what was seen long ago; the others are left alone",
    "block of all arms": "a plan of all arms that forgets what was seen long ago",
    "groups": "a group of arms for each pull, planned exactly",
    "grid": "a look ahead at the values of a grid of beliefs",
    "whittle": "to pull what has the largest Whittle index",
    "lagrangian": "to pull what is worth most above the price of a pull",
    "rollout": "to look two steps ahead at what pulls are worth above their price",
    "myopic": "to pull what promises most for the next step",
    "stay, else oldest": "to stay where it pays, else to pull what was unseen longest",
    "one arm for ever": "to pull one arm for ever",
    "the best arms for ever": "to pull the best arms for ever",
}
UPPER = {
    "prices": "selling pulls at one price to each arm alone",
    "block": "planning some arms together and selling pulls to the others at a price",
    "grid": "planning on a grid of beliefs",
    "pairs": "planning pairs of arms with conditional budgets",
    "exact": "exact planning",
    "block of all arms": "planning all arms together and selling pulls at a price",
    "the largest rewards": "the largest rewards there are",
}


def told_bounded(plan: BoundedPlan) -> dict[str, Any]:
    """All that is known of the plan, its policy in words and shares of the pulls included."""
    words, interrupted = (None, True) if plan.interrupted else _words(plan)
    if words is None:
        return of_bounded(plan) | {"rule": None, "shares": None, "interrupted": interrupted}
    rule = {"sentence": words.rule, "simulated": words.value is not None} if words.rule else None
    shares = [{"arms": name, "share": share} for name, share in words.shares]
    return of_bounded(plan) | {
        "rule": rule, "shares": {"computed": words.computed, "of_pulls": shares}
    }  # fmt: skip


def of_bounded(plan: BoundedPlan) -> dict[str, Any]:
    """The interval, how it was found, and the arms that the policy pulls."""
    bandit, played = plan.bandit, plan.simulated
    mean = partial(bandit.units.mean, pulls=bandit.pulls)
    simulated = None
    if played is not None:
        simulated = {
            "mean": mean(played.mean), "lower": mean(played.lower), "upper": mean(played.upper),
            "confidence": played.confidence, "runs": played.runs, "steps": played.steps,
        }  # fmt: skip
    return facts.shared(plan) | {
        "certified_lower": mean(float(plan.certified_lower)),
        "upper_method": plan.upper_method,
        "simulated": simulated,
        "interrupted": plan.interrupted,
    }


def show_bounded(plan: BoundedPlan) -> bool:
    """Print the result first, then how it was found and what more time would buy.

    Returns whether nothing was interrupted.
    """
    out = console()
    known = of_bounded(plan)
    low, high = outward(known["gain_lower"], known["gain_upper"])
    alone = _rounded_down(known["best_arm"]["gain"], low)
    if plan.method == "one arm for ever":
        low = alone
    played = plan.simulated
    kind = "certified" if played is None else f"simulated, {played.confidence:.0%} interval"
    rows = [
        ("no policy earns more than", high, "certified"),
        ("this policy earns at least", low, kind),
    ]
    if plan.lower_kind == "simulated":
        sure = outward(known["certified_lower"], known["gain_upper"])[0]
        rows.append(("some policy earns at least", sure, "certified"))
    if plan.bandit.pulls == 1:
        rows.append((f"always {known['best_arm']['name']}", alone, "exact"))
    values = table(out, ("", "reward per step", "known by"), rows, right=(1,))
    show(out, title(known, "plan"), "", values, "", *_sentences(plan))
    # the result is on the screen already, and who pressed Ctrl-C wants no more
    words, interrupted = (None, True) if plan.interrupted else _words(plan)
    if words is not None and words.rule:
        show(out, f"In words: {words.rule}")
    if words is not None:
        show(out, words.sentence)
    show(out, "", dim(f"{_arms(plan)}, {duration_text(plan.seconds)}."))
    return not interrupted


def _rounded_down(value: float, like: str) -> str:
    """To the decimals of a number beside it, which is rounded down too."""
    step = Decimal(1).scaleb(-len(like.partition(".")[2]))
    return f"{Decimal(value + 1e-12).quantize(step, ROUND_FLOOR):f}"


def _words(plan: BoundedPlan) -> tuple[BoundedWords | None, bool]:
    """The policy in words, and whether Ctrl-C ended the search.

    None then, or if arms move too slowly to be played.
    """
    from restive.report.policy.bounded_words import bounded_words

    try:
        with waiting("looking for a short rule; Ctrl-C leaves it out"):
            return bounded_words(plan), False
    except KeyboardInterrupt:
        return None, True
    except ArithmeticError:
        return None, False


def _arms(plan: BoundedPlan) -> str:
    bandit = plan.bandit
    words = f"{bandit.n_arms:,} arm{'s' * (bandit.n_arms != 1)}"
    return f"{words}, {bandit.pulls:,} pulls a step" if bandit.pulls > 1 else words


def _sentences(plan: BoundedPlan) -> Iterator[str]:
    from restive.many.bounded import percent

    units = plan.bandit.units
    if plan.proven_optimal:
        yield f"The policy is optimal to within {units.loss(plan.tolerance):g}: that is proven."
    else:
        kind = "certainly" if plan.lower_kind == "certified" else "by simulation"
        lost = percent(plan.loss)
        if not units.plain:  # a share of what is earned depends on where the units put 0
            lost = f"at most {units.loss(plan.upper - plan.lower):.2g} a step"
        yield f"The policy earns {kind} {lost} less than the best one could."
    block = plan.block
    names = [plan.bandit.arm_name(j) for j in block[:SHOWN_ARMS]]
    late = "" if plan.converged else ", which did not converge in time"
    chosen = f"The policy is {METHODS.get(plan.method, plan.method)}"
    chosen += late if plan.method == "exact" else ""
    if len(block) < plan.bandit.n_arms:
        more = f" and {len(block) - SHOWN_ARMS:,} more" if len(block) > SHOWN_ARMS else ""
        chosen += f"; it pulls no arms but {', '.join(names)}{more}"
    bound = UPPER.get(plan.upper_method, plan.upper_method)
    bound += late if plan.upper_method == "exact" else ""
    yield f"{chosen}. The upper bound comes from {bound}."
    if plan.note:
        yield plan.note


def closing() -> AbstractContextManager[Callable[..., None] | None]:
    """A live line on standard error while the interval closes; None where nobody watches."""

    def words(plan: BoundedPlan) -> str:
        from restive.many.bounded import interval_words

        return f"{interval_words(plan)} after {duration_text(plan.seconds)}; Ctrl-C keeps this"

    return waiting("planning; Ctrl-C keeps the best so far", words)
