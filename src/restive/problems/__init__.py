"""Problems ready to use: the gallery from the literature, and frozen suites."""

from restive.problems.gallery import (
    GALLERY,
    Problem,
    build,
    example1,
    example2,
    example3,
    example4,
    gilbert_elliott,
    lower_bound,
    random_problem,
)

__all__ = [
    "GALLERY",
    "Problem",
    "build",
    "example1",
    "example2",
    "example3",
    "example4",
    "gilbert_elliott",
    "lower_bound",
    "random_problem",
]
