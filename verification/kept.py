"""Runs kept line by line in a file, so that a check can be stopped, resumed and lengthened."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

__all__ = ["kept_runs"]


def kept_runs(
    path: Path | None, name: str, run: Callable[[int], Any], seeds: Iterable[int]
) -> list[Any]:
    """``run`` for every seed, on all processors; plain values, in the order of the seeds.

    path: a file of JSON lines in which each run is kept under ``name`` as soon as it is done. What
    is there is not run again, so the file must be of the same code; the last line may be broken.
    """
    seeds = list(seeds)
    known = _known(path, name) if path else {}
    missing = [seed for seed in seeds if seed not in known]
    if path and path.exists() and missing and not path.read_bytes().endswith(b"\n"):
        path.write_bytes(path.read_bytes() + b"\n")
    calls = (delayed(run)(seed) for seed in missing)
    values = Parallel(n_jobs=-1, return_as="generator")(calls)
    for seed, value in zip(missing, values, strict=True):
        known[seed] = value
        if path:
            with open(path, "a", encoding="utf-8") as lines:
                lines.write(json.dumps({"name": name, "seed": seed, "value": value}) + "\n")
    return [known[seed] for seed in seeds]


def _known(path: Path, name: str) -> dict[int, Any]:
    known = {}
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:  # stopped in the middle of it
            continue
        if entry["name"] == name:
            known[entry["seed"]] = entry["value"]
    return known
