"""Ways to break the code, each by replacing real functions: what the mutation audit puts in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import log
from typing import Any
from unittest.mock import patch

import numpy as np

from restive.learners.paper import rules
from restive.learners.paper.rules import Optimism, Rule
from restive.learners.replanning import ValuePlanner
from restive.mdp import certificate
from restive.mdp.numpy_iteration import DAMPING
from restive.mdp.structured import Parameters
from restive.model import chains
from restive.planning import diameter
from restive.theory import confidence

__all__ = ["DEFECTS", "Defect", "defect"]

Patch = tuple[Any, str, Any]  # owner, attribute, replacement


@dataclass(frozen=True)
class Defect:
    """What is wrong, how it is put in, and tests that notice it where no claim can."""

    words: str
    patches: Callable[[], list[Patch]]
    tests: tuple[str, ...] = ()

    @contextmanager
    def applied(self) -> Iterator[None]:
        """While this lasts, the code is broken."""
        with ExitStack() as stack:
            for owner, name, value in self.patches():
                stack.enter_context(patch.object(owner, name, value))
            yield


DEFECTS: dict[str, Defect] = {}


def defect(
    name: str, words: str, *tests: str
) -> Callable[[Callable[[], list[Patch]]], Callable[[], list[Patch]]]:
    """Enter a function that returns patches."""

    def register(patches: Callable[[], list[Patch]]) -> Callable[[], list[Patch]]:
        DEFECTS[name] = Defect(words, patches, tests)
        return patches

    return register


# --- planning --------------------------------------------------------------------------------


def _planned(change: Callable[[Any], None]) -> list[Patch]:
    honest = ValuePlanner.plan

    def plan(self: Any, *arguments: Any) -> None:
        honest(self, *arguments)
        change(self)
        self._policy = None

    return [(ValuePlanner, "plan", plan)]


@defect("myopic", "the planner's values are thrown away: learners look one step ahead")
def _myopic() -> list[Patch]:
    return _planned(lambda planner: setattr(planner, "values", np.zeros_like(planner.values)))


@defect("worst-arm", "the policy takes what the plan thinks worst")
def _worst() -> list[Patch]:
    def turn(planner: Any) -> None:
        model = planner.parameters
        worst = replace(model, rewards=-model.optimistic_rewards, reward_radii=None)
        planner.values, planner.parameters = -planner.values, worst

    return _planned(turn)


@defect("planning-stopped", "value iteration stops after its first sweep")
def _stopped() -> list[Patch]:
    return [(Rule, "tolerance", lambda self, t: 10.0)]


@defect("unsorted-optimism", "optimism moves mass to the first outcome, not to the best")
def _unsorted() -> list[Patch]:
    from restive.mdp.iteration import ArrayIteration

    def sweep(self: Any, gain: Any, count: int) -> Any:
        colors, successors, rewards, chances, radii, _ = self.arguments
        for _ in range(count):
            laws = chances[colors].copy()
            moved = np.minimum(radii[colors] / 2, 1 - laws[..., 0])
            rest = np.maximum(1e-300, 1 - laws[..., :1])
            laws[..., 1:] *= 1 - moved[..., None] / rest
            laws[..., 0] += moved
            worth = rewards[colors] + (laws * self.values[successors]).sum(axis=2)
            change = worth.max(axis=1) - self.values
            self.values = self.values + DAMPING * (change - gain[0])
        return change.min(keepdims=True), change.max(keepdims=True)

    return [(ArrayIteration, "sweep", sweep)]


@defect("rewards-not-clipped", "optimistic rewards may be above 1")
def _unclipped() -> list[Patch]:
    def rewards(self: Parameters) -> Any:
        return self.rewards if self.reward_radii is None else self.rewards + self.reward_radii

    return [(Parameters, "optimistic_rewards", property(rewards))]


@defect("powers-ignored", "a pull after n steps is planned with P, not with P^n")
def _powers() -> list[Patch]:
    def powers(rows: Any, count: int) -> Any:
        return np.repeat(np.asarray(rows, dtype=np.float64)[None], count, axis=0)

    return [(chains, "powers", powers)]


@defect(
    "certificate-without-aggregation",
    "intervals of plans leave the error of aggregation out",
    "tests/test_paper.py::test_a_cap_that_is_too_small_is_wrong_and_the_interval_says_so",
)
def _uncertified() -> list[Patch]:
    honest = certificate.row_errors
    return [(certificate, "row_errors", lambda bandit, rep: 0 * honest(bandit, rep))]


@defect(
    "diameter-by-chance",
    "the diameter is that of pulling at random, not of the quickest policy",
    "tests/test_diameter.py",
)
def _diameter() -> list[Patch]:
    honest = diameter._solve

    def solve(part: Any, colors: Any, successors: Any, chances: Any, tolerance: float) -> Any:
        states, actions, width = successors.shape
        laws = (chances[colors] / actions).reshape(states, actions * width)
        one = np.arange(states)[:, None]
        return honest(part, one, successors.reshape(states, 1, -1), laws, tolerance)

    return [(diameter, "_solve", solve)]


# --- confidence sets -------------------------------------------------------------------------


def _scaled(factor: float) -> list[Patch]:
    honest = Optimism.radii

    def radii(self: Any, evidence: Any) -> Any:
        return tuple(factor * many for many in honest(self, evidence))

    return [(Optimism, "radii", radii)]


@defect("radii-0.3", "radii of the confidence sets times 0.3")
def _narrow() -> list[Patch]:
    return _scaled(0.3)


@defect("radii-3", "radii of the confidence sets times 3")
def _wide() -> list[Patch]:
    return _scaled(3.0)


@defect("radii-tiny", "radii of the confidence sets times 0.01")
def _tiny() -> list[Patch]:
    return _scaled(0.01)


@defect("log-argument", "log(t / delta) in the radii, without the number of colors")
def _log() -> list[Patch]:
    return [(confidence, "_log_colors", lambda factor, t, colors, delta, epsilon: log(t / delta))]


@defect("reward-radius-missing", "rewards are taken for known: only laws have radii")
def _no_reward_radius() -> list[Patch]:
    honest = Optimism.radii

    def radii(self: Any, evidence: Any) -> Any:
        rewards, laws = honest(self, evidence)
        return 0 * rewards, laws

    return [(Optimism, "radii", radii)]


@defect("epsilon-missing", "no eps in the radii: pairs of a color are taken for equal")
def _no_epsilon() -> list[Patch]:
    honest = Optimism.radii
    return [(Optimism, "radii", lambda self, e: honest(replace(self, epsilon=0.0), e))]


@defect("known-pairs-forgotten", "colors that are known are learned all the same")
def _forgotten() -> list[Patch]:
    honest = Optimism.parameters

    def parameters(self: Any, evidence: Any, rng: Any) -> Any:
        return honest(replace(self, known=None, truth=None), evidence, rng)

    return [(Optimism, "parameters", parameters)]


@defect("estimates-smoothed", "(n + 1) / (N + S) in place of n / N")
def _smoothed() -> list[Patch]:
    honest = rules.empirical_means

    def means(evidence: Any) -> Any:
        rewards, _ = honest(evidence)
        inside = np.arange(evidence.counts.outcomes.shape[1]) < evidence.supports[:, None]
        many = (evidence.counts.outcomes + 1) * inside
        return rewards, many / many.sum(axis=1, keepdims=True)

    return [(rules, "empirical_means", means)]


@defect("rewards-diluted", "the sum of rewards is divided by N + 1")
def _diluted() -> list[Patch]:
    honest = rules.empirical_means

    def means(evidence: Any) -> Any:
        rewards, laws = honest(evidence)
        visits = np.maximum(1, evidence.counts.visits)
        return rewards * visits / (visits + 1), laws

    return [(rules, "empirical_means", means)]
