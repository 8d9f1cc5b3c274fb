"""Experiments: learners compared on problems, run by run, kept in a directory as they finish."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from restive.experiments.experiment import Experiment, Participant, compare
    from restive.experiments.reading import load_results
    from restive.experiments.results import Curves, Results
    from restive.experiments.summary import Summary, summarize

__all__ = [
    "Curves",
    "Experiment",
    "Participant",
    "Results",
    "Summary",
    "compare",
    "load_results",
    "summarize",
]

_HOMES = {
    "Curves": "results",
    "Participant": "participants",
    "Experiment": "experiment",
    "Results": "results",
    "Summary": "summary",
    "compare": "experiment",
    "load_results": "reading",
    "summarize": "summary",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"restive.experiments.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'restive.experiments' has no attribute {name!r}")
