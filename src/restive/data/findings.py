"""From tests on one arm to a finding: its size and the difference one sees most."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from restive.data import verdict_words as words
from restive.data.change import ChangeTest, change_test, find_moves, n_phases, period_test
from restive.data.cycles import find_cycle
from restive.data.dependence import LAGS, DependenceTest, dependence_tests
from restive.data.orders import OrderTest, order_test
from restive.data.tables import Contrast, Reading, clearest
from restive.data.verdicts import Assumption, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restive.data.traces import ArmTrace

CERTAIN = "every move is certain"
ADDS = 0.01  # p-value of order 3 against 2 at which three states are said to matter
HINT = 0.05  # p-value at which it is looked at more closely
ENOUGH = 60  # moves without a surprise from which on an arm is taken to leave nothing to chance


def _finding(kind: Kind, p: float, reading: Reading, seen: Contrast | None) -> Assumption:
    return Assumption(kind, False, p, looks=reading.transitions, bits=reading.bits,
                   share=reading.share, detectable=reading.detectable,
                   shrinkage=reading.shrinkage, method=reading.method,
                   difference=seen.difference if seen else None)  # fmt: skip


def single_findings(
    arm: ArmTrace, period: float | None, rng: np.random.Generator
) -> list[Assumption]:
    """What is found of an arm by itself: memory, change over time, a period."""
    if certain := _certain_moves(arm):
        kinds: tuple[Kind, ...] = ("memory", "change", "period")
        return [Assumption(kind, False, 1.0, looks=certain, method=CERTAIN) for kind in kinds]
    return [memory_finding(arm, rng), change_finding(arm, rng), period_finding(arm, period, rng)]


def _certain_moves(arm: ArmTrace) -> int:
    """Number of moves if the same look at the same gap was always followed by the same state."""
    moves = find_moves(arm)
    causes = np.unique(np.stack([moves.states, moves.gaps]), axis=1).shape[1]
    cases = np.unique(np.stack([moves.states, moves.gaps, moves.after]), axis=1).shape[1]
    repeated = len(moves.states) - causes
    return len(moves.states) if causes == cases and repeated >= ENOUGH else 0


def memory_finding(arm: ArmTrace, rng: np.random.Generator) -> Assumption:
    """Order 1 against 2 and 3, and the order that would do."""
    tests = [order_test(arm, 1, against, rng) for against in (2, 3)]
    told = [(test.reading.p, test.reading, test) for test in tests if test.reading]
    if not told:
        return Assumption("memory", None, note=tests[0].note)
    p, reading, test = min(told, key=lambda entry: entry[0])
    assert test.tables is not None
    seen = clearest(test.tables)
    finding = _finding("memory", min(1.0, len(told) * p), reading, seen)
    evidence = _past_evidence(arm, test, seen) if seen else ""
    order = _enough_order(arm, rng) if p <= HINT else None
    return replace(finding, evidence=evidence, order=order)


def _enough_order(arm: ArmTrace, rng: np.random.Generator) -> int:
    """2 where order 3 adds nothing to it, else 3."""
    more = order_test(arm, 2, 3, rng).reading
    return 3 if more is not None and more.p <= ADDS else 2


def _past_evidence(arm: ArmTrace, test: OrderTest, seen: Contrast) -> str:
    size = len(arm.labels)
    present = arm.labels[seen.stratum % size]
    past = [seen.row // size**k % size for k in range(test.against - 2, -1, -1)]
    before = ", ".join(f'"{arm.labels[s]}"' for s in past)
    gap = test.gaps[seen.stratum // size][0]
    apart = "" if gap == 1 else f" (looks {gap} steps apart)"
    condition, otherwise = f'after {before}, "{present}"', f'after "{present}" otherwise{apart}'
    return words.contrast(seen, condition, otherwise, f'"{arm.labels[seen.column]}"')


def change_finding(arm: ArmTrace, rng: np.random.Generator) -> Assumption:
    """Change over time: quarters, and the most visible jump."""
    test = change_test(arm, rng)
    if test.reading is None or test.tables is None or test.p is None:
        return Assumption("change", None, note=test.note)
    seen = clearest(test.tables)
    finding = _finding("change", test.p, test.reading, seen)
    rows = [f"in quarter {k + 1} of the looks" for k in range(4)]
    evidence = _time_evidence(arm, seen, rows) if seen else ""
    return replace(finding, evidence=evidence, jump=test.jump)


def period_finding(arm: ArmTrace, period: float | None, rng: np.random.Generator) -> Assumption:
    """A period that is named, or the one that shows most."""
    if period is not None:
        test = period_test(arm, period, rng)
        if test.p is None:
            return Assumption("period", None, note=test.note)
        return _phases(arm, test, period, test.p)
    cycle = find_cycle(arm)
    if cycle is None:
        return Assumption("period", None, note="fewer than 60 repeated transitions")
    method = "largest line of the periodogram"
    if cycle.p > HINT:
        return Assumption("period", False, cycle.p, looks=cycle.looks, method=method)
    test = period_test(arm, cycle.period, rng)
    if test.reading is None:
        return Assumption("period", False, cycle.p, looks=cycle.looks, period=cycle.period,
                       method=method)  # fmt: skip
    return replace(_phases(arm, test, cycle.period, cycle.p), method=method)


def _phases(arm: ArmTrace, test: ChangeTest, period: float, p: float) -> Assumption:
    assert test.reading is not None
    assert test.tables is not None
    seen, phases = clearest(test.tables), n_phases(period)
    rows = [f"in phase {k + 1} of {phases}" for k in range(phases)]
    evidence = _time_evidence(arm, seen, rows) if seen else ""
    finding = _finding("period", p, test.reading, seen)
    return replace(finding, period=period, evidence=evidence)


def _time_evidence(arm: ArmTrace, seen: Contrast, rows: list[str]) -> str:
    moves = find_moves(arm)
    place = int(np.flatnonzero(moves.strata == seen.stratum)[0])
    state, gap = arm.labels[moves.states[place]], int(moves.gaps[place])
    apart = "" if gap == 1 else f" {gap} steps before"
    condition = f'after "{state}"{apart} {rows[seen.row]}'
    follows = f'"{arm.labels[seen.column]}"'
    return words.contrast(seen, condition, "at other times", follows)


def pair_findings(
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
