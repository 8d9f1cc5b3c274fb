"""What ``import restive`` offers, what the documents use of it, and how results show themselves."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import restive
import synthetic_results
from restive import BanditWorld, InTurn, play, problems
from restive.many.lagrangian import lagrangian_bound
from restive.many.policies import myopic, round_robin
from restive.many.population import Population
from restive.many.whittle import whittle_table
from restive.simulation import ChangingWorld, TraceWorld, play_trace

HOME = Path(__file__).parent.parent
DOCUMENTS = [HOME / "README.md", *sorted((HOME / "docs").rglob("*.md"))]


def blocks(document):
    return re.findall(r"(?ms)^```python\n(.*?)^```", document.read_text("utf-8"))


def resolve(path):
    """What a dotted name stands for: modules as far as they go, then attributes."""
    words = path.split(".")
    value = import_module(words[0])
    for k, word in enumerate(words[1:], 2):
        try:
            value = getattr(value, word)
        except AttributeError:
            value = import_module(".".join(words[:k]))
    return value


def names(tree):
    """Names of restive that a program imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "restive":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.split(".")[0] == "restive")


def test_everything_offered_is_there():
    assert set(dir(restive)) == set(restive.__all__)
    for name in restive.__all__:
        assert getattr(restive, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        restive.nothing  # noqa: B018


def test_import_is_light():
    code = "import sys, restive; assert not {'numpy', 'numba', 'pydantic'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_documents_name_what_exists(document):
    """Imports in programs, and names such as `restive.planning.plan` in sentences."""
    text = document.read_text("utf-8")
    sentences = re.findall(r"`(restive(?:\.[a-z_]+)+)\b(?!-)", text)
    used = [name for block in blocks(document) for name in names(ast.parse(block))]
    for name in [*used, *sentences]:
        assert resolve(name) is not None


@pytest.mark.parametrize(
    "name", ["README.md", "docs/suites.md", "docs/problem-files.md", "docs/data.md"]
)
def test_programs_in_documents_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("radio.toml").write_text(restive.dump_problem(problems.example1()))
    scope = {}
    programs = blocks(HOME / name)
    assert programs
    for program in programs:
        exec(program, scope)


def test_one_word_for_randomness():
    """Seeds that files keep, of an experiment or a recorded world, are numbers; else ``rng``."""
    kept = {"Experiment", "Participant", "RecordedWorld", "Results", "compare"}
    for name in set(restive.__all__) - kept:
        offered = getattr(restive, name)
        if isinstance(offered, type) and issubclass(offered, Exception):
            continue
        if inspect.isfunction(offered) or inspect.isclass(offered):
            words = inspect.signature(offered).parameters.keys()
            assert not words & {"seed", "random_state", "generator"}, name


@pytest.fixture(scope="module")
def run():
    bandit = problems.example1()
    return play(InTurn(2), BanditWorld(bandit, 1), 1000, plan=restive.plan(bandit))


def test_a_run_tells_its_result(run):
    title, *facts = repr(run).splitlines()
    assert title == "Run of policy on Example 1, epsilon = 0.1, 1,000 steps"
    told = dict(line.strip().split(": ") for line in facts)
    assert told["earned per step"] == f"{run.total_reward / 1000:.4f}"
    assert (told["best policy"], told["best arm alone"]) == ("0.7000", "0.5000")
    assert told["gap regret"] == f"{run.gap_regret[-1]:,.1f}"
    assert len(facts) <= 8
    assert all(len(line) <= 80 for line in facts)
    assert f"<td>{told['weak regret']}</td>" in run._repr_html_()


def test_a_run_says_what_it_does_not_know():
    run = play(InTurn(2), BanditWorld(problems.example1(), 1), 10)
    assert (
        "  regret: unknown, no plan was given: play(..., plan=plan(bandit)) computes it\n"
        in repr(run)
    )
    assert list(run.table().columns) == ["times", "rewards", "weak_regret"]


def test_a_run_is_a_table_and_a_picture(run, tmp_path):
    table = run.table()
    assert table.columns["times"][-1] == 1000
    assert table.columns["regret"] == run.regret.tolist()
    assert set(run.to_dict()) >= set(table.columns)
    assert "picture" not in run.to_dict()
    pytest.importorskip("matplotlib")
    run.plot(tmp_path / "regret.svg")
    assert "svg" in (tmp_path / "regret.svg").read_text()[:400]


def test_a_plan_shows_and_draws_itself(tmp_path):
    plan = restive.plan(problems.example1())
    assert repr(plan).startswith("Plan of Example 1, epsilon = 0.1\n  best average reward: 0.7,")
    assert "<caption>Plan of Example 1" in plan._repr_html_()
    pytest.importorskip("matplotlib")
    plan.plot(tmp_path / "policy.svg")
    assert "svg" in (tmp_path / "policy.svg").read_text()[:400]


def test_notebooks_show_tables_with_pictures(run, monkeypatch):
    from restive.base import pictured

    pytest.importorskip("matplotlib")
    for result in (run, restive.plan(problems.example1())):
        picture = result.plot()
        assert picture._repr_svg_().startswith("<svg")
        assert repr(picture).startswith("Picture(svg of ")
        table, _, drawn = result._repr_html_().partition("</table>")
        assert table.startswith("<table>")
        assert drawn.startswith("<svg")
        assert drawn.rstrip().endswith("</svg>")
        head = drawn.partition(">")[0]  # as wide as the cell, and not wider than it was made for
        assert "viewBox" in head
        assert re.search(r'style="width: 100%; max-width: [\d.]+pt; height: auto"', head)
        assert " height=" not in head
    with monkeypatch.context() as patch:
        patch.setattr(type(run), "plot", lambda self: pytest.fail("drawn twice"))
        assert run._repr_html_() == run._repr_html_()
        assert "<svg" in run._repr_html_()
    with monkeypatch.context() as patch:
        patch.setattr(pictured, "LARGEST", 10)
        assert run._repr_html_().endswith("</table>")
    monkeypatch.setattr(pictured, "find_spec", lambda name: None)
    assert run._repr_html_().endswith("</table>")
    assert "<td>" in run._repr_html_()


def test_what_is_large_shows_in_a_few_lines():
    """A thousand arms, thousands of ages: their size, not their numbers."""
    arm = restive.Arm([[0.999, 0.001], [0.002, 0.998]], [0, 1])
    arms = [restive.Arm([[0.9, 0.1], [0.2, 0.8]], [0, 1], name=f"c{k}") for k in range(1000)]
    bandit, population = restive.Bandit(arms), Population.of(arms)
    policy = myopic(population)
    large = [bandit, population, policy, policy.tables[0], whittle_table(arm)]
    large += [round_robin(population), lagrangian_bound(arms[:50]), restive.forecast(bandit)]
    for result in large:
        assert len(repr(result)) < 900, type(result).__name__
        assert repr(result).count("\n") < 12
    assert "... 999 more" in repr(bandit)
    assert re.search(r"about \de\d{3,} information states", repr(large[-1]))  # no float holds it
    reason = restive.plan_within(bandit, 1.0).reason
    assert re.fullmatch(r"a plan takes more than \S+ information states", reason)


def test_results_and_policies_show_in_a_line():
    results = synthetic_results.results(
        {"one": problems.example1(0.1)}, ("b", "a"), (100,), runs=8, points=200
    )
    shown = [results.summary, results.curves("one", "a", 100), restive.LEARNERS]
    shown += [restive.plan(problems.example1()).parameters, restive.Always(3, 1), InTurn(2)]
    for value in shown:
        assert len(repr(value)) < 1200, type(value).__name__
        assert "\n" not in repr(value)
        assert " object at 0x" not in repr(value)
    assert repr(InTurn(2)) == "InTurn(n_arms=2)"
    assert "entries=(2 rows)" in repr(results.summary)


def test_worlds_walks_and_experiments_show_in_a_line():
    bandit = problems.example1(0.1)
    world = BanditWorld(bandit, 7)
    states, rewards = next(world.blocks(50))
    walk = world.walk()
    walk.step([0])
    mdp = restive.StructuredMDP(np.zeros((2, 1), dtype=int), np.zeros((2, 1, 1), dtype=int))
    acting = restive.StructuredWorld(mdp, np.ones((1, 1)), [0.5])
    trace = TraceWorld(states, rewards)
    changing = ChangingWorld([(0, bandit), (9, bandit)], 7)
    recorded = restive.RecordedWorld(states, rewards, bandit)
    experiment = restive.Experiment({"one": bandit}, ["ucb1"], runs=3)
    shown = [recorded, trace, trace.walk(), play_trace(InTurn(2), trace)]
    for value in [*shown, mdp, acting, acting.walk()]:
        assert " object at 0x" not in repr(value)
        assert len(repr(value)) < 500
        assert "\n" not in repr(value)
    assert repr(world) == "BanditWorld(bandit='Example 1, epsilon = 0.1', n_arms=2, seed=7)"
    assert repr(walk) == "PathWalk(n_arms=2, steps=1)"
    assert repr(changing).endswith("changes_at=[9], seed=7)")
    assert repr(trace).startswith("TraceWorld(states=array of 2 x 50")
    assert repr(experiment) == (
        "Experiment(problems=['one'], learners=['ucb1'], horizons=(100000,), runs=3, seed=0)"
    )


def test_what_is_small_shows_its_numbers():
    shown = repr(problems.example1(0.1))
    assert shown.startswith("Bandit(arms=(Arm(transitions=array([[0.9, 0.1],")
    assert "more" not in shown


def test_learners_show_their_settings():
    bandit = problems.example1(0.1)
    shown = {name: repr(restive.make_learner(name, bandit, 1000)) for name in restive.LEARNERS}
    assert shown["exp3"] == "Exp3(n_arms=2, horizon=1000, rate=1.0)"
    assert shown["optimal"] == "Optimal(n_arms=2, tolerance=1e-06)"  # and not the whole bandit
    assert max(map(len, shown.values())) < 250
