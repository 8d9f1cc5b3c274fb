"""What is computed from finished cells, kept beside them: summary.json and curves.csv."""

from __future__ import annotations

import csv
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from restive.base.documents import canonical_json, json_hash, read_json
from restive.base.reading import read_file
from restive.experiments.bands import Bands
from restive.experiments.directory import Directory, write_whole
from restive.experiments.summary import Summary, summarize, summary_from

if TYPE_CHECKING:
    from pathlib import Path

    from restive.experiments.results import Results

LARGEST = 200_000_000  # bytes of either file; larger ones are computed again


class Statistics(NamedTuple):
    """Everything a comparison says in numbers: tables and curves."""

    summary: Summary
    bands: Bands


def write_statistics(results: Results, directory: Directory) -> Statistics:
    """Compute summary.json and curves.csv; the same bytes for the same cells."""
    statistics = Statistics(summarize(results), Bands(results))
    curves = statistics.bands.to_csv()
    origin = {**_origin(results), "curves_sha256": sha256(curves).hexdigest()}
    body = {**statistics.summary.to_dict(), "of": origin}
    content = {**body, "sha256": json_hash(body)}
    write_whole(directory.summary, canonical_json(content))
    write_whole(directory.curves, curves)
    return statistics


def read_statistics(results: Results, root: Path) -> Statistics:
    """What ``write_statistics`` kept of these results, or the same computed again.

    A comparison that was stopped, or whose files were touched, has none that count: both files
    have a checksum in summary.json.
    """
    directory = Directory(root, results.problems)
    with suppress(
        OSError, ValueError, LookupError, TypeError, AttributeError, csv.Error, RecursionError
    ):
        content = read_json(read_file(directory.summary, LARGEST))
        curves = read_file(directory.curves, LARGEST)
        signed = content.pop("sha256") == json_hash(content)
        origin = {**_origin(results), "curves_sha256": sha256(curves).hexdigest()}
        if signed and content["of"] == origin:
            bands = Bands(results)
            bands.read(curves)
            return Statistics(summary_from(content, results), bands)
    return Statistics(summarize(results), Bands(results))


def _origin(results: Results) -> dict[str, object]:
    """Which experiment, and how many runs of it, the numbers are of."""
    runs = sum(len(curves.seconds) for curves in results.finished.values())
    return {"experiment": results.provenance.get("experiment", ""), "runs": runs}
