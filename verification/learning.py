"""Learning: confidence sets that hold the truth, few episodes, optimism; and how regret grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from restive.bandit import Bandit
from restive.learners.builders import restless_inputs
from restive.learners.restless import COLORED_UCRL2
from restive.learners.tied_optimism import TIED_OPTIMISM
from restive.planning import plan
from restive.problems import random_problem
from restive.simulation import BanditWorld, StructuredWorld, play
from restive.structured import StructuredMDP
from restive.theory import episodes_bound
from verification import ALPHA, Check, Finding, Settings, judge
from verification.audits import AuditedMDP, AuditedPublished, AuditedTied
from verification.growth import check_extensions, check_lower_bound, check_slope, spread

__all__ = ["CHECKS", "most_failures"]

DELTA = 0.05
STEPS = 3000


@dataclass(frozen=True)
class Audited:
    """One run: did the sets hold all the time, how close was it, episodes, optimism."""

    held: bool
    closest: float
    margin: float
    episodes: int
    allowed: float


def most_failures(runs: int, delta: float = DELTA, alpha: float = ALPHA) -> int:
    """Failures that runs with failure probability delta exceed with probability alpha at most.

    >>> most_failures(1000)
    77
    """
    return int(binom.isf(alpha, runs, delta))


def small_bandit(seed: int) -> Bandit:
    """Two arms of two and three states with noisy rewards, another bandit for every seed."""
    return random_problem(2, [2, 3], np.random.default_rng([seed, 17]), reward_noise="bernoulli")


def small_mdp(seed: int) -> StructuredWorld:
    """Six states, two actions, four colors, three outcomes; pairs of a color differ by up to 0.1.

    Every outcome is possible and the first leads to the next state, so all states communicate.
    """
    rng = np.random.default_rng([seed, 23])
    states, actions, outcomes, colors = 6, 2, 3, 4
    coloring = rng.integers(0, colors, (states, actions))
    coloring.ravel()[:colors] = np.arange(colors)
    successors = np.empty((states, actions, outcomes), dtype=np.int64)
    for s, a in np.ndindex(states, actions):
        others = rng.permutation([y for y in range(states) if y != (s + 1) % states])
        successors[s, a] = [(s + 1) % states, *others[: outcomes - 1]]
    laws = rng.dirichlet(np.ones(outcomes), colors)[coloring]
    laws = 0.95 * laws + 0.05 * rng.dirichlet(np.ones(outcomes), (states, actions))
    means = 0.95 * rng.random(colors)[coloring] + 0.05 * rng.random((states, actions))
    return StructuredWorld(StructuredMDP(coloring, successors), laws, means, seed)


def run_published(seed: int) -> Audited:
    return _run_bandit(seed, AuditedPublished, COLORED_UCRL2)


def run_tied(seed: int) -> Audited:
    return _run_bandit(seed, AuditedTied, TIED_OPTIMISM)


def _run_bandit(seed: int, kind: type[AuditedPublished], method: Any) -> Audited:
    bandit = small_bandit(seed)
    gain = plan(bandit, 1e-5).gain_lower
    learner = kind(restless_inputs(bandit, STEPS, DELTA), method, bandit, gain)
    run = play(learner, BanditWorld(bandit, seed), STEPS)
    learner.finish()
    return _summary(learner, run.replans, learner.representation.n_colors)


def run_mdp(seed: int) -> Audited:
    world = small_mdp(seed)
    learner = AuditedMDP(world, delta=DELTA)
    run = play(learner, world, STEPS)
    learner.finish()
    return _summary(learner, run.replans, world.mdp.n_colors)


def _summary(learner: Any, episodes: int, colors: int) -> Audited:
    audit = learner.audit
    return Audited(audit.held, audit.closest, audit.margin, episodes, episodes_bound(STEPS, colors))


def _coverage(
    name: str, run: Callable[[int], Audited], settings: Settings, doubling: bool = True
) -> Iterator[Finding]:
    found = spread(run, range(settings.size(1000, 40)))
    yield held(name, found)
    yield optimistic(name, found)
    if doubling:
        yield few_episodes(name, found)


def held(name: str, found: Sequence[Audited]) -> Finding:
    """The truth leaves the sets in no more runs than delta explains."""
    failures = sum(not one.held for one in found)
    closest = np.array([one.closest for one in found if one.held])
    allowed = most_failures(len(found))
    return Finding(
        f"coverage: {name}",
        f"the truth leaves the sets (delta {DELTA}, {STEPS} steps) in few of {len(found)} runs",
        f"{failures} runs; in the others the truth came as far as {np.median(closest):.2f} of a "
        f"radius (median), {closest.max(initial=0):.2f} (largest)",
        f"0, {allowed}",
        judge(failures <= allowed),
    )


def optimistic(name: str, found: Sequence[Audited]) -> Finding:
    """While the sets hold the truth, the optimistic gain is at least rho*."""
    margin = min(one.margin for one in found)
    return Finding(
        f"optimism: {name}",
        "the optimistic gain is at least rho* while the sets hold the truth",
        f"least advantage {margin:.4f}",
        "0, 1",
        judge(margin >= -1e-9),
    )


def few_episodes(name: str, found: Sequence[Audited]) -> Finding:
    """Episodes stay below C log2(8T/C)."""
    share = max(one.episodes / one.allowed for one in found)
    return Finding(
        f"episodes: {name}",
        "episodes number at most C log2(8T/C) in every run",
        f"largest share of the bound {share:.2f}",
        "0, 1",
        judge(share <= 1),
    )


def check_coverage(settings: Settings) -> Iterator[Finding]:
    """Published sets on bandits and on structured MDPs with eps > 0, and tied sets on bandits."""
    yield from _coverage("colored-ucrl2", run_published, settings)
    yield from _coverage("structured MDP", run_mdp, settings)
    yield from _coverage("tied-ucrl", run_tied, settings, doubling=False)


CHECKS: dict[str, Check] = {
    "coverage": check_coverage,
    "slope": check_slope,
    "extensions": check_extensions,
    "lower-bound": check_lower_bound,
}
