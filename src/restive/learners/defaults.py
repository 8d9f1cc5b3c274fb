"""Defaults that the learners' classes and their listing share; imports nothing."""

from __future__ import annotations

from typing import Final

GROWTH: Final = 0.02  # tied-sampling: an episode may be this part of all steps before it
AGGREGATION: Final = 0.02  # tied-sampling: L1 distance at which ages are told apart no longer
TOLERANCE: Final = 1e-6  # optimal: width of the plan's interval
MAX_PAIRS: Final = 20_000  # ucrl2: pairs of information state and arm
SHARE: Final = 1.0  # explore-then-plan: multiple of T^(2/3)
MAX_AGE: Final = 500  # whittle: ages told apart
LOG_LOG: Final = 0.0  # kl-ucb: weight of log log t
