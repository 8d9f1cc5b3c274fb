"""Who plays what: problems drawn after all tuning ended, and every rival in both of its forms."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from benchmarks.learners import deep
from benchmarks.learners.kinds import KINDS, MANY, draws
from restive.experiments import Participant
from restive.learners import LEARNERS
from restive.model.bandit import Bandit

__all__ = [
    "EACH",
    "LARGE",
    "LARGEST",
    "OURS",
    "PARTS",
    "SLOW",
    "YARDSTICKS",
    "entrants",
    "kind_of",
    "problems",
    "seed",
]

TUNING = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "tuning.json"
# the commit that made hope a default: the draws from tuning.json alone had a part in choosing it
SALT = b"54e7f5ea69387fe65af925fe99b2dbe4d5e061ef"
# the network plays once its search has been made
PARTS = ("fast", "large", "slow", *(["deep"] if deep.DEEP.exists() else []))
EACH = 3  # problems of every kind
OURS = ("tied-sampling", "tied-sampling-tuned", "tied-ucrl")
# forms of one that is there: told less than it is told, or learning every age by itself
SKIPPED = (
    "optimal",
    "round-robin",
    "colored-ucrl2-unknown",
    "colored-ucrl2-keeping",
    "tsde-colors",
)
YARDSTICKS = tuple(name for name in LEARNERS if LEARNERS[name].yardstick and name not in SKIPPED)
# whose plans take long: fewer seeds, and no problems of slow arms or of many states and arms
SLOW = (
    "tied-sampling-tuned", "tied-ucrl", "colored-ucrl2", "colored-ucrl2-tuned", "ucrl2",
    "ucrl2-tuned",
)  # fmt: skip
LARGEST = ("five or six", MANY)  # which get fewer seeds whoever plays
LARGE = ("five states", "slow", "very slow", "rare good state", *LARGEST)
VARIANTS = {
    "kl-ucb (c = 3)": ("kl-ucb", {"c": 3.0}),
    "policy-sampling (best arm)": ("policy-sampling", {"mapping": "best-arm"}),
}


def seed() -> int:
    """From tuning.json and SALT: nobody could know the problems before all choosing had ended."""
    return int.from_bytes(sha256(TUNING.read_bytes() + SALT).digest()[:4], "big")


@lru_cache
def problems(part: str = "") -> dict[str, Bandit]:
    """Name -> bandit; so many of every kind, as they come; those of a part, or all."""
    most = tuple(kind for kind in KINDS if kind not in LARGEST)
    without = {"fast": LARGEST, "large": most, "slow": LARGE, "deep": LARGEST}
    return draws(seed(), EACH, without=without.get(part, ()))


def kind_of(problem: str) -> str:
    """The kind that a problem was drawn from."""
    return next(kind for kind in KINDS if problem.rpartition(" ")[0] == kind)


def entrants(part: str) -> list[Participant]:
    """All learners but those skipped: the slow ones for their part, the others for the rest."""
    if part == "deep":
        return [deep.entrant()]
    slow = part == "slow"
    names = [name for name in LEARNERS if name not in SKIPPED and (name in SLOW) == slow]
    variants = [Participant(name, label, options) for label, (name, options) in VARIANTS.items()]
    return [Participant(name) for name in names] + ([] if slow else variants)
