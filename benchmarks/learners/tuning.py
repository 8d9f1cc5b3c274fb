"""``python -m benchmarks.learners.tuning``: the same small search for every learner with constants.

Each learner gets SETTINGS settings; each plays the same drawn problems, RUNS times, and the one
with the least geometric mean of gap regret wins. The problems are drawn from ``kinds`` with a seed
of their own; the benchmark draws others. With --write the outcome goes to tuning.json in
docs/benchmarks, whose best settings are the constants of the forms called tuned. Most grids
of which an end came out best were moved once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learners.kinds import MANY, draws
from restive.experiments import Experiment, Participant, Results
from restive.learners import LEARNERS

__all__ = ["GRIDS", "RUNS", "SEED", "SETTINGS", "STEPS", "chosen", "label", "problems", "scores"]

DOCS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
SEED = 20_261_116
SETTINGS, RUNS, STEPS = 6, 2, 5_000
WITHOUT = ("five states", "identical", "small gaps", "five or six", MANY)  # they take longest
LEAST = 1.0  # added to every mean, so that problems where nothing is lost do not decide

Grid = Sequence[Mapping[str, Any]]


def _each(name: str, *values: Any) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


_PRIORS = _each("prior", 0.1, 0.2, 0.35, 0.5, 1.0, 2.0)
_SHARES = _each("share", 0.1, 0.3, 0.6, 1.0, 1.5, 2.5)
_WIDTHS = _each("width", 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_RATES = _each("rate", 0.3, 1.0, 2.0, 4.0, 8.0, 16.0)

GRIDS: dict[str, Grid] = {
    "tied-sampling": [
        {"growth": growth, "aggregation": aggregation}
        for growth in (0.01, 0.02, 0.05) for aggregation in (0.02, 0.05)
    ],
    "colored-ucrl2-tuned": _WIDTHS,
    "ala": _each("exploration", 0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
    "tsde": _PRIORS,
    "policy-sampling": _PRIORS,
    "whittle-sampling": _PRIORS,
    "explore-then-plan": _SHARES,
    "explore-then-whittle": _SHARES,
    "restless-ucb": [
        {"samples": samples, "width": width}
        for samples in (0.02, 0.1, 0.4) for width in (0.1, 0.5)
    ],
    "tiling": [
        {"width": width, "frontier": frontier}
        for width in (0.3, 0.6, 1.0) for frontier in (0.5, 1.0)
    ],
    "exp3": _RATES,
    "exp3.s": _RATES,
    "kl-ucb": _each("c", 0.0, 0.5, 1.0, 2.0, 3.0, 5.0),
    "sw-ucb": _each("window", 100, 200, 500, 1_000, 2_000, 5_000),
    "cooldown": _each("rest", 1, 2, 5, 10, 20, 50),
    "rca": _each("exploration", 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    "dsee": _each("rate", 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
    "rucb": [
        {"rate": rate, "exploration": exploration}
        for rate in (3.0, 30.0, 100.0) for exploration in (0.1, 1.0)
    ],
    "asr": [
        {"exploration": exploration, "gap": 0.05, "epsilon": 0.00125, "floor": floor}
        for exploration in (0.0003, 0.003) for floor in (3.0, 10.0, 30.0)
    ],
}  # fmt: skip


def problems() -> dict[str, Any]:
    """Those that constants are tuned on: one draw of every kind but a few."""
    return draws(SEED, 1, without=WITHOUT)


def experiment(name: str) -> Experiment:
    """Every setting of a learner on every problem."""
    entrants = [Participant(name, label(name, options), options) for options in GRIDS[name]]
    return Experiment(problems(), entrants, [STEPS], RUNS, seed=SEED)


def label(name: str, options: Mapping[str, Any]) -> str:
    """Of one setting."""
    return " ".join([name, *(f"{key}={value:g}" for key, value in options.items())])


def scores(results: Results, name: str, grid: Grid) -> list[dict[str, Any]]:
    """Each setting with its geometric mean of gap regret, over the problems that all can play."""
    losses = [_losses(results, label(name, options)) for options in grid]
    shared = [p for p in results.problems if all(p in loss for loss in losses)]
    return [
        {"options": dict(options), "problems": len(shared),
         "score": float(np.exp(np.mean([np.log(loss[p] + LEAST) for p in shared])))}
        for options, loss in zip(grid, losses, strict=True)
    ]  # fmt: skip


def _losses(results: Results, label: str) -> dict[str, float]:
    """Mean gap regret on every problem that the learner could play."""
    ends = {
        problem: np.asarray(curves.gap_regret)[:, -1].mean()
        for problem in results.problems
        if (curves := results.finished.get((problem, label, STEPS))) is not None
    }
    return {problem: float(end) for problem, end in ends.items() if np.isfinite(end)}


def chosen(record: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The best setting of every learner."""
    return {name: entry["best"] for name, entry in record["learners"].items()}


def _record(names: Sequence[str], store: Path) -> dict[str, Any]:
    """All searches, each in a directory of its own."""
    learners = {}
    for name in names:
        tried = scores(experiment(name).run(store / name, workers=1), name, GRIDS[name])
        best = min(tried, key=lambda setting: float(setting["score"]))
        learners[name] = {"best": best["options"], "score": best["score"], "settings": tried}
    return {"seed": SEED, "steps": STEPS, "runs": RUNS, "settings": SETTINGS,
            "problems": list(problems()), "learners": learners}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learners.tuning")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/tuning.json")
    parser.add_argument("--learners", default=",".join(GRIDS), help="names, separated by commas")
    parser.add_argument("--store", type=Path, default=Path(".benchmarks/tuning"),
                        help="finished runs are kept here and not run again")  # fmt: skip
    options = parser.parse_args()
    names = options.learners.split(",")
    options.store.mkdir(parents=True, exist_ok=True)
    record = _record(names, options.store)
    for name, best in chosen(record).items():
        print(f"{name}: {best} (now {_defaults(name)})")
    if options.write:
        text = json.dumps(record, indent=1)
        (DOCS / "tuning.json").write_text(text + "\n", "utf-8")
    return 0


def _defaults(name: str) -> dict[str, Any]:
    entry = LEARNERS.get(f"{name}-tuned", LEARNERS[name])
    return {
        option.name: option.default for option in entry.options if option.name in GRIDS[name][0]
    }


if __name__ == "__main__":
    raise SystemExit(main())
