"""Problems by one word: the path of a file, or a name of the gallery or of a suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from restive.base.errors import refusal
from restive.base.words import guess
from restive.problems.gallery import GALLERY
from restive.problems.suites import describe, folder_name, suite, suites

if TYPE_CHECKING:
    from restive.model.bandit import Bandit


def is_path(word: str, folder: Path | None = None) -> bool:
    """Whether the word looks like the path of a problem file, or is one."""
    return word.lower().endswith((".toml", ".json")) or ((folder or Path()) / word).exists()


def problems_called(name: str) -> dict[str, Bandit]:
    """The problem of the gallery or of a suite by this name, or all problems of the suite.

    >>> list(problems_called("slow-arms")), len(problems_called("restive-suite-v1"))
    (['slow-arms'], 24)
    """
    if name in GALLERY:
        return {name: GALLERY[name].builder()}
    if folder_name(name) in suites():
        return suite(name)
    for collection in reversed(suites()):  # the newest first
        if name in {listed.name for listed in describe(collection).problems}:
            return {name: suite(collection)[name]}
    known = [*GALLERY, *suites(), *(p.name for s in suites() for p in describe(s).problems)]
    remedy = (
        f"{guess(name, known)}Give the path of a .toml or .json file, a problem of the gallery "
        f"({', '.join(GALLERY)}) or a suite ({', '.join(suites())}) or a problem of it."
    )
    raise refusal(name, "no such problem", "", remedy)


def find_problem(word: str) -> Bandit:
    """The problem in a file, of the gallery or of a suite; named after its file if by nothing else.

    >>> find_problem("example-1").name
    'Example 1, epsilon = 0.1'
    """
    from restive.model.bandit import Bandit
    from restive.model.files import load_problem

    if is_path(word):
        return load_problem(word)
    collection = problems_called(word)
    if len(collection) > 1:
        remedy = f"Name one of them, such as {next(iter(collection))}."
        raise refusal(word, f"a suite of {len(collection)} problems", "", remedy)
    ((name, bandit),) = collection.items()
    return bandit if bandit.name else Bandit(bandit.arms, name, bandit.pulls)
