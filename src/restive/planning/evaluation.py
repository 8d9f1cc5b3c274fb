"""The exact average reward of any stationary policy, with an interval that contains it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from restive.base.errors import TooLargeError
from restive.mdp.certificate import bandit_parameters, row_errors
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters
from restive.model.bandit import Bandit
from restive.planning import Plan
from restive.planning.exact import caps_for_error, check_tolerance, memory_allowed

__all__ = ["Policy", "Value", "evaluate"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Policy = str | int | Plan | Callable[[tuple[int, ...], tuple[int, ...]], int]
_Rule = Callable[[Ints, Ints, Ints], Ints]  # (last states, stored ages, arm pulled last) -> arms

BYTES_PER_STATE = 600  # of the sparse chain and its factors, roughly


@dataclass(frozen=True)
class Value:
    """Average reward of a policy from the bandit's initial laws, with its interval."""

    gain: float
    gain_lower: float
    gain_upper: float
    states: int  # information states the policy can reach


def evaluate(
    bandit: Bandit,
    policy: Policy,
    tolerance: float = 1e-6,
    *,
    caps: int | Sequence[int] | None = None,
    memory: int | None = None,
) -> Value:
    """Exact gain of a policy: "myopic", "round-robin", "best-arm", an arm, a plan or a function.

    A function gets two tuples, the state last seen and the age of every arm, and returns the arm
    to pull. It sees ages up to a cap that follows from the tolerance (at least one more than there
    are arms), unless ``caps`` says otherwise; what is evaluated is the policy that treats older
    ages like that. Play starts with one pull of each arm in turn.

    >>> from restive.problems import example1
    >>> round(evaluate(example1(0.1), "round-robin").gain, 6)
    0.5
    """
    check_tolerance(tolerance)
    if isinstance(policy, Plan):
        caps = policy.caps if caps is None else caps
    constant = _constant_arm(bandit, policy)
    if constant is not None:
        gain = bandit.arms[constant].gain
        slack = 1e-15 * bandit.arms[constant].n_states
        return Value(gain, max(0.0, gain - slack), min(1.0, gain + slack), 1)
    error = tolerance
    while True:
        if caps is None:
            found = tuple(max(cap, bandit.n_arms + 1) for cap in caps_for_error(bandit, error))
        rep = Representation.of(bandit, found if caps is None else caps)
        value = _evaluate_on(bandit, rep, _rule(bandit, rep, policy), memory_allowed(memory))
        width = value.gain_upper - value.gain_lower
        if width <= tolerance or caps is not None or error < 1e-14:
            return value
        error *= min(0.1, 0.5 * tolerance / width)


def _constant_arm(bandit: Bandit, policy: Policy) -> int | None:
    if isinstance(policy, str) and policy == "best-arm":
        return bandit.best_arm
    if isinstance(policy, int | np.integer):
        if not 0 <= policy < bandit.n_arms:
            raise ValueError(f"policy must be an arm 0..{bandit.n_arms - 1}, not {policy}")
        return int(policy)
    return None


def _rule(bandit: Bandit, rep: Representation, policy: Policy) -> _Rule:
    if isinstance(policy, Plan):
        return lambda states, ages, last: policy.actions(states, ages)
    if callable(policy):
        return _wrap(policy, bandit.n_arms)
    if policy == "myopic":
        return _myopic(bandit, rep)
    if policy == "round-robin":
        return lambda states, ages, last: np.asarray(np.argmax(ages, axis=1))
    raise ValueError(
        f'policy must be "myopic", "round-robin", "best-arm", an arm, a plan or a function, '
        f"not {policy!r}"
    )


def _wrap(policy: Callable[[tuple[int, ...], tuple[int, ...]], int], n_arms: int) -> _Rule:
    def rule(states: Ints, ages: Ints, last: Ints) -> Ints:
        chosen = np.empty(len(states), dtype=np.int64)
        for row in range(len(states)):
            seen = tuple(states[row].tolist()), tuple(ages[row].tolist())
            arm = policy(*seen)
            if not isinstance(arm, int | np.integer) or not 0 <= arm < n_arms:
                raise ValueError(
                    f"the policy must return an arm 0..{n_arms - 1}, "
                    f"not {arm!r} (last states {seen[0]}, ages {seen[1]})"
                )
            chosen[row] = arm
        return chosen

    return rule


def _myopic(bandit: Bandit, rep: Representation) -> _Rule:
    """Largest immediate reward; ties go to the arm pulled last, then to the first.

    Ages on the loop count with the reward of their own n, since the limit would make ties where
    there are none.
    """
    rewards = bandit_parameters(bandit, rep, loop="power").rewards

    def rule(states: Ints, ages: Ints, last: Ints) -> Ints:
        worth = rewards[_colors(rep, states, ages)]
        worth[np.arange(len(last)), last] += 1e-12
        return np.asarray(np.argmax(worth, axis=1))

    return rule


def _colors(rep: Representation, states: Ints, ages: Ints) -> Ints:
    return np.asarray(rep.layout.colors + states * np.array(rep.n_ages) + ages - 1)


@dataclass(frozen=True, eq=False)
class _Chain:
    """The Markov chain that a policy makes of the information states it can reach."""

    moves: sparse.csr_array[np.float64, tuple[int, int]]  # (n, n)
    rewards: Floats  # (n,)
    errors: Floats  # (n,) L1 error of the row used
    outcome_rewards: Floats  # reward of each stored entry of ``moves``
    start: Floats  # (n,) law after one pull of each arm


def _evaluate_on(bandit: Bandit, rep: Representation, rule: _Rule, memory: int) -> Value:
    chain = _chain(bandit, rep, rule, memory)
    _, found = connected_components(chain.moves, directed=True, connection="strong")
    label = found.astype(np.int64)
    closed = _closed_classes(chain.moves, label)
    bias = np.zeros(len(label))
    gains = np.empty(len(closed))
    for k, part in enumerate(closed):
        gains[k], bias[part] = _poisson(chain.moves[part][:, part], chain.rewards[part])
    weights = _absorption(chain, closed) if len(closed) > 1 else np.ones(1)
    bounds = [_bounds(chain, bias, part) for part in closed]
    low, high = np.array(bounds).T
    gain = float(weights @ gains)
    inside = np.concatenate(closed)
    transient = np.setdiff1d(np.arange(len(label)), inside, assume_unique=True)
    if len(closed) > 1 and chain.errors[transient].any():
        # how likely each class is depends on rows known only approximately
        return Value(gain, float(low.min()), float(high.max()), len(label))
    return Value(gain, float(weights @ low), float(weights @ high), len(label))


def _chain(bandit: Bandit, rep: Representation, rule: _Rule, memory: int) -> _Chain:
    parameters = bandit_parameters(bandit, rep)
    errors = row_errors(bandit, rep)
    number: dict[int, int] = {}
    last, states, ages, law = _first_states(bandit, rep)
    frontier = rep.place(last, states, ages)
    for place in frontier.tolist():
        number.setdefault(place, len(number))
    parts: list[tuple[Ints, Ints, Floats, Floats, Floats, Floats]] = []
    while len(last):
        if BYTES_PER_STATE * len(number) > memory:
            raise TooLargeError(
                f"the policy reaches more than {len(number):.3g} information states, too many for "
                f"the {memory / 2**30:.3g} GiB it may take; force smaller caps or raise the limit"
            )
        pulls = rule(states, ages, last)
        rows = np.array([number[p] for p in rep.place(last, states, ages).tolist()])
        part, (last, states, ages) = _expand(
            bandit, rep, parameters, errors, number, rows, pulls, last, states, ages
        )
        parts.append(part)
    return _assemble(parts, len(number), law, np.array([number[p] for p in frontier.tolist()]))


def _first_states(bandit: Bandit, rep: Representation) -> tuple[Ints, Ints, Ints, Floats]:
    """Information states after one pull of each arm in turn, with their law."""
    count = bandit.n_arms
    laws = [arm.initial_law @ arm.power(j) for j, arm in enumerate(bandit.arms)]
    states = np.array(list(product(*(np.flatnonzero(law > 0) for law in laws))), dtype=np.int64)
    law = np.prod([laws[j][states[:, j]] for j in range(count)], axis=0)
    ages, last = rep.store(np.broadcast_to(np.arange(count, 0, -1), states.shape))
    return last, states, ages, law


def _expand(
    bandit: Bandit, rep: Representation, parameters: Parameters, errors: Floats,
    number: dict[int, int], rows: Ints, pulls: Ints, last: Ints, states: Ints, ages: Ints,
) -> tuple[tuple[Ints, Ints, Floats, Floats, Floats, Floats], tuple[Ints, Ints, Ints]]:  # fmt: skip
    """Successors of the frontier; returns the chain's new entries and the states not met before."""
    colors = _colors(rep, states, ages)[np.arange(len(rows)), pulls]
    laws = parameters.probabilities[colors]
    row, outcome = np.nonzero(laws > 0)
    chance = laws[row, outcome]
    paid = np.array([np.pad(a.rewards, (0, laws.shape[1] - a.n_states)) for a in bandit.arms])
    older = np.where(ages + 1 <= np.array(rep.n_ages), ages + 1, np.array(rep.caps))
    new_states, new_ages, new_last = states[row].copy(), older[row], pulls[row]
    new_states[np.arange(len(row)), new_last] = outcome
    new_ages[np.arange(len(row)), new_last] = 1
    places = rep.place(new_last, new_states, new_ages)
    fresh = []
    columns = np.empty(len(row), dtype=np.int64)
    for k, place in enumerate(places.tolist()):
        known = number.get(place)
        if known is None:
            known = number[place] = len(number)
            fresh.append(k)
        columns[k] = known
    entry = (rows[row], columns, chance, paid[new_last, outcome])
    part = (*entry, np.stack([rows, parameters.rewards[colors]]), errors[colors])
    return part, (new_last[fresh], new_states[fresh], new_ages[fresh])


def _assemble(
    parts: list[tuple[Ints, Ints, Floats, Floats, Floats, Floats]], n: int, law: Floats, first: Ints
) -> _Chain:
    row, column, chance, paid = (np.concatenate([p[k] for p in parts]) for k in range(4))
    order = np.lexsort((column, row))
    moves = sparse.csr_array((chance, (row, column)), shape=(n, n))
    rewards, errors, start = np.zeros(n), np.zeros(n), np.zeros(n)
    for part in parts:
        where = part[4][0].astype(np.int64)
        rewards[where], errors[where] = part[4][1], part[5]
    np.add.at(start, first, law)
    return _Chain(moves, rewards, errors, paid[order], start)


def _closed_classes(
    moves: sparse.csr_array[np.float64, tuple[int, int]], label: Ints
) -> list[Ints]:
    entries = moves.tocoo()
    leaving = label[entries.row] != label[entries.col]
    open_labels = np.unique(label[entries.row[leaving]])
    return [np.flatnonzero(label == k) for k in np.setdiff1d(np.unique(label), open_labels)]


def _poisson(
    moves: sparse.csr_array[np.float64, tuple[int, int]], rewards: Floats
) -> tuple[float, Floats]:
    """Gain g and bias h of an irreducible chain: g + h = r + P h, h(first) = 0."""
    n = len(rewards)
    if n == 1:
        return float(rewards[0]), np.zeros(1)
    system = (sparse.eye_array(n, format="csc") - moves.tocsc()).tolil()
    system[:, [0]] = np.ones((n, 1))  # the first bias is 0, so its column can carry the gain
    solution = splu(system.tocsc()).solve(rewards)
    bias = solution.copy()
    bias[0] = 0.0
    return float(solution[0]), bias


def _bounds(chain: _Chain, bias: Floats, part: Ints) -> tuple[float, float]:
    """min and max over a closed class of r + P h - h, rows known up to their L1 error."""
    moves = chain.moves[part]
    change = chain.rewards[part] + moves @ bias - bias[part]
    doubt = np.zeros(len(part))
    for k in np.flatnonzero(chain.errors[part] > 0):
        entries = slice(chain.moves.indptr[part[k]], chain.moves.indptr[part[k] + 1])
        worth = chain.outcome_rewards[entries] + bias[chain.moves.indices[entries]]
        doubt[k] = 0.5 * chain.errors[part[k]] * (worth.max() - worth.min())
    slack = 64 * np.finfo(np.float64).eps * (1 + np.abs(bias[part]).max())
    low, high = (change - doubt).min() - slack, (change + doubt).max() + slack
    return max(0.0, float(low)), min(1.0, float(high))


def _absorption(chain: _Chain, closed: list[Ints]) -> Floats:
    """Probability of ending in each closed class from the start."""
    n = len(chain.start)
    inside = np.concatenate(closed)
    transient = np.setdiff1d(np.arange(n), inside, assume_unique=True)
    weights = np.array([chain.start[part].sum() for part in closed])
    if len(transient):
        inner = chain.moves[transient][:, transient]
        system = (sparse.eye_array(len(transient), format="csc") - inner.tocsc().T).tocsc()
        visits = splu(system).solve(chain.start[transient])
        leaving = chain.moves[transient]
        weights += np.array([float(visits @ leaving[:, part].sum(axis=1)) for part in closed])
    return np.asarray(weights / weights.sum())
