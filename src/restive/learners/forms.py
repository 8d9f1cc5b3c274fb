"""A second form of a published learner: the same algorithm with constants as one would choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from restive.base.errors import refusal

if TYPE_CHECKING:
    from restive.learners.declaration import Declaration

SUFFIX = "-tuned"


@dataclass(frozen=True)
class Practice:
    """How a learner is run in practice: options other than the published ones, and why.

    ``options`` are the defaults of the entry NAME-tuned, which is declared beside NAME. For the
    learners that come with restive they are those of docs/benchmarks/tuning.json.
    """

    options: Mapping[str, Any]
    differs: str  # from the published form
    told: str = ""  # about the problem, if less than the published form
    guarantee: str = "none with these constants"


def practical(entry: Declaration, practice: Practice) -> Declaration:
    """The entry of a learner's form in practice."""
    known = [option.name for option in entry.options]
    strange = [name for name in practice.options if name not in known]
    if strange:
        remedy = f"Its options are {', '.join(known)}."
        raise refusal(entry.name, "not an option of it", ", ".join(strange), remedy)
    options = tuple(
        replace(option, default=practice.options.get(option.name, option.default))
        for option in entry.options
    )
    differs = f"as {entry.name}, but {practice.differs}"
    deviation = f"{differs}; {entry.deviation}" if entry.deviation else differs
    return replace(
        entry, name=entry.name + SUFFIX, description=f"{entry.name} with tuned constants",
        guarantee=practice.guarantee, told=practice.told or entry.told, deviation=deviation,
        options=options, published=entry.name, practice=None,
    )  # fmt: skip
