"""How the learner with tied ages believes and plans."""

from __future__ import annotations

from dataclasses import dataclass, field

from restive.learners.tied.changes import ChangeSettings
from restive.learners.tied.posterior import ChainPosterior, RewardPosterior


@dataclass(frozen=True)
class HopeSettings:
    """How long the learner hopes that a state which it hardly knows is a good one."""

    few: int = 10  # a state left less often than this has the row in which it is worth most
    draws: int = 10  # of so many
    rest: float = 0.2  # an arm thought to stand still is looked at after this part of all steps


@dataclass(frozen=True)
class TiedSettings:
    """How the learner believes and plans.

    The defaults were chosen by gap regret: first among a dozen settings on seven two-armed
    problems, which the benchmark of learners contains too (with other seeds), then the number of
    draws, the length of episodes and ``enough`` on twelve problems that it does not contain.
    """

    chains: ChainPosterior = field(default_factory=ChainPosterior)
    rewards: RewardPosterior = field(default_factory=RewardPosterior)
    draws: int = 3  # an arm's matrix is the mean of so many draws
    enough: float = 20.0  # if it was pulled more often than this for each state
    growth: float = 0.02  # an episode may be this part of all steps before it
    aggregation: float = 0.02  # L1 distance at which ages are told apart no longer
    fewest_states: int = 20_000  # information states that may always be planned on
    states_per_step: float = 200.0  # and this many more for every step an episode may last
    unseen: float = 1.0  # how long to reckon with states never seen, in log(t) per known state
    look_again: float = 10.0  # an arm that never moved rests this many steps for each pull of it
    accuracy: float = 0.1  # planning stops at accuracy / sqrt(t)
    one_time_states: int = 40  # states of an arm, nearly all seen once, from which on it is refused
    changes: ChangeSettings | None = None  # how arms are watched for changes, if they are
    hope: HopeSettings | None = HopeSettings()  # how rare good states are hoped for, if they are
