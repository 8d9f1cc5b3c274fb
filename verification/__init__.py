"""Statistical verification: claims measured on larger and more problems than tests can afford.

A check is a function of ``Settings`` that yields findings. To add some, write a module with a
dictionary ``CHECKS`` of them and name it in ``verification/__main__.py``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Literal

__all__ = ["ALPHA", "CLOCK", "ROOT", "Check", "Finding", "Settings", "Verdict", "judge"]

CLOCK = os.environ.get("VERIFICATION_CLOCK", "wall")
if CLOCK == "cpu":  # on a shared machine: what one core would do, whoever else is there
    for name in ("RESTIVE_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    time.perf_counter = time.process_time  # before anything of restive is imported

ROOT = Path(__file__).resolve().parent.parent
ALPHA = 1e-4  # chance that a true claim fails, per finding

Verdict = Literal["pass", "FAIL", "skipped"]


@dataclass(frozen=True)
class Finding:
    """One claim and what was measured of it."""

    name: str
    claim: str
    measured: str
    interval: str  # where the measured value should lie, or its own uncertainty
    verdict: Verdict


@dataclass(frozen=True)
class Settings:
    """How much to do, where figures go (None: nowhere), and the seed of mutants.

    problems: at most so many of each kind, where a check can go on later. deadline: of
    ``time.monotonic``; such a check begins no problem after it.
    """

    quick: bool = False
    out: Path | None = None
    seed: int = 0
    problems: int | None = None
    deadline: float = inf

    def size(self, full: int, quick: int) -> int:
        """A number of problems, runs or steps."""
        return quick if self.quick else full

    def draw(self, name: str, paint: Callable[[Any], None]) -> None:
        """Let ``paint`` fill the axes of a figure ``name``.svg, if figures are wanted."""
        if self.out is None:
            return
        import matplotlib

        matplotlib.use("svg")
        matplotlib.rcParams["svg.hashsalt"] = name  # the same data make the same file
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
        paint(axes)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(self.out / f"{name}.svg", metadata={"Date": None})
        pyplot.close(figure)


Check = Callable[[Settings], Iterable[Finding]]


def judge(holds: bool) -> Verdict:
    """The verdict on a claim that was measured."""
    return "pass" if holds else "FAIL"
