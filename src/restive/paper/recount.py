"""Algorithm 2 written down once more, in plain dictionaries, to hold a run against its text.

The learner is asked at the start of every episode what it counted, estimated, allowed for and
planned; the same is then worked out from nothing but what was pulled and seen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt

import numpy as np

from restive.learners.paper.inputs import Inputs
from restive.learners.paper.restless import RestlessLearner
from restive.model.bandit import Bandit
from restive.paper.criteria import DELTA
from restive.paper.ledger import CLOSE, Key, Ledger
from restive.paper.plans import Note, note_of, worth
from restive.simulation import BanditWorld


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
