"""Two arms side by side, each resting or pulled: sweeps over the pairs of their states.

States of an arm are numbered 0..X-1 (last state, then stored age); values, masses and policies of a
pair are (X, Y) and (X, Y, 4). Actions: 0 rest, 1 pull the first, 2 pull the second, 3 pull both. An
arm is a tuple of arrays (see restive.many.pair_tables.Side); ``own`` (X, 2) is what the arm's
own state and action pay, ``cross`` (X, 2) what a pull of the other arm costs there.
"""

from __future__ import annotations

import numpy as np

from restive._kernels import njit

NEVER = -1e300  # value of an action that is not available
NO_AGE = -2  # an age that no state has


@njit(cache=True, error_model="numpy")
def action_values(q, work, x, values, first, second, own, cross, other_own, other_cross, doubt):
    """q[a, y]: payoff of action a in (x, y) plus the expected value after it, a = 0, 1, 2.

    doubt (2,): how much of their L1 errors e the rows of the two arms count at their best, that
    is e/2 times the span of (reward + value) over the outcomes more. work: (4, Y), overwritten.
    """
    n, next_row = len(second.after), values[first.after[x]]
    wary = 0.5 * doubt * first.errors[x]
    mean, least, most, plain = work[0], work[1], work[2], work[3]
    mean[:] = 0.0
    for s in range(len(first.fresh)):
        chance, row = first.laws[x, s], values[first.fresh[s]]
        for y in range(n):
            mean[y] += chance * row[y]
    if wary > 0.0:
        span(least, most, first, values)
        for y in range(n):
            mean[y] += wary * (most[y] - least[y])
    own_rest, own_pull, cost_rest = own[x, 0], own[x, 1], cross[x, 0]
    plain[:] = own_rest - cost_rest
    low, high = np.inf, -np.inf
    for t in range(len(second.fresh)):
        value, chances = next_row[second.fresh[t]], second.chances[t]
        low = min(low, second.rewards[t] + value)
        high = max(high, second.rewards[t] + value)
        for y in range(n):
            plain[y] += chances[y] * value
    spread = 0.5 * doubt * (high - low)
    after, errors = second.after, second.errors
    for y in range(n):
        then = after[y]
        q[0, y] = own_rest + other_own[y, 0] + next_row[then]
        q[1, y] = own_pull + other_own[y, 0] - other_cross[y, 0] + mean[then]
        q[2, y] = plain[y] + other_own[y, 1] + spread * errors[y]


@njit(cache=True, error_model="numpy")
def span(least, most, first, values):
    """Least and greatest of (reward + value) over the outcomes of a pull of the first arm."""
    least[:], most[:] = np.inf, -np.inf
    for s in range(len(first.fresh)):
        reward, row = first.rewards[s], values[first.fresh[s]]
        for y in range(len(row)):
            least[y] = min(least[y], reward + row[y])
            most[y] = max(most[y], reward + row[y])


@njit(cache=True, error_model="numpy")
def values_of_both(q, x, values, first, second, own, cross, other_own, other_cross, doubt):
    """q[y]: payoff of pulling both in (x, y) plus the expected value after it."""
    size, others, n = len(first.fresh), len(second.fresh), len(second.after)
    wary = 0.5 * doubt * first.errors[x]
    # E[value | second's outcome t], once a row; and how much t can matter at most
    means, width = np.zeros(others), 0.0
    for s in range(size):
        least, most = np.inf, -np.inf
        for t in range(others):
            value = values[first.fresh[s], second.fresh[t]]
            means[t] += first.laws[x, s] * value
            least, most = (
                min(least, second.rewards[t] + value),
                max(most, second.rewards[t] + value),
            )
        width = max(width, most - least)
    for y in range(n):
        total = own[x, 1] + other_own[y, 1] - cross[x, 1] - other_cross[y, 1]
        for t in range(others):
            total += second.laws[y, t] * means[t]
        total += 0.5 * doubt * second.errors[y] * width
        if wary > 0.0:
            least, most = np.inf, -np.inf
            for s in range(size):
                outcome = first.rewards[s]
                for t in range(others):
                    outcome += second.laws[y, t] * values[first.fresh[s], second.fresh[t]]
                least, most = min(least, outcome), max(most, outcome)
            total += wary * (most - least)
        q[y] = total


@njit(cache=True, error_model="numpy", nogil=True)
def sweep(
    values, target, first, second, own, cross, other_own, other_cross, rest, both, doubt, step,
    count
):  # fmt: skip
    """``count`` sweeps values <- values + step (T values - values), T the best action's value.

    Returns the bounds min and max of T h - h over the states that occur, h being the values before
    the last sweep. The values after it are in ``values`` if count is even, else in ``target``.
    Two arms of one age never occur where a step pulls at most one of them.
    """
    n = len(second.after)
    q, work, ages = np.full((4, n), NEVER), np.empty((4, n)), second.ages
    low, high = -np.inf, np.inf
    for _ in range(count):
        low, high = np.inf, -np.inf
        for x in range(len(first.after)):
            action_values(q, work, x, values, first, second, own, cross, other_own, other_cross,
                          doubt)  # fmt: skip
            if both:
                values_of_both(q[3], x, values, first, second, own, cross, other_own, other_cross,
                               doubt)  # fmt: skip
            if not rest:
                q[0] = NEVER
            same = NO_AGE if both or first.ages[x] < 0 else first.ages[x]
            for y in range(n):
                move = max(max(q[0, y], q[1, y]), max(q[2, y], q[3, y])) - values[x, y]
                target[x, y] = values[x, y] + step * move
                if ages[y] != same:
                    low, high = min(low, move), max(high, move)
        middle = step * 0.5 * (low + high)
        for x in range(len(first.after)):
            for y in range(n):
                target[x, y] -= middle
        values, target = target, values
    return low, high


@njit(cache=True, error_model="numpy", nogil=True)
def soft_sweep(
    values, target, policy, first, second, own, cross, other_own, other_cross, rest, both,
    temperature, step, count
):  # fmt: skip
    """The same with temperature log sum exp(q / temperature) in place of the largest q.

    ``policy`` (X, Y, 4) gets the chances exp(q / temperature) of the last sweep, normalised.
    """
    n = len(second.after)
    q, work, ages = np.full((4, n), NEVER), np.empty((4, n)), second.ages
    low, high = -np.inf, np.inf
    cold = 1.0 / temperature
    for k in range(count):
        low, high = np.inf, -np.inf
        for x in range(len(first.after)):
            action_values(q, work, x, values, first, second, own, cross, other_own, other_cross,
                          0.0)  # fmt: skip
            if both:
                values_of_both(q[3], x, values, first, second, own, cross, other_own, other_cross,
                               0.0)  # fmt: skip
            if not rest:
                q[0] = NEVER
            same = NO_AGE if both or first.ages[x] < 0 else first.ages[x]
            for y in range(n):
                best = max(max(q[0, y], q[1, y]), max(q[2, y], q[3, y]))
                total = 0.0
                for a in range(4):
                    gap = (q[a, y] - best) * cold
                    q[a, y] = (1.0 if gap == 0.0 else np.exp(gap)) if gap > -30.0 else 0.0
                    total += q[a, y]
                more = temperature * np.log(total) if total > 1.0 else 0.0
                move = best + more - values[x, y]
                target[x, y] = values[x, y] + step * move
                if ages[y] != same:
                    low, high = min(low, move), max(high, move)
                if k + 1 == count:
                    for a in range(4):
                        policy[x, y, a] = q[a, y] / total
            q[3] = NEVER
        middle = step * 0.5 * (low + high)
        for x in range(len(first.after)):
            for y in range(n):
                target[x, y] -= middle
        values, target = target, values
    return low, high


@njit(cache=True, error_model="numpy", nogil=True)
def flow(mass, target, policy, first, second, both, step, count):
    """``count`` steps mass <- (1 - step) mass + step (mass after one step of the policy).

    Returns the L1 change of the last one, divided by step. The result is in ``mass`` if count is
    even, else in ``target``.
    """
    size, others, n = len(first.fresh), len(second.fresh), len(second.after)
    pulled, seen = np.empty((size, n)), np.empty((size, others))
    line = np.empty(others)
    change = 0.0
    for _ in range(count):
        for x in range(len(first.after)):
            for y in range(n):
                target[x, y] = 0.0
        pulled[:] = 0.0
        seen[:] = 0.0
        for x in range(len(first.after)):
            after = first.after[x]
            line[:] = 0.0
            for y in range(n):
                here = mass[x, y]
                if here == 0.0:
                    continue
                then = second.after[y]
                target[after, then] += here * policy[x, y, 0]
                for s in range(size):
                    pulled[s, then] += here * policy[x, y, 1] * first.laws[x, s]
                for t in range(others):
                    line[t] += here * policy[x, y, 2] * second.laws[y, t]
                if both:
                    for s in range(size):
                        for t in range(others):
                            seen[s, t] += (
                                here * policy[x, y, 3] * first.laws[x, s] * second.laws[y, t]
                            )
            for t in range(others):
                target[after, second.fresh[t]] += line[t]
        for s in range(size):
            for y in range(n):
                target[first.fresh[s], y] += pulled[s, y]
            for t in range(others):
                target[first.fresh[s], second.fresh[t]] += seen[s, t]
        change = 0.0
        for x in range(len(first.after)):
            for y in range(n):
                change += abs(target[x, y] - mass[x, y])
                target[x, y] = (1.0 - step) * mass[x, y] + step * target[x, y]
        mass, target = target, mass
    return change


@njit(cache=True, error_model="numpy", nogil=True)
def shares(mass, policy, own, cross, other_own, other_cross, both):
    """How often each payoff is earned: the derivatives of the gain by the payoffs."""
    own[:], cross[:], other_own[:], other_cross[:] = 0.0, 0.0, 0.0, 0.0
    for x in range(mass.shape[0]):
        for y in range(mass.shape[1]):
            here = mass[x, y]
            neither, first, second = (
                here * policy[x, y, 0], here * policy[x, y, 1], here * policy[x, y, 2],
            )  # fmt: skip
            each = here * policy[x, y, 3] if both else 0.0
            own[x, 0] += neither + second
            own[x, 1] += first + each
            other_own[y, 0] += neither + first
            other_own[y, 1] += second + each
            cross[x, 0] -= second
            cross[x, 1] -= each
            other_cross[y, 0] -= first
            other_cross[y, 1] -= each


@njit(cache=True, error_model="numpy", nogil=True)
def lone_sweep(values, target, side, price, step, count):
    """``count`` sweeps of one arm that pays ``price`` a pull; bounds as in ``sweep``, wary."""
    low, high = -np.inf, np.inf
    for _ in range(count):
        low, high = np.inf, -np.inf
        least, most = np.inf, -np.inf
        for s in range(len(side.fresh)):
            outcome = side.rewards[s] + values[side.fresh[s]]
            least, most = min(least, outcome), max(most, outcome)
        for x in range(len(values)):
            pull = 0.5 * side.errors[x] * (most - least) - price
            for s in range(len(side.fresh)):
                pull += side.laws[x, s] * (side.rewards[s] + values[side.fresh[s]])
            move = max(values[side.after[x]], pull) - values[x]
            target[x] = values[x] + step * move
            low, high = min(low, move), max(high, move)
        middle = step * 0.5 * (low + high)
        for x in range(len(values)):
            target[x] -= middle
        values, target = target, values
    return low, high
