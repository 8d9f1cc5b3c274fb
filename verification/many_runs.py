"""Problems with slow arms and with many arms, planned one by one; rows kept in a file to go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from operator import itemgetter
from os import getloadavg
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from restive.many.bounded import BoundedPlan
from restive.many.grid import plan_grid
from restive.many.grid_value import scores_of, simulate_gain
from restive.many.planner import plan_improvements
from restive.many.several_pulls import plan_pulls
from restive.many.whittle import whittle_table
from restive.model import chains
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from verification import CLOCK

__all__ = ["FAMILIES", "Family", "Row", "channels", "fill", "read_rows", "rows_of"]

Row = dict[str, Any]
Maker = Callable[[int, np.random.Generator], Bandit]

EXACT = 1e-7  # tolerance of exact plans that intervals are held against
SHORT = 1.0  # seconds for an interval of a problem small enough to be planned exactly


def channels(count: int, rates: tuple[float, float], rng: np.random.Generator) -> Bandit:
    """Two-state arms with rates drawn from a range, rewards 0 and U(.5, 1)."""
    arms = []
    for _ in range(count):
        up, down = rng.uniform(*rates, size=2)
        arms.append(Arm([[1 - up, up], [down, 1 - down]], [0.0, rng.uniform(0.5, 1.0)]))
    return Bandit(arms)


def ladders(count: int, rates: tuple[float, float], rng: np.random.Generator) -> Bandit:
    """Arms of 3 to 5 states: each is left at a rate from a range, for others at random."""
    arms = []
    for _ in range(count):
        size = int(rng.integers(3, 6))
        law = np.zeros((size, size))
        for s in range(size):
            law[s, np.arange(size) != s] = rng.uniform(*rates) * rng.dirichlet(np.ones(size - 1))
            law[s, s] = 1 - law[s].sum()
        best = rng.uniform(0.5, 1.0)
        arms.append(Arm(law, [0.0, *np.sort(rng.uniform(0, best, size - 2)), best]))
    return Bandit(arms)


IDENTICAL = ((0.05, 0.8), (0.02, 0.9), (0.3, 0.6), (0.8, 0.3))  # (p01, p11); the last one loses
SIZES = (3, 5, 8, 12, 20)


def alike(seed: int, rng: np.random.Generator) -> Bandit:
    """Identical arms, every (p01, p11) with every number of arms."""
    up, stay = IDENTICAL[seed % len(IDENTICAL)]
    arm = Arm([[1 - up, up], [1 - stay, stay]], [0, 1])
    return Bandit([arm] * SIZES[seed // len(IDENTICAL)])


@dataclass(frozen=True)
class Family:
    """Random problems of one kind: how to draw them, how many, and the seconds for each."""

    name: str
    words: str
    draw: Maker
    problems: int
    seconds: float
    rivals: bool = False  # whether to play Whittle's and the myopic policy beside the plan's
    exact: bool = False  # whether to hold the interval against an exact plan
    stop: float = 0.0  # the gap at which there is no need to go on, as a share of the lower end
    certified: bool = False  # whether both ends of the gap have to be certain


def _two(count: int, rates: tuple[float, float]) -> Maker:
    return lambda seed, rng: channels(count, rates, rng)


SLOW, FAST = (0.003, 0.03), (0.05, 0.5)
FAMILIES = (
    *(Family(f"slow-{k}", f"{k} slow two-state arms, rates .003 to .03", _two(k, SLOW), 50, 30.0,
             rivals=True, stop=0.0005) for k in (3, 4, 5)),
    Family("slow-states", "3 to 5 slow arms of 3 to 5 states, rates .003 to .03",
           lambda seed, rng: ladders(3 + seed % 3, SLOW, rng), 30, 30.0, rivals=True, stop=0.0005),
    *(Family(f"many-{k}", f"{k} two-state arms, rates .05 to .5", _two(k, FAST), 100, 60.0,
             stop=0.0002, certified=True)
      for k in (10, 20, 50)),
    Family("many-states", "10, 20 and 50 arms of 3 to 5 states, rates .05 to .5",
           lambda seed, rng: ladders((10, 20, 50)[seed % 3], FAST, rng), 50, 60.0,
           stop=0.0002, certified=True),
    Family("identical", "3 to 20 identical arms", alike, len(IDENTICAL) * len(SIZES), 60.0,
           stop=0.003),
    Family("valid-1", "2 to 5 arms, one pull a step",
           lambda seed, rng: _small(seed, rng, 1), 300, SHORT, exact=True),
    Family("valid-2", "3 and 4 arms, two pulls a step",
           lambda seed, rng: _small(seed, rng, 2), 60, SHORT, exact=True),
    Family("valid-3", "4 arms, three pulls a step",
           lambda seed, rng: _small(seed, rng, 3), 30, SHORT, exact=True),
)  # fmt: skip


def _small(seed: int, rng: np.random.Generator, pulls: int) -> Bandit:
    """Few arms that forget soon; every fifth problem has arms of three states, or equal ones."""
    if pulls == 1:
        count = 2 + seed % 4
        rates = ((0.02, 0.5), (0.05, 0.7), (0.15, 0.8), (0.3, 0.7))[count - 2]
    else:
        count, rates = (3 + seed % 2 if pulls == 2 else 4), (0.35, 0.65)
    if seed % 5 == 4 and count <= 3:
        return Bandit(ladders(count, rates, rng).arms, pulls=pulls)
    arms = list(channels(count, rates, rng).arms)
    if seed % 5 == 3:
        arms[1] = arms[0]
    return Bandit(arms, pulls=pulls)


def rows_of(
    family: Family, problems: int, file: Path | None, seconds: float, deadline: float = inf
) -> Iterator[Row]:
    """The first so many problems of a family; those in the file are read, the others appended.

    None is begun after the deadline (of ``monotonic``).
    """
    known = _known(file)
    for seed in range(problems):
        row = known.get((family.name, seed))
        if row is None and monotonic() < deadline:
            row = _appended(family, seed, file, seconds)
        if row is not None:
            yield row


def fill(file: Path, problems: int | None, deadline: float) -> None:
    """Plan what the file does not hold of all families in turn, so that a part is a fair sample."""
    counts = {family: min(family.problems, problems or family.problems) for family in FAMILIES}
    turns = [(seed / count, family, seed) for family, count in counts.items()
             for seed in range(count)]  # fmt: skip
    known = _known(file)
    for _, family, seed in sorted(turns, key=itemgetter(0)):
        if monotonic() >= deadline:
            return
        if (family.name, seed) not in known:
            _appended(family, seed, file, family.seconds)


def _known(file: Path | None) -> dict[tuple[str, int], Row]:
    return {(row["family"], row["seed"]): row for row in read_rows(file)}


def _appended(family: Family, seed: int, file: Path | None, seconds: float) -> Row:
    row = _row(family, seed, seconds)
    if file is not None:
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")
    return row


def read_rows(file: Path | None) -> list[Row]:
    if file is None or not file.exists():
        return []
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]


def _row(family: Family, seed: int, seconds: float) -> Row:
    salt = sum(map(ord, family.name))
    bandit = family.draw(seed, np.random.default_rng([seed, salt]))
    began = perf_counter()
    best = _planned(family, bandit, seconds)
    took = perf_counter() - began
    row: Row = {
        "family": family.name, "seed": seed, "arms": bandit.n_arms, "lower": best.lower,
        "upper": best.upper, "gain": best.gain, "lower_kind": best.lower_kind,
        "certified_lower": best.certified_lower, "proven": bool(best.proven_optimal),
        "method": best.method, "upper_method": best.upper_method, "seconds": round(best.seconds, 2),
        "took": round(took, 2), "load": round(getloadavg()[0], 1), "clock": CLOCK,
        "stop": family.stop,
    }  # fmt: skip
    if family.rivals:
        row |= _rivals(bandit, seed)
    if family.exact:
        own = plan(bandit, EXACT) if bandit.pulls == 1 else plan_pulls(bandit, bandit.pulls, 1e-5)
        row |= {"exact": [own.gain_lower, own.gain_upper] if bandit.pulls == 1
                else [own.lower, own.upper]}  # fmt: skip
    return row


def _planned(family: Family, bandit: Bandit, seconds: float) -> BoundedPlan:
    """The plan of a time, or the first one whose gap is as small as the family's ``stop``."""
    best = None
    rounds = plan_improvements(bandit, _tolerance(family, bandit), time=seconds,
                               exact=not family.exact)  # fmt: skip
    for best in rounds:
        lower = best.certified_lower if family.certified else best.lower
        if best.upper - lower <= family.stop * lower:
            break
    assert best is not None  # there is always a first one
    return best


def _tolerance(family: Family, bandit: Bandit) -> float | None:
    """A width of intervals that is within ``stop``: no policy earns less than the best arm alone.

    Half of it where both ends must be certain: a simulated end would stop the planner too.
    """
    least = family.stop * max(arm.gain for arm in bandit.arms)
    return (0.5 * least if family.certified else least) or None


def _rivals(bandit: Bandit, seed: int) -> Row:
    """What Whittle's and the myopic policy earn; a grid's values take the noise out of it."""
    beside = plan_grid(bandit, ages=4, depth=16, tolerance=1e-4)
    caps = [min(arm.mixing_time(1e-7), 4_000) for arm in bandit.arms]
    tables = {
        "whittle": [whittle_table(arm, cap=cap).indices
                    for arm, cap in zip(bandit.arms, caps, strict=True)],
        "myopic": [(chains.powers(arm.transitions, cap) @ arm.rewards).T
                   for arm, cap in zip(bandit.arms, caps, strict=True)],
    }  # fmt: skip
    row: Row = {}
    for name, table in tables.items():
        value = simulate_gain(beside, steps=10_000, replications=16, rng=seed,
                              scores=scores_of(beside, table))  # fmt: skip
        row[name] = [value.mean, value.lower, value.upper]
    return row
