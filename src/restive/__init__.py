"""restive: restless Markov bandits, planned exactly and learned."""

from restive.bandit import Arm, Bandit
from restive.errors import ProblemError, RestiveError, TooLargeError

__version__ = "0.1.0"

__all__ = ["Arm", "Bandit", "ProblemError", "RestiveError", "TooLargeError", "__version__"]
