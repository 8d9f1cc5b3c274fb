"""Replay: a trace as the world, so that any learner is judged on real data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from restive.base.arrays import Floats
from restive.base.checks import require
from restive.base.errors import RestiveError, refusal, refuse
from restive.base.machine import memory_allowed
from restive.data.fitting import fit
from restive.data.reading import traces_of
from restive.data.replay_result import Kind, Replay, ReplayRow
from restive.data.traces import Traces
from restive.learners.cooldown import Cooldown
from restive.learners.fixed import FollowPolicy
from restive.learners.plain import as_learner
from restive.model.bandit import Bandit
from restive.planning import Plan, plan_within
from restive.policies.greedy import plan_policy
from restive.policies.policy import Always, InTurn, Policy
from restive.policies.sight import NEVER
from restive.policies.tables import whittle_policy
from restive.simulation.traced import Replayed, TraceWorld, play_trace

DEFAULT_LEARNERS = ("tied-sampling", "thompson")
COOLDOWNS = (2, 8, 32)
PATIENCE, MEMORY = 20.0, 1 << 30  # seconds by forecast and bytes of the plan of what was fitted
OLDEST = 200  # ages told apart by indices where no plan fits
STAY = "stay, else the one unseen longest"
MOST_CELLS = 10**8  # arms times steps
THIN = 10**7  # from here on a hundredth of the cells must be seen
CELL = 32  # bytes: state and reward, twice while they change places


def replay(
    data: Any, learners: Any = DEFAULT_LEARNERS, *, train: float = 0.5,
    cooldowns: Sequence[int] = COOLDOWNS, runs: int = 3, delta: float = 0.05, rng: int = 0,
    name: str = "", progress: Callable[[str, int], None] | None = None, **reading: Any,
) -> Replay:  # fmt: skip
    """Let learners pull arms along a trace, and say what they would have earned.

    data: ``Traces``, or whatever ``read_traces`` takes, with its options as ``reading``.
    learners: names, classes, functions or Participants, as for ``compare``. They play the whole
    trace and learn all along; those that are told of the arms are told the fit of the first part.
    train: share of the steps that come before the part that is judged, on which arms are fitted and
    planned for; with 0 nothing is fitted and all steps are judged.
    cooldowns: rests of the rule of thumb ``Cooldown``. runs: of each learner, with other luck.

    A pull of an arm that was not recorded at that step is a missed step: time passes, nothing is
    seen, earned or counted. So rates are means over the recorded pulls: fair if what was recorded
    does not depend on the states, and for learners that live with as many missed steps.

    >>> seen = {"left": [0, 0, 1, 1, 1, 0] * 40, "right": [1, 1, 0, 0, 1, 1] * 40}
    >>> result = replay(seen, ["round-robin"], cooldowns=[])
    >>> result.row("every step the best arm").rate, round(result.row("round-robin").rate, 3)
    (1.0, 0.667)
    """
    require(0 <= train < 1, "train", train, "Give a share from 0 to below 1, such as 0.5.")
    require(runs >= 1, "runs", runs, "Give a number of runs from 1 on.")
    traces = traces_of(data, reading)
    judge = _Judge(trace_world(traces), train)
    fitted, notes = _fitted(traces, train)
    rows = list(_hindsight(judge, traces))
    best = rows[-1].name.removeprefix("best arm: ")
    rows += _first_part(judge, traces, fitted) if judge.begin else ()
    rows += _learners(judge, learners, fitted, runs, delta, rng, progress)
    rows += _rules(judge, cooldowns)
    distinct = {row.name: row for row in rows}  # a rule that was named as a learner too
    return Replay(
        name or _called(traces), traces.source, tuple(arm.name for arm in traces.arms),
        judge.world.steps, judge.begin, float(judge.world.seen.mean()), best,
        tuple(sorted(distinct.values(), key=lambda row: -row.rate)),
        (*traces.notes, *notes, *_pieces(traces)),
    )  # fmt: skip


class _Judge:
    """Sums of what was earned in the part of a trace that is judged."""

    def __init__(self, world: TraceWorld, train: float) -> None:
        self.world, self.begin = world, round(train * world.steps)
        remedy = "Leave some steps to be judged on."
        require(self.begin < world.steps, "train", train, remedy)

    def row(self, name: str, kind: Kind, replays: Sequence[Replayed]) -> ReplayRow:
        parts = [replayed.paid[self.begin :] for replayed in replays]
        rates = [_mean(part) for part in parts]
        counted = float(np.mean([(~np.isnan(part)).mean() for part in parts]))
        whole = float(np.mean([_mean(r.paid) for r in replays])) if self.begin else None
        earned = np.cumsum(np.nan_to_num(parts[0]))
        mean = float(np.mean(rates))
        return ReplayRow(
            name, kind, mean, min(rates), max(rates), counted, whole, earned, len(parts)
        )

    def arm(self, arm: int) -> Replayed:
        """One arm for ever."""
        paid = np.where(self.world.seen[arm], self.world.rewards[arm], np.nan)
        return Replayed(np.full(len(paid), arm), paid)


def _mean(paid: Floats) -> float:
    known = paid[~np.isnan(paid)]
    return float(known.mean()) if len(known) else np.nan


def _hindsight(judge: _Judge, traces: Traces) -> Iterator[ReplayRow]:
    """The best arm of every step, and the best single arm of the part that is judged."""
    world = judge.world
    paid = np.where(world.seen, world.rewards, -np.inf)
    best = paid.argmax(axis=0)
    most = paid.max(axis=0)
    every = Replayed(best, np.where(np.isinf(most), np.nan, most))
    words = "every step the best arm" if world.complete else "every step the best arm recorded"
    yield judge.row(words, "hindsight", [every])
    rates = [_mean(judge.arm(arm).paid[judge.begin :]) for arm in range(world.n_arms)]
    arm = int(np.nanargmax(rates))
    yield judge.row(f"best arm: {traces.arms[arm].name}", "hindsight", [judge.arm(arm)])


def _first_part(judge: _Judge, traces: Traces, fitted: Bandit | None) -> Iterator[ReplayRow]:
    """What the first part suggests: the plan of its fit, and the arm that was best in it."""
    world = judge.world
    if fitted is not None:
        policy, how = _planned(fitted)
        yield judge.row(f"plan of the fit ({how})", "fitted", [play_trace(policy, world)])
    rates = [_mean(judge.arm(arm).paid[: judge.begin]) for arm in range(world.n_arms)]
    arm = int(np.nanargmax(rates)) if not np.isnan(rates).all() else 0
    label = f"best arm before: {traces.arms[arm].name}"
    yield judge.row(label, "fitted", [play_trace(Always(world.n_arms, arm), world)])


def _rules(judge: _Judge, cooldowns: Sequence[int]) -> Iterator[ReplayRow]:
    """Rules of thumb."""
    arms = judge.world.n_arms
    rules: dict[str, Any] = {f"cooldown {rest}": Cooldown(arms, rest) for rest in cooldowns}
    for label, rule in (rules | {STAY: Staying(arms), "round-robin": InTurn(arms)}).items():
        yield judge.row(label, "rule", [play_trace(rule, judge.world)])


def _fitted(traces: Traces, train: float) -> tuple[Bandit | None, list[str]]:
    """What learners are told and plans are made of, and what to say of it."""
    if not train:
        return None, []
    try:
        return fit(traces.split(train)[0]).bandit, []
    except RestiveError as error:
        words = str(error).splitlines()[0].strip()
        return None, [f"Nothing could be fitted to the first part: {words}"]


def _planned(bandit: Bandit) -> tuple[Policy, str]:
    """The exact plan if it fits, by forecast; else the Whittle index."""
    best = plan_within(bandit, PATIENCE, memory=MEMORY, compiled=True)
    if isinstance(best, Plan):
        return plan_policy(best), "exact"
    return whittle_policy(bandit, OLDEST), "Whittle"


def _learners(
    judge: _Judge, learners: Any, fitted: Bandit | None, runs: int, delta: float, rng: int,
    progress: Callable[[str, int], None] | None,
) -> Iterator[ReplayRow]:  # fmt: skip
    from restive.experiments.participants import participants_from

    world = judge.world
    participants, faults = participants_from(learners)
    refuse(faults)
    for participant in participants:
        replays: list[Replayed] = []
        for run in range(runs):
            luck = np.random.default_rng([rng, run])
            with participant.importing():
                problem: Any = world.n_arms if fitted is None else fitted
                built = participant.build(problem, world.steps, delta, luck)
                player = as_learner(built, world.n_arms)
                report = None if progress is None else partial(progress, participant.label)
                replays.append(play_trace(player, world, report))
            if isinstance(player, FollowPolicy):
                break  # it draws nothing: all runs are alike
        yield judge.row(participant.label, "learner", replays)


def _called(traces: Traces) -> str:
    if not traces.source:
        return ""
    return Path(traces.source).name if "," not in traces.source else f"{traces.n_arms} files"


def _pieces(traces: Traces) -> list[str]:
    if all(arm.pieces.max(initial=0) == 0 for arm in traces.arms):
        return []
    return ["The pieces were played one after the other, as if time had run on between them."]


class Staying(Cooldown):
    """Stays with the arm seen last while it pays no less than the mean of all rewards so far.

    >>> rule = Staying(2)
    >>> for reward in (1.0, 0.0):
    ...     rule.tell(rule.ask(), "any", reward)
    >>> rule.ask()
    0
    """

    name = STAY

    def ask(self) -> int:
        if not self.sight.complete:
            return self.sight.states.index(NEVER)
        ages = np.array(self.sight.ages)
        count, total = self.totals.sum(axis=0)
        last = int(np.argmin(ages))
        pays = self.paid[last] * count >= total - 1e-12 * count  # sums of equal rewards may round
        return last if pays else int(np.argmax(ages))


def trace_world(traces: Traces) -> TraceWorld:
    """The world that a trace is; rewards must be known.

    >>> from restive.data.reading import read_traces
    >>> trace_world(read_traces({"a": [0, 1, 1, 0], "b": [1, None, 0, 1]})).complete
    False
    """
    cells = traces.n_arms * (traces.end - traces.start)
    seen = sum(map(len, traces.arms))
    most = min(MOST_CELLS, max(THIN, 100 * seen), memory_allowed() // CELL)
    if cells > most:
        remedy = "Give a longer tick, fewer arms or a part of the time."
        words = f"{traces.n_arms} arms and {traces.end - traces.start:,} steps"
        raise refusal("data", "too long to replay step by step", words, remedy)
    states, rewards = traces.dense()
    world = TraceWorld(np.ascontiguousarray(states.T), np.ascontiguousarray(rewards.T))
    for arm, seen in zip(traces.arms, world.seen, strict=True):
        if not seen.any():
            remedy = "Give rewards by state (rewards=, --rewards on the command line) or a column."
            raise refusal("rewards", f"no reward is known of arm {arm.name!r}", "", remedy)
    return world
