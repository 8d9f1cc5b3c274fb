"""The text of Algorithm 2 as books kept in plain dictionaries: what is counted under what."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import ceil, lcm, log, log2, sqrt
from typing import NamedTuple

import numpy as np

from restive.model.bandit import Arm, Bandit
from restive.paper.criteria import DELTA
from restive.paper.plans import Note
from restive.paper.printed import published_radii

Key = tuple[int, int, int]  # arm, state last seen, stored age
CLOSE = 1e-9
SETTLED = 1 << 12  # turns of a small chain after which it is where it tends to


class RecountedRound(NamedTuple):
    """T, delta and the first sample of a round, and the caps M_j of eq. (1)."""

    horizon: int
    delta: float
    first: int
    caps: tuple[int, ...]


class Ledger:
    """The text: what is counted under which color, and what follows from it."""

    def __init__(self, bandit: Bandit, horizon: int, options: dict[str, bool]) -> None:
        self.bandit, self.hidden = bandit, {key.removeprefix("unknown_") for key in options}
        self.horizon = horizon
        arms = range(bandit.n_arms)
        self.names: list[dict[int, int]] = [{} for _ in arms]  # label -> number, as discovered
        if "states" not in self.hidden:
            self.names = [{s: s for s in range(arm.n_states)} for arm in bandit.arms]
        self.last: list[tuple[int, int] | None] = [None for _ in arms]  # state and step
        self.samples, self.number = 0, 1
        self._open(0)

    def _open(self, first: int) -> None:
        """Round i with T = 2^i and delta/2^i, or the only one."""
        rounds = bool({"horizon", "mixing"} & self.hidden)
        steps = 2**self.number if rounds else self.horizon
        guess = max(1, ceil(log(2**self.number - 1))) if "mixing" in self.hidden else 0
        times = [guess or _mixing_time(arm) for arm in self.bandit.arms]
        factor = max(1, ceil(log2(sqrt(steps)) - 1e-12))
        delta = DELTA / 2**self.number if rounds else DELTA
        self.round = RecountedRound(steps, delta, first, tuple(factor * time for time in times))
        self.visits: Counter[Key] = Counter()
        self.outcomes: Counter[tuple[Key, int]] = Counter()
        self.paid: defaultdict[Key, float] = defaultdict(float)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(known) for known in self.names)

    def loop(self, arm: int) -> int:
        """m_j, or lcm(1, ..., |S_j|)."""
        if "periods" in self.hidden:
            return lcm(*range(1, self.sizes[arm] + 1))
        return self.bandit.arms[arm].period

    @property
    def t(self) -> int:
        """Of the next sample, from 1 in every round."""
        return self.samples - self.round.first + 1

    def color(self, arm: int, step: int) -> Key | None:
        """(arm, state last seen, stored age) of a pull after ``step`` steps; None at first."""
        seen = self.last[arm]
        if seen is None:
            return None
        age, cap = step - seen[1], self.round.caps[arm]
        stored = age if age < cap else cap + (age - cap) % self.loop(arm)
        return arm, seen[0], stored

    def colors(self, step: int) -> tuple[list[Key], list[int]]:
        """Colors of pulls of all arms after ``step`` steps, and their ages, once all are seen."""
        keys = [self.color(arm, step) for arm in range(len(self.last))]
        ages = [step - seen[1] for seen in self.last if seen is not None]
        return [key for key in keys if key is not None], ages

    def see(self, arm: int, label: int, reward: float, step: int) -> None:
        """One pull, after ``step`` steps."""
        key, names = self.color(arm, step), self.names[arm]
        loop = self.loop(arm) if names else 1
        state = names.setdefault(label, len(names))
        if key is not None:
            self.visits[key] += 1
            self.outcomes[key, state] += 1
            self.paid[key] += reward
            self.samples += 1
        if loop % self.loop(arm):
            self._drop(arm)
        self.last[arm] = (state, step)
        over = self.samples - self.round.first >= self.round.horizon
        if over and {"horizon", "mixing"} & self.hidden and None not in self.last:
            self.number += 1
            self._open(self.samples)

    def _drop(self, arm: int) -> None:
        """Forget what ages beyond the cap showed: they are told apart in another way now."""
        for key in [key for key in self.visits if key[0] == arm and key[2] >= self.round.caps[arm]]:
            del self.visits[key]
            self.paid.pop(key)
            for state in range(self.sizes[arm]):
                self.outcomes.pop((key, state), None)

    def differs(self, note: Note) -> list[str]:
        """What the learner has in another way."""
        ages = [cap - 1 + self.loop(arm) for arm, cap in enumerate(self.round.caps)]
        shapes = [(size, age) for size, age in zip(self.sizes, ages, strict=True)]
        if [grid.shape for grid in note.grids] != shapes:
            return ["colors"]
        wrong = set()
        for arm, (size, age) in enumerate(shapes):
            for state in range(size):
                for stored in range(1, age + 1):
                    color = int(note.grids[arm][state, stored - 1])
                    wrong |= self._compare((arm, state, stored), color, note, size)
        return sorted(wrong | self._radii(note))

    def _compare(self, key: Key, color: int, note: Note, size: int) -> set[str]:
        count = self.visits[key]
        law = [self.outcomes[key, s] / count if count else 1 / size for s in range(size)]
        mean = self.paid[key] / max(1, count)
        wrong = set()
        if note.visits[color] != count:
            wrong.add("visits")
        off = np.abs(note.model.probabilities[color, :size] - law).max()
        if off > CLOSE or abs(note.model.rewards[color] - mean) > CLOSE:
            wrong.add("estimates")
        return wrong

    def _radii(self, note: Note) -> set[str]:
        """eqs (2) and (3)."""
        printed = published_radii(note.visits, self.t, len(note.visits), max(self.sizes),
                                  self.round.delta, 1 / sqrt(self.round.horizon))  # fmt: skip
        own = (note.model.reward_radii, note.model.radii)
        same = (radii is not None and np.allclose(radii, right, rtol=CLOSE, atol=0)
                for radii, right in zip(own, printed, strict=True))  # fmt: skip
        return set() if all(same) else {"radii"}


def _mixing_time(arm: Arm) -> int:
    """Tmix(1/4) by the definition, power by power; of a periodic chain, in its cyclic classes."""
    rows, period, t = arm.transitions, arm.period, 1
    ends = [np.linalg.matrix_power(rows, SETTLED * period + phase) for phase in range(period)]
    power = rows
    while np.abs(power - ends[t % period]).sum(axis=1).max() > 1 / 4:
        power, t = power @ rows, t + 1
    return t
