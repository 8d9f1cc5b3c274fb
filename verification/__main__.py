"""``python -m verification``: measure the claims, print a table, end in 1 if one fails."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from math import inf
from pathlib import Path
from random import randrange
from time import monotonic, perf_counter

from verification import (
    Check,
    Finding,
    Settings,
    bands,
    calibration,
    drift,
    experiments,
    faults,
    fitting,
    fuzzing,
    interrupts,
    learning,
    long_runs,
    many,
    markov,
    mutations,
    planning,
    scheduling,
)

# name of the check -> function; a module's name on the command line stands for all of its checks
MODULES: dict[str, dict[str, Check]] = {
    "planning": planning.CHECKS,
    "learning": learning.CHECKS,
    "calibration": calibration.CHECKS,
    "bands": bands.CHECKS,
    "experiments": experiments.CHECKS,
    "faults": faults.CHECKS,
    "interrupts": interrupts.CHECKS,
    "fuzzing": fuzzing.CHECKS,
    "fitting": fitting.CHECKS,
    "many": many.CHECKS,
    "scheduling": scheduling.CHECKS,
    "long-runs": long_runs.CHECKS,
    "markov": markov.CHECKS,
    "mutations": mutations.CHECKS,
    "drift": drift.CHECKS,
}
APART = ("mutations",)  # too long to come along with the others; the quick version does


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verification", description=__doc__)
    names = [*MODULES, *(name for checks in MODULES.values() for name in checks)]
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="smaller; about two minutes")
    parser.add_argument(
        "--seed", type=int, metavar="N",
        help="of mutants (default: 0 for --quick, else a new one, which the findings name)",
    )  # fmt: skip
    parser.add_argument(
        "--problems", type=int, metavar="N",
        help="at most so many of each kind (many, drift); with --out more can be added later",
    )  # fmt: skip
    parser.add_argument(
        "--minutes", type=float, metavar="N", default=inf,
        help="begin no problem after so many (many); with --out more can be added later",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="for results and figures")
    options = parser.parse_args(words)
    if unknown := [name for name in options.names if name not in names]:
        parser.error(f"no check {unknown[0]!r}; choose from {', '.join(names)}")
    if options.out and find_spec("matplotlib") is None:
        parser.error("--out draws figures with matplotlib: pip install 'restive[plot]'")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    fresh = 0 if options.quick else randrange(1, 10**9)
    seed = fresh if options.seed is None else options.seed
    deadline = monotonic() + 60 * options.minutes
    settings = Settings(options.quick, options.out, seed, options.problems, deadline)
    findings = run(options.names, settings)
    if options.out:
        # a module by itself gets pages of its own and leaves those of the whole suite alone
        alone = len(options.names) == 1 and options.names[0] in MODULES
        write(findings, options.out, options.names[0] if alone else "results")
    failed = sum(finding.verdict == "FAIL" for finding in findings)
    print(f"\n{len(findings)} findings, {failed} failed")
    return 1 if failed else 0


def run(names: Sequence[str], settings: Settings) -> list[Finding]:
    """Run the checks with these names, or all, and print each finding as it comes."""
    found: list[Finding] = []
    for module, checks in MODULES.items():
        for name, check in checks.items():
            if names and name not in names and module not in names:
                continue
            if not names and module in APART and not settings.quick:
                continue
            began = perf_counter()
            print(f"\n{module}: {name}", flush=True)
            for finding in check(settings):
                found.append(finding)
                print("  " + line(finding), flush=True)
            print(f"  ({perf_counter() - began:.1f} s)", flush=True)
    return found


def line(one: Finding) -> str:
    return f"{one.verdict:8}{one.name:28} {one.claim}: {one.measured} [{one.interval}]"


def write(findings: Sequence[Finding], out: Path, stem: str = "results") -> None:
    """results.md for readers and results.json for programs."""
    rows = ["| | claim | measured | interval | verdict |", "|---|---|---|---|---|"]
    rows += [f"| {f.name} | {f.claim} | {f.measured} | {f.interval} | {f.verdict} |"
             for f in findings]  # fmt: skip
    (out / f"{stem}.md").write_text("# Verification\n\n" + "\n".join(rows) + "\n", "utf-8")
    text = json.dumps([asdict(f) for f in findings], indent=1)
    (out / f"{stem}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
