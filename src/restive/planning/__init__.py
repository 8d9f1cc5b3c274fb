"""Planning for known chains: certified plans, values of policies, diameters and indices."""

from restive.planning.exact import plan
from restive.planning.result import Plan
from restive.planning.size import Forecast, forecast
from restive.planning.within import Refusal, plan_within

__all__ = ["Forecast", "Plan", "Refusal", "forecast", "plan", "plan_within"]
