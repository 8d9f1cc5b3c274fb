"""Slow arms and many arms: intervals that hold the truth, and how narrow they get in a time.

With ``--out FOLDER`` every problem is a line of FOLDER/many-runs.jsonl. What is there is not done
again, so a run that was stopped goes on; ``--problems N`` and ``--minutes N`` add to it little by
little. A plan stops once its gap is far below the wanted one (``Family.stop``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from verification import Check, Finding, Settings, Verdict, judge, many_pulls
from verification.many_runs import FAMILIES, Family, Row, fill, rows_of

__all__ = ["CHECKS"]

RUNS = "many-runs.jsonl"
SLACK = 1e-9  # of an exact gain, beside its own interval
QUICK = {"slow-3": 6.0, "slow-4": 6.0, "many-10": 8.0, "many-20": 8.0, "valid-1": 1.0,
         "valid-2": 1.0}  # fmt: skip
FEW = {"valid-1": 6, "valid-2": 2}  # problems of a quick run, elsewhere one
NARROW = {"slow": (0.003, np.inf), "many": (0.001, 0.005), "identical": (0.015, np.inf)}
LOSS = 0.003  # what the policy may earn less than Whittle's or the myopic one
ENOUGH = 10  # problems before a share of them is judged
BETTER = 0.9  # in how many problems it must be at least as good
ROUGH_LOSS = 0.05  # for one problem in the few seconds of a quick run


def _rows(settings: Settings, family: Family) -> list[Row]:
    if settings.quick:
        return list(rows_of(family, FEW.get(family.name, 1), None, QUICK[family.name]))
    file = None if settings.out is None else settings.out / RUNS
    count = min(family.problems, settings.problems or family.problems)
    return list(rows_of(family, count, file, family.seconds, settings.deadline))


def check_runs(settings: Settings) -> Iterator[Finding]:
    """Plan problems of all families in turn; the checks after this one judge them."""
    if settings.out is not None and not settings.quick:
        fill(settings.out / RUNS, settings.problems, settings.deadline)
    return iter(())


def check(family: Family, settings: Settings) -> Iterator[Finding]:
    """All findings about one family of problems."""
    if settings.quick and family.name not in QUICK:
        return
    rows = _rows(settings, family)
    if not rows:
        return
    if family.exact:
        yield _validity(family, rows)
        return
    yield _narrowness(settings, family, rows)
    if family.rivals:
        yield _policies(settings, family, rows)


def _validity(family: Family, rows: Sequence[Row]) -> Finding:
    """Certified ends must hold the truth; a simulated one misses it with a chance of 1%."""
    missed = unlucky = 0
    for row in rows:
        low, high = row["exact"][0] - SLACK, row["exact"][1] + SLACK
        missed += row["certified_lower"] > high or row["upper"] < low
        unlucky += row["lower_kind"] == "simulated" and row["lower"] > high
    gaps = [row["upper"] / row["lower"] - 1 for row in rows]
    return Finding(
        f"validity: {family.words}",
        f"{len(rows)} random problems without exact plans of all arms, against exact plans",
        f"{missed} missed; {unlucky} simulated lower ends too high; {_shares(gaps)}",
        "0 missed",
        judge(missed == 0),
    )


def _narrowness(settings: Settings, family: Family, rows: Sequence[Row]) -> Finding:
    sure = family.certified
    lowers = [row["certified_lower" if sure else "lower"] for row in rows]
    gaps = [row["upper"] / lower - 1 for row, lower in zip(rows, lowers, strict=True)]
    median, ninth = NARROW[family.name.split("-")[0]]
    goal = f"median at most {100 * median:g}%"
    goal += f", nine in ten at most {100 * ninth:g}%" if ninth < np.inf else ""
    holds = bool(np.quantile(gaps, 0.5) <= median and np.quantile(gaps, 0.9) <= ninth)
    proven = sum(row["upper"] <= (1 + family.stop) * row["certified_lower"] for row in rows)
    typical, longest = np.quantile([row["seconds"] for row in rows], [0.5, 1.0])
    return Finding(
        family.name,
        f"{len(rows)} problems, {family.words}, {family.seconds:g} s, stopped at "
        f"{100 * family.stop:g}% (median {typical:.0f} s, longest {longest:.0f} s): "
        f"upper / {'certified ' if sure else ''}lower - 1",
        f"{_shares(gaps)}; {proven} certified to within the stop",
        "not below 0" if settings.quick else goal,
        _judged(settings, rows, min(gaps) >= 0 and (settings.quick or holds)),
    )


def _judged(settings: Settings, rows: Sequence[Row], holds: bool) -> Verdict:
    """No verdict on a quantile of a handful of problems, unless it is that something is wrong."""
    return "skipped" if holds and len(rows) < ENOUGH and not settings.quick else judge(holds)


def _policies(settings: Settings, family: Family, rows: Sequence[Row]) -> Finding:
    """The plan's policy against Whittle's and the myopic one, as far as simulation tells."""
    worst, better = 0.0, 0
    for row in rows:
        rivals = [row["whittle"], row["myopic"]]
        better += all(row["gain"] >= low for _, low, _ in rivals)
        worst = max(worst, *(low / row["gain"] - 1 for _, low, _ in rivals))
    return Finding(
        f"{family.name}: policy",
        f"{len(rows)} problems: not below the simulated intervals of Whittle's and the myopic one",
        f"{better} of {len(rows)}; at most {100 * worst:.2f}% below",
        f"at most {ROUGH_LOSS:.0%} below" if settings.quick
        else f"{BETTER:.0%}, at most {100 * LOSS:g}% below",
        _judged(settings, rows, worst <= ROUGH_LOSS if settings.quick
                else better >= BETTER * len(rows) and worst <= LOSS),
    )  # fmt: skip


def _shares(gaps: Sequence[float]) -> str:
    median, ninth, most = 100 * np.quantile(gaps, [0.5, 0.9, 1.0])
    return f"median {median:.3f}%, nine in ten {ninth:.3f}%, most {most:.2f}%"


CHECKS: dict[str, Check] = {
    "many-runs": check_runs,
    **{family.name: partial(check, family) for family in FAMILIES},
    **many_pulls.CHECKS,
}
