"""Colored UCRL2 (Algorithm 1) on any eps-structured MDP."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive.base.checks import require, require_delta
from restive.base.errors import Fault, ProblemError
from restive.learners.contract import Learner, Walk
from restive.learners.episodes import Episodes
from restive.learners.paper.rules import FOREVER, Optimism, Rule
from restive.learners.storage import Snapshot, generator_from, generator_state
from restive.mdp.structured import Parameters, StructuredMDP

__all__ = ["ColoredUCRL2", "StructuredLearner"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class StructuredLearner(Learner):
    """Learns an eps-structured MDP, episode by episode; ``arm`` is an action, ``state`` the next.

    supports: (C,) outcomes of each color, all of them by default. The learner sees states, not
    outcomes: a pair two of whose outcomes lead to the same state is refused.
    """

    def __init__(
        self, mdp: StructuredMDP, rule: Rule, *, start: int = 0, supports: ArrayLike | None = None,
        rng: int | np.random.Generator = 0,
    ) -> None:  # fmt: skip
        found = _checked_supports(mdp, supports)
        mdp.require_distinct(found)
        self.mdp = _padded(mdp, found)
        self.n_arms = mdp.n_actions
        require(0 <= start < mdp.n_states, "start", start, f"States are 0..{mdp.n_states - 1}.")
        self.start = start
        self.state = start
        self.steps = 0
        self.rng = np.random.default_rng(rng)
        self.engine = Episodes(self.mdp, found, rule)
        self._starts: list[int] = []
        self._begin()

    @property
    def settings(self) -> dict[str, Any]:
        shape = [self.mdp.n_states, self.mdp.n_actions, self.mdp.n_colors]
        return {"states": shape[0], "actions": shape[1], "colors": shape[2], "start": self.start}

    @property
    def episodes(self) -> tuple[int, ...]:
        return tuple(self._starts)

    @property
    def planning_seconds(self) -> float:
        return self.engine.seconds

    def ask(self) -> int:
        return int(self.policy[self.state])

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        action, paid = self.check_arm(arm), self.check_reward(reward)
        color = int(self.mdp.colors[self.state, action])
        leads = np.flatnonzero(self.mdp.successors[self.state, action] == state)
        if color < 0 or not len(leads):
            remedy = f"From state {self.state}: " + (
                "choose an available action." if color < 0 else f"give one of {self._nexts(action)}"
            )
            found = f"action {action}, state {state!r}"
            raise ProblemError([Fault("tell", "not in this MDP", found, remedy)])
        self.engine.counts.add(color, int(leads[0]), paid)
        self.state = int(self.mdp.successors[self.state, action, leads[0]])
        self.steps += 1
        self._settle()

    def play_walk(self, walk: Walk, count: int) -> tuple[Ints, Floats]:
        from restive._kernels import play

        if not np.array_equal(walk.successors, self.mdp.successors) or walk.state != self.state:
            return super().play_walk(walk, count)
        uniforms = walk.uniforms(count)
        pulls, rewards = np.empty(count, dtype=np.int64), np.empty(count)
        step, counts = 0, self.engine.counts
        while step < count:
            left = FOREVER if self.engine.until == FOREVER else self.engine.until - self.steps - 1
            after, state, _ = play.pair_episode(
                self.mdp.colors, self.mdp.successors, self.policy, self.engine.limits,
                counts.visits, counts.outcomes, counts.rewards, counts.squares, walk.heights,
                walk.means, walk.noisy, uniforms, pulls, rewards, step, min(count, step + left),
                self.state,
            )  # fmt: skip
            self.steps += after - step
            step, self.state = int(after), int(state)
            self._settle()
        walk.state = self.state
        return pulls, rewards

    def _nexts(self, action: int) -> list[int]:
        return sorted(set(self.mdp.successors[self.state, action].tolist()))

    def _settle(self) -> None:
        color = int(self.mdp.colors[self.state, self.policy[self.state]])
        if self.engine.over(color, self.steps + 1):
            self._begin()

    def _begin(self) -> None:
        self.engine.begin(self.steps + 1, self.rng)
        self._starts.append(self.steps + 1)
        self.policy = self._greedy()

    def _greedy(self) -> Ints:
        """The action worth most in every state, the first of several; shape (N,)."""
        from restive._kernels import arrays
        from restive.mdp.iteration import ArrayIteration

        model = self.engine.model
        assert model is not None
        ready = ArrayIteration(self.mdp, model, self.engine.values)
        return np.asarray(arrays.pair_values(ready.values, *ready.arguments).argmax(axis=1))

    def snapshot(self) -> Snapshot:
        engine, arrays = self.engine.snapshot()
        state = {
            "name": self.name,
            "settings": self.settings,
            "state": self.state,
            "steps": self.steps,
            "rng": generator_state(self.rng),
            "engine": engine,
        }
        return state, arrays | {"starts": np.array(self._starts, dtype=np.int64)}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.check_origin(state)
        self.state, self.steps = int(state["state"]), int(state["steps"])
        self.rng = generator_from(state["rng"])
        self.engine.restore(state["engine"], arrays)
        self._starts = arrays["starts"].tolist()
        self.policy = self._greedy()


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

    name = "colored-ucrl2-mdp"
    guarantee = (
        "With probability 1 - delta the regret against the optimal gain after T steps is at most "
        "42 D_eps sqrt(B C_U T log(T/delta)) + eps (D_eps + 2) T (Theorem 4)."
    )

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
        self.known = np.zeros(mdp.n_colors, dtype=bool) if mask is None else mask
        rule = Optimism(delta, epsilon, max_support, mask, parameters)
        super().__init__(mdp, rule, start=start, supports=supports, rng=rng)

    @property
    def settings(self) -> dict[str, Any]:
        known = np.flatnonzero(self.known).tolist()
        return {**super().settings, "delta": self.delta, "epsilon": self.epsilon, "known": known}


def _checked_supports(mdp: StructuredMDP, supports: ArrayLike | None) -> Ints:
    if supports is None:
        return mdp.supports
    found = np.asarray(supports, dtype=np.int64)
    inside = found.shape == (mdp.n_colors,) and bool((found >= 1).all())
    require(inside and bool((found <= mdp.max_support).all()), "supports", supports,
            f"Give {mdp.n_colors} numbers from 1 to {mdp.max_support}.")  # fmt: skip
    return found


def _padded(mdp: StructuredMDP, supports: Ints) -> StructuredMDP:
    """Let outcomes that a color does not have lead where its first one does.

    Optimism may move mass to them, and must not gain anything by it.
    """
    count = np.where(mdp.colors >= 0, supports[mdp.colors], mdp.max_support)
    beyond = np.arange(mdp.max_support) >= count[..., None]
    return StructuredMDP(mdp.colors, np.where(beyond, mdp.successors[..., :1], mdp.successors))
