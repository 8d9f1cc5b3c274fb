"""How a figure for a paper looks: its width, its panels, its labels, its letters."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_type_hints

from restive.base.errors import Fault, refuse
from restive.base.words import guess

COLUMNS = {"one": 3.4, "two": 7.0}  # inches, as in journals of two columns
# Times and TeX's own letters come with matplotlib; what the latter lack the former have
FAMILIES = {"plain": (), "serif": ("STIXGeneral",), "tex": ("cmr10", "STIXGeneral")}
MATHEMATICS = {"plain": "dejavusans", "serif": "stix", "tex": "cm"}


def require_choices(given: Iterable[tuple[str, Any, Collection[Any]]]) -> None:
    """Refuse what is not among its choices: (name, value, choices)."""
    faults = []
    for name, value, known in given:
        if value not in known:
            words = [str(choice) for choice in known]
            remedy = f"{guess(str(value), words)}Give one of {', '.join(words)}."
            faults.append(Fault(name, "not a choice", repr(value), remedy))
    refuse(faults)


@dataclass(frozen=True)
class Look:
    """width: columns of the page it fills. panels: 1 (logarithmic) or 2 (linear beside it).

    labels: names at the ends of the curves, or in a legend below. style: letters without serifs,
    with serifs (as in Times), or TeX's own; none of them needs TeX. title: the problem's name.
    """

    width: Literal["one", "two"] = "two"
    panels: Literal[1, 2] = 2
    labels: Literal["direct", "legend"] = "direct"
    style: Literal["plain", "serif", "tex"] = "plain"
    title: bool = True

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self)).items()
        choices = {name: known for name, hint in hints if (known := get_args(hint))}
        require_choices((name, getattr(self, name), known) for name, known in choices.items())

    @property
    def letters(self) -> float:
        """Size of the letters, in points."""
        return 8.5 if self.width == "two" else 8.0

    @property
    def stacked(self) -> bool:
        """Whether two panels stand one above the other."""
        return self.panels == 2 and self.width == "one"

    def size(self, names: int) -> tuple[float, float]:
        """Inches of a figure with the curves of so many learners."""
        height = {"one": 2.4, "two": 2.9}[self.width]
        if self.labels == "direct":
            height = max(height, 0.9 + names * 1.3 * self.letters / 72)
        else:
            height += 0.17 * -(-names // (2 if self.width == "one" else 4))
        height += 2.2 if self.stacked else 0.0
        return COLUMNS[self.width], height + 0.2 * self.title

    def settings(self) -> dict[str, Any]:
        """Of matplotlib, beyond those of every picture."""
        return {
            "pdf.fonttype": 42,  # letters as letters, which journals ask for
            "font.size": self.letters,
            "mathtext.fontset": MATHEMATICS[self.style],
            "axes.labelsize": self.letters,
            "xtick.labelsize": self.letters - 1,
            "ytick.labelsize": self.letters - 1,
            "legend.fontsize": self.letters - 0.5,
            "axes.linewidth": 0.7,
        }

    @property
    def families(self) -> tuple[str, ...]:
        """Fonts to write with, before those of every picture."""
        return FAMILIES[self.style]

    @classmethod
    def of(cls, **choices: Any) -> Look:
        """From the options that were given; one column has its names in a legend by default."""
        known = [field.name for field in fields(cls)]
        require_choices(("option", name, known) for name in choices)
        chosen = {name: value for name, value in choices.items() if value is not None}
        if chosen.get("width") == "one":
            chosen.setdefault("labels", "legend")
        return cls(**chosen)
