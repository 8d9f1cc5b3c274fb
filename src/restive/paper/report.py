"""A run of the paper as Markdown to read and as facts for programs; report/paper has the page."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from restive.base.errors import refusal
from restive.paper.catalogue import CLAIMS
from restive.paper.claim import Judgement

PAPER = (
    "R. Ortner, D. Ryabko, P. Auer, R. Munos: Regret Bounds for Restless Markov Bandits (ALT 2012)"
)
ALL, SOME = "Every claim of the paper that can be checked", "Some claims of the paper"
INTRO = (
    "{}, with what was run, the number that came out and "
    "the criterion it was held against. A verdict is *holds*, *fails* or *not decided*; a claim "
    "that is false as printed is expected to fail, and its note has the counterexample. Criteria "
    "that rest on chance are wrong about a true claim with probability 1e-4 at most."
)
HEADS = ("claim", "place", "what it says", "what was run", "number", "criterion", "verdict")


def facts(
    outcomes: Sequence[Judgement], *, version: str, quick: bool, interrupted: bool, only: str = ""
) -> dict[str, Any]:
    """The whole run for JSON; the same bytes for the same version and any number of workers.

    only: the claims that were asked for, as they were given; all of them if empty.
    """
    counts = Counter(judgement.finding.verdict for judgement in outcomes)
    return {
        "version": version,
        "paper": PAPER,
        "scale": "quick" if quick else "full",
        "command": _command(quick, only),
        "known": len(CLAIMS),
        "interrupted": interrupted,
        "verdicts": {name: counts[name] for name in ("holds", "fails", "not decided")},
        "surprises": [judgement.claim.name for judgement in outcomes if judgement.surprising],
        "claims": [judgement.to_dict() for judgement in outcomes],
    }


def _command(quick: bool, only: str) -> str:
    words = ["restive", "paper", *["--quick"] * quick, *(["--only", only] if only else [])]
    return shlex.join(words)


def summary(results: dict[str, Any]) -> str:
    """One sentence or two about the verdicts."""
    count, shown = results["verdicts"], len(results["claims"])
    of = "" if shown == results["known"] else f" of {results['known']}"
    words = (
        f"{shown}{of} claims: {count['holds']} hold, {count['fails']} fail, "
        f"{count['not decided']} not decided."
    )
    wrong = results["surprises"]
    if wrong:
        return f"{words} Not as expected: {', '.join(wrong)}."
    return f"{words} {'These' if of else 'The'} verdicts are those expected."


def markdown(results: dict[str, Any]) -> str:
    """The run as a Markdown page."""
    lines = ["# The paper, claim by claim", "", intro(results), "",
             f"{results['paper']}. Made by `{results['command']}`, restive {results['version']}.",
             "", summary(results), ""]  # fmt: skip
    if results["interrupted"]:
        lines += ["The run was interrupted: claims that were not finished are left out.", ""]
    lines += [_row(HEADS), _row(["---"] * len(HEADS))]
    lines += [_row(_cells(c)) for c in results["claims"]]
    notes = [f"- **{c['name']}**: {c['note']}" for c in results["claims"] if c["note"]]
    return "\n".join([*lines, "", "## Notes", "", *notes, ""])


def intro(results: dict[str, Any]) -> str:
    """What the rows say, and whether these are all claims."""
    return INTRO.format(ALL if len(results["claims"]) == results["known"] else SOME)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cells(claim: dict[str, Any]) -> tuple[str, ...]:
    names = ("name", "place", "statement", "ran", "number", "criterion")
    return (*(claim[name] for name in names), verdict_words(claim))


def verdict_words(claim: dict[str, Any]) -> str:
    """The verdict, and whether it was known before."""
    if claim["verdict"] == claim["expected"] == "fails":
        return "fails, as known"
    if claim["verdict"] != claim["expected"]:
        return f"{claim['verdict']} (expected: {claim['expected']})"
    return str(claim["verdict"])


def check_folder(folder: str) -> None:
    """Refuse a folder that cannot take files, before any work is done for it."""
    target = Path(folder)
    if folder and target.exists() and not target.is_dir():
        remedy = "Give the path of a folder; it is made if it does not exist."
        raise refusal("--out", "not a folder", folder, remedy)
    if folder:
        target.mkdir(parents=True, exist_ok=True)
