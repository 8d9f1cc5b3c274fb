"""Which column plays which part: one column an arm, or columns of arm, time, state and reward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from restive.base.errors import Fault, ProblemError, refusal
from restive.base.words import guess, shown
from restive.data.columns import Columns

# Names by which a column is recognised where none is named by an option.
KNOWN = {
    "arm": ("arm", "arms", "channel", "location", "machine", "sensor", "site"),
    "time": ("time", "timestamp", "datetime", "date", "step", "t", "slot"),
    "state": ("state", "status", "observation", "seen"),
    "reward": ("reward", "rewards", "payoff"),
    "piece": ("piece", "session", "run"),
}


@dataclass(frozen=True)
class Roles:
    """Names of columns; ``arms`` has one an arm if the table is wide, else ``state`` is there."""

    arm: str | None
    time: str | None
    state: str | None
    reward: str | None
    piece: str | None
    arms: tuple[str, ...] = ()


def roles_of(columns: Columns, named: dict[str, str | None], arms: Sequence[str] | None) -> Roles:
    """What was named, what is recognised by its name, and what is left."""
    names = list(columns.cells)
    for role, name in named.items():
        if name is not None and name not in names:
            raise ProblemError([_unknown(columns, role, name)])
    taken = {name for name in named.values() if name}
    part = {role: named[role] or _recognised(role, names, taken) for role in KNOWN}
    lonely = not named["arm"] and not set(names) - {name for name in part.values() if name}
    if not part["state"] and (not part["arm"] or lonely):  # a machine by itself is an arm
        return _wide(columns, part, arms)
    if part["state"] is None:
        part["state"] = _only_one_left(columns, part)
    return Roles(part["arm"], part["time"], part["state"], part["reward"], part["piece"])


def _recognised(role: str, names: list[str], taken: set[str]) -> str | None:
    for known in KNOWN[role]:
        for name in names:
            if name.lower() == known and name not in taken:
                return name
    return None


def _unknown(columns: Columns, role: str, name: str) -> Fault:
    names = list(columns.cells)
    close = guess(name, names) or f"The columns are {', '.join(names[:12])}."
    place = f"{columns.source}, column {shown(name)}" if columns.source else f"column {name}"
    return Fault(place, f"there is no such column for the {role}", "", close.strip())


def _wide(columns: Columns, part: dict[str, str | None], arms: Sequence[str] | None) -> Roles:
    """One column an arm: all but time and piece, or those of ``arms``."""
    if part["reward"]:
        remedy = "Name the column of states (--state), or give rewards by state (--rewards)."
        raise columns.refuse_column(part["reward"], "rewards, but no column of states", remedy)
    others = {part["time"], part["piece"]}
    chosen = list(arms or [name for name in columns.cells if name not in others])
    for name in chosen:
        if name not in columns.cells:
            raise ProblemError([_unknown(columns, "arm", name)])
    if not chosen:
        remedy = "Give one column an arm, or columns of arm, time and state."
        raise refusal(columns.source or "data", "there are no arms", "", remedy)
    return Roles(None, part["time"], None, None, part["piece"], tuple(chosen))


def _only_one_left(columns: Columns, part: dict[str, str | None]) -> str:
    left = [name for name in columns.cells if name not in part.values()]
    if len(left) == 1:
        return left[0]
    place = columns.source or "data"
    remedy = "Name the column with state (--state on the command line)."
    names = ", ".join(left[:12]) or "no other columns"
    raise refusal(place, "it is unclear which column holds the state", names, remedy)
