"""Rivals in two forms: as published, and with the constants one would choose."""

from __future__ import annotations

import numpy as np
import pytest

from restive.base.errors import ProblemError
from restive.base.options import Parameter
from restive.learners import LEARNERS, Learner, check_learner, declare, load_learner, make_learner
from restive.learners.forms import Practice
from restive.learners.paper.rules import Counts, Evidence, Optimism, n_outcomes
from restive.learners.rivals.narrow_ucrl2 import NarrowOptimism
from restive.learners.storage import pack
from restive.mdp.representation import Representation
from restive.model.bandit import Arm, Bandit
from restive.problems import example1, example3
from restive.simulation import BanditWorld

TUNED = [name for name, entry in LEARNERS.items() if entry.published]
TWO = Bandit([Arm([[0.7, 0.3], [0.1, 0.9]], [0, 1]), Arm([[0.8, 0.2], [0.6, 0.4]], [0, 1])])


def problem_of(name):
    return example3(0.2) if name.startswith("tiling") else TWO


def test_rivals_with_constants_have_both_forms():
    published = {LEARNERS[name].published for name in TUNED}
    assert {"dsee", "rca", "rucb", "asr", "restless-ucb", "ala", "tsde"} <= published
    for name in TUNED:
        assert name == f"{LEARNERS[name].published}-tuned"


@pytest.mark.parametrize("name", TUNED)
def test_a_tuned_form_is_the_published_one_with_these_options(name):
    entry, bandit = LEARNERS[name], problem_of(name)
    base = LEARNERS[entry.published]
    tuned = {option.name: option.default for option in entry.options}
    assert base.practice is not None
    assert {key: tuned[key] for key in base.practice.options} == dict(base.practice.options)
    assert base.practice.differs in entry.deviation
    assert (entry.cites, entry.assumes) == (base.cites, base.assumes)
    record = BanditWorld(bandit, 3).record(800)
    mine = make_learner(name, bandit, 800, rng=2)
    plain = make_learner(base.name, bandit, 800, rng=2, **base.practice.options)
    assert mine.settings == plain.settings
    assert (mine.name, plain.name) == (name, base.name)
    assert mine.guarantee == entry.guarantee != plain.guarantee
    pulls = mine.play_path(record.states, record.rewards)
    assert pulls.tolist() == plain.play_path(record.states, record.rewards).tolist()


@pytest.mark.parametrize("name", TUNED)
def test_tuned_forms_keep_the_contract(name):
    bandit = problem_of(name)
    check_learner(lambda: make_learner(name, bandit, 200, rng=1), bandit.n_states, steps=150)


def test_a_tuned_form_is_saved_under_its_own_name(tmp_path):
    learner = make_learner("dsee-tuned", TWO)
    learner.tell(learner.ask(), 0, 0.5)
    learner.save(tmp_path / "dsee.zip")
    loaded = load_learner(tmp_path / "dsee.zip")
    assert (loaded.name, loaded.guarantee) == ("dsee-tuned", "none with these constants")
    assert pack(*loaded.snapshot()) == pack(*learner.snapshot())
    with pytest.raises(ProblemError, match="made by another learner"):
        make_learner("dsee", TWO).load(tmp_path / "dsee.zip")


def test_tuned_constants_can_be_overridden():
    assert make_learner("dsee-tuned", TWO, rate=7.0).settings["rate"] == 7.0
    assert make_learner("restless-ucb-tuned", TWO, 1000, samples=1.0).settings["samples"] == 1.0


def test_anybody_may_declare_a_second_form():
    options = (Parameter("patience", "int", ..., "pulls to stay for", 1),)
    words = {"guarantee": "none", "assumes": "nothing", "told": "the number of arms"}

    class Sticky(Learner):
        def __init__(self, n_arms, patience=3):
            self.n_arms, self.patience = n_arms, patience

        ask = tell = snapshot = restore = None

    with pytest.raises(ProblemError, match=r"not an option of it \(found speed\)"):
        declare("sticky", "stays", options=options, practice=Practice({"speed": 1}, "fast"),
                **words)(Sticky)  # fmt: skip
    LEARNERS.forget("sticky")
    declare("sticky", "stays", options=options, practice=Practice({"patience": 9}, "it stays"),
            **words)(Sticky)  # fmt: skip
    try:
        Sticky.__abstractmethods__ = frozenset()
        assert make_learner("sticky", 2).patience == 3
        assert make_learner("sticky-tuned", 2).patience == 9
        assert LEARNERS["sticky-tuned"].deviation == "as sticky, but it stays"
        assert Sticky.name == "sticky"
    finally:
        LEARNERS.forget("sticky")
        LEARNERS.forget("sticky-tuned")


# --- narrower confidence sets ------------------------------------------------------------------


def test_radii_are_multiplied():
    rep = Representation((2, 3), (2, 3))
    counts = Counts.none(rep)
    counts.visits[:] = np.arange(rep.n_colors) * 50
    evidence = Evidence(rep, n_outcomes(rep), counts, 2000)
    wide, narrow = Optimism(0.1, 0.01), NarrowOptimism(0.1, 0.01, width=0.25)
    for mine, paper in zip(narrow.radii(evidence), wide.radii(evidence), strict=True):
        np.testing.assert_allclose(mine, 0.25 * paper)
        assert paper.min() > 0


@pytest.mark.parametrize("name", ["colored-ucrl2", "ucrl2"])
def test_width_one_is_as_published(name):
    bandit, options = example1(0.2), {"mixing_times": 2}
    record = BanditWorld(bandit, 1).record(3000)
    plain = make_learner(name, bandit, 3000, **options)
    full, half = (
        make_learner(f"{name}-tuned", bandit, 3000, width=width, **options) for width in (1.0, 0.05)
    )
    pulls = [learner.play_path(record.states, record.rewards) for learner in (plain, full, half)]
    assert pulls[0].tolist() == pulls[1].tolist() != pulls[2].tolist()
