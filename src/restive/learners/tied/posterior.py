"""What is believed of one arm: a chain whose every age is a power of the same matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.model import chains


@dataclass(frozen=True)
class ChainPosterior:
    """Posterior of P given counts N(s, n, s'), rows Dirichlet(mass/S, ..., mass/S) beforehand.

    The likelihood is prod P^n(s, s')^N(s, n, s'): one matrix explains all ages. ``draw`` moves a
    matrix by a few steps of a Markov chain that leaves this posterior unchanged: data
    augmentation (impute the unseen states, draw the rows), Metropolis steps on the rows, and a
    jump to the mirror image, which data at even ages cannot tell from the matrix itself. A row's
    ``mass`` does not grow with S, so that arms with many states are believed to move along few
    of the possible ways, as most do, and are worth exploring.
    """

    mass: float = 1.0
    sweeps: int = 2
    nudges: int = 1

    def draw(self, chain: Floats, counts: Ints, rng: np.random.Generator) -> Floats:
        """A new matrix (S, S) from an old one; counts (S, A, S)."""
        return self.walk(chain, counts, 1, rng)[-1]

    def walk(
        self, chain: Floats, counts: Ints, many: int, rng: np.random.Generator
    ) -> list[Floats]:
        """So many new matrices, each from the one before.

        Only the first may be a jump to the mirror image: the mean of both images, Pi, would be
        like neither.
        """
        from restive._kernels import tied

        moved = np.array(chain, dtype=np.float64)
        if len(moved) == 1:
            return [moved] * many
        longest = np.flatnonzero(counts.any(axis=(0, 2)))
        used = np.ascontiguousarray(counts[:, : longest[-1] + 1 if len(longest) else 1])
        moved = self._maybe_mirror(moved, used, rng)
        steps = []
        for _ in range(many):
            tied.update(moved, used, self.mass / len(moved), rng, self.sweeps, self.nudges)
            steps.append(moved.copy())
        return steps

    def _maybe_mirror(self, chain: Floats, counts: Ints, rng: np.random.Generator) -> Floats:
        """A Metropolis step to the mirror image."""
        threshold, image = np.log(rng.random()), chains.mirror(chain)
        if image is None:
            return chain
        ratio = self.log_density(image, counts) - self.log_density(chain, counts)
        if ratio < threshold - 50:  # no volume makes up for that
            return chain
        return image if threshold < ratio + mirror_volume(chain) else chain

    def log_density(self, chain: Floats, counts: Ints) -> float:
        """Log posterior density of P up to a constant."""
        from restive._kernels import tied

        return float(tied.log_posterior(chain, counts, self.mass / len(chain)))


def mirror_volume(chain: Floats) -> float:
    """log |det| of the derivative of ``mirror`` in the free entries of P (all but one column).

    It is the sum of log |1 + z| - log |1 - z| over the eigenvalues z of P but the 1 that belongs to
    Pi: a change dP moves Pi by Pi dP (I - P + Pi)^-1, so the rows' deviations from their mean under
    Pi are reversed, and that mean is multiplied by 2 (I - P + Pi)^-1 - I.
    """
    identity = np.eye(len(chain))
    pi = np.broadcast_to(chains.stationary(np.maximum(chain, 1e-300)), chain.shape)
    above = np.linalg.slogdet(identity + chain)[1] - np.log(2.0)  # 1 + z for z = 1 is 2
    return float(above - np.linalg.slogdet(identity - chain + pi)[1])


@dataclass(frozen=True)
class RewardPosterior:
    """Posterior of a state's mean reward: normal with unknown variance (normal-inverse-gamma).

    The mean is ``center`` with ``weight`` samples' worth of faith, the variance about ``spread``;
    a state without any sample may pay anything, evenly between 0 and 1. Rewards without noise are
    recognised as such: the standard deviation of the mean then falls like 1/n, not 1/sqrt(n).
    """

    center: float = 0.5
    weight: float = 0.25
    shape: float = 0.5
    spread: float = 0.05

    def draw(self, totals: Floats, rng: np.random.Generator) -> Floats:
        """Mean rewards (S,), not yet cut to [0, 1]; totals (S, 3): number, sum, sum of squares."""
        n, total, squares = totals.T
        mean = total / np.maximum(n, 1)
        scatter = np.maximum(0.0, squares - total * mean)
        weight = self.weight + n
        shift = 0.5 * self.weight * n * (mean - self.center) ** 2 / weight
        scale = self.spread * self.shape + 0.5 * scatter + shift
        variance = scale / rng.standard_gamma(self.shape + 0.5 * n)
        center = (self.weight * self.center + total) / weight
        drawn = center + np.sqrt(variance / weight) * rng.standard_normal(len(n))
        return np.where(n > 0, drawn, rng.random(len(n)))
