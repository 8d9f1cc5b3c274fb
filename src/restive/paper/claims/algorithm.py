"""Algorithm 2 and its extensions, step by step against their text; what exploration costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from restive import theory
from restive.model.bandit import Bandit
from restive.paper import criteria
from restive.paper.chart import ratios_chart
from restive.paper.claim import Claim, Finding, Measurement, Scale, judged, seeded
from restive.paper.estimates import interval
from restive.paper.problems import paired_channel, small_bandit
from restive.paper.recount import exploration, recount
from restive.paper.regret_runs import Setting, unknown
from restive.problems import lower_bound


def _cycles(seed: int) -> Bandit:
    """Cycles of two and of three states: their periods must not be mixed up."""
    return Bandit([lower_bound(2, size, 0.25, rng=seed).arms[size - 2] for size in (2, 3)])


KINDS = {
    "known": Setting(small_bandit, {}, "all inputs known"),
    "horizon": Setting(small_bandit, unknown("horizon"), "T unknown"),
    "mixing": Setting(small_bandit, unknown("mixing"), "mixing times unknown"),
    "states": Setting(small_bandit, unknown("states"), "states unknown"),
    "nothing": Setting(
        small_bandit, unknown("horizon", "mixing", "states", "periods"), "nothing known"
    ),
    "paired": Setting(lambda seed: paired_channel(), {}, "a channel of period 2"),
    "periodic": Setting(_cycles, {}, "cycles of length 2 and 3"),
    "periods": Setting(_cycles, unknown("periods"), "the same, periods unknown"),
}


def measure_recount(cell: tuple[str, int]) -> dict[str, Any]:
    """Episodes of a run, and in how many of them something is not as printed."""
    name, seed = cell
    kind = KINDS[name]
    run = recount(kind.problem(seed), criteria.SETS.steps, seed, kind.options)
    return {"kind": name, "episodes": run.episodes, "differs": run.differs}


RECOUNTS = Measurement("recounts", seeded(20, 2, kinds=KINDS), measure_recount, (0.3, 0.3))


def judge_recount(scale: Scale, results: Sequence[Any]) -> Finding:
    differs: Counter[str] = sum((Counter(run["differs"]) for run in results), Counter())
    episodes = sum(run["episodes"] for run in results)
    wrong = ", ".join(f"{word} ({count} times)" for word, count in sorted(differs.items()))
    kinds = ", ".join(kind.words for kind in KINDS.values())
    return Finding(
        f"{len(results)} runs of {criteria.SETS.steps} steps ({kinds}), recounted from what was "
        "pulled and seen",
        f"{episodes:,} episodes; " + (f"different: {wrong}" if wrong else "all are as printed"),
        "colors, visits, estimates, the radii of eqs (2) and (3), plans and pulls of eq. (4), ends "
        "of episodes, rounds with T = 2^i and delta/2^i and exploration are as printed in every "
        "episode",
        judged(not differs and episodes > 0),
        "Where the text leaves a choice the recount makes the same one: see the deviations of "
        "colored-ucrl2 in the listing of learners.",
        {"episodes": episodes, "differs": dict(differs)},
    )


# --- exploration -----------------------------------------------------------------------------

HORIZON = 10**5


def measure_exploration(seed: int) -> dict[str, float]:
    """Mean length of a phase over sum_j D_j log(3 |S_j|), and phases over C log2(8T/C)."""
    bandit = small_bandit(seed)
    run = exploration(bandit, HORIZON, seed)
    allowed = theory.exploration_cost([arm.diameter for arm in bandit.arms], bandit.n_states)
    caps = theory.color_caps([arm.mixing_time() for arm in bandit.arms], HORIZON)
    most = theory.episodes_bound(HORIZON, theory.n_colors(bandit.n_states, caps))
    most += 1 + sum(bandit.n_states)  # the first phase, and a state that is new ends an episode
    return {"share": float(np.mean(run.steps)) / allowed, "total": sum(run.steps),
            "phases": len(run.steps), "of": len(run.steps) / most,
            "least": min(a / b for a, b in zip(run.steps[1:], run.known[1:], strict=True)),
            }  # fmt: skip


EXPLORATION = Measurement(
    "exploration", seeded(100, 16, first=200), measure_exploration, (0.3, 0.3)
)


def judge_exploration(scale: Scale, results: Sequence[Any]) -> Finding:
    """Mean steps a phase against Section 8, and phases against the bound on episodes."""
    low, high = interval([run["share"] for run in results])
    least, most = min(run["least"] for run in results), max(run["of"] for run in results)
    total, phases = (np.mean([run[key] for run in results]) for key in ("total", "phases"))
    return Finding(
        f"Algorithm 2 on {len(results)} random bandits, states unknown, T = {HORIZON:.0e}",
        f"{total:,.0f} steps of exploration in {phases:,.0f} phases, {most:.2f} of C log2(8T/C) at "
        f"most; a phase takes {(low + high) / 2:.2f} ({low:.2f} to {high:.2f}) of "
        "sum_j D_j log(3 |S_j|) on average",
        "the mean share is surely at most 1; every phase has a step for each known state; phases "
        "number at most C log2(8T/C), one more, and one for each state, in every run",
        judged(high <= 1 and least >= 1 and most <= 1),
        values={"share": [low, high], "phases": float(phases), "steps": float(total)},
        figure=ratios_chart(
            "mean steps of a phase / sum_j D_j log(3 |S_j|)",
            {"bandits": [run["share"] for run in results]},
            what="bandits",
        ),
    )


CLAIMS = (
    Claim("algorithm-2", "Section 5, Algorithms 1 and 2; Sections 7 and 8",
          "Algorithm 2 and its extensions count, estimate, plan and end episodes as printed.",
          RECOUNTS, judge_recount,
          notices=("radii-0.3", "radii-3", "log-argument", "epsilon-missing", "episodes-long",
                   "episodes-short", "caps-halved", "delta-not-shared", "rounds-not-forgotten",
                   "rounds-too-long", "periods-ignored", "lcm-missing", "exploration-missing",
                   "wrong-age", "wrong-arm", "estimates-smoothed", "rewards-diluted",
                   "ages-capped-at-1", "guess-constant", "states-ignored",
                   "reward-radius-missing", "mixing-time-halved", "mixing-time-is-diameter",
                   "log-base-2", "support-2", "colors-off-by-K", "time-not-reset", "guess-late",
                   "mixing-to-a-half", "caps-of-neighbours", "periods-of-neighbours",
                   "loop-out-of-phase", "exploration-uncounted", "discovery-kept",
                   "tolerance-loose", "pessimism", "plan-of-last-episode", "policy-ages-late",
                   "any-color-ends")),
    Claim("exploration-cost", "Section 8, Unknown state space",
          "Exploration between episodes takes O(log T) steps: D log(3 |S|) an arm and phase.",
          EXPLORATION, judge_exploration,
          notices=("exploration-missing", "exploration-endless", "cover-constant")),
)  # fmt: skip
