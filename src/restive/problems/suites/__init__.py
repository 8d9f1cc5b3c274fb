"""Problem suites: named, frozen collections of problems with a certified best average reward.

A suite is a folder of problem files and a manifest. It never changes under its name, whatever
happens to the gallery; a new collection gets a new name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from restive.base.documents import read_json
from restive.base.errors import refusal
from restive.base.reading import read_file

if TYPE_CHECKING:
    from restive.model.bandit import Bandit

__all__ = ["Listed", "Suite", "describe", "suite", "suite_files", "suite_gains", "suites"]

HOME = Path(__file__).parent
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Listed:
    """A problem as its suite's manifest describes it."""

    name: str
    file: str
    sha256: str
    purpose: str
    arms: int
    states: tuple[int, ...]
    tolerance: float
    gain: float  # rho*
    gain_lower: float
    gain_upper: float
    best_arm: int
    best_arm_gain: float


@dataclass(frozen=True)
class Suite:
    """A suite without its problems themselves."""

    name: str
    citation: str
    description: str
    problems: tuple[Listed, ...]


def suites() -> list[str]:
    """Names of the suites that come with restive."""
    return sorted(path.parent.name for path in HOME.glob(f"*/{MANIFEST}"))


def folder_name(name: str) -> str:
    """The name of a suite as its folder has it, from that or from how papers cite it.

    >>> folder_name("restive-suite v1")
    'restive-suite-v1'
    """
    return "-".join(name.split())


@lru_cache
def describe(name: str) -> Suite:
    """What is in a suite, from its manifest."""
    if folder_name(name) not in suites():
        raise refusal("suite", "no such suite", repr(name), f"There is {', '.join(suites())}.")
    path = HOME / folder_name(name) / MANIFEST
    try:
        raw: dict[str, Any] = read_json(read_file(path))
        listed = [Listed(**(row | {"states": tuple(row["states"])})) for row in raw["problems"]]
        if any(Path(problem.file).name != problem.file for problem in listed):
            raise ValueError("a file of another folder")
        return Suite(raw["suite"], raw["citation"], raw["description"], tuple(listed))
    except (ValueError, LookupError, TypeError) as error:
        remedy = "Reinstall restive: a suite must not change."
        raise refusal(str(path), "not a manifest", str(error), remedy) from None


def suite(name: str) -> dict[str, Bandit]:
    """The problems of a suite by name, each read from a file with the hash in the manifest.

    >>> suite("restive-suite-v1")["example-1"].n_arms
    2
    """
    from restive.model.files import parse_problem

    texts = suite_files(name)
    files = {problem.name: problem.file for problem in describe(name).problems}
    return {key: parse_problem(texts[file], source=file) for key, file in files.items()}


def suite_gains(name: str) -> dict[str, tuple[float, float, float]]:
    """rho* of each problem with its certified interval: value, lower, upper."""
    return {p.name: (p.gain, p.gain_lower, p.gain_upper) for p in describe(name).problems}


def suite_files(name: str) -> dict[str, str]:
    """The problem files of a suite, by file name, as they were frozen."""
    texts = {}
    for problem in describe(name).problems:
        path = HOME / folder_name(name) / problem.file
        data = read_file(path)
        if sha256(data).hexdigest() != problem.sha256:
            remedy = "Reinstall restive: a suite must not change."
            message = "not the file that the suite was made with"
            raise refusal(str(path), message, "another hash", remedy)
        texts[problem.file] = data.decode("utf-8")
    return texts
