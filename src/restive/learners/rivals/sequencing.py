"""DSEE, RUCB and ASR: epochs of exploration and exploitation for restless bandits."""

from __future__ import annotations

from math import sqrt
from typing import Literal

import numpy as np

from restive.base.options import Parameter
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.rivals.compiled import CompiledLearner, MarkedLearner, zeros
from restive.learners.rivals.spectra import (
    additive_gap,
    arm_count,
    gain_gap,
    largest_mass,
    largest_reward,
)
from restive.model.arguments import told_bandit
from restive.model.bandit import Bandit

Knowledge = Literal["bounds", "none"]

STEPS, EXPLORED, EXPLOITED, ARM, MODE, LEFT = range(6)  # entries of the clock
SAMPLE = 1  # the mode that both begin with
ROOT = 3 - 2 * sqrt(2)

REVERSIBLE = "irreducible, aperiodic, reversible chains while pulled; anything while not"
BOUNDS = (
    "bounds on sizes, rewards, the chains' eigenvalue gaps and the gap between the best two arms"
)
LOG = "expected weak regret of order log T with the theorem's constants"
WRITTEN = (
    "written from the published description; not reversible: eigenvalue gap of (P + P~)/2; arms as "
    "good as the best do not count for the gap; pulls not asked for are "
)
TUNED = "tuned, not the theorem's, with which exploration lasts beyond most horizons"


def _constant(name: str, text: str) -> Parameter:
    return Parameter(name, "float", ..., f"{text}, if not as the paper has it", 0)


KNOWLEDGE = Parameter(
    "knowledge", "choice", ..., "constants of the theorem, or growing with log t",
    choices=("bounds", "none"),
)  # fmt: skip


class EpochLearner(CompiledLearner):
    """Base: epochs of exploration and of exploitation, decided on when one is over.

    At time t, after n epochs of exploration, exploit if (4^n - 1)/3 > D log t, else explore. The
    n-th exploration pulls every arm 4^(n-1) times in a row, the n-th exploitation pulls one arm
    2 4^(n-1) times. With ``growth`` g, D is rate (log t)^g and L is exploration (log t)^(g/2).
    """

    kernels = "learn_epoch", "play_epoch"

    def __init__(
        self, n_arms: int, rate: float, exploration: float, growth: float, everything: bool
    ) -> None:
        self.rate, self.exploration, self.growth = float(rate), float(exploration), float(growth)
        memory = {**zeros(n_arms), "clock": np.zeros(6, dtype=np.int64)}
        memory["clock"][[MODE, LEFT]] = SAMPLE, 1
        super().__init__(
            n_arms, memory, rate=self.rate, exploration=self.exploration, growth=self.growth,
            everything=everything,
        )  # fmt: skip

    def ask(self) -> int:
        return int(self.memory["clock"][ARM])

    def pass_time(self) -> None:
        self.memory["clock"][STEPS] += 1


@declare(
    "dsee",
    "deterministic sequence of exploration and exploitation (DSEE)",
    guarantee=f"{LOG}, D(T) log T with D that grows",
    assumes=REVERSIBLE,
    told=f"{BOUNDS}, or nothing (option knowledge)",
    deviation=f"{WRITTEN}no samples",
    cites=("liu2013",),
    options=(_constant("rate", "D"), KNOWLEDGE),
    practice=Practice({"rate": 10.0}, f"D is {TUNED}", told="the number of arms"),
)
class DeterministicSequencing(EpochLearner):
    """DSEE: as EpochLearner; exploits the arm with the largest mean of its explored samples.

    The name is that of Vakili, Liu, Zhao, Deterministic sequencing of exploration and exploitation
    for multi-armed bandit problems (2013), by which the policy is usually cited.
    Made for: weak regret, of order log T.
    Parameters: D = 4 L / gap^2 with L = (80 r_max^2 S_max^2 / (3 - 2 sqrt 2) + 10 r_max^2) / eps,
    S_max the largest number of states, r_max the largest sum of an arm's rewards over its states,
    eps the smallest eigenvalue gap of the chains, gap the distance between the best mean and the
    next (1 if all are as good). The paper takes bounds on these as known: ``from_problem`` computes
    them exactly. With knowledge="none" it has D = log t (the paper allows any D that grows without
    bound) instead.

    The constants make exploration last beyond any horizon that can be played on most problems.
    """

    def __init__(self, n_arms: int, rate: float, growth: float = 0.0) -> None:
        super().__init__(n_arms, rate, 0.0, growth, False)

    @classmethod
    def from_problem(
        cls, problem: Bandit | int, rate: float | None = None, knowledge: Knowledge = "bounds"
    ) -> DeterministicSequencing:
        if knowledge == "none":
            return cls(arm_count(problem), 1.0 if rate is None else rate, growth=1.0)
        if rate is None:
            bandit = told_bandit(problem, 'rate or knowledge="none"')
            rate = 4 * epoch_constant(bandit) / gain_gap(bandit) ** 2
        return cls(arm_count(problem), rate)


@declare(
    "rucb",
    "the same with an upper confidence index (RUCB)",
    guarantee=f"{LOG}, D(T) log T with D that grows",
    assumes=REVERSIBLE,
    told=f"{BOUNDS}, or nothing (option knowledge)",
    deviation=f"{WRITTEN}samples; index and mean are a best guess",
    cites=("liu2011",),
    options=(_constant("rate", "D"), _constant("exploration", "L"), KNOWLEDGE),
    practice=Practice(
        {"rate": 30.0, "exploration": 0.1}, f"D and L are {TUNED}", told="the number of arms"
    ),
)
class EpochUCB(EpochLearner):
    """RUCB: as DSEE, but exploits the arm with the largest mean_j + sqrt(L log t / n_j).

    All pulls of an arm count for its mean and its n_j, those of exploitation too.

    The abstract of the paper cited gives it this name, as does that of the first version (2010) of
    arXiv 1011.4969; the abstract of the second (2011) no longer does. It is the first form of the
    policy that DeterministicSequencing follows, with the same epochs and constants but an index in
    place of the mean.
    Made for: weak regret, of order log T.
    Parameters: as DSEE; with knowledge="none", L = sqrt(log t) and D = log t, so that both grow
    without bound and D / L does too.
    That the mean is over all pulls and that the index is this one are the doubtful parts.
    """

    def __init__(self, n_arms: int, rate: float, exploration: float, growth: float = 0.0) -> None:
        super().__init__(n_arms, rate, exploration, growth, True)

    @classmethod
    def from_problem(
        cls, problem: Bandit | int, rate: float | None = None, exploration: float | None = None,
        knowledge: Knowledge = "bounds",
    ) -> EpochUCB:  # fmt: skip
        none, instead = knowledge == "none", 'rate and exploration, or knowledge="none"'
        if exploration is None:
            exploration = 1.0 if none else epoch_constant(told_bandit(problem, instead))
        if rate is None:
            rate = 1.0 if none else 4 * exploration / gain_gap(told_bandit(problem, instead)) ** 2
        return cls(arm_count(problem), rate, exploration, float(none))


@declare(
    "asr",
    "adaptive sequencing rules: each arm explored as often as its own mean asks for (ASR)",
    guarantee=LOG,
    assumes=REVERSIBLE,
    told=BOUNDS,
    deviation=f"{WRITTEN}no samples; L, I and which of several arms comes first are doubtful",
    cites=("gafni2021",),
    options=(
        _constant("exploration", "L"),
        _constant("gap", "bound below the gap of the best two arms"),
        _constant("epsilon", "eps"),
        _constant("floor", "2/I"),
    ),
    practice=Practice(
        {"exploration": 0.0003, "gap": 0.05, "epsilon": 0.00125, "floor": 10.0},
        f"L, gap, eps and 2/I are {TUNED}",
        told="the number of arms",
    ),
)
class AdaptiveSequencing(MarkedLearner):
    """ASR: each arm is explored as often as its own mean asks for, else the best mean is exploited.

    When a phase is over at time t, an arm i with n_i samples is explored if it has none or if
    n_i <= max(D_i, 2/I) log t, D_i = 4 L / max(gap^2, (largest mean - mean_i)^2 - eps); of
    several the one explored least often. Its n-th exploration waits until the arm is found in the
    state it was last sampled in, and then takes 4^(n-1) samples, so that all its samples are one
    path of the chain. If there is no such arm, the one with the largest mean is pulled 2 4^(n-1)
    times, the n-th time.

    Made for: weak regret, of order log T, exploring bad arms less than DSEE.
    Parameters: L = 30 r_max^2 / ((3 - 2 sqrt 2) lambda), lambda the smallest eigenvalue gap,
    2/I = 384 (r_max + 2)^2 S_max^2 r_max^2 pi_max^2 / (eps^2 lambda), S_max the largest number of
    states, r_max the largest reward, pi_max the largest mu_j(s) or 1 - mu_j(s), gap a bound below
    the distance between the best mean and the next. The paper takes these as known:
    ``from_problem`` computes them exactly. eps > 0 is left free by the paper: gap^2 / 2. That
    exploitation gives no samples is doubtful too. After a pull that was not asked for, exploration
    waits for its state once more.

    The constants make exploration last beyond any horizon that can be played on most problems.
    """

    kernels = "learn_phase", "play_phase"

    def __init__(
        self, n_arms: int, exploration: float, gap: float, epsilon: float, floor: float
    ) -> None:
        self.exploration, self.gap = float(exploration), float(gap)
        self.epsilon, self.floor = float(epsilon), float(floor)
        memory = {
            **zeros(n_arms),
            "phases": np.zeros(n_arms, dtype=np.int64),
            "marked": np.zeros(n_arms, dtype=np.bool_),
            "clock": np.zeros(6, dtype=np.int64),
        }
        memory["clock"][[MODE, LEFT]] = SAMPLE, 1
        super().__init__(
            n_arms, memory, exploration=self.exploration, gap=self.gap, epsilon=self.epsilon,
            floor=self.floor,
        )  # fmt: skip

    @classmethod
    def from_problem(
        cls, problem: Bandit | int, exploration: float | None = None, gap: float | None = None,
        epsilon: float | None = None, floor: float | None = None,
    ) -> AdaptiveSequencing:  # fmt: skip
        instead = "exploration, gap and floor"
        if exploration is None:
            bandit = told_bandit(problem, instead)
            exploration = 30 * largest_reward(bandit) ** 2 / (ROOT * spectral_gap(bandit))
        gap = gain_gap(told_bandit(problem, instead)) if gap is None else gap
        epsilon = gap**2 / 2 if epsilon is None else epsilon
        if floor is None:
            bandit = told_bandit(problem, instead)
            reward = largest_reward(bandit)
            widths = (reward + 2) * max(bandit.n_states) * reward * largest_mass(bandit)
            floor = 384 * widths**2 / (epsilon**2 * spectral_gap(bandit))
        return cls(arm_count(problem), exploration, gap, epsilon, floor)

    def ask(self) -> int:
        return int(self.memory["clock"][ARM])


def spectral_gap(bandit: Bandit) -> float:
    """The smallest eigenvalue gap of the chains."""
    return min(map(additive_gap, bandit.arms))


def epoch_constant(bandit: Bandit) -> float:
    """L = (80 r_max^2 S_max^2 / (3 - 2 sqrt 2) + 10 r_max^2) / eps of DSEE and RUCB."""
    most = max(float(arm.rewards.sum()) for arm in bandit.arms)
    size, gap = max(bandit.n_states), spectral_gap(bandit)
    return (80 * most**2 * size**2 / ROOT + 10 * most**2) / gap
