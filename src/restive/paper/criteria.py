"""Every number that a verdict depends on, one small record per claim or family of claims."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

ALPHA = 1e-4  # chance that a true claim fails, per claim
DELTA = 0.05  # delta of every learner
MOST = 1.0  # of what is claimed over what it is claimed to be below
ROUNDING = 1e-9  # beyond which a difference is no rounding


@dataclass(frozen=True)
class Examples:
    """Section 3: what the paper says of its examples."""

    single: float = 1 / 2  # average reward of an arm of Examples 1 and 2
    limit: float = 3 / 4  # of the optimal policy as epsilon goes to 0 or 1
    slope: float = 1 / 2  # rho* = limit - slope * (distance of epsilon from 0 or 1)
    accuracy: float = 1e-6  # width of the certified intervals
    first: tuple[float, ...] = (0.3, 0.1, 0.03, 0.01)  # epsilon in Example 1
    second: tuple[float, ...] = (0.7, 0.9, 0.97, 0.99)  # in Example 2
    third: tuple[float, ...] = (0.3, 0.2, 0.1, 0.05, 0.02)  # in Example 3
    with_center: Fraction = Fraction(59, 80)  # rho* in Example 4
    without_center: Fraction = Fraction(49, 80)
    preference: Fraction = Fraction(1, 16)  # by which L beats R with C, and R beats L without
    margin: Fraction = Fraction(1, 240)  # of Theorem 1: 1/16 once in 15 steps


@dataclass(frozen=True)
class Mixing:
    """Eq. (1) and what follows from it."""

    epsilons: tuple[float, ...] = (0.25, 0.1, 0.01, 1e-3, 1e-4, 1e-6)
    flips: tuple[float, ...] = (0.9, 0.99, 0.999, 0.9999)  # reversible chains that nearly swap
    alternating: float = 0.95  # two states that swap with this probability, for Definition 1


@dataclass(frozen=True)
class Primes:
    """Remark 5: log lcm(1, ..., n) / n goes to 1."""

    sizes: tuple[int, ...] = (100, 1000, 10_000)
    off: tuple[float, ...] = (0.1, 0.02, 0.01)


@dataclass(frozen=True)
class Growth:
    """Theorem 2 and its extensions: exponents of regret in time."""

    root: float = 0.5
    known_logs: float = 2.0  # log^2(T/delta): adds 2/log(T/delta) to the exponent
    unknown_logs: float = 3.5  # log^(7/2)(T/delta) where mixing times are guessed
    linear: float = 0.97  # an exponent that is surely above this is no learning
    halfway: float = 0.5  # how far from the rate's exponent to 1 a learner may be where it matters


@dataclass(frozen=True)
class Lower:
    """Theorem 3: exponent of regret in the number of states, and its constant."""

    exponent: tuple[float, float] = (0.4, 0.6)  # the interval must meet this one
    constant: float = 1 / 20
    drifting: float = 0.02  # chance of staying at which the long-run gain is shown


@dataclass(frozen=True)
class Sets:
    """Confidence sets: how long they are watched, and how often they may miss."""

    steps: int = 3000
    empty: float = 0.2  # optimism is open if more of the runs never had a set with the truth


@dataclass(frozen=True)
class Logarithm:
    """Remark 3: of what T/100 to T adds to regret, the share that comes after T/10."""

    root: float = 10**0.5 / (1 + 10**0.5)  # for sqrt(T)
    most: float = 0.6  # 1/2 for a logarithm
    gap: float = 0.1  # by which wrong actions are worse at least


@dataclass(frozen=True)
class Diameters:
    """Remark 2: exponents of regret in the diameter, all else as it was."""

    come: float = 0.325  # chance of entering the rare state at rarity 1, half of what both add to
    rarities: tuple[int, ...] = (1, 2, 4)  # at 16 Algorithm 2 has learned nothing by T = 1e6
    most: float = 1.0  # half of what the bound has
    learned: float = 0.8  # share of round robin's loss below which something was learned
    bound: float = 2.0  # a factor D_j for each of two arms


@dataclass(frozen=True)
class Changing:
    """Exp3.S: exponents of regret where the best arm changes in most steps, and where never."""

    epsilon: float = 0.9
    linear: float = 0.97
    most: float = 0.9


@dataclass(frozen=True)
class Order:
    """Chains of order 2: what the representation promises and does not keep, a step."""

    turn: float = 0.1
    pays: float = 0.5
    cap: int = 120
    broken: float = 0.005


EXAMPLES, MIXING, PRIMES, GROWTH, LOWER = Examples(), Mixing(), Primes(), Growth(), Lower()
SETS, LOGARITHM, DIAMETER, CHANGING, ORDER = Sets(), Logarithm(), Diameters(), Changing(), Order()
