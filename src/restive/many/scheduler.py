"""Which arms to pull next among very many, by index, at a cost that does not grow with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive.base.arrays import Ints
from restive.base.errors import refusal, refuse
from restive.many.index_tables import IndexTable, pack_tables
from restive.many.scheduler_state import (
    MOST_ARMS,
    new_arms,
    new_scratch,
    require_parts,
    whole_number,
    whole_numbers,
    young_most,
)
from restive.model.validation import check_pulls

if TYPE_CHECKING:
    from restive._kernels.schedule import Scratch, Tables

Snapshot = tuple[dict[str, Any], dict[str, NDArray[Any]]]

GROWTH = 1.25  # room for new arms, beyond what is needed


class Scheduler:
    """The m arms of largest index at each step, ties by number; equal to looking at all arms.

    tables: one ``IndexTable`` per kind of arm. kinds: (K,) kind of each arm, none of them seen
    yet. pulls: m. Only arms pulled a short while ago (fewer steps than the table has ages) are
    looked at one by one, at most m times that many; all others wait in heaps, one for each index
    and phase. A step costs O(m A + m log K), whatever K is, and an arm takes 25 bytes, or 37
    while it is young.

    >>> table = IndexTable([[0.1, 0.3, 0.5], [0.9, 0.7, 0.5]])
    >>> scheduler = Scheduler([table], [0] * 5, pulls=2)
    >>> scheduler.ask().tolist()
    [0, 1]
    >>> scheduler.tell([0, 1], [1, 0])  # arm 0 was seen in state 1, arm 1 in state 0
    >>> scheduler.ask().tolist()
    [0, 2]
    """

    def __init__(self, tables: Sequence[IndexTable], kinds: ArrayLike, pulls: int = 1) -> None:
        self._prepare(pack_tables(tables), pulls)
        self._begin(whole_numbers("kinds", kinds))

    @classmethod
    def packed(cls, tables: Tables, kinds: ArrayLike, pulls: int = 1) -> Scheduler:
        """As the constructor, from tables that were packed before (see ``stacked_tables``)."""
        scheduler = cls.__new__(cls)
        scheduler._prepare(tables, pulls)
        scheduler._begin(whole_numbers("kinds", kinds))
        return scheduler

    def _prepare(self, tables: Tables, pulls: int) -> None:
        self._tables, self._pulls, self._count = tables, int(pulls), 0
        self._scratch: Scratch | None = None

    def _begin(self, kinds: Ints) -> None:
        from restive._kernels import schedule

        self._check_kinds(kinds)
        self._check_pulls(self._pulls, len(kinds))
        tables, self._count = self._tables, len(kinds)
        row = tables.first[kinds] + tables.sizes[kinds]
        self._arms = new_arms(
            tables, row, np.full(len(kinds), -1), 0, young_most(tables, row, self._pulls)
        )
        schedule.store_all(tables, self._arms, 0, len(kinds))

    def __len__(self) -> int:
        """Number of arms."""
        return self._count

    @property
    def pulls(self) -> int:
        """m: arms to pull at each step."""
        return self._pulls

    @property
    def time(self) -> int:
        """Steps that have passed."""
        return int(self._arms.counters[0])

    @property
    def n_bytes(self) -> int:
        """Memory held for the arms, beside the tables."""
        per_arm = ("nodes", "since", "rank", "young", "base")
        return sum(getattr(self._arms, name).nbytes for name in per_arm)

    @property
    def _rows(self) -> NDArray[np.int32]:
        return self._arms.nodes[:, 0]

    @property
    def arms(self) -> Ints:
        """Numbers of all arms."""
        return np.flatnonzero(self._rows >= 0)

    @property
    def kinds(self) -> Ints:
        """Kind of each number, -1 where there is no arm."""
        rows = self._rows
        kinds = np.searchsorted(self._tables.first, rows, side="right") - 1
        return np.where(rows < 0, -1, kinds)

    @property
    def last_states(self) -> Ints:
        """State last seen of each number, -1 where none was seen."""
        states = self._rows - self._tables.first[self.kinds]
        return np.where((self._rows < 0) | (states == self._tables.sizes[self.kinds]), -1, states)

    @property
    def ages(self) -> Ints:
        """Steps since each arm was seen; for one not seen yet, since the step before it came."""
        return np.where(self._rows < 0, 0, self.time - self._arms.since)

    def ask(self, pulls: int | None = None) -> Ints:
        """The arms to pull now, the best first; asking changes nothing."""
        from restive._kernels import schedule

        count = self._pulls if pulls is None else int(pulls)
        self._check_pulls(count, self._count)
        if self._scratch is None or len(self._scratch.arm) < count:
            self._scratch = new_scratch(self._tables, count)
        schedule.select(self._tables, self._arms, count, self._scratch)
        schedule.best_first(count, self._scratch)
        return self._scratch.arm[:count].copy()

    def tell(self, arms: ArrayLike, states: ArrayLike) -> None:
        """Note the states seen at these arms in this step; then one step passes.

        Any arms may be told, asked for or not, also fewer or more than m. An arm that was pulled
        without seeing its state is left out.
        """
        from restive._kernels import schedule

        numbers, seen = whole_numbers("arms", arms), whole_numbers("states", states)
        self._check_known(numbers)
        self._check_seen(numbers, seen)
        self._make_room(int(self._arms.counters[1]) + len(numbers))
        schedule.observe(self._tables, self._arms, numbers, seen)

    def skip(self, steps: int = 1) -> None:
        """Steps in which nothing was seen."""
        from restive._kernels import schedule

        number = whole_number("steps", steps)
        if number < 0:
            remedy = "Time does not run backwards; give 0 or more."
            raise refusal("steps", "negative", str(number), remedy)
        if number > 0:
            schedule.pass_time(self._tables, self._arms, number)

    def add(self, kinds: ArrayLike) -> Ints:
        """New arms, not seen yet; returns their numbers, the smallest that are free."""
        from restive._kernels import schedule

        kind_of = whole_numbers("kinds", kinds)
        self._check_kinds(kind_of)
        free = len(self._rows) - self._count
        if len(kind_of) > free:
            self._grow(int(max(self._count + len(kind_of), GROWTH * self._count)))
        self._make_room(int(self._arms.counters[1]) + len(kind_of))
        numbers = np.empty(len(kind_of), dtype=np.int64)
        schedule.admit(self._tables, self._arms, kind_of, numbers)
        self._count += len(kind_of)
        return numbers

    def remove(self, arms: ArrayLike) -> None:
        """Arms that are no more; their numbers become free for new ones."""
        from restive._kernels import schedule

        numbers = whole_numbers("arms", arms)
        self._check_known(numbers)
        schedule.dismiss(self._tables, self._arms, numbers)
        self._count -= len(numbers)

    def snapshot(self) -> Snapshot:
        """Everything, as a dictionary that JSON can hold and named arrays."""
        tables = {f"tables.{name}": part for name, part in self._tables._asdict().items()}
        arms = {"row": self._rows.copy(), "since": self._arms.since.copy()}
        state = {"format": "restive scheduler 1", "time": self.time, "pulls": self._pulls}
        return state, {**tables, **arms}

    @classmethod
    def restore(cls, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Scheduler:
        """The scheduler that ``snapshot`` was taken of."""
        from restive._kernels import schedule

        if state.get("format") != "restive scheduler 1":
            remedy = "Give what Scheduler.snapshot() returned."
            raise refusal("format", "not a saved scheduler", str(state.get("format")), remedy)
        parts = [f"tables.{name}" for name in schedule.Tables._fields]
        require_parts(state, ("pulls", "time"), arrays, (*parts, "row", "since"))
        tables = schedule.Tables(*(arrays[name] for name in parts))
        scheduler = cls.__new__(cls)
        scheduler._prepare(tables, int(state["pulls"]))
        row, since = arrays["row"], arrays["since"]
        scheduler._count = int((row >= 0).sum())
        seen = row >= 0
        young = seen & (int(state["time"]) - since < tables.cap[np.where(seen, row, 0)])
        room = max(young_most(tables, row, scheduler._pulls), int(young.sum()))
        scheduler._arms = new_arms(tables, row, since, int(state["time"]), room)
        schedule.store_all(tables, scheduler._arms, 0, len(row))
        return scheduler

    def _make_room(self, young: int) -> None:
        """Let the list of young arms hold this many."""
        room = len(self._arms.young)
        if young > room:
            more = min(len(self._rows), int(max(young, GROWTH * room)))
            spare = max(more, young) - room
            self._arms = self._arms._replace(
                young=np.concatenate([self._arms.young, np.zeros(spare, dtype=np.int32)]),
                base=np.concatenate([self._arms.base, np.zeros(spare, dtype=np.int64)]),
            )

    def _grow(self, size: int) -> None:
        """More numbers, all of them free."""
        from restive._kernels import schedule

        before = len(self._rows)
        if size > MOST_ARMS:
            remedy = "Use several schedulers."
            raise refusal("kinds", f"more than {MOST_ARMS} arms", str(size), remedy)
        longer = {}
        for name in ("nodes", "since", "rank"):
            old = getattr(self._arms, name)
            longer[name] = np.concatenate(
                [old, np.full((size - before, *old.shape[1:]), -1, old.dtype)]
            )
        self._arms = self._arms._replace(**longer)
        schedule.store_all(self._tables, self._arms, before, size)

    def _check_pulls(self, pulls: int, count: int) -> None:
        refuse(check_pulls(pulls, count))

    def _check_kinds(self, kinds: Ints) -> None:
        known = len(self._tables.first)
        bad = np.flatnonzero((kinds < 0) | (kinds >= known))
        if len(bad):
            remedy = f"There are tables of {known} kinds: 0 to {known - 1}."
            path, text = f"kinds[{bad[0]}]", str(kinds[bad[0]])
            raise refusal(path, "no table for this kind of arm", text, remedy)

    def _check_known(self, numbers: Ints) -> None:
        inside = (numbers >= 0) & (numbers < len(self._rows))
        known = inside & (self._rows[np.where(inside, numbers, 0)] >= 0)
        if not known.all():
            k = int(np.argmin(known))
            remedy = "Give numbers of arms that were added and not removed since."
            raise refusal(f"arms[{k}]", "no such arm", str(numbers[k]), remedy)
        if len(numbers) > 1:
            ordered = np.sort(numbers)
            twice = ordered[1:][ordered[1:] == ordered[:-1]]
            if len(twice):
                remedy = "Tell each arm once a step."
                raise refusal("arms", "an arm occurs twice", str(twice[0]), remedy)

    def _check_seen(self, numbers: Ints, seen: Ints) -> None:
        if len(seen) != len(numbers):
            remedy = "Give one state per arm."
            message = f"{len(seen)} states for {len(numbers)} arms"
            raise refusal("states", message, str(len(seen)), remedy)
        kinds = np.searchsorted(self._tables.first, self._rows[numbers], side="right") - 1
        sizes = self._tables.sizes[kinds]
        bad = np.flatnonzero((seen < 0) | (seen >= sizes))
        if len(bad):
            k = int(bad[0])
            remedy = f"Arm {numbers[k]} has the states 0 to {sizes[k] - 1}."
            raise refusal(f"states[{k}]", "no such state", str(seen[k]), remedy)
