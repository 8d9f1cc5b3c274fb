"""What was seen of one arm as states: words, numbers, or a signal cut into intervals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.base.errors import ProblemError, refusal
from restive.base.words import shown
from restive.data.columns import number
from restive.data.cutting import Cut, Cutting, cut_signal
from restive.data.records import Records

MOST_STATES = 64  # of an arm; far more than data can tell anything about
LEAVE_OUT = "Leave this arm out (--arms names those to take)"
ENDLESS = ("inf", "infinity")
MANY, FEW = 6, 20  # more numbers than this, seen less often each: probably a signal
BOOLEANS = {"false": 0.0, "true": 1.0}
COMMAS = re.compile(r"[+-]?\d[\d.]*(,\d+)+(\.\d+)?")  # 1,5 or 1,234.5


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
