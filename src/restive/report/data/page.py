"""``fit_page``: the data, the fitted arms, the verdicts and what planning would earn, on a page."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from restive.base.errors import ProblemError
from restive.base.writing import checked_target, write_text
from restive.data.timing import date_text, span_text
from restive.data.verdicts import KINDS
from restive.model.bandit import Arm
from restive.report.data.earnings import earnings_of
from restive.report.data.timelines import draw_lane, lane_of
from restive.report.drawing.chain import chain_picture
from restive.report.drawing.pages import render_page
from restive.report.drawing.palette import FILLS

if TYPE_CHECKING:
    from restive.data.fitting import ArmFit, Fit
    from restive.data.traces import Traces
    from restive.data.verdicts import ArmVerdict, Assumption, Verdicts

MOST_MOVES = 36  # rows of an arm's table of probabilities
MATRIX = range(3, 7)  # states with a table of their own for what comes next, instead of rows
MOST_STATES = 60
HEADS = {"memory": "Memory", "change": "Change", "period": "Period", "dependence": "Other arms"}


def write_fit_page(
    fit: Fit, path: str | os.PathLike[str], verdicts: Verdicts | None = None
) -> None:
    """Write the page of a fit; verdicts come from ``check_markov``."""
    target = checked_target("path", path, (".html", ".htm"))
    write_text(target, fit_page(fit, verdicts))


def fit_page(
    fit: Fit, verdicts: Verdicts | None = None, *, command: str = "",
    progress: Callable[[str], None] | None = None,
) -> str:  # fmt: skip
    """The page as text: one file that needs nothing else."""
    from restive import __version__

    say = progress or (lambda text: None)
    say("drawing")
    traces = fit.traces
    looks = sum(len(arm.trace) for arm in fit.arms)
    context = {
        "title": fit.name or "Traces and what was fitted to them",
        "lead": _lead(fit, looks),
        "warnings": list(fit.warnings),
        "notes": list(fit.notes),
        "verdicts": _overview(verdicts),
        "heads": [HEADS[kind] for kind in KINDS],
        "level": "" if verdicts is None else f"{verdicts.level:.0%}",
        "tests": 0 if verdicts is None else verdicts.tests,
        "arms": [_arm(fit, k, verdicts) for k in range(len(fit.arms))],
        "common": _legend(fit.arms[0]) if len({arm.labels for arm in fit.arms}) == 1 else None,
        "start": _moment(traces, traces.start),
        "end": _moment(traces, traces.end - 1),
        "earnings": _earnings(fit, say),
        "colors": FILLS,
        "provenance": [("Data", traces.source or "given in memory"), ("Looks", f"{looks:,}"),
                       ("Steps", f"{traces.end - traces.start:,}"),
                       ("Length of a step", _length(traces)),
                       ("Rewards", "0 and 1 stand for {:g} and {:g} of the data"
                        .format(*traces.scale)), ("restive", __version__)],
        "command": command,
    }  # fmt: skip
    return render_page("data.html.j2", context)


def _lead(fit: Fit, looks: int) -> str:
    steps = fit.traces.end - fit.traces.start
    share = looks / max(1, steps * len(fit.arms))
    arms = f"{len(fit.arms)} arm{'s' * (len(fit.arms) > 1)}"
    return (
        f"{arms} over {steps:,} steps, {looks:,} sightings ({share:.0%} of all). "
        "Each arm is fitted as a Markov chain that moves every step, seen or not."
    )


def _moment(traces: Traces, step: int) -> str:
    """A step, and its date where that is known."""
    if traces.began is None or traces.tick is None:
        return f"step {step:,}"
    return f"{date_text(traces.began + step * traces.tick, traces.tick)} (step {step:,})"


def _length(traces: Traces) -> str:
    if traces.tick is None:
        return ""
    return f"{traces.tick:g}" if traces.began is None else span_text(traces.tick)


def _earnings(fit: Fit, say: Callable[[str], None]) -> Any:
    say("planning")
    try:
        return earnings_of(fit.bandit)
    except ProblemError:
        return None  # rewards are not known


def _overview(verdicts: Verdicts | None) -> list[dict[str, Any]]:
    if verdicts is None:
        return []
    return [
        {"arm": verdict.arm, "cells": [_cell(finding) for finding in _in_order(verdict)]}
        for verdict in verdicts.arms
    ]


def _in_order(verdict: ArmVerdict) -> list[Assumption]:
    return [verdict[kind] for kind in KINDS]


def _cell(finding: Assumption) -> dict[str, str]:
    if finding.fails is None:
        return {"kind": "open", "text": "cannot tell", "title": finding.note}
    if not finding.fails:
        return {"kind": "fine", "text": "no sign", "title": finding.sentence}
    stake = finding.stake
    text = "fails"
    if finding.little:
        text = "fails, little at stake"
    elif stake is not None and stake.loss is not None and stake.gain:
        text = f"fails, {'up to ' * stake.at_most}{stake.loss / stake.gain:.1%} at stake"
    return {"kind": "little" if finding.little else "fails", "text": text,
            "title": finding.sentence}  # fmt: skip


def _arm(fit: Fit, k: int, verdicts: Verdicts | None) -> dict[str, Any]:
    arm = fit.arms[k]
    findings = [] if verdicts is None else _in_order(verdicts[k])
    change = next((f for f in findings if f.kind == "change" and f.fails), None)
    lane = lane_of(arm.trace, fit.traces.start, fit.traces.end)
    shares = arm.sightings / max(1, len(arm.trace))
    spoken = ", ".join(
        f"{label} {share:.0%}" for label, share in zip(arm.labels, shares, strict=True)
    )
    return {
        "name": arm.name,
        "facts": f"{len(arm.trace):,} looks; {spoken}" if len(arm.labels) <= 8 else
                 f"{len(arm.trace):,} looks, {len(arm.labels)} states",
        "legend": _legend(arm),
        "timeline": draw_lane(lane, np.nan_to_num(arm.rewards), f"{arm.name} over time: {spoken}",
                              None if change is None else change.jump),
        "jump": "" if change is None or change.jump is None else _moment(fit.traces, change.jump),
        "picture": _picture(arm),
        "matrix": _matrix(arm),
        "moves": _moves(arm),
        "left_out": max(0, len(arm.labels) ** 2 - MOST_MOVES),
        "level": f"{fit.level:.0%}",
        "findings": [{"head": HEADS[f.kind], "sentence": f.sentence, "advice": f.advice,
                      **_cell(f)} for f in findings],
    }  # fmt: skip


def _legend(arm: ArmFit) -> list[tuple[int, str]]:
    """Colour and name of each state; empty where states are too many to be told apart."""
    return list(enumerate(arm.labels)) if len(arm.labels) <= len(FILLS) else []


def _picture(arm: ArmFit) -> Markup | None:
    """The chain; rewards that are not known are drawn as 0."""
    if len(arm.labels) > MOST_STATES:
        return None
    rewards = np.clip(np.nan_to_num(arm.rewards), 0.0, 1.0)
    return chain_picture(Arm(arm.chain, rewards, name=arm.name, states=arm.labels))


def _moves(arm: ArmFit) -> list[dict[str, Any]]:
    """Probabilities with their intervals; of many states the likeliest moves."""
    size = len(arm.labels)
    if size in MATRIX:
        return []
    order = [(s, e) for s in range(size) for e in range(size)]
    if len(order) > MOST_MOVES:
        order.sort(key=lambda pair: -arm.estimate.chain[pair])
        order = sorted(order[:MOST_MOVES])
    return [_move(arm, s, e) for s, e in order]


def _matrix(arm: ArmFit) -> list[dict[str, Any]]:
    """The same as a table, a row for each state, where states are several but few."""
    states = range(len(arm.labels))
    if len(states) not in MATRIX:
        return []
    return [{"state": arm.labels[s], "cells": [_move(arm, s, e) for e in states]} for s in states]


def _move(arm: ArmFit, s: int, e: int) -> dict[str, Any]:
    """From one state to another: the probability, and where its bar begins and ends, in %."""
    value, low, high = (float(of[s, e]) for of in
                        (arm.estimate.chain, arm.estimate.lower, arm.estimate.upper))  # fmt: skip
    return {"state": arm.labels[s], "next": arm.labels[e], "text": f"{value:.3f}",
            "span": f"{low:.3f} to {high:.3f}", "at": round(100 * value, 1),
            "low": round(100 * low, 1), "width": round(100 * (high - low), 1)}  # fmt: skip
