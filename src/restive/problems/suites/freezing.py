"""Freeze problems into a suite: one file each, and a manifest with hashes and certified gains."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from restive.base.writing import write_bytes
from restive.model.bandit import Bandit
from restive.model.files import dump_problem
from restive.planning import plan
from restive.problems.suites import MANIFEST, Listed

TOLERANCE = 1e-6
MANY_ARMS, COARSE_TOLERANCE = 4, 1e-5  # from so many arms on, so that checking stays quick


def freeze(
    folder: Path, citation: str, description: str, problems: Mapping[str, tuple[Bandit, str]]
) -> None:
    """Write a suite named like ``folder``; problems: name -> (bandit, what it is for)."""
    folder.mkdir(parents=True)
    listed = []
    for name, (bandit, purpose) in problems.items():
        data = dump_problem(bandit).encode("utf-8")
        write_bytes(folder / f"{name}.toml", data)
        listed.append(_listed(name, bandit, purpose, sha256(data).hexdigest()))
    manifest = {
        "suite": folder.name,
        "citation": citation,
        "description": description,
        "problems": [asdict(problem) for problem in listed],
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    write_bytes(folder / MANIFEST, text.encode("utf-8"))


def _listed(name: str, bandit: Bandit, purpose: str, digest: str) -> Listed:
    tolerance = TOLERANCE if bandit.n_arms < MANY_ARMS else COARSE_TOLERANCE
    best = plan(bandit, tolerance)
    arm = bandit.best_arm
    return Listed(
        name, f"{name}.toml", digest, purpose, bandit.n_arms, tuple(bandit.n_states), tolerance,
        best.gain, best.gain_lower, best.gain_upper, arm, bandit.arms[arm].gain,
    )  # fmt: skip
