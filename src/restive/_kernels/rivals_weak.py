"""Steps of learners that look for the best single arm: choose, take note, and play along a path.

A family has ``choose_*`` (the next arm), ``learn_*`` (one observation) and ``play_*``, which does
nothing but call the two in turn, so that compiled play cannot drift away from ask and tell.
"""

from __future__ import annotations

import numpy as np

from restive._kernels import njit

CLOSE = 2.0**-40  # how exact a KL-UCB index is

STEPS, EXPLORED, EXPLOITED, ARM, MODE, LEFT = 0, 1, 2, 3, 4, 5  # entries of a clock
WAIT, SAMPLE, EXPLOIT = 0, 1, 2  # modes


# --- means and upper confidence bounds ---------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def divergence(p, q):
    """Bernoulli kl(p, q) for 0 <= p <= q < 1."""
    low = 0.0 if p <= 0 else p * np.log(p / q)
    return low if p >= 1 else low + (1 - p) * np.log((1 - p) / (1 - q))


@njit(cache=True, error_model="numpy", nogil=True)
def kl_index(mean, plays, level):
    """The largest q with plays kl(mean, q) <= level, by Newton's method from above.

    kl is convex in q and at least 2 (q - mean)^2: no step goes too far, and the start is above.
    """
    bound = level / plays
    q = mean + np.sqrt(bound / 2)
    if q >= 1:
        q = 0.5 * (mean + 1)
        while 1 - q > CLOSE and divergence(mean, q) < bound:
            q = 0.5 * (q + 1)
    step = 1.0
    while step > CLOSE and 1 - q > CLOSE and q > mean:
        step = (divergence(mean, q) - bound) * q * (1 - q) / (q - mean)
        q -= step
    return q


@njit(cache=True, error_model="numpy", nogil=True)
def add_up(sums, arm, reward):
    """Add to a sum and its remainder (Kahan), so that a billion rewards cost no digits."""
    small = reward - sums[arm, 1]
    total = sums[arm, 0] + small
    sums[arm, 1] = (total - sums[arm, 0]) - small
    sums[arm, 0] = total


@njit(cache=True, error_model="numpy", nogil=True)
def unseen_or_best(plays, sums, level):
    """The first arm without plays, or the one with the largest mean + sqrt(level / plays)."""
    best, arm = -np.inf, 0
    for j in range(len(plays)):
        if plays[j] == 0:
            return j
        index = sums[j, 0] / plays[j] + np.sqrt(level / plays[j])
        if index > best:
            best, arm = index, j
    return arm


@njit(cache=True, error_model="numpy", nogil=True)
def choose_ucb(plays, sums, scale):
    """The first arm without plays, or the one with the largest mean + sqrt(scale log t / plays)."""
    return unseen_or_best(plays, sums, scale * np.log(plays.sum()))


@njit(cache=True, error_model="numpy", nogil=True)
def choose_varied(plays, sums, squares):
    """As ``choose_ucb`` with mean + sqrt(log t / n min(1/4, variance + sqrt(2 log t / n)))."""
    total = plays.sum()
    best, arm = -np.inf, 0
    for j in range(len(plays)):
        if plays[j] == 0:
            return j
        mean, level = sums[j, 0] / plays[j], np.log(total) / plays[j]
        spread = squares[j] / plays[j] - mean * mean + np.sqrt(2 * level)
        index = mean + np.sqrt(level * min(0.25, spread))
        if index > best:
            best, arm = index, j
    return arm


@njit(cache=True, error_model="numpy", nogil=True)
def choose_kl(plays, sums, weight):
    """As ``choose_ucb``; an index is worked out only for an arm known to reach the best so far."""
    for j in range(len(plays)):
        if plays[j] == 0:
            return j
    t = plays.sum() + 1
    level = np.log(t)
    if weight > 0 and t > 2:  # log log t is negative up to t = 2
        level += weight * np.log(np.log(t))
    arm = np.argmax(plays)  # most likely the best: few others need an index then
    best = kl_index(min(sums[arm, 0] / plays[arm], 1.0), plays[arm], level)
    for j in range(len(plays)):
        mean = min(sums[j, 0] / plays[j], 1.0)
        reach = best - 2 * CLOSE
        if j != arm and (mean >= reach or plays[j] * divergence(mean, reach) < level):
            index = kl_index(mean, plays[j], level)
            if index > best or (index == best and j < arm):
                best, arm = index, j
    return arm


@njit(cache=True, error_model="numpy", nogil=True)
def learn_mean(plays, sums, arm, reward):
    plays[arm] += 1
    add_up(sums, arm, reward)


@njit(cache=True, error_model="numpy", nogil=True)
def play_ucb(plays, sums, scale, rewards, pulls):
    for step in range(len(pulls)):
        arm = pulls[step] = choose_ucb(plays, sums, scale)
        learn_mean(plays, sums, arm, rewards[arm, step])


@njit(cache=True, error_model="numpy", nogil=True)
def play_kl(plays, sums, weight, rewards, pulls):
    for step in range(len(pulls)):
        arm = pulls[step] = choose_kl(plays, sums, weight)
        learn_mean(plays, sums, arm, rewards[arm, step])


@njit(cache=True, error_model="numpy", nogil=True)
def play_varied(plays, sums, squares, rewards, pulls):
    for step in range(len(pulls)):
        arm = pulls[step] = choose_varied(plays, sums, squares)
        paid = rewards[arm, step]
        learn_mean(plays, sums, arm, paid)
        squares[arm] += paid * paid


# --- means of the latest pulls ------------------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def learn_window(plays, sums, arms, paid, clock, arm, reward):
    """Take note of a pull, and forget the one that leaves the window."""
    place = clock[0] % len(arms)
    if clock[0] >= len(arms):
        plays[arms[place]] -= 1
        add_up(sums, arms[place], -paid[place])
        if plays[arms[place]] == 0:
            sums[arms[place], :] = 0.0  # no rounding is left behind
    arms[place], paid[place] = arm, reward
    learn_mean(plays, sums, arm, reward)
    clock[0] += 1


@njit(cache=True, error_model="numpy", nogil=True)
def choose_window(plays, sums, arms, paid, clock, scale):
    """The first arm without plays in the window, or the one with the largest index."""
    return unseen_or_best(plays, sums, scale * np.log(min(clock[0], len(arms))))


@njit(cache=True, error_model="numpy", nogil=True)
def play_window(plays, sums, arms, paid, clock, scale, rewards, pulls):
    for step in range(len(pulls)):
        arm = pulls[step] = choose_window(plays, sums, arms, paid, clock, scale)
        learn_window(plays, sums, arms, paid, clock, arm, rewards[arm, step])


# --- random choices: drawn when the last observation came in, so that asking draws nothing -------


@njit(cache=True, error_model="numpy", nogil=True)
def choose_thompson(rng, wins, losses):
    best, arm = -np.inf, 0
    for j in range(len(wins)):
        sample = rng.beta(wins[j] + 1.0, losses[j] + 1.0)
        if sample > best:
            best, arm = sample, j
    return arm


@njit(cache=True, error_model="numpy", nogil=True)
def learn_thompson(rng, wins, losses, chosen, arm, reward):
    if rng.random() < reward:
        wins[arm] += 1
    else:
        losses[arm] += 1
    chosen[0] = choose_thompson(rng, wins, losses)


@njit(cache=True, error_model="numpy", nogil=True)
def play_thompson(rng, wins, losses, chosen, rewards, pulls):
    for step in range(len(pulls)):
        arm = pulls[step] = chosen[0]
        learn_thompson(rng, wins, losses, chosen, arm, rewards[arm, step])


@njit(cache=True, error_model="numpy", nogil=True)
def choose_exp3(logs, gamma, uniform):
    """First arm whose cumulative probability exceeds a uniform number."""
    count = len(logs)
    weights = np.exp(logs - logs.max())
    total, height = weights.sum(), 0.0
    for j in range(count):
        height += (1 - gamma) * weights[j] / total + gamma / count
        if uniform < height:
            return j
    return count - 1  # rounding left the last height just below 1


@njit(cache=True, error_model="numpy", nogil=True)
def learn_exp3(logs, chosen, gamma, alpha, arm, reward, uniform):
    """Weights are kept as logarithms, the largest about 0: they can neither overflow nor vanish."""
    count = len(logs)
    logs -= logs.max()
    total = np.exp(logs).sum()
    chance = (1 - gamma) * np.exp(logs[arm]) / total + gamma / count
    logs[arm] += gamma * reward / chance / count
    if alpha > 0:
        logs[:] = np.log(np.exp(logs) + np.e * alpha / count * total)
    chosen[0] = choose_exp3(logs, gamma, uniform)


@njit(cache=True, error_model="numpy", nogil=True)
def play_exp3(logs, chosen, gamma, alpha, uniforms, rewards, pulls):
    for step in range(len(pulls)):
        arm = pulls[step] = chosen[0]
        learn_exp3(logs, chosen, gamma, alpha, arm, rewards[arm, step], uniforms[step])


# --- regenerative cycles -------------------------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def learn_cycle(plays, sums, marked, place, cycle, scale, arm, hit, reward):
    """place: arm, mode. cycle: plays and rewards of the cycle under way, counted when it closes.

    marked: whether an arm has a mark. hit: the state is it. Returns whether it becomes the mark.
    """
    if arm != place[0]:  # the chain moved on unseen: what was seen is no whole cycle
        place[1] = WAIT
        return False
    if place[1] == WAIT:
        first = not marked[arm]
        if hit or first:
            place[1], marked[arm] = SAMPLE, True
            cycle[0], cycle[1] = 1.0, reward
        return first
    if not hit:
        cycle[0] += 1.0
        cycle[1] += reward
        return False
    plays[arm] += int(cycle[0])
    add_up(sums, arm, cycle[1])
    place[0], place[1] = choose_ucb(plays, sums, scale), WAIT
    return False


@njit(cache=True, error_model="numpy", nogil=True)
def play_cycle(plays, sums, marked, place, cycle, scale, marks, states, rewards, pulls):
    for step in range(len(pulls)):
        arm = pulls[step] = place[0]
        state = states[arm, step]
        hit = marked[arm] and marks[arm] == state
        if learn_cycle(plays, sums, marked, place, cycle, scale, arm, hit, rewards[arm, step]):
            marks[arm] = state


# --- epochs of exploration and exploitation ------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def next_epoch(plays, sums, clock, rate, scale, growth):
    """Exploit if (4^n - 1)/3 > D log t, else explore; D = rate (log t)^growth."""
    level = np.log(clock[STEPS] + 1.0)
    if (4.0 ** clock[EXPLORED] - 1) / 3 > rate * level**growth * level:
        clock[MODE] = EXPLOIT
        clock[ARM] = unseen_or_best(plays, sums, scale * level ** (growth / 2) * level)
        clock[LEFT] = 2 * 4 ** clock[EXPLOITED]
    else:
        clock[MODE], clock[ARM] = SAMPLE, 0
        clock[LEFT] = 4 ** clock[EXPLORED]


@njit(cache=True, error_model="numpy", nogil=True)
def learn_epoch(plays, sums, clock, rate, scale, growth, everything, arm, reward):
    """everything: all pulls count for the means, else those of exploration alone."""
    clock[STEPS] += 1
    asked = arm == clock[ARM]
    if everything or (asked and clock[MODE] == SAMPLE):
        learn_mean(plays, sums, arm, reward)
    if not asked:
        return
    clock[LEFT] -= 1
    if clock[LEFT] > 0:
        return
    if clock[MODE] == SAMPLE and arm + 1 < len(plays):
        clock[ARM], clock[LEFT] = arm + 1, 4 ** clock[EXPLORED]
        return
    clock[EXPLORED if clock[MODE] == SAMPLE else EXPLOITED] += 1
    next_epoch(plays, sums, clock, rate, scale, growth)


@njit(cache=True, error_model="numpy", nogil=True)
def play_epoch(plays, sums, clock, rate, scale, growth, everything, rewards, pulls):
    for step in range(len(pulls)):
        arm = pulls[step] = clock[ARM]
        learn_epoch(plays, sums, clock, rate, scale, growth, everything, arm, rewards[arm, step])


# --- adaptive sequencing -------------------------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def next_phase(plays, sums, phases, marked, clock, scale, gap, margin, floor):
    """Explore the least explored arm short of samples, else exploit the largest mean."""
    level = np.log(clock[STEPS] + 1.0)
    top, best = -np.inf, 0
    for j in range(len(plays)):
        if plays[j] > 0 and sums[j, 0] / plays[j] > top:
            top, best = sums[j, 0] / plays[j], j
    arm = -1
    for j in range(len(plays)):
        short = phases[j] == 0
        if not short:
            distance = (top - sums[j, 0] / plays[j]) ** 2 - margin
            rate = 4 * scale / max(gap * gap, distance)
            short = plays[j] <= max(rate, floor) * level
        if short and (arm < 0 or phases[j] < phases[arm]):
            arm = j
    if arm < 0:
        clock[ARM], clock[MODE], clock[LEFT] = best, EXPLOIT, 2 * 4 ** clock[EXPLOITED]
    else:
        clock[ARM], clock[MODE] = arm, WAIT if marked[arm] else SAMPLE
        clock[LEFT] = 4 ** phases[arm]


@njit(cache=True, error_model="numpy", nogil=True)
def learn_phase(plays, sums, phases, marked, clock, scale, gap, margin, floor, arm, hit, reward):
    """Returns whether the state becomes the arm's mark: the last state among its samples."""
    clock[STEPS] += 1
    if arm != clock[ARM]:
        if clock[MODE] == SAMPLE and marked[clock[ARM]]:
            clock[MODE] = WAIT  # the chain moved on unseen: join the path where it was left
        return False
    sampled = clock[MODE] == SAMPLE
    if clock[MODE] == WAIT:
        clock[MODE] = SAMPLE if hit else WAIT
        return False
    if sampled:
        learn_mean(plays, sums, arm, reward)
        marked[arm] = True
    clock[LEFT] -= 1
    if clock[LEFT] == 0:
        if sampled:
            phases[arm] += 1
        else:
            clock[EXPLOITED] += 1
        next_phase(plays, sums, phases, marked, clock, scale, gap, margin, floor)
    return sampled


@njit(cache=True, error_model="numpy", nogil=True)
def play_phase(plays, sums, phases, marked, clock, scale, gap, margin, floor, marks, states,
               rewards, pulls):  # fmt: skip
    for step in range(len(pulls)):
        arm = pulls[step] = clock[ARM]
        state = states[arm, step]
        hit = marked[arm] and marks[arm] == state
        if learn_phase(plays, sums, phases, marked, clock, scale, gap, margin, floor, arm, hit,
                       rewards[arm, step]):  # fmt: skip
            marks[arm] = state
