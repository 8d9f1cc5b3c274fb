"""Planning for known chains: certified plans, values of policies, diameters and indices."""

from restive.planning.exact import Forecast, Plan, forecast, plan

__all__ = ["Forecast", "Plan", "forecast", "plan"]
