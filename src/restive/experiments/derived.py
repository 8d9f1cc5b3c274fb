"""What is computed from finished cells: mean curves as a table, and a summary."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import product
from typing import Any

from restive.experiments.layout import Layout, whole
from restive.experiments.results import Curves, Results
from restive.experiments.spec import canonical
from restive.experiments.summary import summarize

__all__ = ["write_derived"]

REGRETS = ("regret", "gap_regret", "weak_regret")


def write_derived(results: Results, layout: Layout) -> None:
    """Write curves.csv and summary.json; the same bytes for the same cells."""
    with whole(layout.summary) as draft:
        draft.write_bytes(canonical(summarize(results).to_dict()))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    heads = [f"{what}_{name}" for name in REGRETS for what in ("mean", "median", "deviation")]
    table.writerow(["problem", "learner", "horizon", "runs", "step", *heads])
    table.writerows(_rows(results))
    with whole(layout.curves) as draft:
        draft.write_bytes(text.getvalue().encode())


def _rows(results: Results) -> Iterator[list[Any]]:
    for place in product(results.problems, results.learners, results.horizons):
        curves = results.curves(*place)
        if curves is not None:
            columns = _columns(curves)
            for k, step in enumerate(curves.times.tolist()):
                yield [*place, len(curves.seconds), step, *(column[k] for column in columns)]


def _columns(curves: Curves) -> list[list[float]]:
    import numpy as np

    columns = []
    for name in REGRETS:
        rows = getattr(curves, name)
        spread = rows.std(axis=0, ddof=1) if len(rows) > 1 else np.full(rows.shape[1], np.nan)
        columns += [rows.mean(axis=0), np.median(rows, axis=0), spread]
    return [column.tolist() for column in columns]
