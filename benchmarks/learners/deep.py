"""``python -m benchmarks.learners.deep``: constants for the deep Q-network of the benchmark.

It has the search of all others (``tuning``), on the same problems. With --write the outcome goes to
docs/benchmarks/deep.json, whose best setting plays in the comparison as ``dqn``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.learners import tuning
from benchmarks.learners.deep_q import DeepQ
from restive.experiments import Experiment, Participant

__all__ = ["DEEP", "GRID", "NAME", "entrant"]

NAME = "dqn"
DEEP = tuning.DOCS / "deep.json"
GRID = [
    {"discount": discount, "rate": rate}
    for discount in (0.9, 0.95, 0.98) for rate in (1e-3, 3e-3)
]  # fmt: skip


def entrant() -> Participant:
    """The network with the best setting of its search."""
    return Participant.of(DeepQ, NAME, **json.loads(DEEP.read_text("utf-8"))["best"])


def searched(store: Path) -> dict[str, Any]:
    """Every setting with its score, as for the other learners, and the best."""
    entrants = [Participant.of(DeepQ, tuning.label(NAME, own), **own) for own in GRID]
    search = Experiment(tuning.problems(), entrants, [tuning.STEPS], tuning.RUNS, seed=tuning.SEED)
    tried = tuning.scores(search.run(store, workers=1), NAME, GRID)
    best: Mapping[str, Any] = min(tried, key=lambda setting: float(setting["score"]))
    return {"best": best["options"], "score": best["score"], "settings": tried}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learners.deep")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/deep.json")
    parser.add_argument("--store", type=Path, default=Path(".benchmarks/deep"),
                        help="finished runs are kept here and not run again")  # fmt: skip
    options = parser.parse_args()
    options.store.parent.mkdir(parents=True, exist_ok=True)
    record = searched(options.store)
    text = json.dumps(record, indent=1)
    print(text)
    if options.write:
        DEEP.write_text(text + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
