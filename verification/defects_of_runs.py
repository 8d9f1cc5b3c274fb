"""More ways to break the code: episodes, ages, rounds, exploration, bounds, families."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from restive import theory
from restive.learners.contract import Learner
from restive.learners.paper import inputs
from restive.learners.paper.inputs import Inputs, Labels
from restive.learners.paper.restless import RestlessLearner
from restive.learners.paper.rules import Optimism
from restive.model.bandit import Arm
from restive.paper import regret_runs
from restive.paper.claims import hard, index_policies, outlook
from restive.policies.sight import Sight
from restive.theory import problem
from verification.defects import Patch, defect

# --- episodes, colors and ages -----------------------------------------------------------------


@defect("episodes-long", "an episode lasts until a color's visits have tripled")
def _long() -> list[Patch]:
    def limits(self: Any, evidence: Any) -> Any:
        return evidence.counts.visits + 2 * np.maximum(1, evidence.counts.visits)

    return [(Optimism, "limits", limits)]


@defect("episodes-short", "an episode lasts until a color's visits have grown by a quarter")
def _short() -> list[Patch]:
    def limits(self: Any, evidence: Any) -> Any:
        return evidence.counts.visits + np.maximum(1, evidence.counts.visits // 4)

    return [(Optimism, "limits", limits)]


@defect("caps-halved", "M_j is half of what eq. (1) says")
def _halved() -> list[Patch]:
    honest = inputs.color_caps
    return [(inputs, "color_caps", lambda *a: tuple(max(1, cap // 2) for cap in honest(*a)))]


@defect("ages-capped-at-1", "all ages are one")
def _ageless() -> list[Patch]:
    return [(inputs, "color_caps", lambda times, horizon: (1,) * len(times))]


@defect("mixing-time-halved", "mixing times are half of what they are")
def _mixing() -> list[Patch]:
    honest = Arm.mixing_time
    return [(Arm, "mixing_time", lambda self, *a: max(1, honest(self, *a) // 2))]


@defect("mixing-time-is-diameter", "the diameter is taken for the mixing time")
def _slow() -> list[Patch]:
    honest = Arm.mixing_time
    return [(Arm, "mixing_time", lambda self, *a: max(honest(self, *a), ceil(self.diameter)))]


@defect("wrong-age", "an arm just pulled has age 2, and so on")
def _wrong_age() -> list[Patch]:
    honest = Sight.age
    return [
        (Sight, "age", lambda self, arm: honest(self, arm) + 1),
        (RestlessLearner, "play_path", Learner.play_path),
    ]


@defect("wrong-arm", "samples are counted under the color of the next arm")
def _wrong_arm() -> list[Patch]:
    honest = RestlessLearner._color

    def color(self: Any, arm: int) -> int:
        return honest(self, (arm + 1) % self.n_arms)

    return [(RestlessLearner, "_color", color), (RestlessLearner, "play_path", Learner.play_path)]


# --- what is not known -----------------------------------------------------------------------


def _rounds(**change: Any) -> list[Patch]:
    honest = Inputs.round

    def round_(self: Any, number: int) -> Any:
        right = honest(self, number)
        if right.steps is None:
            return right
        return right._replace(**{key: value(self, right) for key, value in change.items()})

    return [(Inputs, "round", round_)]


@defect("delta-not-shared", "every round of the doubling trick is run with delta, not delta/2^i")
def _whole_delta() -> list[Patch]:
    return _rounds(delta=lambda self, right: self.delta)


@defect("rounds-too-long", "round i lasts 2^(i + 1) steps")
def _long_rounds() -> list[Patch]:
    return _rounds(steps=lambda self, right: 2 * right.steps)


@defect("rounds-not-forgotten", "counts are not reset when a round begins")
def _kept() -> list[Patch]:
    honest = RestlessLearner._restructure

    def restructure(self: Any, keep: bool) -> None:
        honest(self, keep or hasattr(self, "structure"))

    return [(RestlessLearner, "_restructure", restructure)]


@defect("guess-constant", "unknown mixing times are guessed to be 1 in every round")
def _guess() -> list[Patch]:
    return [(Inputs, "_guessed", lambda self, t: 1)]


@defect("periods-ignored", "ages beyond the cap are one, whatever the period")
def _aperiodic() -> list[Patch]:
    return [(Inputs, "lassos", lambda self, sizes: (1,) * len(sizes))]


@defect("lcm-missing", "|S| in place of lcm(1, ..., |S|) for unknown periods")
def _no_lcm() -> list[Patch]:
    return [(Inputs, "lassos", lambda self, sizes: self.periods or tuple(sizes))]


@defect("exploration-missing", "nothing is explored between episodes")
def _unexplored() -> list[Patch]:
    return [(RestlessLearner, "_detour", lambda self: None)]


@defect("exploration-endless", "exploration heeds every fourth sample only")
def _endless() -> list[Patch]:
    honest = RestlessLearner._count

    def count(self: Any, arm: int, state: int, reward: float) -> None:
        before = [set(seen) for seen in self.explored]
        honest(self, arm, state, reward)
        if self.samples % 4 and not self.running:
            self.explored = before

    return [(RestlessLearner, "_count", count)]


@defect("states-ignored", "states that were not known at first are taken for the first one")
def _stateless() -> list[Patch]:
    honest, table = Labels.number, Labels.table

    def number(self: Any, arm: int, label: Any) -> int:
        if self.fixed is None and self.numbers[arm]:
            return 0
        return honest(self, arm, label)

    def names(self: Any, path: Any) -> Any:
        found = table(self, path)
        return found if self.fixed is not None else np.where(found < 0, 0, found)

    return [(Labels, "number", number), (Labels, "table", names)]


# --- bounds and families ---------------------------------------------------------------------


@defect("bound-without-diameter", "Theorem 2's bound leaves the diameter out")
def _no_diameter() -> list[Patch]:
    honest = problem.theorem_4_arguments
    return [(problem, "theorem_4_arguments", lambda *a: (1.0, *honest(*a)[1:]))]


@defect("bound-without-root-T", "Theorem 4's bound leaves sqrt(T) out")
def _no_root() -> list[Patch]:
    honest = theory.regret_bound
    return [(theory, "regret_bound", lambda *a: honest(*a) / a[3] ** 0.5)]


@defect("bound-constant", "4.2 in place of 42 in Theorem 4's bound")
def _constant() -> list[Patch]:
    honest = theory.regret_bound
    return [(theory, "regret_bound", lambda *a: 0.1 * honest(*a))]


@defect("equation-1-constant", "a third of ceil(log2(1/eps)) Tmix in eq. (1)")
def _third() -> list[Patch]:
    honest = theory.mixing_time_bound
    return [(theory, "mixing_time_bound", lambda *a: max(1, honest(*a) // 3))]


@defect("cover-constant", "a third of D log(3 |S|) for exploration")
def _cover() -> list[Patch]:
    honest = theory.exploration_cost
    return [(theory, "exploration_cost", lambda *a: honest(*a) / 3)]


@defect("lemma-1-product", "Lemma 1 without the product over the arms")
def _lemma() -> list[Patch]:
    honest = theory.diameter_bound
    return [(theory, "diameter_bound", lambda sides, cap: honest(sides, cap) / np.prod(
        [4 * side for side in sides]))]  # fmt: skip


@defect("family-too-easy", "Theorem 3's gap is an eighth of what the proof asks for")
def _easy() -> list[Patch]:
    honest = regret_runs.lower_bound

    def family(k: int, m: int, *, horizon: int, **options: Any) -> Any:
        return honest(k, m, horizon=64 * horizon, **options)

    return [(regret_runs, "lower_bound", family)]


@defect("family-not-scaled", "Theorem 3's gap does not grow with the number of states")
def _unscaled() -> list[Patch]:
    honest = regret_runs.lower_bound

    def family(k: int, m: int, *, horizon: int, **options: Any) -> Any:
        return honest(k, m, gap=horizon**-0.5 / 4, **options)

    return [(regret_runs, "lower_bound", family)]


@defect("told-the-good-arms", "a learner of Theorem 3 is told the good arms too")
def _told() -> list[Patch]:
    return [(hard, "informed_regret", lambda horizon, size, seed: 1e-3)]


@defect("rival-mixed-up", "Algorithm 2 plays under the name of Exp3.S")
def _rival() -> list[Patch]:
    honest = regret_runs.make_learner

    def make(name: str, *arguments: Any, **options: Any) -> Any:
        return honest("colored-ucrl2" if name == "exp3.s" else name, *arguments, **options)

    return [(regret_runs, "make_learner", make)]


@defect("order-1-drawn", "chains of order 2 are drawn, and planned, with memory 1")
def _order() -> list[Patch]:
    draw, plan = outlook.chain_of_order_2, outlook.promise
    return [
        (outlook, "promise", lambda turn, lag, pays: plan(turn, 1, pays)),
        (outlook, "chain_of_order_2", lambda turn, steps, rng, lag: draw(turn, steps, rng, 1)),
    ]


@defect("staying-too-easy", "the gap of the aperiodic family is an eighth of the proof's")
def _staying() -> list[Patch]:
    honest = regret_runs.hardest_gap
    return [(regret_runs, "hardest_gap", lambda *a: honest(*a) / 8)]


@defect("tosses-pay-more", "arm R of Example 4 pays more at its toss than in the proof")
def _tosses() -> list[Patch]:
    return [(index_policies, "R_PAYS", np.array([1, 0, 0, 0.6, 3 / 8, 3 / 4, 0]))]
