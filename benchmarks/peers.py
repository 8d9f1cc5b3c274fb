"""Planning: one problem, several solvers, the same stopping rule and the same gain."""

from __future__ import annotations

from dataclasses import asdict
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.contenders import CONTENDERS, SPAN, Case, Timing, UnableError
from benchmarks.measure import Goal
from benchmarks.models import slow_channels

TITLE = "Planning beside its peers"

SLOW = 10.0  # seconds after which a solver is not asked to run again
PATIENCE = 120.0  # seconds of one case after which there are no further rounds
LARGE = 1_000_000  # states beyond which only restive and the CSR matrix are asked
OWN = tuple(name for name in CONTENDERS if name.startswith("restive"))
AT_SCALE = (*OWN, "scipy CSR")
FACTORS = {
    "restive, plain sweeps": {"scipy CSR": 10, "mdpsolver": 50},
    "restive": {"scipy CSR": 40, "mdpsolver": 200},
}


def cases(quick: bool) -> list[Case]:
    sizes = [(2, 200), (3, 30), (4, 10)] if quick else [(2, 1000), (3, 100), (4, 40)]
    return [Case(f"K={count}, M={cap}", slow_channels(count), cap) for count, cap in sizes]


def run(quick: bool) -> dict[str, Any]:
    results = []
    for case in cases(quick):
        print(f"{case.name}: {case.mdp.n_states:,} states", flush=True)
        results.append(_measure(case, 2 if quick else 3))
    rows = [row for result in results for row in result["solvers"]]
    wrong = [row["solver"] for row in rows if row.get("agrees") is False]
    return {"span": SPAN, "cases": results, "goals": _goals(results), "wrong": wrong}


def _goals(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How many times faster than its peers restive plans three slow channels, with set-up."""
    case = next(result for result in results if result["case"].startswith("K=3"))
    total = {r["solver"]: r["setup"] + r["solve"] for r in case["solvers"] if "solve" in r}
    goals = []
    for own, factors in FACTORS.items():
        for peer, factor in factors.items():
            theirs = [seconds for name, seconds in total.items() if name.startswith(peer)]
            if theirs:
                what = f"{case['case']}: times faster than {peer}, {own}"
                goals.append(Goal(what, min(theirs) / total[own], factor, "", True))
    return [goal.record() for goal in goals]


def _measure(case: Case, rounds: int) -> dict[str, Any]:
    """Solvers take turns, so that a busy spell of the machine hits all of them alike."""
    runs: dict[str, list[Timing]] = {name: [] for name in CONTENDERS}
    notes: dict[str, str] = {}
    first, start = _first_calls(case), perf_counter()
    for number in range(rounds):
        if number and perf_counter() - start > PATIENCE:
            break
        for name in CONTENDERS:
            slow = any(timing.setup + timing.solve > SLOW for timing in runs[name])
            if name not in notes and not slow:
                _attempt(case, name, runs, notes)
                print(f"  round {number + 1}: {name}", flush=True)
    rows = [_row(name, runs[name], notes.get(name, "")) for name in CONTENDERS]
    return {
        "case": case.name,
        "states": case.mdp.n_states,
        "first_call_seconds": first,
        "solvers": _compare(rows),
    }


def _first_calls(case: Case) -> dict[str, float]:
    """Seconds of restive's first call on a case, compiling included; not part of its timings."""
    seconds = {}
    for name in OWN:
        runs, notes = {name: list[Timing]()}, dict[str, str]()
        _attempt(case, name, runs, notes)
        if runs[name]:
            seconds[name] = runs[name][0].setup + runs[name][0].solve
    return seconds


def _attempt(case: Case, name: str, runs: dict[str, list[Timing]], notes: dict[str, str]) -> None:
    if case.mdp.n_states > LARGE and name not in AT_SCALE:
        notes[name] = "not run at this size"
        return
    try:
        runs[name].append(CONTENDERS[name](case))
    except UnableError as reason:
        notes[name] = str(reason)
    except Exception as error:  # a peer's own failure is a result, not the end of the run
        notes[name] = f"failed: {type(error).__name__}: {error}"[:120]


def _row(name: str, runs: list[Timing], note: str) -> dict[str, Any]:
    if not runs:
        return {"solver": name, "note": note}
    return {
        "solver": name,
        "setup": median(timing.setup for timing in runs),
        "solve": median(timing.solve for timing in runs),
        "lower": runs[-1].lower,
        "upper": runs[-1].upper,
        "sweeps": runs[-1].sweeps,
        "version": runs[-1].version,
        "note": note,
        "runs": [asdict(timing) for timing in runs],
    }


def _compare(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add ratios to the first solver that ran, and whether the gain agrees with scipy's."""
    ran = [row for row in rows if "solve" in row]
    reference = next(row for row in ran if row["solver"] == "scipy CSR")
    for row in ran:
        row["times_solve"] = row["solve"] / ran[0]["solve"]
        row["times_total"] = (row["setup"] + row["solve"]) / (ran[0]["setup"] + ran[0]["solve"])
        apart = abs(row["lower"] + row["upper"] - reference["lower"] - reference["upper"]) / 2
        narrow = row["upper"] - row["lower"] <= SPAN * (1 + 1e-9)
        row["agrees"] = bool(apart <= SPAN and narrow)
    return rows


def describe(result: dict[str, Any]) -> list[str]:
    lines = [
        f"Every solver stops at a span of {result['span']:g}. Seconds are medians of the rounds,",
        "in which the solvers take turns; set-up counts in the goals, and of mdpsolver's ways the",
        "fastest does.",
    ]
    for case in result["cases"]:
        lines += ["", *_case_table(case)]
    return lines


def _case_table(case: dict[str, Any]) -> list[str]:
    base = next(row["solver"] for row in case["solvers"] if "solve" in row)
    return [
        f"### {case['case']} ({case['states']:,} states)",
        "",
        "| solver | set-up s | solve s | sweeps | gain "
        f"| solve / {base} | total / {base} | same gain |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
        *[_line(row) for row in case["solvers"]],
    ]


def _line(row: dict[str, Any]) -> str:
    if "solve" not in row:
        return f"| {row['solver']} | | | | | | | {row['note']} |"
    gain = (row["lower"] + row["upper"]) / 2
    cells = [
        row["solver"],
        f"{row['setup']:.4f}",
        f"{row['solve']:.4f}",
        str(row["sweeps"] or ""),
        f"{gain:.7f}",
        f"{row['times_solve']:.3g}",
        f"{row['times_total']:.3g}",
        "yes" if row["agrees"] else "NO",
    ]
    return f"| {' | '.join(cells)} |"
