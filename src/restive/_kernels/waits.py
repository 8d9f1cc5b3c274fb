"""One arm alone at a price for each pull: after each look the choice is how long to wait.

Shared arguments. laws: (S, S, A), laws[s, t, k] the chance to see t when pulled ages[k] steps after
s was seen; means: (S, A) mean reward of that pull; ages: (A,) stored ages, increasing; steps: (A,)
steps of rest from each stored age to the next, of the last one to place ``back``. A policy is one
place k for each state ("wait ages[k], then pull") or -1 ("wait for ever"). Its gain and values are
lines in the price x: value = at_zero + slope x.
"""

from __future__ import annotations

import numpy as np

from restive._kernels import njit

TIES = 4e-14  # relative: smaller differences of values are rounding
ROUNDS = 500
NEVER = -1e300


@njit(cache=True, error_model="numpy", nogil=True)
def until_absorbed(inner, leave, right):
    """Solve (I - inner) y = right where leave = 1 - row sums; no subtraction (GTH).

    All three are overwritten, right by y. False if some states never leave.
    """
    size, many = right.shape
    scale = np.empty(size)
    for k in range(size - 1, -1, -1):
        out = leave[k]
        for j in range(k):
            out += inner[k, j]
        if not out > 0.0:
            return False
        scale[k] = out
        for i in range(k):
            weight = inner[i, k] / out
            if weight > 0.0:
                for j in range(k):
                    inner[i, j] += weight * inner[k, j]
                leave[i] += weight * leave[k]
                for c in range(many):
                    right[i, c] += weight * right[k, c]
    for k in range(size):
        for c in range(many):
            total = right[k, c]
            for j in range(k):
                total += inner[k, j] * right[j, c]
            right[k, c] = total / scale[k]
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def evaluate_stopping(waits, laws, means, ages, discount, lines):
    """lines (S, 2) of h(s) = discount^(n-1) (mean - x + discount law h), or 0 for ever resting."""
    size = len(waits)
    inner, leave, right = np.zeros((size, size)), np.ones(size), np.zeros((size, 2))
    for s in range(size):
        k = waits[s]
        if k >= 0:
            weight = discount ** (ages[k] - 1.0)
            leave[s] = 1.0 - weight * discount if discount < 1.0 else 0.0
            right[s, 0], right[s, 1] = weight * means[s, k], weight
            for t in range(size):
                inner[s, t] = weight * discount * laws[s, t, k]
    if not until_absorbed(inner, leave, right):
        return False
    for s in range(size):
        lines[s, 0], lines[s, 1] = right[s, 0], -right[s, 1]
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def evaluate_cycling(waits, home, inside, laws, means, ages, gain, lines):
    """Gain and values of a policy that comes back to ``home`` from every state ``inside``.

    Rewards, pulls and steps until home are all positive sums; gain = (rewards - x pulls) / steps
    of one round, h(s) = rewards - x pulls - gain steps until home. False if it does not come back.
    """
    size = len(waits)
    inner, leave, right = np.zeros((size, size)), np.ones(size), np.zeros((size, 3))
    for s in range(size):
        if s != home and inside[s]:
            k, leave[s] = waits[s], 0.0
            right[s, 0], right[s, 1], right[s, 2] = means[s, k], 1.0, ages[k]
            for t in range(size):
                inner[s, t] = laws[s, t, k]
    if not until_absorbed(inner, leave, right):
        return False
    k = waits[home]
    reward, pulls, time = means[home, k], 1.0, float(ages[k])
    for t in range(size):
        reward += laws[home, t, k] * right[t, 0]
        pulls += laws[home, t, k] * right[t, 1]
        time += laws[home, t, k] * right[t, 2]
    gain[0], gain[1] = reward / time, -pulls / time
    for s in range(size):
        lines[s, 0] = right[s, 0] - gain[0] * right[s, 2]
        lines[s, 1] = -right[s, 1] - gain[1] * right[s, 2]
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def join(waits, laws, means, ages, price, gain, lines):
    """Make a policy with several closed classes one with the best of them; returns its home.

    States that do not reach that class get the shortest wait that may bring them nearer. That is
    always possible, since the chain itself is irreducible.
    """
    size = len(waits)
    reach = np.zeros((size, size), dtype=np.bool_)
    for s in range(size):
        reach[s, s] = True
        for t in range(size):
            if laws[s, t, waits[s]] > 0.0:
                reach[s, t] = True
    for m in range(size):
        for s in range(size):
            if reach[s, m]:
                for t in range(size):
                    if reach[m, t]:
                        reach[s, t] = True
    home, best = -1, NEVER
    for s in range(size):
        closed = True
        for t in range(size):
            if reach[s, t] and (not reach[t, s] or t < s):
                closed = False  # transient, or its class was looked at before
        if closed and evaluate_cycling(waits, s, reach[s], laws, means, ages, gain, lines):
            value = gain[0] + gain[1] * price
            if value > best:
                home, best = s, value
    near = reach[:, home].copy()
    changed = True
    while changed:
        changed = False
        for s in range(size):
            if near[s]:
                continue
            for k in range(len(ages)):
                there = False
                for t in range(size):
                    if near[t] and laws[s, t, k] > 0.0:
                        there = True
                if there:
                    waits[s], near[s], changed = k, True, True
                    break
    return home


@njit(cache=True, error_model="numpy", nogil=True)
def pull_lines(laws, means, discount, gain, lines, pulls):
    """pulls (2, S, A): lines of mean - x - gain + discount law h, what a pull is worth."""
    size, count = means.shape
    for s in range(size):
        for k in range(count):
            pulls[0, s, k] = means[s, k] - gain[0]
            pulls[1, s, k] = -1.0 - gain[1]
        for t in range(size):
            zero, slope = discount * lines[t, 0], discount * lines[t, 1]
            for k in range(count):
                pulls[0, s, k] += zero * laws[s, t, k]
                pulls[1, s, k] += slope * laws[s, t, k]


@njit(cache=True, error_model="numpy", nogil=True)
def improve(waits, price, stopping, ages, weights, gain, lines, pulls):
    """Give every state its best wait, where that is better by more than rounding."""
    size, count = pulls.shape[1], pulls.shape[2]
    rate = gain[0] + gain[1] * price
    changed = False
    for s in range(size):
        now = lines[s, 0] + lines[s, 1] * price
        best, at = NEVER, waits[s]
        for k in range(count):
            value = weights[k] * (pulls[0, s, k] + pulls[1, s, k] * price) - (ages[k] - 1) * rate
            if value > best:
                best, at = value, k
        if stopping and best <= 0.0:
            best, at = 0.0, -1
        scale = 1.0 + abs(lines[s, 0]) + abs(lines[s, 1] * price)
        if at != waits[s] and best > now + TIES * scale:
            waits[s] = at
            changed = True
    return changed


@njit(cache=True, error_model="numpy", nogil=True)
def iterate(
    waits, home, price, stopping, laws, means, ages, weights, discount, gain, lines, pulls
):  # fmt: skip
    """Policy iteration from ``waits``; returns the home of the best policy."""
    inside = np.ones(len(waits), dtype=np.bool_)
    kept = waits.copy()
    for _ in range(ROUNDS):
        if stopping:
            gain[:] = 0.0
            if not evaluate_stopping(waits, laws, means, ages, discount, lines):
                for s in range(len(waits)):  # rounding made some states go on for ever: the last
                    waits[s] = kept[s]  # that ends; waits[:] = kept would compile a long message
                if not evaluate_stopping(waits, laws, means, ages, discount, lines):
                    waits[:] = -1
                    lines[:] = 0.0
                pull_lines(laws, means, discount, gain, lines, pulls)
                break
        elif not evaluate_cycling(waits, home, inside, laws, means, ages, gain, lines):
            home = join(waits, laws, means, ages, price, gain, lines)
            evaluate_cycling(waits, home, inside, laws, means, ages, gain, lines)
        pull_lines(laws, means, discount, gain, lines, pulls)
        for s in range(len(waits)):
            kept[s] = waits[s]
        if not improve(waits, price, stopping, ages, weights, gain, lines, pulls):
            break
    return home


@njit(cache=True, error_model="numpy", nogil=True)
def rest_line(zero, slope, place, price, stopping, steps, back, discount, gain):
    """Line of the best that resting at stored age ``place`` leads to, at this price.

    zero, slope: (A,) lines of pulls of one state. V(k) = max(pull(k), rest(k)),
    rest(k) = discount^steps V(k + 1) - steps gain, and 0 for ever where stopping. Once round the
    loop is enough: a second round costs and brings nothing.
    """
    last = len(zero) - 1
    rate = gain[0] + gain[1] * price
    best = 0.0 if stopping else NEVER
    best_zero, best_slope = best, 0.0
    for turn in range(2):
        stop = back if turn == 0 else place + 1
        for k in range(last, stop - 1, -1):
            if turn == 1 or k < last:
                fade = discount ** steps[k] if discount < 1.0 else 1.0
                best = fade * best - steps[k] * rate
                best_zero = fade * best_zero - steps[k] * gain[0]
                best_slope = fade * best_slope - steps[k] * gain[1]
                if stopping and best < 0.0:
                    best = best_zero = best_slope = 0.0
            value = zero[k] + slope[k] * price
            if value > best:
                best, best_zero, best_slope = value, zero[k], slope[k]
    fade = discount ** steps[place] if discount < 1.0 else 1.0
    best = fade * best - steps[place] * rate
    if stopping and best < 0.0:
        return 0.0, 0.0
    return fade * best_zero - steps[place] * gain[0], fade * best_slope - steps[place] * gain[1]


@njit(cache=True, error_model="numpy", nogil=True)
def advantages(pulls, price, stopping, steps, back, discount, gain, out, out_slope):
    """out (S, A): what pulling now is worth more than resting, and its slope in the price."""
    size, count = pulls.shape[1], pulls.shape[2]
    rate = gain[0] + gain[1] * price
    for s in range(size):
        best = 0.0 if stopping else NEVER
        best_slope = 0.0
        for turn in range(2):
            for k in range(count - 1, back - 1 if turn == 0 else -1, -1):
                fade = discount ** steps[k] if discount < 1.0 else 1.0
                best = fade * best - steps[k] * rate
                best_slope = fade * best_slope - steps[k] * gain[1]
                if stopping and best < 0.0:
                    best = best_slope = 0.0
                value = pulls[0, s, k] + pulls[1, s, k] * price
                out[s, k] = value - best
                out_slope[s, k] = pulls[1, s, k] - best_slope
                if value > best:
                    best, best_slope = value, pulls[1, s, k]


@njit(cache=True, error_model="numpy", nogil=True)
def next_change(waits, price, stopping, ages, weights, gain, lines, pulls, entering):
    """Price up to which the policy stays best; entering: the (state, place) that changes there."""
    size, count = pulls.shape[1], pulls.shape[2]
    nearest = 1e300
    rate = gain[0] + gain[1] * price
    for s in range(size):
        now = lines[s, 0] + lines[s, 1] * price
        flat = lines[s, 1] + 1e-13
        for k in range(count):
            slope = weights[k] * pulls[1, s, k] - (ages[k] - 1) * gain[1]
            if slope > flat:
                value = weights[k] * (pulls[0, s, k] + pulls[1, s, k] * price)
                gap = now - value + (ages[k] - 1) * rate
                if gap < nearest * (slope - lines[s, 1]) and k != waits[s]:
                    nearest, entering[0], entering[1] = gap / (slope - lines[s, 1]), s, k
        if stopping and waits[s] >= 0 and lines[s, 1] < -1e-13 and now < nearest * -lines[s, 1]:
            nearest, entering[0], entering[1] = now / -lines[s, 1], s, -1
    return price + max(nearest, 0.0)


@njit(cache=True, error_model="numpy", nogil=True)
def root(zero, slope, place, left, right, stopping, steps, back, discount, gain, tiny):
    """Where the advantage at ``place`` falls below 0, between left (>= 0) and right (< 0).

    The advantage is concave between two changes of policy (a line minus a maximum of lines), so
    Newton's steps from the right never pass the root. Returns the root and the slope of the line
    that crosses 0 there.
    """
    price, steep = right, 0.0
    for _ in range(100):
        rest_zero, rest_slope = rest_line(
            zero, slope, place, price, stopping, steps, back, discount, gain
        )
        gradient = slope[place] - rest_slope
        value = (zero[place] - rest_zero) + gradient * price
        if value >= -tiny or gradient >= 0.0:
            break
        following = max(left, price - value / gradient)
        steep = gradient
        if following >= price:
            break
        price = following
    return price, steep


@njit(cache=True, error_model="numpy", nogil=True)
def bump(zero, slope, place, left, right, stopping, steps, back, discount, gain, tiny):
    """A price between left and right at which the concave advantage exceeds ``tiny``, or NaN."""
    for _ in range(100):
        middle = np.nan
        ends = np.empty((2, 2))
        for e in range(2):
            price = left if e == 0 else right
            rest = rest_line(zero, slope, place, price, stopping, steps, back, discount, gain)
            ends[e, 1] = slope[place] - rest[1]
            ends[e, 0] = zero[place] - rest[0] + ends[e, 1] * price
            if ends[e, 0] > tiny:
                return price
        if ends[0, 1] <= 0.0 or ends[1, 1] >= 0.0:
            return np.nan
        middle = (ends[1, 0] - ends[0, 0] + ends[0, 1] * left - ends[1, 1] * right) / (
            ends[0, 1] - ends[1, 1]
        )
        if ends[0, 0] + ends[0, 1] * (middle - left) <= tiny or not left < middle < right:
            return np.nan
        rest = rest_line(zero, slope, place, middle, stopping, steps, back, discount, gain)
        gradient = slope[place] - rest[1]
        if zero[place] - rest[0] + gradient * middle > tiny:
            return middle
        if gradient > 0.0:
            left = middle
        else:
            right = middle
    return np.nan


@njit(cache=True, error_model="numpy", nogil=True)
def march(
    waits, place, laws, means, ages, steps, back, weights, discount, high, shortest, tiny, budget,
    indices, pulled, rested_at, witness, accuracy, curve,
):  # fmt: skip
    """Follow the best policy as the price rises; at most ``budget`` pieces, or until ``high``.

    place: [price, stopping, home, pieces of the curve, witness seen], kept between calls.
    indices: (S, A) first price where resting becomes best; pulled: (S, A) whether pulling is best
    now; rested_at: (S, A) a price where resting was clearly best. witness: [low price, high price,
    s, k]: rested at the low one and pulled at the high one. curve: (n, 3) price, gain there, slope
    of each piece. True when done.
    """
    size, count = means.shape
    gain, lines, pulls = np.zeros(2), np.zeros((size, 2)), np.empty((2, size, count))
    out, gradient = np.empty((size, count)), np.empty((size, count))
    entering = np.zeros(2, dtype=np.int64)
    brief = shortest
    for _ in range(budget):
        price, stopping, home = place[0], place[1] > 0.0, int(place[2])
        home = iterate(waits, home, price, stopping, laws, means, ages, weights, discount, gain,
                       lines, pulls)  # fmt: skip
        place[2] = home
        if not stopping and gain[0] + gain[1] * price <= 0.0:
            waits[:] = -1
            place[1], place[0] = 1.0, price + shortest
            continue
        change = next_change(waits, price, stopping, ages, weights, gain, lines, pulls, entering)
        brief = shortest if change > price + shortest else min(2 * brief, 1e4 * shortest)
        right = min(max(change, price + brief), high)
        empties = -gain[0] / gain[1] if not stopping else np.inf
        right = max(min(right, empties), price)
        note(curve, place, price, gain, stopping)
        advantages(pulls, right, stopping, steps, back, discount, gain, out, gradient)
        noise = tiny * (1.0 + np.abs(lines).max())
        for s in range(size):
            zero, slope = pulls[0, s], pulls[1, s]  # not below: a view costs more than a look
            for k in range(count):
                if pulled[s, k]:
                    if out[s, k] >= -noise:
                        continue
                    index, steep = root(zero, slope, k, price, right, stopping, steps, back,
                                        discount, gain, noise)  # fmt: skip
                    pulled[s, k] = False
                    if np.isnan(indices[s, k]):
                        indices[s, k] = index
                        accuracy[0] = max(accuracy[0], 2 * shortest + noise / max(-steep, 1e-12))
                elif np.isnan(rested_at[s, k]):
                    if out[s, k] < -1e4 * noise:
                        rested_at[s, k] = right
                elif place[4] == 0.0 and (
                    out[s, k] > 1e4 * noise
                    or out[s, k] - min(gradient[s, k], 0.0) * (right - price) > 1e4 * noise
                ):
                    again = bump(zero, slope, k, price, right, stopping, steps, back, discount,
                                 gain, 1e4 * noise)  # fmt: skip
                    if not np.isnan(again):
                        place[4] = 1.0
                        witness[0], witness[1] = rested_at[s, k], again
                        witness[2], witness[3] = s, k
                if not pulled[s, k] and out[s, k] > 1e4 * noise:
                    pulled[s, k] = True
        place[0] = right
        if right >= high:
            return True
        if not stopping and right >= empties:
            waits[:] = -1
            place[1] = 1.0
            place[0] = right + shortest
        elif right >= change:
            waits[entering[0]] = entering[1]
            if stopping and not evaluate_stopping(waits, laws, means, ages, discount, lines):
                waits[:] = -1
    return False


@njit(cache=True, error_model="numpy", nogil=True)
def note(curve, place, price, gain, stopping):
    """Add a piece to the Lagrangian curve where its slope is a new one."""
    n = int(place[3])
    slope = 0.0 if stopping else gain[1]
    if n == len(curve) or (n > 0 and abs(curve[n - 1, 2] - slope) <= 1e-12):
        return
    curve[n, 0], curve[n, 2] = price, slope
    curve[n, 1] = 0.0 if stopping else gain[0] + gain[1] * price
    place[3] = n + 1.0
