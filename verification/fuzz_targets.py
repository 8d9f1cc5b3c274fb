"""Kinds of files that are fuzzed: seeds, mutants, how restive reads one, and who judges it."""

from __future__ import annotations

import io
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from verification.mutants import (
    mutated_bytes,
    mutated_document,
    mutated_text,
    mutated_zip,
    signed_cell,
)
from verification.validators import (
    valid_data,
    valid_experiment,
    valid_problem,
    valid_results,
    valid_snapshot,
)

__all__ = ["TARGETS", "Target"]

Mutate = Callable[[Path, random.Random], Path]  # writes a mutant into the folder, says where


@dataclass(frozen=True)
class Target:
    """A kind of file: how to spoil one, how restive reads it, and whether it was right to."""

    name: str
    mutate: Mutate
    read: Callable[[Path], Any]
    valid: Callable[[Path, Any], bool]


ROWS = [[0.9, 0.1], [0.2, 0.8]]
UNITS: dict[str, Any] = {  # every key that a problem file may have
    "name": "units",
    "pulls": 2,
    "reward_range": [-5, 20],
    "arms": [
        {"name": name, "states": ["off", "on"], "transitions": ROWS, "rewards": [-1.5, 20],
         "reward_noise": "none", "initial": start, "group": "pair"}
        for name, start in (("a", "on"), ("b", [0.5, 0.5]))
    ] + [{"transitions": ROWS, "rewards": [0, 1]}],
}  # fmt: skip


def _problems(room: Path) -> Target:
    from restive.model.bandit import Bandit
    from restive.model.files import dump_problem, load_problem, parse_problem
    from restive.problems import build

    known: list[Bandit] = [build(name) for name in ("example-1", "example-3", "example-4")]
    known.append(parse_problem(json.dumps(UNITS), "json"))
    seeds = [(dump_problem(bandit, "toml"), "toml") for bandit in known]
    seeds += [(dump_problem(bandit, "json"), "json") for bandit in known]

    def mutate(folder: Path, rng: random.Random) -> Path:
        text, form = rng.choice(seeds)
        data = mutated_text(text.encode(), rng)
        if form == "json" and rng.random() < 0.6:
            data = json.dumps(mutated_document(json.loads(text), rng)).encode("utf-8", "replace")
        path = folder / f"problem.{form}"
        path.write_bytes(data)
        return path

    return Target("problems", mutate, load_problem, valid_problem)


EXPERIMENT: dict[str, Any] = {
    "problems": ["example-1", {"gallery": "random", "parameters": {"n_arms": 3, "n_states": 2}}],
    "learners": ["thompson", {"name": "ucb1", "label": "upper"}],
    "horizons": [100, "1e3"],
    "runs": 3,
    "seed": 5,
    "delta": 0.05,
}
EXPERIMENT_TOML = b"""problems = ["example-1", { gallery = "example-1", name = "other" }]
learners = ["thompson", { name = "ucb1", label = "upper" }]
horizons = [100, 1e3]
runs = 3
seed = 5
delta = 0.05
"""


def _experiments(room: Path) -> Target:
    from restive.experiments.experiment import load_experiment

    def mutate(folder: Path, rng: random.Random) -> Path:
        if rng.random() < 0.5:
            path, data = folder / "experiment.toml", mutated_text(EXPERIMENT_TOML, rng)
        else:
            document = mutated_document(EXPERIMENT, rng)
            path, data = folder / "experiment.json", json.dumps(document).encode()
        path.write_bytes(data)
        return path

    return Target("experiments", mutate, load_experiment, valid_experiment)


TRACE_EXPERIMENT: dict[str, Any] = {
    "problems": [
        "wide.csv",
        {"trace": ["long.csv"], "name": "long", "arm": "arm", "time": "time", "state": "state",
         "reward": "reward", "tick": 1.0, "break_after": 40},
        {"trace": "wide.csv", "name": "renamed", "arms": ["a", "b"], "labels": ["low", "high"],
         "rewards": {"low": 0.0, "high": 1.0}},
    ],
    "learners": ["thompson", {"name": "cooldown", "label": "cool"}],
    "horizons": [10],
    "runs": 3,
    "seed": 5,
}  # fmt: skip


def _trace_experiments(room: Path) -> Target:
    """An experiment on data: either its file is spoilt or the data."""
    from restive.experiments.experiment import load_experiment

    tables = {name: content for name, content in _tables().items() if name.endswith(".csv")}

    def mutate(folder: Path, rng: random.Random) -> Path:
        spoilt = rng.choice([*tables, "", ""])
        for name, content in tables.items():
            data = mutated_text(content, rng) if name == spoilt else content
            (folder / name).write_bytes(data)
        document = TRACE_EXPERIMENT if spoilt else mutated_document(TRACE_EXPERIMENT, rng)
        path = folder / "experiment.json"
        path.write_bytes(json.dumps(document).encode("utf-8", "replace"))
        return path

    for name, content in tables.items():  # imports and compiles before memory is limited
        (room / name).write_bytes(content)
    (room / "experiment.json").write_text(json.dumps(TRACE_EXPERIMENT), "utf-8")
    load_experiment(room / "experiment.json")
    return Target("trace-experiments", mutate, load_experiment, valid_experiment)


def _data(room: Path) -> Target:
    """Tables as ``restive fit`` and ``restive replay`` read them."""
    from restive.data.fitting import fit
    from restive.data.reading import read_traces
    from restive.data.replay import trace_world

    tables = _tables()

    def mutate(folder: Path, rng: random.Random) -> Path:
        name = rng.choice(list(tables))
        spoil = mutated_bytes if name.endswith(".parquet") else mutated_text
        path = folder / name
        path.write_bytes(spoil(tables[name], rng))
        return path

    def read(path: Path) -> Any:
        traces = read_traces(path)
        fit(traces)
        trace_world(traces)
        return traces

    for name, content in tables.items():  # imports and compiles before memory is limited
        (room / name).write_bytes(content)
        read(room / name)
    return Target("data", mutate, read, valid_data)


def _tables() -> dict[str, bytes]:
    """Small tables of all forms and layouts, by file name."""
    rng = random.Random(0)
    steps = [
        {"time": t, "arm": arm, "state": rng.randrange(2), "reward": rng.randrange(2)}
        for t in range(60) for arm in ("x", "y") if rng.random() < 0.8
    ]  # fmt: skip
    wide = [{"a": rng.randrange(2), "b": rng.randrange(2)} for _ in range(60)]
    lines = "".join(json.dumps(row) + "\n" for row in steps)
    tables = {
        "long.csv": _separated(steps, ","),
        "wide.csv": _separated(wide, ","),
        "long.tsv": _separated(steps, "\t"),
        "long.jsonl": lines.encode(),
    }
    if find_spec("pyarrow") is not None:
        import pyarrow
        from pyarrow import parquet

        buffer = io.BytesIO()
        parquet.write_table(pyarrow.Table.from_pylist(steps), buffer)
        tables["long.parquet"] = buffer.getvalue()
    return tables


def _separated(rows: list[dict[str, Any]], mark: str) -> bytes:
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    return "".join(mark.join(map(str, line)) + "\n" for line in lines).encode()


def _snapshots(room: Path) -> Target:
    from restive.learners import load_learner, make_learner
    from restive.problems import example1
    from restive.simulation import BanditWorld, play

    bandit = example1()
    seeds = []
    for name in ("thompson", "ucb1", "rca", "exp3", "round-robin", "tied-sampling",
                 "colored-ucrl2", "explore-then-plan", "whittle-sampling"):  # fmt: skip
        learner = make_learner(name, bandit, 200)
        play(learner, BanditWorld(bandit, 0), 100)
        learner.save(room / "seed.zip")
        load_learner(room / "seed.zip")  # imports and compiles before memory is limited
        seeds.append((room / "seed.zip").read_bytes())

    def mutate(folder: Path, rng: random.Random) -> Path:
        path = folder / "learner.zip"
        path.write_bytes(mutated_zip(rng.choice(seeds), rng))
        return path

    return Target("snapshots", mutate, load_learner, valid_snapshot)


def _results(room: Path) -> Target:
    from restive.experiments import compare
    from restive.experiments.reading import load_results
    from restive.experiments.tables import read_statistics
    from restive.report.comparison.markdown import experiment_markdown

    root = room / "comparison"
    compare(["example-1"], root, ["thompson", "ucb1", "best-arm"], 50, runs=3, workers=1)
    files = sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file())

    def mutate(folder: Path, rng: random.Random) -> Path:
        copy = folder / "comparison"
        shutil.copytree(root, copy)
        target = copy / rng.choice(files)
        data = target.read_bytes()
        if target.suffix != ".json" or rng.random() < 0.4:
            target.write_bytes(mutated_bytes(data, rng))
        elif target.parts[-4] == "cells":
            target.write_bytes(signed_cell(json.loads(data), rng))
        else:
            document = mutated_document(json.loads(data), rng)
            target.write_bytes(json.dumps(document).encode("utf-8", "replace"))
        return copy

    def read(path: Path) -> Any:
        results = load_results(path, partial=True)
        experiment_markdown(results, read_statistics(results, path).summary, {})
        return results

    read(root)
    return Target("results", mutate, read, valid_results)


TARGETS: dict[str, Callable[[Path], Target]] = {
    "problems": _problems,
    "experiments": _experiments,
    "trace-experiments": _trace_experiments,
    "data": _data,
    "snapshots": _snapshots,
    "results": _results,
}
