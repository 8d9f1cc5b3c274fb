"""How regret grows: in time, with the constants as published, and with the number of states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import t as student

from restive.bandit import Bandit
from restive.learners import make_learner
from restive.planning import plan
from restive.problems import example1, lower_bound
from restive.simulation import BanditWorld, play
from restive.theory import lower_bound as theorem_3
from verification import ALPHA, Finding, Settings, judge

__all__ = ["check_extensions", "check_lower_bound", "check_slope", "interval", "slope", "spread"]

T = TypeVar("T")
Floats = NDArray[np.float64]
Curve = tuple[Floats, Floats]  # times and gap regret


def gap_curve(bandit: Bandit, name: str, horizon: int, seed: int, **options: Any) -> Curve:
    """The gap regret of one run over time."""
    learner = make_learner(name, bandit, horizon, 0.05, np.random.default_rng([seed, 1]), **options)
    run = play(learner, BanditWorld(bandit, seed), horizon, plan=plan(bandit, 1e-6))
    assert run.gap_regret is not None
    return run.times.astype(np.float64), run.gap_regret


def slope(curve: Curve, begin: float, end: float) -> float:
    """Exponent of growth between two times: the straight line through log regret over log t.

    >>> times = np.geomspace(1, 1e4, 50)
    >>> round(slope((times, 3 * times**0.7), 10, 1e4), 6)
    0.7
    """
    times, lost = curve
    inside = (times >= begin) & (times <= end * (1 + 1e-9)) & (lost > 0)
    return float(np.polyfit(np.log(times[inside]), np.log(lost[inside]), 1)[0])


def spread(run: Callable[[int], T], seeds: Iterable[int]) -> list[T]:
    """``run`` for every seed, on all processors; the results do not depend on how many."""
    return list(Parallel(n_jobs=-1)(delayed(run)(seed) for seed in seeds))


def interval(values: Sequence[float] | Floats) -> tuple[float, float]:
    """Where the mean lies but for a chance of ALPHA, from independent values (Student)."""
    many = np.asarray(values)
    width = student.ppf(1 - ALPHA / 2, len(many) - 1) * many.std(ddof=1) / np.sqrt(len(many))
    return float(many.mean() - width), float(many.mean() + width)


# --- time ------------------------------------------------------------------------------------


def check_slope(settings: Settings) -> Iterator[Finding]:
    """Published constants on Example 1: regret falls behind time, towards its square root."""
    horizon = settings.size(10**8, 10**6)
    run = partial(_example_1, horizon)
    curves = spread(run, range(settings.size(10, 8)))
    shares = [at_end(curves, horizon / 10**k) / (horizon / 10**k) for k in (2, 1, 0)]
    yield Finding(
        "slope: regret per step",
        f"gap regret over t falls along t = T/100, T/10, T = {horizon:.0e} (colored-ucrl2)",
        ", ".join(f"{share:.4f}" for share in shares),
        "falling",
        judge(shares[0] > shares[1] > shares[2]),
    )
    slopes = [slope(curve, horizon / 100, horizon) for curve in curves]
    low, high = interval(slopes)
    where = "inside" if low <= 0.5 <= high else "below" if low > 0.5 else "above"
    yield Finding(
        "slope: exponent",
        f"gap regret grows slower than t between T/100 and T = {horizon:.0e}: exponent below 1",
        f"{np.mean(slopes):.3f} over {len(slopes)} seeds; 1/2, the theorem's rate, lies {where}",
        f"{low:.3f}, {high:.3f}",
        judge(high < 1),
    )
    late = [slope(curve, horizon / 10, horizon) for curve in curves]
    yield Finding(
        "slope: last decade",
        "the exponent of the last factor of ten is below 1 too",
        f"{np.mean(late):.3f}",
        "{:.3f}, {:.3f}".format(*interval(late)),
        judge(interval(late)[1] < 1),
    )
    settings.draw("slope", lambda axes: _draw_slope(axes, curves, horizon))


def _example_1(horizon: int, seed: int) -> Curve:
    return gap_curve(example1(0.1), "colored-ucrl2", horizon, seed)


def at_end(curves: Sequence[Curve], time: float) -> float:
    """Mean gap regret at the last point up to ``time``."""
    return float(np.mean([lost[np.searchsorted(t, time * (1 + 1e-9)) - 1] for t, lost in curves]))


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

EXTENSIONS: dict[str, tuple[Callable[[], Bandit], dict[str, Any]]] = {
    "periodic arms": (partial(lower_bound, 2, 3, 0.25), {}),
    "unknown states": (partial(example1, 0.3), {"unknown_states": True}),
    "unknown mixing time": (partial(example1, 0.3), {"unknown_mixing": True}),
    "unknown horizon": (partial(example1, 0.3), {"unknown_horizon": True}),
    "nothing known": (partial(lower_bound, 2, 3, 0.25), dict.fromkeys(
        ("unknown_states", "unknown_mixing", "unknown_horizon", "unknown_periods"), True)),
}  # fmt: skip


def check_extensions(settings: Settings) -> Iterator[Finding]:
    """Algorithm 2 without some of its inputs, and with periodic arms: regret is sublinear."""
    horizon = settings.size(10**7, 3 * 10**5)
    for name, (_, options) in EXTENSIONS.items():
        run = partial(_extended, name, horizon)
        curves = spread(run, range(settings.size(10, 8)))
        slopes = [slope(curve, horizon / 100, horizon) for curve in curves]
        low, high = interval(slopes)
        yield Finding(
            f"extensions: {name}",
            f"gap regret grows slower than t between {horizon / 100:.0e} and {horizon:.0e}",
            f"exponent {np.mean(slopes):.3f} over {len(slopes)} seeds"
            + (f" ({', '.join(options)})" if options else ""),
            f"{low:.3f}, {high:.3f}",
            judge(high < 1),
        )


def _extended(name: str, horizon: int, seed: int) -> Curve:
    problem, options = EXTENSIONS[name]
    return gap_curve(problem(), "colored-ucrl2", horizon, seed, **options)


# --- number of states ------------------------------------------------------------------------


def check_lower_bound(settings: Settings) -> Iterator[Finding]:
    """Theorem 3: on its family, at fixed T, regret grows like the square root of S = K m."""
    seeds = settings.size(24, 8)
    small = ((2, 2), (2, 4), (2, 8), (3, 2))  # (K, m)
    rest = () if settings.quick else ((2, 16), (3, 4))
    for name, cells, horizon in (
        ("colored-ucrl2", small + rest, settings.size(10**5, 10**4)),
        ("tied-sampling", small, settings.size(10**4, 10**3)),
    ):
        run = partial(_hard, name, horizon, cells)
        lost = np.array(spread(run, range(seeds)))  # (seeds, cells)
        yield _exponent(name, horizon, cells, lost)
        yield _floor(name, horizon, cells, lost)


def _hard(name: str, horizon: int, cells: Sequence[tuple[int, int]], seed: int) -> list[float]:
    """Gap regret on each (K, m), the good arms drawn anew for every seed."""
    found = []
    for k, m in cells:
        own = 10_000 * seed + 100 * k + m  # every cell draws for itself
        bandit = lower_bound(k, m, horizon=horizon, rng=own)
        found.append(float(gap_curve(bandit, name, horizon, own)[1][-1]))
    return found


def growth_exponent(sizes: NDArray[np.int64], lost: Floats) -> tuple[float, float, float]:
    """Exponent of the mean of ``lost`` (seeds, sizes) in the size, and where it lies (ALPHA).

    A straight line through log mean regret; its error by the delta method.

    >>> found = growth_exponent(np.array([1, 4, 16]), np.array([[1, 2, 4], [3, 6, 12.0]]))
    >>> round(found[0], 6)
    0.5
    """
    x, count = np.log(sizes), len(lost)
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    mean, variance = lost.mean(axis=0), lost.var(axis=0, ddof=1)
    exponent = float(weights @ np.log(mean))
    error = float(np.sqrt((weights**2 * variance / mean**2).sum() / count))
    reach = float(student.ppf(1 - ALPHA / 2, count - 1)) * error
    return exponent, exponent - reach, exponent + reach


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
