"""Results that tell what they are in a few lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from html import escape
from typing import Any

from restive.base.pictured import Pictured

FEW = 4  # entries of a collection that are all shown
SMALL = 8  # numbers of an array
LONGEST = 400  # letters of one value


class Described(ABC):
    """A result that shows as a title and a few facts, as text or as a table in a notebook.

    One that can be drawn shows its picture below the table.
    """

    @abstractmethod
    def _title(self) -> str: ...

    @abstractmethod
    def _facts(self) -> list[tuple[str, str]]:
        """What a reader wants to know first: pairs of a heading and words."""

    def __repr__(self) -> str:
        return "\n  ".join([self._title(), *(f"{head}: {text}" for head, text in self._facts())])

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><th>{escape(head)}</th><td>{escape(text)}</td></tr>"
            for head, text in self._facts()
        )
        table = f"<table><caption>{escape(self._title())}</caption>{''.join(rows)}</table>"
        return table + (self.picture_html() if isinstance(self, Pictured) else "")


class Brief:
    """A dataclass (with ``repr=False``) that shows its fields, of large ones only their size."""

    def __repr__(self) -> str:
        shown = (field.name for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return in_brief(self, **{name: getattr(self, name) for name in shown})


def in_brief(owner: object, **facts: Any) -> str:
    """What an object shows: its class with these facts.

    >>> in_brief(object(), n_arms=2, steps=0)
    'object(n_arms=2, steps=0)'
    """
    inside = ", ".join(f"{name}={brief(value)}" for name, value in facts.items())
    return f"{type(owner).__name__}({inside})"


def brief(value: Any) -> str:
    """A value in few letters: arrays by their shape, long collections by their length.

    >>> import numpy as np
    >>> brief(np.zeros((200, 3))), brief(np.array([0.5, 1])), brief(range(7))
    ('array of 200 x 3', '[0.5, 1.0]', 'range(0, 7)')
    >>> brief(tuple("abcdefg")), brief(("a", "b"))
    ("('a', ... 6 more)", "('a', 'b')")
    """
    if hasattr(value, "dtype") and hasattr(value, "shape") and value.shape:
        if value.size <= SMALL:
            return str(value.tolist())
        return f"array of {' x '.join(map(str, value.shape))}"
    if isinstance(value, tuple | list):
        few = value if len(value) <= FEW else value[:1]
        words = [brief(entry) for entry in few]
        if len(value) > FEW:
            words.append(f"... {len(value) - 1:,} more")
        inside = ", ".join(words)
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
