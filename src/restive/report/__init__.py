"""Results as pictures, pages and tables; what draws them is loaded only when it is needed."""

from __future__ import annotations

from restive.report.comparison.figures import regret_picture
from restive.report.comparison.report import write_report
from restive.report.policy.bounded_figure import bounded_figure
from restive.report.policy.figure import policy_figure

__all__ = ["bounded_figure", "policy_figure", "regret_picture", "write_report"]
