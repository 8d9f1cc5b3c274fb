"""``check_markov``: test every assumption of a bandit on the traces it was fitted to.

From tests on arms to findings: how large each is, the difference one sees most, what it costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from restive.base.arrays import Ints
from restive.base.checks import require
from restive.base.errors import refusal
from restive.data import verdict_words as words
from restive.data.change import (
    SEGMENTS,
    TOO_FEW,
    change_test,
    find_moves,
    n_phases,
    period_test,
    phase_of,
)
from restive.data.orders import order_test
from restive.data.stakes import dependence_stake, memory_stake, parts_stake
from restive.data.surprises import LAGS, DependenceTest, dependence_tests, find_cycle
from restive.data.tables import Contrast, Reading, clearest
from restive.data.verdicts import ArmVerdict, Assumption, Kind, Verdicts, corrected

if TYPE_CHECKING:
    from restive.data.traces import ArmTrace, Traces
    from restive.model.bandit import Bandit


CERTAIN = "every move is certain"
PERIODOGRAM = "largest line of the periodogram"
DISGUISE = "A chain that changes over time looks as if it had a memory, and the other way round"
SPANS = {"hour": 3600.0, "day": 86400.0, "week": 604800.0, "year": 31556952.0}  # seconds
ADDS = 0.01  # p-value of order 3 against 2 at which three states are said to matter
HINT = 0.05  # p-value at which it is looked at more closely
ENOUGH = 60  # moves without a surprise from which on an arm is taken to leave nothing to chance


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
        findings += _single_findings(arm, length, generator)
    say("testing pairs of arms", 1 - 1 / (len(traces.arms) + 1))
    pairs = _pair_findings(traces.arms, generator)
    judged = corrected([*findings, *(finding for _, finding in pairs)], level)
    tests = sum(finding.p is not None for finding in judged)
    doubles = [(ends, f) for (ends, _), f in zip(pairs, judged[len(findings) :], strict=True)]
    verdicts = []
    for k, arm in enumerate(traces.arms):
        memory, change, cycle = judged[3 * k : 3 * k + 3]
        if memory.fails and change.fails:
            memory = replace(memory, note=DISGUISE)
        own = [memory, change, cycle, _strongest(*_facing(traces, doubles, k))]
        if bandit is not None:
            say(f"what is at stake with {arm.name}", k / len(traces.arms))
            own = [_with_stake(finding, traces, bandit, k) for finding in own]
        verdicts.append(ArmVerdict(arm.name, tuple(own)))
    return Verdicts(tuple(verdicts), level, tests)


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


def _single_findings(
    arm: ArmTrace, period: float | None, rng: np.random.Generator
) -> list[Assumption]:
    """What is found of an arm by itself: memory, change over time, a period."""
    if certain := _certain_moves(arm):
        kinds: tuple[Kind, ...] = ("memory", "change", "period")
        return [Assumption(kind, False, 1.0, looks=certain, method=CERTAIN) for kind in kinds]
    return [_memory(arm, rng), _change(arm, rng), _period(arm, period, rng)]


def _certain_moves(arm: ArmTrace) -> int:
    """Number of moves if the same look at the same gap was always followed by the same state."""
    moves = find_moves(arm)
    causes = np.unique(np.stack([moves.states, moves.gaps]), axis=1).shape[1]
    cases = np.unique(np.stack([moves.states, moves.gaps, moves.after]), axis=1).shape[1]
    repeated = len(moves.states) - causes
    return len(moves.states) if causes == cases and repeated >= ENOUGH else 0


def _finding(
    kind: Kind, p: float, reading: Reading, evidence: Callable[[Contrast], str], **more: Any
) -> Assumption:
    """What a test found; evidence: words for the difference one sees most."""
    seen = clearest(reading.tables)
    facts = {"method": reading.method, "evidence": evidence(seen) if seen else ""} | more
    return Assumption(kind, False, p, looks=reading.transitions, bits=reading.bits,
                      share=reading.share, detectable=reading.detectable,
                      shrinkage=reading.shrinkage,
                      difference=seen.difference if seen else None, **facts)  # fmt: skip


def _memory(arm: ArmTrace, rng: np.random.Generator) -> Assumption:
    """Order 1 against 2 and 3, and the order that would do."""
    tests = [order_test(arm, 1, against, rng) for against in (2, 3)]
    told = [(test.reading.p, test.reading, test) for test in tests if test.reading]
    if not told:
        return Assumption("memory", None, note=tests[0].note)
    p, reading, test = min(told, key=lambda entry: entry[0])

    def evidence(seen: Contrast) -> str:
        size = len(arm.labels)
        present = arm.labels[seen.stratum % size]
        past = [seen.row // size**k % size for k in range(test.against - 2, -1, -1)]
        before = ", ".join(f'"{arm.labels[s]}"' for s in past)
        gap = test.gaps[seen.stratum // size][0]
        apart = "" if gap == 1 else f" (looks {gap} steps apart)"
        condition, otherwise = f'after {before}, "{present}"', f'after "{present}" otherwise{apart}'
        return words.contrast(seen, condition, otherwise, f'"{arm.labels[seen.column]}"')

    order = _enough_order(arm, rng) if p <= HINT else None
    return _finding("memory", min(1.0, len(told) * p), reading, evidence, order=order)


def _enough_order(arm: ArmTrace, rng: np.random.Generator) -> int:
    """2 where order 3 adds nothing to it, else 3."""
    more = order_test(arm, 2, 3, rng).reading
    return 3 if more is not None and more.p <= ADDS else 2


def _change(arm: ArmTrace, rng: np.random.Generator) -> Assumption:
    """Change over time: quarters, and the most visible jump."""
    test = change_test(arm, rng)
    if test.reading is None or test.p is None:
        return Assumption("change", None, note=TOO_FEW)
    rows = [f"in quarter {k + 1} of the looks" for k in range(SEGMENTS)]
    evidence = _time_evidence(arm, rows)
    return _finding("change", test.p, test.reading, evidence, jump=test.jump)


def _period(arm: ArmTrace, named: float | None, rng: np.random.Generator) -> Assumption:
    """A period that is named, or the one that shows most."""
    cycle = find_cycle(arm) if named is None else None
    if named is None and cycle is None:
        return Assumption("period", None, note="fewer than 60 repeated transitions")
    if cycle and cycle.p > HINT:
        return Assumption("period", False, cycle.p, looks=cycle.looks, method=PERIODOGRAM)
    period = cycle.period if cycle else named
    assert period is not None
    reading = period_test(arm, period, rng).reading
    sought: dict[str, Any] = {"period": period} | ({"method": PERIODOGRAM} if cycle else {})
    if reading is None and cycle:
        return Assumption("period", False, cycle.p, looks=cycle.looks, **sought)
    if reading is None:
        return Assumption("period", None, note=TOO_FEW)
    phases = n_phases(period)
    evidence = _time_evidence(arm, [f"in phase {k + 1} of {phases}" for k in range(phases)])
    p = cycle.p if cycle else reading.p
    return _finding("period", p, reading, evidence, **sought)


def _time_evidence(arm: ArmTrace, rows: Sequence[str]) -> Callable[[Contrast], str]:
    """Words for a difference between parts of the time."""

    def evidence(seen: Contrast) -> str:
        moves = find_moves(arm)
        place = int(np.flatnonzero(moves.strata == seen.stratum)[0])
        state, gap = arm.labels[moves.states[place]], int(moves.gaps[place])
        apart = "" if gap == 1 else f" {gap} steps before"
        condition = f'after "{state}"{apart} {rows[seen.row]}'
        return words.contrast(seen, condition, "at other times", f'"{arm.labels[seen.column]}"')

    return evidence


def _pair_findings(
    arms: Sequence[ArmTrace], rng: np.random.Generator
) -> list[tuple[tuple[int, int], Assumption]]:
    """Dependence of every pair of arms."""
    pairs = []
    for test in dependence_tests(arms, rng):
        finding = Assumption("dependence", None, note="the arms were hardly seen near each other")
        if test.p is not None:
            evidence = (
                f"surprises of both {_when(arms, test)} have a correlation of "
                f"{test.correlation:.2f} ({test.looks:,} pairs)"
            )
            finding = Assumption("dependence", False, test.p, looks=test.looks,
                              correlation=test.correlation, lag=test.lag, evidence=evidence,
                              method="surprises permuted within states")  # fmt: skip
        pairs.append(((test.first, test.second), finding))
    return pairs


def _when(arms: Sequence[ArmTrace], test: DependenceTest) -> str:
    if test.lag == 0:
        return "at the same step"
    early, late = (test.first, test.second) if test.lag == LAGS[2] else (test.second, test.first)
    many = "step" if test.within == 1 else f"to {test.within} steps"
    return f'("{arms[late].name}" one {many} after "{arms[early].name}")'


def _facing(
    traces: Traces, pairs: Sequence[tuple[tuple[int, int], Assumption]], arm: int
) -> tuple[list[Assumption], list[str]]:
    """What was found of an arm with every other, as that arm sees it, and the others' names."""
    own, partners = [], []
    for (first, second), finding in pairs:
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
