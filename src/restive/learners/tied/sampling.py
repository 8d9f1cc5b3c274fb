"""Posterior sampling with all ages of an arm tied to one matrix; told nothing of the bandit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from restive.base.arrays import Floats
from restive.base.errors import refusal
from restive.base.options import Parameter
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.index_planning import ChoosingPlanner
from restive.learners.paper.rules import Evidence
from restive.learners.storage import SavedArrays, SavedState, Snapshot, plain_label
from restive.learners.tied.belief import Belief, PosteriorDraw
from restive.learners.tied.changes import ChangeSettings, ChangeWatch
from restive.learners.tied.gap_learner import GapLearner, planner_for
from restive.learners.tied.plan_size import (
    FEW_ARMS,
    MOST_STATES,
    require_plannable,
)
from restive.learners.tied.posterior import ChainPosterior, RewardPosterior
from restive.learners.tied.settings import HopeSettings, TiedSettings


@declare(
    "tied-sampling",
    "posterior sampling with all ages of an arm tied to one matrix; told nothing",
    guarantee="none proven; Bayesian: each episode's model is a draw, or a mean of a few, from the "
    "posterior, which is exact for Dirichlet rows and normal rewards",
    assumes="irreducible chains, rewards in [0, 1]",
    told="the number of arms, and which of them are declared alike",
    options=(
        Parameter("growth", "float", ..., "longest episode, as a share of all steps before", 0),
        Parameter("aggregation", "float", ..., "L1 distance at which ages are no longer told apart",
                  0, 2, above=True),
        Parameter("changes", "bool", ..., "watch for arms that change, and forget what they were"),
        Parameter("hope", "bool", ..., "hope that states hardly known yet are good ones"),
    ),
    practice=Practice(
        {"growth": 0.01, "aggregation": 0.02},
        "episodes are half as long, as the search that all learners had found best",
        guarantee="none proven",
    ),
    several_pulls=True,
    refuse=lambda bandit: require_plannable(bandit.n_states),  # now, not once it has seen them all
)  # fmt: skip
class TiedSampling(GapLearner):
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

    Plans are exact as long as their information states are no more than 20,000 and 200 for each
    step that the episode may last (from six arms on: 600,000 bytes and 3,000 a step) with ages told
    apart up to ``aggregation``, at most 256. Otherwise, with several pulls a step and where most
    steps show nothing (``seldom_table``), every arm gets its Whittle index, at ages as old as may
    occur. The budget is one of size: the same seed gives the same play. Only arms of more than 30
    states, for which indices would take too long, are planned for exactly with fewer ages. Of more
    than 60 arms, those that were not pulled keep what was drawn for them for some episodes.

    groups: for each arm the first one that is declared to be like it; what is seen of arms that are
    alike is pooled, and they share one draw.
    changes: watch every arm for a change of its chain or rewards (``ChangeWatch``). Where there is
    one, what was seen of the arm before is forgotten; arms that rest long are looked at.
    hope: a state that was hardly left yet has the row of the one of ten draws in which it is worth
    most, so that a good state which is rare is not given up after one short visit; an arm that
    never moved is looked at for ever, ever more rarely.

    >>> learner = TiedSampling(2, rng=0)
    >>> learner.tell(learner.ask(), "busy", 0.0)
    >>> learner.ask()
    1
    """

    planner: ChoosingPlanner
    watch: ChangeWatch | None = None

    def __init__(
        self, n_arms: int, rng: int | np.random.Generator = 0,
        settings: TiedSettings | None = None, pulls: int = 1, groups: Sequence[int] = (),
    ) -> None:  # fmt: skip
        super().__init__(n_arms, None, rng, pulls)
        self.options = settings or TiedSettings()
        self.groups = _checked_groups(groups, n_arms)
        self.labels.share(self.groups)
        self.rule = PosteriorDraw(n_arms, self.options, self.groups)
        self.planner = planner_for(self.rule, self._small, self._share)
        if self.options.changes is not None:
            self.watch = ChangeWatch(n_arms, self.options.changes)

    @classmethod
    def from_problem(
        cls, n_arms: int, pulls: int = 1, rng: int | np.random.Generator = 0,
        growth: float = TiedSettings.growth, aggregation: float = TiedSettings.aggregation,
        changes: bool = False, hope: bool = True, groups: Sequence[int] = (),
    ) -> TiedSampling:  # fmt: skip
        settings = TiedSettings(
            growth=growth, aggregation=aggregation, changes=ChangeSettings() if changes else None,
            hope=HopeSettings() if hope else None,
        )  # fmt: skip
        return cls(n_arms, rng, settings, pulls, groups)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> TiedSampling:
        known = ("n_arms", "pulls", "groups")
        rest = {key: part for key, part in settings.items() if key not in known}
        rest["chains"] = ChainPosterior(**rest["chains"])
        rest["rewards"] = RewardPosterior(**rest["rewards"])
        if "changes" in rest:
            rest["changes"] = ChangeSettings(**rest["changes"])
        rest["hope"] = HopeSettings(**rest["hope"]) if "hope" in rest else None
        told = {key: settings[key] for key in known if key in settings}
        return cls(settings=TiedSettings(**rest), **told)

    @property
    def settings(self) -> dict[str, Any]:
        chosen = asdict(self.options)
        for option in ("changes", "hope"):
            if chosen[option] is None:
                del chosen[option]  # as it was before there was the option
        told: dict[str, Any] = {"n_arms": self.n_arms, "pulls": self.pulls}
        if self.groups:
            told["groups"] = list(self.groups)
        return {**told, **chosen}

    @property
    def most_pulls(self) -> int:
        """One built for a single pull may plan exactly, which says nothing of the second best."""
        return super().most_pulls if self.pulls > 1 else 1

    @property
    def chains(self) -> tuple[Floats, ...]:
        """The matrices that the current plan was made with."""
        return self.rule.belief.chains

    def _small(self, evidence: Evidence, belief: Belief) -> bool:
        """An exact plan is one of a single pull a step, which shows the arm's state."""
        if self._share() < 1 and max(self.labels.sizes) <= MOST_STATES:
            return False
        return self.pulls == 1 and self.rule.small(evidence, belief)

    def _admit(self, arm: int, state: Hashable) -> None:
        """Refuse one more state of an arm if plans would get too large, or no state ever returns.

        Nothing can be learned of states that are all seen once, as measured numbers are.
        """
        sizes = list(self.labels.sizes)
        if plain_label(state) in self.labels.numbers[arm]:
            return
        sizes[arm] = len(self.labels.numbers[arm]) + 1
        require_plannable(sizes)
        seen = self.counts.paid[arm, : sizes[arm] - 1, 0]
        if len(seen) >= self.options.one_time_states and (seen == 1).mean() >= 0.9:
            words = f"{len(seen)} states, {int((seen == 1).sum())} of them seen just once"
            remedy = "Put measured numbers into a few bins, and give the bin as the state."
            raise refusal("state", f"arm {arm} hardly ever returns to a state", words, remedy)

    def preferences(self) -> Floats:
        if not self.sight.complete or not self.planner.by_index:
            return super().preferences()
        wishes: Floats = self.policy.preferences(self.sight)
        detour = self._detour()
        if detour is not None:
            wishes[detour] = np.inf
        return wishes

    def _begin(self) -> None:
        super()._begin()
        if self._detour() is not None:  # then comes a plan that knows what the look has shown
            self.until = self.began + 1
        if self.watch is not None and self.watch.renewed:  # learn as fast as after a start
            young = int(self.options.growth * (self.began - self.watch.renewed))
            self.until = min(self.until, self.began + max(1, young))

    def _make_room(self) -> None:
        super()._make_room()
        if self.watch is not None:
            self.watch.make_room(max(self.labels.sizes))

    def _renew(self) -> bool:
        """Forget what an arm was before it changed, if it did."""
        if self.watch is None or not self.running or not self.watch.due(self.sight.steps):
            return False
        sober = self.rule.sober(self.counts)
        changed = self.watch.check(self.sight.steps, self.counts, sober)
        self.rule.forget(changed)
        return bool(changed)

    def _detour(self) -> int | None:
        rest, arm = self._next_look()
        if self.running and rest <= 0:
            return arm
        return None if self.watch is None else self._look_at_rest(self.watch)

    def _look_at_rest(self, watch: ChangeWatch) -> int | None:
        """The arm that has rested long enough for what a look at it would lose now."""
        ages = self.sight.ages
        asked = [arm for arm, age in enumerate(ages) if age >= watch.asks_after(arm)]
        if not asked or not self.running:
            return None
        prices = self._prices()
        due = [arm for arm in asked if ages[arm] >= watch.wait(arm, prices[arm])]
        return min(due, key=lambda arm: prices[arm], default=None)

    def _prices(self) -> Floats:
        """What the plan says that pulling each arm now would lose."""
        wishes: Floats = self.policy.preferences(self.sight)
        return np.asarray(np.partition(wishes, -self.pulls)[-self.pulls] - wishes)

    def _count(self, arm: int, state: int, reward: float) -> None:
        if self.watch is not None and self.sight.complete and arm == self._detour():
            self.watch.prices[arm] = max(0.0, self._prices()[arm])
            self.watch.fresh = True
        super()._count(arm, state, reward)

    def _steps_left(self) -> int:
        left = min(self._next_look()[0], super()._steps_left())
        if self.watch is None:
            return left
        rests = [self.watch.asks_after(a) - self.sight.age(a) for a in range(self.n_arms)]
        return min(left, self.watch.steps_left(self.sight.steps), max(1, min(rests)))

    def _next_look(self) -> tuple[int, int]:
        """Steps until an arm that never moved is looked at again whatever the plan says; which one.

        Draws alone may leave it aside for thousands of steps after a few bad looks, and for ever
        once it is thought to stand still.
        """
        due = (self.until - self.began + 1, -1)
        crowd = max(1.0, self.n_arms / FEW_ARMS)  # there is one pull for all of them
        hope, chains = self.options.hope, self.chains
        for arm, size in enumerate(self.labels.sizes):
            still = len(chains[arm]) == 1  # pulled often as the episode began
            if size > 1 or (still and hope is None):
                continue
            wait = self.options.look_again * self.counts.paid.item(arm, 0, 0)
            if still and hope is not None:
                wait = max(wait, hope.rest * self.began)
            due = min(due, (int(crowd * wait) - self.sight.age(arm), arm))
        return due

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        if self.watch is not None:
            state["watch"], points = self.watch.snapshot()
            arrays |= points
        return state, arrays

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        super().restore(state, arrays)
        self.labels.share(self.groups)
        self._make_room()
        if self.watch is not None:
            self.watch.restore(state["watch"], arrays)


def _checked_groups(groups: Sequence[int], n_arms: int) -> tuple[int, ...]:
    leaders = tuple(int(leader) for leader in groups)
    whole = len(leaders) == n_arms and all(0 <= j <= k for k, j in enumerate(leaders))
    if leaders and not (whole and all(leaders[j] == j for j in leaders)):
        remedy = f"Give {n_arms} numbers: for each arm the first one that is like it."
        raise refusal("groups", "not groups of arms", str(groups)[:80], remedy)
    return leaders
