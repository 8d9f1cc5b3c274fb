"""The true diameter of a structured MDP: how long the hardest state takes to reach, at best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import inf

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import splu

from restive.base.arrays import Floats, Ints
from restive.base.errors import ArgumentError, TooLargeError
from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters, StructuredMDP
from restive.model.arguments import require_one_pull
from restive.model.bandit import Bandit

Info = tuple[tuple[int, int], ...]  # (last state, stored age) of every arm

MAX_STATES = 10_000  # every state is a target, so time grows with the square of this
ROUGH = 0.05  # accuracy of the first look at all targets
MOST_SWEEPS = 4000  # slower targets are left to policy iteration


@dataclass(frozen=True)
class Diameter:
    """max over x != y of the smallest expected time from x to y, between two certain bounds.

    Where some state cannot be reached from another, ``lower`` and ``upper`` are infinite. If
    the states then fall into parts that no policy leaves (periodic arms whose periods share a
    divisor), the bounds ``within`` are for pairs in one part, all that a play ever sees.
    """

    lower: float
    upper: float
    within: tuple[float, float]
    n_states: int  # states that can occur, every one of them a target
    n_parts: int  # 1 unless some pair of states is not connected
    source: int | Info  # a hardest pair within a part: a number, or (last state, stored age)s
    target: int | Info

    @property
    def finite(self) -> bool:
        """Whether every state can be reached from every other."""
        return self.n_parts == 1


def bandit_diameter(
    bandit: Bandit, caps: int | Sequence[int], *, tolerance: float = 1e-6, states: int = MAX_STATES
) -> Diameter:
    """D_eps of Theorem 4: the diameter of the bandit's MDP with ages from ``caps`` on stored alike.

    >>> from restive.problems import example1
    >>> diameter = bandit_diameter(example1(epsilon=0.1), caps=7)
    >>> round(diameter.lower, 4) == round(diameter.upper, 4), diameter.n_states
    (True, 48)
    """
    require_one_pull(bandit, "the diameter")
    rep = Representation.of(bandit, caps)
    _refuse_if_too_large(rep.n_states, states)
    return diameter(rep, bandit_parameters(bandit, rep), tolerance=tolerance, states=states)


def diameter(
    structure: Representation | StructuredMDP,
    parameters: Parameters,
    *,
    tolerance: float = 1e-6,
    states: int = MAX_STATES,
) -> Diameter:
    """Diameter of an eps-structured MDP with these parameters; radii are left out of account.

    tolerance: width of the bounds relative to their size at which to stop; they hold even where
    it is not reached. states: refuse more states than this. For a representation, two arms with
    the same age are no state, since one arm is pulled at a time.
    """
    if not 1e-12 <= tolerance < 1:
        raise ArgumentError(f"tolerance must lie between 1e-12 and 1, not {tolerance!r}")
    _refuse_if_too_large(structure.n_states, states)
    names = None
    if isinstance(structure, StructuredMDP):
        colors, successors = structure.colors, structure.successors
    else:
        names, colors, successors = _spell_out(structure)
    parts, closed = _parts(colors, successors, parameters.probabilities)
    bounds = [_solve(part, colors, successors, parameters.probabilities, tolerance)
             for part in (parts if closed else [])]  # fmt: skip
    lower = max((bound[0] for bound in bounds), default=inf)
    upper = max((bound[1] for bound in bounds), default=inf)
    pair = max(bounds)[2:] if bounds else (0, 0)
    whole = (lower, upper) if len(parts) == 1 else (inf, inf)
    source, target = (_name(names, x) for x in pair)
    return Diameter(*whole, (lower, upper), len(colors), len(parts), source, target)


def _refuse_if_too_large(count: int, allowed: int) -> None:
    if count > allowed:
        raise TooLargeError(
            f"the diameter of an MDP with {count:,} states takes a hitting time for each of them "
            f"as a target; this is done up to {allowed:,} states. Give smaller caps (a shorter "
            "horizon), or use Lemma 1's bound: restive.theory.diameter_bound."
        )


def _spell_out(rep: Representation) -> tuple[tuple[Ints, Ints], Ints, Ints]:
    """States that can occur as (last states, stored ages), both (N, K); colors; successors.

    The oldest come first: resting makes ages grow, so a sweep in this order meets new values.
    """
    ages = np.concatenate([_possible_ages(rep, last) for last in range(rep.n_arms)])
    ages = np.unique(ages, axis=0)
    ages = ages[np.argsort(-ages.sum(axis=1), kind="stable")]
    seen = np.array(list(product(*(range(size) for size in rep.sizes))), dtype=np.int64)
    states, stored = np.tile(seen, (len(ages), 1)), np.repeat(ages, len(seen), axis=0)
    colors = rep.colors(states, stored)
    shape = (*rep.sizes, *(n + 1 for n in rep.n_ages))

    def key(states: Ints, stored: Ints) -> Ints:
        both = np.concatenate([states, stored], axis=-1)
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(both, -1, 0)), shape))

    keys = key(states, stored)
    order = np.argsort(keys)
    successors = np.zeros((len(keys), rep.n_arms, rep.max_support), dtype=np.int64)
    for arm, size in enumerate(rep.sizes):
        after = key(*rep.successors(states, stored, arm))
        successors[:, arm, :size] = order[np.searchsorted(keys, after, sorter=order)]
    return (states, stored), colors, successors


def _possible_ages(rep: Representation, last: int) -> Ints:
    """Stored ages with arm ``last`` pulled last: those before their caps differ; (n, K)."""
    grid = np.array(list(product(*(ages.tolist() for ages in rep.block_ages(last)))))
    tail = grid < np.array(rep.caps)
    possible = np.ones(len(grid), dtype=bool)
    for i in range(rep.n_arms):
        for j in range(i):
            possible &= ~((grid[:, i] == grid[:, j]) & tail[:, i] & tail[:, j])
            if last in (i, j):  # the arm pulled last has age 1, whatever its cap
                other = i if j == last else j
                possible &= ~((grid[:, other] == 1) & tail[:, other])
    return grid[possible]


def _parts(colors: Ints, successors: Ints, chances: Floats) -> tuple[list[Ints], bool]:
    """Classes of states that reach each other, and whether no action leads from one to another."""
    used = (colors >= 0)[..., None] & (chances[colors] > 0)
    row = np.broadcast_to(np.arange(len(colors))[:, None, None], used.shape)[used]
    column = successors[used]
    graph = sparse.coo_array((np.ones(len(row)), (row, column)), shape=(len(colors),) * 2)
    count, label = connected_components(graph.tocsr(), directed=True, connection="strong")
    closed = bool((label[row] == label[column]).all())
    return [np.flatnonzero(label == k) for k in range(count)], closed


def _solve(
    part: Ints, colors: Ints, successors: Ints, chances: Floats, tolerance: float
) -> tuple[float, float, int, int]:
    """Bounds of the diameter of one part, and a hardest pair.

    A rough look at all targets comes first; only those that may still be the hardest are then
    solved to the tolerance, the most promising first.
    """
    if len(part) == 1:
        return 0.0, 0.0, int(part[0]), int(part[0])
    number = np.zeros(len(colors), dtype=np.int64)
    number[part] = np.arange(len(part))
    problem = (colors[part], number[successors[part]], chances)
    rough, _ = _reach(np.arange(len(part)), problem, max(tolerance, ROUGH), 0.0)
    floor = rough[:, 0].max()
    left = np.flatnonzero(rough[:, 1] >= floor)
    left = left[np.argsort(-rough[left, 0], kind="stable")]
    fine, starts = _reach(left, problem, tolerance, floor)
    for k in np.flatnonzero(fine[:, 1] > np.maximum(floor, fine[:, 0]) * (1 + 2 * tolerance)):
        fine[k], starts[k] = _iterate_policies(int(left[k]), problem, fine[k])
    top = int(np.argmax(fine[:, 0]))
    lower, upper = max(fine[:, 0].max(), floor), max(fine[:, 1].max(), floor)
    return float(lower), float(upper), int(part[starts[top]]), int(part[left[top]])


def _reach(
    targets: Ints, problem: tuple[Ints, Ints, Floats], tolerance: float, floor: float
) -> tuple[Floats, Ints]:
    # here and not above, so that importing this module does not import numba
    from restive._kernels import hitting
    from restive.base.machine import share_out

    bounds, hardest = np.zeros((len(targets), 2)), np.zeros(len(targets), dtype=np.int64)
    work = 100 * len(targets) * problem[0].size
    share_out(work, hitting.reach_all, targets, *problem, tolerance, floor, MOST_SWEEPS,
              bounds, hardest)  # fmt: skip
    return bounds, hardest


def _iterate_policies(
    target: int, problem: tuple[Ints, Ints, Floats], known: Floats
) -> tuple[Floats, int]:
    """Bounds of one target by policy iteration, for chains that hardly move."""
    from restive._kernels import hitting

    colors, successors, chances = problem
    laws = np.where((colors >= 0)[..., None], chances[colors], 0.0)  # (N, A, B)
    here = np.arange(len(colors))
    choice = _approach(target, laws, successors)
    times = np.zeros(len(colors))
    for _ in range(100):
        fresh = _expected_times(target, laws[here, choice], successors[here, choice])
        if not (np.isfinite(fresh).all() and (fresh >= 0).all()):
            break  # beyond the accuracy of floats; what is certified so far stands
        times = fresh
        worth = 1 + (laws * times[successors]).sum(axis=2)
        worth[colors < 0] = np.inf
        better = worth.min(axis=1) < worth[here, choice] * (1 - 1e-13)
        better[target] = False
        if not better.any():
            break
        choice = np.where(better, worth.argmin(axis=1), choice)
    low, high = hitting.certify(times, target, colors, successors, chances)
    bounds = np.array([max(low, known[0]), min(high, known[1])])
    return bounds, int(times.argmax())


def _approach(target: int, laws: Floats, successors: Ints) -> Ints:
    """A policy that reaches the target surely: always along a shortest path of possible steps."""
    count = len(laws)
    row, action, outcome = np.nonzero(laws > 0)
    column = successors[row, action, outcome]
    graph = sparse.coo_array((np.ones(len(row)), (column, row)), shape=(count, count)).tocsr()
    _, closer = breadth_first_order(graph, target)
    chance = ((successors == closer[:, None, None]) * laws).sum(axis=2)
    return np.asarray(chance.argmax(axis=1))


def _expected_times(target: int, laws: Floats, successors: Ints) -> Floats:
    """Solution of t = 1 + P t away from the target, where t is 0."""
    count = len(laws)
    row = np.repeat(np.arange(count), laws.shape[1])
    moves = sparse.coo_array((laws.ravel(), (row, successors.ravel())), shape=(count, count))
    rest = np.delete(np.arange(count), target)
    system = sparse.eye_array(count - 1) - moves.tocsr()[rest][:, rest]
    times = np.zeros(count)
    try:
        times[rest] = splu(system.tocsc()).solve(np.ones(count - 1))
    except RuntimeError:  # exactly singular: a time that no float can hold
        times[rest] = np.inf
    return times


def _name(names: tuple[Ints, Ints] | None, state: int) -> int | Info:
    if names is None:
        return state
    pairs = zip(names[0][state].tolist(), names[1][state].tolist(), strict=True)
    return tuple((int(s), int(n)) for s, n in pairs)
