"""BibTeX for what a paper used: restive itself, its suites, and what its learners cite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from restive import __version__
from restive.base.errors import refusal
from restive.base.latex import tex
from restive.base.words import guess
from restive.learners import LEARNERS
from restive.learners.references import bibtex_entry, cited
from restive.problems.suites import Suite, describe, suites

TOOL = "restive"
TITLE = "restive: restless Markov bandits, planned exactly and learned"
DEVELOPERS = "{The restive developers}"


def bibtex(names: Sequence[str] = ()) -> str:
    """Entries for these learners and suites, each paper once; for everything if none is named.

    "restive" stands for the tool and the paper it builds on. A learner without a paper is cited as
    the tool.

    >>> print(bibtex(["ucb1"]).splitlines()[0])
    @article{auer2002-finite,
    """
    known = [TOOL, *suites(), *LEARNERS]
    for name in names:
        if name not in known:
            remedy = f"{guess(name, known)}Give names of restive learners, {', '.join(known[:2])}."
            raise refusal("NAME", "nothing of this name to cite", name, remedy)
    entries = dict.fromkeys(entry for name in names or known for entry in _entries(name))
    return "\n\n".join(entries) + "\n"


def _entries(name: str) -> Iterator[str]:
    if name == TOOL:
        yield _tool()
        yield from _papers(("ortner2012",))
    elif name in suites():
        yield _suite(describe(name))
    else:
        papers = list(_papers(LEARNERS[name].cites))
        yield from papers or [_tool()]


def _papers(cites: Sequence[str]) -> Iterator[str]:
    for cite in cites:
        reference = cited(cite)
        if reference is not None:
            yield reference.bibtex()


def _tool() -> str:
    return _software(TOOL, TITLE, f"Version {__version__}")


def _suite(suite: Suite) -> str:
    note = f"{len(suite.problems)} problems, distributed with restive {__version__}"
    return _software(suite.name, f"{suite.citation}: {_short(suite.description)}", note)


def _short(description: str) -> str:
    """What stands before the details, as the end of a title."""
    first = description.split(":")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def _software(key: str, title: str, note: str) -> str:
    fields = {"author": DEVELOPERS, "title": f"{{{tex(title)}}}", "note": tex(note)}
    return bibtex_entry("misc", key, fields)
