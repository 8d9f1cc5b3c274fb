"""Learners that take part in an experiment: by name or as objects, with options and labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union
from uuid import uuid4

from restive.base.checks import name_faults
from restive.base.errors import Fault, ProblemError, refusal, refuse
from restive.base.words import kind_and_line, shown
from restive.experiments import user_modules
from restive.experiments.fingerprint import UnknowableError
from restive.learners import LEARNERS
from restive.learners.fixed import FollowPolicy
from restive.policies.policy import Policy

if TYPE_CHECKING:
    import numpy as np

    from restive.learners import Learner
    from restive.model.bandit import Bandit


@dataclass(frozen=True)
class Participant:
    """A learner in an experiment.

    name: one of ``restive learners`` or that you declared, or "module:function" for a learner of
    your own. maker: a class, a function or a learner instead of a name; each run gets a learner of
    its own. Declared classes are built by their declaration; others are told what they ask for by
    name: bandit, n_arms, horizon, delta, rng; or by position (bandit, horizon, delta, rng).
    folders: where its module is looked for before everything else; the current folder, if none
    are given. module: that declares it, if restive does not; a process that runs a cell imports it.
    """

    name: str
    label: str = ""  # the name, if empty
    options: Mapping[str, Any] = field(default_factory=dict)
    folders: Sequence[str | Path] = field(default=(), repr=False, compare=False)
    maker: Any = field(default=None, repr=False, compare=False)
    module: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            remedy = "Write Participant.of(learner, label) for a class, a function or a learner."
            raise refusal("name", "not a name", shown(self.name), remedy)
        object.__setattr__(self, "label", self.label or self.name)
        object.__setattr__(self, "options", dict(self.options))
        object.__setattr__(self, "module", self.module or _declared_in(self.name))
        folders = user_modules.absolute(self.folders) if self.own else ()
        object.__setattr__(self, "folders", folders)

    @classmethod
    def of(cls, maker: Any, label: str = "", **options: Any) -> Participant:
        """A class, a function, a learner or a policy under a label of its own.

        >>> from restive.learners.rivals.index import IndexLearner
        >>> Participant.of(IndexLearner).label
        'IndexLearner'
        """
        if isinstance(maker, Policy):
            label, maker = label or _policy_name(maker), FollowPolicy(maker)
        name = user_modules.name_of(maker)
        return cls(name, label or name.rpartition(":")[2], options, (), maker)

    @property
    def own(self) -> bool:
        """Whether it is the user's own and not one that comes with restive."""
        return bool(self.module)

    def importing(self) -> AbstractContextManager[None]:
        """Its module finds what lies beside it while this is open."""
        return user_modules.searched(self.folders)

    def build(
        self, bandit: Bandit, horizon: int, delta: float, rng: np.random.Generator
    ) -> Learner:
        maker = self._resolved()
        declaration: Any = None
        if ":" not in self.name:
            declaration = LEARNERS.find(self.name)
        elif isinstance(maker, type):
            declaration = getattr(maker, "declaration", None)
        if declaration is not None:
            built: Learner = declaration.build(bandit, horizon, delta, rng, **self.options)
            return built
        facts = {
            "bandit": bandit, "n_arms": bandit.n_arms, "horizon": horizon, "delta": delta,
            "rng": rng,
        }  # fmt: skip
        learner: Learner = user_modules.call(maker, facts, self.options)
        return learner

    def faults(self) -> list[Fault]:
        """Everything wrong with its name and its options."""
        if ":" in self.name:
            return self._own_faults()
        try:
            entry = LEARNERS.find(self.name, "name")
        except ProblemError as error:
            return list(error.faults)
        return [fault.under("options") for fault in entry.option_faults(self.options)]

    def _own_faults(self) -> list[Fault]:
        places = " or ".join(map(str, self.folders))
        remedy = f"Write module:function, of a module in {places}, or of one that is installed."
        try:
            maker = self._resolved()
        except Exception as error:  # importing a user's module may raise anything
            message = f"cannot be imported: {kind_and_line(error)}"
            return [Fault("name", message, self.name, remedy)]
        if not user_modules.can_make(maker):
            return [Fault("name", "not a class, a function or a learner", self.name, remedy)]
        try:
            json.dumps(self.options, allow_nan=False)
        except (TypeError, ValueError):
            remedy = "Use numbers, texts, truth values and lists of them."
            return [Fault("options", "cannot be written down", shown(self.options), remedy)]
        return []

    def to_dict(self) -> dict[str, Any]:
        """For JSON; a learner of the user's own has a hash of all that it is made of with it.

        Where there is none it has a word that comes only once: its runs are never taken up again.
        """
        content = {"name": self.name, "label": self.label, "options": dict(self.options)}
        if self.own:
            try:
                content["sha256"] = self._identity()
            except UnknowableError:
                content["sha256"] = uuid4().hex
        return content

    def unknowable(self) -> str:
        """Why nobody can know whether it is the same another time; empty if that can be known."""
        try:
            self._identity()
        except UnknowableError as error:
            return str(error)
        return ""

    def _identity(self) -> str:
        """Of what it is now: globals and attributes may have changed since it was last asked."""
        if not self.own:
            return ""
        with self.importing():
            maker = self._resolved()
            module = "" if self.maker is not None else self.module  # where it is named
            return user_modules.identity(maker, module)

    def _resolved(self) -> Any:
        """What makes its learners."""
        if self.maker is not None:
            return self.maker
        if ":" in self.name:
            return user_modules.find(self.name, self.folders)
        if self.own and self.name not in LEARNERS:  # a process that has not imported it yet
            user_modules.load(self.module, self.folders)
        return LEARNERS.find(self.name).learner


def _policy_name(policy: Policy) -> str:
    """Its class, or the function that it asks."""
    function = getattr(policy, "function", None)
    return str(getattr(function, "__name__", type(policy).__name__))


def _declared_in(name: str) -> str:
    """The module of a learner that restive does not bring; empty for its own and unknown ones."""
    module, colon, _ = name.partition(":")
    if colon or name not in LEARNERS:
        return module if colon else ""
    entry = LEARNERS[name]
    return "" if entry.built_in else entry.learner.__module__


Maker = Callable[..., Any]
Learners = Union[
    str, Participant, Maker, "Learner",
    Iterable[Union[str, Participant, Maker, "Learner", Mapping[str, Any]]],
]  # fmt: skip


def participants_from(
    learners: Any, folder: Path | None = None
) -> tuple[tuple[Participant, ...], list[Fault]]:
    """Participants from names, Python objects, tables of an experiment file; and their faults.

    folder: of the experiment file, beside which the user's own modules may lie.
    """
    participants: list[Participant] = []
    faults: list[Fault] = []
    single = isinstance(learners, str | Mapping | Participant | Policy)
    single = single or user_modules.can_make(learners)
    if not single and not isinstance(learners, Iterable):
        remedy = 'Give names of restive learners, such as ["tied-sampling", "thompson"].'
        return (), [Fault("learners", "not a list of learners", shown(learners), remedy)]
    for k, item in enumerate([learners] if single else learners):
        try:
            participant = _participant(item, folder)
            faults += [fault.under(f"learners[{k}]") for fault in participant.faults()]
            participants.append(participant)
        except ProblemError as error:
            faults += [fault.under(f"learners[{k}]") for fault in error.faults]
    labels = [participant.label for participant in participants]
    remedy = "Give every learner a label of its own, with letters in it; if none, it is its name."
    faults += name_faults(labels, "learners[{}].label", "label", remedy)
    if not participants and not faults:
        faults.append(Fault("learners", "there are none", "", "Give at least one learner."))
    return tuple(participants), faults


def _participant(item: Any, folder: Path | None) -> Participant:
    folders = () if folder is None else (folder, Path())
    if isinstance(item, Participant):
        return item
    if isinstance(item, str):
        return Participant(item, folders=folders)
    if user_modules.can_make(item) or isinstance(item, Policy):
        return Participant.of(item)
    if not isinstance(item, Mapping):
        remedy = "Give its name, a class or a function that makes it, a learner or a policy."
        raise refusal("", "not a learner", shown(item), remedy)
    remedy = "A learner has a name, a label and options."
    faults = [
        Fault(str(key), "no such field", shown(item[key]), remedy)
        for key in item
        if key not in ("name", "label", "options")
    ]
    for key in ("name", "label"):
        if not isinstance(item.get(key, ""), str) or (key == "name" and not item.get(key)):
            text = shown(item.get(key, ""))
            faults.append(Fault(key, "not a name", text, "Give a text in quotation marks."))
    if not isinstance(item.get("options", {}), Mapping):
        remedy = "Write a table: options = { growth = 0.1 }."
        faults.append(Fault("options", "not a table", shown(item["options"]), remedy))
    refuse(faults)
    return Participant(item["name"], item.get("label", ""), item.get("options", {}), folders)
