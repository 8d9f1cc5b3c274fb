"""Posterior sampling with all ages of an arm tied to one matrix; told nothing of the bandit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field
from math import log
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.errors import Fault, ProblemError
from restive.learners import defaults
from restive.learners.contract import Learner, require_arms
from restive.learners.paper.inputs import Labels
from restive.learners.storage import Snapshot, generator_from, generator_state, plain_label
from restive.learners.tied.plan_size import (
    CAPS,
    fits,
    fitted,
    fitting_sizes,
    require_plannable,
    shortest_episode,
    sweeps_allowed,
)
from restive.learners.tied.posterior import ChainPosterior, RewardPosterior
from restive.mdp.representation import Representation
from restive.mdp.solver import refine, solve
from restive.mdp.structured import Parameters
from restive.policies.greedy import NEVER, GreedyPolicy, Sight

__all__ = ["TiedSampling", "TiedSettings"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LONGEST_GAP = 256  # older observations count as this old
DOUBLINGS = (
    14  # ages must repeat over a loop, and over 2^14 of them: slow arms change little by little
)


@dataclass(frozen=True)
class TiedSettings:
    """How the learner believes and plans.

    The defaults were chosen by gap regret: first among a dozen settings on seven two-armed
    problems, which the benchmark of learners contains too (with other seeds), then the number of
    draws, the length of episodes and ``enough`` on twelve problems that it does not contain.
    """

    chains: ChainPosterior = field(default_factory=ChainPosterior)
    rewards: RewardPosterior = field(default_factory=RewardPosterior)
    draws: int = 3  # an arm's matrix is the mean of so many draws
    enough: float = 20.0  # if it was pulled more often than this for each state
    growth: float = defaults.GROWTH  # an episode may be this part of all steps before it
    aggregation: float = defaults.AGGREGATION  # L1 distance at which ages are told apart no longer
    fewest_states: int = 20_000  # information states that may always be planned on
    states_per_step: float = 200.0  # and this many more for every step an episode may last
    unseen: float = 1.0  # how long to reckon with states never seen, in log(t) per known state
    look_again: float = 10.0  # an arm that never moved rests this many steps for each pull of it
    accuracy: float = 0.1  # planning stops at accuracy / sqrt(t)
    strangers: int = 40  # states of an arm, nearly all seen once, from which on it is refused


class TiedSampling(Learner):
    """Thompson sampling on the information states, with P_j^n for every age n of arm j.

    Each episode draws a matrix and mean rewards for every arm from the posterior given all
    observations at all ages (``ChainPosterior``, ``RewardPosterior``), plans with them and follows
    the plan. Of an arm that is better known it takes the mean of a few draws, which explores less.
    An episode ends after a share of all steps before it, when an arm has been pulled as often in
    it as ever before, and when a new state shows up. The first are one step long, so that a bad
    start is soon made up for; an arm that was hardly pulled and never moved is looked at again now
    and then. Nothing is known beforehand: states are found, with one more state of unknown reward
    reckoned with as long as an arm is little known; how far ages are told apart and on which loop
    they run (periodic arms) follows from the drawn matrices.

    >>> learner = TiedSampling(2, rng=0)
    >>> learner.tell(learner.ask(), "busy", 0.0)
    >>> learner.ask()
    1
    """

    name = "tied-sampling"
    guarantee = (
        "None proven. Bayesian: each episode's model is a draw, or a mean of a few, from the "
        "posterior, which is exact for chains with Dirichlet rows and normal rewards."
    )

    def __init__(
        self,
        n_arms: int,
        rng: int | np.random.Generator = 0,
        settings: TiedSettings | None = None,
    ) -> None:
        require_arms(n_arms)
        self.n_arms = n_arms
        require_plannable([2] * n_arms)
        self.options = settings or TiedSettings()
        self.rng = np.random.default_rng(rng)
        self.sight = Sight(n_arms)
        self.labels = Labels(n_arms, None)
        self.gaps = np.zeros((n_arms, 1, LONGEST_GAP, 1), dtype=np.int64)
        self.paid = np.zeros((n_arms, 1, 3))
        self.drawn = [np.ones((1, 1)) for _ in range(n_arms)]  # last state of the sampler
        self.chains = [np.ones((1, 1)) for _ in range(n_arms)]  # what plans are made with
        self.means = [np.full(1, 0.5) for _ in range(n_arms)]
        self.watched = [False] * n_arms  # never moved, and hardly pulled, as the episode began
        self.began, self.length = 0, 0  # first step and most steps of the episode
        self.limits = np.zeros(n_arms, dtype=np.int64)  # pulls left to each arm in it
        self._rep: Representation | None = None
        self._values: Floats | None = None
        self._policy: GreedyPolicy | None = None
        self._starts: list[int] = []
        self._seconds = 0.0

    @property
    def settings(self) -> dict[str, Any]:
        return {"n_arms": self.n_arms, **asdict(self.options)}

    @property
    def episodes(self) -> tuple[int, ...]:
        return tuple(self._starts)

    @property
    def planning_seconds(self) -> float:
        return self._seconds

    def ask(self) -> int:
        if not self.sight.complete:
            return self.sight.states.index(NEVER)
        rest, arm = self._next_look()
        return arm if rest <= 0 else self.policy.arm(self.sight)

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm, reward = self.check_arm(arm), self.check_reward(reward)
        known = len(self.labels.numbers[arm])
        if plain_label(state) not in self.labels.numbers[arm]:
            self._check_new(arm)
        number = self.labels.number(arm, state)
        new = number == known
        if new:
            self._make_room()
        if self.sight.states[arm] != NEVER:
            gap = min(self.sight.age(arm), LONGEST_GAP)
            self.gaps[arm, self.sight.states[arm], gap - 1, number] += 1
        self.paid[arm, number] += (1.0, reward, reward * reward)
        self.limits[arm] -= 1
        self.sight.note(arm, number)
        self._settle(new)

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        from restive._kernels.play import UNKNOWN

        pulls = np.empty(states.shape[1], dtype=np.int64)
        names = self.labels.table(states)
        step = 0
        while step < len(pulls):
            rest = self._next_look()[0] if self.sight.complete else 0
            if rest > 0:
                left = min(rest, self.began + self.length - self.sight.steps - 1)
                step, why = self._follow(names, states, rewards, pulls, step, left)
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

    def _follow(
        self, names: Ints, path: Ints, rewards: Floats, pulls: Ints, begin: int, left: int
    ) -> tuple[int, int]:
        from restive._kernels import tied

        sight, policy = self.sight, self.policy
        states, seen_at = np.array(sight.states), np.array(sight.seen_at)
        values, moves, laws, chosen, seen = policy.arguments(sight)
        step, last, why = tied.tied_episode(
            values, moves, laws, chosen, seen, self.gaps, self.limits, self.paid, names, path,
            rewards, pulls, begin, min(len(pulls), begin + left), sight.steps, sight.last, states,
            seen_at,
        )  # fmt: skip
        sight.steps += int(step) - begin
        sight.states, sight.seen_at, sight.last = states.tolist(), seen_at.tolist(), int(last)
        return int(step), int(why)

    def _settle(self, new: bool) -> None:
        """Start an episode if the current one is over."""
        if not self.sight.complete:
            return
        over = new or self._policy is None or self.sight.steps + 1 >= self.began + self.length
        if over or self.limits[self.policy.arm(self.sight)] <= 0:
            self._begin()

    @property
    def policy(self) -> GreedyPolicy:
        """The current episode's policy."""
        if self._policy is None:
            assert self._rep is not None
            assert self._values is not None
            self._policy = GreedyPolicy(self._rep, self._values, self._model(self._rep))
        return self._policy

    def _begin(self) -> None:
        clock = perf_counter()
        step = self.sight.steps + 1
        self.length = max(shortest_episode(self.labels.sizes), int(self.options.growth * step))
        self.began = step
        self.limits = np.maximum(1, self.gaps.sum(axis=(1, 2, 3)))
        for j, size in enumerate(self._sizes()):
            self._believe(j, size)
        rep = self._representation()
        start = None
        if self._values is not None and self._rep is not None and self._rep.sizes == rep.sizes:
            start = self._values if rep == self._rep else refine(self._rep, self._values, rep)
        tolerance = self.options.accuracy / step**0.5
        found = solve(rep, self._model(rep), tolerance=tolerance, start=start,
                      max_sweeps=sweeps_allowed(rep), accelerate=False)  # fmt: skip
        self._rep, self._values = rep, found.values - found.values[0]
        self._policy = None
        self._starts.append(step)
        self._seconds += perf_counter() - clock

    def _sizes(self) -> list[int]:
        """States of each arm to reckon with: one more than known while it is little known."""
        known, wanted = self.labels.sizes, []
        for arm, count in enumerate(known):
            patience = self.options.unseen * (count + 1) * (1 + log(self.sight.steps + 1))
            if count == 1:  # it has not moved once: perhaps it just moves rarely
                patience *= 3
            wanted.append(count + int(self.paid[arm, :, 0].sum() < patience))
        return fitting_sizes(known, wanted, self.length)

    def _believe(self, arm: int, size: int) -> None:
        """Draw the arm's matrix of so many states and their mean rewards."""
        known = len(self.labels.numbers[arm])
        self.watched[arm] = bool(known == 1 and size == 2)
        counts = self.gaps[arm, :size, :, :size]
        totals = self.paid[arm, :size]
        if size > known:
            counts = np.pad(counts, ((0, size - len(counts)), (0, 0), (0, size - counts.shape[2])))
            totals = np.pad(totals, ((0, size - len(totals)), (0, 0)))
        many = self.options.draws if totals[:, 0].sum() > self.options.enough * size else 1
        self.drawn[arm], self.chains[arm] = self.options.chains.draws(
            _resized(self.drawn[arm], size), counts, many, self.rng
        )
        self.means[arm] = np.clip(self.options.rewards.draw(totals, self.rng), 0.0, 1.0)

    def _next_look(self) -> tuple[int, int]:
        """Steps until an arm that never moved is looked at again whatever the plan says; which one.

        Draws alone may leave it aside for thousands of steps after a few bad looks.
        """
        due = (self.length + 1, -1)
        for arm, watched in enumerate(self.watched):
            if watched:
                wait = int(self.options.look_again * self.paid[arm, 0, 0])
                due = min(due, (wait - self.sight.age(arm), arm))
        return due

    def _representation(self) -> Representation:
        """Information states fine enough for the drawn matrices, within what planning may take."""
        from restive._kernels import tied

        options = self.options
        most = options.fewest_states + options.states_per_step * self.length
        sizes = [len(chain) for chain in self.chains]
        lassos = [tied.lasso(chain, options.aggregation, CAPS, DOUBLINGS) for chain in self.chains]
        caps, periods = [cap for cap, _ in lassos], [period for _, period in lassos]
        rep = fitted(sizes, caps, periods, most, self.length)
        old = self._rep
        if old is not None and (old.sizes, old.periods) == (rep.sizes, rep.periods):
            slack = [a <= b <= 2 * a for a, b in zip(rep.caps, old.caps, strict=True)]
            if all(slack) and fits(old, most, self.length):
                return old  # fine enough, not much too fine, and its memory is laid out
        return rep

    def _model(self, rep: Representation) -> Parameters:
        """Parameters of every color from the drawn matrices and means."""
        from restive._kernels import tied

        rewards, laws = [], []
        for j, chain in enumerate(self.chains):
            powers = np.empty((rep.n_ages[j], len(chain), len(chain)))
            tied.fill_powers(chain, powers)
            rows = powers.transpose(1, 0, 2)
            padded = np.zeros((*rows.shape[:2], rep.max_support))
            padded[..., : len(chain)] = rows
            rewards.append((rows @ self.means[j]).ravel())
            laws.append(padded.reshape(-1, rep.max_support))
        return Parameters(np.concatenate(rewards), np.concatenate(laws))

    def _check_new(self, arm: int) -> None:
        """Refuse one more state of an arm if plans would get too large, or no state ever returns.

        Nothing can be learned of states that are all seen once, as measured numbers are.
        """
        sizes = list(self.labels.sizes)
        sizes[arm] = len(self.labels.numbers[arm]) + 1
        require_plannable(sizes)
        seen = self.paid[arm, : sizes[arm] - 1, 0]
        if len(seen) >= self.options.strangers and (seen == 1).mean() >= 0.9:
            words = f"{len(seen)} states, {int((seen == 1).sum())} of them seen just once"
            remedy = "Put measured numbers into a few bins, and give the bin as the state."
            raise ProblemError(
                [Fault("state", f"arm {arm} hardly ever returns to a state", words, remedy)]
            )

    def _make_room(self) -> None:
        """Grow the counts when an arm shows a state it had not shown before."""
        size = max(self.labels.sizes)
        more = size - self.gaps.shape[1]
        if more > 0:
            self.gaps = np.pad(self.gaps, ((0, 0), (0, more), (0, 0), (0, more)))
            self.paid = np.pad(self.paid, ((0, 0), (0, more), (0, 0)))

    def snapshot(self) -> Snapshot:
        state = {
            "name": self.name,
            "settings": self.settings,
            "sight": self.sight.snapshot(),
            "labels": self.labels.snapshot(),
            "began": self.began,
            "length": self.length,
            "watched": list(self.watched),
            "rng": generator_state(self.rng),
            "lasso": None if self._rep is None else [self._rep.caps, self._rep.periods],
        }
        arrays: dict[str, NDArray[Any]] = {
            "gaps": self.gaps.copy(),
            "paid": self.paid.copy(),
            "limits": self.limits.copy(),
            "starts": np.array(self._starts, dtype=np.int64),
        }
        for j in range(self.n_arms):
            arrays[f"drawn_{j}"] = self.drawn[j].copy()
            arrays[f"chain_{j}"] = self.chains[j].copy()
            arrays[f"means_{j}"] = self.means[j].copy()
        if self._values is not None:
            arrays["values"] = self._values.copy()
        return state, arrays

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.check_origin(state)
        self.sight.restore(state["sight"])
        self.labels.restore(state["labels"])
        self.began, self.length = int(state["began"]), int(state["length"])
        self.watched = [bool(arm) for arm in state["watched"]]
        self.rng = generator_from(state["rng"])
        self.gaps, self.paid = arrays["gaps"].copy(), arrays["paid"].copy()
        self.limits = arrays["limits"].copy()
        self._starts = arrays["starts"].tolist()
        self.drawn = [arrays[f"drawn_{j}"].copy() for j in range(self.n_arms)]
        self.chains = [arrays[f"chain_{j}"].copy() for j in range(self.n_arms)]
        self.means = [arrays[f"means_{j}"].copy() for j in range(self.n_arms)]
        self._rep = self._values = self._policy = None
        if state["lasso"] is not None:
            self._rep = Representation([len(c) for c in self.chains], *state["lasso"])
            self._values = arrays["values"].copy()


def _resized(chain: Floats, size: int) -> Floats:
    """A start for the posterior's Markov chain when the number of states has changed."""
    if len(chain) == size:
        return chain
    grown = np.full((size, size), 1.0 / size)
    kept = min(size, len(chain))
    grown[:kept, :kept] = 0.5 * grown[:kept, :kept] + 0.5 * chain[:kept, :kept]
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))
