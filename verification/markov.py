"""Is it Markov? Rates of false alarms and of true ones, over simulated traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from restive.data.change import change_test, period_test
from restive.data.markov import check_markov
from restive.data.orders import find_windows, order_test
from restive.data.surprises import dependence_tests, find_cycle
from restive.data.tables import detectable_bits
from restive.data.traces import ArmTrace, Traces
from verification import ALPHA, Check, Finding, Settings, judge

__all__ = ["CHECKS"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rng = np.random.Generator

DRAWS = 99  # for each p-value; 5% is then a level that shuffles can keep exactly
LEVEL = 0.05
STRICT = 0.01  # where p-values come from the fitted tail

TESTS: dict[str, Callable[[ArmTrace, ArmTrace, Rng], float | None]] = {
    "order 1 or 2": lambda a, b, rng: _order(a, 1, 2, rng),
    "order 1 or 3": lambda a, b, rng: _order(a, 1, 3, rng),
    "order 2 or 3": lambda a, b, rng: _order(a, 2, 3, rng),
    "change": lambda a, b, rng: change_test(a, rng, DRAWS).p,
    "period of 24": lambda a, b, rng: period_test(a, 24.0, rng, DRAWS).p,
    "any period": lambda a, b, rng: _cycle(a),
    "dependence": lambda a, b, rng: dependence_tests([a, b], rng, DRAWS)[0].p,
}


def _order(arm: ArmTrace, order: int, against: int, rng: Rng) -> float | None:
    reading = order_test(arm, order, against, rng, DRAWS).reading
    return None if reading is None else reading.p


def _cycle(arm: ArmTrace) -> float | None:
    cycle = find_cycle(arm)
    return None if cycle is None else cycle.p


@dataclass(frozen=True)
class Scene:
    """Chains of ``size`` states seen over ``steps`` steps, each step with the chance ``share``."""

    size: int
    steps: int
    share: float = 1.0

    def __str__(self) -> str:
        seen = "all seen" if self.share == 1 else f"{self.share:.0%} seen"
        return f"{self.size} states, {self.steps:,} steps, {seen}"


SCENES = {
    "shortest": Scene(2, 60), "short": Scene(3, 200), "whole": Scene(2, 400),
    "long": Scene(2, 6000), "half": Scene(2, 500, 0.5), "gappy": Scene(2, 1500, 0.3),
}  # fmt: skip


def walks(laws: Floats, steps: int, rng: Rng) -> Ints:
    """Paths (runs, steps) of chains (runs, S, ..., S), all of one order, from any start."""
    runs, size, order = len(laws), laws.shape[-1], laws.ndim - 2
    sums = np.cumsum(laws, axis=-1)
    paths = np.empty((runs, steps), dtype=np.int64)
    paths[:, :order] = rng.integers(size, size=(runs, order))
    every = np.arange(runs)
    for t in range(order, steps):
        past = tuple(paths[:, t - k] for k in range(order, 0, -1))
        rows = sums[(every, *past)]
        paths[:, t] = (rng.random(runs)[:, None] > rows[:, :-1]).sum(axis=1)
    return paths


def trace_of(states: Ints, size: int, share: float, rng: Rng) -> ArmTrace:
    times = np.arange(len(states))
    if share < 1:
        times = times[rng.random(len(states)) < share]
    seen = states[times]
    labels = tuple(str(s) for s in range(size))
    return ArmTrace("", times, seen, seen / (size - 1), labels, np.zeros(len(seen), dtype=np.int64))


def interval(hits: int, runs: int, miss: float = 0.05) -> tuple[float, float]:
    """Clopper and Pearson's for a rate."""
    low = float(beta.ppf(miss / 2, hits, runs - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - miss / 2, hits + 1, runs - hits)) if hits < runs else 1.0
    return low, high


def not_more(name: str, p: Floats, level: float) -> Finding:
    """Whether alarms at ``level`` are not more frequent than that."""
    hits, runs = int((p <= level).sum()), len(p)
    low, high = interval(hits, runs)
    surely = float(beta.ppf(ALPHA, hits, runs - hits + 1)) if hits else 0.0
    return Finding(name, f"false alarms at the {level:.0%} level",
                   f"{hits / runs:.2%} of {runs:,}", f"{low:.2%} to {high:.2%}",
                   judge(surely <= level))  # fmt: skip


def check_alarms(key: str, settings: Settings) -> Iterator[Finding]:
    """Random chains that are as assumed: every test on one kind of trace."""
    scene, runs = SCENES[key], settings.size(2000, 30)
    rng = np.random.default_rng([list(SCENES).index(key), 14])
    laws = rng.dirichlet(np.ones(scene.size), (2, runs, scene.size))
    paths = [walks(law, scene.steps, rng) for law in laws]
    values: dict[str, list[float]] = {name: [] for name in TESTS}
    for states in zip(*paths, strict=True):
        arms = [trace_of(path, scene.size, scene.share, rng) for path in states]
        for name, test in TESTS.items():
            p = test(arms[0], arms[1], rng)
            if p is not None:
                values[name].append(p)
    for name, p_values in values.items():
        if len(p_values) >= runs // 4:  # others had too little to tell in most runs
            for level in (LEVEL, STRICT):
                yield not_more(f"{name}: {scene}", np.array(p_values), level)


def check_reports(settings: Settings) -> Iterator[Finding]:
    """Whole reports on three arms that are as assumed: any alarm at all."""
    runs, rng = settings.size(40, 4), np.random.default_rng(15)
    for scene in (Scene(2, 300), Scene(3, 1500, 0.5)):
        laws = rng.dirichlet(np.ones(scene.size), (3, runs, scene.size))
        paths = [walks(law, scene.steps, rng) for law in laws]
        alarms = []
        for states in zip(*paths, strict=True):
            arms = [trace_of(path, scene.size, scene.share, rng) for path in states]
            named = tuple(replace(arm, name=str(j)) for j, arm in enumerate(arms))
            alarms.append(not check_markov(Traces(named), rng=rng).believable)
        p = np.where(alarms, 0.0, 1.0)
        yield replace(not_more(f"report on 3 arms: {scene}", p, LEVEL),
                      claim="reports with any alarm, at the 5% level")  # fmt: skip


# --- power -----------------------------------------------------------------------------------

STICKY = np.array([[0.8, 0.2], [0.3, 0.7]])


def remembering(shift: float) -> Floats:
    """(2, 2, 2): after a change of state the chance to go on to 1 is larger by ``shift``."""
    law = np.stack([STICKY, STICKY])
    law[0, :, 1] += shift * np.array([-0.5, 0.5])
    law[1, :, 1] += shift * np.array([0.5, -0.5])
    law[..., 0] = 1 - law[..., 1]
    return np.asarray(law)


def memory_paths(shift: float, steps: int, runs: int, rng: Rng) -> Ints:
    return walks(np.broadcast_to(remembering(shift), (runs, 2, 2, 2)).copy(), steps, rng)


def jump_paths(shift: float, steps: int, runs: int, rng: Rng) -> Ints:
    """From two thirds of the time on, both rows go to 1 more often by ``shift``."""
    later = STICKY + shift * np.array([[-1, 1], [-1, 1]])
    first, last = 2 * steps // 3, steps - 2 * steps // 3
    parts = [walks(np.broadcast_to(law, (runs, 2, 2)).copy(), n, rng)
             for law, n in ((STICKY, first), (later, last))]  # fmt: skip
    return np.concatenate(parts, axis=1)


def periodic_paths(swing: float, steps: int, runs: int, rng: Rng) -> Ints:
    """The chance to go to 1 swings by ``swing`` up and down with a period of 24."""
    paths = np.zeros((runs, steps), dtype=np.int64)
    for t in range(1, steps):
        chance = STICKY[paths[:, t - 1], 1] + swing * np.sin(2 * np.pi * t / 24)
        paths[:, t] = rng.random(runs) < chance
    return paths


def power(name: str, p: list[float], least: float | None = None) -> Finding:
    """How often something that is there was seen at the 5% level."""
    hits, runs = int((np.array(p) <= LEVEL).sum()), len(p)
    low, high = interval(hits, runs)
    surely = interval(hits, runs, 2 * ALPHA)[1]
    claim = "seen at the 5% level" + (f" in at least {least:.0%}" if least else "")
    return Finding(name, claim, f"{hits / runs:.1%} of {runs:,}", f"{low:.1%} to {high:.1%}",
                   judge(least is None or surely >= least))  # fmt: skip


def _tested(paths: Ints, share: float, test: Callable[[ArmTrace], float | None], rng: Rng
            ) -> list[float]:  # fmt: skip
    values = [test(trace_of(path, 2, share, rng)) for path in paths]
    return [1.0 if p is None else p for p in values]


def check_power(settings: Settings) -> Iterator[Finding]:
    """Alternatives of stated size; those that should be seen almost always must be."""
    runs, rng = settings.size(150, 15), np.random.default_rng(16)

    def order(arm: ArmTrace) -> float | None:
        return _order(arm, 1, 2, rng)

    for shift, steps, share, least in (
        (0.1, 1000, 1.0, None), (0.2, 1000, 1.0, None), (0.3, 1000, 1.0, 0.9),
        (0.1, 10_000, 1.0, 0.9), (0.2, 2000, 0.5, None), (0.3, 2000, 0.5, None),
        (0.3, 10_000, 0.2, None),
    ):  # fmt: skip
        paths = memory_paths(shift, steps, runs, rng)
        name = f"memory: {shift:g} of a probability, {Scene(2, steps, share)}"
        yield power(name, _tested(paths, share, order, rng), least)
    for shift, steps, share, least in (
        (0.1, 1000, 1.0, None), (0.2, 1000, 1.0, 0.8), (0.1, 10_000, 1.0, 0.99),
        (0.2, 2000, 0.3, None), (0.1, 10_000, 0.3, None),
    ):  # fmt: skip
        paths = jump_paths(shift, steps, runs, rng)
        p = _tested(paths, share, lambda arm: change_test(arm, rng, DRAWS).p, rng)
        yield power(f"jump: {shift:g} of a probability, {Scene(2, steps, share)}", p, least)
    for swing, steps, share, least in (
        (0.05, 1000, 1.0, None), (0.1, 1000, 1.0, None), (0.15, 2000, 1.0, 0.95),
        (0.15, 5000, 0.3, None),
    ):  # fmt: skip
        paths = periodic_paths(swing, steps, runs, rng)
        told = _tested(paths, share, lambda arm: period_test(arm, 24.0, rng, DRAWS).p, rng)
        sought = _tested(paths, share, _cycle, rng)
        yield power(f"period of 24 by name: swing {swing:g}, {Scene(2, steps, share)}", told, least)
        yield power(f"period of 24 sought: swing {swing:g}, {Scene(2, steps, share)}", sought)


def check_pairs(settings: Settings) -> Iterator[Finding]:
    """Two arms that follow the same draw of chance in a part of the steps."""
    runs, rng = settings.size(150, 15), np.random.default_rng(17)
    for shared, steps, share, least in (
        (0.05, 1000, 1.0, None), (0.1, 1000, 1.0, None), (0.2, 1000, 1.0, 0.95),
        (0.2, 3000, 0.3, None),
    ):  # fmt: skip
        values = []
        for _ in range(runs):
            own = rng.random((2, steps))
            own[1] = np.where(rng.random(steps) < shared, own[0], own[1])
            paths = np.zeros((2, steps), dtype=np.int64)
            for t in range(1, steps):
                paths[:, t] = own[:, t] < STICKY[paths[:, t - 1], 1]
            arms = [trace_of(path, 2, share, rng) for path in paths]
            p = dependence_tests(arms, rng, DRAWS)[0].p
            values.append(1.0 if p is None else p)
        yield power(f"dependence: {shared:.0%} of steps shared, {Scene(2, steps, share)}",
                    values, least)  # fmt: skip


def information(law: Floats) -> float:
    """I(a; c | b) in bits of a chain of order 2, from its stationary law of pairs."""
    pairs = np.full((2, 2), 0.25)
    for _ in range(2000):
        pairs = np.einsum("ab,abc->bc", pairs, law)
    joint = pairs[..., None] * law
    simple = joint.sum(axis=0) / joint.sum(axis=(0, 2))[:, None]
    return float((joint * np.log2(law / simple[None])).sum())


def check_detectable(settings: Settings) -> Iterator[Finding]:
    """Memory of just the size that a log is said to show is seen in about 80% of logs."""
    runs, rng = settings.size(400, 25), np.random.default_rng(18)
    for steps, share in ((1000, 1.0), (8000, 1.0), (3000, 0.5)):
        looks = steps - 2
        if share < 1:
            sample = trace_of(memory_paths(0.1, steps, 1, rng)[0], 2, share, rng)
            windows = find_windows(sample, 3)
            looks = int((windows.gaps == 1).sum())
        bits = detectable_bits(2, looks)
        shifts = np.linspace(0.005, 0.38, 200)
        sizes = np.array([information(remembering(shift)) for shift in shifts])
        shift = float(np.interp(bits, sizes, shifts))
        paths = memory_paths(shift, steps, runs, rng)
        p = _tested(paths, share, lambda arm: _order(arm, 1, 2, rng), rng)
        hits = int((np.array(p) <= LEVEL).sum())
        low, high = interval(hits, runs)
        surely = interval(hits, runs, ALPHA)
        least, most = (0.72, 0.88) if share == 1 else (0.6, 0.92)
        yield Finding(f"detectable: {bits:.2g} bits, {Scene(2, steps, share)}",
                      f"seen at the 5% level in {least:.0%} to {most:.0%}",
                      f"{hits / runs:.1%} of {runs:,}", f"{low:.1%} to {high:.1%}",
                      judge(surely[0] <= most and surely[1] >= least))  # fmt: skip


CHECKS: dict[str, Check] = {
    **{f"markov-{key}": partial(check_alarms, key) for key in SCENES},
    "markov-reports": check_reports,
    "markov-power": check_power,
    "markov-pairs": check_pairs,
    "markov-detectable": check_detectable,
}
