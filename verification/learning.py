"""Learning: confidence sets that hold the truth, few episodes, optimism; and how regret grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from restive.learners.tied.optimism import TiedOptimism
from restive.paper.audits import Audited, audit_bandit, audit_mdp
from restive.paper.criteria import DELTA
from restive.paper.estimates import most_failures
from restive.paper.problems import small_bandit, small_mdp
from verification import Check, Finding, Settings, judge
from verification.audits import AuditedTied
from verification.growth import check_extensions, check_lower_bound, check_slope, spread

__all__ = ["CHECKS", "Audited", "most_failures", "small_bandit", "small_mdp"]

STEPS = 3000


def run_published(seed: int) -> Audited:
    return audit_bandit(seed, STEPS)


def run_tied(seed: int) -> Audited:
    return audit_bandit(seed, STEPS, AuditedTied, TiedOptimism)


def run_mdp(seed: int) -> Audited:
    return audit_mdp(seed, STEPS)


def _coverage(
    name: str, run: Callable[[int], Audited], settings: Settings, doubling: bool = True
) -> Iterator[Finding]:
    runs = spread(run, range(settings.size(1000, 40)))
    yield held(name, runs)
    yield optimistic(name, runs)
    if doubling:
        yield few_episodes(name, runs)


def held(name: str, runs: Sequence[Audited]) -> Finding:
    """The truth leaves the sets in no more runs than delta explains."""
    failures = sum(not audit.held for audit in runs)
    closest = np.array([audit.closest for audit in runs if audit.held])
    allowed = most_failures(len(runs))
    return Finding(
        f"coverage: {name}",
        f"the truth leaves the sets (delta {DELTA}, {STEPS} steps) in few of {len(runs)} runs",
        f"{failures} runs; in the others the truth came as far as {np.median(closest):.2f} of a "
        f"radius (median), {closest.max(initial=0):.2f} (largest)",
        f"0, {allowed}",
        judge(failures <= allowed),
    )


def optimistic(name: str, runs: Sequence[Audited]) -> Finding:
    """While the sets hold the truth, the optimistic gain is at least rho*."""
    margin = min(audit.margin for audit in runs)
    return Finding(
        f"optimism: {name}",
        "the optimistic gain is at least rho* while the sets hold the truth",
        f"least advantage {margin:.4f}",
        "0, 1",
        judge(margin >= -1e-9),
    )


def few_episodes(name: str, runs: Sequence[Audited]) -> Finding:
    """Episodes stay below C log2(8T/C)."""
    share = max(audit.episodes / audit.allowed for audit in runs)
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
