"""A run of the paper as a page: Markdown to read, JSON for programs, and one page of HTML."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from restive.base.errors import Fault, ProblemError
from restive.base.writing import write_text
from restive.paper.catalogue import CLAIMS
from restive.paper.claim import Judgement

__all__ = ["check_folder", "facts", "markdown", "page", "write_report"]

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
    claims = results["claims"]
    if open_ := [claim["name"] for claim in claims if claim["verdict"] != claim["expected"]]:
        return f"{words} Open against expectation: {', '.join(open_)}."
    return f"{words} {'These' if of else 'The'} verdicts are those expected."


def markdown(results: dict[str, Any]) -> str:
    """The run as a Markdown page."""
    lines = ["# The paper, claim by claim", "", _intro(results), "",
             f"{results['paper']}. Made by `{results['command']}`, restive {results['version']}.",
             "", summary(results), ""]  # fmt: skip
    if results["interrupted"]:
        lines += ["The run was interrupted: claims that were not finished are left out.", ""]
    lines += [_row(HEADS), _row(["---"] * len(HEADS))]
    lines += [_row(_cells(c)) for c in results["claims"]]
    notes = [f"- **{c['name']}**: {c['note']}" for c in results["claims"] if c["note"]]
    return "\n".join([*lines, "", "## Notes", "", *notes, ""])


def _intro(results: dict[str, Any]) -> str:
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


STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #0072b2; --bad: #d55e00; --open: #777 }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% } td, th { border-bottom: 1px solid var(--line);
  padding: .4rem .5rem; text-align: left; vertical-align: top } th { white-space: nowrap }
.holds { color: var(--good) } .fails { color: var(--bad) } .open { color: var(--open) }
.small { font-size: 13px; opacity: .8 } code { overflow-wrap: anywhere }
@media screen and (max-width: 60rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  table, tbody, tr, td { display: block } body { overflow-wrap: anywhere }
  tr { padding: .6rem 0; border-bottom: 2px solid var(--line) } td { border: 0; padding: .15rem 0 }
  td::before { content: attr(data-head) ": "; font-size: 13px; opacity: .8 }
}
@media print { body { margin: 0; font-size: 10px } }
"""


def page(results: dict[str, Any]) -> str:
    """The run as one HTML page, light or dark as the reader's screen is."""
    rows = "\n".join(_html_row(claim) for claim in results["claims"])
    heads = "".join(f'<th scope="col">{head}</th>' for head in HEADS)
    stopped = "<p>The run was interrupted.</p>" if results["interrupted"] else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>The paper, claim by claim</title><style>{STYLE}</style></head><body>"
        f"<h1>The paper, claim by claim</h1><p>{escape(_intro(results)).replace('*', '')}</p>"
        f"<p>{escape(results['paper'])}. Made by "
        f"<code>{escape(results['command'])}</code>, restive {escape(results['version'])}.</p>"
        f"{stopped}<p><strong>{escape(summary(results))}</strong></p>\n"
        f"<table><thead><tr>{heads}</tr></thead><tbody>\n{rows}\n</tbody></table></body></html>\n"
    )


def _html_row(claim: dict[str, Any]) -> str:
    cells = [escape(cell) for cell in _cells(claim)]
    if claim["note"]:
        cells[4] += f'<p class="small">{escape(claim["note"])}</p>'
    kind = {"holds": "holds", "fails": "fails"}.get(claim["verdict"], "open")
    marked = f'<strong class="{kind}">{cells[6]}</strong>'
    shown = [f"<code>{cells[0]}</code>", *cells[1:6], marked]
    named = zip(HEADS, shown, strict=True)  # names that a narrow screen shows beside the cells
    return "<tr>" + "".join(f'<td data-head="{head}">{cell}</td>' for head, cell in named) + "</tr>"


def check_folder(folder: str) -> None:
    """Refuse a folder that cannot take files, before any work is done for it."""
    target = Path(folder)
    if folder and target.exists() and not target.is_dir():
        remedy = "Give the path of a folder; it is made if it does not exist."
        raise ProblemError([Fault("--out", "not a folder", folder, remedy)])
    if folder:
        target.mkdir(parents=True, exist_ok=True)


def write_report(results: dict[str, Any], folder: str) -> list[str]:
    """paper.md, paper.json and paper.html in ``folder``, each whole or not at all; their paths."""
    texts = {
        "paper.md": markdown(results),
        "paper.json": json.dumps(results, indent=1, allow_nan=False, ensure_ascii=False) + "\n",
        "paper.html": page(results),
    }
    written = []
    for name, text in texts.items():
        target = Path(folder) / name
        write_text(target, text)
        written.append(str(target))
    return written
