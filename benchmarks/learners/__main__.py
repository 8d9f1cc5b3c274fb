"""``python -m benchmarks.learners``: play, compare, print; with --write a page and a figure."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import numpy as np

from benchmarks.learners.compare import summary
from benchmarks.learners.page import draw, page, printed
from benchmarks.learners.suite import suite
from restive.experiments import Experiment, Participant, Results
from restive.experiments.progress import Watcher
from restive.learners import LEARNERS, Learner, make_learner
from restive.model.bandit import Bandit

DOCS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
# no rivals, or extensions of one that is there: not told what it is told, they lose more
SKIPPED = ("optimal", "round-robin", "colored-ucrl2-unknown", "colored-ucrl2-keeping")


class Counter(Watcher):
    """One line that counts the runs."""

    def finished(self, done: int, total: int, seconds_left: float | None) -> None:
        print(f"\r{done} of {total} runs", end="" if done < total else "\n", flush=True)


def tsde(bandit: Bandit, horizon: int, delta: float, rng: np.random.Generator) -> Learner:
    """tsde told a quarter of the mixing times.

    Fewer ages apart: fewer colors to learn and a thousand plans that take seconds, not minutes; it
    plays better with them, not worse.
    """
    times = [-(-arm.mixing_time() // 4) for arm in bandit.arms]
    return make_learner("tsde", bandit, horizon, delta, rng, mixing_times=times)


def main() -> int:
    options = _options()
    names = options.learners.split(",") if options.learners else _default_learners()
    horizons = [1_000] if options.quick else [10_000, 100_000]
    results = _run(options, names, horizons)
    numbers = summary(results)
    print(printed(numbers, horizons))
    if options.write:
        DOCS.mkdir(parents=True, exist_ok=True)
        (DOCS / "learners.json").write_text(json.dumps(numbers, indent=1) + "\n", "utf-8")
        (DOCS / "learners.md").write_text(page(numbers, horizons), "utf-8")
        draw(numbers, horizons[-1], DOCS / "learners.svg")
    return 0


def _run(options: argparse.Namespace, names: list[str], horizons: list[int]) -> Results:
    store = options.store
    problems = suite()
    if options.quick:
        store = store.with_name("quick")
        shutil.rmtree(store, ignore_errors=True)
        problems = dict(list(problems.items())[:3])
    learners = [Participant.of(tsde, "tsde") if name == "tsde" else name for name in names]
    experiment = Experiment(problems, learners, horizons, 2 if options.quick else options.seeds)
    store.parent.mkdir(parents=True, exist_ok=True)
    return experiment.run(store, workers=options.workers, watcher=Counter())


def _default_learners() -> list[str]:
    return [name for name in LEARNERS if name not in SKIPPED]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learners", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few short runs, for CI")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/learners.*")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--learners", default="", help="names, separated by commas (default: all)")
    parser.add_argument("--store", type=Path, default=Path(".benchmarks/learners"),
                        help="finished runs are kept here and not run again")  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
