"""Theorems 2 and 3: how regret grows in time and with the number of states."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log
from typing import Any

import numpy as np

from restive import theory
from restive.paper import criteria
from restive.paper.claim import Claim, Finding, Measurement, Scale, Verdict, judged
from restive.paper.estimates import Curve, at_end, growth_exponent, interval, log_slope
from restive.paper.regret_runs import SETTINGS, hard_regrets, informed_regrets, setting_curve

__all__ = ["EXTENSIONS", "LOWER_BOUND", "THEOREM_2", "growth_verdict"]

RunCell = tuple[str, int, int]  # setting, horizon, seed


def growth_verdict(bounds: tuple[float, float], most: float) -> Verdict:
    """An exponent that is surely at most ``most`` holds; one that is surely linear fails."""
    low, high = bounds
    if high <= most:
        return "holds"
    return "fails" if low >= criteria.GROWTH.linear else "not decided"


def measure_growth(cell: RunCell) -> Curve:
    return setting_curve(*cell)


def _cells(name: str, full: int, quick: int, scale: Scale) -> Sequence[RunCell]:
    seeds = scale.size(10, 10 if name == "known" else 6)
    return [(name, scale.size(full, quick), seed) for seed in range(seeds)]


def _growth(name: str, full: int, quick: int, seconds: tuple[float, float]) -> Measurement:
    cells = partial(_cells, name, full, quick)
    return Measurement(f"growth: {name}", cells, measure_growth, seconds)


KNOWN = _growth("known", 3 * 10**7, 10**7, (3.5, 1.2))
SLOW = _growth("slow", 3 * 10**7, 3 * 10**6, (4.5, 0.6))


# --- Theorem 2 -------------------------------------------------------------------------------


def judge_rate(name: str, scale: Scale, curves: Sequence[Any]) -> Finding:
    """The exponent of the last factor of ten against that of log^2(T/delta) sqrt(T)."""
    horizon = float(curves[0][0][-1])
    limits = criteria.GROWTH
    most = limits.root + limits.known_logs / log(horizon / criteria.DELTA)
    slopes = [log_slope(curve, horizon / 10, horizon) for curve in curves]
    bounds, earlier = interval(slopes), np.mean([log_slope(c, horizon / 100, horizon / 10)
                                                 for c in curves])  # fmt: skip
    verdict = growth_verdict(bounds, most)
    note = "" if verdict == "holds" else (
        "The constants of the sets are so wide that this is still the beginning: the exponent is "
        f"falling ({earlier:.2f} a factor of ten before), and the theorem's constant is not given."
    )  # fmt: skip
    return Finding(
        f"Algorithm 2 on {SETTINGS[name].words}, {len(curves)} seeds, T = {horizon:.0e}",
        f"exponent {np.mean(slopes):.3f} ({bounds[0]:.3f} to {bounds[1]:.3f}); regret "
        f"{at_end(curves, horizon):,.0f}",
        f"the exponent of gap regret from T/10 to T is at most {limits.root:g} + "
        f"{limits.known_logs:g}/log(T/delta) = {most:.3f}, the growth of log^2(T/delta) sqrt(T)",
        verdict,
        note,
        {"exponent": float(np.mean(slopes)), "interval": list(bounds), "most": most},
    )


def judge_bound(scale: Scale, curves: Sequence[Any]) -> Finding:
    """Regret below Theorem 2 with its constants, which are Theorem 4's."""
    horizon = int(curves[0][0][-1])
    bandit = SETTINGS["known"].problem()
    bounds = theory.problem_bounds(bandit, horizon, criteria.DELTA)
    worst = max(float(lost[-1]) for _, lost in curves)
    limit = min(bounds.theorem_4, bounds.terms.total)
    vacuous = "The bound says nothing at this horizon: it is above T, which no regret exceeds. "
    first = bounds.meaningful_horizon
    return Finding(
        f"Algorithm 2 on {SETTINGS['known'].words}, {len(curves)} seeds, T = {horizon:.0e}",
        f"largest gap regret {worst:,.0f}, bound {limit:.2g}",
        "no run above the bound with its constants written out",
        judged(worst <= limit),
        vacuous * (limit >= horizon) + f"It does from T = {first:.1e} on." if first else vacuous,
        {"largest": worst, "bound": limit, "meaningful_horizon": first},
    )


THEOREM_2 = (
    Claim("theorem-2-bound", "Section 4, Theorem 2",
          "Regret is below the bound, all constants written out.", KNOWN, judge_bound),
    Claim("theorem-2-rate", "Section 4, Theorem 2",
          "Regret grows like log^2(T/delta) sqrt(T), all inputs known.", KNOWN,
          partial(judge_rate, "known")),
    Claim("theorem-2-rate-slow", "Section 4, Theorem 2",
          "The same on arms that mix more slowly.", SLOW, partial(judge_rate, "slow"),
          "not decided"),
)  # fmt: skip


# --- extensions ------------------------------------------------------------------------------


def judge_extension(name: str, scale: Scale, curves: Sequence[Any]) -> Finding:
    """Sublinear, and where it stands to the rate that the paper derives."""
    horizon = float(curves[0][0][-1])
    slopes = [log_slope(curve, horizon / 100, horizon) for curve in curves]
    bounds = interval(slopes)
    limits, setting = criteria.GROWTH, SETTINGS[name]
    rate = limits.root + limits.unknown_logs / log(horizon / criteria.DELTA)
    hidden = ", ".join(key.removeprefix("unknown_") for key in setting.options)
    return Finding(
        f"Algorithm 2 on {setting.words}" + (f", not told: {hidden}" if hidden else "")
        + f"; {len(curves)} seeds, T = {horizon:.0e}",
        f"exponent {np.mean(slopes):.3f} ({bounds[0]:.3f} to {bounds[1]:.3f}); the rate "
        f"log^(7/2)(T/delta) sqrt(T) has {rate:.3f}",
        f"the exponent of gap regret from T/100 to T is below {limits.sublinear:g}",
        growth_verdict(bounds, np.nextafter(limits.sublinear, 0)),
        "",
        {"exponent": float(np.mean(slopes)), "interval": list(bounds), "rate": rate},
    )  # fmt: skip


_EXTENSIONS = {
    "unknown horizon": ("Section 7, proof of Theorem 2", "Without T: sublinear regret in rounds of "
                        "doubling length.", (1.5, 0.4)),
    "unknown mixing time": ("Section 4, Theorem 2, second bound", "Without mixing times: sublinear "
                            "regret when log t is guessed.", (1.5, 0.4)),
    "unknown states": ("Section 8, Unknown state space", "Without the state spaces: sublinear "
                       "regret when every arm is explored between episodes.", (1.0, 0.3)),
    "periodic arms": ("Section 4, Remark 1; Section 7, Remark 5", "On periodic arms: sublinear "
                      "regret with ages told apart modulo the period.", (1.0, 0.4)),
    "unknown periods": ("Section 7, Remark 5", "Without the periods: sublinear regret with "
                        "lcm(1, ..., |S|).", (1.5, 0.5)),
    "nothing known": ("Sections 7 and 8", "Without any of them: sublinear regret.",
                      (6.0, 1.5)),
}  # fmt: skip
EXTENSIONS = tuple(
    Claim(
        name.replace(" ", "-"), place, statement,
        _growth(name, 5 * 10**6, 10**6, seconds), partial(judge_extension, name),
    )
    for name, (place, statement, seconds) in _EXTENSIONS.items()
)  # fmt: skip


# --- Theorem 3 -------------------------------------------------------------------------------

FAMILY = ((2, 2), (2, 4), (2, 8), (3, 2))  # (K, m)
PLAYERS = ("told everything but the good arms", "colored-ucrl2", "tied-sampling")


def _hard(scale: Scale) -> Sequence[tuple[str, int, int]]:
    horizons = (scale.size(3 * 10**4, 10**4), scale.size(3 * 10**4, 10**4), 3000)
    seeds = (scale.size(80, 24), scale.size(24, 8), scale.size(8, 0))
    return [(player, horizon, seed) for player, horizon, count
            in zip(PLAYERS, horizons, seeds, strict=True) for seed in range(count)]  # fmt: skip


def measure_hard(cell: tuple[str, int, int]) -> tuple[str, int, list[float]]:
    player, horizon, seed = cell
    if player == PLAYERS[0]:
        return player, horizon, informed_regrets(horizon, FAMILY, seed)
    return player, horizon, hard_regrets(player, horizon, FAMILY, seed)


HARD = Measurement("lower-bound", _hard, measure_hard, (1.5, 0.5))


def _by_player(results: Sequence[Any]) -> dict[str, tuple[int, Any]]:
    """Horizon and regrets (seeds, family) of every player."""
    horizons = {player: horizon for player, horizon, _ in results}
    return {
        player: (horizon, np.array([lost for who, _, lost in results if who == player]))
        for player, horizon in horizons.items()
    }


def judge_floor(scale: Scale, results: Sequence[Any]) -> Finding:
    """No learner stays below the theorem's constant; the worst case is among the draws."""
    shown, holds, values = [], True, {}
    for player, (horizon, lost) in _by_player(results).items():
        roots = np.array([np.sqrt(k * m * horizon) for k, m in FAMILY])
        least = np.array([theory.lower_bound(k, m, horizon) for k, m in FAMILY]) / roots
        shares = lost / roots
        highest = np.array([interval(column)[1] for column in shares.T])
        holds &= bool((highest >= least).all())
        values[player] = shares.mean(axis=0).tolist()
        shown.append(f"{shares.mean(axis=0).min():.3f} {player} (T = {horizon:.0e})")
    return Finding(
        f"gap regret with (K, m) = {', '.join(map(str, FAMILY))}, the gap chosen for T",
        "least mean regret over sqrt(S T): " + ", ".join(shown),
        f"not surely below {criteria.LOWER.constant:g}, the constant of the theorem cited",
        judged(holds and theory.lower_bound(2, 2, 10**6) == criteria.LOWER.constant * 2000),
        "The published sets learn nothing here within T: 1/8 is what pulling at random loses with "
        "two arms.",
        values,
    )


def judge_states(scale: Scale, results: Sequence[Any]) -> Finding:
    """Exponent in S at fixed T and K = 2."""
    two = np.array([k == 2 for k, _ in FAMILY])
    sizes = np.array([k * m for k, m in FAMILY])[two]
    shown, holds, values = [], True, {}
    least, most = criteria.LOWER.exponent
    for player, (_, lost) in _by_player(results).items():
        if player == PLAYERS[2]:  # too few runs for an exponent: its planning takes seconds a run
            continue
        exponent, low, high = growth_exponent(sizes, lost[:, two])
        holds &= low <= most and high >= least
        values[player] = [exponent, low, high]
        shown.append(f"{exponent:.3f} ({low:.3f} to {high:.3f}) {player}")
    return Finding(
        "the same runs, S = K m = 4, 8, 16",
        "exponent of regret in S: " + ", ".join(shown),
        f"every interval meets {least:g} to {most:g}",
        judged(holds),
        "",
        values,
    )


LOWER_BOUND = (
    Claim("theorem-3-constant", "Section 4, Theorem 3",
          "On a family of cycles every learner loses a constant times sqrt(S T).",
          HARD, judge_floor),
    Claim("theorem-3-states", "Section 4, Theorem 3", "There regret grows like sqrt(S).",
          HARD, judge_states),
)  # fmt: skip
CLAIMS = (*THEOREM_2, *EXTENSIONS, *LOWER_BOUND)
