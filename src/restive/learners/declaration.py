"""What a learner says of itself, once, at its class; listing, building and loading read it here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from inspect import Parameter as Argument
from inspect import cleandoc, signature
from numbers import Number
from pkgutil import walk_packages
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from restive.base.checks import require_arms
from restive.base.errors import Fault, ProblemError, RestiveError, refusal, refuse
from restive.base.options import Parameter
from restive.base.words import clauses, guess
from restive.learners.forms import Practice, practical

if TYPE_CHECKING:
    import numpy as np

    from restive.learners.contract import Learner
    from restive.model.bandit import Bandit

L = TypeVar("L", bound="type[Learner]")

DEFAULT = "tied-sampling"  # which plays if nobody is named
PACKAGE = "restive.learners"
ROOMS = {"tied": 0, "paper": 1, "rivals": 2}


def any_bandit(bandit: Bandit) -> None:
    """Refuses none."""


@dataclass(frozen=True)
class Declaration:
    """One learner: what it is and promises, what it takes, and how it is built and loaded.

    A learner is built by its class method ``from_problem``, or its constructor if it has none. Of
    n_arms, pulls (a step), sizes, bandit, problem (a bandit or the number of arms), horizon, delta,
    rng and the options, it gets those that are parameters there (or go to its ``**options``): what
    is not named is not told. It is loaded from its ``settings``, by its class method
    ``from_settings`` or, if it has none, its constructor, whose arguments but ``rng`` they are.
    """

    name: str
    description: str
    guarantee: str  # which regret is bounded, and under which assumptions
    assumes: str  # of the problem
    told: str  # about the problem, beforehand
    learner: type[Learner]
    deviation: str = ""  # from its paper, if there is one
    cites: tuple[str, ...] = ()  # keys of ``references``, or words
    options: tuple[Parameter, ...] = ()
    refuse: Callable[[Bandit], object] = any_bandit  # raises for a bandit it is not made for
    yardstick: bool = False  # knows the truth, or a part of it that no learner could be told
    several_pulls: bool = False  # whether it can choose several arms a step, and learn from them
    for_bandits: bool = True  # others, for MDPs, are loaded and listed, not built by name
    practice: Practice | None = None  # constants of the form NAME-tuned, which is declared with it
    published: str = ""  # for a form in practice: the entry of the published one

    @property
    def builder(self) -> Callable[..., Learner]:
        return getattr(self.learner, "from_problem", self.learner)

    @cached_property
    def takes(self) -> Mapping[str, Argument]:
        """The builder's parameters by name."""
        return signature(self.builder).parameters

    @property
    def takes_any(self) -> bool:
        """Whether options may go to the builder's ``**options``."""
        return any(argument.kind is Argument.VAR_KEYWORD for argument in self.takes.values())

    @property
    def built_in(self) -> bool:
        """Whether it comes with restive."""
        return self.learner.__module__.startswith(f"{PACKAGE}.")

    @property
    def needs_bandit(self) -> bool:
        """Whether it is told more of the arms than how many there are."""
        return not self.takes.keys().isdisjoint({"bandit", "sizes"})

    @property
    def needs_horizon(self) -> bool:
        """Whether it cannot be built without a horizon, whatever its options."""
        return "horizon" in self.takes and self.takes["horizon"].default is Argument.empty

    def why_not(self, bandit: Bandit) -> str | None:
        """Why it is not made for this bandit; None if it is."""
        try:
            self._require_fit(bandit)
        except ProblemError as error:
            return "; ".join(fault.message for fault in error.faults)
        except RestiveError as error:
            return str(error)
        return None

    def option_faults(self, options: Mapping[str, Any]) -> list[Fault]:
        """Everything wrong with these options."""
        known = {option.name: option for option in self.options}
        faults = []
        remedy = f"Its options are {', '.join(known)}." if known else "It has no options."
        for key, value in options.items():
            unknown = Fault(key, f"{self.name} has no such option", repr(value)[:80], remedy)
            faults += known[key].check(value) if key in known else [unknown]
        return faults

    def build(
        self, problem: Bandit | int, horizon: int | None = None, delta: float = 0.05,
        rng: int | np.random.Generator = 0, **options: Any,
    ) -> Learner:  # fmt: skip
        """The learner for a bandit, or a number of arms."""
        faults = self.option_faults(options)
        if horizon is None and self.needs_horizon:
            faults += [Fault("horizon", "needed by this learner", "None", "Say how many steps.")]
        refuse(faults)
        chosen = {option.name: option.default for option in self.options} | options
        inputs = self._of_problem(problem) | {"horizon": horizon, "delta": delta, "rng": rng}
        told = {name: value for name, value in inputs.items() if name in self.takes}
        return self._named(self.builder(**told, **chosen))

    def rebuild(self, settings: Mapping[str, Any]) -> Learner:
        """The learner that had these settings, as it was before its first step."""
        if hasattr(self.learner, "from_settings"):
            return self._named(self.learner.from_settings(settings))
        arguments = dict(settings)
        if "bandit" in arguments:
            from restive.learners.storage import decode_bandit

            arguments["bandit"] = decode_bandit(arguments["bandit"])
        return self._named(self.learner(**arguments))

    def _named(self, learner: Learner) -> Learner:
        """The learner under the name of its form: a class has the published one."""
        if self.published:
            learner.name, learner.guarantee = self.name, self.guarantee
            learner.deviation = self.deviation
        return learner

    def settings(self, learner: Learner) -> dict[str, Any]:
        """The constructor's arguments but ``rng``, from attributes of the same names, for JSON."""
        from restive.learners.storage import encode_argument

        names = (name for name in signature(self.learner).parameters if name != "rng")
        return {name: encode_argument(getattr(learner, name)) for name in names}

    def _of_problem(self, problem: Bandit | int) -> dict[str, Any]:
        from restive.model.arguments import require_bandit
        from restive.model.bandit import Bandit

        if not isinstance(problem, Bandit | Number):
            require_bandit(problem, "problem")
        if not isinstance(problem, Bandit):
            require_arms(problem)
            if self.needs_bandit:
                remedy = f"Give the bandit: the learner is told {self.told}."
                message = f"{self.name} needs more than the number of arms"
                raise refusal("problem", message, str(problem), remedy)
            return {"n_arms": problem, "pulls": 1, "problem": problem, "groups": ()}
        self._require_fit(problem)
        return {"n_arms": problem.n_arms, "pulls": problem.pulls, "sizes": problem.n_states,
                "bandit": problem, "problem": problem, "groups": problem.groups}  # fmt: skip

    def _require_fit(self, bandit: Bandit) -> None:
        """Refuse a bandit that the learner is not made for, or that has too many pulls a step."""
        if bandit.pulls > 1 and not self.several_pulls:
            raise too_many_pulls(self.name, bandit.pulls, "Set pulls to 1")
        self.refuse(bandit)


def too_many_pulls(name: str, pulls: int, first: str) -> ProblemError:
    """The error of a learner that cannot choose so many arms a step. first: the first remedy."""
    able = ", ".join(known for known, entry in LEARNERS.items() if entry.several_pulls)
    remedy = f"{first}, or play {able}, built for a bandit with several pulls."
    return refusal("pulls", f"{name} cannot choose so many arms", str(pulls), remedy)


def declare(
    name: str, description: str, *, options: Sequence[Parameter] = (), **words: Any
) -> Callable[[L], L]:
    """Declare a learner's class; the keywords are the fields of ``Declaration``.

    An option whose default is ``...`` has the one that the builder's signature gives it.

    >>> from restive.learners import Learner
    >>> @declare("first", "pulls the first arm", guarantee="none", assumes="nothing",
    ...          told="the number of arms")
    ... class First(Learner):
    ...     def __init__(self, n_arms: int) -> None:
    ...         self.n_arms = n_arms
    >>> LEARNERS["first"].needs_bandit
    False
    >>> LEARNERS.forget("first")
    """

    def register(learner: L) -> L:
        plain = Declaration(name, description, learner=learner, **words)
        known = tuple(_completed(option, plain) for option in options)
        entry = replace(plain, options=known)
        LEARNERS.add(entry)
        if entry.practice is not None:
            LEARNERS.add(practical(entry, entry.practice))
        return learner

    return register


def _completed(option: Parameter, entry: Declaration) -> Parameter:
    """The option with its default, once the builder is known to take it."""
    argument = entry.takes.get(option.name)
    if argument is not None and option.default is ...:
        return replace(option, default=argument.default)
    if argument is None and not entry.takes_any:
        words = f"{entry.builder.__qualname__} has no such parameter"
        raise refusal(option.name, words, entry.name, "Add it, or do not declare it.")
    return option


class Registry(Mapping[str, Declaration]):
    """Declarations by name, the default first; restive's own modules are imported on first use."""

    def __init__(self) -> None:
        self._declared: dict[str, Declaration] = {}
        self._complete = False
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"LEARNERS({', '.join(self)})"

    def add(self, entry: Declaration) -> None:
        """Enter a declaration; a class may come again, as when a notebook's cell is rerun."""
        kind = entry.learner
        if not entry.built_in:
            self._discover()  # a name that restive has itself is taken
        old = self._declared.get(entry.name)
        if old is not None and repr(old.learner) != repr(kind):  # module and name of the class
            taken = f"{old.learner.__module__}.{old.learner.__qualname__}"
            remedy = f"Choose another name: {taken} has this one."
            raise refusal("name", "declared already", entry.name, remedy)
        if not entry.published:
            kind.name, kind.guarantee, kind.deviation = entry.name, entry.guarantee, entry.deviation
            kind.declaration, kind.several_pulls = entry, entry.several_pulls
            lines = [f"Deviation: {words}." for words in clauses(entry.deviation)]
            kind.__doc__ = "\n\n".join([cleandoc(kind.__doc__ or ""), *lines])
        self._declared[entry.name] = entry

    def forget(self, name: str) -> None:
        """Take a declaration out again."""
        del self._declared[name]

    def find(self, name: str, path: str = "learner") -> Declaration:
        """The declaration of this name, or an error that names the closest one."""
        if name in self:
            return self[name]
        close = guess(name, self)  # the list is long: only for those who are far off
        remedy = f"{close}restive learners lists all." if close else f"Learners: {', '.join(self)}."
        raise refusal(path, "no such learner", name, remedy)

    def declared(self) -> Mapping[str, Declaration]:
        """All declarations, of learners that are not for bandits too."""
        self._discover()
        return self._declared

    def __getitem__(self, name: str) -> Declaration:
        entry = self.declared()[name]
        if not entry.for_bandits:
            raise KeyError(name)
        return entry

    def __iter__(self) -> Iterator[str]:
        """The default, restive's own, rivals, the user's own, yardsticks."""
        names = (name for name, entry in self.declared().items() if entry.for_bandits)
        return iter(sorted(names, key=self._rank))

    def _rank(self, name: str) -> tuple[Any, ...]:
        entry = self._declared[name]
        module = entry.learner.__module__
        room = module.removeprefix(f"{PACKAGE}.").partition(".")[0]
        return name != DEFAULT, entry.yardstick, ROOMS.get(room, len(ROOMS)), module

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _discover(self) -> None:
        if self._complete:
            return
        with self._lock:
            for module in walk_packages(import_module(PACKAGE).__path__, f"{PACKAGE}."):
                import_module(module.name)
            self._complete = True


LEARNERS = Registry()
