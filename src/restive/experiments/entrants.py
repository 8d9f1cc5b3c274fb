"""Learners that enter an experiment: by name, with options, under a label."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from restive.base.errors import Fault, ProblemError
from restive.base.words import shown
from restive.experiments import own_modules
from restive.learners import LEARNERS, make_learner

if TYPE_CHECKING:
    import numpy as np

    from restive.learners import Learner
    from restive.model.bandit import Bandit

__all__ = ["Entrant", "closest", "entrants_from"]


@dataclass(frozen=True)
class Entrant:
    """A learner in an experiment.

    name: one of ``restive learners``, or "module:function" for a learner of your own; it is
    called with (bandit, horizon, delta, rng, **options) where the cells run. folders: where its
    module is looked for before everything else; the current folder, if none are given.
    """

    name: str
    label: str = ""  # the name, if empty
    options: Mapping[str, Any] = field(default_factory=dict)
    folders: Sequence[str | Path] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.name)
        object.__setattr__(self, "options", dict(self.options))
        folders = own_modules.absolute(self.folders) if self.own else ()
        object.__setattr__(self, "folders", folders)

    @property
    def own(self) -> bool:
        """Whether it is the user's own and not one of ``restive learners``."""
        return ":" in self.name

    @contextmanager
    def at_home(self) -> Iterator[None]:
        """A while in which its module finds what lies beside it, as a program of its own would."""
        with own_modules.searched(self.folders):
            yield

    def build(
        self, bandit: Bandit, horizon: int, delta: float, rng: np.random.Generator
    ) -> Learner:
        if not self.own:
            return make_learner(self.name, bandit, horizon, delta, rng, **self.options)
        make = own_modules.find(self.name, self.folders)
        learner: Learner = make(bandit, horizon, delta, rng, **self.options)
        return learner

    def faults(self) -> list[Fault]:
        """Everything wrong with its name and its options."""
        if self.own:
            return self._own_faults()
        entry = LEARNERS.get(self.name)
        if entry is None:
            remedy = f"{closest(self.name, LEARNERS)}Learners are {', '.join(LEARNERS)}."
            return [Fault("name", "no such learner", self.name, remedy)]
        known = {one.name: one for one in entry.parameters}
        faults = []
        for key, value in self.options.items():
            if key in known:
                faults += [fault.under("options") for fault in known[key].check(value)]
                continue
            remedy = f"Its options are {', '.join(known)}." if known else "It has no options."
            message = f"{self.name} has no such option"
            faults.append(Fault(f"options.{key}", message, shown(value), remedy))
        return faults

    def _own_faults(self) -> list[Fault]:
        places = " or ".join(map(str, self.folders))
        remedy = f"Write module:function, of a module in {places}, or of one that is installed."
        try:
            found = own_modules.find(self.name, self.folders)
        except Exception as error:  # whatever the module does when it is imported
            words = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            return [Fault("name", f"cannot be imported: {words}", self.name, remedy)]
        if not callable(found):
            return [Fault("name", "not a function", self.name, remedy)]
        try:
            json.dumps(self.options, allow_nan=False)
        except (TypeError, ValueError):
            remedy = "Use numbers, texts, truth values and lists of them."
            return [Fault("options", "cannot be written down", shown(self.options), remedy)]
        return []

    def to_dict(self) -> dict[str, Any]:
        """For JSON; a learner of the user's own has the hash of its source with it."""
        found = {"name": self.name, "label": self.label, "options": dict(self.options)}
        if self.own:
            found["sha256"] = own_modules.source_hash(self.name, self.folders)
        return found


def entrants_from(
    given: Any, folder: Path | None = None
) -> tuple[tuple[Entrant, ...], list[Fault]]:
    """Entrants from names, tables of an experiment file, or themselves; and all their faults.

    folder: of the experiment file, beside which the user's own modules may lie.
    """
    entrants: list[Entrant] = []
    faults: list[Fault] = []
    single = isinstance(given, str | Mapping | Entrant)
    if not single and not isinstance(given, Iterable):
        remedy = 'Give names of restive learners, such as ["tied-sampling", "thompson"].'
        return (), [Fault("learners", "not a list of learners", shown(given), remedy)]
    for k, item in enumerate([given] if single else given):
        try:
            entrant = _entrant(item, folder)
            faults += [fault.under(f"learners[{k}]") for fault in entrant.faults()]
            entrants.append(entrant)
        except ProblemError as error:
            faults += [fault.under(f"learners[{k}]") for fault in error.faults]
    labels = [entrant.label for entrant in entrants]
    for k, label in enumerate(labels):
        if label in labels[:k]:
            remedy = "Give every learner a label of its own."
            faults.append(Fault(f"learners[{k}].label", "label used twice", shown(label), remedy))
        if not any(c.isprintable() and not c.isspace() for c in label):
            remedy = "Give a label with letters in it, or none: then it is the learner's name."
            faults.append(Fault(f"learners[{k}].label", "blank label", ascii(label), remedy))
    if not entrants and not faults:
        faults.append(Fault("learners", "there are none", "", "Give at least one learner."))
    return tuple(entrants), faults


def _entrant(item: Any, folder: Path | None) -> Entrant:
    folders = () if folder is None else (folder, Path())
    if isinstance(item, Entrant):
        return item
    if isinstance(item, str):
        return Entrant(item, folders=folders)
    if not isinstance(item, Mapping):
        raise ProblemError([Fault("", "not a learner", shown(item), "Give its name.")])
    faults = []
    for key in item:
        if key not in ("name", "label", "options"):
            remedy = "A learner has a name, a label and options."
            faults.append(Fault(str(key), "no such field", shown(item[key]), remedy))
    for key in ("name", "label"):
        if not isinstance(item.get(key, ""), str) or (key == "name" and not item.get(key)):
            found = shown(item.get(key, ""))
            faults.append(Fault(key, "not a name", found, "Give a text in quotation marks."))
    if not isinstance(item.get("options", {}), Mapping):
        remedy = "Write a table: options = { growth = 0.1 }."
        faults.append(Fault("options", "not a table", shown(item["options"]), remedy))
    if faults:
        raise ProblemError(faults)
    return Entrant(item["name"], item.get("label", ""), item.get("options", {}), folders)


def closest(word: str, known: Iterable[str]) -> str:
    """A guess at what was meant, as the first sentence of a remedy, or nothing."""
    found = difflib.get_close_matches(word, list(known), n=1)
    return f"Did you mean {found[0]}? " if found else ""
