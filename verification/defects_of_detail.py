"""Slips in detail: a constant, a neighbour's number, a plan that is not the one made."""

from __future__ import annotations

from dataclasses import replace
from math import log2
from typing import Any

import numpy as np

from restive.learners.contract import Learner
from restive.learners.episodes import EpisodicLearner
from restive.learners.paper import inputs
from restive.learners.paper.colored_ucrl2 import StructuredLearner
from restive.learners.paper.inputs import Inputs
from restive.learners.paper.restless import RestlessLearner
from restive.learners.paper.rules import Optimism, Rule
from restive.learners.replanning import ValuePlanner
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters
from restive.model.bandit import Arm
from restive.policies.greedy import GreedyPolicy
from restive.policies.sight import NEVER
from restive.simulation.worlds import ArmPath
from restive.theory import confidence
from verification.defects import Patch, defect

SLOWLY = (RestlessLearner, "play_path", Learner.play_path)  # without the compiled loop


# --- constants of the sets -------------------------------------------------------------------


@defect("log-base-2", "logarithms of the radii are to base 2")
def _base() -> list[Patch]:
    def bits(factor: float, t: float, colors: int, delta: float, epsilon: float) -> float:
        return log2(factor * colors * t / delta)

    return [(confidence, "_log_colors", bits)]


@defect("support-2", "B is 2, however many states an arm has")
def _support() -> list[Patch]:
    honest = Optimism.radii
    return [(Optimism, "radii", lambda self, e: honest(replace(self, max_support=2), e))]


@defect("colors-off-by-K", "C has a color more for every arm")
def _more_colors() -> list[Patch]:
    honest = confidence._log_colors
    return [(confidence, "_log_colors", lambda f, t, own, *rest: honest(f, t, own + 2, *rest))]


@defect("known-colors-counted", "C in the radii counts known colors too")
def _all_colors() -> list[Patch]:
    honest = Optimism.radii

    def radii(self: Any, evidence: Any) -> Any:
        wide = honest(replace(self, known=None, truth=None), evidence)
        return wide if self.known is None else [np.where(self.known, 0.0, many) for many in wide]

    return [(Optimism, "radii", radii)]


@defect("known-colors-end-episodes", "visits of known colors end episodes too")
def _known_ends() -> list[Patch]:
    return [(Optimism, "limits", Rule.limits)]


@defect("time-not-reset", "t in the radii counts from the first round on")
def _endless_time() -> list[Patch]:
    return [(RestlessLearner, "t", property(lambda self: self.samples + 1))]


@defect("guess-late", "a(t) is that of the end of a round, not of its beginning")
def _late() -> list[Patch]:
    honest = Inputs._guessed
    return [(Inputs, "_guessed", lambda self, t: honest(self, 2 * t + 1))]


@defect("mixing-to-a-half", "mixing times are those to distance 1/2")
def _half() -> list[Patch]:
    honest = Arm.mixing_time
    return [(Arm, "mixing_time", lambda self, epsilon=0.25: honest(self, 2 * epsilon))]


# --- what belongs to which arm, age and outcome ----------------------------------------------


@defect("caps-of-neighbours", "M_j is that of another arm")
def _swapped_caps() -> list[Patch]:
    honest = inputs.color_caps
    return [(inputs, "color_caps", lambda *a: honest(*a)[::-1])]


@defect("periods-of-neighbours", "the loop of an arm has another arm's period")
def _swapped_periods() -> list[Patch]:
    honest = Inputs.lassos
    return [(Inputs, "lassos", lambda self, sizes: honest(self, sizes)[::-1])]


@defect("loop-out-of-phase", "samples on the loop are counted a phase too late")
def _phase() -> list[Patch]:
    honest = Representation.stored_age

    def stored(self: Any, arm: int, age: int) -> int:
        return honest(self, arm, age + (age >= self.caps[arm]))

    return [(Representation, "stored_age", stored), SLOWLY]


@defect("outcomes-mixed-up", "translation functions are a step off: outcome i is counted as i + 1")
def _translated() -> list[Patch]:
    honest = StructuredLearner._act

    def act(self: Any, action: int, state: Any, paid: float) -> None:
        add, width = self.counts.add, self.structure.max_support

        def shifted(color: int, outcome: int, reward: float) -> None:
            add(color, (outcome + 1) % width, reward)

        object.__setattr__(self.counts, "add", shifted)
        honest(self, action, state, paid)
        object.__delattr__(self.counts, "add")

    return [(StructuredLearner, "_act", act), (StructuredLearner, "play_walk", Learner.play_walk)]


@defect("exploration-uncounted", "samples between episodes are not counted")
def _uncounted() -> list[Patch]:
    honest = EpisodicLearner._count

    def count(self: Any, arm: int, state: int, reward: float) -> None:
        if self.running or self.sight.states[arm] == NEVER:
            honest(self, arm, state, reward)
        else:
            self.samples += 1

    return [(EpisodicLearner, "_count", count)]


@defect("discovery-kept", "the sample that shows a new state is kept where those before are not")
def _discovery() -> list[Patch]:
    honest = RestlessLearner._count

    def count(self: Any, *sample: Any) -> None:
        self.turned = set()
        honest(self, *sample)

    return [(RestlessLearner, "_count", count)]


# --- plans and what is done with them --------------------------------------------------------


@defect("tolerance-loose", "value iteration stops at accuracy 3/sqrt(t_k)")
def _loose() -> list[Patch]:
    return [(Rule, "tolerance", lambda self, t: 3 * t**-0.5)]


@defect("pessimism", "reward radii are taken off, not added")
def _pessimism() -> list[Patch]:
    def rewards(self: Parameters) -> Any:
        low = self.rewards if self.reward_radii is None else self.rewards - self.reward_radii
        return np.clip(low, 0.0, 1.0)

    return [(Parameters, "optimistic_rewards", property(rewards))]


@defect("mass-not-halved", "planning moves all of the radius to the best outcome, not half")
def _doubled() -> list[Patch]:
    honest = ValuePlanner.plan

    def plan(self: Any, evidence: Any, model: Any, tolerance: float) -> None:
        wide = model if model.radii is None else replace(model, radii=2 * model.radii)
        honest(self, evidence, wide, tolerance)
        self.parameters = model

    return [(ValuePlanner, "plan", plan)]


@defect("plan-of-last-episode", "an episode follows the values of the plan before")
def _stale() -> list[Patch]:
    honest = ValuePlanner.plan

    def plan(self: Any, *arguments: Any) -> None:
        before = self.values
        honest(self, *arguments)
        if before is not None and before.shape == self.values.shape:
            self.values = before

    return [(ValuePlanner, "plan", plan)]


@defect("policy-ages-late", "the policy takes arms for a step older than they are")
def _older() -> list[Patch]:
    def color(self: Any, sight: Any, arm: int) -> int:
        return int(self.rep.color(arm, sight.states[arm], sight.age(arm) + 1))

    return [(GreedyPolicy, "color", color), SLOWLY]


@defect("any-color-ends", "an episode ends when any color is full, not the next pull's")
def _any_color() -> list[Patch]:
    def over(self: Any) -> bool:
        return bool((self.counts.visits >= self.limits).any())

    return [(EpisodicLearner, "_over", over), SLOWLY]


@defect("arms-half-as-fast", "arms move in every second step only",
        "tests/test_simulation.py::test_paths_have_the_law_of_the_chain")  # fmt: skip
def _slow_arms() -> list[Patch]:
    honest = ArmPath.fill

    def fill(self: Any, path: Any, paid: Any) -> None:
        honest(self, path, paid)
        path[1::2], paid[1::2] = path[: 2 * (len(path) // 2) : 2], paid[: 2 * (len(paid) // 2) : 2]

    return [(ArmPath, "fill", fill)]
