"""``paper.html``: every claim with its verdict, its numbers and a figure, formulas typeset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from restive.base.writing import write_text
from restive.paper.report import intro, markdown, summary, verdict_words
from restive.report.drawing.pages import render_page
from restive.report.paper.drawing import chart_key, chart_picture
from restive.report.paper.formulas import typeset

KINDS = {"holds": "holds", "fails": "fails", "not decided": "open"}


def write_paper(results: dict[str, Any], folder: str) -> list[str]:
    """paper.md, paper.json and paper.html in ``folder``, each whole or not at all; their paths."""
    texts = {
        "paper.md": markdown(results),
        "paper.json": json.dumps(results, indent=1, allow_nan=False, ensure_ascii=False) + "\n",
        "paper.html": paper_page(results),
    }
    written = []
    for name, text in texts.items():
        target = Path(folder) / name
        write_text(target, text)
        written.append(str(target))
    return written


def paper_page(results: dict[str, Any]) -> str:
    """The run as one page that needs nothing else; results: what ``paper.json`` holds."""
    context = {
        "summary": summary(results),
        "intro": intro(results).replace("*", ""),
        "claims": [_claim(claim, results) for claim in results["claims"]],
    }
    shown = ("paper", "command", "version", "interrupted")
    return render_page("paper.html.j2", context | {key: results[key] for key in shown})


def _claim(claim: dict[str, Any], results: dict[str, Any]) -> dict[str, Any]:
    names = {other["name"] for other in results["claims"]}
    texts = {
        key: _kept(typeset(claim[key]), names)
        for key in ("place", "statement", "ran", "number", "criterion", "note")
    }
    kind = KINDS[claim["verdict"]]
    if claim["verdict"] != claim["expected"]:
        kind = "surprise"
    shown = {"name": claim["name"], "kind": kind, "verdict": verdict_words(claim), "picture": ""}
    chart = claim["figure"]
    if chart is not None:
        words = f"{claim['name']}: {claim['number']}"
        key = [(sample, typeset(name)) for sample, name in chart_key(chart)]
        titles = {"across": typeset(chart["x"]), "upright": typeset(chart["y"])}
        shown |= {"picture": chart_picture(chart, words), "key": key} | titles
    return texts | shown


def _kept(text: Markup, names: set[str]) -> Markup:
    """Names of other claims as links that do not break inside."""
    words = str(text).split(" ")
    for k, word in enumerate(words):
        bare = word.strip("().,:;")
        if "-" in bare and bare in names:
            link = f'<a class="keep" href="#{escape(bare)}">{escape(bare)}</a>'
            words[k] = word.replace(bare, link)
    return Markup(" ".join(words))
