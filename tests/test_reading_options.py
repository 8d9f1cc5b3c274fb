"""Options of a reading come from files: whatever they are, the answer is in words."""

from __future__ import annotations

import numpy as np
import pytest

from restive import ProblemError, read_traces

DATA = {"a": [0, 1, 1, 0, 1, 0], "b": [1, 0, 0, 1, 1, 0]}
WRONG = [None, True, 0, -1, 1.5, float("nan"), float("inf"), 10**400, "", "x", [], {}, [[]], [1],
         {"": 1}, [None], {"0": "x"}, ["a", 1], object()]  # fmt: skip
OPTIONS = ("arm", "time", "state", "reward", "piece", "arms", "cut", "labels", "rewards", "tick",
           "break_after")  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_is_taken_or_named(option):
    remedies = []
    for value in WRONG:
        try:
            read_traces(DATA, **{option: value})
        except ProblemError as error:
            remedies.append(error.faults[0].remedy)
    assert len(remedies) >= 10
    assert all(remedies)


@pytest.mark.parametrize(
    "options",
    [{"arms": np.array(["b"])}, {"arms": ("a",)}, {"labels": ["off", "on"]}, {"cut": 2},
     {"cut": np.array([0.5])}, {"rewards": {"0": np.float64(0.5), "1": 1}}, {"tick": 2},
     {"break_after": np.int64(3)}],
)  # fmt: skip
def test_sensible_options_are_taken(options):
    times = {"time": [0, 2, 4, 6, 8, 10]} if "tick" in options else {}
    assert read_traces({**times, **DATA}, **options).n_arms >= 1
