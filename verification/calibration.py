"""Posterior sampling: are its beliefs calibrated? Simulation-based calibration (Talts et al. 2018).

Draw parameters from the prior, data given them, and a sample of the posterior given the data. If
the sampler is right, the rank of a function of the true parameters among its values in the sample
is uniform, whatever the function and however little the data say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chisquare

from restive._kernels import tied
from restive.learners.paper.rules import Counts, Evidence, n_outcomes
from restive.learners.rivals.posterior import PRIOR, PosteriorSampling
from restive.learners.tied.posterior import ChainPosterior, RewardPosterior
from restive.mdp.representation import Representation
from verification import ALPHA, Check, Finding, Settings, judge

__all__ = ["CHECKS"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAMPLE = 19  # ranks run from 0 to 19
THINNING = 25  # draws of the Markov chain between two that count
FUNCTIONS = ("P(0, 1)", "P^5(0, 1)", "mu(0)", "second eigenvalue", "log-likelihood")


def uniform(name: str, ranks: Ints, tests: int) -> Finding:
    """Whether ranks (simulations,) are uniform on 0..SAMPLE; ``tests`` share the chance ALPHA."""
    counts = np.bincount(ranks, minlength=SAMPLE + 1)
    chance = float(chisquare(counts).pvalue)
    return Finding(
        name,
        "ranks of the truth among posterior draws are uniform",
        f"p = {chance:.3g} in {len(ranks)} simulations",
        f"p >= {ALPHA / tests:.1g}",
        judge(chance >= ALPHA / tests),
    )


def rank(truth: Floats, sample: Floats, rng: np.random.Generator) -> Ints:
    """Ranks of truth (F,) among sample (SAMPLE, F); ties are broken at random."""
    below, equal = (sample < truth).sum(axis=0), (sample == truth).sum(axis=0)
    return np.asarray(below + rng.integers(0, equal + 1))


# --- chains seen at gaps ---------------------------------------------------------------------


def observe(chain: Floats, rng: np.random.Generator) -> Ints:
    """Counts N(s, n, s') of one walk at random ages: a few or many, short, long or all even."""
    size = len(chain)
    ages = [(1, 2, 3), (1, 5, 30), (2, 4, 8), (20, 40)][rng.integers(4)]
    powers = {n: np.linalg.matrix_power(chain, n) for n in ages}
    counts = np.zeros((size, max(ages), size), dtype=np.int64)
    state = int(rng.integers(size))
    for _ in range(int(rng.choice([3, 15, 60]))):
        age = int(rng.choice(ages))
        row = powers[age][state]
        after = int(rng.choice(size, p=row / row.sum()))
        counts[state, age - 1, after] += 1
        state = after
    return counts


def functions(chain: Floats, counts: Ints) -> Floats:
    """The values of FUNCTIONS."""
    powers = np.empty((max(5, counts.shape[1]), *chain.shape))
    tied.fill_powers(chain, powers)
    limit = np.linalg.matrix_power(0.5 * (chain + np.eye(len(chain))), 1 << 20)[0]
    moduli = np.sort(np.abs(np.linalg.eigvals(chain)))
    likelihood = tied.log_likelihood(counts, powers)
    return np.array([chain[0, 1], powers[4, 0, 1], limit[0], moduli[-2], likelihood])


def chain_ranks(posterior: ChainPosterior, size: int, seed: int) -> Ints:
    """Ranks of FUNCTIONS in one simulation.

    The Markov chain starts at a draw from the prior that knows nothing of the truth: from the
    truth itself, a sampler that never moved would pass.
    """
    rng = np.random.default_rng([seed, size, 41])
    prior = np.full(size, posterior.mass / size)
    truth = np.maximum(rng.dirichlet(prior, size), 1e-300)
    counts = observe(truth, rng)
    chain = np.maximum(rng.dirichlet(prior, size), 1e-300)
    sample = []
    for _ in range(SAMPLE):
        for _ in range(THINNING):
            chain = posterior.draw(chain, counts, rng)
        sample.append(functions(chain, counts))
    return rank(functions(truth, counts), np.array(sample), rng)


def check_chains(settings: Settings) -> Iterator[Finding]:
    """Draws of ``ChainPosterior`` after a few hundred steps, from a start that knows nothing."""
    runs = settings.size(1000, 200)
    shown = []
    for size in (2, 3):
        ranks = np.array([chain_ranks(ChainPosterior(), size, seed) for seed in range(runs)])
        for name, column in zip(FUNCTIONS, ranks.T, strict=True):
            shown.append((f"{name}, {size} states", column))
            yield uniform(f"chain of {size}: {name}", column, 2 * len(FUNCTIONS))
    settings.draw("calibration", lambda axes: _draw(axes, shown))


def _draw(axes: Any, shown: Sequence[tuple[str, Ints]]) -> None:
    """One strip per function: the histogram of its ranks around the uniform one, with a band."""
    runs, bins = len(shown[0][1]), SAMPLE + 1
    even = runs / bins
    width = 3.3 * np.sqrt(even * (1 - 1 / bins)) / even  # 1 in 1,000 for one bar
    for k, (_, ranks) in enumerate(reversed(shown)):
        heights = 0.4 / width * (np.bincount(ranks, minlength=bins) / even - 1)
        axes.fill_between([-0.5, SAMPLE + 0.5], k - 0.4, k + 0.4, color="0.92", lw=0)
        axes.bar(np.arange(bins), heights, bottom=k, width=0.9, color="tab:blue")
    axes.set_yticks(range(len(shown)), [name for name, _ in reversed(shown)])
    axes.set_xticks(range(SAMPLE + 1))
    axes.set_xlabel(f"rank of the truth among {SAMPLE} draws; {runs} simulations; grey: 99.9%")


# --- rewards ---------------------------------------------------------------------------------


def reward_ranks(posterior: RewardPosterior, seed: int) -> Ints:
    """Ranks of the mean rewards of three states with 1, 5 and 40 samples."""
    rng = np.random.default_rng([seed, 42])
    shape, scale = posterior.shape, posterior.shape * posterior.spread
    variance = scale / rng.standard_gamma(shape, 3)
    means = posterior.center + np.sqrt(variance / posterior.weight) * rng.standard_normal(3)
    totals = np.empty((3, 3))
    for s, count in enumerate((1, 5, 40)):
        paid = means[s] + np.sqrt(variance[s]) * rng.standard_normal(count)
        totals[s] = count, paid.sum(), np.square(paid).sum()
    return rank(means, np.array([posterior.draw(totals, rng) for _ in range(SAMPLE)]), rng)


def check_rewards(settings: Settings) -> Iterator[Finding]:
    """Draws of ``RewardPosterior`` for normal rewards."""
    runs = settings.size(20_000, 4000)
    ranks = np.array([reward_ranks(RewardPosterior(), seed) for seed in range(runs)])
    for count, column in zip((1, 5, 40), ranks.T, strict=True):
        yield uniform(f"mean reward: {count} samples", column, 3)


# --- colors by themselves --------------------------------------------------------------------


def color_ranks(seed: int) -> Ints:
    """Ranks of a probability, a mean reward times it, and the likelihood of ``tsde-colors``."""
    rng = np.random.default_rng([seed, 43])
    rep = Representation([3], [2], [1])
    laws, means = rng.dirichlet(np.full(3, PRIOR), rep.n_colors), rng.beta(PRIOR, PRIOR, 3)
    counts = Counts.none(rep)
    for color in range(rep.n_colors):
        for outcome in rng.choice(3, int(rng.integers(0, 12)), p=laws[color]).tolist():
            counts.add(color, outcome, float(rng.random() < means[outcome]))
    evidence = Evidence(rep, n_outcomes(rep), counts, 100)

    def values(laws: Floats, rewards: Floats) -> list[float]:
        likelihood = (counts.outcomes * np.log(np.maximum(laws, 1e-300))).sum()
        return [laws[0, 1], rewards[0], float(likelihood)]

    rule = PosteriorSampling()
    drawn = [rule.parameters(evidence, rng) for _ in range(SAMPLE)]
    sample = np.array([values(model.probabilities, model.rewards) for model in drawn])
    return rank(np.array(values(laws, laws @ means)), sample, rng)


def check_colors(settings: Settings) -> Iterator[Finding]:
    """Draws of the rival "tsde-colors", whose colors are independent, for rewards of 0 and 1."""
    ranks = np.array([color_ranks(seed) for seed in range(settings.size(4000, 1000))])
    for name, column in zip(("p(1)", "mean reward", "log-likelihood"), ranks.T, strict=True):
        yield uniform(f"tsde-colors: {name}", column, 3)


CHECKS: dict[str, Check] = {
    "calibration-chains": check_chains,
    "calibration-rewards": check_rewards,
    "calibration-colors": check_colors,
}
