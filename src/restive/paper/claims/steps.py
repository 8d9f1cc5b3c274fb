"""Steps of the appendix that a run can be held against, and its sum with what the run saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import log, sqrt
from typing import Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.learners.episodes import EpisodicLearner
from restive.learners.paper.colored_ucrl2 import ColoredUCRL2
from restive.learners.paper.inputs import Inputs
from restive.learners.paper.restless import RestlessLearner
from restive.paper import criteria
from restive.paper.chart import ratios_chart
from restive.paper.claim import Claim, Finding, Measurement, Scale, judged, ratios_finding
from restive.paper.claims.colored import pairs_of
from restive.paper.plans import plan_width
from restive.paper.printed import published_radii
from restive.paper.random_problems import color_parameters, small_mdp
from restive.paper.telling_problems import COIN, ladder, paying_coin
from restive.planning import plan
from restive.planning.diameter import bandit_diameter, diameter
from restive.simulation import BanditWorld, play


@dataclass(frozen=True, eq=False)
class Episode:
    """The start of an episode: t_k, visits N_k of every color, the span of the values planned."""

    t: int
    visits: Ints
    span: float


class _Watched(EpisodicLearner):
    """Writes down how its episodes begin."""

    seen: list[Episode]

    def _begin(self) -> None:
        super()._begin()
        values = _reached(self)
        span = float(values.max() - values.min())
        self.seen.append(Episode(self.t, self.counts.visits.copy(), span))


class WatchedMDP(_Watched, ColoredUCRL2):
    """Colored UCRL2 that writes down how its episodes begin."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.seen = []
        super().__init__(*arguments, **options)


class WatchedBandit(_Watched, RestlessLearner):
    """The same for Algorithm 2, which also checks that plans are optimistic to 1/sqrt(t_k)."""

    def __init__(self, inputs: Inputs) -> None:
        self.seen, self.width, self.moved = [], 0.0, 2.0
        super().__init__(inputs)

    def _begin(self) -> None:
        super()._begin()
        self.width = max(self.width, plan_width(self) * sqrt(self.t))
        radii = self.planner.parameters.radii[self.supports > 1]
        self.moved = min(self.moved, float(radii.min()))


def _reached(learner: Any) -> Floats:
    """Values of the states there are; the planner's arrays have some room to spare."""
    rep, values = learner.structure, learner.planner.values
    if isinstance(learner, ColoredUCRL2):
        return np.asarray(values)
    return np.concatenate([rep.block(values, last).ravel() for last in range(rep.n_arms)])


def visit_sum(seen: Sequence[Episode], last: Ints) -> float:
    """Largest of sum_k v_k(c)/sqrt(N'_k(c)) over (sqrt 2 + 1) sqrt(N(c)), N(c) in the end.

    Summed over the colors this is the appendix's (sqrt 2 + 1) sqrt(C T), by Jensen.
    """
    visits = np.array([episode.visits for episode in seen] + [last], dtype=np.float64)
    total = (np.diff(visits, axis=0) / np.sqrt(np.maximum(1.0, visits[:-1]))).sum(axis=0)
    many = last > 0
    return float((total[many] / ((sqrt(2) + 1) * np.sqrt(last[many]))).max())


def run_sum(
    seen: Sequence[Episode], last: Ints, supports: Ints, known: Any, epsilon: float, horizon: int
) -> float:
    """The sum that Theorem 4 simplifies, with visits and spans of the run in place of their bounds.

    A step in episode k at color c costs at most 1, and at most 2 r_k(c) + span(u_k) min(1, p_k(c))
    + 1/sqrt(t_k): the radii of eqs (2) and (3), nothing for where a single outcome leads, nothing
    for a known color, and the accuracy of planning. Episodes, noise and transitions are as in the
    appendix, spans in place of D.
    """
    unknown = np.ones(len(last), dtype=bool) if known is None else ~known
    support, colors = int(supports.max()), int(unknown.sum())
    visits = [episode.visits for episode in seen] + [last]
    total = 0.0
    for k, episode in enumerate(seen):
        paid, laws = published_radii(episode.visits, episode.t, colors, support, criteria.DELTA,
                                     epsilon)  # fmt: skip
        laws = np.where(supports > 1, laws, 0.0)
        cost = 2 * paid + episode.span * np.minimum(1.0, laws)
        cost = np.where(unknown, cost, 0.0) + 1 / sqrt(episode.t)
        total += float(((visits[k + 1] - episode.visits) * np.minimum(1.0, cost)).sum())
    chance, span = log(8 * horizon / criteria.DELTA), max(episode.span for episode in seen)
    noise = sqrt(5 / 8 * horizon * chance) + sqrt(horizon) + span * sqrt(5 / 2 * horizon * chance)
    return total + sum(episode.span for episode in seen) + noise


# --- colored UCRL2 ---------------------------------------------------------------------------


def _mdps(scale: Scale) -> Sequence[tuple[int, int]]:
    return [
        (seed, scale.size(3 * 10**7, 3 * 10**6)) for seed in range(300, 300 + scale.size(24, 10))
    ]


def measure_mdp(cell: tuple[int, int]) -> dict[str, float]:
    """A run on a random MDP with a known color, or on a ladder: regret, its own sum, spans."""
    seed, horizon = cell
    known = seed % 2 == 0
    world = small_mdp(seed, states=4, colors=3, outcomes=2, spread=0.0) if known else ladder(seed)
    options: dict[str, Any] = {}
    if known:
        options = {"known": np.arange(3) == 0, "parameters": color_parameters(world)}
    learner = WatchedMDP(world.mdp, delta=criteria.DELTA, epsilon=world.epsilon, **options)
    run = play(learner, world, horizon)
    assert run.regret is not None
    reach = diameter(*pairs_of(world)).upper
    last = learner.counts.visits
    unknown = ~learner.known if learner.known is not None else last >= 0
    seen = [Episode(e.t, e.visits[unknown], e.span) for e in learner.seen]
    return {
        "regret": float(run.regret[-1]), "horizon": horizon,
        "sum": run_sum(learner.seen, last, learner.supports, learner.known, world.epsilon, horizon),
        "visits": visit_sum(seen, last[unknown]),
        "span": max(e.span / (reach * (1 + 1 / sqrt(e.t))) for e in learner.seen),
    }  # fmt: skip


MDPS = Measurement("steps", _mdps, measure_mdp, (1.0, 0.2))


# --- Algorithm 2 -----------------------------------------------------------------------------


def _bandits(scale: Scale) -> Sequence[tuple[int, int]]:
    return [(seed, 3 * 10**7) for seed in range(300, 300 + scale.size(10, 3))]


def measure_bandit(cell: tuple[int, int]) -> dict[str, float]:
    """The same for Algorithm 2 on Example 3 with its coin at 0.6."""
    seed, horizon = cell
    bandit = paying_coin()
    learner = WatchedBandit(Inputs.of(bandit, horizon, criteria.DELTA))
    run = play(learner, BanditWorld(bandit, seed), horizon, plan=plan(bandit, 1e-6))
    assert run.regret is not None
    last = learner.counts.visits
    total = run_sum(learner.seen, last, learner.supports, None, horizon**-0.5, horizon)
    reach = bandit_diameter(bandit, learner.round.caps, tolerance=1e-3).upper
    return {"regret": float(run.regret[-1]), "sum": total, "horizon": horizon,
            "visits": visit_sum(learner.seen, last), "width": learner.width,
            "radius": learner.moved,
            "span": max(e.span / (reach * (1 + 1 / sqrt(e.t))) for e in learner.seen)}  # fmt: skip


BANDITS = Measurement("run sums", _bandits, measure_bandit, (3.0, 3.0))


# --- verdicts --------------------------------------------------------------------------------


def judge_sum(words: str, scale: Scale, results: Sequence[Any]) -> Finding:
    """No run above its own sum, and where the sum is below T it says something."""
    worst = max(run["regret"] / run["sum"] for run in results)
    far = max(run["sum"] / run["horizon"] for run in results)
    over = sum(run["regret"] > run["sum"] for run in results)
    return Finding(
        f"{words}, {len(results)} runs, T = {results[0]['horizon']:.0e}",
        f"{over} runs above their sum; largest regret / sum {worst:.2g}; the sum is {far:.2g} T at "
        "most",
        "regret is below the sum in every run, and every sum is below T",
        judged(over == 0 and far < 1),
        f"A learner fails here if it loses {far:.2g} a step in the run with the largest sum; the "
        f"one here would have to lose {1 / worst:.0f} times what it does.",
        {"largest": worst, "above": over, "sum_over_T": far},
        ratios_chart("regret / sum", {"runs": [r["regret"] / r["sum"] for r in results]},
                     what="runs"),
    )  # fmt: skip


def judge_plans(scale: Scale, results: Sequence[Any]) -> Finding:
    """The policy is greedy for these values, which the claim algorithm-2 looks at."""
    worst, least = (pick(run[key] for run in results)
                    for pick, key in ((max, "width"), (min, "radius")))  # fmt: skip
    return Finding(
        f"Algorithm 2 on {COIN}, {len(results)} runs, T = {results[0]['horizon']:.0e}, every plan "
        "swept once more over all information states",
        f"the gain is known to {worst:.3f} / sqrt(t_k); the narrowest set has radius {least:.2g}",
        "extended value iteration over the printed sets, written down apart, bounds the optimistic "
        "gain to 1 / sqrt(t_k) in every episode, and some set has radius below 1",
        judged(worst <= 1 + criteria.SETS.rounding and least < 1),
        "",
        {"width": worst, "radius": least},
        ratios_chart("width of the gain's bounds times sqrt(t_k), the largest of each run",
                     {"runs": [run["width"] for run in results]}, what="runs"),
    )  # fmt: skip


def judge_visits(scale: Scale, results: Sequence[Any]) -> Finding:
    return ratios_finding(
        f"{len(results)} runs of colored UCRL2 on random MDPs and ladders",
        "largest sum / ((sqrt 2 + 1) sqrt(N(c))) of a color {:.3f}",
        "at most 1 for every color of every run, which adds up to (sqrt 2 + 1) sqrt(C T)",
        "sum / ((sqrt 2 + 1) sqrt(N(c))), the largest of each run",
        {"runs": [run["visits"] for run in results]}, most=criteria.APPENDIX.most, what="runs",
    )  # fmt: skip


def judge_span(scale: Scale, results: Sequence[Any]) -> Finding:
    return ratios_finding(
        f"{len(results)} runs of colored UCRL2 on random MDPs and ladders, true diameters",
        "largest span / D {:.3f}",
        "at most 1 + 1/sqrt(t_k), the accuracy to which values are planned, in every episode",
        "span / (D (1 + 1/sqrt(t_k))), the largest of each run",
        {"runs": [run["span"] for run in results]}, most=criteria.APPENDIX.most, what="runs",
    )  # fmt: skip


CLAIMS = (
    Claim("theorem-2-run", "Section 4, Theorem 2; Appendix",
          "Regret is below the sum of confidence terms of the run itself.", BANDITS,
          partial(judge_sum, f"Algorithm 2 on {COIN}"), notices=("myopic", "worst-arm")),
    Claim("plans", "Section 5, eq. (4)",
          "Every plan is optimal for the most favourable model in the sets.", BANDITS, judge_plans,
          notices=("mass-not-halved", "planning-stopped", "plan-of-last-episode", "pessimism")),
    Claim("theorem-4-run", "Section 6, Theorem 4; Appendix",
          "Regret is below the sum of confidence terms of the run itself.", MDPS,
          partial(judge_sum, "colored UCRL2 on random MDPs with a known color, and on ladders that "
                  "only planning climbs"),
          notices=("myopic", "worst-arm")),
    Claim("appendix-visits", "Appendix, Summing over Episodes",
          "sum_c sum_k v_k(c)/sqrt(N_k(c)) <= (sqrt 2 + 1) sqrt(C T).", MDPS, judge_visits,
          notices=("episodes-long",)),
    Claim("appendix-span", "Appendix, Episodes with M in M_k",
          "Values planned with span at most D_eps.", MDPS, judge_span,
          notices=("rewards-not-clipped",)),
)  # fmt: skip
