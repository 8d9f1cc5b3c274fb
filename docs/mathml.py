"""Typeset mathematics as MathML when the site is built: no scripts, no fonts, no network."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

__all__ = ["setup"]

log = logging.getLogger(__name__)

# spaces as LaTeX has them: none around "/" and "|", a thin one between a function and its argument
BARE = re.compile(r"<mo(?: stretchy=\"false\")?>(&#x0002F;|&#x0007C;)</mo>")
FUNCTION = re.compile(r"(<mi>(?:log|exp|sin)</mi>|<msub><mi>log</mi><mn>2</mn></msub>)(?=<m[is])")
BEFORE = re.compile(r"(</m(?:i|n|sub|sup|row)>)(?=<mi>(?:log|exp|sin)</mi>|<msub><mi>log</mi>)")
PRIME = re.compile(r"<mi>(&#x02032;|&#x02033;)</mi>")


def mathml(tex: str, display: str, node: Any) -> str:
    """The formula, or its source with a warning, which stops a build with ``-W``."""
    try:
        formula = convert(tex, display=display)
        formula = BARE.sub(r'<mo lspace="0" rspace="0" stretchy="false">\1</mo>', formula)
        for between in (FUNCTION, BEFORE):
            formula = between.sub(r'\1<mspace width="0.17em"/>', formula)
        return PRIME.sub(r"<mo>\1</mo>", formula)
    except Exception as error:  # whatever a parser may raise on a slip in a formula
        log.warning("formula not understood (%s): %s", type(error).__name__, tex, location=node)
        return f"<code>{escape(tex)}</code>"


def visit_inline(translator: Any, node: Any) -> None:
    translator.body.append(mathml(node.astext(), "inline", node))
    raise nodes.SkipNode


def visit_block(translator: Any, node: Any) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(mathml(node.astext(), "block", node))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
