"""A plan at work: simulated play that tells which information states matter, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints

if TYPE_CHECKING:
    from restive.planning import Plan


PATHS, STEPS, WARM_UP = 64, 1000, 1000


@dataclass(frozen=True, eq=False)
class Play:
    """What happened on B independent paths of T steps, in the order of time.

    last_states, ages: (T, B, K) information state before each pull.
    pulls: (T, B) arm pulled.
    hidden: (T, B, K) state each arm was in at the pull; that of the arm pulled was seen.
    """

    last_states: Ints
    ages: Ints
    pulls: Ints
    hidden: Ints

    @property
    def seen(self) -> Ints:
        """State seen at each pull, shape (T, B)."""
        return self.of_pulled(self.hidden)

    def of_pulled(self, values: Ints) -> Ints:
        """Entries of a (T, B, K) array that belong to the arm pulled, shape (T, B)."""
        return np.take_along_axis(values, self.pulls[..., None], axis=-1)[..., 0]


def simulated_play(
    plan: Plan, steps: int = STEPS, paths: int = PATHS, warm_up: int = WARM_UP, rng: int = 0
) -> Play:
    """Follow the plan from the bandit's initial laws; the first ``warm_up`` steps are dropped."""
    bandit, stream = plan.bandit, np.random.default_rng(rng)
    count = bandit.n_arms
    rows = [np.cumsum(arm.transitions, axis=1) for arm in bandit.arms]
    laws = [np.cumsum(arm.initial_law)[None] for arm in bandit.arms]
    hidden = np.stack([_draw(law, np.zeros(paths, np.int64), stream) for law in laws], axis=-1)
    states, ages = np.zeros((paths, count), np.int64), np.ones((paths, count), np.int64)
    everyone = np.arange(paths)
    log: list[tuple[Ints, Ints, Ints, Ints]] = []
    for t in range(count + warm_up + steps):
        # Play starts with one pull of each arm in turn.
        pulls = np.full(paths, t) if t < count else plan.actions(states, ages)
        if t >= count + warm_up:
            log.append((states.copy(), ages.copy(), pulls, hidden))
        states[everyone, pulls] = hidden[everyone, pulls]
        ages += 1
        ages[everyone, pulls] = 1
        hidden = np.stack([_draw(rows[j], hidden[:, j], stream) for j in range(count)], axis=-1)
    return Play(*(np.stack(part) for part in zip(*log, strict=True)))


def _draw(cumulative: Floats, states: Ints, stream: np.random.Generator) -> Ints:
    """One next state for each of ``states``, from rows of cumulated probabilities."""
    drawn = (stream.random(len(states))[:, None] >= cumulative[states]).sum(axis=1)
    return np.asarray(np.minimum(drawn, cumulative.shape[1] - 1))  # sums may end just below 1
