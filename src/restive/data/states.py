"""What was seen of one arm as states: words, numbers, or a signal cut into intervals.

Signals are cut at thresholds, at quantiles, or into as many states as prediction bears.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.base.errors import ProblemError, refusal
from restive.base.words import shown
from restive.data.columns import number
from restive.data.records import Records

Cut = Sequence[float] | int | Literal["fit"]  # thresholds, a number of quantiles, or a choice

MOST_CHOSEN = 8  # states that are tried
FINE = 48  # thresholds are chosen among about so many
MOST_STATES = 64  # of an arm; far more than data can tell anything about
LEAVE_OUT = "Leave this arm out (--arms names those to take)"
ENDLESS = ("inf", "infinity")
MANY, FEW = 6, 20  # more numbers than this, seen less often each: probably a signal
BOOLEANS = {"false": 0.0, "true": 1.0}
COMMAS = re.compile(r"[+-]?\d[\d.]*(,\d+)+(\.\d+)?")  # 1,5 or 1,234.5


@dataclass(frozen=True, eq=False)
class Cutting:
    """Where a signal was cut: state k has the values above threshold k - 1 and up to threshold k.

    scores: for each number of states that was tried, how well it predicts (see ``cut_signal``).
    """

    thresholds: tuple[float, ...]
    scores: dict[int, float]

    def states(self, values: Floats) -> Ints:
        return np.searchsorted(np.array(self.thresholds), values, side="left").astype(np.int64)

    @property
    def labels(self) -> tuple[str, ...]:
        marks = [f"{threshold:.6g}" for threshold in self.thresholds]
        inner = [f"{low} to {high}" for low, high in pairwise(marks)]
        return (f"<= {marks[0]}", *inner, f"> {marks[-1]}") if marks else ("any",)


def cut_signal(values: Floats, before: Ints, after: Ints, cut: Cut) -> Cutting:
    """Cut a signal; ``before`` and ``after`` are places in it that are next to each other.

    "fit" adds thresholds one by one, each where it helps most, and takes the number of states
    with the largest n I(s; s') - (S - 1)^2 / 2 log n: I is the information that the state before
    has about the state after, and (S - 1)^2 the parameters it takes to tell them. That is the
    Bayesian information criterion of the law of the signal itself, so numbers can be compared.
    """
    if not isinstance(cut, int | str):
        return Cutting(tuple(float(threshold) for threshold in cut), {})
    if isinstance(cut, int):
        return Cutting(_quantiles(values, cut), {})
    return _chosen(values, before, after)


def _chosen(values: Floats, before: Ints, after: Ints) -> Cutting:
    candidates = np.union1d(_quantiles(values, FINE), _wide_gaps(values))
    fine = np.searchsorted(candidates, values, side="left")
    table = np.zeros((len(candidates) + 1,) * 2)
    np.add.at(table, (fine[before], fine[after]), 1.0)
    chosen: list[int] = []
    paths: dict[int, tuple[int, ...]] = {}
    scores: dict[int, float] = {}
    while len(chosen) < min(MOST_CHOSEN - 1, len(candidates)):
        chosen = _settled(table, [*chosen, _best(table, chosen)])
        paths[len(chosen) + 1] = tuple(chosen)
        scores[len(chosen) + 1] = _gain(_merged(table, chosen))
    if not scores:
        return Cutting((), {})
    best = max(scores, key=lambda size: scores[size])
    return Cutting(tuple(candidates[list(paths[best])].tolist()), scores)


def _best(table: Floats, others: list[int]) -> int:
    """The threshold that tells most beside others."""
    left = [k for k in range(len(table) - 1) if k not in others]
    return max(left, key=lambda k: _gain(_merged(table, sorted([*others, k]))))


def _settled(table: Floats, chosen: list[int]) -> list[int]:
    """Each threshold moved in turn to where it tells most beside the others."""
    for _ in range(2):
        for k in chosen:
            others = [threshold for threshold in chosen if threshold != k]
            chosen = [*others, _best(table, others)]
    return sorted(chosen)


def _merged(table: Floats, chosen: list[int]) -> Floats:
    """Counts of moves between the intervals that ``chosen`` candidates leave."""
    first = [0, *(k + 1 for k in chosen)]
    return np.add.reduceat(np.add.reduceat(table, first, axis=0), first, axis=1)


def _wide_gaps(values: Floats) -> Floats:
    """Values below the widest gaps of the signal."""
    distinct = np.unique(values)
    widest = np.argsort(np.diff(distinct))[-FINE // 4 :]
    return distinct[:-1][widest]


def _quantiles(values: Floats, size: int) -> tuple[float, ...]:
    """Thresholds with about equally many values between them, each a value that occurs."""
    levels = np.quantile(values, np.arange(1, size) / size, method="inverted_cdf")
    inside = np.unique(levels)
    return tuple(inside[inside < values.max()].tolist())


def _gain(counts: Floats) -> float:
    """n I(s; s') less the price of its parameters, in nats."""
    total = max(1.0, counts.sum())
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    told = counts[counts > 0] @ np.log(counts[counts > 0] / expected[counts > 0])
    return float(told - 0.5 * (len(counts) - 1) ** 2 * np.log(total))


@dataclass(frozen=True, eq=False)
class ArmStates:
    """States of an arm's sightings, and what each sighting is worth by itself, nan if nothing."""

    states: Ints
    labels: tuple[str, ...]
    worth: Floats
    note: str = ""


def arm_states(
    records: Records, own: Ints, next_to: Ints, cut: Cut | None, labels: Sequence[str] | None
) -> ArmStates:
    """States of the sightings ``own`` of an arm; next_to: places in own that follow the last."""
    codes, inverse = np.unique(records.codes[own], return_inverse=True)
    words = [records.words[code] for code in codes]
    name = records.names[records.arms[own[0]]]
    values = [number(word) for word in words]
    numeric = [value is not None for value in values]
    if not all(numeric) and any(numeric):
        raise _mixed(records, own, inverse, np.array(numeric))
    if any(isinstance(word, str) and COMMAS.fullmatch(word) for word in words):
        raise _comma(records, own, inverse, words)
    if cut is not None:
        if not all(numeric):
            remedy = "Cut numbers only; without cut (--cut) words are states."
            raise records.refuse(int(own[0]), "words cannot be cut into states", remedy)
        signal = np.array(values, dtype=np.float64)[inverse]
        seen = _cut(name, signal, next_to, cut)
    elif all(numeric):
        seen = _numbers(name, np.array(values, dtype=np.float64)[inverse])
    else:
        seen = _words(name, words, inverse)
    return _checked(records, own, seen, labels)


def _mixed(records: Records, own: Ints, inverse: Ints, numeric: Bools) -> ProblemError:
    """Numbers among words or words among numbers: the rarer kind is the odd one."""
    kinds = numeric[inverse]
    odd = int(np.flatnonzero(kinds != (kinds.mean() >= 0.5))[0])
    message = "a word among numbers" if kinds.mean() >= 0.5 else "a number among words"
    if str(records.words[records.codes[own[odd]]]).strip().lstrip("+-").lower() in ENDLESS:
        message = "not a finite number"
    remedy = "Correct it, or leave the cell empty if nothing was seen."
    return records.refuse(int(own[odd]), message, remedy)


def _comma(records: Records, own: Ints, inverse: Ints, words: list[Any]) -> ProblemError:
    odd = [isinstance(word, str) and bool(COMMAS.fullmatch(word)) for word in words]
    row = int(own[np.flatnonzero(np.array(odd)[inverse])[0]])
    remedy = "Write 1.5 for 1,5 and 1234 for 1,234, or separate columns by semicolons."
    return records.refuse(row, "a comma in a number", remedy)


def _numbers(arm: str, signal: Floats) -> ArmStates:
    values, states = np.unique(signal, return_inverse=True)
    labels, note = tuple(map(_label, values)), ""
    if len(values) > MANY and len(signal) < FEW * len(values):
        note = (
            f"{arm}: {len(values):,} different numbers in {len(signal):,} sightings are taken as "
            "states. Values of a signal are better cut: --cut fit."
        )
    return ArmStates(states.astype(np.int64), labels, signal, note)


def _label(value: float) -> str:
    """A number in as few digits as tell it apart from every other."""
    short = f"{value:.12g}"
    return short if float(short) == value else repr(float(value)).removesuffix(".0")


def _words(arm: str, raw: Sequence[Any], inverse: Ints) -> ArmStates:
    words = [str(word).lower() if isinstance(word, bool) else str(word) for word in raw]
    if all(word.lower() in BOOLEANS for word in words) and len(words) > 2:
        words = [word.lower() for word in words]  # True, TRUE and true
    order = sorted(dict.fromkeys(words))
    place = np.array([order.index(word) for word in words])
    worth = np.array([BOOLEANS.get(word.lower(), np.nan) for word in order])
    states = place[inverse].astype(np.int64)
    known = len(worth) > 0 and not np.isnan(worth).any()
    worths = worth[states] if known else np.full(len(states), np.nan)
    return ArmStates(states, tuple(order), worths, _lookalikes(arm, order))


def _lookalikes(arm: str, words: Sequence[str]) -> str:
    spelled: dict[str, str] = {}
    for word in words:
        other = spelled.setdefault(word.casefold(), word)
        if other != word:
            return f"{arm}: {other} and {word} are taken as different states."
    return ""


def _cut(name: str, signal: Floats, next_to: Ints, cut: Cut) -> ArmStates:
    cutting = cut_signal(signal, next_to - 1, next_to, cut)
    states, labels = cutting.states(signal), cutting.labels
    visited = np.unique(states)
    place = np.full(len(labels), -1)
    place[visited] = np.arange(len(visited))
    note = _story(name, cutting) if isinstance(cut, int | str) else ""
    if len(visited) < len(labels):
        empty = [labels[k] for k in range(len(labels)) if k not in visited]
        note = f"{note or name + ':'} Never seen: {', '.join(empty)}."
    return ArmStates(place[states], tuple(labels[k] for k in visited), signal, note)


def _story(name: str, cutting: Cutting) -> str:
    where = ", ".join(f"{threshold:.6g}" for threshold in cutting.thresholds) or "nothing"
    told = f"{name}: {len(cutting.thresholds) + 1} states, cut at {where}."
    if cutting.scores:
        best = max(cutting.scores.values())
        others = [f"{size} ({score - best:+.1f})" for size, score in sorted(cutting.scores.items())]
        told += f" Numbers of states tried (nats beside the best): {', '.join(others)}."
    return told


def _checked(
    records: Records, own: Ints, seen: ArmStates, labels: Sequence[str] | None
) -> ArmStates:
    size = len(seen.labels)
    last = int(own[-1])
    if size == 1:
        message = f"only one state is ever seen, {seen.labels[0]}, up to here"
        remedy = (
            f"{LEAVE_OUT}. One that truly never changes is an arm of one state: add it to the "
            "problem file, with transitions = [[1]]."
        )
        raise records.refuse(last, message, remedy)
    if size > MOST_STATES:
        message = f"{size:,} different states, which is more than {MOST_STATES}"
        remedy = (
            "Name the column of states (--state); states are kinds of things, not free text."
            if np.isnan(seen.worth).all()
            else "Cut the signal: --cut fit, --cut q3 (quantiles) or --cut 0,10 (thresholds); or "
            "name the columns that are arms (--arms)."
        )
        raise records.refuse(last, message, remedy)
    if labels is None:
        return seen
    if len(labels) != size or len(set(labels)) != size:
        remedy = f"Give {size} different names, for {', '.join(seen.labels)}."
        raise refusal("labels", "not a name for each state", shown(labels), remedy)
    return ArmStates(seen.states, tuple(labels), seen.worth, seen.note)
