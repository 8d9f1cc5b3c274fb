"""Remark 3: colored UCRL2 without colors is UCRL2, and for eps = 0 regret grows like log T."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from restive import theory
from restive.base.arrays import Floats
from restive.learners.paper.colored_ucrl2 import ColoredUCRL2, StructuredLearner
from restive.learners.paper.rules import Optimism
from restive.mdp.solver import solve
from restive.mdp.structured import StructuredMDP
from restive.paper import criteria
from restive.paper.chart import Chart, points_chart
from restive.paper.claim import Claim, Finding, Measurement, Scale, Verdict, judged, seeded
from restive.paper.claims.colored import pairs_of
from restive.paper.estimates import interval
from restive.paper.problems import small_mdp
from restive.paper.published_formulas import favoured, published_radii
from restive.simulation import StructuredWorld

PROBLEMS = 4  # on which logarithmic growth is measured
CLOSE = 1e-6  # actions whose optimistic values are this close are equally good


class PlainUCRL2:
    """UCRL2 from its own paper (Jaksch, Ortner, Auer 2010, Figure 1), with the radii of Remark 3.

    Plain arrays over states and actions, no colors; it is shown what the other learner does.
    """

    def __init__(self, states: int, actions: int, delta: float) -> None:
        self.counts = np.zeros((states, actions, states))
        self.rewards = np.zeros((states, actions))
        self.now = np.zeros((states, actions))
        self.before = np.zeros((states, actions))
        self.delta, self.t, self.u = delta, 1, np.zeros(states)
        self.begin()

    def begin(self) -> None:
        """A new episode: estimates, radii, and values by extended value iteration."""
        states, actions = self.now.shape
        self.before = self.counts.sum(axis=2)
        self.now = np.zeros((states, actions))
        n, pairs = np.maximum(1, self.before), states * actions
        radius, self.width = published_radii(self.before, self.t, pairs, states, self.delta, 0.0)
        self.r = np.minimum(1, self.rewards / n + radius)
        self.p = np.where(self.before[..., None] > 0, self.counts / n[..., None], 1 / states)
        for _ in range(100_000):
            change = self.values().max(axis=1) - self.u
            self.u = self.u + 0.9 * (change - change.min())
            if np.ptp(change) < 1e-9:
                break

    def values(self) -> Floats:
        """Optimistic value of every pair."""
        return self.r + favoured(self.p, self.width, np.broadcast_to(self.u, self.p.shape))

    def note(self, state: int, action: int, after: int, reward: float) -> None:
        self.counts[state, action, after] += 1
        self.rewards[state, action] += reward
        self.now[state, action] += 1
        self.t += 1

    def over(self, state: int, action: int) -> bool:
        return bool(self.now[state, action] >= max(1, self.before[state, action]))


@dataclass(frozen=True, eq=False)
class _Exact(Optimism):
    """Colored UCRL2's sets, planned to rounding, so that only ties are left to chance."""

    def tolerance(self, t: int) -> float:
        return 1e-10


def measure_ucrl2(cell: tuple[int, int]) -> dict[str, int]:
    """Both on one run: decisions compared, those that were right, and episodes that agree."""
    steps, seed = cell
    world, actions = _plain_world(seed), 2
    states = world.mdp.n_states
    learner = StructuredLearner(world.mdp, _Exact(criteria.DELTA, 0.0))
    plain, walk = PlainUCRL2(states, actions, criteria.DELTA), world.walk()
    same, episodes = 0, 1
    agree = True
    for _ in range(steps):
        state, action = walk.state, learner.ask()
        worth = plain.values()[state]
        same += worth[action] >= worth.max() - CLOSE
        after, reward = walk.step(action)
        policy, began = learner.policy.actions, len(learner.episodes)
        learner.tell(action, after, reward)
        plain.note(state, action, after, reward)
        ended = plain.over(after, int(policy[after]))
        agree &= ended == (len(learner.episodes) > began)
        if ended:
            plain.begin()
            episodes += 1
    return {"steps": steps, "same": int(same), "episodes": episodes, "agree": int(agree)}


def _plain_world(problem: int, seed: int = 0) -> StructuredWorld:
    """Three states and two actions; every state is an outcome of every pair."""
    world = small_mdp(problem, states=3, colors=4, outcomes=3, spread=0.5)
    laws = np.zeros((3, 2, 3))
    for s, a in np.ndindex(3, 2):
        laws[s, a, world.mdp.successors[s, a]] = world.laws[s, a]
    mdp, _ = pairs_of(world)
    successors = np.broadcast_to(np.arange(3), mdp.successors.shape)
    own = 1000 * problem + seed
    return StructuredWorld(StructuredMDP(mdp.colors, successors), laws, world.rewards, own)


UCRL2 = Measurement("ucrl2", seeded(10, 4, steps=(20_000, 4000)), measure_ucrl2, (3.0, 0.6))


def judge_ucrl2(scale: Scale, results: Sequence[Any]) -> Finding:
    steps, same = sum(run["steps"] for run in results), sum(run["same"] for run in results)
    agree = sum(run["agree"] for run in results)
    ratio = theory.ucrl2_bound(5, 2, 10, 10**6, 0.05)
    ratio /= theory.ucrl2_original_bound(5, 2, 10, 10**6, 0.05)
    return Finding(
        f"{len(results)} random MDPs, {steps:,} decisions, against UCRL2 written from its own "
        "paper with these radii",
        f"{same:,} decisions are UCRL2's, and all {sum(run['episodes'] for run in results)} "
        f"episodes begin together in {agree} of {len(results)} runs; constant {ratio:.3f} times "
        "UCRL2's",
        "all decisions and all episodes",
        judged(same == steps and agree == len(results)),
        "The radii are not UCRL2's own: 56 B log(4 C t/delta) where it has 14 S log(2 A t/delta).",
        {"decisions": steps, "same": same, "constant_ratio": ratio},
    )


# --- logarithmic regret ----------------------------------------------------------------------


def measure_logarithm(cell: tuple[int, int, int]) -> list[float]:
    """Gap regret at T/100, T/10 and T, from the visits of each pair."""
    problem, seed, horizon = cell
    world = _plain_world(problem, seed)
    gaps = _gaps(world)
    learner = ColoredUCRL2(world.mdp, delta=criteria.DELTA)
    walk, regret, played = world.walk(), [], 0
    for until in (horizon // 100, horizon // 10, horizon):
        while played < until:
            count = min(1 << 20, until - played)
            learner.play_walk(walk, count)
            played += count
        regret.append(float(learner.counts.visits @ gaps))
    return regret


def _gaps(world: StructuredWorld) -> Floats:
    """What each pair, a color of its own, loses against the best action of its state."""
    worth = solve(*pairs_of(world), tolerance=1e-10).pair_values
    gaps = worth.max(axis=1, keepdims=True) - worth
    return np.asarray(np.where(gaps < CLOSE, 0.0, gaps).reshape(-1))


def _long(scale: Scale) -> Sequence[tuple[int, int, int]]:
    """The first random MDPs in which every action that is not the best is clearly worse."""
    horizon, problem = scale.size(3 * 10**7, 10**7), 0
    problems: list[int] = []
    while len(problems) < PROBLEMS:
        gaps = _gaps(_plain_world(problem))
        if gaps[gaps > 0].min() >= criteria.LOGARITHM.gap:
            problems.append(problem)
        problem += 1
    seeds = range(scale.size(35, 25))
    return [(problem, seed, horizon) for seed in seeds for problem in problems]


LOGARITHM = Measurement("logarithm", _long, measure_logarithm, (3.0, 1.0))


def judge_logarithm(scale: Scale, results: Sequence[Any]) -> Finding:
    """Of what the last two factors of ten in time add to regret, the share of the last one.

    Regret comes in whole episodes, so one run says little and the mean over many is judged.
    """
    limits, lost = criteria.LOGARITHM, np.array(results)
    added = np.diff(lost, axis=1)
    shares = added[:, 1] / np.maximum(added.sum(axis=1), 1e-300)
    low, high = interval(shares)
    verdict: Verdict = "holds" if high <= limits.most else "not decided"
    if low >= limits.root:
        verdict = "fails"
    return Finding(
        f"colored UCRL2 on {PROBLEMS} random MDPs of three states with gaps from {limits.gap:g} "
        f"on, a color a pair, eps = 0; {len(lost)} runs, T = {scale.size(3 * 10**7, 10**7):.0e}",
        f"of what T/100 to T adds to regret, {shares.mean():.3f} ({low:.3f} to {high:.3f}) comes "
        "after T/10",
        f"surely at most {limits.most:g}; log T has 0.5 there, sqrt(T) {limits.root:.2f}",
        verdict,
        "Regret comes in whole episodes, so a single run says little: over 20 problems with one "
        "run each, tried first, the share was 0.44 (0.08 to 0.81), over 40 runs of these problems "
        "0.44 (0.22 to 0.66), which decided nothing.",
        {"share": float(shares.mean()), "interval": [low, high],
         "regret": lost.mean(axis=0).tolist()},
        _regret_chart(lost.mean(axis=0), scale.size(3 * 10**7, 10**7)),
    )  # fmt: skip


def _regret_chart(lost: Floats, horizon: int) -> Chart:
    """Mean regret at T/100, T/10 and T; lines through the first two as log T and sqrt(T) go on."""
    times = np.array([horizon / 100, horizon / 10, horizon])
    step = lost[1] - lost[0]
    straight = lost[0] + step * np.array([0, 1, 2])
    root = lost[0] + step * (np.sqrt(times / times[0]) - 1) / (10**0.5 - 1)
    guides = [("as log T goes on", times, straight), ("as sqrt(T) goes on", times, root)]
    points = [("mean of the runs", times, lost)]
    return points_chart("step", "mean gap regret", points, guides, log_x=True)


CLAIMS = (
    Claim("ucrl2", "Section 6, Remark 3",
          "With an individual color for each pair the algorithm is UCRL2.", UCRL2, judge_ucrl2,
          notices=("myopic", "radii-0.3", "radii-3", "log-argument", "episodes-long",
                   "episodes-short")),
    Claim("logarithm", "Section 6, Remark 3",
          "For eps = 0 regret grows like log T on a fixed problem.", LOGARITHM, judge_logarithm,
          notices=("worst-arm",)),
)  # fmt: skip
