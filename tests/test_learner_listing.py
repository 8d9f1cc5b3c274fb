"""What ``restive learners`` says of each learner is what the learner is."""

from __future__ import annotations

import inspect
import json

import pytest
from typer.testing import CliRunner

from restive.base.words import clauses
from restive.cli import app
from restive.learners import LEARNERS, make_learner
from restive.learners.references import citation
from restive.learners.storage import pack
from restive.model.bandit import Arm, Bandit
from restive.problems import example1

CHANNEL = Bandit([Arm([[0.7, 0.3], [0.2, 0.8]], [0, 1]), Arm([[1.0]], [0.5])])


@pytest.mark.parametrize("name", LEARNERS)
def test_shown_defaults_are_those_of_the_learner_built_without_options(name):
    entry = LEARNERS[name]
    bandit = CHANNEL if name.startswith("tiling") else example1(0.2)
    shown = {p.name: p.default for p in entry.options if p.default is not None}
    plain, told = make_learner(name, bandit, 50), make_learner(name, bandit, 50, **shown)
    assert plain.settings == told.settings
    assert pack(*plain.snapshot()) == pack(*told.snapshot())
    for option in entry.options:
        if option.name in entry.takes:
            own = entry.takes[option.name].default
            assert own == option.default or entry.published
            assert option.default is not ...
            assert option.check(option.default) == []


def test_every_learner_says_what_it_assumes_and_where_it_deviates():
    shown = CliRunner().invoke(app, ["learners"])
    facts = json.loads(CliRunner().invoke(app, ["learners", "--json"]).stdout)
    listed = {learner["name"]: learner for learner in facts["learners"]}
    assert set(listed) == {*LEARNERS, "colored-ucrl2-mdp"}
    for name, entry in LEARNERS.declared().items():
        for field in ("description", "guarantee", "assumes", "told"):
            assert getattr(entry, field)
            assert getattr(entry, field) in shown.stdout
            assert listed[name][field] == getattr(entry, field)
        assert all(f"  deviates                  {words}\n" in shown.stdout
                   for words in clauses(entry.deviation))  # fmt: skip
        assert (listed[name]["cites"], listed[name]["yardstick"], listed[name]["deviation"]) == (
            [citation(cite) for cite in entry.cites],
            entry.yardstick,
            entry.deviation,
        )


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_say_of_themselves_what_the_listing_does(name):
    entry = LEARNERS[name]
    learner = make_learner(name, CHANNEL if name.startswith("tiling") else example1(0.2), 50)
    assert learner.name == name
    assert (learner.guarantee, learner.deviation) == (entry.guarantee, entry.deviation)


@pytest.mark.parametrize("name", [n for n, e in LEARNERS.declared().items() if not e.published])
def test_every_departure_has_a_line_in_the_class(name):
    entry = LEARNERS.declared()[name]
    lines = inspect.getdoc(entry.learner).splitlines()
    assert [line for line in lines if line.startswith("Deviation:")] == [
        f"Deviation: {words}." for words in clauses(entry.deviation)
    ]


@pytest.mark.parametrize("name", ["exp3", "exp3.s", "tsde-colors", "ucrl2", "restless-ucb",
                                  "tiling", "explore-then-plan", "explore-then-plan-tuned",
                                  "tied-ucrl", "colored-ucrl2"])  # fmt: skip
def test_learners_that_need_the_horizon_say_so(name):
    with pytest.raises(ValueError, match="horizon"):
        make_learner(name, CHANNEL if name.startswith("tiling") else example1(0.2), None)
    assert "horizon" in LEARNERS[name].told


@pytest.mark.parametrize("name", ["dsee", "rucb", "asr"])
def test_chains_that_must_be_reversible_are_called_so(name):
    assert "reversible" in LEARNERS[name].assumes
    assert "aperiodic" in LEARNERS[name].assumes


def test_the_bound_of_tied_ucrl_holds_with_the_theorems_probability():
    learner = make_learner("tied-ucrl", example1(0.2), 50)
    assert "with probability 1 - 2 delta" in LEARNERS["tied-ucrl"].guarantee
    assert "with probability 1 - 2 delta the regret" in learner.guarantee


DEPARTURES = ("1/sqrt(t_k)", "100,000 sweeps", "first K pulls", "rounded up", "ends the episode")


@pytest.mark.parametrize(
    "name", ["colored-ucrl2", "colored-ucrl2-unknown", "colored-ucrl2-keeping"]
)
def test_departures_from_the_paper_are_named(name):
    assert all(words in LEARNERS[name].deviation for words in DEPARTURES)


def test_departures_of_the_learner_of_mdps_are_named():
    entry = LEARNERS.declared()["colored-ucrl2-mdp"]
    assert all(words in entry.deviation for words in ("1/sqrt(t_k)", "100,000", "by color"))
