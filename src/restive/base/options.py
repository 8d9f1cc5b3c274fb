"""Parameters that may come as text: how to read them, what they may be, and how to say so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from math import inf, isfinite
from typing import Any, Literal, ParamSpec, TypeVar

from restive.base.errors import Fault, ProblemError, refusal, refuse
from restive.base.numerals import whole_in
from restive.base.words import guess

P = ParamSpec("P")
R = TypeVar("R")

Kind = Literal["float", "int", "bool", "floats", "ints", "choice", "seed"]
_WHOLE = ("int", "ints", "seed")


@dataclass(frozen=True)
class Parameter:
    """One parameter: its kind, its default and the values it may take.

    The kinds "floats" and "ints" take one number or several, a "seed" is a whole number as text
    or, in a program, anything NumPy makes a generator of. ``low`` and ``high`` are admissible
    themselves unless ``above`` and ``below`` say otherwise. A default of None makes it optional.

    >>> Parameter("stay", "float", 0.0, "probability of staying", 0, 1, below=True).range
    'a number from 0 to below 1'
    """

    name: str
    kind: Kind
    default: Any
    help: str
    low: float = -inf
    high: float = inf
    above: bool = False
    below: bool = False
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> Any:
        """The value that ``text`` stands for; several numbers are separated by commas."""
        try:
            return _READERS[self.kind](text.strip())
        except (ValueError, KeyError, OverflowError):
            raise ProblemError([self._fault(text)]) from None

    def check(self, value: Any) -> list[Fault]:
        """What is wrong with a value: nothing, or one fault."""
        exempt = self.kind == "seed" and not isinstance(value, int | float | str)
        if exempt or (value is None and self.default is None):
            return []
        many = self.kind in ("floats", "ints") and hasattr(value, "__len__")
        entries = list(value) if many and not isinstance(value, str) else [value]
        return [] if entries and all(map(self._fits, entries)) else [self._fault(value)]

    @property
    def range(self) -> str:
        """The admissible values in words."""
        if self.kind in ("bool", "choice"):
            return " or ".join(self.choices or ("true", "false"))
        words = "a whole number" if self.kind in _WHOLE else "a number"
        if isfinite(self.low):
            words += f" above {self.low:g}" if self.above else f" from {self.low:g}"
        if isfinite(self.high):
            words += f" to below {self.high:g}" if self.below else f" to {self.high:g}"
        several = ", or several separated by commas" if self.kind in ("floats", "ints") else ""
        return words + several

    @property
    def schema(self) -> dict[str, Any]:
        """The admissible values as a JSON schema.

        >>> Parameter("stay", "float", 0.0, "probability of staying", 0, 1, below=True).schema
        {'description': 'probability of staying', 'default': 0.0, 'type': 'number', 'minimum': 0, \
'exclusiveMaximum': 1}
        """
        head = {"description": self.help, "default": self.default}
        form = self._form()
        forms = [form]
        if self.kind in ("floats", "ints"):
            forms.append({"type": "array", "items": form, "minItems": 1})
        if self.default is None:
            forms.append({"type": "null"})
        return head | (form if len(forms) == 1 else {"anyOf": forms})

    def _form(self) -> dict[str, Any]:
        """The schema of a single value."""
        if self.kind == "choice":
            return {"enum": list(self.choices)}
        if self.kind == "bool":
            return {"type": "boolean"}
        low, high = "exclusiveMinimum" * self.above, "exclusiveMaximum" * self.below
        ends = {low or "minimum": self.low, high or "maximum": self.high}
        kind = "integer" if self.kind in _WHOLE else "number"
        return {"type": kind, **{end: value for end, value in ends.items() if isfinite(value)}}

    def _fits(self, value: Any) -> bool:
        if self.kind == "choice":
            return value in self.choices
        if self.kind == "bool" or isinstance(value, bool | str):
            return self.kind == "bool" and isinstance(value, bool)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            return False
        if not isfinite(number) or (self.kind in _WHOLE and number != int(number)):
            return False
        return (
            self.low <= number <= self.high
            and not (self.above and number == self.low)
            and not (self.below and number == self.high)
        )

    def _fault(self, value: Any) -> Fault:
        text = value if isinstance(value, str) else repr(value)
        return Fault(self.name, "not a value for it", text[:80], f"Give {self.range}.")


def parse_parameters(
    owner: str, parameters: Sequence[Parameter], texts: Mapping[str, str]
) -> dict[str, Any]:
    """Values by name for the parameters given as ``texts``, or every fault among them.

    Hyphens in names count as underscores, as on a command line.
    """
    known = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for key, text in texts.items():
        name = key.replace("-", "_")
        if name not in known:
            faults.append(Fault(key, f"{owner} has no such parameter", text, _choice(name, known)))
            continue
        try:
            values[name] = known[name].parse(text)
            faults += known[name].check(values[name])
        except ProblemError as error:
            faults += error.faults
    refuse(faults)
    return values


def checked(function: Callable[P, R], parameters: Sequence[Parameter]) -> Callable[P, R]:
    """The same function, raising ProblemError for arguments that its parameters do not admit."""

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        arguments = signature(function).bind(*args, **kwargs).arguments
        faults = [f for p in parameters if p.name in arguments for f in p.check(arguments[p.name])]
        refuse(faults)
        return function(*args, **kwargs)

    return guarded


def spread(name: str, value: Any, count: int, of: str = "arms") -> list[Any]:
    """One value for each of ``count`` things, from a list of that length or a single value."""
    values = list(value) if hasattr(value, "__len__") else [value] * count
    if len(values) != count:
        message = f"{len(values)} values for {count} {of}"
        raise refusal(name, message, repr(value)[:80], f"Give one number, or {count} of them.")
    return values


def _choice(name: str, known: Mapping[str, Parameter]) -> str:
    if not known:
        return "It has no parameters."
    return f"{guess(name, known)}Its parameters are {', '.join(known)}."


def _whole(text: str) -> int:
    number = whole_in(text)
    if number is None:
        raise ValueError(text)
    return number


def _several(read: Callable[[str], Any]) -> Callable[[str], Any]:
    def reader(text: str) -> Any:
        return [read(part) for part in text.split(",")] if "," in text else read(text)

    return reader


_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_READERS: dict[Kind, Callable[[str], Any]] = {
    "float": float,
    "int": _whole,
    "bool": lambda text: _TRUTH[text.lower()],
    "floats": _several(float),
    "ints": _several(_whole),
    "choice": str,
    "seed": _whole,
}
