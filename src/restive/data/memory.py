"""Arms of order k as first-order arms on k-tuples.

An arm of order k is a Markov chain on the tuples of its last k states. restive's plans take it that
a pull shows the whole state, so a problem with tuples is right where a pull shows the last k states
(a device that reports its recent past, an arm that is pulled k steps in a row). Where a pull shows
the last state alone, the tuple is known only after k pulls in a row: its law given what was seen
depends on more than the last sight and its age, the information states of the paper are too few
(its Outlook: "already for order 2 the MDP representation breaks down"), and the gain of the plan is
an upper bound of what can be earned.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import require
from restive.base.errors import refusal
from restive.data.orders import find_windows
from restive.model.bandit import Arm, Bandit
from restive.policies.policy import Policy

if TYPE_CHECKING:
    from restive.data.traces import ArmTrace, Traces
    from restive.planning import Plan


JOINT = " > "  # between the states of a tuple, the oldest first
MASS = 1.0  # weight of the law of lower order against that many transitions
MOST = 512  # tuples of one arm


def tuple_counts(trace: ArmTrace, order: int) -> Ints:
    """Counts (S, ..., S) of order + 1 states seen at consecutive steps, the oldest first."""
    windows = find_windows(trace, order + 1)
    size = len(trace.labels)
    counts = np.zeros((size,) * (order + 1), dtype=np.int64)
    np.add.at(counts, tuple(windows.states[windows.gaps == 1].T), 1)
    return counts


def tuple_states(arm: Arm, order: int) -> list[tuple[int, ...]]:
    """The tuples that the chain of an arm can go through."""
    open_moves = arm.transitions > 0
    return [
        states
        for states in product(range(arm.n_states), repeat=order)
        if all(open_moves[a, b] for a, b in pairwise(states))
    ]


def tuple_arm(trace: ArmTrace, arm: Arm, order: int, mass: float = MASS) -> Arm:
    """The arm on tuples of its last ``order`` states, fitted to a trace.

    Transitions after a tuple are its counts together with ``mass`` transitions of the law one order
    lower, down to those of ``arm``, the chain of order 1: what was never seen stays as it is there.
    Refused where no order + 1 steps in a row were seen.
    """
    states = tuple_states(arm, order)
    _check(trace, order, len(states))
    law = _law(trace, arm, order, mass)
    places = {tuple_: k for k, tuple_ in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for k, past in enumerate(states):
        for after in np.flatnonzero(arm.transitions[past[-1]]).tolist():
            matrix[k, places[(*past[1:], after)]] = law[past][after]
    names = [JOINT.join(arm.states[s] for s in past) for past in states]
    rewards = arm.rewards[[past[-1] for past in states]]
    return Arm(matrix, rewards, name=arm.name, states=names, reward_noise=arm.reward_noise)


def tuple_bandit(traces: Traces, bandit: Bandit, order: int) -> Bandit:
    """All arms of a fitted bandit on tuples of their last ``order`` states."""
    remedy = "Give a whole number from 1 on; 1 is the chain itself."
    require(isinstance(order, int) and order >= 1, "order", order, remedy)
    if order == 1:
        return bandit
    pairs = zip(traces.arms, bandit.arms, strict=True)
    return Bandit([tuple_arm(trace, arm, order) for trace, arm in pairs], bandit.name, bandit.pulls)


def order_note(order: int) -> str:
    """What a pull must show for a problem on tuples to be right."""
    return (
        f"States are the last {order} of an arm. Plans for them take it that a pull shows all "
        f"{order}; where it shows the last one alone, what they promise is an upper bound."
    )


def _law(trace: ArmTrace, arm: Arm, order: int, mass: float) -> Floats:
    """Law of the next state given the last ``order``: shape (S,) * (order + 1)."""
    law = np.asarray(arm.transitions)
    for k in range(2, order + 1):
        counts = tuple_counts(trace, k)
        total = counts.sum(axis=-1, keepdims=True)
        law = np.asarray((counts + mass * law[None]) / (total + mass))
        law = np.where(arm.transitions > 0, law, 0.0)
        law /= np.maximum(law.sum(axis=-1, keepdims=True), 1e-300)
    return law


def _check(trace: ArmTrace, order: int, number: int) -> None:
    place = f'arm "{trace.name}"'
    if number > MOST:
        remedy = f"At most {MOST} are fitted: take a lower order or fewer states."
        raise refusal(place, f"order {order} makes {number:,} tuples of states", "", remedy)
    if not tuple_counts(trace, order).any():
        remedy = "Fit order 1, or log runs of consecutive steps."
        message = f"order {order} cannot be fitted: {order + 1} steps in a row were never seen"
        raise refusal(place, message, "", remedy)


class LastStates(Policy):
    """A plan for arms of order 1, followed where some arms show tuples: it looks at the last state.

    last: for each arm the state of order 1 that each of its states ends in.
    """

    def __init__(self, plan: Plan, last: list[Ints]) -> None:
        self.plan, self.last = plan, last
        self.n_arms, self.sizes = len(last), tuple(len(states) for states in last)

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        ends = np.stack([ends[states[:, j]] for j, ends in enumerate(self.last)], axis=1)
        pulled = self.plan.actions(ends, ages)
        return np.asarray(np.arange(self.n_arms) == np.asarray(pulled)[:, None], dtype=np.float64)
