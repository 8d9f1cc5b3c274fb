"""What a wrong assumption could cost: the best plan of a richer model against the plan in use.

Both are played in the richer model: what planning with it would earn, less what the policy earns
that was planned as if the assumption held. With many arms it is worked out for the arm in question
and the two best others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Bools, Ints
from restive.base.errors import RestiveError
from restive.data.change import GapMoves, find_moves
from restive.data.coupling import CoupledArms, joint_chain, oldest_age
from restive.data.memory import LastStates, tuple_arm, tuple_states
from restive.estimation.gap_counts import GapCounts
from restive.estimation.likelihood import climb
from restive.model.bandit import Arm, Bandit
from restive.planning import Plan, Refusal, plan_within
from restive.planning.evaluation import evaluate
from restive.policies.policy import Policy

if TYPE_CHECKING:
    from restive.data.traces import ArmTrace


RIVALS = 2  # other arms that a stake is worked out with
PATIENCE = 6.0  # seconds for each plan, as forecast; slow arms beside steady ones take a quarter
TOLERANCES = (1e-5, 1e-4, 1e-3)
PRIOR = 0.1  # moves added to every entry of a part's chain
MOST_WEIGHT = 0.98  # of a part's chain: what the whole chain allows stays possible


@dataclass(frozen=True)
class Stake:
    """Reward per step that the plan in use gives away in the richer model, as fitted.

    loss: None where it was not computed; note says why. gain: of the plan in use, there.
    at_most: whether the loss is an upper bound. arms: names of the arms it was worked out with.
    error: of the loss, from the tolerance of the plans. low, high: the loss over the interval (95%)
    of what was measured, where that is known. promise: what the plan in use promises on these arms.
    """

    loss: float | None
    gain: float | None = None
    at_most: bool = False
    arms: tuple[str, ...] = ()
    error: float = 0.0
    note: str = ""
    low: float | None = None
    high: float | None = None
    promise: float | None = None

    @property
    def most(self) -> float | None:
        """The largest loss that the data leave possible."""
        return None if self.loss is None else max(self.loss + self.error, self.high or 0.0)


def memory_stake(trace: ArmTrace, bandit: Bandit, arm: int, order: int, shrinkage: float) -> Stake:
    """What a plan could gain that knows the last ``order`` states of an arm at every pull of it."""
    small, names = _with_rivals(bandit, arm)
    try:
        richer_arm = tuple_arm(trace, small.arms[0], order, _mass(trace, shrinkage))
    except RestiveError:
        return Stake(None, note="too many tuples of states, or none seen in a row")
    simple = plan_within(small, PATIENCE, tolerances=TOLERANCES)
    ends = [np.array([past[-1] for past in tuple_states(small.arms[0], order)])]
    ends += [np.arange(rival.n_states) for rival in small.arms[1:]]
    richer = Bandit([richer_arm, *small.arms[1:]])
    worth = None if isinstance(simple, Refusal) else _lost(richer, LastStates(simple, ends))
    if worth is None:
        return Stake(None, note="the model on tuples is too large to plan")
    loss, gain, error = worth
    return Stake(max(0.0, loss), gain, True, names, error)


def parts_stake(
    trace: ArmTrace, bandit: Bandit, arm: int, parts: Ints, shrinkage: float, at_most: bool = False
) -> Stake:
    """What plans for each part of the time could gain, as if each part lasted.

    parts: number of the part that each move of the arm belongs to. at_most: parts are too short
    for plans of their own to reach what they would earn if they lasted.
    """
    moves = find_moves(trace)
    small, names = _with_rivals(bandit, arm)
    simple = plan_within(small, PATIENCE, tolerances=TOLERANCES)
    if isinstance(simple, Refusal):
        return Stake(None, note="the problem is too large to plan")
    loss = gain = error = 0.0
    for part in np.unique(parts).tolist():
        weight = float(np.mean(parts == part))
        fitted = _part_arm(moves, parts == part, small.arms[0], shrinkage)
        worth = _lost(Bandit([fitted, *small.arms[1:]]), simple)
        if worth is None:
            return Stake(None, note="a part of the time is too large a problem to plan")
        loss, gain, error = (
            total + weight * x for total, x in zip((loss, gain, error), worth, strict=True)
        )
    return Stake(max(0.0, loss), gain, at_most, names, error)


def dependence_stake(
    bandit: Bandit, arm: int, partner: int, correlation: float, looks: int, lag: int
) -> Stake:
    """What a plan could gain that knows of the correlation of two arms; with the best other arm."""
    others = [j for j in range(bandit.n_arms) if j not in (arm, partner)]
    chosen = [arm, partner, *sorted(others, key=lambda j: -bandit.arms[j].gain)[:1]]
    arms = [bandit.arms[j] for j in chosen]
    while len(arms) > 1 and not oldest_age([own.n_states for own in arms]):
        arms.pop()
    if len(arms) < 2:
        return Stake(None, note="the two arms together have too many states to plan")
    alone = CoupledArms(arms, joint_chain(arms, 0.0))
    promise, values = alone.best()
    plain = alone.policy(values)
    losses, gains, errors = [], [], []
    for size in (correlation, *_interval(correlation, looks)):
        coupled = CoupledArms(arms, joint_chain(arms, size, lag))
        best, value = coupled.best(values)[0], coupled.value(plain, values)
        losses.append(max(0.0, best.value - value.value))
        gains.append(value.value)
        errors.append(best.error + value.error)
    names = tuple(bandit.arm_name(j) for j in chosen[: len(arms)])
    return Stake(losses[0], gains[0], False, names, max(errors), "", min(losses), max(losses),
                 promise.value)  # fmt: skip


def _interval(correlation: float, looks: int) -> tuple[float, float]:
    """Of a correlation (95%), by Fisher's z."""
    middle = float(np.arctanh(np.clip(correlation, -0.9999, 0.9999)))
    half = 1.96 / max(looks - 3, 1) ** 0.5
    return float(np.tanh(middle - half)), float(np.tanh(middle + half))


def _lost(bandit: Bandit, simple: Plan | Policy) -> tuple[float, float, float] | None:
    """Loss and gain of a plan made for other chains, and the error of both; None: too large."""
    best = plan_within(bandit, PATIENCE, tolerances=TOLERANCES)
    if isinstance(best, Refusal):
        return None
    value = evaluate(bandit, simple, TOLERANCES[1])
    error = 0.5 * (best.gain_upper - best.gain_lower + value.gain_upper - value.gain_lower)
    return best.gain - value.gain, value.gain, error


def _with_rivals(bandit: Bandit, arm: int) -> tuple[Bandit, tuple[str, ...]]:
    """The arm, first, and the best of the others."""
    others = [j for j in range(bandit.n_arms) if j != arm]
    others.sort(key=lambda j: -bandit.arms[j].gain)
    chosen = [arm, *others[:RIVALS]]
    return Bandit([bandit.arms[j] for j in chosen]), tuple(bandit.arm_name(j) for j in chosen)


def _mass(trace: ArmTrace, shrinkage: float) -> float:
    """Transitions of the simpler law that give rows their deserved weight on average."""
    typical = len(trace.states) / len(trace.labels) ** 2
    return max(0.5, typical * (1 - shrinkage) / max(shrinkage, 1e-3))


def _part_arm(moves: GapMoves, inside: Bools, arm: Arm, shrinkage: float) -> Arm:
    """The arm in one part: the chain that explains its moves, drawn towards that of all time."""
    seen = (moves.states[inside], moves.gaps[inside], moves.after[inside])
    counts = GapCounts.of_moves(*seen, moves.size)
    chain = climb(counts, arm.transitions, PRIOR).chain
    weight = min(shrinkage, MOST_WEIGHT)
    law = np.where(arm.transitions > 0, weight * chain + (1 - weight) * arm.transitions, 0.0)
    return Arm(law / law.sum(axis=1, keepdims=True), arm.rewards, name=arm.name,
               states=arm.states, reward_noise=arm.reward_noise)  # fmt: skip
