"""Results that tell what they are in a few lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape

__all__ = ["Described"]


class Described(ABC):
    """A result that shows as a title and a few facts, as text or as a table in a notebook."""

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
        return f"<table><caption>{escape(self._title())}</caption>{''.join(rows)}</table>"
