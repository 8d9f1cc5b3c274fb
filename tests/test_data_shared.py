"""Verdicts on public traces, where they are at hand."""

from __future__ import annotations

import pytest

from restive import check_markov, fit
from shared_traces import SHARED

pytestmark = pytest.mark.skipif(SHARED is None, reason="the shared traces are not here")


def test_rain_is_markov_and_moves_with_its_neighbour():
    cities = [SHARED / "us-weather-history" / f"{name}.csv" for name in ("KNYC", "KPHL", "KPHX")]
    fitted = fit([str(path) for path in cities], state="actual_precipitation", cut=[0.0],
                 labels=["dry", "rain"], rewards={"dry": 1.0, "rain": 0.0})  # fmt: skip
    verdicts = check_markov(fitted.traces, fitted.bandit)
    assert verdicts["KPHX"].summary == "believable"
    assert "dependence" in verdicts["KNYC"].fails
    assert not verdicts["KNYC"]["change"].fails
    assert verdicts["KNYC"]["dependence"].partner == "KPHL"
    assert verdicts["KNYC"]["dependence"].correlation == pytest.approx(0.66, abs=0.01)


def test_weather_has_seasons_and_little_depends_on_them():
    paid = {"sun": 1.0, "fog": 0.5, "drizzle": 0.25, "rain": 0.0, "snow": 0.0}
    path = SHARED / "vega-weather" / "weather.csv"
    fitted = fit(str(path), state="weather", rewards=paid)
    verdicts = check_markov(fitted.traces, fitted.bandit, period="year")
    for verdict in verdicts.arms:
        assert verdict["period"].fails
        assert verdict["period"].period == pytest.approx(365.2425)
        assert verdict["period"].little
        assert verdict["memory"].fails
        assert verdict["memory"].little
        assert not verdict["dependence"].fails
