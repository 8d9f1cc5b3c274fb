"""Fitting: from traces to arms, with what is known of each and what is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.described import Described
from restive.base.errors import refusal
from restive.base.table import Table
from restive.data.reading import traces_of
from restive.data.traces import ArmTrace, Traces
from restive.estimation.chain import ChainEstimate, estimate_chain
from restive.estimation.gap_counts import GapCounts
from restive.estimation.remarks import remarks
from restive.model.bandit import Arm, Bandit
from restive.model.validation import RewardNoise


@dataclass(frozen=True, eq=False)
class ArmFit:
    """One arm as its trace shows it.

    estimate: the chain with standard errors and intervals. rewards: (S,) mean of those earned in
    each state, nan if none is known of the arm; reward_errors: their standard errors.
    """

    trace: ArmTrace
    estimate: ChainEstimate
    rewards: Floats
    reward_errors: Floats
    noise: RewardNoise
    warnings: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.trace.name

    @property
    def labels(self) -> tuple[str, ...]:
        return self.trace.labels

    @property
    def chain(self) -> Floats:
        return self.estimate.chain

    @property
    def sightings(self) -> Ints:
        """How often each state was seen, (S,)."""
        return np.bincount(self.trace.states, minlength=len(self.labels))

    @cached_property
    def arm(self) -> Arm:
        """The arm of a problem; its rewards must be known."""
        for label, mean in zip(self.labels, self.rewards, strict=True):
            if np.isnan(mean):
                message = f"no reward is known of state {label!r} of arm {self.name!r}"
                remedy = (
                    "Give rewards by state (rewards=, --rewards on the command line) or a column."
                )
                raise refusal("rewards", message, "", remedy)
        means = np.clip(self.rewards, 0.0, 1.0)
        return Arm(self.chain, means, name=self.name, states=self.labels, reward_noise=self.noise)


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Described):
    """Arms fitted to traces."""

    arms: tuple[ArmFit, ...]
    traces: Traces
    level: float
    name: str = ""

    @property
    def chains(self) -> tuple[Floats, ...]:
        return tuple(arm.chain for arm in self.arms)

    @property
    def log_likelihood(self) -> float:
        return sum(arm.estimate.log_likelihood for arm in self.arms)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided in reading the data."""
        return self.traces.notes

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the data do not show, arm by arm."""
        return tuple(f"{arm.name}: {words}" for arm in self.arms for words in arm.warnings)

    @cached_property
    def bandit(self) -> Bandit:
        """The problem, to plan or to learn; rewards must be known."""
        return Bandit([arm.arm for arm in self.arms], self.name)

    def table(self) -> Table:
        """One row for each probability, with its interval."""
        rows = [
            (arm.name, arm.labels[s], arm.labels[e], float(arm.chain[s, e]),
             float(arm.estimate.standard_errors[s, e]), float(arm.estimate.lower[s, e]),
             float(arm.estimate.upper[s, e]))
            for arm in self.arms for s in range(len(arm.labels)) for e in range(len(arm.labels))
        ]  # fmt: skip
        heads = ("arm", "state", "next", "probability", "standard_error", "lower", "upper")
        return Table.of_rows(heads, rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, as ``restive fit --json`` prints it."""
        start, end = self.traces.start, self.traces.end
        return {
            "problem": self.name, "source": self.traces.source, "steps": end - start,
            "tick": self.traces.tick, "reward_scale": list(self.traces.scale),
            "level": self.level, "log_likelihood": self.log_likelihood, "notes": list(self.notes),
            "warnings": list(self.warnings), "arms": [_arm_facts(arm) for arm in self.arms],
        }  # fmt: skip

    def _title(self) -> str:
        return f"Fit of {len(self.arms)} arms{f' ({self.name})' if self.name else ''}"

    def _facts(self) -> list[tuple[str, str]]:
        moves = sum(arm.estimate.counts.total for arm in self.arms)
        facts = [("data", repr(self.traces)), ("moves", f"{moves:,.0f}"),
                 ("log likelihood", f"{self.log_likelihood:.2f}")]  # fmt: skip
        shown = [("warning", words) for words in self.warnings[:3]]
        more = len(self.warnings) - len(shown)
        return [*facts, *shown, *([("warnings", f"{more} more")] if more > 0 else [])]


def fit(
    data: Any, *, level: float = 0.95, name: str = "", rng: int | np.random.Generator = 0,
    progress: Callable[[str, int, int], None] | None = None, **reading: Any,
) -> Fit:  # fmt: skip
    """Fit a chain to each arm of ``data``: ``Traces``, or whatever ``read_traces`` takes.

    The likelihood of what was seen at gaps n is that of the power P^n, so logs in which most steps
    are unseen are as welcome as full traces. level: of the intervals. reading: options of
    ``read_traces``. rng: for the starts of the search.

    >>> fitted = fit({"left": [0, 1, 1, None, 0, 0, 1, 0], "right": [1, 1, 0, 0, 1, 1, 1, 0]})
    >>> fitted.bandit.n_arms, fitted.chains[1].round(2).tolist()
    (2, [[0.5, 0.5], [0.4, 0.6]])
    """
    traces = traces_of(data, reading)
    generator = np.random.default_rng(rng)
    arms = []
    for k, trace in enumerate(traces.arms):
        if progress:
            progress(trace.name, k, traces.n_arms)
        arms.append(_fitted(trace, level, generator))
    return Fit(tuple(arms), traces, level, name or _called(traces.source))


def _called(source: str) -> str:
    return Path(source).stem if source and "," not in source else ""


def _fitted(trace: ArmTrace, level: float, rng: np.random.Generator) -> ArmFit:
    counts = GapCounts.of_moves(*trace.moves(), trace.n_states)
    if not counts.total:
        message = f"arm {trace.name!r} is never seen twice in the same piece"
        raise refusal("data", message, "", "Give longer pieces.")
    estimate = estimate_chain(counts, level=level, rng=rng)
    means, errors, noise = _rewards(trace)
    told = remarks(estimate, trace.labels)
    unpaid = np.isnan(means)
    if unpaid.any() and not unpaid.all():
        names = ", ".join(np.array(trace.labels)[unpaid])
        told += (f"No reward is known of {names}: the mean of all others is taken.",)
        means = np.where(unpaid, np.nanmean(trace.rewards), means)
    return ArmFit(trace, estimate, means, errors, noise, told)


def _rewards(trace: ArmTrace) -> tuple[Floats, Floats, RewardNoise]:
    """Mean reward of each state, its standard error, and how rewards scatter."""
    means, errors = np.full(trace.n_states, np.nan), np.full(trace.n_states, np.nan)
    spread = 0.0
    for s in range(trace.n_states):
        paid = trace.rewards[trace.states == s]
        paid = paid[~np.isnan(paid)]
        if len(paid):
            means[s] = paid.mean()
            spread = max(spread, float(np.ptp(paid)))
            errors[s] = paid.std(ddof=1) / np.sqrt(len(paid)) if len(paid) > 1 else 0.0
    if spread < 1e-9:
        return means, np.where(np.isnan(means), np.nan, 0.0), "none"
    known = trace.rewards[~np.isnan(trace.rewards)]
    return means, errors, "bernoulli" if np.isin(known, (0.0, 1.0)).all() else "beta"


def _arm_facts(arm: ArmFit) -> dict[str, Any]:
    estimate = arm.estimate
    gaps, moves = estimate.counts.gaps, estimate.counts.counts.sum(axis=(1, 2))
    return {
        "name": arm.name, "states": list(arm.labels), "sightings": arm.sightings.tolist(),
        "moves": int(estimate.counts.total),
        "gaps": {"shortest": int(gaps[0]), "commonest": int(gaps[moves.argmax()]),
                 "longest": int(gaps[-1]), "divisor": estimate.counts.divisor},
        "transitions": estimate.chain.tolist(),
        "standard_errors": _finite(estimate.standard_errors),
        "lower": estimate.lower.tolist(), "upper": estimate.upper.tolist(),
        "intervals": "profile likelihood" if estimate.profiled else "curvature",
        "twin": None if estimate.twin is None else estimate.twin.tolist(),
        "rewards": _finite(arm.rewards), "reward_errors": _finite(arm.reward_errors),
        "reward_noise": arm.noise, "smoothed": estimate.smoothed,
        "independence_p_value": estimate.dependence, "converged": estimate.converged,
        "log_likelihood": estimate.log_likelihood, "warnings": list(arm.warnings),
    }  # fmt: skip


def _finite(values: Floats) -> Any:
    """Nested lists with None for what JSON has no word for."""
    cells = values.astype(object)
    cells[~np.isfinite(values)] = None
    return cells.tolist()
