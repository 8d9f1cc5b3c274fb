"""Checks of the values that make up a bandit: each returns everything that is wrong."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats
from restive.base.checks import is_whole
from restive.base.errors import Fault
from restive.model import chains
from restive.model.units import PLAIN, Units

RewardNoise = Literal["none", "bernoulli", "beta"]
Initial = str | int | Sequence[float] | Floats

ROW_SUM_TOLERANCE = 1e-9
MOST_FAULTS = 1000  # of one kind in one place: nobody reads on, and they take memory


def check_pulls(pulls: object, n_arms: int) -> list[Fault]:
    """What is wrong with a number of pulls a step."""
    if is_whole(pulls, 1, n_arms):
        return []
    remedy = f"Give a whole number from 1 to {n_arms}, the number of arms."
    return [Fault("pulls", "not a number of arms to pull at each step", _show(pulls), remedy)]


def frozen(array: Floats) -> Floats:
    array = np.ascontiguousarray(array, dtype=np.float64)
    array.setflags(write=False)
    return array


def normalised(rows: Floats) -> Floats:
    """Divide rows by their sums, unless those are 1 up to rounding.

    The threshold covers the rounding of one division, so a normalised row comes back unchanged
    and a problem written to a file and read again is the same to the last bit.
    """
    sums = rows.sum(axis=-1, keepdims=True)
    rounding = (rows.shape[-1] + 1) * np.finfo(np.float64).eps
    return np.where(np.abs(sums - 1) <= rounding, rows, rows / sums)


def _show(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{float(value):.12g}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def check_transitions(raw: ArrayLike) -> tuple[Floats | None, list[Fault]]:
    try:
        matrix = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None, _ragged(raw)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        shape = " x ".join(map(str, matrix.shape)) or "a single number"
        remedy = "Give one row per state, each with one probability per state."
        return None, [Fault("transitions", "not a square matrix", shape, remedy)]
    faults = (fault for s, row in enumerate(matrix) for fault in _check_row(s, row))
    return matrix, list(islice(faults, MOST_FAULTS))


def _check_row(s: int, row: Floats) -> list[Fault]:
    bad = np.flatnonzero(~((row >= 0) & (row <= 1))).tolist()
    if bad:
        remedy = "Probabilities lie between 0 and 1."
        return [
            Fault(f"transitions[{s}][{k}]", "not a probability", _show(row[k]), remedy) for k in bad
        ]
    if abs(row.sum() - 1) <= ROW_SUM_TOLERANCE:
        return []
    message = f"row {s} of transitions sums to {row.sum():.10g}, not 1"
    remedy = "The probabilities of all next states must sum to 1"
    if row.sum() > 0:
        remedy += f"; dividing the row by its sum gives {_show((row / row.sum()).round(6))}"
    return [Fault(f"transitions[{s}]", message, _show(row), remedy + ".")]


def _ragged(raw: Any) -> list[Fault]:
    try:
        rows = [list(row) for row in raw]
    except TypeError:
        remedy = "Give a list of rows, one per state."
        return [Fault("transitions", "not a matrix", _show(raw), remedy)]
    faults: list[Fault] = []
    for s, row in enumerate(rows):
        if len(faults) >= MOST_FAULTS:
            break
        if len(row) != len(rows):
            message = f"row {s} has {len(row)} entries where the matrix has {len(rows)} rows"
            remedy = "The matrix must be square: one probability per state in every row."
            faults.append(Fault(f"transitions[{s}]", message, _show(row), remedy))
        words = [k for k, entry in enumerate(row) if not _is_number(entry)]
        for k in words:
            remedy = "Write a number between 0 and 1."
            path = f"transitions[{s}][{k}]"
            faults.append(Fault(path, "not a number", _show(row[k]), remedy))
        if not words and len(row) == len(rows):
            faults += _check_row(s, np.array(row, dtype=np.float64))
    if not faults:
        remedy = "Give one row per state, each with one probability per state."
        faults.append(Fault("transitions", "not a square matrix", _show(raw), remedy))
    return faults


def _is_number(entry: object) -> bool:
    return isinstance(entry, int | float | np.number) and not isinstance(entry, bool)


def check_states(raw: Iterable[Hashable] | None, size: int) -> tuple[tuple[str, ...], list[Fault]]:
    if raw is None:
        return tuple(str(s) for s in range(size)), []
    names = tuple(str(state) for state in raw)
    if size and len(names) != size:
        message = f"{len(names)} names for {size} states"
        remedy = "Give one name per row of transitions, or leave states out."
        return names, [Fault("states", message, _show(list(names)), remedy)]
    faults = []
    for s, state in enumerate(names):
        remedy = "Give every state its own name."
        if not state:
            faults.append(Fault(f"states[{s}]", "empty name", _show(state), remedy))
        elif state in names[:s]:
            faults.append(Fault(f"states[{s}]", "name used twice", _show(state), remedy))
    return names, faults


def check_rewards(
    raw: ArrayLike, size: int, units: Units = PLAIN
) -> tuple[Floats | None, list[Fault]]:
    try:
        means = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        means = np.empty((0, 0))
    if means.ndim != 1:
        remedy = "Give a list with one mean reward per state."
        return None, [Fault("rewards", "not a list of numbers", _show(raw), remedy)]
    faults = []
    if size and len(means) != size:
        message = f"{len(means)} rewards for {size} states"
        remedy = "Give one mean reward per row of transitions."
        faults.append(Fault("rewards", message, _show(means), remedy))
    outside = np.flatnonzero(~((means >= units.low) & (means <= units.high)))[:MOST_FAULTS].tolist()
    remedy = "Give a reward_range that holds all rewards."
    if outside and units.plain:
        remedy = rescaling(means, means)
    bounds = f"outside [{units.low:.12g}, {units.high:.12g}]"
    faults += [Fault(f"rewards[{s}]", bounds, _show(means[s]), remedy) for s in outside]
    return means, faults


def rescaling(means: Floats, pool: Floats) -> str:
    """Words for the one affine map that brings ``pool``, the rewards of all arms, into [0, 1]."""
    low, high = min(float(pool.min()), 0.0), max(float(pool.max()), 1.0)
    width = high - low
    if not np.isfinite(width):
        return "Mean rewards are finite numbers between 0 and 1."
    there = f"(r + {-low:.12g}) / {width:.12g}" if low else f"r / {width:.12g}"
    back = f"{width:.12g} g" + (f" - {-low:.12g}" if low else "")
    scaled = _show(((means - low) / width).round(6))
    return (
        f"Give reward_range = [{low:.12g}, {high:.12g}], which keeps these units; or rescale all "
        f"arms alike by r -> {there}, which keeps the best policy and gives {scaled} here; a gain "
        f"g then means {back} in the old units."
    )


def check_irreducible(matrix: Floats, names: Sequence[str]) -> list[Fault]:
    if (matrix > 0).all():  # every state leads to every other
        return []
    classes = chains.communicating_classes(matrix)
    if len(classes) == 1:
        return []
    if len(names) != len(matrix):
        names = [str(s) for s in range(len(matrix))]
    listing = "; ".join(
        "{" + ", ".join(names[s] for s in states) + "}" + (" closed" if closed else " transient")
        for states, closed in classes
    )
    message = f"the chain is not irreducible: it falls into {len(classes)} classes: {listing}"
    remedy = (
        "Every state must be reachable from every other: keep one closed class, "
        "or add small transition probabilities between the classes."
    )
    return [Fault("transitions", message, _show(matrix), remedy)]


def check_noise(raw: object) -> list[Fault]:
    if raw in get_args(RewardNoise):
        return []
    remedy = 'Choose "none", "bernoulli" or "beta".'
    return [Fault("reward_noise", "unknown kind of noise", _show(raw), remedy)]


def check_initial(raw: Any, names: Sequence[str], size: int) -> tuple[Initial, list[Fault]]:
    choices = ", ".join(repr(name) for name in names)
    remedy = f'Write "stationary", one of the states {choices}, or {size} probabilities.'
    if isinstance(raw, str):
        if raw == "stationary":  # always the law, so that a state's name cannot change the default
            return raw, []
        if raw in names:
            return list(names).index(raw), []
        return raw, [Fault("initial", "no such state", _show(raw), remedy)] if names else []
    if is_whole(raw):
        if 0 <= raw < size or not size:
            return int(raw), []
        return int(raw), [Fault("initial", "no such state", _show(raw), remedy)]
    try:
        law = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        law = np.empty((0, 0))
    if law.ndim != 1 or isinstance(raw, bool):
        return raw, [Fault("initial", "not a start", _show(raw), remedy)]
    if size and len(law) != size:
        message = f"{len(law)} probabilities for {size} states"
        return raw, [Fault("initial", message, _show(law), remedy)]
    if not (law >= 0).all() or abs(law.sum() - 1) > ROW_SUM_TOLERANCE:
        message = f"not a probability law: it sums to {law.sum():.10g}"
        return raw, [Fault("initial", message, _show(law), remedy)]
    return frozen(normalised(law)), []
