"""One declaration a learner: it is listed, built, compared, saved and loaded by it alone."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from restive.base.errors import ProblemError
from restive.base.options import Parameter
from restive.cli import app
from restive.experiments import compare
from restive.learners import LEARNERS, Learner, check_learner, declare, load_learner, make_learner
from restive.learners.fixed import Optimal
from restive.learners.paper.colored_ucrl2 import ColoredUCRL2
from restive.learners.rivals.index import UCB1
from restive.learners.storage import pack
from restive.mdp.structured import StructuredMDP
from restive.model.bandit import Arm, Bandit
from restive.model.files import dump_problem
from restive.problems import example1
from restive.simulation import BanditWorld, play

CHANNEL = Bandit([Arm([[0.7, 0.3], [0.2, 0.8]], [0, 1]), Arm([[1.0]], [0.5])])
THREE = Bandit([
    Arm([[0.6, 0.4, 0], [0.2, 0.5, 0.3], [0, 0.3, 0.7]], [0.1, 0.5, 0.9], reward_noise="beta"),
    Arm([[0.8, 0.2], [0.3, 0.7]], [0.2, 0.8]),
])  # fmt: skip
OPTIONS = {
    "kl-ucb": {"c": 3.0},
    "rca": {"exploration": 0.5},
    "dsee": {"knowledge": "none"},
    "rucb": {"rate": 0.7, "exploration": 0.3},
    "asr": {"exploration": 0.01, "gap": 0.1, "epsilon": 0.005, "floor": 0.5},
    "tied-sampling": {"growth": 0.1},
    "ucrl2": {"mixing_times": 1, "max_pairs": 40_000},
    "tsde-colors": {"mixing_times": 2},
    "colored-ucrl2": {"unknown_states": True, "mixing_times": [3, 2]},
    "explore-then-plan": {"share": 0.5},
    "restless-ucb-tuned": {"width": 0.5},
    "policy-sampling": {"mapping": "best-arm"},
    "ala": {"exploration": 0.5},
    "whittle-sampling-tuned": {"prior": 0.7},
    "whittle": {"max_age": 7},
    "optimal": {"tolerance": 1e-4},
}


def problem_of(name):
    return CHANNEL if name.startswith("tiling") else THREE


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_loaded_and_goes_on_with_the_same_bytes(name, tmp_path):
    bandit, options = problem_of(name), OPTIONS.get(name, {})
    record = BanditWorld(bandit, 1).record(400)
    whole, half = (make_learner(name, bandit, 400, rng=4, **options) for _ in range(2))
    expected = whole.play_path(record.states, record.rewards)[250:]
    half.play_path(record.states[:, :250], record.rewards[:, :250])
    half.save(tmp_path / "half.zip")
    loaded = load_learner(tmp_path / "half.zip")
    assert type(loaded) is type(half)
    assert loaded.name == name
    assert loaded.settings == half.settings
    pulls = loaded.play_path(record.states[:, 250:], record.rewards[:, 250:])
    assert pulls.tolist() == expected.tolist()
    assert pack(*loaded.snapshot()) == pack(*whole.snapshot())
    again = make_learner(name, bandit, 400, **options)
    again.load(tmp_path / "half.zip")
    assert pack(*again.snapshot()) == pack(*half.snapshot())


def test_a_plan_with_caps_of_its_own_is_loaded_with_them(tmp_path):
    learner = Optimal(THREE, 1e-4, caps=[2, 3])
    learner.save(tmp_path / "plan.zip")
    loaded = load_learner(tmp_path / "plan.zip")
    assert loaded.plan.caps == (2, 3)
    np.testing.assert_array_equal(loaded.plan.values, learner.plan.values)


def test_learners_of_other_mdps_are_loaded_too(tmp_path):
    mdp, truth = StructuredMDP.plain(np.full((3, 2, 3), 1 / 3), np.full((3, 2), 0.5))
    known = np.arange(mdp.n_colors) < 2
    plain = {"delta": 0.1, "rng": 3}
    for options in (plain, {**plain, "known": known, "parameters": truth, "start": 1}):
        learner = ColoredUCRL2(mdp, **options)
        for step in range(40):
            learner.tell(learner.ask(), step % 3, 0.25)
        learner.save(tmp_path / "mdp.zip")
        loaded = load_learner(tmp_path / "mdp.zip")
        assert pack(*loaded.snapshot()) == pack(*learner.snapshot())
        assert loaded.ask() == learner.ask()
    assert "colored-ucrl2-mdp" not in LEARNERS
    assert "colored-ucrl2-mdp" not in list(LEARNERS)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_number_of_arms_is_enough_where_nothing_else_is_told(name):
    if LEARNERS[name].told.startswith("the number of arms"):
        learner = make_learner(name, 3, 100, rng=1)
        bandit = Bandit([example1().arms[0]] * 3)
        assert pack(*learner.snapshot()) == pack(*make_learner(name, bandit, 100, rng=1).snapshot())
        return
    with pytest.raises(ProblemError, match=r"needs more than the number of arms .*Give the bandit"):
        make_learner(name, 3, 100)


@pytest.mark.parametrize("name", ["dsee", "rucb"])
def test_a_number_of_arms_is_enough_for_those_that_do_without_bounds(name):
    bandit = Bandit([example1().arms[0]] * 3)
    alone, told = (make_learner(name, problem, knowledge="none") for problem in (3, bandit))
    assert pack(*alone.snapshot()) == pack(*told.snapshot())
    with pytest.raises(ProblemError, match=r'Give the bandit, or set .*knowledge="none"'):
        make_learner(name, 3)


def test_what_is_no_problem_is_told_so():
    assert UCB1(n_arms=3).settings == make_learner("ucb1", 3).settings == {"n_arms": 3}
    with pytest.raises(ProblemError, match="n_arms"):
        make_learner("thompson", 0)
    with pytest.raises(ProblemError, match="Did you mean ucb1"):
        make_learner("ucb", 3)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_missing_horizon_is_one_kind_of_error(name):
    if "horizon" not in LEARNERS[name].told:
        assert make_learner(name, problem_of(name)).name == name
        return
    with pytest.raises(ProblemError) as error:
        make_learner(name, problem_of(name))
    faults = [(fault.path, fault.message) for fault in error.value.faults]
    assert faults == [("horizon", "needed by this learner")]


def test_options_and_the_horizon_are_complained_about_together():
    with pytest.raises(ProblemError) as error:
        make_learner("explore-then-plan", THREE, share=0, colour=1)
    assert [fault.path for fault in error.value.faults] == ["share", "colour", "horizon"]


def test_yardsticks_are_those_that_know_what_nobody_can_be_told():
    told = {name for name, entry in LEARNERS.items() if entry.yardstick}
    assert told == {"optimal", "myopic", "whittle", "best-arm"}


@pytest.mark.parametrize("name", LEARNERS)
def test_several_pulls_a_step_are_for_those_that_say_so(name):
    entry, bandit = LEARNERS[name], problem_of(name)
    two = Bandit(bandit.arms, pulls=2)
    if entry.several_pulls:
        assert entry.why_not(two) is None
        assert len(make_learner(name, two).ask_step(2)) == 2
        return
    assert make_learner(name, bandit, 100).most_pulls == 1
    assert entry.why_not(two) == f"{name} cannot choose so many arms"
    with pytest.raises(ProblemError, match=r"pulls: .* \(found 2\)\. Set pulls to 1, or play"):
        make_learner(name, two, 100)


# --- a learner from outside ------------------------------------------------------------------


TOY = """
from restive.base.options import Parameter
from restive.learners import Learner, declare


@declare(
    "toy-sticky", "stays with an arm for some pulls", guarantee="none", assumes="nothing",
    told="the number of arms", cites=("Nobody: Toys (2026)",),
    options=(Parameter("patience", "int", ..., "pulls to stay for", 1, 9),),
)
class Sticky(Learner):
    def __init__(self, n_arms: int, patience: int = 3) -> None:
        self.n_arms, self.patience, self.count = n_arms, patience, 0

    def ask(self):
        return self.count // self.patience % self.n_arms

    def tell(self, arm, state, reward):
        self.check_arm(arm)
        self.count += 1

    def snapshot(self):
        return {"name": self.name, "settings": self.settings, "count": self.count}, {}

    def restore(self, state, arrays):
        self.check_origin(state)
        self.count = int(state["count"])
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    (tmp_path / "toy_module.py").write_text(TOY)
    (tmp_path / "one.toml").write_text(dump_problem(example1(0.2)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("toy_module")
    LEARNERS.forget("toy-sticky")
    del sys.modules["toy_module"]


def test_a_learner_from_outside_is_listed_and_built(toy, tmp_path):
    assert "toy-sticky" in LEARNERS
    check_learner(lambda: make_learner("toy-sticky", 2, patience=2), [2, 2])
    learner = make_learner("toy-sticky", example1())
    assert isinstance(learner, toy.Sticky)
    assert learner.settings == {"n_arms": 2, "patience": 3}
    with pytest.raises(ProblemError, match="patience"):
        make_learner("toy-sticky", 2, patience=10)
    listed = json.loads(CliRunner().invoke(app, ["learners", "--json"]).stdout)["learners"]
    own = next(entry for entry in listed if entry["name"] == "toy-sticky")
    assert own["options"][0] == {
        "name": "patience", "kind": "int", "default": 3, "help": "pulls to stay for",
        "may_be": "a whole number from 1 to 9",
    }  # fmt: skip
    shown = CliRunner().invoke(app, ["learners"]).stdout
    assert "stays with an arm for some pulls" in shown
    assert "Nobody: Toys (2026)" in shown
    words = ["learn", "one.toml", "--learner", "toy-sticky", "--patience", "2", "--horizon", "50"]
    played = CliRunner().invoke(app, [*words, "--json"])
    assert json.loads(played.stdout)["pulls"] == [26, 24]


def test_a_learner_from_outside_says_once_that_it_can_pull_several(toy):
    words = {"guarantee": "none", "assumes": "nothing", "told": "the number of arms"}
    declare("toy-pair", "two at once", several_pulls=True, **words)(toy.Sticky)
    try:
        learner = make_learner("toy-pair", Bandit(THREE.arms, pulls=2), 10)
    finally:
        LEARNERS.forget("toy-pair")
    run = play(learner, BanditWorld(Bandit(THREE.arms, pulls=2)), 10)
    assert learner.most_pulls == THREE.n_arms
    assert (run.steps, sum(run.pulls), learner.count) == (10, 20, 20)


def test_a_learner_from_outside_is_saved_and_loaded(toy, tmp_path):
    learner = make_learner("toy-sticky", 2, patience=2)
    for _ in range(3):
        learner.tell(learner.ask(), 0, 0.5)
    learner.save(tmp_path / "toy.zip")
    loaded = load_learner(tmp_path / "toy.zip")
    assert (loaded.count, loaded.patience) == (3, 2)
    code = "from restive.learners import load_learner; load_learner('toy.zip')"
    alone = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert "Import the module that declares it" in alone.stderr
    code = f"import toy_module; {code}"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_a_learner_from_outside_is_compared_in_processes_that_did_not_import_it(toy, tmp_path):
    learners = [{"name": "toy-sticky", "options": {"patience": 2}}, "round-robin"]
    results = compare(example1(0.2), "out", learners, horizons=60, runs=2)
    assert not results.failures
    assert len(results.curves(results.problems[0], "toy-sticky", 60).regret) == 2
    words = ["compare", "one.toml", "--learners", "toy-sticky,toy_module:Sticky,ucb1",
             "--horizon", "60", "--runs", "2", "--out", "cli", "--json"]  # fmt: skip
    outcome = CliRunner().invoke(app, words)
    assert outcome.exit_code == 0, outcome.output
    manifest = json.loads((tmp_path / "cli" / "experiment.json").read_text())
    assert [bool(learner.get("sha256")) for learner in manifest["learners"]] == [True, True, False]


def test_names_are_not_taken_twice(toy):
    with pytest.raises(ProblemError, match=r"toy_module\.Sticky has this one"):

        @declare("toy-sticky", "another", guarantee="none", assumes="nothing", told="nothing")
        class Other(Learner):
            pass

    with pytest.raises(ProblemError, match="declared already"):
        declare("ucb1", "mine", guarantee="none", assumes="nothing", told="nothing")(toy.Sticky)
    assert LEARNERS["ucb1"].learner is UCB1
    assert toy.Sticky.name == "toy-sticky"
    before = LEARNERS["toy-sticky"]
    importlib.reload(toy)  # as a notebook's cell that is run again
    assert LEARNERS["toy-sticky"] is not before


def test_an_option_that_the_builder_does_not_take_is_refused():
    with pytest.raises(ProblemError, match="colour"):
        declare("wrong", "", guarantee="", assumes="", told="",
                options=(Parameter("colour", "int", 1, ""),))(UCB1)  # fmt: skip


# --- what is imported ------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "absent"), [
    ("import restive.cli", ("numpy", "numba", "pydantic", "scipy")),
    ("import restive.learners", ("numpy",)),
    ("from restive.learners import LEARNERS; list(LEARNERS)", ("numba", "pydantic", "scipy")),
])  # fmt: skip
def test_listing_is_lazy(code, absent):
    code += f"; import sys; assert not set({absent!r}) & set(sys.modules), sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)
