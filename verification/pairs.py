"""How far bounds by pairs are above the simulated value of Whittle's policy.

    python -m verification.pairs [seconds a problem]

prints a table; simulated values come with their standard errors. Ties between indices are broken
by the expected reward, which matters where arms are negatively correlated.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from time import process_time

import numpy as np

from restive.many.pairs import pair_improvements
from restive.model.bandit import Arm
from restive.planning.indices import whittle_indices

IDENTICAL = {(0.05, 0.8): (3, 6, 8, 20), (0.02, 0.9): (5, 10, 20), (0.8, 0.3): (10, 20)}
RANDOM = {4: (0, 1, 2, 3, 4), 6: (0, 1), 10: (0, 1, 2), 20: (0,)}
TIES = 1e-6
ROWS = 1e-5  # L1 error of the rows beyond the caps of indices


def whittle_value(
    arms: Sequence[Arm], counts: Sequence[int], pulls: int = 1, steps: int = 20_000,
    runs: int = 256, seed: int = 0,
) -> tuple[float, float]:  # fmt: skip
    """Mean reward a step of pulling the arms with the largest indices, and its standard error.

    For aperiodic arms; all runs side by side.
    """
    rng = np.random.default_rng(seed)
    caps = [max(2, arm.mixing_time(ROWS)) for arm in arms]
    size, ages = max(arm.n_states for arm in arms), max(caps)
    scores, chances = np.zeros((len(arms), size, ages)), np.ones((len(arms), size, size))
    rewards = np.zeros((len(arms), size))
    for c, (arm, cap) in enumerate(zip(arms, caps, strict=True)):
        n = arm.n_states
        means = np.stack([arm.power(age) @ arm.rewards for age in range(1, cap + 1)], axis=1)
        scores[c, :n, :cap] = whittle_indices(arm, cap) + TIES * means
        chances[c, :n, : n - 1] = np.cumsum(arm.transitions, axis=1)[:, :-1]
        rewards[c, :n] = arm.rewards
    kind = np.repeat(np.arange(len(arms)), counts)
    oldest, row = np.array(caps)[kind] - 1, np.arange(runs)[:, None]
    states = np.stack([rng.choice(arms[c].n_states, runs, p=arms[c].stationary) for c in kind], 1)
    last, age = states.copy(), np.tile(oldest, (runs, 1))
    total, warm = np.zeros(runs), steps // 20
    for t in range(warm + steps):
        chosen = np.argpartition(-scores[kind, last, age], pulls - 1, axis=1)[:, :pulls]
        seen = states[row, chosen]
        if t >= warm:
            total += rewards[kind[chosen], seen].sum(axis=1)
        age = np.minimum(age + 1, oldest)
        last[row, chosen], age[row, chosen] = seen, 0
        uniform = rng.random((runs, len(kind), 1))
        states = (uniform >= chances[kind, states][..., :-1]).sum(axis=-1)
    return float(total.mean() / steps), float(total.std(ddof=1) / steps / np.sqrt(runs))


def random_arms(count: int, seed: int) -> list[Arm]:
    """Two-state arms with rates .05 to .5, rewards 0 and .5 to 1."""
    rng = np.random.default_rng(seed)
    arms = []
    for _ in range(count):
        rise, fall = rng.uniform(0.05, 0.5, 2)
        arms.append(Arm([[1 - rise, rise], [fall, 1 - fall]], [0, rng.uniform(0.5, 1)]))
    return arms


def problems() -> Iterator[tuple[str, list[Arm], list[int]]]:
    for (rise, stay), numbers in IDENTICAL.items():
        arm = Arm([[1 - rise, rise], [1 - stay, stay]], [0, 1])
        for count in numbers:
            yield f"identical ({rise:g}, {stay:g}), K = {count}", [arm], [count]
    for count, seeds in RANDOM.items():
        for seed in seeds:
            yield f"random, K = {count}, seed {seed}", random_arms(count, seed), [1] * count


def main(seconds: float = 60.0) -> None:
    print("| arms | Whittle (simulated) | Lagrangian | pairs | gap | seconds | of CPU |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, arms, counts in problems():
        value, error = whittle_value(arms, counts)
        began = process_time()
        *_, last = pair_improvements(arms, counts, time=seconds)
        used = process_time() - began
        gaps = [100 * (bound / value - 1) for bound in (last.lagrangian, last.upper)]
        print(
            f"| {name} | {value:.4f} ± {error:.4f} | {gaps[0]:.2f}% | {last.upper:.5f} "
            f"| {gaps[1]:.2f}% | {last.seconds:.0f} | {used:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
