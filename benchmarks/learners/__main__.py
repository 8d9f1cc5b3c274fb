"""``python -m benchmarks.learners``: play, compare, print; with --write a page and a figure.

Finished runs are kept and not run again, so a long benchmark can be run in several parts.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from benchmarks.learners.compare import summary
from benchmarks.learners.figure import draw
from benchmarks.learners.page import page, printed
from benchmarks.learners.suite import PARTS, TUNING, entrants, problems, seed
from restive.experiments import Experiment, Results
from restive.experiments.progress import Watcher

DOCS = TUNING.parent
STEPS = 10_000


class Counter(Watcher):
    """One line that counts the runs."""

    def finished(self, done: int, total: int, seconds_left: float | None) -> None:
        print(f"\r{done} of {total} runs", end="" if done < total else "\n", flush=True)


def main() -> int:
    options = _options()
    if options.quick:
        options.store = options.store.with_name("quick")
        shutil.rmtree(options.store, ignore_errors=True)
    parts = [_run(options, part) for part in options.parts.split(",")]
    results = summary(parts)
    print(printed(results))
    if options.write:
        DOCS.mkdir(parents=True, exist_ok=True)
        tuning = json.loads(TUNING.read_text("utf-8"))
        (DOCS / "learners.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
        (DOCS / "learners.md").write_text(page(results, tuning), "utf-8")
        draw(results, DOCS / "learners.svg")
    return 0


def _run(options: argparse.Namespace, part: str) -> Results:
    """The runs of one part, in a directory of its own."""
    bandits, steps = problems(part), options.steps
    runs = options.seeds if part == "fast" else options.slow_seeds
    if options.quick:
        bandits, steps, runs = dict(list(bandits.items())[:2]), 300, 2
    store = options.store / part
    store.parent.mkdir(parents=True, exist_ok=True)
    experiment = Experiment(bandits, entrants(part), [steps], runs, seed=seed())
    return experiment.run(store, workers=options.workers, watcher=Counter())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learners", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few short runs, for CI")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/learners.*")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument(
        "--slow-seeds", type=int, default=1, help="of slow learners and large problems"
    )
    parser.add_argument("--parts", default=",".join(PARTS), help="these only, to print")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--store", type=Path, default=Path(".benchmarks/learners"),
                        help="finished runs are kept here and not run again")  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
