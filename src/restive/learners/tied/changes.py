"""Arms that change: evidence that one did, and counts that forget what was before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import exp, log, sqrt
from typing import Any

import numpy as np

from restive.base.arrays import Floats
from restive.learners.records import arrays_of, record_from
from restive.learners.storage import Arrays, SavedArrays, SavedState
from restive.learners.tied.gaps import Gaps

FOREVER = 1 << 62
TILTS = np.array([-4.0, -2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0, 4.0])


@dataclass(frozen=True)
class ChangeSettings:
    """How the learner watches for changes; chosen on problems that are reported nowhere."""

    every: int = 50  # steps from one look at the evidence to the next
    alarm: float = 0.05  # chance of a false alarm, of all arms in a whole run, about
    enough: float = 10.0  # samples for each state that there must be to compare with
    risk: float = 0.1  # changes that an arm at rest is reckoned to have had in all steps so far
    doubt: float = 1.0  # log of the ratio of likelihoods up to which looks are odd by chance
    patience: int = 4  # steps for each arm that one rests at least, whatever the evidence
    early: float = 0.8  # share of a wait from which on the price of a look is asked at every step


class ChangeWatch:
    """Compares the latest samples of every arm with what is believed of it.

    Counts as they were at earlier steps are kept as checkpoints, ever fewer the older. The samples
    since a checkpoint have, if the arm is as believed, a likelihood ratio of mean 1 against the
    mixture of arms whose odds of a state, or mean rewards of one, are another (``log_evidence``):
    so it exceeds x with probability 1/x at most (Ville), from any one checkpoint on. Where it is
    beyond checks * arms / alarm, what is older than the checkpoint is forgotten.

    An arm that is pulled no more could change unseen, so it is looked at. Looks w steps apart cost
    price / w a step, and a change costs prize * w / 2 until it is seen; with ``risk`` changes in t
    steps the least is lost with w = sqrt(2 t price / (risk prize)). The price of a look is what the
    plan says it would lose now, so arms are looked at when it is low; the prize is all that could
    be gained, 1 less the mean reward. Arms rest for less where the likeliest of the changes above
    explains the latest looks better.
    """

    def __init__(self, n_arms: int, settings: ChangeSettings) -> None:
        self.settings = settings
        self.n_arms = n_arms
        self.checks = 0
        self.checked = 0  # step of the last check
        self.renewed = 0  # step at which something was forgotten
        self.fresh = False  # whether an arm at rest was looked at in this step
        self.numbers: list[int] = []  # of the checks at which the checkpoints were taken
        self.points: list[Gaps] = []
        self.prices: Floats = np.zeros(n_arms)  # of the last look at each arm at rest
        self.scales: Floats = np.full(n_arms, FOREVER)  # steps between two looks at price 1

    def steps_left(self, steps: int) -> int:
        """Until the next check."""
        return self.settings.every - steps % self.settings.every

    def due(self, steps: int) -> bool:
        """Now and then, and after a look at an arm at rest: an odd one calls for another soon."""
        return (self.fresh or steps % self.settings.every == 0) and steps > self.checked

    def make_room(self, size: int) -> None:
        self.points = [point.with_room(size) for point in self.points]

    def check(self, steps: int, counts: Gaps, chains: Sequence[Floats]) -> list[int]:
        """Arms that have changed; their counts forget what was before."""
        self.checks, self.checked, self.fresh = self.checks + 1, steps, False
        threshold = log(self.checks * self.n_arms / self.settings.alarm)
        changed = []
        for arm, chain in enumerate(chains):
            evidence, peaks = self._evidence(arm, counts, chain)
            suspicion = max(0.0, float(peaks.max(initial=0.0)) - self.settings.doubt)
            if evidence.max(initial=-np.inf) > threshold:
                self._forget(arm, int(evidence.argmax()), counts)
                changed.append(arm)
                suspicion = 0.0
            self.scales[arm] = self._scale(steps, counts) * exp(-suspicion)
        if changed:
            self.renewed = steps
            self.prices[:] = 0.0  # there will be other plans
        self._keep(counts)
        return changed

    def wait(self, arm: int, price: float) -> int:
        """Steps that an arm may rest if a look at it loses so much."""
        if self.scales[arm] == FOREVER:
            return FOREVER
        least = self.settings.patience * self.n_arms
        return max(least, int(self.scales[arm] * sqrt(max(price, 0.0))))

    def asks_after(self, arm: int) -> int:
        """Steps that an arm rests before the price of a look is asked: that of the last or less."""
        wait = self.wait(arm, self.prices[arm])
        return wait if wait == FOREVER else int(self.settings.early * wait)

    def _scale(self, steps: int, counts: Gaps) -> float:
        pulls, total = counts.paid[..., 0].sum(), counts.paid[..., 1].sum()
        prize = max(1.0 - total / max(pulls, 1.0), 1e-3)
        return sqrt(2 * steps / (self.settings.risk * prize))

    def _evidence(self, arm: int, counts: Gaps, chain: Floats) -> Floats:
        """Log of the evidence for a change since each checkpoint, and of that for the likeliest.

        The latter less what fitting its tilt to chance is worth, as in Schwarz's criterion.
        """
        from restive._kernels import changes, tied

        size = min(len(chain), counts.gaps.shape[1])
        before = np.array([point.visits[arm] for point in self.points])
        usable = (before >= self.settings.enough * size) & (before < counts.visits[arm])
        evidence = np.full((2, len(self.points)), -np.inf)
        if not usable.any():
            return evidence
        now = np.ascontiguousarray(counts.gaps[arm, :size, :, :size])
        places = np.flatnonzero(usable)
        older = np.array([self.points[c].gaps[arm, :size, :, :size] for c in places])
        paid = np.array([self.points[c].paid[arm, :size] for c in places])
        recent = np.flatnonzero((now - older[0]).any(axis=(0, 2)))
        powers = np.empty((recent[-1] + 1 if len(recent) else 1, len(chain), len(chain)))
        tied.fill_gap_powers(chain, powers)
        means = (counts.paid[arm, :size, 1] + 0.5) / (counts.paid[arm, :size, 0] + 1.0)
        powers = np.ascontiguousarray(powers[:, :size, :size])
        values, rewards = np.empty((2, len(places))), counts.paid[arm, :size]
        changes.log_evidence(now, rewards, older, paid, powers, means, TILTS, *values)
        values[1] -= 0.5 * np.log(counts.visits[arm] - before[places])  # a tilt fitted to so many
        evidence[:, places] = values
        return evidence

    def _forget(self, arm: int, place: int, counts: Gaps) -> None:
        """Take the counts at a checkpoint away from those since, and from itself last."""
        first = self.points[place]
        for later in (counts, *self.points[place + 1 :]):
            _subtract(later, first, arm)
        for earlier in self.points[: place + 1]:
            _subtract(earlier, earlier, arm)

    def _keep(self, counts: Gaps) -> None:
        """A checkpoint now; of older ones, those whose number is a multiple of 2^k <= their age."""
        kept = [
            (number, point)
            for number, point in zip(self.numbers, self.points, strict=True)
            if number % (1 << ((self.checks - number).bit_length() - 1)) == 0
        ]
        copy = Gaps(**arrays_of(counts))
        self.numbers = [number for number, _ in kept] + [self.checks]
        self.points = [point for _, point in kept] + [copy]

    def snapshot(self) -> tuple[dict[str, Any], Arrays]:
        state = {"checks": self.checks, "checked": self.checked, "renewed": self.renewed,
                 "numbers": list(self.numbers)}  # fmt: skip
        arrays: Arrays = {"prices": self.prices.copy(), "scales": self.scales.copy()}
        for k, point in enumerate(self.points):
            arrays |= arrays_of(point, f"point_{k}_")
        return state, arrays

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        self.checks, self.checked = int(state["checks"]), int(state["checked"])
        self.renewed, self.numbers = int(state["renewed"]), [int(n) for n in state["numbers"]]
        self.prices, self.scales = arrays["prices"].copy(), arrays["scales"].copy()
        places = range(len(self.numbers))
        self.points = [record_from(Gaps, arrays, f"point_{k}_") for k in places]


def _subtract(counts: Gaps, older: Gaps, arm: int) -> None:
    for part in fields(Gaps):
        own = getattr(counts, part.name)
        own[arm] = own[arm] - getattr(older, part.name)[arm]
