"""Long runs: nothing overflows or loses digits, and neither memory nor time per step grows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.learners import Learner, make_learner
from restive.learners.storage import Arrays, Snapshot
from restive.model.bandit import Arm, Bandit
from restive.simulation import BanditWorld, Run, play
from verification import Check, Finding, Settings, judge

__all__ = ["CHECKS"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

STRETCHES = 50  # points of the figure
DIGITS = 1e-9  # relative error that sums may have
SLOWER = 1.5  # by which the last fifth of a run may seem slower: other work shares the machine
MEMORY = 16_000_000  # bytes that a run may take beyond its first fifth


def bandit() -> Bandit:
    """Two arms whose rewards are no sums of powers of two, so that adding them up must round."""
    return Bandit(
        [Arm([[0.9, 0.1], [0.2, 0.8]], [0.1, 0.7]), Arm([[0.7, 0.3], [0.3, 0.7]], [0.3, 0.55])],
        name="two arms",
    )


@dataclass
class Watch(Learner):
    """A learner's twin that counts, in integers, what every arm was found in."""

    inner: Learner
    n_arms: int = 2
    sightings: Ints = field(default_factory=lambda: np.zeros((2, 2), dtype=np.int64))

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        pulls = self.inner.play_path(states, rewards)
        seen = states[pulls, np.arange(len(pulls))]
        self.sightings += np.bincount(2 * pulls + seen, minlength=4).reshape(2, 2)
        return pulls

    def ask(self) -> int:
        return self.inner.ask()

    def tell(self, arm: int, state: Any, reward: float) -> None:
        self.inner.tell(arm, state, reward)

    def snapshot(self) -> Snapshot:
        return self.inner.snapshot()

    def restore(self, state: Any, arrays: Any) -> None:
        self.inner.restore(state, arrays)

    @property
    def episodes(self) -> tuple[int, ...]:
        return self.inner.episodes


def resident() -> int:
    """Bytes of memory that the process holds now."""
    with open("/proc/self/statm", encoding="ascii") as stream:
        return int(stream.read().split()[1]) * 4096


@dataclass
class Diary:
    """Processor time and memory, stretch by stretch."""

    steps: int
    at: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)

    def note(self, done: int, _: float) -> None:
        if done >= (len(self.at) + 1) * self.steps // STRETCHES:
            self.at.append(done)
            self.seconds.append(process_time())
            self.memory.append(resident())

    @property
    def nanoseconds(self) -> Floats:
        """Per step, of every stretch but the first, which has the compiling in it."""
        return np.asarray(1e9 * np.diff(self.seconds) / np.diff(self.at))


def exact_sums(sightings: Ints, problem: Bandit) -> list[Fraction]:
    """What each arm paid, without any rounding but that of its rewards."""
    means = [[Fraction(float(r)) for r in arm.rewards] for arm in problem.arms]
    return [sum((int(n) * r for n, r in zip(*row, strict=True)), Fraction(0))
            for row in zip(sightings, means, strict=True)]  # fmt: skip


def error(value: float, exact: Fraction) -> float:
    """Relative error."""
    return float(abs(Fraction(float(value)) - exact) / exact)


def long_run(name: str, steps: int) -> tuple[Watch, Run, Diary]:
    problem = bandit()
    watch, diary = Watch(make_learner(name, problem, steps, rng=1)), Diary(steps)
    run = play(watch, BanditWorld(problem, 5), steps, progress=diary.note)
    return watch, run, diary


def _remembered(arrays: Arrays) -> tuple[list[float], tuple[int, ...]]:
    """What each arm paid and how often it was pulled, as the learner has it; empty if unknown."""
    if "sums" in arrays:
        return arrays["sums"][:, 0].tolist(), tuple(arrays["plays"].tolist())
    if "paid" in arrays:  # per state: count, sum, sum of squares
        totals = arrays["paid"].sum(axis=1)
        return totals[:, 1].tolist(), tuple(totals[:, 0].astype(np.int64).tolist())
    return [], ()


def _digits(name: str, watch: Watch, run: Run) -> Iterator[Finding]:
    exact = exact_sums(watch.sightings, bandit())
    counted = tuple(watch.sightings.sum(axis=1).tolist())
    yield Finding(
        name, "every step is counted, by the run and by an integer count beside it",
        f"pulls {run.pulls[0]:,} and {run.pulls[1]:,}", f"sum {run.horizon:,}, equal",
        judge(run.pulls == counted and sum(counted) == run.horizon),
    )  # fmt: skip
    worst = error(run.total_reward, sum(exact, Fraction(0)))
    yield Finding(
        name, "the sum of rewards keeps its digits", f"relative error {worst:.1e}",
        f"<= {DIGITS:g}", judge(worst <= DIGITS),
    )  # fmt: skip
    state, arrays = watch.snapshot()
    sums, plays = _remembered(arrays)
    if sums:
        own = max(error(s, e) for s, e in zip(sums, exact, strict=True))
        yield Finding(
            name, "so do the learner's own sums, and its counts are exact",
            f"relative error {own:.1e}", f"<= {DIGITS:g}",
            judge(own <= DIGITS and plays == counted),
        )  # fmt: skip
    if "sight" in state:
        finite = all(np.isfinite(a).all() for a in arrays.values() if a.dtype.kind == "f")
        yield Finding(
            name, "its clock is exact and all numbers it remembers are finite",
            f"clock {state['sight']['steps']:,}", f"{run.horizon:,}",
            judge(state["sight"]["steps"] == run.horizon and finite),
        )  # fmt: skip


def _flat(name: str, diary: Diary) -> Iterator[Finding]:
    fifth = STRETCHES // 5
    cost = diary.nanoseconds
    early, late = np.median(cost[fifth : 2 * fifth]), np.median(cost[-fifth:])
    yield Finding(
        name, "time per step does not grow",
        f"{early:.0f} ns in the second fifth, {late:.0f} ns in the last", f"<= {SLOWER:g} times",
        judge(bool(late <= SLOWER * early)),
    )  # fmt: skip
    more = max(diary.memory[fifth:]) - diary.memory[fifth - 1]
    yield Finding(
        name, "memory does not grow after the first fifth", f"{more / 1e6:+.1f} MB",
        f"<= {MEMORY / 1e6:g} MB", judge(more <= MEMORY),
    )  # fmt: skip


def _draw(settings: Settings, name: str, diary: Diary) -> None:
    def paint(axes: Any) -> None:
        axes.plot(diary.at[1:], diary.nanoseconds, color="#0072b2", label="time per step")
        axes.set(xlabel="steps", ylabel="processor time per step, ns", title=name)
        axes.set_ylim(0)
        other = axes.twinx()
        other.plot(diary.at, np.array(diary.memory) / 1e6, color="#d55e00", linestyle="--")
        other.set_ylabel("memory, MB (dashed)")
        other.set_ylim(0)

    settings.draw(f"long-run-{name}", paint)


def _check(name: str, full: int, quick: int) -> Check:
    def check(settings: Settings) -> Iterator[Finding]:
        long_run(name, 10_000)  # compile
        watch, run, diary = long_run(name, settings.size(full, quick))
        yield from _digits(name, watch, run)
        yield from _flat(name, diary)
        _draw(settings, name, diary)

    return check


CHECKS: dict[str, Check] = {
    "long-ucb1": _check("ucb1", 10**9, 10**7),
    "long-default": _check("tied-sampling", 10**7, 4_000_000),
}
