"""Plans within a time and a memory: what is reached by then holds, and refusals say why."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from restive.base.errors import TooLargeError
from restive.mdp.solver import solve
from restive.planning import Plan, Refusal, forecast, plan, plan_within
from restive.problems import example1, example3, gilbert_elliott, random_problem

SLOW = example1(0.002)  # rho* = 1/2 + |1 - 2 epsilon| / 4
GAIN = 0.749


class Clock:
    """A clock that moves on by a second at every look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("looks", [1, 3, 8, 20, 60])
def test_a_plan_cut_short_says_so_and_its_interval_holds(looks, compiled, monkeypatch):
    monkeypatch.setattr("restive.planning.exact.perf_counter", Clock())
    best = plan(SLOW, 1e-9, time=looks, compiled=compiled)
    assert not best.converged
    assert "time was over" in best.note
    assert best.gain_lower <= GAIN <= best.gain_upper
    assert best.gain_upper - best.gain_lower > 1e-9
    assert best.action([1, 0], [1, 2]) == 0  # what is there can be followed


def test_more_time_never_widens_the_interval(monkeypatch):
    widths = []
    for looks in (2, 10, 40, 160, 10**9):
        monkeypatch.setattr("restive.planning.exact.perf_counter", Clock())
        best = plan(SLOW, 1e-6, time=looks, compiled=True)
        widths.append(best.gain_upper - best.gain_lower)
    assert widths == sorted(widths, reverse=True)
    assert best.converged
    assert not best.note


def test_a_time_that_says_nothing_is_refused(monkeypatch):
    """Without the best arm and the myopic policy one sweep leaves an interval of all there is."""
    monkeypatch.setattr("restive.planning.exact.perf_counter", Clock())
    monkeypatch.setattr(
        "restive.planning.exact._narrowed",
        lambda bandit, level, _: (0 * level.proof.lower, 0 * level.proof.upper + 1),
    )
    with pytest.raises(TooLargeError, match="after 1 seconds"):
        plan(SLOW, time=1)


def test_a_deadline_that_is_not_reached_changes_nothing():
    bandit = random_problem(2, 3, rng=4)
    free, timed = plan(bandit), plan(bandit, time=1e6)
    assert free.values.tobytes() == timed.values.tobytes()
    assert (free.lower.tobytes(), free.sweeps) == (timed.lower.tobytes(), timed.sweeps)


# --- the yardstick ---------------------------------------------------------------------------


def test_the_first_tolerance_that_fits_is_taken():
    bandit = example1(0.01)
    fine, rough = (forecast(bandit, tolerance).bytes for tolerance in (1e-6, 1e-3))
    assert rough < fine
    easy = plan_within(bandit, 20.0)
    assert isinstance(easy, Plan)
    assert (easy.tolerance, easy.note) == (1e-6, "")
    tight = plan_within(bandit, 20.0, memory=(rough + fine) // 2)
    assert isinstance(tight, Plan)
    assert tight.tolerance > 1e-6
    assert tight.note.startswith("a plan to within 1e-06 takes about")


def test_refusals_say_why():
    size = plan_within(gilbert_elliott(6, 0.01, 0.02), 1.0, memory=10**9)
    assert isinstance(size, Refusal)
    assert size.reason.startswith("a plan to within 1e-06 takes about")
    slow = plan_within(example3(1e-17), 1.0)
    assert slow == Refusal("an arm mixes too slowly to plan")


@pytest.mark.parametrize(("seconds", "good"), [(2.0, False), (30.0, True)])
def test_the_clock_stops_what_the_forecast_let_pass(seconds, good, monkeypatch):
    monkeypatch.setattr("restive.planning.exact.perf_counter", Clock())
    tolerances = (1e-12, 0.6 if good else 1e-3)
    answer = plan_within(SLOW, seconds, tolerances=tolerances, clock=True, compiled=True)
    assert isinstance(answer, Plan if good else Refusal)
    words = answer.note if isinstance(answer, Plan) else answer.reason
    assert words == f"a plan to within 1e-12 takes more than {seconds:g} seconds"
    if isinstance(answer, Plan):
        assert answer.gain_lower <= GAIN <= answer.gain_upper


# --- narrowing, words ------------------------------------------------------------------------


def test_a_rough_plan_knows_what_simple_policies_earn():
    """The myopic policy of Example 1 earns rho* = .7, and always pulling an arm earns .5."""
    rough = plan(example1(0.1), caps=2)
    assert 0.7 - 1e-6 <= rough.gain_lower <= 0.7 <= rough.gain_upper
    assert not rough.converged
    assert "caps" in rough.note


def test_plans_and_forecasts_tell_their_results_in_a_few_lines():
    best = plan(example1(0.1))
    words = repr(best)
    assert "Plan of Example 1, epsilon = 0.1" in words
    assert "0.7, certified between 0.69999" in words
    assert len(words.splitlines()) <= 6
    assert "note" in repr(plan(example1(0.1), caps=2))
    assert repr(replace(best, seconds=400.0)).endswith("sweeps, 7 minutes")
    page = best._repr_html_()
    assert page.count("<tr>") == 4
    assert "0.7, certified" in page
    ahead = forecast(example1(0.1), memory=10**6)
    assert repr(ahead).startswith(f"Forecast(about {ahead.states} information states, ")
    assert repr(ahead).endswith(" s; fits)")
    assert repr(replace(ahead, seconds=inf)).endswith(", for ever; fits)")
    assert "more than the 10 kB" in repr(forecast(example1(0.1), memory=10**4))
    solution = solve(best.representation, best.parameters, compiled=False)
    assert repr(solution).startswith("Solution(gain 0.69999")


def test_very_many_arms_are_refused_before_anything_is_forecast(monkeypatch):
    """A thousand mixing times take long, and the number of last states says enough."""
    monkeypatch.setattr("restive.planning.within.forecast", None)
    refusal = plan_within(gilbert_elliott(1_000, 0.1, 0.2), 1.0)
    assert refusal == Refusal("a plan takes more than 1e301 information states")
