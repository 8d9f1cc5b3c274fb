"""Results as pictures; matplotlib is loaded only when one is drawn."""

from __future__ import annotations

from restive.report.policy_page import policy_figure

__all__ = ["policy_figure"]
