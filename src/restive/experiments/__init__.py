"""Experiments: learners compared on problems, run by run, kept in a directory as they finish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restive.base.lazy import lazy

if TYPE_CHECKING:
    from restive.experiments.experiment import Experiment, compare, load_experiment
    from restive.experiments.participants import Participant
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
    "load_experiment",
    "load_results",
    "summarize",
]

__getattr__ = lazy(
    __name__,
    {
        "experiment": "Experiment compare load_experiment",
        "participants": "Participant",
        "reading": "load_results",
        "results": "Curves Results",
        "summary": "Summary summarize",
    },
)
