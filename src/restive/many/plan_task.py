"""One planning task: the arms by kinds, the time there is, and what is known so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from time import perf_counter

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.many.bounded import BoundedPlan
from restive.many.lagrangian import LagrangianBound
from restive.many.plan_policies import best_alone
from restive.many.policies import KindIndexPolicy
from restive.many.population import Population
from restive.many.simulating import SimulatedValue
from restive.model.bandit import Arm, Bandit
from restive.planning import Plan
from restive.policies.policy import Policy

RUNNERS_UP = 3  # policies with simulated values that are kept, should the best be contradicted
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class StageResult:
    """What a stage has to say: an upper bound, a policy with a value, or both.

    lower: what the policy earns for certain; simulated: what it earned in simulated play. policy:
    made when it is asked for. block: arms that it may pull.
    """

    method: str
    upper: float = inf
    price: float | None = None
    lower: float = -inf
    simulated: SimulatedValue | None = None
    policy: Callable[[], Policy] | None = None
    block: tuple[int, ...] = ()
    exact: Plan | None = None


class Task:
    """A bandit to be planned until a deadline (of ``perf_counter``)."""

    def __init__(
        self, bandit: Bandit, tolerance: float, time: float, memory: int | None, rng: int
    ) -> None:
        self.bandit, self.tolerance, self.memory, self.rng = bandit, tolerance, memory, rng
        self.exact = True  # whether an exact plan of all arms may be made
        self.bound: LagrangianBound | None = None  # by prices, once it is known
        self.index_policy: KindIndexPolicy | None = None  # the best one in simulated play
        self.restart(time)
        self.kinds, self.kind_of = _kinds(bandit.arms)
        self.counts = np.bincount(self.kind_of).tolist()
        self.gains = _gains(self.kinds)[self.kind_of]

    def restart(self, time: float) -> None:
        """Let the time begin now."""
        self.began = perf_counter()
        self.deadline = self.began + time

    @contextmanager
    def clock_stopped(self) -> Iterator[None]:
        """What takes long but is no planning does not count, such as compiling."""
        began = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - began
            self.began += seconds
            self.deadline += seconds

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.deadline - perf_counter())

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.bandit.n_states

    def population(self, arms: Sequence[int]) -> Population:
        """Some of the arms; equal ones that start alike become one kind."""
        number: dict[tuple[int, bytes], int] = {}
        kinds, kind_of = [], []
        for j in arms:
            arm = self.bandit.arms[j]
            start = b"" if arm.initial == "stationary" else arm.initial_law.tobytes()
            key = int(self.kind_of[j]), start
            if key not in number:
                number[key] = len(number)
                kinds.append(arm)
            kind_of.append(number[key])
        return Population(kinds, kind_of)


def _kinds(arms: Sequence[Arm]) -> tuple[list[Arm], Ints]:
    """Arms of equal transitions and rewards, one of each, and the kind of every arm."""
    number: dict[tuple[bytes, bytes], int] = {}
    kinds: list[Arm] = []
    kind_of = np.empty(len(arms), dtype=np.int64)
    for j, arm in enumerate(arms):
        key = arm.transitions.tobytes(), arm.rewards.tobytes()
        if key not in number:
            number[key] = len(number)
            kinds.append(arm)
        kind_of[j] = number[key]
    return kinds, kind_of


def _gains(kinds: Sequence[Arm]) -> Floats:
    """Average reward of each kind alone; two states have (p01 r1 + p10 r0) / (p01 + p10)."""
    if any(arm.n_states != 2 for arm in kinds):
        return np.array([arm.gain for arm in kinds])
    chains, rewards = (np.array([getattr(arm, name) for arm in kinds])
                       for name in ("transitions", "rewards"))  # fmt: skip
    up, down = chains[:, 0, 1], chains[:, 1, 0]
    return np.asarray((up * rewards[:, 1] + down * rewards[:, 0]) / (up + down))


def _played_lower(finding: StageResult) -> float:
    return -inf if finding.simulated is None else finding.simulated.lower


def _steps_played(finding: StageResult) -> tuple[int, float]:
    """Steps in all, and how narrow the interval is."""
    value = finding.simulated
    return (0, -inf) if value is None else (value.runs * value.steps, value.lower - value.upper)


@dataclass
class Standing:
    """The best of all findings: the lowest upper bound, and the policies known to earn most."""

    task: Task
    upper: StageResult = field(init=False)
    certified: StageResult = field(init=False)
    played: list[StageResult] = field(default_factory=list)  # simulated ones, the best first

    def __post_init__(self) -> None:
        task = self.task
        policy, arms, gain = best_alone(task.bandit, task.gains)
        most = sum(sorted(float(a.rewards.max()) for a in task.bandit.arms)[-task.bandit.pulls :])
        method = "one arm for ever" if len(arms) == 1 else "the best arms for ever"
        self.certified = StageResult(method, lower=gain, policy=lambda: policy, block=arms)
        self.upper = StageResult("the largest rewards", upper=most)

    def add(self, finding: StageResult) -> bool:
        """Whether that made the interval narrower."""
        before = self.lower, self.upper.upper
        if finding.exact is not None and finding.exact.proven_optimal:
            self.certified = self.upper = finding  # says more than an interval as narrow
            return True
        if finding.upper < self.upper.upper:
            self.upper = finding
        if finding.lower > self.certified.lower:
            self.certified = finding
        if finding.simulated is not None:
            self._keep(finding)
        return (self.lower, self.upper.upper) != before

    def _keep(self, finding: StageResult) -> None:
        """Keep what earns most by play; more play of the very same policy replaces what it said."""
        others = [other for other in self.played if other.policy is not finding.policy]
        same = [other for other in self.played if other.policy is finding.policy]
        longest = max([*same, finding], key=_steps_played)
        self.played = sorted([*others, longest], key=lambda other: -_played_lower(other))[
            :RUNNERS_UP
        ]

    @property
    def simulated(self) -> StageResult | None:
        """The best by play, without what the upper bound contradicts: those intervals miss."""
        most = self.upper.upper + ROUNDING
        return next((play for play in self.played if _played_lower(play) <= most), None)

    @property
    def lower(self) -> float:
        return max(self.certified.lower, self._simulated_lower)

    @property
    def _simulated_lower(self) -> float:
        return -inf if self.simulated is None else _played_lower(self.simulated)

    @property
    def width(self) -> float:
        return self.upper.upper - self.lower

    @property
    def done(self) -> bool:
        """Whether the interval is as narrow as was asked for."""
        return self.width <= self.task.tolerance

    @property
    def proven(self) -> bool:
        """Whether a policy is certainly optimal within the tolerance."""
        return self.upper.upper - self.certified.lower <= self.task.tolerance

    def plan(self, note: str = "") -> BoundedPlan:
        """The best policy with its interval; certain is better than likely, if it is as good."""
        likely = None if self.proven else self.simulated
        by_play = likely is not None and _played_lower(likely) > self.certified.lower + ROUNDING
        chosen = likely if by_play and likely is not None else self.certified
        policy, played = chosen.policy, chosen.simulated if by_play else None
        assert policy is not None  # findings with values have policies
        upper = max(self.upper.upper, self.certified.lower)
        lower = min(self.lower if by_play else self.certified.lower, upper)
        gain = 0.5 * (lower + upper) if chosen.exact is not None else lower
        return BoundedPlan(
            self.task.bandit, policy, lower, upper,
            min(played.mean, upper) if played is not None else gain,
            "simulated" if by_play else "certified", self.certified.lower, chosen.method,
            self.upper.method, chosen.block, self.upper.price, self.task.tolerance,
            perf_counter() - self.task.began, played, chosen.exact, note,
        )  # fmt: skip
