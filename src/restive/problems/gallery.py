"""The gallery: problems of the paper and families to try things on.

Nothing here imports NumPy before a problem is built, so that listing the gallery stays cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, ParamSpec

from restive.base.errors import refusal
from restive.base.options import Parameter, checked, parse_parameters, spread
from restive.problems.rows import cycle, dirichlet_rows, lazy, sparse_row

if TYPE_CHECKING:
    from numpy.random import Generator

    from restive.model.bandit import Arm, Bandit
    from restive.model.validation import RewardNoise

__all__ = ["GALLERY", "Problem", "build", "example1", "example2", "example3", "example4",
           "gilbert_elliott", "lower_bound", "random_problem"]  # fmt: skip

P = ParamSpec("P")


@dataclass(frozen=True)
class Problem:
    """An entry of the gallery."""

    name: str
    description: str
    builder: Callable[..., Bandit]
    parameters: tuple[Parameter, ...]


GALLERY: dict[str, Problem] = {}


def _entry(
    name: str, description: str, *parameters: Parameter
) -> Callable[[Callable[P, Bandit]], Callable[P, Bandit]]:
    """Put a builder into the gallery, with its arguments checked whoever calls it."""

    def register(builder: Callable[P, Bandit]) -> Callable[P, Bandit]:
        guarded = checked(builder, parameters)
        GALLERY[name] = Problem(name, description, guarded, parameters)
        return guarded

    return register


_STAY = Parameter("stay", "float", 0.0, "probability of keeping a state", 0, 1, below=True)
_ARMS = Parameter("n_arms", "int", 2, "number of arms", 1, 10_000)
_SEED = Parameter("rng", "seed", 0, "seed of the random draw", 0)


def _epsilon(default: float) -> Parameter:
    words = "probability of changing state in a step"
    return Parameter("epsilon", "float", default, words, 0, 1, above=True)


def _noise(default: str) -> Parameter:
    kinds = ("none", "bernoulli", "beta")
    return Parameter("reward_noise", "choice", default, "how rewards vary", choices=kinds)


@_entry("example-1", "two sticky radio channels", _epsilon(0.1))
def example1(epsilon: float = 0.1) -> Bandit:
    """Two channels that keep their state with probability 1 - epsilon (Example 1).

    Each arm alone earns 1/2; the best policy earns 1/2 + |1 - 2 epsilon| / 4.
    """
    return _two_channels(epsilon, f"Example 1, epsilon = {epsilon:g}")


@_entry("example-2", "two nearly alternating channels", _epsilon(0.9))
def example2(epsilon: float = 0.9) -> Bandit:
    """The channels of Example 1 with epsilon near 1, so that they nearly alternate (Example 2)."""
    return _two_channels(epsilon, f"Example 2, epsilon = {epsilon:g}")


@_entry("example-3", "a sticky channel and a fair coin", _epsilon(0.1))
def example3(epsilon: float = 0.1) -> Bandit:
    """A channel of Example 1 beside an arm of independent fair coin tosses (Example 3).

    The best policy returns to the channel although the coin pays more at that moment.
    """
    from restive.model.bandit import Arm, Bandit

    coin = Arm([[1.0]], [0.5], name="coin", reward_noise="bernoulli")
    return Bandit([_channel(epsilon, "channel"), coin], name=f"Example 3, epsilon = {epsilon:g}")


@_entry(
    "example-4",
    "three arms on which every index policy fails",
    Parameter("center", "bool", True, "whether arm C is there"),
    _STAY,
)
def example4(center: bool = True, stay: float = 0.0) -> Bandit:
    """Three arms on which no index policy can be right with and without C (Theorem 1).

    L always pays 1/2. C is the cycle 1, 1/2, 0. R pays 1, 0, 0 and then, by a fair toss, 7/8 and
    3/4 or twice 0. C and R start where they pay 1; ``stay`` > 0 is the probability with which
    they keep their state, which makes them aperiodic. ``center=False`` leaves C out.
    """
    from restive.model.bandit import Arm, Bandit

    left = Arm([[1.0]], [0.5], name="L")
    names = ["high", "middle", "low"]
    middle = Arm(cycle(3, stay), [1, 0.5, 0], name="C", states=names, initial=0)
    fork = cycle(7, 0.0)  # 1, 0, 0, then 7/8, 3/4 or 0, 0
    fork[2], fork[4] = sparse_row(7, {3: 0.5, 5: 0.5}), sparse_row(7, {0: 1.0})
    names = ["high", "first", "second", "lucky", "lucky too", "unlucky", "unlucky too"]
    means = [1, 0, 0, 7 / 8, 3 / 4, 0, 0]
    right = Arm(lazy(fork, stay), means, name="R", states=names, initial=0)
    arms = [left, middle, right] if center else [left, right]
    name = "Example 4" if center else "Example 4 without C"
    return Bandit(arms, name=f"{name}, stay = {stay:g}" if stay else name)


@_entry(
    "lower-bound",
    "cycles with a bandit problem in each phase, hard for every learner",
    _ARMS,
    Parameter("cycle_length", "int", 3, "phases of the cycle", 1, 1000),
    Parameter("gap", "float", None, "advantage of the good arm (0.1)", 0, 0.5),
    Parameter("horizon", "int", None, "steps to choose the hardest gap for", 1),
    Parameter("best", "ints", None, "good arm of each phase (drawn)", 0),
    _STAY,
    _SEED,
)
def lower_bound(
    n_arms: int = 2,
    cycle_length: int = 3,
    gap: float | None = None,
    *,
    horizon: int | None = None,
    best: int | Sequence[int] | None = None,
    stay: float = 0.0,
    rng: int | Generator | None = 0,
) -> Bandit:
    """Theorem 3's problem: in each of m phases one of K Bernoulli arms pays 1/2 + gap, not 1/2.

    All arms run through a deterministic cycle of m = ``cycle_length`` phases, in step from phase
    0, so a learner faces m separate problems with K arms. ``best[i]`` is the good arm of phase i
    (one number: of all phases), drawn with ``rng`` where not given. For a ``horizon`` T the gap
    is sqrt(K m / T) / 4, at most 1/4, as in the proof of Auer, Cesa-Bianchi, Freund and Schapire
    with T / m steps a phase; without both it is 0.1. ``stay`` > 0 keeps a state with that
    probability and makes the arms aperiodic; T * stay must be small for the bound to hold.
    """
    from restive.base.randomness import generator
    from restive.model.bandit import Arm, Bandit

    if gap is not None and horizon is not None:
        remedy = "Leave one of them out: the horizon only serves to choose the gap."
        raise refusal("horizon", "given along with gap", str(horizon), remedy)
    if gap is None:
        gap = 0.1 if horizon is None else min(1.0, sqrt(n_arms * cycle_length / horizon)) / 4
    if best is None:
        best = generator(rng).integers(n_arms, size=cycle_length).tolist()
    winners = spread("best", best, cycle_length, "phases")
    if max(winners) >= n_arms:
        remedy = f"The arms are numbered from 0 to {n_arms - 1}."
        raise refusal("best", "no such arm", repr(best), remedy)
    arms = []
    for j in range(n_arms):
        means = [0.5 + gap if winner == j else 0.5 for winner in winners]
        arms.append(Arm(cycle(cycle_length, stay), means, reward_noise="bernoulli", initial=0))
    return Bandit(arms, name=f"Lower bound, K = {n_arms}, m = {cycle_length}, gap = {gap:g}")


@_entry(
    "gilbert-elliott",
    "channels with a bad and a good state",
    _ARMS,
    Parameter("p_bad_good", "floats", 0.1, "probability of turning good", 0, 1, above=True),
    Parameter("p_good_bad", "floats", 0.1, "probability of turning bad", 0, 1, above=True),
    Parameter("good", "floats", 1.0, "mean reward in the good state", 0, 1),
    Parameter("bad", "floats", 0.0, "mean reward in the bad state", 0, 1),
    _noise("bernoulli"),
)
def gilbert_elliott(
    n_arms: int = 2,
    p_bad_good: float | Sequence[float] = 0.1,
    p_good_bad: float | Sequence[float] = 0.1,
    good: float | Sequence[float] = 1.0,
    bad: float | Sequence[float] = 0.0,
    reward_noise: RewardNoise = "bernoulli",
) -> Bandit:
    """Channels with a bad and a good state, and the probability of success in each.

    Every value but ``n_arms`` may be a list with one value per arm. With ``reward_noise="none"``
    the numbers ``good`` and ``bad`` are the rewards themselves.
    """
    from restive.model.bandit import Arm, Bandit

    rates = {"p_bad_good": p_bad_good, "p_good_bad": p_good_bad, "good": good, "bad": bad}
    columns = [spread(name, value, n_arms) for name, value in rates.items()]
    arms = [
        Arm(
            [[1 - up, up], [down, 1 - down]],
            [low, high],
            name=f"channel {j + 1}",
            states=["bad", "good"],
            reward_noise=reward_noise,
        )
        for j, (up, down, high, low) in enumerate(zip(*columns, strict=True))
    ]
    return Bandit(arms, name=f"{n_arms} Gilbert-Elliott channels")


@_entry(
    "random",
    "Dirichlet rows and uniform rewards",
    _ARMS,
    Parameter("n_states", "ints", 3, "states of each arm", 1, 1000),
    _SEED,
    Parameter("concentration", "float", 1.0, "of the Dirichlet law", 0, 1e6, above=True),
    Parameter("period", "int", 1, "period of every arm", 1, 1000),
    Parameter("stickiness", "float", 0.0, "weight of staying; near 1: slow", 0, 1, below=True),
    _noise("none"),
)
def random_problem(
    n_arms: int = 2,
    n_states: int | Sequence[int] = 3,
    rng: int | Generator | None = 0,
    concentration: float = 1.0,
    period: int = 1,
    stickiness: float = 0.0,
    reward_noise: RewardNoise = "none",
) -> Bandit:
    """Arms with Dirichlet(concentration) rows and uniform mean rewards; always irreducible.

    A row is mixed with 1e-6 of the uniform law, so that small concentrations cannot cut the chain
    in two. ``period`` m > 1 deals the states into m classes that follow one another.
    ``stickiness`` q replaces P by (1 - q) P + q I: close to 1, nearly reducible. Every arm has its
    own stream, so the first arms are the same whatever the number of arms.
    """
    from restive.base.randomness import generator
    from restive.model.bandit import Arm, Bandit

    sizes = [int(size) for size in spread("n_states", n_states, n_arms)]
    _check_period(sizes, period, stickiness)
    arms = []
    for size, stream in zip(sizes, generator(rng).spawn(n_arms), strict=True):
        rows = lazy(dirichlet_rows(size, period, concentration, stream), stickiness)
        arms.append(Arm(rows, stream.random(size), reward_noise=reward_noise))
    return Bandit(arms, name=f"Random problem, {n_arms} arms")


def build(name: str, **parameters: str) -> Bandit:
    """Build a gallery problem from its name and parameters given as text.

    >>> build("example-1", epsilon="0.05").name
    'Example 1, epsilon = 0.05'
    """
    if name not in GALLERY:
        remedy = f"The gallery has {', '.join(GALLERY)}."
        raise refusal("problem", "not in the gallery", repr(name), remedy)
    problem = GALLERY[name]
    return problem.builder(**parse_parameters(name, problem.parameters, parameters))


def _check_period(sizes: Sequence[int], period: int, stickiness: float) -> None:
    if period > min(sizes):
        message = f"fewer states than the period {period}"
        remedy = "Give each arm at least one state per class, or a smaller period."
        raise refusal("n_states", message, str(min(sizes)), remedy)
    if period > 1 and stickiness > 0:
        remedy = "An arm that may stay has period 1: leave out stickiness or period."
        raise refusal("stickiness", "does not go with a period above 1", f"{stickiness:g}", remedy)


def _two_channels(epsilon: float, name: str) -> Bandit:
    from restive.model.bandit import Bandit

    return Bandit([_channel(epsilon, f"channel {j}") for j in (1, 2)], name=name)


def _channel(epsilon: float, name: str) -> Arm:
    from restive.model.bandit import Arm

    rows = [[1 - epsilon, epsilon], [epsilon, 1 - epsilon]]
    return Arm(rows, [0, 1], name=name, states=["busy", "free"])
