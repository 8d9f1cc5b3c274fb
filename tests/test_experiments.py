"""Experiments in one process: what a cell is, what follows from what, faults, results."""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import os
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import mortal
import restive
from mortal import kept
from restive import FunctionPolicy, InTurn, load_experiment, problems
from restive.base.errors import ProblemError, RestiveError
from restive.experiments import Experiment, Participant, load_results
from restive.experiments.cells import Cell
from restive.experiments.directory import OTHER, read_cell, write_cell
from restive.experiments.progress import Pace, Watcher, batches
from restive.learners import make_learner
from restive.learners.fixed import FollowPolicy
from restive.model import files
from restive.problems import suites
from restive.simulation import BanditWorld, play

ONE, THREE = problems.example1(), problems.example3()
DRAWN = problems.random_problem(3, 2, rng=4, reward_noise="bernoulli")
QUICK = ("thompson", "best-arm")


class Notes(Watcher):
    def __init__(self):
        self.notices, self.steps = [], []

    def started(self, done, total, seconds_left):
        self.steps.append((done, total))

    def finished(self, done, total, seconds_left):
        self.steps.append((done, total))

    def notice(self, words):
        self.notices.append(words)


def run(experiment, where, workers=1, **options):
    return experiment.run(where, workers=workers, **options)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    where = tmp_path_factory.mktemp("small") / "out"
    chosen = Experiment({"one": ONE, "drawn": DRAWN}, QUICK, horizons=[60, 400], runs=4, seed=7)
    return chosen, where, run(chosen, where)


def seeds(seed, *words):
    digest = hashlib.sha256("\0".join(map(str, words)).encode()).digest()
    return np.random.SeedSequence(seed, spawn_key=np.frombuffer(digest, "<u4").tolist())


def test_a_cell_is_a_run_of_its_learner_in_its_world(small):
    _, _, results = small
    luck = np.random.default_rng(seeds(7, "learner", "drawn", 400, 2, "thompson"))
    world = BanditWorld(DRAWN, seeds(7, "world", "drawn", 400, 2))
    plan = restive.plan(DRAWN)
    alone = play(make_learner("thompson", DRAWN, 400, 0.05, luck), world, 400, plan=plan)
    curves = results.curves("drawn", "thompson", 400)
    assert curves.times.tolist() == alone.times.tolist()
    np.testing.assert_allclose(curves.regret[2], alone.regret, atol=1e-9)
    np.testing.assert_allclose(curves.gap_regret[2], alone.gap_regret, atol=1e-9)
    np.testing.assert_allclose(curves.weak_regret[2], alone.weak_regret, atol=1e-9)
    assert results.gains["drawn"] == pytest.approx((plan.gain, plan.gain_lower, plan.gain_upper))
    assert results.best_arms["drawn"] == (DRAWN.best_arm, DRAWN.arms[DRAWN.best_arm].gain)
    assert results.complete
    assert (curves.seconds > 0).all()


def test_runs_are_paired_and_luck_is_not(tmp_path):
    pair = [Participant(name, label) for name in QUICK for label in (f"{name} a", f"{name} b")]
    results = run(Experiment({"drawn": DRAWN}, pair, 300, runs=3), tmp_path / "out")
    first, second = (results.curves("drawn", f"best-arm {label}", 300).regret for label in "ab")
    np.testing.assert_array_equal(first, second)  # the same pulls in the same worlds
    assert len({tuple(row) for row in first}) == 3  # which differ from run to run
    first, second = (results.curves("drawn", f"thompson {label}", 300).regret for label in "ab")
    assert (first != second).any(axis=1).all()


def test_additions_change_no_number(small, tmp_path):
    _, where, _ = small
    larger = Experiment(
        {"new": THREE, "one": ONE, "drawn": DRAWN}, ["round-robin", *QUICK], [60, 100, 400], 6, 7
    )
    run(larger, tmp_path / "out")
    before, after = kept(where), kept(tmp_path / "out")
    cells = [path for path in before if path.startswith("cells/")]
    assert len(cells) == 2 * 2 * 2 * 4
    for path in cells:
        moved = path.replace("00-one", "01-one").replace("01-drawn", "02-drawn")
        assert before[path] == after[moved]


def test_another_seed_changes_every_run(small, tmp_path):
    chosen, _, results = small
    other = run(Experiment({"drawn": DRAWN}, QUICK, 400, 4, seed=8), tmp_path / "out")
    mine, theirs = (r.curves("drawn", "thompson", 400).regret for r in (results, other))
    assert (mine != theirs).any(axis=1).all()
    assert chosen.seed == 7


def test_running_again_does_nothing(small):
    chosen, where, _ = small
    before = kept(where)
    stamps = {path: (where / path).stat().st_mtime_ns for path in before if "cells/" in path}
    notes = Notes()
    run(chosen, where, watcher=notes)
    assert kept(where) == before
    assert stamps == {path: (where / path).stat().st_mtime_ns for path in stamps}
    assert notes.steps == []


def test_more_runs_extend_an_experiment(small, tmp_path):
    chosen, where, _ = small
    rest = {"learners": QUICK, "horizons": [60, 400], "seed": 7}
    few = Experiment({"one": ONE, "drawn": DRAWN}, runs=2, **rest)
    notes = Notes()
    run(few, tmp_path / "out")
    run(chosen, tmp_path / "out", watcher=notes)
    assert notes.steps[0] == (16, 32)
    assert notes.steps[-1] == (32, 32)
    assert kept(tmp_path / "out") == kept(where)
    with pytest.raises(ProblemError, match="fewer than the 4 runs"):
        run(few, tmp_path / "out")


def changed():
    """Experiments that differ in one thing each, and what the refusal must name."""
    base = {"problems": {"one": ONE, "drawn": DRAWN}, "learners": QUICK, "horizons": [60, 400],
            "runs": 4, "seed": 7}  # fmt: skip
    other = problems.example1(epsilon=0.11)
    yield "seed", base | {"seed": 6}
    yield "delta", base | {"delta": 0.04}
    yield "horizons", base | {"horizons": [60]}
    yield "problems[0] (one)", base | {"problems": {"one": other, "drawn": DRAWN}}
    yield "problems", base | {"problems": {"one": ONE}}
    yield "learners", base | {"learners": ("thompson", "round-robin")}
    slower = (Participant("thompson"), Participant("tied-sampling", "best-arm"))
    yield "learners.best-arm.name", base | {"learners": slower}


CHANGED = list(changed())


@pytest.mark.parametrize(("path", "fields"), CHANGED, ids=[path for path, _ in CHANGED])
def test_another_experiment_is_refused_and_nothing_touched(small, path, fields):
    _, where, _ = small
    before = kept(where)
    with pytest.raises(ProblemError) as caught:
        run(Experiment(**fields), where)
    assert any(fault.path.startswith(path) for fault in caught.value.faults)
    assert "--out" in str(caught.value)
    assert kept(where) == before


def test_another_version_is_refused(small, monkeypatch):
    chosen, where, _ = small
    from restive.experiments import store

    newer = {**store.versions(), "restive": "9.9"}
    monkeypatch.setattr(store, "versions", lambda: newer)
    with pytest.raises(ProblemError, match=r"versions\.restive: differs .* \"0.*9\.9"):
        run(chosen, where)


def test_workers_of_another_version_are_refused(tmp_path, monkeypatch):
    from restive.experiments import store

    newer = {**store.versions(), "numpy": "0.1"}
    monkeypatch.setattr(store, "versions", lambda: newer)
    with pytest.raises(RestiveError, match=r"worker: numpy: another version than 0\.1"):
        run(Experiment({"one": ONE}, QUICK, 50, 1), tmp_path / "out")


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] = data[place] ^ 1
    path.write_bytes(bytes(data))


def digit(data):
    """Where a digit of a reward stands: a flip leaves valid JSON with another number."""
    return data.index(b"rewards") + data[data.index(b"rewards") :].index(b".") + 1


DAMAGE = {
    "cut off": lambda path, other: path.write_bytes(path.read_bytes()[:-40]),
    "empty": lambda path, other: path.write_bytes(b""),
    "a bit": lambda path, other: flip(path, digit(path.read_bytes())),
    "another's": lambda path, other: path.write_bytes(other.read_bytes()),
    "a list": lambda path, other: path.write_bytes(b"[]"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_cell_is_noticed_and_run_again(small, kind):
    chosen, where, _ = small
    before = kept(where)
    path, other = (where / f"cells/01-drawn/thompson/400-{k}.json" for k in (1, 2))
    DAMAGE[kind](path, other)
    assert load_results(where).curves("drawn", "thompson", 400) is None
    assert not load_results(where).complete
    first = load_results(where, partial=True)
    assert first.curves("drawn", "thompson", 400).regret.shape[0] == 1
    assert first.curves("drawn", "best-arm", 400).regret.shape[0] == 1
    notes = Notes()
    run(chosen, where, watcher=notes)
    (notice,) = notes.notices
    assert ("thompson has changed" if kind == "another's" else "400-1.json") in notice
    assert kept(where) == before


def test_a_run_by_another_spelling_of_its_number_is_another_run(tmp_path):
    path, cell = tmp_path / "50-2.json", Cell("drawn", "optimal", 50, 2)
    write_cell(path, "key", cell._replace(run=2.0), {"refused": "too large"})
    assert read_cell(path, "key", cell) == OTHER
    write_cell(path, "key", cell, {"refused": "too large"})
    assert read_cell(path, "key", cell) == {"refused": "too large"}


def test_what_is_derived_follows_from_the_cells(small):
    _, where, results = small
    rows = list(csv.DictReader((where / "curves.csv").read_text().splitlines()))
    place = {"problem": "one", "learner": "best-arm", "horizon": "400", "time": "400"}
    (last,) = [r for r in rows if place.items() <= r.items() and r["regret"] == "gap"]
    ends = results.curves("one", "best-arm", 400).gap_regret[:, -1]
    assert float(last["mean"]) == pytest.approx(ends.mean())
    assert float(last["median"]) == pytest.approx(np.median(ends))
    entries = json.loads((where / "summary.json").read_bytes())["entries"]
    assert len(entries) == 2 * 2 * 2


def test_refusals_are_results(tmp_path):
    coins = problems.gilbert_elliott(2, 0.2, 0.3)
    results = run(Experiment({"coins": coins, "drawn": DRAWN}, ["tiling", "best-arm"], 50, 2),
                tmp_path / "out")  # fmt: skip
    assert set(results.refusals) <= set(product(("coins", "drawn"), ("tiling",), (50,)))
    assert ("drawn", "tiling", 50) in results.refusals
    assert results.curves("drawn", "tiling", 50) is None
    assert results.complete


def test_problems_too_large_to_plan_have_weak_regret_only(tmp_path, monkeypatch):
    from restive.experiments import cells

    monkeypatch.setattr(cells, "PATIENCE", 0.0)
    cells.yardstick.cache_clear()
    results = run(Experiment({"one": ONE}, ["best-arm"], 50, 2), tmp_path / "out")
    cells.yardstick.cache_clear()
    curves = results.curves("one", "best-arm", 50)
    assert np.isnan(results.gains["one"]).all()
    assert np.isnan(curves.regret).all()
    assert np.isnan(curves.gap_regret).all()
    assert np.isfinite(curves.weak_regret).all()


def test_a_bug_in_a_learner_stops_nobody_and_its_traceback_is_in_the_log(tmp_path):
    chosen = Experiment({"one": ONE}, ["mortal:broken", "best-arm"], 50, 2)
    with pytest.warns(RuntimeWarning, match=r"mortal:broken on one: 2 of 2 runs failed .* a bug"):
        results = run(chosen, tmp_path / "out")
    failure = results.failures["one", "mortal:broken", 50]
    assert (failure.failed, failure.runs, failure.good) == ((0, 1), 2, None)
    assert failure.error == "RuntimeError: a bug in somebody's learner"
    assert "in broken" in (tmp_path / "out" / "log.jsonl").read_text()
    assert not results.complete
    assert results.refusals == {}
    alone = run(Experiment({"one": ONE}, ["best-arm"], 50, 2), tmp_path / "alone")
    for reread in (results, load_results(tmp_path / "out", partial=True)):
        assert list(reread.finished) == [("one", "best-arm", 50)]
        np.testing.assert_array_equal(
            reread.curves("one", "best-arm", 50).regret, alone.curves("one", "best-arm", 50).regret
        )


def test_failed_runs_are_tried_again(tmp_path):
    marker = tmp_path / "marker"
    shaky = Participant("mortal:shaky", "mine", {"marker": str(marker)})
    chosen = Experiment({"one": ONE}, [shaky], 50, 8)
    with pytest.warns(RuntimeWarning, match="OverflowError: boom"):
        results = run(chosen, tmp_path / "out")
    lucks = [np.random.default_rng(seeds(0, "learner", "one", 50, r, "mine")) for r in range(8)]
    wanted = tuple(r for r, luck in enumerate(lucks) if luck.random() < 0.5)
    assert 0 < len(wanted) < 8
    failure = results.failures["one", "mine", 50]
    assert failure.failed == wanted
    assert len(failure.good.regret) == 8 - len(wanted)
    assert results.curves("one", "mine", 50) is None  # those that went well are not all
    marker.touch()
    notes = Notes()
    again = run(chosen, tmp_path / "out", watcher=notes)
    assert notes.steps[0] == (8 - len(wanted), 8)  # only the failed ones
    assert again.failures == {}
    assert again.complete
    good = [r for r in range(8) if r not in wanted]
    np.testing.assert_array_equal(again.curves("one", "mine", 50).regret[good], failure.good.regret)
    run(chosen, tmp_path / "undisturbed")
    assert kept(tmp_path / "out") == kept(tmp_path / "undisturbed")


def test_what_is_a_refusal_and_what_a_failure(tmp_path, monkeypatch):
    from restive.experiments import cells

    own = Experiment({"one": ONE}, ["mortal:unwilling", "mortal:misfit"], 50, 1)
    results = run(own, tmp_path / "own", watcher=Notes())
    assert results.refusals == {
        ("one", "mortal:unwilling", 50): "bandit: not for me. Give another."
    }
    assert "another number of arms" in results.failures["one", "mortal:misfit", 50].error
    for error, kind in ((ArithmeticError("too slow"), "refusals"), (OverflowError("x"), "failures"),
                        (MemoryError(), "failures"), (SystemExit(3), "failures")):  # fmt: skip

        def play(*_, error=error, **__):
            raise error

        monkeypatch.setattr(cells, "play", play)
        ours = Experiment({"one": ONE}, ["ucb1"], 50, 1)
        results = run(ours, tmp_path / repr(error), watcher=Notes())
        assert list(getattr(results, kind)) == [("one", "ucb1", 50)]
        assert len(results.refusals) + len(results.failures) == 1


def test_the_same_from_python_as_on_the_command_line():
    def shape(*given, **more):
        chosen = Experiment(*given, **more)
        return [p.name for p in chosen.problems], chosen.horizons, chosen.runs

    assert shape("example-1", horizons=1e4, runs=5.0) == (["example-1"], (10_000,), 5)
    assert shape(["example-1", "example-3"], "ucb1", "1000")[:2] == (
        ["example-1", "example-3"],
        (1000,),
    )
    assert shape("example-1", horizons=["1e4", np.float32(50), np.int64(7)])[1] == (10_000, 50, 7)
    names, _, _ = shape("restive-suite v1")
    assert names == list(suites.suite("restive-suite-v1"))
    assert Experiment("example-1").problems[0].bandit == problems.example1()


@pytest.mark.parametrize(
    ("fields", "path", "value"),
    [
        ({"problems": None}, "problems", "null"),
        ({"problems": [None]}, "problems[0]", "null"),
        ({"problems": {"a": "x.toml"}}, 'problems["a"]', '"x.toml"'),
        ({"problems": {1: ONE}}, "problems[1]", "1"),
        ({"problems": {" ": ONE}}, "problems[0]", "' '"),
        ({"learners": None}, "learners", "null"),
        ({"learners": 3}, "learners", "3"),
        ({"learners": [{"name": "ucb1", "label": " \t"}]}, "learners[0].label", r"' \t'"),
        ({"horizons": None}, "horizons[0]", "null"),
        ({"horizons": "1e999999999"}, "horizons[0]", '"1e999999999"'),
        ({"horizons": float("inf")}, "horizons[0]", "Infinity"),
        ({"runs": None}, "runs", "null"),
        ({"runs": 2.5}, "runs", "2.5"),
    ],
)
def test_nonsense_from_python_is_told_in_words(fields, path, value):
    with pytest.raises(ProblemError) as caught:
        Experiment(**({"problems": {"one": ONE}} | fields))
    (fault,) = caught.value.faults
    assert (fault.path, fault.value) == (path, value)
    assert fault.remedy


OWN = """
from restive.learners import make_learner
def build(bandit, horizon, delta, rng):
    import {beside}
    return make_learner({beside}.NAME, bandit, horizon, delta, rng)
"""


def test_a_learner_beside_the_experiment_file_is_found(tmp_path, monkeypatch):
    text = 'problems = ["example-1"]\nhorizons = 50\nruns = 2\nlearners = ["near_by:build"]\n'
    curves = []
    for name in ("ucb1", "round-robin"):  # modules of the same name in two folders
        folder = tmp_path / name
        folder.mkdir()
        (folder / "near_by.py").write_text(OWN.format(beside=f"beside_{name[:3]}"))
        (folder / f"beside_{name[:3]}.py").write_text(f"NAME = '{name}'\n")
        (folder / "e.toml").write_text(text)
        before = list(sys.path)
        chosen = load_experiment(folder / "e.toml")
        curves.append(run(chosen, folder / "out").curves("example-1", "near_by:build", 50))
        assert sys.path == before
        same = run(
            Experiment("example-1", Participant(name, "near_by:build"), 50, 2), folder / "same"
        )
        np.testing.assert_array_equal(
            curves[-1].regret, same.curves("example-1", "near_by:build", 50).regret
        )
    assert (curves[0].regret != curves[1].regret).any()
    monkeypatch.chdir(tmp_path / "ucb1")  # the current folder is searched too
    assert Experiment("example-1", "near_by:build").learners[0].faults() == []
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.toml").write_text(text.replace("near_by", "nowhere"))
    with pytest.raises(ProblemError, match=f"No module named 'nowhere'.*a module in {tmp_path}"):
        load_experiment(tmp_path / "e.toml")


def test_changed_sources_are_noticed(tmp_path, monkeypatch):
    from restive.experiments import cells, store

    home = tmp_path / "home"
    home.mkdir()
    (home / "a.py").write_text("x = 1\n")
    (home / "data.txt").write_text("x")
    hashes = [cells._source_hash(home)]
    (home / "data.txt").write_text("y")
    assert cells._source_hash(home) == hashes[0]
    (home / "a.py").write_text("x = 2\n")
    hashes.append(cells._source_hash(home))
    (home / "a.py").rename(home / "b.py")
    hashes.append(cells._source_hash(home))
    assert len(set(hashes)) == 3
    chosen = Experiment({"one": ONE}, ["ucb1"], 50, 1)
    results = run(chosen, tmp_path / "out")
    kept_hash = results.provenance["versions"]["restive sources"]
    assert kept_hash == cells._source_hash(Path(restive.__file__).parent)
    monkeypatch.setattr(store, "versions", lambda: {**cells.versions(), "restive sources": "new"})
    with pytest.raises(ProblemError, match=r"files of restive have changed since.*--out") as caught:
        run(chosen, tmp_path / "out")
    assert kept_hash in str(caught.value)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no room is left there. Make room"),
        (PermissionError(errno.EACCES, "Permission denied"), "permission denied. See that"),
    ],
)
@pytest.mark.parametrize("file", ["50-2.json", "log.jsonl", "summary.json"])
def test_a_full_disk_is_told_and_costs_nothing(tmp_path, monkeypatch, error, words, file):
    from restive.base import writing
    from restive.experiments import store

    chosen = Experiment({"one": ONE}, ["ucb1"], 50, 4)
    replace = os.replace

    def full(source, target):
        if str(target).endswith(file):
            raise error
        replace(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(writing.os, "replace", full)
        if file == "log.jsonl":
            patched.setattr(store, "_ends_line", lambda stream: (_ for _ in ()).throw(error))
        with pytest.raises(ProblemError) as caught:
            run(chosen, tmp_path / "out")
    (fault,) = caught.value.faults
    assert fault.path.endswith(file)
    assert words in str(fault)
    assert "what is finished is kept, and the same command goes on" in fault.remedy
    run(chosen, tmp_path / "out")
    run(chosen, tmp_path / "undisturbed")
    assert kept(tmp_path / "out") == kept(tmp_path / "undisturbed")


@pytest.mark.parametrize(("workers", "jobs", "wanted"), [(9999, 1, 1), (9999, 3, 3), (2, 3, 2)])
def test_no_more_workers_than_jobs(workers, jobs, wanted):
    from restive.base.backends import opened

    with opened(list, "local", "", workers, jobs) as pool:
        assert pool.workers == wanted


def test_all_faults_come_at_once():
    with pytest.raises(ProblemError) as caught:
        Experiment(
            [ONE, ONE, 3],
            ["tied-sampling", Participant("tied-ucrl", "x", {"unknown": 1, "mixing_times": 0}),
             "ucb",
             "mortal:nobody", "tied-sampling", {"nmae": "ucb1"}],
            horizons=[0, 5, 5, 2.5], runs=0, seed=-1, delta=1,
        )  # fmt: skip
    paths = [fault.path for fault in caught.value.faults]
    assert paths == [
        "problems[2]", "problems[1]", "learners[1].options.unknown",
        "learners[1].options.mixing_times", "learners[2].name", "learners[3].name",
        "learners[5].nmae", "learners[5].name", "learners[4].label", "horizons[0]", "horizons[2]",
        "horizons[3]", "runs", "seed", "delta",
    ]  # fmt: skip
    assert "Did you mean ucb1?" in str(caught.value)


FILE = """
problems = ["a.toml", { gallery = "example-1", name = "slow", parameters = { epsilon = 0.05 } }]
horizons = [1e3, 50]
runs = 3
seed = 11
[[learners]]
name = "tied-sampling"
label = "long episodes"
options = { growth = 0.1 }
[[learners]]
name = "ucb1"
"""


def test_an_experiment_file_says_it_all(tmp_path):
    (tmp_path / "a.toml").write_text(files.dump_problem(THREE))
    (tmp_path / "e.toml").write_text(FILE)
    experiment = load_experiment(tmp_path / "e.toml")
    assert [problem.name for problem in experiment.problems] == ["a", "slow"]
    assert [problem.bandit for problem in experiment.problems] == [THREE, problems.example1(0.05)]
    data = (tmp_path / "a.toml").read_bytes()
    assert experiment.problems[0].sha256 == hashlib.sha256(data).hexdigest()
    first = Participant("tied-sampling", "long episodes", {"growth": 0.1})
    assert experiment.learners == (first, Participant("ucb1"))
    assert (experiment.horizons, experiment.runs, experiment.seed, experiment.delta) == (
        (1000, 50),
        3,
        11,
        0.05,
    )
    assert load_experiment(tmp_path / "e.toml", runs=9).runs == 9


def test_faults_of_an_experiment_file_come_at_once(tmp_path):
    (tmp_path / "bad.toml").write_text("[[arms]]\ntransitions = [[1]]\nrewards = [2]\n")
    text = """
    problems = ["bad.toml", "gone.toml", { gallery = "example-9" }, { file = 3 }, 7,
                { gallery = "example-1", parameters = { epsilno = 1 } }]
    learner = ["ucb1"]
    learners = [{ name = "ucb1", options = { c = 1 } }]
    runs = 2.5
    """
    (tmp_path / "e.toml").write_text(text)
    with pytest.raises(ProblemError) as caught:
        load_experiment(tmp_path / "e.toml")
    shown = [str(fault) for fault in caught.value.faults]
    wanted = ["learner: no such field", "problems[0]: ", "problems[1]: ", "problems[2]: gallery",
              "problems[3]: file: not a text", "problems[4]: not a problem",
              "problems[5]: parameters.epsilno", "learners[0].options.c", "runs"]  # fmt: skip
    assert len(shown) == len(wanted)
    for text, start in zip(shown, wanted, strict=True):
        assert text.startswith(start)
    assert "arms[0].rewards[0]" in shown[1]


def test_pace_and_batches():
    short, long = Cell("p", "short", 100, 0), Cell("p", "long", 100, 0)

    class One:  # what batches look at
        def __init__(self, cell):
            self.cell = cell

    jobs = [One(cell) for cell in [short] * 200 + [long] * 5]
    pace = Pace(job.cell for job in jobs)
    assert pace.left(2) is None
    assert [len(batch) for batch in batches(jobs, pace, 2, 205)] == [1] * 205  # nothing is known
    pace.add(short, 0.03)
    pace.add(long, 3.0)
    assert pace.left(2) == pytest.approx((200 * 0.03 + 5 * 3.0) / 2)
    sizes = [len(batch) for batch in batches(jobs, pace, 2, 205)]
    assert sum(sizes) == 205
    assert sizes[:8] == [16] * 8  # just under half a second each
    assert max(sizes[8:]) <= 16
    assert sizes[-5:] == [1] * 5
    pace.done(long)
    assert pace.waiting == 204


# Extending ----------------------------------------------------------------------------------------


def test_learners_problems_and_horizons_can_be_added(tmp_path):
    small = Experiment({"one": ONE}, ["thompson"], 60, 3)
    run(small, tmp_path / "out")
    before = {path: path.read_bytes() for path in (tmp_path / "out" / "cells").rglob("*.json")}
    notes = Notes()
    large = Experiment({"one": ONE, "drawn": DRAWN}, ["ucb1", "thompson"], [100, 60], 4)
    run(large, tmp_path / "out", watcher=notes)
    assert notes.steps[0] == (3, 32)
    assert notes.notices == ["3 of 32 runs are there already and are kept."]
    assert all(path.read_bytes() == data for path, data in before.items())
    run(large, tmp_path / "at once")
    assert kept(tmp_path / "out") == kept(tmp_path / "at once")


def test_a_problem_may_not_change_its_place(tmp_path):
    run(Experiment({"one": ONE}, ["thompson"], 60, 1), tmp_path)
    with pytest.raises(ProblemError, match=r"problems\[0\]"):
        run(Experiment({"drawn": DRAWN, "one": ONE}, ["thompson"], 60, 1), tmp_path)


def test_a_learner_that_changed_is_run_again_and_others_are_kept(tmp_path):
    (tmp_path / "mine.py").write_text("from mortal import thompson_twin as build\n")
    first = Participant("mine:build", "mine", folders=[tmp_path])
    run(Experiment({"one": ONE}, ["thompson", first], 60, 2), tmp_path / "out")
    (tmp_path / "mine.py").write_text("from mortal import thompson_twin as build  # mended\n")
    notes = Notes()
    run(Experiment({"one": ONE}, ["thompson", first], 60, 2), tmp_path / "out", watcher=notes)
    assert "mine has changed: its 2 runs are run again." in notes.notices
    assert notes.steps[0] == (2, 4)


# Python objects as learners -----------------------------------------------------------------------


class ByName(mortal.Alternating):
    """A class that asks for what it needs by name."""


def by_position(b, steps, chance, luck, stubborn=False):
    return mortal.thompson_twin(b, steps, chance, luck)


def test_classes_functions_and_learners_take_part(tmp_path):
    parts = [ByName, by_position, mortal.Alternating(2), "thompson"]
    results = run(Experiment({"one": ONE}, parts, 60, 2), tmp_path / "out")
    assert results.learners == ("ByName", "by_position", "Alternating", "thompson")
    assert results.complete
    same = results.curves("one", "ByName", 60), results.curves("one", "Alternating", 60)
    np.testing.assert_array_equal(same[0].regret, same[1].regret)
    notes = Notes()
    run(Experiment({"one": ONE}, parts, 60, 2), tmp_path / "out", watcher=notes)
    assert not notes.steps  # all of it is there


def patient(states, ages):
    return 0 if ages[0] > 2 else 1


def test_policies_take_part_under_their_own_names(tmp_path):
    follower = FollowPolicy(FunctionPolicy(patient, ONE.n_states))
    parts = [FunctionPolicy(patient, ONE.n_states), InTurn(2), Participant.of(follower, "same")]
    results = run(Experiment({"one": ONE}, parts, 60, 2), tmp_path / "out")
    assert results.learners == ("patient", "InTurn", "same")
    own, same = (results.curves("one", label, 60) for label in ("patient", "same"))
    np.testing.assert_array_equal(own.regret, same.regret)
    assert run(Experiment({"one": ONE}, InTurn(2), 60, 1), tmp_path / "one").complete


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: restive.compare([ONE], ["ucb1"]), "directory: not a path .*Give the path"),
        (lambda: restive.compare([ONE], "d", rng=3), r"rng: .*found 3.* Write seed: "),
        (lambda: restive.Experiment([ONE], rng=3), r"rng: .*found 3.* Write seed: "),
        (lambda: restive.compare([ONE], "d", horizon=3), r"Did you mean horizons\? An exp"),
        (lambda: restive.Experiment([ONE], run=3, rnd=1), r"(?s)run: no such field.*rnd: no such"),
        (lambda: Participant(mortal.Alternating(2)), r"name: not a name .*Participant\.of"),
        (lambda: Experiment([ONE], [object()]), r"learners\[0\]: not a learner .*a learner or a p"),
    ],
)
def test_what_is_no_learner_path_or_seed_is_answered_in_words(call, words):
    with pytest.raises(ProblemError, match=words):
        call()


def test_objects_travel_to_other_processes(tmp_path):
    results = run(Experiment({"one": ONE}, [ByName], 60, 3), tmp_path / "two", workers=2)
    alone = run(Experiment({"one": ONE}, [ByName], 60, 3), tmp_path / "one", workers=1)
    place = ("one", "ByName", 60)
    np.testing.assert_array_equal(results.curves(*place).regret, alone.curves(*place).regret)


def test_statistics_read_back_are_those_that_were_computed(small):
    from restive.experiments.bands import CENTRES, REGRETS, Bands
    from restive.experiments.summary import summarize
    from restive.experiments.tables import read_statistics

    _, where, _ = small
    results = load_results(where, partial=True)
    summary, bands = read_statistics(results, where)
    assert summary.to_dict() == summarize(results).to_dict()
    fresh = Bands(results)
    for place, regret, centre in product(results.finished, REGRETS, CENTRES):
        old, new = bands.of(place, regret, centre), fresh.of(place, regret, centre)
        np.testing.assert_allclose(old.centre, new.centre, rtol=1e-8)
        np.testing.assert_allclose(old.lower, new.lower, rtol=1e-8)
        assert old.known == new.known


def ranks(where):
    from restive.experiments.tables import read_statistics

    statistics = read_statistics(load_results(where, partial=True), where)
    return [entry.rank for entry in statistics.summary.entries]


def test_statistics_that_were_touched_or_are_of_other_runs_do_not_count(small, tmp_path):
    import json
    import shutil
    from hashlib import sha256

    from restive.base.documents import canonical_json

    _, where, _ = small
    copy = tmp_path / "copy"
    shutil.copytree(where, copy)
    content = json.loads((copy / "summary.json").read_text())
    for entry in content["entries"]:
        entry["rank"] = 7
    (copy / "summary.json").write_bytes(canonical_json(content))
    assert 7 not in ranks(copy)  # the checksum is not that of the ranks
    body = {key: value for key, value in content.items() if key != "sha256"}
    content["sha256"] = sha256(canonical_json(body)).hexdigest()
    (copy / "summary.json").write_bytes(canonical_json(content))
    assert 7 in ranks(copy)  # it is read, and not computed again
    curves = (copy / "curves.csv").read_bytes()
    (copy / "curves.csv").write_bytes(curves[:-1])
    assert 7 not in ranks(copy)
    (copy / "curves.csv").write_bytes(curves)
    (copy / "cells/01-drawn/thompson/400-1.json").unlink()
    assert 7 not in ranks(copy)


def test_a_deeply_nested_log_or_cell_is_passed_over(small, tmp_path):
    import shutil

    _, where, _ = small
    shutil.copytree(where, tmp_path / "copy")
    deep = b"[" * 100_000
    with open(tmp_path / "copy" / "log.jsonl", "ab") as log:
        log.write(deep + b"\n")
    (tmp_path / "copy" / "cells/01-drawn/thompson/400-3.json").write_bytes(deep)
    results = load_results(tmp_path / "copy")
    assert results.curves("drawn", "thompson", 400) is None
    assert results.curves("one", "thompson", 400) is not None
    (tmp_path / "copy" / "experiment.json").write_bytes(deep)
    with pytest.raises(ProblemError, match="not an experiment's description"):
        load_results(tmp_path / "copy")


MISSHAPEN = {
    "runs": [0, 2.0, True, "2", 10**7],
    "seed": [-1, 2**129, None],
    "delta": [0, 1, "0.05", None],
    "horizons": [[], None, 400, [400, 400]],
    "horizons[0]": [[0], [4.0], [10**13]],
    "versions": [None, ["1"]],
    "versions.numpy": [{"numpy": 2}],
    "problems": [[], None],
    "learners": [[], {}],
}


@pytest.mark.parametrize("place", MISSHAPEN)
def test_a_damaged_description_is_refused_with_the_place(place, small, tmp_path):
    description = json.loads((small[1] / "experiment.json").read_text())
    for value in MISSHAPEN[place]:
        wrong = {**description, place.partition("[")[0].partition(".")[0]: value}
        (tmp_path / "experiment.json").write_text(json.dumps(wrong))
        with pytest.raises(ProblemError) as caught:
            load_results(tmp_path)
        assert [f.path for f in caught.value.faults] == [f"{tmp_path / 'experiment.json'}: {place}"]


ROWS = [
    ("problems", {"name": " "}, "problems[0].name"),
    ("problems", {"name": "\ud800"}, "problems[0].name"),
    ("problems", {"sha256": 3}, "problems[0].sha256"),
    ("problems", {"problem": []}, "problems[0].problem"),
    ("learners", {"label": None}, "learners[0].label"),
    ("learners", {"name": 3}, "learners[0].name"),
    ("learners", {"options": None}, "learners[0].options"),
    ("learners", {"sha256": 3}, "learners[0].sha256"),
]


@pytest.mark.parametrize(("key", "change", "place"), ROWS)
def test_damaged_rows_of_a_description_are_refused_with_the_place(
    key, change, place, small, tmp_path
):
    description = json.loads((small[1] / "experiment.json").read_text())
    first, *others = description[key]
    for rows, where in (
        ([first | change, *others], place),
        ([first, first], key),
        ([3], f"{key}[0]"),
    ):
        (tmp_path / "experiment.json").write_text(json.dumps({**description, key: rows}))
        with pytest.raises(ProblemError) as caught:
            load_results(tmp_path)
        assert [f.path for f in caught.value.faults] == [f"{tmp_path / 'experiment.json'}: {where}"]


def test_comparisons_that_never_end_or_never_fit_are_refused_before_they_begin():
    def refused(**options):
        with pytest.raises(ProblemError) as caught:
            Experiment(["example-1"], **options)
        return [(fault.path, fault.message) for fault in caught.value.faults]

    many = "runs", "too many to keep"
    long = "horizons", "too long: even the quickest learner would take years"
    assert refused(learners=["ucb1", "thompson"], runs=10**6, horizons=10) == [many]
    assert refused(learners=["ucb1"], runs=1001, horizons=10**12) == [long]
    assert refused(learners=["ucb1", "thompson"], runs=10**6, horizons=10**10) == [many, long]
    largest = Experiment(["example-1"], ["ucb1"], 10**9, runs=10**6)
    assert largest.cells == 10**6
