"""Steps of the appendix that a run can be held against, and its sum with what the run saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import log, sqrt
from typing import Any

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.learners.episodes import EpisodicLearner
from restive.learners.paper.colored_ucrl2 import ColoredUCRL2
from restive.learners.paper.inputs import Inputs
from restive.learners.paper.restless import RestlessLearner
from restive.paper import criteria
from restive.paper.chart import ratios_chart
from restive.paper.claim import Claim, Finding, Measurement, Scale, judged, ratios_finding, seeded
from restive.paper.claims.colored import pairs_of
from restive.paper.problems import COIN, first_color, ladder, paying_coin, small_mdp
from restive.paper.published_formulas import plan_width, published_radii
from restive.planning import plan
from restive.planning.diameter import bandit_diameter, diameter
from restive.simulation import BanditWorld, Run, play


@dataclass(frozen=True, eq=False)
class Episode:
    """The start of an episode: t_k, visits N_k of every color, the span of the values planned."""

    t: int
    visits: Ints
    span: float


class _Watched(EpisodicLearner):
    """Writes down how its episodes begin."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.seen: list[Episode] = []
        super().__init__(*arguments, **options)

    def _begin(self) -> None:
        super()._begin()
        span = float(np.ptp(_reached(self)))
        self.seen.append(Episode(self.t, self.counts.visits.copy(), span))

    def facts(self, run: Run, known: Bools | None, epsilon: float, reach: float) -> dict[str, Any]:
        """Regret of the run, its own sum, and how far visits and spans come up to their bounds.

        reach: the diameter.
        """
        assert run.regret is not None
        last = self.counts.visits
        unknown = np.ones(len(last), dtype=bool) if known is None else ~known
        return {
            "regret": float(run.regret[-1]), "horizon": run.horizon,
            "sum": run_sum(self.seen, last, self.supports, unknown, epsilon, run.horizon),
            "visits": visit_sum([e.visits[unknown] for e in self.seen], last[unknown]),
            "span": max(e.span / (reach * (1 + 1 / sqrt(e.t))) for e in self.seen),
        }  # fmt: skip


class WatchedMDP(_Watched, ColoredUCRL2):
    """Colored UCRL2 that writes down how its episodes begin."""


class WatchedBandit(_Watched, RestlessLearner):
    """The same for Algorithm 2, which also checks that plans are optimistic to 1/sqrt(t_k)."""

    width, moved = 0.0, 2.0

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


def visit_sum(before: Sequence[Ints], last: Ints) -> float:
    """Largest of sum_k v_k(c)/sqrt(N'_k(c)) over (sqrt 2 + 1) sqrt(N(c)), N(c) in the end.

    before: N_k, visits before each episode. Summed over the colors this is the appendix's
    (sqrt 2 + 1) sqrt(C T), by Jensen.
    """
    visits = np.array([*before, last], dtype=np.float64)
    total = (np.diff(visits, axis=0) / np.sqrt(np.maximum(1.0, visits[:-1]))).sum(axis=0)
    many = last > 0
    return float((total[many] / ((sqrt(2) + 1) * np.sqrt(last[many]))).max())


def run_sum(
    seen: Sequence[Episode], last: Ints, supports: Ints, unknown: Bools, epsilon: float,
    horizon: int,
) -> float:  # fmt: skip
    """The sum that Theorem 4 simplifies, with visits and spans of the run in place of their bounds.

    A step in episode k at color c costs at most 1, and at most 2 r_k(c) + span(u_k) min(1, p_k(c))
    + 1/sqrt(t_k): the radii of eqs (2) and (3), nothing for where a single outcome leads, nothing
    for a known color, and the accuracy of planning. Episodes, noise and transitions are as in the
    appendix, spans in place of D.
    """
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


# --- runs ------------------------------------------------------------------------------------


def measure_mdp(cell: tuple[int, int]) -> dict[str, Any]:
    """Colored UCRL2 on a random MDP with a known color, or on a ladder."""
    horizon, seed = cell
    known = seed % 2 == 0
    world = small_mdp(seed, states=4, colors=3, outcomes=2, spread=0.0) if known else ladder(seed)
    told = first_color(world) if known else {}
    learner = WatchedMDP(world.mdp, delta=criteria.DELTA, epsilon=world.epsilon, **told)
    run = play(learner, world, horizon)
    return learner.facts(run, learner.known, world.epsilon, diameter(*pairs_of(world)).upper)


MDPS = Measurement(
    "steps", seeded(24, 10, first=300, steps=(3 * 10**7, 3 * 10**6)), measure_mdp, (1.0, 0.2)
)


def measure_bandit(cell: tuple[int, int]) -> dict[str, Any]:
    """The same for Algorithm 2 on Example 3 with its coin at 0.6."""
    horizon, seed = cell
    bandit = paying_coin()
    learner = WatchedBandit(Inputs.of(bandit, horizon, criteria.DELTA))
    run = play(learner, BanditWorld(bandit, seed), horizon, plan=plan(bandit, 1e-6))
    reach = bandit_diameter(bandit, learner.round.caps, tolerance=1e-3).upper
    facts = learner.facts(run, None, horizon**-0.5, reach)
    return facts | {"width": learner.width, "radius": learner.moved}


BANDITS = Measurement(
    "run sums", seeded(10, 3, first=300, steps=(3 * 10**7,) * 2), measure_bandit, (3.0, 3.0)
)


# --- verdicts --------------------------------------------------------------------------------


def judge_sum(words: str, scale: Scale, results: Sequence[Any]) -> Finding:
    """No run above its own sum, and where the sum is below T it says something."""
    ratios = [run["regret"] / run["sum"] for run in results]
    worst = max(ratios)
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
        ratios_chart("regret / sum", {"runs": ratios}, what="runs"),
    )


def judge_plans(scale: Scale, results: Sequence[Any]) -> Finding:
    """The policy is greedy for these values, which the claim algorithm-2 looks at."""
    widths = [run["width"] for run in results]
    worst, least = max(widths), min(run["radius"] for run in results)
    return Finding(
        f"Algorithm 2 on {COIN}, {len(results)} runs, T = {results[0]['horizon']:.0e}, every plan "
        "swept once more over all information states",
        f"the gain is known to {worst:.3f} / sqrt(t_k); the narrowest set has radius {least:.2g}",
        "extended value iteration over the printed sets, written down apart, bounds the optimistic "
        "gain to 1 / sqrt(t_k) in every episode, and some set has radius below 1",
        judged(worst <= 1 + criteria.ROUNDING and least < 1),
        values={"width": worst, "radius": least},
        figure=ratios_chart("width of the gain's bounds times sqrt(t_k), the largest of each run",
                            {"runs": widths}, what="runs"),
    )  # fmt: skip


def judge_ratio(
    key: str, more: str, number: str, criterion: str, title: str, scale: Scale,
    results: Sequence[Any],
) -> Finding:  # fmt: skip
    """No run of an MDP above 1 in a ratio; more: what else was run for it."""
    ran = f"{len(results)} runs of colored UCRL2 on random MDPs and ladders{more}"
    ratios = {"runs": [run[key] for run in results]}
    return ratios_finding(ran, number, criterion, title, ratios, what="runs")


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
          "sum_c sum_k v_k(c)/sqrt(N_k(c)) <= (sqrt 2 + 1) sqrt(C T).", MDPS,
          partial(judge_ratio, "visits", "",
                  "largest sum / ((sqrt 2 + 1) sqrt(N(c))) of a color {:.3f}",
                  "at most 1 for every color of every run, which adds up to (sqrt 2 + 1) sqrt(C T)",
                  "sum / ((sqrt 2 + 1) sqrt(N(c))), the largest of each run"),
          notices=("episodes-long",)),
    Claim("appendix-span", "Appendix, Episodes with M in M_k",
          "Values planned with span at most D_eps.", MDPS,
          partial(judge_ratio, "span", ", true diameters", "largest span / D {:.3f}",
                  "at most 1 + 1/sqrt(t_k), the accuracy to which values are planned, in every "
                  "episode", "span / (D (1 + 1/sqrt(t_k))), the largest of each run"),
          notices=("rewards-not-clipped",)),
)  # fmt: skip
