"""Problems ready to use: the gallery from the literature, and frozen suites."""

from restive.problems import gallery
from restive.problems.gallery import *  # noqa: F403  (names and their list are the gallery's)

__all__ = gallery.__all__
