"""Problem files with several faults at once."""

import pytest

from restive.base.errors import ProblemError
from restive.model.files import parse_problem


def test_a_broken_range_beside_a_broken_reward_names_both():
    chain = '"transitions": [[0.9, 0.1], [0.2, 0.8]]'
    text = f"""{{"reward_range": [-5, [[20]]], "arms": [{{{chain}, "rewards": [-1.5, 20]}},
        {{{chain}, "rewards": [-1.5, [[]]]}}, {{{chain}, "rewards": [0, 1]}}]}}"""
    with pytest.raises(ProblemError) as caught:
        parse_problem(text, "json")
    places = [fault.path for fault in caught.value.faults]
    assert any("reward_range" in place for place in places)
    assert any("rewards" in place for place in places)
