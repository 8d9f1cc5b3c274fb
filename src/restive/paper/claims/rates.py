"""Theorem 2: how regret grows in time, and without some of what Algorithm 2 is told."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log
from typing import Any

import numpy as np

from restive import theory
from restive.paper import criteria
from restive.paper.chart import Chart, curves_chart
from restive.paper.claim import Claim, Finding, Measurement, Scale, Verdict, judged, seeded
from restive.paper.estimates import Curve, at_end, interval, log_slope
from restive.paper.problems import myopic_loss
from restive.paper.regret_runs import SETTINGS, setting_curve


def growth_verdict(bounds: tuple[float, float], most: float) -> Verdict:
    """An exponent that is surely at most ``most`` holds; one that is surely linear fails."""
    low, high = bounds
    if high <= most:
        return "holds"
    return "fails" if low >= criteria.GROWTH.linear else "not decided"


def measure_growth(cell: tuple[str, int, int]) -> Curve:
    return setting_curve(*cell)


def _growth(name: str, full: int, quick: int, seconds: tuple[float, float]) -> Measurement:
    first = 0 if name in ("known", "slow") else 100  # on the others seeds from 0 on were pilots
    seeds = {"slow": (10, 6), "telling": (16, 16)}.get(name, (10, 10))
    cells = seeded(*seeds, first=first, kinds=[name], steps=(full, quick))
    return Measurement(f"growth: {name}", cells, measure_growth, seconds)


KNOWN = _growth("known", 3 * 10**7, 10**7, (3.5, 1.2))
SLOW = _growth("slow", 3 * 10**7, 3 * 10**6, (4.5, 0.6))
TELLING = _growth("telling", 2 * 10**7, 5 * 10**6, (2.0, 0.5))


def growth_chart(curves: Sequence[Curve], logs: float, **guides: Any) -> Chart:
    """Regret over time beside log^logs(t/delta) sqrt(t), which meets the mean at T."""

    def rate(times: Any) -> Any:
        return np.log(times / criteria.DELTA) ** logs * np.sqrt(times)

    horizon = float(curves[0][0][-1])
    scale = at_end(curves, horizon) / rate(horizon)
    name = f"a multiple of log^{logs:g}(t/delta) sqrt(t)"
    return curves_chart({"Algorithm 2, mean and range of the runs": curves},
                        {name: lambda times: scale * rate(times)} | guides)  # fmt: skip


# --- Theorem 2 -------------------------------------------------------------------------------


def _measured(curves: Sequence[Curve]) -> tuple[float, list[float], tuple[float, float], str]:
    """T, exponents of gap regret from T/10 on, where their mean lies, and all of that in words."""
    horizon = float(curves[0][0][-1])
    slopes = [log_slope(curve, horizon / 10, horizon) for curve in curves]
    low, high = interval(slopes)
    words = f"exponent {np.mean(slopes):.3f} ({low:.3f} to {high:.3f}); regret "
    return horizon, slopes, (low, high), f"{words}{at_end(curves, horizon):,.0f}"


def judge_rate(name: str, scale: Scale, curves: Sequence[Any]) -> Finding:
    """The exponent of the last factor of ten against that of log^2(T/delta) sqrt(T)."""
    horizon, slopes, bounds, shown = _measured(curves)
    limits = criteria.GROWTH
    most = limits.root + limits.known_logs / log(horizon / criteria.DELTA)
    earlier = np.mean([log_slope(curve, horizon / 100, horizon / 10) for curve in curves])
    verdict = growth_verdict(bounds, most)
    trend = "falling" if np.mean(slopes) < earlier else "not falling yet"
    note = "" if verdict == "holds" else (
        "The constants of the sets are so wide that this is still the beginning: the exponent is "
        f"{trend} ({earlier:.2f} a factor of ten before), and the theorem's constant is not given."
    )  # fmt: skip
    return Finding(
        f"Algorithm 2 on {SETTINGS[name].words}, {len(curves)} seeds, T = {horizon:.0e}",
        shown,
        f"the exponent of gap regret from T/10 to T is at most {limits.root:g} + "
        f"{limits.known_logs:g}/log(T/delta) = {most:.3f}, the growth of log^2(T/delta) sqrt(T)",
        verdict,
        note,
        {"exponent": float(np.mean(slopes)), "interval": list(bounds), "most": most},
        growth_chart(curves, limits.known_logs),
    )


def judge_bound(scale: Scale, curves: Sequence[Any]) -> Finding:
    """Regret below Theorem 2 with its constants, which are Theorem 4's; open while above T."""
    horizon = int(curves[0][0][-1])
    bandit = SETTINGS["known"].problem()
    bounds = theory.problem_bounds(bandit, horizon, criteria.DELTA)
    worst = max(float(lost[-1]) for _, lost in curves)
    limit, first = min(bounds.theorem_4, bounds.terms.total), bounds.meaningful_horizon
    verdict: Verdict = "not decided" if worst <= limit and limit >= horizon else judged(
        worst <= limit)  # fmt: skip
    return Finding(
        f"Algorithm 2 on {SETTINGS['known'].words}, {len(curves)} seeds, T = {horizon:.0e}",
        f"largest gap regret {worst:,.0f}, bound {limit:.2g}",
        "no run above the bound with its constants written out, which must be below T to say "
        "anything",
        verdict,
        f"No learner could break it here: the bound is {limit / worst:.1e} times the regret and "
        f"{limit / horizon:.1e} times T, which no regret exceeds. It is below T from "
        f"T = {first or 0:.1e} on. theorem-2-run has the same sum with what the run itself saw.",
        {"largest": worst, "bound": limit, "meaningful_horizon": first},
        curves_chart({"Algorithm 2, mean and range of the runs": curves},
                     {"t, which no regret exceeds": lambda times: times,
                      "the bound for T": lambda times: 0 * times + limit}),
    )  # fmt: skip


_THEOREM_2 = (
    Claim("theorem-2-bound", "Section 4, Theorem 2",
          "Regret is below the bound, all constants written out.", KNOWN, judge_bound,
          "not decided", ("bound-without-diameter",)),
    Claim("theorem-2-rate", "Section 4, Theorem 2",
          "Regret grows like log^2(T/delta) sqrt(T), all inputs known.", KNOWN,
          partial(judge_rate, "known"), notices=("radii-3", "worst-arm")),
    Claim("theorem-2-rate-slow", "Section 4, Theorem 2",
          "The same on arms that mix more slowly.", SLOW, partial(judge_rate, "slow"),
          "not decided", ("worst-arm",)),
)  # fmt: skip


# --- extensions ------------------------------------------------------------------------------


def judge_telling(name: str, logs: float, scale: Scale, curves: Sequence[Any]) -> Finding:
    """Halfway at most from the theorem's rate to linear growth, where only planning succeeds."""
    horizon, slopes, bounds, shown = _measured(curves)
    limits, setting = criteria.GROWTH, SETTINGS[name]
    rate = limits.root + logs / log(horizon / criteria.DELTA)
    most = rate + limits.halfway * (1 - rate)
    hidden = ", ".join(key.removeprefix("unknown_") for key in setting.options)
    loss = myopic_loss(setting.problem())
    return Finding(
        f"Algorithm 2 on {setting.words}, where the myopic policy loses {loss:.4f} in every step"
        + (f"; not told: {hidden}" if hidden else "")
        + f"; {len(curves)} seeds, T = {horizon:.0e}",
        f"{shown}, the myopic policy's {loss * horizon:,.0f}",
        f"the exponent of gap regret from T/10 to T is surely at most {most:.3f}, halfway from "
        f"{rate:.3f} of log^{logs:g}(T/delta) sqrt(T) to 1",
        growth_verdict(bounds, most),
        values={"exponent": float(np.mean(slopes)), "interval": list(bounds), "rate": rate,
                "most": most, "myopic_loss": loss},
        figure=growth_chart(curves, logs, **{"the myopic policy": lambda times: loss * times}),
    )  # fmt: skip


_EXTENSIONS = {
    "unknown horizon": ("Section 7, proof of Theorem 2", "Without T: sublinear regret in rounds of "
                        "doubling length.", (4.0, 1.0), ()),
    "unknown mixing time": ("Section 4, Theorem 2, second bound", "Without mixing times: sublinear "
                            "regret when log t is guessed.", (4.0, 1.2), ()),
    "unknown states": ("Section 8, Unknown state space", "Without the state spaces: sublinear "
                       "regret when every arm is explored between episodes.", (2.0, 0.5),
                       ("states-ignored",)),
    "periodic arms": ("Section 4, Remark 1; Section 7, Remark 5", "On periodic arms: sublinear "
                      "regret with ages told apart modulo the period.", (4.0, 1.2), ()),
    "unknown periods": ("Section 7, Remark 5", "Without the periods: sublinear regret with "
                        "lcm(1, ..., |S|).", (4.0, 1.2), ()),
    "nothing known": ("Sections 7 and 8", "Without any of them: sublinear regret.",
                      (6.0, 1.5), ("states-ignored",)),
}  # fmt: skip
CLAIMS = (
    *_THEOREM_2,
    Claim("theorem-2-telling", "Section 4, Theorem 2",
          "The same where a policy that does not plan loses something in every step.", TELLING,
          partial(judge_telling, "telling", criteria.GROWTH.known_logs),
          notices=("myopic", "worst-arm")),
    *(Claim(name.replace(" ", "-"), place, statement, _growth(name, 2 * 10**7, 5 * 10**6, seconds),
            partial(judge_telling, name, criteria.GROWTH.unknown_logs), notices=("myopic", *more))
      for name, (place, statement, seconds, more) in _EXTENSIONS.items()),
)  # fmt: skip
