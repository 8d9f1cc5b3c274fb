"""The page docs/benchmarks/planning.md, made of what the sections measured."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.measure import goal_table

__all__ = ["SECTIONS", "page", "section"]

# Peers come last: a crash inside one of them would end the run.
SECTIONS = (
    "sweeps", "extended", "large", "replan", "playing", "startup", "experiments", "reports",
    "growth", "fitting", "peers", "scheduler", "single_arm", "many_learning", "episode_plans",
    "forecasts",
)  # fmt: skip


def page(record: dict[str, Any]) -> str:
    """The whole page as Markdown, from the measurements as kept in the JSON file."""
    lines = [
        "# Planning, playing and start-up, measured",
        "",
        *_machine(record),
        "",
        *_goals(record),
    ]
    for name, result in record.items():
        lines += ["", *section(name, result)]
    return "\n".join(lines) + "\n"


def section(name: str, result: dict[str, Any]) -> list[str]:
    """One section as Markdown: its title, its tables, and its goals."""
    module = import_module(f"benchmarks.{name}")
    lines = [f"## {module.TITLE}", ""]
    if "error" in result:
        return [*lines, f"This section failed: {result['error']}"]
    lines += module.describe(result)
    if result["goals"]:
        lines += ["", *goal_table(result["goals"])]
    note = ", quick run: smaller problems than the goals are for" if result["quick"] else ""
    load = result["machine"]["load"]
    return [*lines, "", f"{result['date']}, {result['took']:.0f} s, load {load}{note}."]


def _machine(record: dict[str, Any]) -> list[str]:
    machines = [
        ", ".join(f"{key} {value}" for key, value in result["machine"].items() if key != "load")
        for result in record.values()
    ]
    return [
        "Written by `python -m benchmarks --write`; how it is measured is in",
        "[method.md](method.md). Machines are noisy and differ, so",
        "read the ratios. Each section notes the load of the machine as it ended.",
        "",
        *[f"Machine: {words}." for words in dict.fromkeys(machines)],
    ]


def _goals(record: dict[str, Any]) -> list[str]:
    goals = [goal for result in record.values() for goal in result["goals"]]
    missed = sum(not goal["met"] for goal in goals)
    words = "All goals were met." if not missed else f"{missed} of {len(goals)} goals were missed."
    return ["## Goals", "", words, "", *goal_table(goals)]
