"""``python -m benchmarks.learners``: play, compare, print; with --write a page and a figure."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.learners.cells import Cell, run_cells
from benchmarks.learners.compare import summary
from benchmarks.learners.page import draw, page, printed
from benchmarks.learners.suite import suite
from restive.learners import LEARNERS

DOCS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
# no rivals, or extensions of one that is there: not told what it is told, they lose more
SKIPPED = ("optimal", "round-robin", "colored-ucrl2-unknown", "colored-ucrl2-keeping")


def main() -> int:
    options = _options()
    learners = options.learners.split(",") if options.learners else _default_learners()
    horizons = [1_000] if options.quick else [10_000, 100_000]
    seeds = 2 if options.quick else options.seeds
    problems = list(suite())[:3] if options.quick else list(suite())
    cells = [
        Cell(problem, learner, horizon, seed)
        for horizon in horizons
        for problem in problems
        for learner in learners
        for seed in range(seeds)
    ]
    store = options.store
    if options.quick:
        store = store.with_name("quick.jsonl")
        store.unlink(missing_ok=True)
    results = run_cells(cells, store, options.workers)
    wanted = {cell.key for cell in cells}
    found = summary({key: results[key] for key in results if key in wanted}, horizons)
    print(printed(found, horizons))
    if options.write:
        DOCS.mkdir(parents=True, exist_ok=True)
        (DOCS / "learners.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        (DOCS / "learners.md").write_text(page(found, horizons), "utf-8")
        draw(found, horizons[-1], DOCS / "learners.svg")
    return 0


def _default_learners() -> list[str]:
    return [name for name in LEARNERS if name not in SKIPPED]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learners", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few short runs, for CI")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/learners.*")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--learners", default="", help="names, separated by commas (default: all)")
    parser.add_argument("--store", type=Path, default=Path(".benchmarks/learners.jsonl"),
                        help="finished runs are kept here and not run again")  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
