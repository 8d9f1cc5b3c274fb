"""Problem files: bandits written down in TOML or JSON, read with all their faults at once."""

from __future__ import annotations

import errno
import json
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from restive.base.errors import ProblemError, refusal, refuse
from restive.base.reading import read_file
from restive.base.words import guess, shown
from restive.model.arguments import require_bandit
from restive.model.bandit import Arm, Bandit
from restive.model.schema import RepeatedKeys, bandit_from, shared_names
from restive.model.structure import ProblemFile

Format = Literal["toml", "json"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
LINE_WIDTH = 88
LARGEST_TOML = 2_000_000  # characters; TOML is read slowly, about a million a second
MOST_BRACKETS = 600_000  # lists and tables, which take far more memory than characters
LONGEST_KEY = 50  # parts of a dotted key, for which the time to read it grows like the square
_DOTTED = re.compile(rf"""(?:\.\s*(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)\s*){{{LONGEST_KEY}}}""")


def load_problem(path: str | Path) -> Bandit:
    """Read a problem file; the suffix .toml or .json says which format it is in.

    A problem without a name is called by its file.
    Raises ProblemError, and no other error, with everything that is wrong with the file.
    """
    try:
        text, form = _read(Path(path))
        bandit = parse_problem(text, form, source=str(path))
        return bandit if bandit.name else Bandit(bandit.arms, Path(path).stem, bandit.pulls)
    except ProblemError as error:
        error.add_note(f"in the problem file {path}")
        raise


def parse_problem(text: str, format: Format = "toml", source: str = "<string>") -> Bandit:  # noqa: A002
    """The bandit that ``text`` describes; ``source`` stands for the whole file in errors.

    >>> parse_problem("[[arms]]\\ntransitions = [[1]]\\nrewards = [0.5]").n_arms
    1
    """
    return bandit_from(_decoded(text, _checked_format(format), source), source)


def read_document(path: str | Path) -> Any:
    """What a TOML or JSON file holds, problem or not; raises as ``load_problem`` does."""
    text, form = _read(Path(path))
    return _decoded(text, form, str(path))


def problem_schema() -> dict[str, Any]:
    """The JSON schema of problem files (draft 2020-12), for editors and other programs."""
    return {"$schema": DIALECT, **ProblemFile.model_json_schema()}


def dump_problem(bandit: Bandit, format: Format = "toml") -> str:  # noqa: A002
    """Write a bandit as a problem file; reading it gives back the same bandit to the last bit.

    >>> print(dump_problem(Bandit([Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])], name="One arm")))
    name = "One arm"
    <BLANKLINE>
    [[arms]]
    transitions = [[0.9, 0.1], [0.1, 0.9]]
    rewards = [0.0, 1.0]
    <BLANKLINE>
    """
    require_bandit(bandit)
    head: dict[str, Any] = {"name": bandit.name} if bandit.name else {}
    if bandit.pulls != 1:
        head["pulls"] = bandit.pulls
    if not bandit.units.plain:
        head["reward_range"] = list(bandit.units.range)
    tables = [_fields(arm) for arm in bandit.arms]
    refuse(shared_names(tables))  # a file may not hold these, so none is written
    if _checked_format(format) == "toml":
        blocks = [_toml_lines(head)] if head else []
        blocks += ["[[arms]]\n" + _toml_lines(table) for table in tables]
        return "\n".join(blocks)
    arms = ",\n".join("    {\n" + _json_lines(table, 6) + "\n    }" for table in tables)
    top = _json_lines(head, 2) + ",\n" if head else ""
    return "{\n" + top + '  "arms": [\n' + arms + "\n  ]\n}\n"


def _checked_format(form: str) -> Format:
    if form in ("toml", "json"):
        return "toml" if form == "toml" else "json"
    raise refusal("format", "unknown format", shown(form), 'Choose "toml" or "json".')


def _fields(arm: Arm) -> dict[str, Any]:
    """The arm as in a file, without what is left at its default."""
    fields: dict[str, Any] = {"name": arm.name} if arm.name else {}
    numbers = tuple(str(s) for s in range(arm.n_states))
    if arm.states != numbers:
        fields["states"] = list(arm.states)
    fields["transitions"] = arm.transitions.tolist()
    fields["rewards"] = arm.rewards_given.tolist()
    if arm.reward_noise != "none":
        fields["reward_noise"] = arm.reward_noise
    if arm.group:
        fields["group"] = arm.group
    if isinstance(arm.initial, int):
        name = arm.states[arm.initial]
        fields["initial"] = arm.initial if name in (*numbers, "stationary") else name
    elif not isinstance(arm.initial, str):
        fields["initial"] = [float(p) for p in arm.initial]
    return fields


def _toml_lines(fields: dict[str, Any]) -> str:
    return "".join(f"{key} = {_written(value, len(key) + 3, 0)}\n" for key, value in fields.items())


def _json_lines(fields: dict[str, Any], indent: int) -> str:
    pad = " " * indent
    lines = []
    for key, value in fields.items():
        lines.append(f'{pad}"{key}": {_written(value, indent + len(key) + 4, indent)}')
    return ",\n".join(lines)


def _written(value: Any, used: int, indent: int) -> str:
    """A value in the notation that TOML and JSON share; wide matrices take a line per row."""
    text = json.dumps(value, ensure_ascii=False)
    text = re.sub("[\x7f-\x9f]", lambda control: f"\\u{ord(control[0]):04x}", text)
    if isinstance(value, list) and isinstance(value[0], list) and used + len(text) > LINE_WIDTH:
        pad = " " * indent
        rows = ",\n".join(f"{pad}  {json.dumps(row)}" for row in value)
        return f"[\n{rows}\n{pad}]"
    return text


def _read(path: Path) -> tuple[str, Format]:
    if path.is_dir():
        raise refusal(str(path), "this is a folder", "", "Give the path of a problem file in it.")
    if path.suffix.lower() not in (".toml", ".json"):
        remedy = "Name it .toml or .json, after the format it is written in."
        raise refusal(str(path), "unknown kind of file", shown(path.suffix), remedy)
    try:
        data = read_file(path)
    except (OSError, ValueError) as error:
        message = getattr(error, "strerror", None) or str(error)
        folder = "" if path.parent == Path() else f"{path.parent}/"
        large = getattr(error, "errno", None) == errno.EFBIG
        remedy = SMALLER if large else nearby(path, folder)
        raise refusal(str(path), message, "", remedy) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("latin-1")
        culprit = f"byte {data[error.start]:#04x}"
        remedy = "Save the file in UTF-8."
        raise refusal(_place(before), "not UTF-8 text", culprit, remedy) from None
    return text, "json" if path.suffix.lower() == ".json" else "toml"


def nearby(path: Path, prefix: str = "") -> str:
    """What to do about a path that cannot be read: another file in its folder may be meant."""
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    except (OSError, ValueError):
        names = []
    return guess(path.name, names, prefix).strip() or "Give the path of a file."


def _place(before: str) -> str:
    """Line and column, from 1, of what follows ``before``."""
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


def _decoded(text: str, form: Format, source: str) -> Any:
    if not text.strip():
        remedy = "Describe at least one arm, with its transitions and rewards."
        raise refusal(source, "the file is empty", "", remedy)
    _check_excess(text, form, source)
    try:
        if form == "toml":
            return tomllib.loads(text)
        return json.loads(text, object_pairs_hook=RepeatedKeys)
    except RecursionError:
        remedy = "A problem needs lists of lists at most."
        raise refusal(source, "nested too deeply", "", remedy) from None
    except ValueError as error:  # both syntax errors are ValueErrors, as are numbers without end
        raise _syntax_error(error, text, form) from None


def _check_excess(text: str, form: Format, source: str) -> None:
    """Refuse what would take too long or too much memory to read, before it is read."""
    if form == "toml" and len(text) > LARGEST_TOML:
        message = f"longer than {LARGEST_TOML:,} characters"
        remedy = "Write a problem as large as this in JSON, which is read faster."
        raise refusal(source, message, f"{len(text):,}", remedy)
    if (count := text.count("[") + text.count("{")) > MOST_BRACKETS:
        message = f"more than {MOST_BRACKETS:,} lists and tables"
        raise refusal(source, message, f"{count:,}", SMALLER)
    if form == "toml" and (long := _DOTTED.search(text)):
        message = f"a key of more than {LONGEST_KEY} parts"
        remedy = "A problem needs keys of one part."
        raise refusal(_place(text[: long.start()]), message, shown(long[0]), remedy)


SMALLER = "Split the problem, or describe it in fewer words."


def _syntax_error(error: ValueError, text: str, form: Format) -> ProblemError:
    remedy = f"Correct the {form.upper()} there; nothing after it was read."
    if isinstance(error, json.JSONDecodeError):
        remedy = _zero_missing(text[error.pos :]) or remedy
        return refusal(_place(text[: error.pos]), error.msg, _rest(text, error.pos), remedy)
    position = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", str(error))
    if position is None:  # Python refuses to read integers of thousands of digits
        long = re.search(r"[\d_]{1000,}", text)
        start = long.start() if long else 0
        return refusal(_place(text[:start]), str(error).split(";")[0], _rest(text, start), remedy)
    message = str(error)[: position.start()]
    if position[1] is None:
        return refusal(_place(text), message, "the end of the file", remedy)
    place = f"line {position[1]}, column {position[2]}"
    line = text.split("\n")[int(position[1]) - 1]
    start = int(position[2]) - 1
    return refusal(place, message, _rest(line, start), _zero_missing(line[start:]) or remedy)


def _zero_missing(rest: str) -> str:
    """What to do about ``.9``, which Python reads and neither TOML nor JSON."""
    number = re.match(r"[+-]?(\.\d+)", rest)
    return f"Write a zero before the point: 0{number[1]}." if number else ""


def _rest(text: str, start: int) -> str:
    return shown(text[start:].split("\n")[0]) if text[start:].strip() else "the end of the file"
