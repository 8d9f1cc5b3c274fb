"""Sentences of the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from restive.data.stakes import Stake
    from restive.data.tables import Contrast
    from restive.data.verdicts import Assumption

OPENINGS = {
    "memory": ("Its next state depends on more than the present one",
               "no sign that states before the present one matter"),
    "change": ("It changes over time", "no sign of change over time"),
    "period": ("It changes with a period", "no sign of a period"),
    "dependence": ("It moves together with another arm", "no sign that it moves with other arms"),
}  # fmt: skip
UNCLEAR = {
    "memory": "memory cannot be judged",
    "change": "change over time cannot be judged",
    "period": "periods cannot be judged",
    "dependence": "dependence between arms cannot be judged",
}
HINT = 0.05
LEAST_SHOWN = 0.0001  # reward
MISSED = 0.01  # share of the reward by which a promise may be off before it is said
SHORT = {
    "memory": "has a longer memory", "change": "changes over time", "period": "has a period",
    "dependence": "moves with other arms",
}  # fmt: skip


def p_text(p: float) -> str:
    """
    >>> p_text(0.0321), p_text(1e-9)
    ('p = 0.032', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def steps(period: float) -> str:
    """A period in words: whole numbers stay whole."""
    return f"{period:.0f} steps" if abs(period - round(period)) < 0.005 else f"{period:.2f} steps"


def contrast(seen: Contrast, condition: str, otherwise: str, state: str) -> str:
    """How often ``state`` follows where ``condition`` holds, and otherwise."""
    return (
        f"{state} follows in {seen.inside:.0%} of {seen.n_inside:,} cases {condition}, "
        f"and in {seen.outside:.0%} of {seen.n_outside:,} {otherwise}"
    )


def summary(findings: Sequence[Assumption]) -> str:
    """One line for an arm."""
    failing = [finding for finding in findings if finding.fails]
    unclear = [finding for finding in findings if finding.fails is None]
    if not failing:
        if len(unclear) == len(findings):
            return "too few looks to tell anything"
        rest = ", ".join(UNCLEAR[finding.kind] for finding in unclear)
        return "believable" + (f"; {rest}" if rest else "")
    alike: dict[str, list[str]] = {}  # what fails, by what it could cost
    for finding in failing:
        alike.setdefault(_weight(finding), []).append(SHORT[finding.kind])
    return "; ".join(", ".join(kinds) + weight for weight, kinds in alike.items())


def _weight(finding: Assumption) -> str:
    stake = finding.stake
    if stake is None or stake.loss is None or not stake.gain:
        return ""
    if finding.little:
        return " (little at stake)"
    most = "at most " if stake.at_most else ""
    return f" ({most}{stake.loss / stake.gain:.1%} of the reward at stake)"


def sentence(finding: Assumption) -> str:
    """What was found on one assumption."""
    opening, fine = OPENINGS[finding.kind]
    if finding.fails is None:
        text = f"{UNCLEAR[finding.kind]}: {finding.note}."
        return text[0].upper() + text[1:]
    if not finding.fails:
        return _no_sign(finding, fine)
    p = f" ({p_text(finding.corrected or 0.0)}, corrected)"
    parts = [f"{opening}{_what(finding)}{p}."]
    if finding.evidence:
        parts.append(finding.evidence[0].upper() + finding.evidence[1:] + ".")
    if finding.bits is not None and finding.share is not None:
        parts.append(f"The model leaves out {finding.bits:.2g} bits a look, "
                     f"{finding.share:.1%} of what is open about the next state.")  # fmt: skip
    if finding.note:
        parts.append(finding.note + ".")
    if finding.stake is not None:
        parts.append(_cost(finding.stake, finding.kind))
    return " ".join(parts)


def _no_sign(finding: Assumption, fine: str) -> str:
    assert finding.p is not None
    p, shown = p_text(finding.p), ""
    if finding.p < HINT and finding.corrected is not None:
        fine = fine.replace("no sign", "no clear sign")
        p += f" alone, {finding.corrected:.2g} among all tests"
    if finding.detectable is not None:
        shown = f"; {finding.detectable:.2g} bits a look would have shown"
    return f"{fine[0].upper()}{fine[1:]} ({p}, {finding.looks:,} looks{shown})."


def _what(finding: Assumption) -> str:
    if finding.kind == "memory" and finding.order:
        more = " or more" if finding.order >= 3 else ""
        return f": the last {finding.order}{more} states matter"
    if finding.kind == "change" and finding.jump is not None:
        return f", most visibly at step {finding.jump:,}"
    if finding.kind == "period" and finding.period is not None:
        return f" of {steps(finding.period)}"
    if finding.kind == "dependence" and finding.partner is not None:
        return f', most with "{finding.partner}"'
    return ""


def _cost(stake: Stake, kind: str) -> str:
    if stake.loss is None:
        return f"What it could cost was not computed: {stake.note}."
    share = f" ({stake.loss / stake.gain:.1%})" if stake.gain and stake.loss >= LEAST_SHOWN else ""
    most = "at most " if stake.at_most else ""
    loss = f"{most}{stake.loss:.4f}" if stake.loss >= LEAST_SHOWN else f"less than {LEAST_SHOWN}"
    given = {
        "memory": ", if a pull showed that many states",
        "change": ", if each stretch of time had its own plan",
        "period": ", if each phase had its own plan",
        "dependence": ", if the plan knew how they move together",
    }[kind]
    rivals = "" if len(stake.arms) < 2 else f"; worked out with {_listed(stake.arms[1:])}"
    text = f"At stake: {loss} of {stake.gain:.4f} a step{share}{given}{_range(stake)}{rivals}."
    if stake.promise is None or abs(stake.promise - (stake.gain or 0.0)) < LEAST_SHOWN:
        return text
    return f"{text} On these arms the plan promises {stake.promise:.4f}."


def _range(stake: Stake) -> str:
    if stake.low is None or stake.high is None or stake.high < LEAST_SHOWN:
        return ""
    return f" ({stake.low:.4f} to {stake.high:.4f} over the interval of the correlation)"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f'"{name}"' for name in names)


def advice(finding: Assumption) -> str:
    """What to do about an assumption that fails."""
    if finding.little:
        return "Nothing: the plan loses little by it." + _shortfall(finding.stake)
    if finding.kind == "memory":
        order = finding.order or 2
        if finding.stake is not None and finding.stake.loss is None:
            return (
                "Tuples of states could not be fitted or planned. Keep the plan, and replay it on "
                "the data to see what it earns."
            )
        return (
            f"If a pull shows the last {order} states, fit with --order {order}. If it shows the "
            "last state alone, the plan stays the one to use, and the stake bounds its loss."
        )
    if finding.kind == "change":
        return (
            f"Fit what came after step {finding.jump:,} alone, or let a learner that forgets play."
            if finding.jump is not None
            else "Fit the recent part alone, or let a learner that forgets play."
        )
    if finding.kind == "period":
        return "Fit each phase by itself (a column of pieces), and plan each."
    return (
        "Plans take arms as independent. Replay the plan on the data to see what it earns; merge "
        "arms that move as one into a single arm." + _shortfall(finding.stake)
    )


def _shortfall(stake: Stake | None) -> str:
    """A plan that is as good as any can still promise too much, or too little."""
    if stake is None or not stake.gain or stake.promise is None:
        return ""
    if abs(stake.promise - stake.gain) < MISSED * stake.gain:
        return ""
    much = "less" if stake.gain < stake.promise else "more"
    return f" Reckon with {much} than the plan promises: {stake.gain:.3f}, not {stake.promise:.3f}."
