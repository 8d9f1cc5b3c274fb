"""Compile before the clock starts, once, and say so: each command's own kernels."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from restive.model.bandit import Bandit

__all__ = ["announce", "warm_learner", "warm_learners"]

NOTE = "restive: compiling kernels, once; later runs start at once."
STEPS = 200


def announce(*families: str, warm: Callable[[str], object] | None = None) -> None:
    """Where kernels of a family were not used here before: say so, and call ``warm`` for it."""
    cold = [family for family in families if not _marker(family).exists()]
    if cold:
        typer.echo(NOTE, err=True)
    for family in cold:
        if warm is not None:
            warm(family)
        marker = _marker(family)
        try:
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()
        except OSError:
            pass  # a cache that cannot be written to: the note comes again


def warm_learner(name: str, bandit: Bandit, delta: float, options: Mapping[str, Any]) -> None:
    """Compile what a learner needs for arms like these, outside of every clock."""
    warm_learners([(name, bandit, options)], delta)


def warm_learners(wanted: Iterable[tuple[str, Bandit, Mapping[str, Any]]], delta: float) -> None:
    """As ``warm_learner`` for learners on problems, each kind of arms once."""
    families = {
        f"learn-{name}-{'two' if (two := _two_states(bandit)) else 'many'}": (name, two, options)
        for name, bandit, options in wanted
    }
    announce(*families, warm=lambda family: _play(*families[family], delta))


def _two_states(bandit: Bandit) -> bool:
    """Whether the sweeps made for two states an arm apply."""
    return bandit.n_arms > 1 and set(bandit.n_states) == {2}


def _play(name: str, two: bool, options: Mapping[str, Any], delta: float) -> None:
    """A few steps of the learner on a small problem."""
    from restive.base.errors import RestiveError
    from restive.learners import make_learner
    from restive.planning import plan
    from restive.problems import random_problem
    from restive.simulation import BanditWorld, play

    small = random_problem(2, 2 if two else [3, 2], rng=0)
    try:
        learner = make_learner(name, small, STEPS, delta, 0, **options)
    except RestiveError:  # options made for another number of arms
        learner = make_learner(name, small, STEPS, delta, 0)
    play(learner, BanditWorld(small, 0), STEPS, plan=plan(small, 1e-3))


def _marker(family: str) -> Path:
    """Stands for kernels that were compiled; another source, Python or numba needs another one."""
    from importlib.metadata import version

    from restive import _kernels

    place = _kernels.cache_directory() or Path(os.devnull)
    made_with = f"{_kernels._digest()}-{sys.implementation.cache_tag}-{version('numba')}"
    return place / f"compiled-{made_with}-{family}"
