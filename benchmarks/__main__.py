"""``python -m benchmarks``: run the sections, print their tables, and on request write a page."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.machine import description
from benchmarks.page import SECTIONS, page, section

TARGET = Path(__file__).resolve().parent.parent / "docs" / "benchmarks"


def main() -> int:
    options = _options()
    record = _earlier(options.target) if options.write else {}
    if options.write:
        options.target.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in options.sections or SECTIONS:
        print(f"\n{name} ...", flush=True)
        record[name] = result = _run(name, options.quick)
        if "error" in result or result.get("wrong"):
            failed.append(name)
        if options.write:  # after each section, so that a crash later on loses nothing
            _draw(result, name, options.target)
            _write(record, options.target)
        print("\n".join(section(name, result)), flush=True)
    _print_summary(record, failed, options.quick)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="smaller problems, under a minute")
    parser.add_argument("--write", action="store_true", help="write planning.md, .json and figure")
    parser.add_argument("--target", type=Path, default=TARGET, help="folder to write to")
    options = parser.parse_args()
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {sorted(unknown)[0]!r}; choose from {', '.join(SECTIONS)}")
    if options.quick and options.write and options.target == TARGET:
        parser.error("a quick run is not for the record; give --target with --quick --write")
    return options


def _run(name: str, quick: bool) -> dict[str, Any]:
    """One section's measurements; its failure is a result, not the end of the run."""
    start = perf_counter()
    try:
        result = import_module(f"benchmarks.{name}").run(quick)
    except Exception as error:
        traceback.print_exc()
        result = {"error": f"{type(error).__name__}: {error}"[:300], "goals": []}
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "quick": quick,
        "took": perf_counter() - start,
        "machine": description(),
        **result,
    }


def _earlier(target: Path) -> dict[str, Any]:
    """The sections written before, so that one of them can be measured again by itself."""
    file = target / "planning.json"
    return json.loads(file.read_text("utf-8")) if file.exists() else {}


def _draw(result: dict[str, Any], name: str, target: Path) -> None:
    if name != "growth" or "rows" not in result:
        return
    try:
        from benchmarks.figure import draw

        draw(result["rows"], target / "growth.svg")
        result["figure"] = "growth.svg"
    except ImportError as error:
        print(f"no figure: {error}")


def _write(record: dict[str, Any], target: Path) -> None:
    ordered = {name: record[name] for name in SECTIONS if name in record}
    (target / "planning.json").write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
    (target / "planning.md").write_text(page(ordered), "utf-8")


def _print_summary(record: dict[str, Any], failed: list[str], quick: bool) -> None:
    """Missed goals are told, not punished; only failures and wrong gains set the exit code."""
    goals = [goal for result in record.values() for goal in result["goals"]]
    missed = [goal["what"] for goal in goals if not goal["met"]]
    if quick:
        print("\nA quick run: the goals are for larger problems and a quiet machine.")
    else:
        print("", f"{len(goals) - len(missed)} of {len(goals)} goals met.", sep="\n")
        print("".join(f"  missed: {what}\n" for what in missed), end="")
    for name in failed:
        print(f"  failed: {name}")


if __name__ == "__main__":
    sys.exit(main())
