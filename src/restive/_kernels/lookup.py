"""Single pulls read off the values of information states: certificates, optimistic sums."""

from __future__ import annotations

import numpy as np

from restive._kernels import njit


@njit(cache=True, error_model="numpy")
def successor(lay, last, states, ages, pull):
    """Place in the values of the state after pulling ``pull``, but for the outcome's own state.

    ages: stored ages counted from 0, the last pulled arm's being 0.
    """
    place = lay.block[pull]
    for arm in range(len(lay.sizes)):
        if arm != pull:
            age = ages[arm] - lay.first[arm]
            if arm == last:
                age = lay.enter[arm]
            else:
                age = age + 1 if age + 1 < lay.rested[arm] else lay.loop[arm]
            place += states[arm] * lay.state_stride[pull, arm] + age * lay.age_stride[pull, arm]
    return place


@njit(cache=True, error_model="numpy")
def optimistic_sum(values, start, stride, chances, color, size, radius):
    """Largest expected value over the laws within ``radius``, by moving mass step by step."""
    top = 0
    total = 0.0
    for s in range(size):
        total += chances[color, s] * values[start + s * stride]
        if values[start + s * stride] > values[start + top * stride]:
            top = s
    left = max(0.0, min(0.5 * radius, 1.0 - chances[color, top]))
    used = np.zeros(size, dtype=np.bool_)
    used[top] = True
    while left > 0.0:
        worst = -1
        for s in range(size):
            if not used[s] and (
                worst < 0 or values[start + s * stride] < values[start + worst * stride]
            ):
                worst = s
        if worst < 0:
            break
        used[worst] = True
        taken = min(left, chances[color, worst])
        total += taken * (values[start + top * stride] - values[start + worst * stride])
        left -= taken
    return total


@njit(cache=True, error_model="numpy")
def certify_task(values, lay, tab, errors, outcome_rewards, phases, orbits, task, lower, upper):
    """Bounds of the true T h - h over the states of one task in which some row is approximate.

    errors: (C,) L1 distance between a color's row and any true row it stands for. A pull is then
    known up to errors/2 times the span of (reward + value) over its outcomes.
    """
    i = lay.tasks[task, 0]
    count = len(lay.sizes)
    z = lay.row_arm[i]
    states = lay.task_states[task].copy()
    ages = np.zeros(count, dtype=np.int64)
    for arm in range(count):
        ages[arm] = 0 if arm == i else lay.first[arm]
    while True:
        rough = False
        for arm in range(count):
            color = lay.colors[arm] + states[arm] * lay.stored[arm] + ages[arm]
            rough = rough or errors[color] > 0.0
        if rough:
            here = lay.block[i]
            phase = 0
            low = -np.inf
            high = -np.inf
            for pull in range(count):
                color = lay.colors[pull] + states[pull] * lay.stored[pull] + ages[pull]
                phase += phases[color]
                here += states[pull] * lay.state_stride[i, pull]
                if pull != i:
                    here += (ages[pull] - lay.first[pull]) * lay.age_stride[i, pull]
                start = successor(lay, i, states, ages, pull)
                stride = lay.state_stride[pull, pull]
                total = tab.rewards[color]
                least = np.inf
                most = -np.inf
                for s in range(lay.sizes[pull]):
                    total += tab.chances[color, s] * values[start + s * stride]
                    worth = outcome_rewards[pull, s] + values[start + s * stride]
                    least = min(least, worth)
                    most = max(most, worth)
                doubt = 0.5 * errors[color] * (most - least)
                low = max(low, total - doubt)
                high = max(high, total + doubt)
            part = orbits[phase]
            lower[part] = min(lower[part], low - values[here])
            upper[part] = max(upper[part], high - values[here])
        # next state: row arm's age, own state, row arm's state, then the outer arms' ages
        done = True
        if z >= 0:
            ages[z] += 1
            if ages[z] < lay.stored[z]:
                continue
            ages[z] = lay.first[z]
            states[z] += 1
            if states[z] < lay.sizes[z]:
                continue
            states[z] = 0
        states[i] += 1
        if states[i] < lay.sizes[i]:
            continue
        states[i] = 0
        for o in range(lay.n_outer[i] - 1, -1, -1):
            arm = lay.outer[i, o]
            ages[arm] += 1
            if ages[arm] < lay.stored[arm]:
                done = False
                break
            ages[arm] = lay.first[arm]
        if done:
            return


@njit(cache=True, error_model="numpy", nogil=True)
def certify(values, lay, tab, errors, outcome_rewards, phases, orbits, lower, upper, first, stride):
    """``certify_task`` for the tasks first, first + stride, ...; lower, upper: (tasks, classes)."""
    for task in range(first, len(lay.tasks), stride):
        certify_task(values, lay, tab, errors, outcome_rewards, phases, orbits, task,
                     lower[task], upper[task])  # fmt: skip
