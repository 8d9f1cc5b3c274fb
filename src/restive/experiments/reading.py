"""Read an experiment's directory: cells to curves, the log to times and provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from restive.base.documents import json_hash
from restive.base.errors import refusal
from restive.experiments.cells import PLAN, Cell
from restive.experiments.directory import Directory, read_cell, read_description
from restive.experiments.results import Curves, Failure, Place, Results
from restive.experiments.store import CellKeys, log_lines, logged_cells, logged_failures
from restive.model.bandit import Bandit
from restive.model.schema import bandit_from
from restive.simulation.scoring import marks

CellContent = Mapping[str, Any]  # one cell's result


def load_results(directory: str | Path, *, partial: bool = False) -> Results:
    """Read what ``restive compare`` left in a directory, finished or not.

    Without ``partial``, a learner with runs missing has no curves. With it, curves hold the first
    runs that all learners of that problem and horizon have finished. One with failed runs has none
    either way; it is among the failures.
    """
    root = Path(directory)
    spec = read_description(root)
    if spec is None:
        remedy = "Give the directory that restive compare wrote."
        raise refusal(str(root), "not a results directory: there is no experiment.json", "", remedy)
    return _Reader(root, spec).results(partial)


class _Reader:
    def __init__(self, directory: Path, spec: Mapping[str, Any]) -> None:
        self.spec = spec
        self.problems = tuple(problem["name"] for problem in spec["problems"])
        self.learners = tuple(learner["label"] for learner in spec["learners"])
        self.directory = Directory(directory, self.problems)
        self._keys = CellKeys(spec)
        self._spent = dict(logged_cells(self.directory.log))
        self._failed = logged_failures(self.directory.log)
        self.bandits = {
            problem["name"]: bandit_from(problem["problem"], problem["name"])
            for problem in spec["problems"]
        }
        self.gains = {name: self._gain(name) for name in self.problems}

    def results(self, partial: bool) -> Results:
        refusals: dict[Place, str] = {}
        failures: dict[Place, Failure] = {}
        curves: dict[Place, Curves] = {}
        for problem, horizon in product(self.problems, self.spec["horizons"]):
            playing: dict[Place, list[CellContent]] = {}
            for name in self.learners:
                place = (problem, name, horizon)
                runs = self._runs(place)
                if failure := self._failure(place):
                    failures[place] = failure
                elif refused := next((run["refused"] for run in runs if "refused" in run), None):
                    refusals[place] = refused
                else:
                    playing[place] = runs
            shared = min(map(len, playing.values()), default=0)
            count = shared if partial else self.spec["runs"]
            for place, runs in playing.items():
                if 0 < count <= len(runs):
                    curves[place] = self._curves(place, runs[:count])
        return Results(
            self.problems, self.learners, tuple(self.spec["horizons"]), self.spec["runs"],
            self.spec["seed"], self.bandits, self.gains, _best_arms(self.bandits), refusals,
            self._provenance(), self._command(), curves, failures, self._traces(),
        )  # fmt: skip

    def _read(self, cell: Cell) -> dict[str, Any] | None:
        record = read_cell(self.directory.cell(cell), self._keys.of(cell), cell)
        if not isinstance(record, dict):
            return None
        n_arms = self.bandits[cell.problem].n_arms
        return record if len(record.get("pulls", range(n_arms))) == n_arms else None

    def _runs(self, place: Place) -> list[CellContent]:
        """Results of the first runs, up to the first that is missing or damaged."""
        runs: list[CellContent] = []
        for run in range(self.spec["runs"]):
            record = self._read(Cell(*place, run))
            if record is None:
                break
            runs.append(record)
        return runs

    def _failure(self, place: Place) -> Failure | None:
        """The failed runs of a learner, beside those that went well; None if none failed."""
        if not any(cell.place == place for cell in self._failed):
            return None
        cells = [Cell(*place, run) for run in range(self.spec["runs"])]
        records = {cell: record for cell in cells if (record := self._read(cell)) is not None}
        failed = [cell for cell in cells if cell in self._failed and cell not in records]
        if not failed:
            return None
        played = {cell: record for cell, record in records.items() if "refused" not in record}
        good = self._curves(place, list(played.values()), list(played)) if played else None
        numbers = tuple(cell.run for cell in failed)
        return Failure(numbers, len(cells), self._failed[failed[0]], good)

    def _gain(self, problem: str) -> tuple[float, float, float]:
        record = self._read(Cell(problem, PLAN, 0, 0)) or {}
        if record.get("gain") is None:
            return nan, nan, nan
        gain, lower, upper = (float(record[what]) for what in ("gain", "lower", "upper"))
        bandit = self.bandits[problem]
        mean = partial(bandit.units.mean, pulls=bandit.pulls)
        return mean(gain), mean(lower), mean(upper)

    def _curves(
        self, place: Place, runs: Sequence[CellContent], cells: Sequence[Cell] | None = None
    ) -> Curves:
        """Curves of these results, which are those of the first runs unless the cells are given."""
        cells = cells or [Cell(*place, k) for k in range(len(runs))]
        times = marks(place[2])
        bandit = self.bandits[place[0]]
        units, pulls = bandit.units, bandit.pulls
        paid = np.array([run["rewards"] for run in runs])
        rewards = units.total(paid, pulls * times)
        unknown = [nan] * len(times)
        gaps = [unknown if run["gap_regret"] is None else run["gap_regret"] for run in runs]
        spent = [self._spent.get(cell, {}) for cell in cells]
        return Curves(
            times,
            self.gains[place[0]][0] * times - rewards,
            units.loss(np.array(gaps, dtype=np.float64)),
            units.loss(_best_arm_curves(bandit, times, runs) - paid),
            np.array([entry.get("seconds", nan) for entry in spent]),
            np.array([entry.get("planning_seconds", nan) for entry in spent]),
            np.array([run["episodes"] for run in runs], dtype=np.int64),
            np.array([run["pulls"] for run in runs], dtype=np.int64),
        )

    def _traces(self) -> dict[str, int]:
        """Steps of the problems that are traces."""
        told = {p["name"]: p["trace"] for p in self.spec["problems"] if "trace" in p}
        steps = {name: t.get("steps", 0) if isinstance(t, dict) else 0 for name, t in told.items()}
        return {name: count for name, count in steps.items() if isinstance(count, int)}

    def _provenance(self) -> dict[str, Any]:
        starts = [entry for entry in log_lines(self.directory.log) if entry.get("event") == "start"]
        ends = [entry for entry in log_lines(self.directory.log) if entry.get("event") == "end"]
        return {
            "versions": dict(self.spec["versions"]),
            "seed": self.spec["seed"],
            "delta": self.spec["delta"],
            "learners": self.spec["learners"],
            "files": {problem["name"]: problem["sha256"] for problem in self.spec["problems"]},
            "experiment": json_hash(self.spec),
            "started": str(starts[0].get("at", "")) if starts else "",
            "finished": str(ends[-1].get("at", "")) if ends else "",
            "sittings": len(starts),
            "machines": _distinct([_plain(entry.get("machine")) for entry in starts]),
            "backends": _distinct([
                _plain({"backend": entry.get("backend"), "workers": entry.get("workers")})
                for entry in starts
            ]),
            "hosts": sorted({e["host"] for e in self._spent.values() if e.get("host")}),
        }  # fmt: skip

    def _command(self) -> str:
        commands = [e.get("command", "") for e in log_lines(self.directory.log)]
        return next((c for c in reversed(commands) if c and isinstance(c, str)), "")


def _best_arm_curves(bandit: Bandit, times: Any, runs: Sequence[CellContent]) -> Any:
    """What the best single arm earns: on average, or along each run's stretch of a trace."""
    if runs and all("against" in run for run in runs):
        return np.array([run["against"] for run in runs])
    return bandit.best_arms_gain * times


def _best_arms(bandits: Mapping[str, Bandit]) -> dict[str, tuple[int, float]]:
    return {
        name: (bandit.best_arm, bandit.units.mean(bandit.best_arms_gain, bandit.pulls))
        for name, bandit in bandits.items()
    }


def _plain(entry: Any) -> dict[str, Any]:
    """The texts and whole numbers of a table in the log; it is text for people and no more."""
    fields = entry if isinstance(entry, dict) else {}
    return {key: value for key, value in fields.items() if type(value) in (str, int)}


def _distinct(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry for k, entry in enumerate(entries) if entry not in entries[:k]]
