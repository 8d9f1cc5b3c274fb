"""Learners named on the command line, of restive or of the user's own module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from restive.base.errors import ProblemError, RestiveError, refusal
from restive.base.options import parse_parameters
from restive.base.words import kind_and_line
from restive.learners import LEARNERS

if TYPE_CHECKING:
    from restive.experiments.participants import Participant


def read_participant(name: str, texts: Mapping[str, str], label: str = "") -> Participant:
    """The learner of this name with options as they were written.

    Of a learner of the user's own nothing is known: its options are read as JSON writes them.
    """
    from restive.experiments.participants import Participant

    if ":" in name:
        options = {key.replace("-", "_"): literal(text) for key, text in texts.items()}
    else:
        entry = LEARNERS.find(name, "--learner")
        options = parse_parameters(entry.name, entry.options, texts)
    participant = Participant(name, label, options)
    if faults := participant.faults():
        raise ProblemError([replace(fault, path="--learner") for fault in faults])
    return participant


def literal(text: str) -> Any:
    """A number, a truth value or a list, as JSON writes them, else the text itself.

    >>> literal("3"), literal(".5"), literal("true"), literal("fast")
    (3, 0.5, True, 'fast')
    """
    from json import loads

    for read in (int, float, loads):
        try:
            return read(text)
        except (ValueError, RecursionError):
            continue
    return text


@contextmanager
def own_errors(*participants: Participant) -> Iterator[None]:
    """What a learner of the user's own raises, in words with its place instead of a traceback."""
    try:
        yield
    except RestiveError:
        raise
    except (Exception, SystemExit) as error:
        names = [participant.name for participant in participants if participant.own]
        if not names:
            raise
        from traceback import extract_tb

        place = extract_tb(error.__traceback__)[-1]
        words = f"it raised {kind_and_line(error)}"
        remedy = f"See {place.filename}, line {place.lineno}, in {place.name}."
        raise refusal("--learner", words, ", ".join(names), remedy) from None
