"""Colored UCRL2 (Algorithm 1) on any eps-structured MDP."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.checks import require, require_delta
from restive.base.errors import refusal
from restive.learners.contract import Learner
from restive.learners.declaration import declare
from restive.learners.episodes import EpisodicLearner
from restive.learners.paper.inputs import PLANNING
from restive.learners.paper.rules import Counts, Optimism, Rule
from restive.learners.replanning import ValuePlanner
from restive.learners.storage import encode_argument
from restive.mdp.structured import Parameters, StructuredMDP
from restive.policies.greedy import PairPolicy
from restive.policies.sight import Observation, Sight

if TYPE_CHECKING:
    from restive.simulation.structured import StructuredWalk


class StructuredLearner(EpisodicLearner):
    """Learns an eps-structured MDP, episode by episode; ``arm`` is an action, ``state`` the next.

    supports: (C,) outcomes of each color, all of them by default. The learner sees states, not
    outcomes: a pair two of whose outcomes lead to the same state is refused.
    """

    structure: StructuredMDP

    planner: ValuePlanner

    def __init__(
        self, mdp: StructuredMDP, rule: Rule, *, start: int = 0,
        supports: ArrayLike | None = None, rng: int | np.random.Generator = 0,
    ) -> None:  # fmt: skip
        require(0 <= start < mdp.n_states, "start", start, f"States are 0..{mdp.n_states - 1}.")
        super().__init__(mdp.n_actions, (mdp.n_states,) * mdp.n_actions, rng)
        self.supports = _checked_supports(mdp, supports)
        mdp.require_distinct(self.supports)
        self.structure = _padded(mdp, self.supports)
        self.rule, self.counts = rule, Counts.none(self.structure, rule.squares)
        self.start = start
        self.sight = Sight(1)  # of the MDP as a whole, and known from the start
        self.sight.states[0] = start
        self.planner = ValuePlanner(partial(PairPolicy, state=lambda sight: sight.states[0]))
        self._settle(False)

    @property
    def settings(self) -> dict[str, Any]:
        shape = [self.mdp.n_states, self.mdp.n_actions, self.mdp.n_colors]
        return {"states": shape[0], "actions": shape[1], "colors": shape[2], "start": self.start}

    @property
    def mdp(self) -> StructuredMDP:
        return self.structure

    @property
    def state(self) -> int:
        return self.sight.states[0]

    def step(self, observations: Sequence[Observation]) -> None:
        """One action, the state that followed and the reward; without one nothing moves."""
        if len(observations) > 1:
            number, remedy = f"{len(observations)} actions", "Tell every step's one action."
            raise refusal("observations", "more than one action", number, remedy)
        for action, state, paid in self.check_step(observations):
            self._act(action, state, paid)

    def _act(self, action: int, state: Hashable, paid: float) -> None:
        color, successors = self._color(action), self.mdp.successors[self.state, action]
        leads = np.flatnonzero(successors == state)
        if color < 0 or not len(leads):
            told = f"action {action}, state {state!r}"
            remedy = f"From state {self.state}: " + (
                "choose an available action." if color < 0
                else f"give one of {sorted(set(successors.tolist()))}"
            )  # fmt: skip
            raise refusal("tell", "not in this MDP", told, remedy)
        self.counts.add(color, int(leads[0]), paid)
        self.samples += 1
        self.sight.note(0, int(successors[leads[0]]))
        self._settle(False)

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        """Ask and tell: a path that ignores actions may leave the MDP at any step."""
        return Learner.play_path(self, states, rewards)

    def play_walk(self, walk: StructuredWalk, count: int) -> tuple[Ints, Floats]:
        from restive._kernels import play

        if not np.array_equal(walk.successors, self.mdp.successors) or walk.state != self.state:
            return super().play_walk(walk, count)
        uniforms = walk.uniforms(count)
        pulls, rewards = np.empty(count, dtype=np.int64), np.empty(count)
        step, counts = 0, self.counts
        while step < count:
            end = min(count, step + self._steps_left())
            after, state, _ = play.pair_episode(
                self.mdp.colors, self.mdp.successors, self.policy.actions, self.limits,
                counts.visits, counts.outcomes, counts.rewards, counts.squares, walk.heights,
                walk.means, walk.noisy, uniforms, pulls, rewards, step, end, self.state,
            )  # fmt: skip
            self.samples += int(after) - step
            self.sight.steps = self.sight.seen_at[0] = self.samples
            step, self.sight.states[0] = int(after), int(state)
            self._settle(False)
        walk.state = self.state
        return pulls, rewards

    def _color(self, arm: int) -> int:
        return int(self.mdp.colors[self.state, arm])


@declare(
    "colored-ucrl2-mdp",
    "colored UCRL2 (Algorithm 1) on an eps-structured MDP",
    guarantee="with probability 1 - delta regret against the optimal gain after T steps of at most "
    "42 D_eps sqrt(B C_U T log(T/delta)) + eps (D_eps + 2) T (Theorem 4)",
    assumes="an eps-structured MDP, rewards in [0, 1]",
    told="the structure and eps, and the parameters of known colors",
    deviation=f"{PLANNING}; known pairs (Psi_K) are given by color, so a color is known or it is "
    "not",
    cites=("ortner2012",),
    for_bandits=False,
)
class ColoredUCRL2(StructuredLearner):
    """Colored UCRL2 (Algorithm 1), with known pairs as in Theorem 4.

    Confidence sets of eqs (2) and (3) around the means of all samples of a color; extended value
    iteration to accuracy 1/sqrt(t_k) from the last episode's values; an episode ends before a
    pair whose color has been visited as often in it as before it.

    epsilon: how far pairs of one color may differ. max_support: B. known: (C,) colors (Psi_K) whose
    ``parameters`` are given; they are not learned, have no radii and end no episode. Each pair a
    color of its own and epsilon = 0 give UCRL2 (Remark 3).

    >>> mdp, truth = StructuredMDP.plain([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [[0, 0], [0, 1]])
    >>> ColoredUCRL2(mdp, delta=0.1).ask()
    0
    """

    def __init__(
        self, mdp: StructuredMDP, *, delta: float = 0.05, epsilon: float = 0.0,
        max_support: int | None = None, known: ArrayLike | None = None,
        parameters: Parameters | None = None, start: int = 0, supports: ArrayLike | None = None,
        rng: int | np.random.Generator = 0,
    ) -> None:  # fmt: skip
        require_delta(delta)
        require(epsilon >= 0, "epsilon", epsilon, "Give 0 or a positive distance.")
        require((known is None) == (parameters is None), "known", known,
                "Give known colors and their parameters together.")  # fmt: skip
        mask = None if known is None else np.asarray(known, dtype=bool)
        if mask is not None:
            require(mask.shape == (mdp.n_colors,), "known", mask.shape,
                    f"Give {mdp.n_colors} truth values, one per color.")  # fmt: skip
        self.delta, self.epsilon = delta, epsilon
        self.max_support, self.known, self.parameters = max_support, mask, parameters
        rule = Optimism(delta, epsilon, max_support, mask, parameters)
        super().__init__(mdp, rule, start=start, supports=supports, rng=rng)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> ColoredUCRL2:
        rest = dict(settings)
        mdp = StructuredMDP(*(np.array(rest.pop(name)) for name in ("colors", "successors")))
        if rest["parameters"] is not None:
            rest["parameters"] = Parameters(*map(np.array, rest["parameters"]))
        return cls(mdp, **rest)

    @property
    def settings(self) -> dict[str, Any]:
        truth = self.parameters
        parts = {
            "colors": self.mdp.colors, "successors": self.mdp.successors, "delta": self.delta,
            "epsilon": self.epsilon, "max_support": self.max_support, "known": self.known,
            "parameters": None if truth is None else [truth.rewards, truth.probabilities],
            "start": self.start, "supports": self.supports,
        }  # fmt: skip
        return {name: encode_argument(part) for name, part in parts.items()}


def _checked_supports(mdp: StructuredMDP, supports: ArrayLike | None) -> Ints:
    if supports is None:
        return mdp.supports
    counts = np.asarray(supports, dtype=np.int64)
    inside = counts.shape == (mdp.n_colors,) and bool((counts >= 1).all())
    require(inside and bool((counts <= mdp.max_support).all()), "supports", supports,
            f"Give {mdp.n_colors} numbers from 1 to {mdp.max_support}.")  # fmt: skip
    return counts


def _padded(mdp: StructuredMDP, supports: Ints) -> StructuredMDP:
    """Let outcomes that a color does not have lead where its first one does.

    Optimism may move mass to them, and must not gain anything by it.
    """
    count = np.where(mdp.colors >= 0, supports[mdp.colors], mdp.max_support)
    beyond = np.arange(mdp.max_support) >= count[..., None]
    return StructuredMDP(mdp.colors, np.where(beyond, mdp.successors[..., :1], mdp.successors))
