"""The restless bandits algorithm (Algorithm 2) and its extensions, on the shared engine."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from restive.base.errors import TooLargeError
from restive.learners.contract import Learner
from restive.learners.episodes import Episodes
from restive.learners.paper.inputs import Exploration, Inputs, Labels
from restive.learners.paper.rules import FOREVER, Optimism, Rule, carry_over, n_outcomes
from restive.learners.storage import Snapshot, generator_from, generator_state
from restive.mdp.representation import Representation
from restive.planning.exact import memory_allowed
from restive.policies.greedy import NEVER, GreedyPolicy, Sight

__all__ = ["COLORED_UCRL2", "KEEPING", "Method", "RestlessLearner"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Method:
    """A learner's rule and the words that go with it."""

    name: str
    guarantee: str
    rule: Callable[[float, float], Rule]  # (delta, epsilon) of a round -> rule
    deviation: str = ""


COLORED_UCRL2 = Method(
    "colored-ucrl2",
    "With probability 1 - delta the regret against rho* after T steps is of order "
    "sqrt(T) log^2(T) (Theorem 2), for irreducible chains.",
    Optimism,
)
KEEPING = Method(
    "colored-ucrl2-keeping",
    "The confidence sets hold with probability 1 - delta, as in Theorem 2; the regret bound of the "
    "rounds is not proven for it.",
    Optimism,
    "Deviation: samples are carried over from round to round instead of being forgotten, except "
    "those of ages that the new round tells apart and the old one did not.",
)

Mode = Literal["start", "explore", "episode"]


class RestlessLearner(Learner):
    """Learns a restless bandit, episode by episode, from the inputs it has (``Inputs``).

    First every arm is pulled once. Then each episode plans on the information states with a model
    made of the counts per color, and follows it until the visits of some color have doubled. Time
    t in the radii counts samples: pulls of arms seen before, from 1 in every round.

    A state seen for the first time in mid-episode ends it: the state joins, its arm's counts are
    kept, and exploration begins. On a restart known states and what was last seen are kept.

    >>> learner = RestlessLearner(Inputs(2, horizon=1000, mixing_times=(7, 7), sizes=(2, 2),
    ...                                  periods=(1, 1)))
    >>> learner.tell(learner.ask(), 0, 0.0)
    >>> learner.ask()
    1
    """

    def __init__(
        self, inputs: Inputs, method: Method = COLORED_UCRL2, rng: int | np.random.Generator = 0
    ) -> None:
        self.inputs, self.method = inputs, method
        self.name, self.guarantee, self.deviation = method.name, method.guarantee, method.deviation
        self.n_arms = inputs.n_arms
        self.rng = np.random.default_rng(rng)
        self.sight = Sight(inputs.n_arms)
        self.labels = Labels(inputs.n_arms, inputs.sizes)
        self.exploration = Exploration(inputs.n_arms)
        self.samples = 0  # pulls of an arm seen before
        self.round_start = 0  # samples before the current round
        self.mode: Mode = "start"
        self._starts: list[int] = []
        self._seconds = 0.0
        self._policy: GreedyPolicy | None = None
        self.round = inputs.round(1)
        self._rep, self.engine = self._fresh()

    @property
    def settings(self) -> dict[str, Any]:
        return self.inputs.to_dict()

    @property
    def episodes(self) -> tuple[int, ...]:
        return tuple(self._starts)

    @property
    def planning_seconds(self) -> float:
        return self._seconds + self.engine.seconds

    @property
    def representation(self) -> Representation:
        """The information states planned on in the current round."""
        return self._rep

    @property
    def t(self) -> int:
        """Time of the next sample, as it enters the radii."""
        forgotten = 0 if self.inputs.keep_samples else self.round_start
        return self.samples - forgotten + 1

    def ask(self) -> int:
        if self.mode == "start":
            return self.sight.states.index(NEVER)
        if self.mode == "explore":
            arm = self.exploration.next_arm(self.labels.sizes)
            if arm is not None:
                return arm
        return self.policy.arm(self.sight)

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm, paid = self.check_arm(arm), self.check_reward(reward)
        number = self.labels.number(arm, state)
        grown = self.labels.sizes != self._rep.sizes
        if grown:
            self._rebuild(keep=True)
        if self.sight.states[arm] != NEVER:
            color = self._rep.color(arm, self.sight.states[arm], self.sight.age(arm))
            self.engine.counts.add(color, number, paid)
            self.samples += 1
        self.sight.note(arm, number)
        if self.mode != "episode":
            self.exploration.note(arm, number)
        self._settle(grown)

    @property
    def policy(self) -> GreedyPolicy:
        """The current episode's policy."""
        if self._policy is None:
            model, values = self.engine.model, self.engine.values
            assert model is not None
            assert values is not None
            self._policy = GreedyPolicy(self._rep, values, model)
        return self._policy

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        from restive._kernels.play import UNKNOWN

        pulls = np.empty(states.shape[1], dtype=np.int64)
        names = self.labels.table(states)
        step = 0
        while step < len(pulls):
            if self.mode == "episode":
                end = min(len(pulls), step + self._steps_left())
                before = self.sight.steps
                step, why = self.policy.follow(
                    self.sight, self.engine.counts, self.engine.limits, names, states, rewards,
                    pulls, step, end,
                )  # fmt: skip
                self.samples += self.sight.steps - before
                self._settle(False)
                if why != UNKNOWN:
                    continue
            known = self.labels.sizes
            arm = pulls[step] = self.ask()
            self.tell(int(arm), int(states[arm, step]), float(rewards[arm, step]))
            if self.labels.sizes != known or not self.sight.complete:
                names = self.labels.table(states)
            step += 1
        return pulls

    def _steps_left(self) -> int:
        """Samples until the round or, by its own length, the episode is over."""
        left = FOREVER if self.engine.until == FOREVER else self.engine.until - self.t
        if self.round.steps is not None:
            left = min(left, self.round_start + self.round.steps - self.samples)
        return left

    def _settle(self, grown: bool) -> None:
        """Decide what comes next: the same episode, exploration, a new episode or a new round."""
        if not self.sight.complete:
            return
        over = grown or self.mode == "start"
        explored = self.mode != "episode"  # the first pulls belong to a phase of exploration
        if self.round.steps is not None and self.samples - self.round_start >= self.round.steps:
            self._next_round()
            over, explored = True, False
        elif self.mode == "episode" and not grown:
            arm = self.policy.arm(self.sight)
            over = self.engine.over(self.policy.color(self.sight, arm), self.t)
        if self.inputs.sizes is None:
            if over and not explored:
                self.exploration.clear()
            if over or self.mode == "explore":
                self.mode = "explore"
                over = self.exploration.next_arm(self.labels.sizes) is None
        if over:
            self._begin()

    def _begin(self) -> None:
        self.engine.begin(self.t, self.rng)
        self._policy = None
        self._starts.append(self.sight.steps + 1)
        self.mode = "episode"

    def _next_round(self) -> None:
        """Restart: a new representation, and unless samples are kept new counts."""
        self.round_start = self.samples
        self.round = self.inputs.round(self.round.number + 1)
        self._rebuild(keep=self.inputs.keep_samples)

    def _rebuild(self, keep: bool) -> None:
        """The representation for what is known now, with the counts so far if they are kept."""
        rep, engine = self._fresh()
        if keep:
            engine.counts = carry_over(self.engine.counts, self._rep, rep)
        engine.unconverged = self.engine.unconverged
        self._seconds += self.engine.seconds
        self._rep, self.engine, self._policy = rep, engine, None

    def _fresh(self) -> tuple[Representation, Episodes]:
        sizes = self.labels.sizes
        rep = Representation(sizes, self.round.caps, self.inputs.lassos(sizes))
        _refuse_if_too_large(rep)
        rule = self.method.rule(self.round.delta, self.round.epsilon)
        return rep, Episodes(rep, n_outcomes(rep), rule)

    def snapshot(self) -> Snapshot:
        engine, arrays = self.engine.snapshot()
        state = {
            "name": self.name,
            "settings": self.settings,
            "sight": self.sight.snapshot(),
            "labels": self.labels.snapshot(),
            "explored": [sorted(seen) for seen in self.exploration.seen],
            "samples": self.samples,
            "round": self.round.number,
            "round_start": self.round_start,
            "mode": self.mode,
            "rng": generator_state(self.rng),
            "engine": engine,
        }
        return state, arrays | {"starts": np.array(self._starts, dtype=np.int64)}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.check_origin(state)
        self.sight.restore(state["sight"])
        self.labels.restore(state["labels"])
        self.exploration.seen = [set(seen) for seen in state["explored"]]
        self.samples, self.round_start = int(state["samples"]), int(state["round_start"])
        self.mode = state["mode"]
        self.rng = generator_from(state["rng"])
        self.round = self.inputs.round(int(state["round"]))
        self._rep, self.engine = self._fresh()
        self._policy = None
        self.engine.restore(state["engine"], arrays)
        self._starts = arrays["starts"].tolist()


def _refuse_if_too_large(rep: Representation) -> None:
    allowed, needed = memory_allowed(None), _bytes_needed(rep)
    if needed > allowed:
        raise TooLargeError(
            f"planning on {rep.n_states:.3g} information states and {rep.n_colors:.3g} colors "
            f"(caps {rep.caps}) would take {needed / 2**30:.3g} GiB of the "
            f"{allowed / 2**30:.3g} GiB allowed; learn with a shorter horizon, smaller mixing "
            "times or fewer arms"
        )


def _bytes_needed(rep: Representation) -> int:
    """At the peak: values and slices twice, and per color the plan's tables, counts and model."""
    return 2 * rep.n_bytes + 8 * rep.n_colors * (9 * rep.max_support + 20)
