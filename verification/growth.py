"""How regret grows: in time, with the constants as published, and with the number of states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from restive.paper.estimates import Curve, at_end, growth_exponent, interval, log_slope
from restive.paper.regret_runs import SETTINGS, hard_regret, setting_curve
from restive.theory import lower_bound as theorem_3
from verification import Finding, Settings, judge

__all__ = [
    "check_extensions",
    "check_lower_bound",
    "check_slope",
    "interval",
    "log_slope",
    "spread",
]

T = TypeVar("T")
Floats = NDArray[np.float64]


def spread(run: Callable[[int], T], seeds: Iterable[int]) -> list[T]:
    """``run`` for every seed, on all processors; the results do not depend on how many."""
    return list(Parallel(n_jobs=-1)(delayed(run)(seed) for seed in seeds))


# --- time ------------------------------------------------------------------------------------


def check_slope(settings: Settings) -> Iterator[Finding]:
    """Published constants on Example 1: regret falls behind time, towards its square root."""
    horizon = settings.size(10**8, 10**6)
    run = partial(setting_curve, "slow", horizon)
    curves = spread(run, range(settings.size(10, 8)))
    shares = [at_end(curves, horizon / 10**k) / (horizon / 10**k) for k in (2, 1, 0)]
    yield Finding(
        "slope: regret per step",
        f"gap regret over t falls along t = T/100, T/10, T = {horizon:.0e} (colored-ucrl2)",
        ", ".join(f"{share:.4f}" for share in shares),
        "falling",
        judge(shares[0] > shares[1] > shares[2]),
    )
    slopes = [log_slope(curve, horizon / 100, horizon) for curve in curves]
    low, high = interval(slopes)
    where = "inside" if low <= 0.5 <= high else "below" if low > 0.5 else "above"
    yield Finding(
        "slope: exponent",
        f"gap regret grows slower than t between T/100 and T = {horizon:.0e}: exponent below 1",
        f"{np.mean(slopes):.3f} over {len(slopes)} seeds; 1/2, the theorem's rate, lies {where}",
        f"{low:.3f}, {high:.3f}",
        judge(high < 1),
    )
    late = [log_slope(curve, horizon / 10, horizon) for curve in curves]
    yield Finding(
        "slope: last decade",
        "the exponent of the last factor of ten is below 1 too",
        f"{np.mean(late):.3f}",
        "{:.3f}, {:.3f}".format(*interval(late)),
        judge(interval(late)[1] < 1),
    )
    settings.draw("slope", lambda axes: _draw_slope(axes, curves, horizon))


def _draw_slope(axes: Any, curves: Sequence[Curve], horizon: int) -> None:
    for times, lost in curves:
        axes.loglog(times, np.maximum(lost, 1e-1), color="#0072B2", lw=0.8, alpha=0.6)
    times, top = curves[0][0], at_end(curves, horizon)
    later = times >= horizon / 1e4
    words = f"gap regret, one line for each of {len(curves)} seeds"
    axes.text(0.03, 0.95, words, color="#0072B2", transform=axes.transAxes)
    for power, name in ((0.5, "√t"), (1.0, "t")):
        guide = 2 * top * (times[later] / horizon) ** power
        axes.loglog(times[later], guide, color="#777777", lw=1, ls=":")
        axes.text(times[later][0], guide[0], name, color="#777777", ha="right")
    axes.set(xlim=(10, 1.5 * horizon), ylim=(1, 4 * top))
    axes.set_xlabel("step")
    axes.set_ylabel("gap regret, Example 1, published constants")


# --- extensions ------------------------------------------------------------------------------

EXTENSIONS = (
    "periodic arms", "unknown states", "unknown mixing time", "unknown horizon", "nothing known",
)  # fmt: skip


def check_extensions(settings: Settings) -> Iterator[Finding]:
    """Algorithm 2 without some of its inputs, and with periodic arms: regret is sublinear."""
    horizon = settings.size(10**7, 3 * 10**5)
    for name in EXTENSIONS:
        options = SETTINGS[name].options
        run = partial(setting_curve, name, horizon)
        curves = spread(run, range(settings.size(10, 8)))
        slopes = [log_slope(curve, horizon / 100, horizon) for curve in curves]
        low, high = interval(slopes)
        yield Finding(
            f"extensions: {name}",
            f"gap regret grows slower than t between {horizon / 100:.0e} and {horizon:.0e}",
            f"exponent {np.mean(slopes):.3f} over {len(slopes)} seeds"
            + (f" ({', '.join(options)})" if options else ""),
            f"{low:.3f}, {high:.3f}",
            judge(high < 1),
        )


# --- number of states ------------------------------------------------------------------------


def _hard_regrets(
    name: str, horizon: int, cells: Sequence[tuple[int, int]], seed: int
) -> list[float]:
    return [hard_regret(name, horizon, size, seed) for size in cells]


def check_lower_bound(settings: Settings) -> Iterator[Finding]:
    """Theorem 3: on its family, at fixed T, regret grows like the square root of S = K m."""
    seeds = settings.size(24, 8)
    small = ((2, 2), (2, 4), (2, 8), (3, 2))  # (K, m)
    rest = () if settings.quick else ((2, 16), (3, 4))
    for name, cells, horizon in (
        ("colored-ucrl2", small + rest, settings.size(10**5, 10**4)),
        ("tied-sampling", small, settings.size(10**4, 10**3)),
    ):
        run = partial(_hard_regrets, name, horizon, cells)
        lost = np.array(spread(run, range(seeds)))  # (seeds, cells)
        yield _exponent(name, horizon, cells, lost)
        yield _floor(name, horizon, cells, lost)


def _exponent(name: str, horizon: int, cells: Sequence[tuple[int, int]], lost: Floats) -> Finding:
    two = np.array([k == 2 for k, _ in cells])
    sizes = np.array([k * m for k, m in cells])[two]
    exponent, low, high = growth_exponent(sizes, lost[:, two])
    return Finding(
        f"lower bound: {name}",
        f"regret grows like S^0.5 with S = K m states at T = {horizon:.0e} (K = 2)",
        f"exponent {exponent:.3f} over {len(lost)} seeds",
        f"{low:.3f}, {high:.3f}",
        judge(low <= 0.6 and high >= 0.4),
    )


def _floor(name: str, horizon: int, cells: Sequence[tuple[int, int]], lost: Floats) -> Finding:
    """Nobody is better than the theorem allows; the worst case is among the drawn good arms."""
    roots = np.array([np.sqrt(k * m * horizon) for k, m in cells])
    least = np.array([theorem_3(k, m, horizon) for k, m in cells]) / roots
    shares = lost / roots
    highest = np.array([interval(column)[1] for column in shares.T])
    pairs = zip(shares.mean(axis=0), cells, strict=True)
    means = ", ".join(f"{share:.3f} {cell}" for share, cell in pairs)
    return Finding(
        f"lower bound: {name}, height",
        "mean regret over sqrt(S T) for (K, m) is not below Theorem 3's constant",
        means,
        f"from {least.max():.3f}",
        judge(bool((highest >= least).all())),
    )
