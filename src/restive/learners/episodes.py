"""The loop that all episodic learners share: count, plan, follow the plan until it is over."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.randomness import generator
from restive.learners.contract import SightedLearner
from restive.learners.paper.inputs import Labels
from restive.learners.paper.rules import FOREVER, Evidence, Rule
from restive.learners.records import arrays_of, record_from
from restive.learners.replanning import Planner, Structure
from restive.learners.storage import (
    SavedArrays,
    SavedState,
    Snapshot,
    generator_from,
    generator_state,
    plain_label,
)
from restive.policies.sight import NEVER, Observation


class EpisodicLearner(SightedLearner):
    """Base: episode after episode, a policy is planned from the counts so far and followed.

    A learner says what differs: its rule (evidence -> model, when an episode ends), its planner
    (model -> policy), the color that a pull is counted under and, where needed, how states join,
    what is pulled between episodes and when all starts anew. Comments quote Algorithm 1.

    A step may bring no observation, one or several: each is a sample of an arm's state now, given
    the one last seen and its age. ``play_path`` ends as ask and tell do, and runs compiled code
    while an episode lasts.
    """

    structure: Structure  # whose colors samples are counted in
    supports: Ints  # number of outcomes of each color
    counts: Any  # samples so far: ``visits`` of each color, and what the rule looks at
    rule: Rule
    planner: Planner

    def __init__(
        self, n_arms: int, sizes: tuple[int, ...] | None, rng: int | np.random.Generator
    ) -> None:
        """sizes: states of each arm; None if they join as they are seen."""
        super().__init__(n_arms)
        self.rng = generator(rng)
        self.labels = Labels(n_arms, sizes)
        self.samples = 0  # pulls of an arm seen before
        self.running = False  # whether the plan of an episode is followed
        self.began = self.until = 0  # t_k, and the t at which the episode ends at the latest
        self.limits: Ints = np.zeros(0, dtype=np.int64)  # visits of a color at which it ends
        self._starts: list[int] = []
        self._chosen = (NEVER, NEVER)  # by the policy: at which step, which arm

    @property
    def t(self) -> int:
        """Time of the next sample, as it enters the rule."""
        return self.samples + 1

    @property
    def evidence(self) -> Evidence:
        """What an episode that begins now is planned from."""
        return Evidence(self.structure, self.supports, self.counts, self.t)

    @property
    def policy(self) -> Any:
        """The current episode's policy."""
        return self.planner.policy

    @property
    def episodes(self) -> tuple[int, ...]:
        return tuple(self._starts)

    def ask(self) -> int:
        if not self.sight.complete:
            return self.sight.states.index(NEVER)  # every arm is pulled once
        detour = self._detour()
        return self._planned() if detour is None else detour

    def _planned(self) -> int:
        """The policy's arm: looked at twice a step, worked out once."""
        if self._chosen[0] != self.sight.steps:
            self._chosen = self.sight.steps, int(self.policy.arm(self.sight))
        return self._chosen[1]

    def step(self, observations: Sequence[Observation]) -> None:
        checked = self.check_step(observations)
        for arm, state, _ in checked:
            self._admit(arm, state)
        known = self.labels.sizes
        seen = [(arm, self.labels.number(arm, state), reward) for arm, state, reward in checked]
        grown = self.labels.sizes != known
        if grown:
            self._make_room()
        for sample in seen:
            self._count(*sample)
        self.sight.see([(arm, number) for arm, number, _ in seen])
        self._settle(grown)

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        from restive._kernels.play import UNKNOWN

        pulls = np.empty(states.shape[1], dtype=np.int64)
        names = self.labels.table(states)
        step = 0
        while step < len(pulls):
            if self.running and self._detour() is None and self.sight.regular:
                end, before = min(len(pulls), step + self._steps_left()), step
                step, why = self._follow(names, states, rewards, pulls, step, end)
                self.samples += step - before
                self._settle(False)
                if why != UNKNOWN:
                    continue
            known = self.labels.sizes
            arm = pulls[step] = self.ask()
            self.tell(int(arm), int(states[arm, step]), float(rewards[arm, step]))
            if self.labels.sizes != known or not self.sight.complete:
                self.labels.enter(names, int(arm), int(states[arm, step]))
            step += 1
        return pulls

    def _settle(self, grown: bool) -> None:
        """Go on with the episode, or end it and begin the next once nothing comes between."""
        if not self.sight.complete:
            return
        if self._renew() or (self.running and (grown or self._over())):
            self._end()
        if not self.running and self._detour() is None:
            self._begin()

    def _begin(self) -> None:
        clock = perf_counter()
        evidence = self.evidence  # "Initialize episode k": t_k, N_k(c), samples of each color
        model = self.rule.parameters(evidence, self.rng)  # eqs (2) and (3), or a draw
        self.planner.plan(evidence, model, self.rule.tolerance(evidence.t))  # eq. (4)
        self._chosen = (NEVER, NEVER)
        self.limits = self.rule.limits(evidence)
        longest = self.rule.longest(evidence, evidence.t - self.began if self.began else 0)
        self.began = evidence.t
        self.until = FOREVER if longest == FOREVER else self.began + longest
        self.running = True
        self._starts.append(self.sight.steps + 1)
        self._seconds += perf_counter() - clock

    def _over(self) -> bool:
        """Not "while v_k(c) < max(1, N_k(c))", c the color of the next pull; or time is up."""
        if self.t >= self.until:
            return True
        color = self._color(self._planned())
        return bool(self.counts.visits[color] >= self.limits[color])

    def _end(self) -> None:
        self.running = False

    def _steps_left(self) -> int:
        """Steps for which nothing but limits and new states can end the episode."""
        return FOREVER if self.until == FOREVER else self.until - self.t

    @abstractmethod
    def _color(self, arm: int) -> int:
        """What a pull of an arm seen before is counted under now."""

    def _count(self, arm: int, state: int, reward: float) -> None:
        """Add a sample; the first sight of an arm is none."""
        if self.sight.states[arm] != NEVER:
            self.counts.add(self._color(arm), state, reward)
            self.samples += 1

    def _follow(
        self, names: Ints, path: Ints, rewards: Floats, pulls: Ints, begin: int, end: int
    ) -> tuple[int, int]:
        """Play the policy along a path, counts and sight moving along; where and why it stops."""
        step, why = self.policy.follow(
            self.sight, self.counts, self.limits, names, path, rewards, pulls, begin, end
        )
        return step, why

    def _admit(self, arm: int, state: Hashable) -> None:
        """Refuse a state that cannot join, before anything has changed."""
        if self.labels.fixed is None:
            plain_label(state)

    def _make_room(self) -> None:
        """States have joined."""

    def _detour(self) -> int | None:
        """The arm to pull now whatever the plan says, and before an episode may begin."""
        return None

    def _renew(self) -> bool:
        """Start all anew if it is time to, and say so."""
        return False

    def _restore_round(self, state: Mapping[str, Any]) -> None:
        """Restore what the counts rest on; labels are back already."""

    def snapshot(self) -> Snapshot:
        plan, arrays = self.planner.snapshot()
        state, _ = super().snapshot()
        state |= {
            "labels": self.labels.snapshot(), "samples": self.samples, "running": self.running,
            "began": self.began, "until": self.until, "plan": plan,
            "rng": generator_state(self.rng),
        }  # fmt: skip
        starts = np.array(self._starts, dtype=np.int64)
        own = {"limits": self.limits.copy(), "starts": starts, **arrays_of(self.counts)}
        return state, {**arrays, **own}

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        super().restore(state, arrays)
        self.labels.restore(state["labels"])
        self._restore_round(state)
        self.samples, self.running = int(state["samples"]), bool(state["running"])
        self.began, self.until = int(state["began"]), int(state["until"])
        self.rng = generator_from(state["rng"])
        self.limits, self._starts = arrays["limits"].copy(), arrays["starts"].tolist()
        self.counts = record_from(type(self.counts), arrays)
        self.planner.restore(state["plan"], arrays, self.structure)
        self._chosen = (NEVER, NEVER)
