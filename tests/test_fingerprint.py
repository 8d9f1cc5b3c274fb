"""Runs of a learner of the user's own are kept for that learner alone, and for all of it."""

from __future__ import annotations

import functools
import importlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import restive
from restive import Always, FunctionPolicy, make_learner, problems
from restive.experiments import Experiment, Participant
from restive.experiments.fingerprint import UnknowableError, fingerprint
from restive.experiments.progress import Watcher
from restive.learners.fixed import FollowPolicy

ONE = problems.example1()
ARM = 0
HOME = Path(__file__).parent.parent
NAMES = ["tied-sampling", "colored-ucrl2", "thompson", "whittle-sampling", "round-robin", "exp3"]
KEPT = "2 of 4 runs are there already and are kept."


class Notes(Watcher):
    def __init__(self):
        self.notices, self.started_with = [], None

    def started(self, done, total, seconds_left):
        self.started_with = done, total

    def notice(self, words):
        self.notices.append(words)


class Fixed:
    """A learner in the fewest words."""

    def __init__(self, arm):
        self.arm = arm

    def ask(self):
        return self.arm

    def tell(self, arm, state, reward):
        pass


def by_global(n_arms):
    return Fixed(ARM)


def by_helper(n_arms):
    return by_global(n_arms)


def closure(arm):
    return lambda n_arms: Fixed(arm)


def with_default(arm):
    def build(n_arms, arm=arm):
        return Fixed(arm)

    return build


def fixed(n_arms, arm):
    return Fixed(arm)


def preferring(arm):
    return FollowPolicy(FunctionPolicy(lambda states, ages: arm, ONE.n_states))


def written(number):
    """A class without a file."""
    scope = {}
    exec(f"class E:\n def ask(self): return {number}\n def tell(self, *seen): pass", scope)
    return scope["E"]


PAIRS = {
    "attribute": (Fixed(0), Fixed(1)),
    "closure": (closure(0), closure(1)),
    "default": (with_default(0), with_default(1)),
    "partial": (functools.partial(fixed, arm=0), functools.partial(fixed, arm=1)),
    "policy": (FollowPolicy(Always(2, 0)), FollowPolicy(Always(2, 1))),
    "function": (preferring(0), preferring(1)),
    "option": (make_learner("exp3", 2, 300, rate=1.0), make_learner("exp3", 2, 300, rate=0.01)),
    "no file": (written(0), written(1)),
    "method": (Fixed(0).ask, Fixed(1).ask),
}


def regret(results, label):
    return results.curves("one", label, 60).weak_regret.tolist()


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_learners_that_differ_have_other_hashes(pair):
    assert fingerprint(pair[0]) != fingerprint(pair[1])
    assert fingerprint(pair[0]) == fingerprint(pair[0])


@pytest.mark.parametrize("kind", ["attribute", "closure", "partial", "policy"])
def test_runs_of_another_learner_are_not_taken_for_its_own(kind, tmp_path):
    first, second = (
        Experiment({"one": ONE}, [Participant.of(maker, "mine"), "best-arm"], 60, 2)
        for maker in PAIRS[kind]
    )
    before = regret(first.run(tmp_path / "out", workers=1), "mine")
    notes = Notes()
    after = regret(second.run(tmp_path / "out", workers=1, watcher=notes), "mine")
    assert notes.notices == ["mine has changed: its 2 runs are run again.", KEPT]
    assert notes.started_with == (2, 4)  # those of best-arm are kept
    assert after == regret(second.run(tmp_path / "new", workers=1), "mine")
    assert after != before
    notes = Notes()
    second.run(tmp_path / "out", workers=1, watcher=notes)
    assert notes.started_with is None  # all is there


def test_globals_count_also_those_of_functions_that_are_called(monkeypatch):
    before = fingerprint(by_global), fingerprint(by_helper)
    monkeypatch.setattr(sys.modules[__name__], "ARM", 1)
    assert fingerprint(by_global) != before[0]
    assert fingerprint(by_helper) != before[1]


MODULE = """
from other import choose
import third
ARM = {arm}
def pick(): return {pick}
class Base:
    def __init__(self, n_arms): pass
    def ask(self): return pick() + choose() + third.more()
    def tell(self, *seen): pass
class Mine(Base):
    pass
def late(n_arms):
    from fourth import number
    return Mine(number)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes four modules and gives the first, as it would be in a new process."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(arm=0, pick=0, other=0, third=0, fourth=0):
        texts = {"first": MODULE.format(arm=arm, pick=pick)}
        texts["other"] = f"def choose(): return {other}\n"
        texts["third"] = f"def more(): return {third}\n"
        texts["fourth"] = f"number = {fourth}\n"
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        return importlib.import_module("first")

    yield write
    for name in ("first", "other", "third", "fourth"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("part", ["arm", "pick", "other", "third"])
def test_base_classes_helpers_and_other_modules_count(part, module):
    before = fingerprint(module().Mine)
    assert fingerprint(module().Mine) == before
    assert fingerprint(module(**{part: 1}).Mine) != before


def test_a_module_that_is_imported_while_it_plays_counts(module):
    before = fingerprint(module().late)
    assert fingerprint(module(fourth=1).late) != before


def test_modules_that_are_imported_while_it_plays_count_the_same_before_and_after(module):
    def late(n_arms):
        from colorsys import rgb_to_hsv  # of Python, and hardly loaded yet

        import fourth

        return Fixed(fourth.number * (rgb_to_hsv is None))

    module()
    sys.modules.pop("colorsys", None)
    before = fingerprint(late)
    assert fingerprint(late) == before
    late(2)
    assert fingerprint(late) == before
    module(fourth=1)
    assert fingerprint(late) != before


def test_names_of_modules_take_what_they_use_with_them(module, tmp_path):
    """As experiment files have them."""
    hashes = []
    for third in (0, 0, 1):
        module(third=third)
        named = Participant("first:Mine", "mine", folders=[tmp_path])
        hashes.append(named.to_dict()["sha256"])
    assert hashes[0] == hashes[1] != hashes[2]


def test_code_in_memory_counts_and_not_the_file_alone(module, tmp_path):
    """The file was edited, and not loaded again: it is neither the old learner nor the new one."""
    before = fingerprint(old := module(pick=0).Mine)
    (tmp_path / "first.py").write_text(MODULE.format(arm=0, pick=1))
    stale = fingerprint(old)
    assert len({before, stale, fingerprint(module(pick=1).Mine)}) == 3


def test_the_hash_is_the_same_in_another_process():
    program = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from test_fingerprint import *\n"
        "print(*(fingerprint(pair[0]) for pair in PAIRS.values()))\n"
        "print(*(fingerprint(make_learner(name, ONE, 300)) for name in NAMES))\n"
    )
    printed = set()
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True, cwd=HOME,
        )  # fmt: skip
        printed.add(run.stdout)
    assert len(printed) == 1


def test_what_cannot_be_hashed_is_run_anew_with_a_word(tmp_path):
    lock = threading.Lock()

    def build(n_arms):
        with lock:
            return Fixed(0)

    with pytest.raises(UnknowableError, match="lock"):
        fingerprint(build)
    chosen = Experiment({"one": ONE}, [Participant.of(build, "mine"), "best-arm"], 60, 2)
    why = "it holds a lock, which cannot be hashed"
    words = f"mine cannot be resumed ({why}): every call runs it anew."
    for kept in (0, 2):
        notes = Notes()
        chosen.run(tmp_path / "out", workers=1, watcher=notes)
        assert notes.notices == [words, *[KEPT] * (kept > 0)]
        assert notes.started_with == (kept, 4)
    with pytest.warns(RuntimeWarning, match="mine cannot be resumed"):
        chosen.run(tmp_path / "out", workers=1)


def test_results_of_a_learner_loaded_again_come_from_the_new_one(module, tmp_path):
    """Workers that stay from the call before hold the module as it was."""
    regrets = []
    for arm in (0, 1):
        mine = module(pick=arm).Mine
        chosen = Experiment({"one": ONE}, [mine], 60, 4)
        regrets.append(regret(chosen.run(tmp_path / "out", workers=2), "Mine"))
    assert regrets[1] == regret(chosen.run(tmp_path / "alone", workers=1), "Mine")
    assert regrets[0] != regrets[1]


def test_a_learner_declared_in_a_notebook_is_known_by_its_code(tmp_path):
    """Its module has no file."""
    hashes = []
    for arm in (0, 0, 1):
        scope = {"__name__": "__main__", "restive": restive}
        text = (
            "@restive.declare('mine', 'pulls one arm', guarantee='none', assumes='nothing',"
            " told='the number of arms')\n"
            "class Mine(restive.Learner):\n"
            "    def __init__(self, n_arms): self.n_arms = n_arms\n"
            f"    def ask(self): return {arm}\n"
            "    def tell(self, arm, state, reward): pass\n"
            "    def snapshot(self): return {}, {}\n"
            "    def restore(self, state, arrays): pass\n"
        )
        exec(text, scope)
        hashes.append(Participant("mine").to_dict()["sha256"])
        restive.LEARNERS.forget("mine")
    assert hashes[0] == hashes[1] != hashes[2]
