"""Theorem 4 and the appendix by simulation: the bound, the confidence sets, episodes, optimism."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from restive import theory
from restive.learners.paper.colored_ucrl2 import ColoredUCRL2
from restive.mdp.structured import Parameters, StructuredMDP
from restive.paper import criteria
from restive.paper.audits import Audited, audit_bandit, audit_mdp
from restive.paper.claim import Claim, Finding, Measurement, Scale, judged
from restive.paper.estimates import most_failures
from restive.paper.random_problems import small_mdp
from restive.planning.diameter import diameter
from restive.simulation import StructuredWorld, play

__all__ = ["CLAIMS", "pairs_of"]


def pairs_of(world: StructuredWorld) -> tuple[StructuredMDP, Parameters]:
    """The same MDP with a color for each pair, and its true parameters."""
    states, actions, outcomes = world.laws.shape
    colors = np.arange(states * actions).reshape(states, actions)
    truth = Parameters(world.rewards.reshape(-1), world.laws.reshape(-1, outcomes))
    return StructuredMDP(colors, world.mdp.successors), truth


# --- Theorem 4 -------------------------------------------------------------------------------


def _theorem_4(scale: Scale) -> Sequence[tuple[int, int]]:
    return [(seed, scale.size(5 * 10**7, 10**7)) for seed in range(scale.size(24, 12))]


def measure_regret(cell: tuple[int, int]) -> dict[str, Any]:
    """Regret of colored UCRL2 on a small MDP, and Theorem 4's bound with the true diameter.

    Every other MDP has eps > 0. In those with eps = 0 the first color is known to the learner.
    """
    seed, horizon = cell
    spread = 0.0005 if seed % 2 else 0.0
    world = small_mdp(seed, states=4, colors=3, outcomes=2, spread=spread)
    known = np.zeros(world.mdp.n_colors, dtype=bool)
    options: dict[str, Any] = {}
    if spread == 0:
        known[0] = True
        options = {"known": known, "parameters": _per_color(world)}
    learner = ColoredUCRL2(world.mdp, delta=criteria.DELTA, epsilon=world.epsilon, **options)
    run = play(learner, world, horizon)
    assert run.regret is not None
    unknown = int((~known).sum())
    size = diameter(*pairs_of(world)).upper
    bound = theory.regret_bound(size, 2, unknown, horizon, criteria.DELTA, world.epsilon)
    return {"regret": float(run.regret[-1]), "bound": bound, "horizon": horizon,
            "diameter": size, "epsilon": world.epsilon}  # fmt: skip


def _per_color(world: StructuredWorld) -> Parameters:
    """Parameters of each color, for a world in which pairs of one color are equal."""
    where = [np.argwhere(world.mdp.colors == c)[0] for c in range(world.mdp.n_colors)]
    rows, actions = np.array(where).T
    return Parameters(world.rewards[rows, actions], world.laws[rows, actions])


THEOREM_4 = Measurement("theorem-4", _theorem_4, measure_regret, (3.0, 0.6))


def judge_theorem_4(scale: Scale, results: Sequence[Any]) -> Finding:
    worst = max(run["regret"] / run["bound"] for run in results)
    informative = sum(run["bound"] < run["horizon"] for run in results)
    over = sum(run["regret"] > run["bound"] for run in results)
    return Finding(
        f"{len(results)} random MDPs of 4 states, 2 actions and 3 colors, half of them with eps > "
        f"0, half with a known color; T = {results[0]['horizon']:.0e}, true diameters",
        f"{over} runs above the bound; largest regret / bound {worst:.2g}; the bound is below T in "
        f"{informative} runs",
        "regret is below the bound in every run",
        judged(over == 0),
        "",
        {"largest": worst, "above": over, "meaningful": informative},
    )


# --- sets, optimism, episodes ----------------------------------------------------------------


def _audits(scale: Scale) -> Sequence[tuple[str, int]]:
    return [(kind, seed) for kind in ("bandit", "mdp") for seed in range(scale.size(300, 40))]


def measure_audit(cell: tuple[str, int]) -> Audited:
    kind, seed = cell
    steps = criteria.SETS.steps
    return audit_bandit(seed, steps) if kind == "bandit" else audit_mdp(seed, steps)


AUDITS = Measurement("audits", _audits, measure_audit, (0.1, 0.1))


def _ran(results: Sequence[Audited]) -> str:
    return (
        f"{len(results)} runs of {criteria.SETS.steps} steps on random bandits and eps-structured "
        "MDPs, sets compared with the truth at every episode"
    )


def judge_sets(scale: Scale, results: Sequence[Audited]) -> Finding:
    failures = sum(not audit.held for audit in results)
    allowed = most_failures(len(results), criteria.DELTA, criteria.ALPHA)
    closest = max(audit.closest for audit in results)
    return Finding(
        _ran(results),
        f"the truth left the sets in {failures} runs; it came as far as {closest:.2f} of a radius",
        f"in at most {allowed} runs, which delta = {criteria.DELTA:g} explains",
        judged(failures <= allowed),
        "The sets of eqs (2) and (3) are several times wider than they need to be.",
        {"failures": failures, "allowed": allowed, "closest": closest},
    )


def judge_optimism(scale: Scale, results: Sequence[Audited]) -> Finding:
    margin = min(audit.margin for audit in results)
    return Finding(
        _ran(results),
        f"least advantage of the optimistic gain {margin:.4f}",
        "at least 0 while the sets hold the truth",
        judged(margin >= -criteria.SETS.rounding),
        "",
        {"margin": margin},
    )


def judge_episodes(scale: Scale, results: Sequence[Audited]) -> Finding:
    share = max(audit.episodes / audit.allowed for audit in results)
    return Finding(
        _ran(results),
        f"largest share of the bound {share:.2f}",
        "at most C log2(8T/C) episodes in every run",
        judged(share <= 1),
        "",
        {"largest": share},
    )


_SETS = partial(Claim, place="Appendix, Failing Confidence Intervals", measurement=AUDITS)
CLAIMS = (
    Claim("theorem-4", "Section 6, Theorem 4",
          "Regret is at most 42 D_eps sqrt(B C_U T log(T/delta)) + eps (D_eps + 2) T.",
          THEOREM_4, judge_theorem_4),
    _SETS(name="confidence-sets", judge=judge_sets,
          statement="The sets of eqs (2) and (3) hold the truth with probability 1 - delta."),
    Claim("optimism", "Section 5, eq. (4)",
          "The optimistic average reward is at least rho* while the sets hold the truth.",
          AUDITS, judge_optimism),
    Claim("episodes", "Appendix, The True Transition Matrix",
          "There are at most C log2(8T/C) episodes.", AUDITS, judge_episodes),
)  # fmt: skip
