"""``check_markov``: test every assumption of a bandit on the traces it was fitted to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Ints
from restive.base.checks import require
from restive.base.errors import refusal
from restive.data.change import SEGMENTS, find_moves, phase_of
from restive.data.findings import pair_findings, single_findings
from restive.data.stakes import dependence_stake, memory_stake, parts_stake
from restive.data.verdicts import ArmVerdict, Assumption, Verdicts, corrected

if TYPE_CHECKING:
    from restive.data.traces import ArmTrace, Traces
    from restive.model.bandit import Bandit


DISGUISE = "A chain that changes over time looks as if it had a memory, and the other way round"
SPANS = {"hour": 3600.0, "day": 86400.0, "week": 604800.0, "year": 31556952.0}  # seconds


def check_markov(
    traces: Traces,
    bandit: Bandit | None = None,
    *,
    period: float | str | None = None,
    level: float = 0.05,
    rng: int | np.random.Generator = 0,
    progress: Callable[[str, float], None] | None = None,
) -> Verdicts:
    """Is it Markov? A verdict for each arm: which assumption fails, how badly, and what to do.

    bandit: the arms fitted to the traces; with them, what a failure could cost is worked out.
    period: steps, or "hour", "day", "week" or "year" where times are dates; None looks for one.
    level: chance that a report on a bandit that is as assumed holds any alarm (Holm).
    progress: called with what is being done and the part of the work that is over.
    """
    require(0 < level < 1, "level", level, "Give a probability between 0 and 1, such as 0.05.")
    length = _in_steps(period, traces.tick)
    generator = np.random.default_rng(rng)
    say = progress or (lambda text, part: None)
    findings: list[Assumption] = []
    for k, arm in enumerate(traces.arms):
        say(f"testing {arm.name}", k / (len(traces.arms) + 1))
        findings += single_findings(arm, length, generator)
    say("testing pairs of arms", 1 - 1 / (len(traces.arms) + 1))
    pairs = pair_findings(traces.arms, generator)
    judged = corrected([*findings, *(finding for _, finding in pairs)], level)
    tests = sum(finding.p is not None for finding in judged)
    singles, doubles = judged[: len(findings)], judged[len(findings) :]
    ends = [pair for pair, _ in pairs]
    verdicts = []
    for k, arm in enumerate(traces.arms):
        own = singles[3 * k : 3 * k + 3]
        own.append(_strongest(*_facing(traces, ends, doubles, k)))
        if bandit is not None:
            say(f"what is at stake with {arm.name}", k / len(traces.arms))
            own = [_with_stake(finding, traces, bandit, k) for finding in own]
        verdicts.append(_verdict(arm.name, own))
    return Verdicts(tuple(verdicts), level, tests)


def _verdict(arm: str, findings: list[Assumption]) -> ArmVerdict:
    """memory, change: the first two findings."""
    memory, change, *others = findings
    if memory.fails and change.fails:
        memory = replace(memory, note=DISGUISE)
    return ArmVerdict(arm, (memory, change, *others))


def _in_steps(period: float | str | None, tick: float | None) -> float | None:
    """A period in steps."""
    if period is None:
        return None
    if isinstance(period, str) and period not in SPANS:
        remedy = f"Give a number of steps, or one of {', '.join(SPANS)}."
        raise refusal("period", "not a period", repr(period)[:80], remedy)
    length = SPANS[period] / (tick or 1.0) if isinstance(period, str) else float(period)
    remedy = "Give a period of at least 2 steps."
    require(2 <= length < np.inf, "period", period, remedy)
    return length


def _facing(
    traces: Traces, pairs: list[tuple[int, int]], findings: list[Assumption], arm: int
) -> tuple[list[Assumption], list[str]]:
    """What was found of an arm with every other, as that arm sees it, and the others' names."""
    own, partners = [], []
    for (first, second), finding in zip(pairs, findings, strict=True):
        if arm in (first, second):
            own.append(finding if arm == first else replace(finding, lag=-finding.lag))
            partners.append(traces.arms[second if arm == first else first].name)
    return own, partners


def _strongest(findings: list[Assumption], partners: list[str]) -> Assumption:
    """The pair that stands out most, for one arm."""
    told = [(f.corrected, f.p, name, f) for f, name in zip(findings, partners, strict=True)
            if f.p is not None]  # fmt: skip
    if not told:
        note = findings[0].note if findings else "there is one arm only"
        return Assumption("dependence", None, note=note)
    *_, name, finding = min(told, key=lambda entry: entry[:2])
    failing = sum(bool(f.fails) for f in findings)
    others = f"; {failing - 1} more such arm{'s' * (failing > 2)}" if failing > 1 else ""
    return replace(finding, partner=name, evidence=finding.evidence + others)


def _with_stake(finding: Assumption, traces: Traces, bandit: Bandit, k: int) -> Assumption:
    """What a failure could cost."""
    if not finding.fails:
        return finding
    arm, shrinkage = traces.arms[k], finding.shrinkage
    if finding.kind == "memory":
        stake = memory_stake(arm, bandit, k, finding.order or 2, shrinkage)
    elif finding.kind == "dependence":
        partner = [own.name for own in traces.arms].index(finding.partner or "")
        known = finding.correlation or 0.0, finding.looks, finding.lag
        stake = dependence_stake(bandit, k, partner, *known)
    else:
        short = finding.kind == "period"
        stake = parts_stake(arm, bandit, k, _parts(arm, finding), shrinkage, short)
    return replace(finding, stake=stake)


def _parts(arm: ArmTrace, finding: Assumption) -> Ints:
    """The part of the time that each move belongs to."""
    moves = find_moves(arm)
    if finding.kind == "change":
        if finding.jump is not None:
            return (moves.times >= finding.jump).astype(np.int64)
        return np.arange(len(moves.times)) * SEGMENTS // max(1, len(moves.times))
    assert finding.period is not None
    return phase_of(moves.times, finding.period)
