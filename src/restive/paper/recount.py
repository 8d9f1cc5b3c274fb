"""Algorithm 2 written down once more, in plain dictionaries, to hold a run against its text.

The learner is asked at the start of every episode what it counted, estimated, allowed for and
planned; the same is then worked out from nothing but what was pulled and seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import ceil, lcm, log, log2, sqrt
from typing import NamedTuple

import numpy as np

from restive.learners.paper.inputs import Inputs
from restive.learners.paper.restless import RestlessLearner
from restive.model.bandit import Arm, Bandit
from restive.paper.criteria import DELTA
from restive.paper.published_formulas import Note, note_of, published_radii, worth
from restive.simulation import BanditWorld

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


@dataclass(frozen=True)
class Recount:
    """How a run compares with the text: episodes looked at, and what was found to differ."""

    episodes: int
    differs: dict[str, int]


@dataclass(frozen=True)
class Exploration:
    """Phases of exploration: how long each took, and how many states were known after it."""

    steps: tuple[int, ...]
    known: tuple[int, ...]


class Noted(RestlessLearner):
    """Algorithm 2 that writes down how its episodes begin and end."""

    def __init__(self, inputs: Inputs) -> None:
        self.notes: list[Note] = []
        self.ends: list[int] = []
        super().__init__(inputs)

    def _begin(self) -> None:
        super()._begin()
        self.notes.append(note_of(self))

    def _end(self) -> None:
        super()._end()
        self.ends.append(self.sight.steps)


def exploration(bandit: Bandit, steps: int, seed: int) -> Exploration:
    """A run of Algorithm 2 without knowing the states; the pulls that start it are left out."""
    learner = Noted(Inputs.of(bandit, steps, DELTA, unknown_states=True))
    learner.play_path(*next(iter(BanditWorld(bandit, seed).stream(steps, steps))))
    begins, notes = [bandit.n_arms, *learner.ends], learner.notes
    lengths = (note.step - begin for begin, note in zip(begins, notes, strict=False))
    return Exploration(tuple(lengths), tuple(sum(map(len, note.grids)) for note in notes))


def recount(bandit: Bandit, steps: int, seed: int, options: dict[str, bool]) -> Recount:
    """A run of Algorithm 2 and what in it is not as printed."""
    learner = Noted(Inputs.of(bandit, steps, DELTA, **options))
    path, paid = next(iter(BanditWorld(bandit, seed).stream(steps, steps)))
    pulls = learner.play_path(path, paid)
    ledger = Ledger(bandit, steps, options)
    differs: Counter[str] = Counter()
    notes, ends = {note.step: note for note in learner.notes}, set(learner.ends)
    episode: _Episode | None = None
    rested: list[set[int]] = [set() for _ in bandit.arms]
    for step, arm in enumerate(pulls.tolist()):
        if step in ends and episode is not None:
            differs.update(_ending(ledger, episode, step) + _followed(episode))
            episode, rested = None, [set() for _ in bandit.arms]
        if step in notes:
            differs.update(ledger.differs(notes[step]) + _explored(ledger, rested))
            if "colors" in differs:  # nothing else can be compared
                break
            episode = _Episode(notes[step], ledger)
        if episode is not None:
            differs.update(episode.pull(ledger, arm, step))
        else:
            rested[arm].add(int(path[arm, step]))
        ledger.see(arm, int(path[arm, step]), float(paid[arm, step]), step)
    return Recount(len(notes), dict(differs))


class _Episode:
    """N_k and v_k, and every information state with the arm that was pulled in it."""

    def __init__(self, note: Note, ledger: Ledger) -> None:
        self.note, self.t, self.number, self.sizes = note, ledger.t, ledger.number, ledger.sizes
        self.before, self.now = Counter(ledger.visits), Counter[Key]()
        self.seen: list[tuple[int, list[Key], list[int]]] = []  # arm, colors, ages

    def full(self, color: Key) -> bool:
        """Not v_k(c) < max(1, N_k(c))."""
        return self.now[color] >= max(1, self.before[color])

    def pull(self, ledger: Ledger, arm: int, step: int) -> list[str]:
        if ledger.sizes != self.sizes:  # a new state should have ended it
            return ["episodes too long"]
        keys, ages = ledger.colors(step)
        late = self.full(keys[arm])
        self.now[keys[arm]] += 1
        self.seen.append((arm, keys, ages))
        return ["episodes too long"] if late else []


def _followed(episode: _Episode) -> list[str]:
    """eq. (4): each pull is the best one under the most favourable model, to 1/sqrt(t_k)."""
    pulled, keys, ages = (np.array(many) for many in zip(*episode.seen, strict=True))
    states, stored = keys[..., 1], keys[..., 2]
    worths = worth(episode.note, states, ages, stored)
    best = worths.max(axis=1)
    short = best - worths[np.arange(len(pulled)), pulled]
    left = np.ptp(best - episode.note.values(states, ages))  # the bounds of the gain
    wrong = ["policy"] if (short > CLOSE * (1 + np.abs(best))).any() else []
    return wrong + (["plan"] if left > 1 / sqrt(episode.t) + CLOSE else [])


def _ending(ledger: Ledger, episode: _Episode, step: int) -> list[str]:
    """It ends before the pull of a color whose visits have doubled, or a new state or round."""
    if episode.number != ledger.number or episode.sizes != ledger.sizes:
        return []
    keys, ages = ledger.colors(step)
    colors = np.array([keys])
    worths = worth(episode.note, colors[..., 1], np.array([ages]), colors[..., 2])[0]
    ahead = np.flatnonzero(worths >= worths.max() - CLOSE * (1 + np.abs(worths).max()))
    full = any(episode.full(keys[arm]) for arm in ahead)
    return [] if full else ["episodes too short"]


def _explored(ledger: Ledger, rested: list[set[int]]) -> list[str]:
    """Between episodes every arm is sampled until all its known states have been seen."""
    if "states" not in ledger.hidden:
        return []
    short = any(len(seen) < size for seen, size in zip(rested, ledger.sizes, strict=True))
    return ["exploration"] if short else []
