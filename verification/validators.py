"""What a valid file is, written apart from restive: no import of its checks, no shared code."""

from __future__ import annotations

import csv
import io
import json
import math
import tomllib
import zipfile
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["valid_data", "valid_experiment", "valid_problem", "valid_results", "valid_snapshot"]

ARM_KEYS = {"name", "states", "transitions", "rewards", "reward_noise", "initial", "group"}
PROBLEM_KEYS = {"name", "arms", "pulls", "reward_range"}
WORDS = ("name", "group")
MARKS = 200  # points of a curve at most


def _document(path: Path) -> Any:
    text = path.read_bytes().decode("utf-8-sig")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


def _number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _law(row: Any, size: int) -> bool:
    fits = isinstance(row, list) and len(row) == size and all(map(_number, row))
    return fits and min(row) >= 0 and abs(math.fsum(row) - 1) <= 2e-9


def _irreducible(rows: list[list[float]]) -> bool:
    """By searching from the first state, along and against the arrows."""
    for backwards in (False, True):
        seen, todo = {0}, [0]
        while todo:
            at = todo.pop()
            for to in range(len(rows)):
                p = rows[to][at] if backwards else rows[at][to]
                if p > 0 and to not in seen:
                    seen.add(to)
                    todo.append(to)
        if len(seen) < len(rows):
            return False
    return True


def _valid_arm(arm: Any, low: float, high: float) -> bool:
    if not isinstance(arm, dict) or not {"transitions", "rewards"} <= set(arm) <= ARM_KEYS:
        return False
    rows, rewards = arm["transitions"], arm["rewards"]
    size = len(rows) if isinstance(rows, list) else 0
    if not size or not all(_law(row, size) for row in rows) or not _irreducible(rows):
        return False
    if not isinstance(rewards, list) or len(rewards) != size:
        return False
    if not all(_number(r) and low <= r <= high for r in rewards):
        return False
    states = arm.get("states", []) or [str(s) for s in range(size)]
    named = len(states) == size == len(set(states)) and all(
        isinstance(s, str) and s for s in states
    )
    start = arm.get("initial", "stationary")
    if type(start) is int:
        begins = 0 <= start < size
    else:
        begins = (
            start == "stationary" or start in states
            if isinstance(start, str)
            else _law(start, size)
        )
    noise = arm.get("reward_noise", "none") in ("none", "bernoulli", "beta")
    return named and begins and noise and all(isinstance(arm.get(k, ""), str) for k in WORDS)


def valid_problem(path: Path, bandit: Any) -> bool:
    """Whether the file describes a bandit, and this one."""
    document = _document(path)
    arms = document.get("arms") if isinstance(document, dict) else None
    if not isinstance(arms, list) or not arms or not set(document) <= PROBLEM_KEYS:
        return False
    names = [
        arm.get("name") or f"arm {j + 1}" for j, arm in enumerate(arms) if isinstance(arm, dict)
    ]
    pulls, ends = document.get("pulls", 1), document.get("reward_range", [0, 1])
    if not isinstance(ends, list) or len(ends) != 2 or not all(map(_number, ends)):
        return False
    low, high = ends
    sound = low < high and all(_valid_arm(arm, low, high) for arm in arms)
    if not sound or len(set(names)) < len(arms) or type(pulls) is not int or not _alike(arms):
        return False
    same = all(_same_arm(own, arm, low, high) for own, arm in zip(bandit.arms, arms, strict=True))
    own_range = tuple(map(float, bandit.units.range)) == (float(low), float(high))
    taken = (bandit.pulls, bandit.name) == (pulls, document.get("name") or path.stem)
    return same and own_range and taken and 1 <= pulls <= len(arms)


def _same_arm(own: Any, arm: dict[str, Any], low: float, high: float) -> bool:
    """Whether the arm has these chances and these rewards, which it keeps from 0 to 1."""
    scaled = (np.array(arm["rewards"], dtype=float) - low) / (high - low)
    return (
        np.allclose(own.transitions, arm["transitions"], rtol=0, atol=1e-8)
        and np.allclose(own.rewards, scaled, rtol=0, atol=1e-12)
        and own.group == arm.get("group", "")
    )


def _alike(arms: list[dict[str, Any]]) -> bool:
    """Whether arms that bear the same word as their group are the same chain."""
    first: dict[str, tuple[Any, ...]] = {}
    for arm in arms:
        states = arm.get("states", []) or [str(s) for s in range(len(arm["rewards"]))]
        chain = (arm["transitions"], arm["rewards"], states, arm.get("reward_noise", "none"))
        if arm.get("group") and not _close(first.setdefault(arm["group"], chain), chain):
            return False
    return True


def _close(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    numbers = (np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=0, atol=1e-8)
               for a, b in zip(one[:2], other[:2], strict=True))  # fmt: skip
    return one[2:] == other[2:] and all(numbers)


def _steps(value: Any) -> float:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return -1


def valid_experiment(path: Path, experiment: Any) -> bool:
    """Whether the file's numbers are such as an experiment may have, and are those taken."""
    document = _document(path)
    known = {"problems", "learners", "horizons", "runs", "seed", "delta", "command"}
    if not isinstance(document, dict) or not set(document) <= known:
        return False
    horizons = document.get("horizons", 100_000)
    steps = [_steps(h) for h in (horizons if isinstance(horizons, list) else [horizons])]
    runs, seed, delta = (
        document.get(k, d) for k, d in (("runs", 20), ("seed", 0), ("delta", 0.05))
    )
    numbers = [(h, 1, 10**12) for h in steps] + [(runs, 1, 10**6), (seed, 0, 2**128)]
    whole = all(_number(n) and n == int(n) and low <= n <= high for n, low, high in numbers)
    if (
        not whole
        or not steps
        or len(set(steps)) < len(steps)
        or not _number(delta)
        or not 0 < delta < 1
    ):
        return False
    problems, labels = (
        [item.name for item in experiment.problems], [item.label for item in experiment.learners]
    )  # fmt: skip
    unique = all(
        len(set(names)) == len(names) > 0 and all(n.strip() for n in names)
        for names in (problems, labels)
    )
    taken = (list(experiment.horizons), experiment.runs, experiment.seed) == (
        [int(h) for h in steps],
        runs,
        seed,
    )
    return unique and taken


def valid_data(path: Path, traces: Any) -> bool:
    """Whether the traces are possible ones, with no more sightings of a state than cells say it."""
    written = Counter(_cell(cell) for cell in _cells(path))
    seen: Counter[str] = Counter()
    for arm in traces.arms:
        n = len(arm.times)
        shapes = {len(arm.states), len(arm.rewards), len(arm.pieces)} == {n} and n >= 2
        order = bool(((np.diff(arm.times) > 0) | (np.diff(arm.pieces) > 0)).all())
        states = bool(((arm.states >= 0) & (arm.states < len(arm.labels))).all())
        paid = arm.rewards[~np.isnan(arm.rewards)]
        if not (shapes and order and states and bool(((paid >= 0) & (paid <= 1)).all())):
            return False
        seen.update(_cell(arm.labels[s]) for s in arm.states)
    names = [arm.name for arm in traces.arms]
    return len(set(names)) == len(names) and all(n <= written[w] for w, n in seen.items())


def _cells(path: Path) -> list[Any]:
    """Every cell of a table, whatever its column means."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return [cell for row in parquet.read_table(path).to_pylist() for cell in row.values()]
    lines = path.read_bytes().decode("utf-8-sig").splitlines()
    if path.suffix == ".jsonl":
        return [cell for line in lines if line.strip() for cell in json.loads(line).values()]
    marks = {mark: lines[0].count(mark) for mark in ",;\t|"}
    mark = max(marks, key=lambda m: marks[m])
    return [cell for row in csv.reader(lines, delimiter=mark) for cell in row]


def _cell(value: Any) -> str:
    """One word for cells that mean the same: 1, 1.0, "1" and true; 0 and -0."""
    text = str(value).strip()
    try:
        return repr(float({"true": 1, "false": 0}.get(text.lower(), text)) + 0.0)
    except ValueError:
        return text


def valid_snapshot(path: Path, learner: Any) -> bool:
    """Whether the file is whole and the learner remembers what it says, and nothing impossible."""
    with zipfile.ZipFile(path) as archive:
        entries = {info.filename: archive.read(info) for info in archive.infolist()}
    digest = sha256()
    for name, data in sorted(entries.items()):
        if name != "sha256":
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
    state = json.loads(entries["state.json"])
    own, arrays = learner.snapshot()
    if digest.hexdigest().encode() != entries["sha256"] or json.loads(json.dumps(own)) != state:
        return False
    names = {name.removesuffix(".npy") for name in entries} - {"state.json", "sha256"}
    if names != set(arrays):
        return False
    for name in names:
        stored = np.load(io.BytesIO(entries[f"{name}.npy"]), allow_pickle=False)
        mine = np.ascontiguousarray(arrays[name])
        if stored.dtype != mine.dtype or stored.tobytes() != mine.tobytes():
            return False
        if stored.dtype.kind == "f" and np.isnan(stored).any():
            return False
    sight = state.get("sight")
    if sight and not all(0 <= at <= sight["steps"] for at in sight["seen_at"]):
        return False
    return 0 <= learner.ask() < learner.n_arms


def valid_results(root: Path, results: Any) -> bool:
    """Whether every curve is that of whole cells with the right checksum, and all is finite."""
    spec = json.loads((root / "experiment.json").read_bytes())
    horizons, runs = spec["horizons"], spec["runs"]
    if list(results.horizons) != horizons or results.runs != runs or runs < 1 or min(horizons) < 1:
        return False
    signed = [
        json.loads(path.read_bytes()) for path in root.glob("cells/*/*/*.json") if _whole(path)
    ]
    kinds = [str, str, int, int]
    listed = [c for c in signed if isinstance(c.get("cell"), list)]
    cells = [c for c in listed if [type(part) for part in c["cell"]] == kinds]
    for place, curves in results.finished.items():
        rows = {c["cell"][3]: c for c in cells if tuple(c["cell"][:3]) == place and "rewards" in c}
        for run in range(len(curves.seconds)):
            if run not in rows or len(rows[run]["rewards"]) != len(curves.times) > MARKS:
                return False
            gap = rows[run]["gap_regret"]
            if gap is not None and not np.array_equal(curves.gap_regret[run], gap):
                return False
        if not np.isfinite(curves.weak_regret).all():
            return False
    return True


def _whole(path: Path) -> bool:
    """Whether a cell's file has the checksum of its own content."""
    try:
        body = json.loads(path.read_bytes())
        checksum = body.pop("sha256")
        text = json.dumps(body, indent=1, sort_keys=True, allow_nan=False) + "\n"
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return False
    return bool(sha256(text.encode()).hexdigest() == checksum)
