"""Learners against each other on the same worlds: tests, corrections and ratios over problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats
from restive.experiments.statistics import (
    LEVEL,
    MIN_RUNS,
    Interval,
    blockwise,
    from_json,
    json_number,
    mean_interval,
    resamples,
)

EXACT_RUNS = 16  # up to here all sign patterns are tried
FLIPS = 49_999
BLOCK = 4096


@dataclass(frozen=True)
class Comparison:
    """One learner against another on the same worlds; a negative difference: it lost less."""

    problem: str
    horizon: int
    learner: str
    against: str
    difference: Interval  # mean over runs of learner - against
    p_value: float
    corrected: float  # for all comparisons made together (Holm)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; nan becomes None."""
        return {
            "problem": self.problem, "horizon": self.horizon, "learner": self.learner,
            "against": self.against, "difference": self.difference.to_dict(),
            "p_value": json_number(self.p_value), "corrected_p_value": json_number(self.corrected),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Comparison:
        """What ``to_dict`` wrote."""
        return cls(
            content["problem"], content["horizon"], content["learner"], content["against"],
            Interval.from_dict(content["difference"]), from_json(content["p_value"]),
            from_json(content["corrected_p_value"]),
        )  # fmt: skip


@dataclass(frozen=True)
class Ratio:
    """Geometric mean over problems of a ratio of mean regrets, below 1 where the learner is better.

    ratios: per problem, in the order given.
    """

    interval: Interval
    ratios: tuple[float, ...]
    best: tuple[int, ...]  # which of the others had the least mean on each problem

    @property
    def worst(self) -> int:
        """The place of the largest ratio; -1 if it is not known."""
        return (
            int(np.argmax(self.ratios)) if self.ratios and not any(map(isnan, self.ratios)) else -1
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON; nan becomes None."""
        return self.interval.to_dict() | {"ratios": [json_number(r) for r in self.ratios]}


@dataclass(frozen=True)
class Versus:
    """A learner against the first one over all problems that both played."""

    horizon: int
    learner: str
    against: str
    problems: tuple[str, ...]
    ratio: Ratio

    def to_dict(self) -> dict[str, Any]:
        fields = self.ratio.to_dict()
        ratios = dict(zip(self.problems, fields.pop("ratios"), strict=True))
        head = {"horizon": self.horizon, "learner": self.learner, "against": self.against}
        return head | fields | {"ratios": ratios}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Versus:
        """What ``to_dict`` wrote."""
        ratios = tuple(map(from_json, content["ratios"].values()))
        ratio = Ratio(Interval.from_dict(content), ratios, (0,) * len(ratios))
        problems = tuple(content["ratios"])
        return cls(content["horizon"], content["learner"], content["against"], problems, ratio)


def sign_flip_test(differences: ArrayLike) -> float:
    """Two-sided p-value of "differences are symmetric around 0", from flips of their signs.

    All flips up to 16 runs, a fixed random 49,999 beyond. Ordering flips by the sum or by Student's
    t is the same. Without any difference the answer is 1.
    """
    return float(sign_flip_tests(np.asarray(differences, dtype=np.float64)[None])[0])


def sign_flip_tests(differences: Floats) -> Floats:
    """``sign_flip_test`` for each row."""
    size = np.abs(differences).max(axis=1, keepdims=True)
    rows = differences / np.where(size > 0, size, 1.0)
    runs = rows.shape[1]
    targets = np.abs(rows.sum(axis=1)) - 1e-9 * runs  # ties count, whatever the rounding
    if runs <= EXACT_RUNS:
        p_values = np.array([_share_beyond(*pair) for pair in zip(rows, targets, strict=True)])
    else:
        p_values = (1 + _flips_beyond(rows, targets)) / (1 + FLIPS)
    return np.where(np.isfinite(differences).all(axis=1), p_values, nan)


def _share_beyond(values: Floats, target: float) -> float:
    """Share of all sign patterns with a sum as large as the target, up to a flip of all."""
    sums = values[:1]
    for value in values[1:]:
        sums = np.concatenate([sums + value, sums - value])
    return float((np.abs(sums) >= target).mean())


def _flips_beyond(rows: Floats, targets: Floats) -> Floats:
    rng = np.random.default_rng([rows.shape[1], 10])
    beyond = np.zeros(len(rows))
    for start in range(0, FLIPS, BLOCK):
        shape = (min(BLOCK, FLIPS - start), rows.shape[1])
        signs = (2 * rng.integers(0, 2, size=shape, dtype=np.int8) - 1).astype(np.float64)
        beyond += (np.abs(blockwise(signs, rows.T)) >= targets).sum(axis=0)
    return beyond


def holm(p_values: ArrayLike) -> Floats:
    """Holm's correction: the chance of any false alarm among all the tests stays at the level.

    nan stands for a test that was not made and does not count.

    >>> holm([0.01, 0.04, 0.03]).round(9).tolist()
    [0.03, 0.06, 0.06]
    """
    raw = np.asarray(p_values, dtype=np.float64)
    corrected = np.full_like(raw, nan)
    tested = np.flatnonzero(~np.isnan(raw))
    order = tested[np.argsort(raw[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(raw[order] * factors), 1.0)
    return corrected


def geometric_ratio(own: Sequence[ArrayLike], others: Sequence[Sequence[ArrayLike]]) -> Ratio:
    """Geometric mean over problems of own mean / least mean of the others.

    own: per problem one number per run; others: per problem the same for each of the others.
    Runs are paired by their number, so they are resampled together for all learners and problems.
    """
    mine = [np.asarray(values, dtype=np.float64) for values in own]
    theirs = [np.array(rows, dtype=np.float64) for rows in others]
    means = [rows.mean(axis=1) for rows in theirs]
    best = tuple(int(np.argmin(rows)) for rows in means)
    pairs = [(x.mean(), rows.min()) for x, rows in zip(mine, means, strict=True)]
    ratios = tuple(float(a / b) if a > 0 and b > 0 else nan for a, b in pairs)
    if np.isnan(ratios).any() or not ratios:
        reason = "a mean regret is not above 0" if ratios else "no problem in common"
        return Ratio(Interval(nan, reason=reason), ratios, best)
    value = float(np.exp(np.mean(np.log(ratios))))
    return Ratio(_ratio_interval(value, mine, theirs), ratios, best)


def _ratio_interval(value: float, mine: Sequence[Floats], theirs: Sequence[Floats]) -> Interval:
    runs = {rows.shape[-1] for rows in (*mine, *theirs)}
    if len(runs) > 1 or min(runs) < MIN_RUNS:
        reason = "not all learners have the same runs" if len(runs) > 1 else "too few runs"
        return Interval(value, reason=reason)
    picks = resamples(runs.pop())
    tops = np.array([picks @ x for x in mine])
    bottoms = np.array([(picks @ rows.T).min(axis=1) for rows in theirs])
    fine = ((tops > 0) & (bottoms > 0)).all(axis=0)
    if fine.mean() < 1 - 0.1 * (1 - LEVEL):
        return Interval(value, reason="a mean regret is too close to 0 for an interval")
    logs = np.log(tops[:, fine] / bottoms[:, fine]).mean(axis=0)
    low, high = np.exp(np.quantile(logs, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    return Interval(value, float(low), float(high))


def compare_pairs(
    problem: str, horizon: int, values: Mapping[str, Floats], pairs: Sequence[tuple[str, str]],
    only: str = "",
) -> list[Comparison]:  # fmt: skip
    """Every pair (learner, against) tested, corrected for all of them together.

    values: one number per run for each learner, paired by run. only: return those against it.
    """
    if not pairs:
        return []
    apart = np.array([values[a] - values[b] for a, b in pairs])
    p_values = sign_flip_tests(apart)
    rows = zip(pairs, apart, p_values.tolist(), holm(p_values).tolist(), strict=True)
    return [
        Comparison(problem, horizon, a, b, mean_interval(d), p, corrected)
        for (a, b), d, p, corrected in rows
        if only in ("", b)
    ]
