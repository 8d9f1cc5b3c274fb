"""Better budgets by smooth descent: soft maxima over actions, their gradients, and L-BFGS.

With temperature log sum_a exp(q_a / temperature) in place of max_a q_a a pair's gain becomes a
smooth convex function of its payoffs, whose derivatives are how often each payoff is earned. As
the temperature falls, its minimum nears that of the bound itself.
"""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter

import numpy as np
from scipy.optimize import minimize

from restive.base.arrays import Floats
from restive.many.pair_budgets import Budgets, Payoffs, gradient, payoffs
from restive.many.pair_certificate import STEP, SWEEPS, Kind, over_kinds
from restive.many.pair_tables import Family

ROUNDS = 40  # calls of SWEEPS sweeps each, at most, for one gain or one law
ACCURACY = 1e-4  # of gains and laws, relative to the temperature
MEMORY = 20  # steps that L-BFGS remembers


class _OutOfTimeError(Exception):
    pass


class Descent:
    """Budgets on their way down; values and laws of all kinds carry over from step to step."""

    def __init__(self, family: Family, values: dict[Kind, Floats]) -> None:
        self.family = family
        self.values = {kind: h.copy() for kind, h in values.items()}
        self._masses = {kind: np.full(h.shape, 1.0 / h.size) for kind, h in values.items()}
        self._policies = {kind: np.zeros((*h.shape, 4)) for kind, h in values.items()}

    def lower(
        self, budgets: Budgets, temperature: float, iterations: int, deadline: float
    ) -> Budgets:
        """The best budgets seen on at most ``iterations`` steps at this temperature."""
        best: list[tuple[float, Floats]] = []

        def objective(numbers: Floats) -> tuple[float, Floats]:
            if best and perf_counter() > deadline:
                raise _OutOfTimeError
            value, slope = self.soft_bound(budgets.like(numbers), temperature)
            if not best or value < best[0][0]:
                best[:] = [(value, numbers.copy())]
            return value, slope.flat()

        with suppress(_OutOfTimeError):
            minimize(
                objective,
                budgets.flat(),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": MEMORY},
            )
        return budgets.like(best[0][1])

    def soft_bound(self, budgets: Budgets, temperature: float) -> tuple[float, Budgets]:
        """sum over kinds of weight times the soft gain, and its derivatives by the budgets."""
        family = self.family
        paid = payoffs(family, budgets)
        own = {key: np.zeros_like(part) for key, part in paid.own.items()}
        cross = tuple(np.zeros_like(part) for part in paid.cross)
        total = 0.0

        def work(kind: Kind) -> tuple[float, list[Floats]]:
            return self._gain(kind, paid, temperature)

        results = over_kinds(family, work, family.kinds)
        for (c, d), (gain, parts) in zip(family.kinds, results, strict=True):
            weight = family.weight(c, d)
            total += weight * gain
            own[c, d] += weight * parts[0]
            cross[c][:] += weight * parts[1]
            own[d, c] += weight * parts[2]
            cross[d][:] += weight * parts[3]
        return total, gradient(family, budgets, Payoffs(own, cross))

    def _gain(self, kind: Kind, paid: Payoffs, temperature: float) -> tuple[float, list[Floats]]:
        """Soft gain of a kind and how often its payoffs are earned."""
        from restive._kernels import pairs

        family, numbers = self.family, paid.of(*kind)
        first, second = (family.sides[c] for c in kind)
        h, mass, policy = self.values[kind], self._masses[kind], self._policies[kind]
        spare = np.empty_like(h)
        low = high = 0.0
        for _ in range(ROUNDS):
            low, high = pairs.soft_sweep(
                h, spare, policy, first, second, *numbers, family.rest, family.both, temperature,
                STEP, SWEEPS
            )  # fmt: skip
            if high - low <= ACCURACY * temperature:
                break
        for _ in range(ROUNDS):
            change = pairs.flow(mass, spare, policy, first, second, family.both, STEP, SWEEPS)
            if change <= ACCURACY * temperature:
                break
        parts = [np.empty_like(part) for part in numbers]
        pairs.shares(mass, policy, parts[0], parts[1], parts[2], parts[3], family.both)
        return 0.5 * (low + high), parts
