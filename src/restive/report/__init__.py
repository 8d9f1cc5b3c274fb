"""Results as pictures, pages and tables; what draws them is loaded only when it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restive.base.lazy import lazy

if TYPE_CHECKING:
    from restive.report.citing import bibtex
    from restive.report.comparison.figures import regret_picture
    from restive.report.comparison.report import write_report
    from restive.report.comparison.table import regret_table
    from restive.report.policy.bounded_figure import bounded_figure
    from restive.report.policy.figure import policy_figure

__all__ = [
    "bibtex",
    "bounded_figure",
    "policy_figure",
    "regret_picture",
    "regret_table",
    "write_report",
]

__getattr__ = lazy(
    __name__,
    {
        "citing": "bibtex",
        "comparison.figures": "regret_picture",
        "comparison.report": "write_report",
        "comparison.table": "regret_table",
        "policy.bounded_figure": "bounded_figure",
        "policy.figure": "policy_figure",
    },
)
