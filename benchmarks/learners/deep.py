"""``python -m benchmarks.learners.deep``: a deep Q-network beside the learners of the page.

It has the search of all others (``tuning``), on the same problems, and then plays the problems of
the benchmark in the same worlds, beside rows of learners.json. With --write the outcome goes to
docs/benchmarks/deep.json as well.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learners import tuning
from benchmarks.learners.deep_q import DeepQ
from benchmarks.learners.suite import LARGEST, TUNING, kind_of, problems, seed
from restive.experiments import Experiment, Participant, Results

__all__ = ["DEEP", "GRID", "section"]

DOCS = TUNING.parent
DEEP = DOCS / "deep.json"
GRID = [
    {"discount": discount, "rate": rate}
    for discount in (0.9, 0.95, 0.98) for rate in (1e-3, 3e-3)
]  # fmt: skip
BESIDE = ("tied-sampling", "tsde", "best-arm")


def _entrant(options: Mapping[str, float]) -> Participant:
    words = [f"{key}={value:g}" for key, value in options.items()]
    return Participant.of(DeepQ, " ".join(["dqn", *words]), **options)


def _ends(results: Results) -> dict[tuple[str, str], float]:
    """Mean gap regret at the end, by problem and label."""
    return {
        (problem, label): float(np.asarray(curves.gap_regret)[:, -1].mean())
        for (problem, label, _), curves in results.finished.items()
    }


def _searched(store: Path) -> list[dict[str, Any]]:
    """Every setting with its score, as for the other learners."""
    entrants = [_entrant(options) for options in GRID]
    search = Experiment(tuning.problems(), entrants, [tuning.STEPS], tuning.RUNS, seed=tuning.SEED)
    ends = _ends(search.run(store / "search", workers=1))
    return [
        {"options": options, "score": float(np.exp(np.mean(
            [np.log(ends[problem, own.label] + tuning.LEAST) for problem in tuning.problems()])))}
        for options, own in zip(GRID, entrants, strict=True)
    ]  # fmt: skip


def _played(options: Mapping[str, float], store: Path, steps: int, runs: int) -> dict[str, float]:
    """Mean gap regret on every problem that has an exact plan."""
    bandits = {name: own for name, own in problems().items() if kind_of(name) not in LARGEST}
    test = Experiment(bandits, [_entrant(options)], [steps], runs, seed=seed())
    ends = _ends(test.run(store / "played", workers=1))
    return {problem: end for (problem, _), end in ends.items()}


def section(record: Mapping[str, Any], comparison: Mapping[str, Any]) -> str:
    """By kind, beside learners that played the same worlds."""
    rows = {(row["problem"], row["learner"]): row["mean"] for row in comparison["rows"]}
    lost: Mapping[str, float] = record["lost"]
    own, shared = record["best"], [p for p in lost if all((p, name) in rows for name in BESIDE)]
    lines = ["| kind | dqn | " + " | ".join(BESIDE) + " |", "|---|--:|" + "--:|" * len(BESIDE)]
    for kind in dict.fromkeys(map(kind_of, shared)):
        names = [p for p in shared if kind_of(p) == kind]
        cells = [np.mean([lost[p] for p in names])]
        cells += [np.mean([rows[p, name] for p in names]) for name in BESIDE]
        lines.append(f"| {kind} | " + " | ".join(f"{cell:.3g}" for cell in cells) + " |")
    ratio = np.exp(np.mean([np.log((rows[p, BESIDE[0]] + 1) / (lost[p] + 1)) for p in shared]))
    wins = sum(rows[p, BESIDE[0]] < lost[p] for p in shared)
    options = ", ".join(f"{key} = {value:g}" for key, value in own.items())
    words = (
        "An extra, and no learner of restive: a double deep Q-network of two hidden layers in "
        "NumPy (benchmarks/learners/deep_q.py), told the state spaces and T, that sees last states "
        f"and ages. It had the same search as the others, which chose {options}; the problems were "
        f"drawn before it was written. {record['runs']} runs of {record['steps']:,} steps on "
        f"{len(shared)} problems, one training step a pull. tied-sampling loses less on {wins} of "
        f"them, {ratio:.3g} times as much in the geometric mean."
    )
    return words + "\n\n" + "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learners.deep")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/deep.json")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--store", type=Path, default=Path(".benchmarks/deep"),
                        help="finished runs are kept here and not run again")  # fmt: skip
    options = parser.parse_args()
    options.store.mkdir(parents=True, exist_ok=True)
    tried = _searched(options.store)
    best = min(tried, key=lambda setting: float(setting["score"]))["options"]
    lost = _played(best, options.store, options.steps, options.seeds)
    record = {"steps": options.steps, "runs": options.seeds, "best": best, "settings": tried,
              "lost": lost}  # fmt: skip
    print(section(record, json.loads((DOCS / "learners.json").read_text("utf-8"))))
    if options.write:
        DEEP.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
