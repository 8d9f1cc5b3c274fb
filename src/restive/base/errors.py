"""Errors that say where the trouble is, what was found there and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Fault:
    """One thing wrong with the user's input."""

    path: str  # where, as in the problem file: "arms[1].transitions[0]"
    message: str  # what is wrong
    value: str  # what was found there
    remedy: str  # what to do about it

    def under(self, prefix: str) -> Fault:
        """The same fault seen from one level further out."""
        joint = "" if not self.path or self.path.startswith("[") or not prefix else "."
        return replace(self, path=f"{prefix}{joint}{self.path}")

    def __str__(self) -> str:
        value = f" (found {self.value})" if self.value else ""
        return f"{self.path}: {self.message}{value}. {self.remedy}"


class RestiveError(Exception):
    """Base of every error that restive raises on purpose."""


class ProblemError(RestiveError, ValueError):
    """The input is not a valid problem; ``faults`` lists everything that is wrong with it."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class ArgumentError(RestiveError, ValueError):
    """An argument that a function cannot take; the message names it and says what it must be."""


def refusal(path: str, message: str, value: str, remedy: str) -> ProblemError:
    """The error of a single fault, to be raised."""
    return ProblemError([Fault(path, message, value, remedy)])


def refuse(faults: Sequence[Fault]) -> None:
    """Raise all faults at once, if there are any."""
    if faults:
        raise ProblemError(faults)


class OutOfTimeError(Exception):
    """The time for an answer is over; whoever set the limit catches it and gives what there is."""


class TooLargeError(RestiveError, MemoryError):
    """The answer does not fit in memory; the message says its size and what would fit."""
