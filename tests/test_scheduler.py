"""The scheduler against sorting all arms, its heaps and bitmaps, its memory, its errors."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import restive
from naive_scheduler import NaiveScheduler, draw_table
from restive._kernels import bitmaps, heaps
from restive.base.errors import ProblemError
from restive.many.index_tables import IndexTable, pack_tables, stacked_tables
from restive.many.scheduler import Scheduler


def drawn(seed):
    rng = np.random.default_rng([seed, 9])
    tables = [draw_table(rng) for _ in range(int(rng.integers(1, 4)))]
    kinds = rng.integers(0, len(tables), int(rng.integers(2, 30)))
    pulls = int(rng.integers(1, min(len(kinds), 6)))
    return rng, tables, kinds, pulls


def one_step(rng, tables, fast, slow):
    """One random event, told to both; what they answer must agree before it."""
    chosen = fast.ask()
    assert chosen.tolist() == slow.ask()
    known = sorted(slow.arms)
    event = rng.random()
    if event < 0.05:
        steps = int(rng.integers(1, 6))
        fast.skip(steps), slow.skip(steps)
    elif event < 0.1:
        kinds = rng.integers(0, len(tables), int(rng.integers(1, 4)))
        assert fast.add(kinds).tolist() == slow.add(kinds.tolist())
    elif event < 0.15 and len(known) > fast.pulls + 2:
        gone = rng.choice(known, 2, replace=False)
        fast.remove(gone), slow.remove(gone.tolist())
    else:
        if event < 0.3:  # an operator's override: any arms, more or fewer than asked for
            chosen = rng.choice(known, int(rng.integers(0, len(known) + 1)), replace=False)
        sizes = [tables[slow.arms[arm][0]].n_states for arm in chosen.tolist()]
        states = [int(rng.integers(size)) for size in sizes]
        fast.tell(chosen, states), slow.tell(chosen.tolist(), states)


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_every_choice_is_that_of_sorting_all_arms(first):
    for seed in range(first, first + 10):
        rng, tables, kinds, pulls = drawn(seed)
        fast, slow = Scheduler(tables, kinds, pulls), NaiveScheduler(tables, kinds, pulls)
        for _ in range(120):
            one_step(rng, tables, fast, slow)
        assert fast.arms.tolist() == sorted(slow.arms)
        for arm, (kind, state, age) in slow.arms.items():
            assert (fast.kinds[arm], fast.last_states[arm], fast.ages[arm]) == (kind, state, age)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_asking_changes_nothing_whatever_the_number(seed, pulls):
    rng, tables, kinds, _ = drawn(seed)
    pulls = min(pulls, len(kinds))
    fast, slow = Scheduler(tables, kinds, pulls), NaiveScheduler(tables, kinds, pulls)
    for _ in range(12):
        for m in (1, len(kinds), pulls):
            assert fast.ask(m).tolist() == fast.ask(m).tolist() == slow.ask(m)
        one_step(rng, tables, fast, slow)
        if len(slow.arms) != len(kinds):
            break


def test_a_snapshot_goes_on_alike():
    for seed in range(8):
        rng, tables, kinds, pulls = drawn(seed)
        fast, slow = Scheduler(tables, kinds, pulls), NaiveScheduler(tables, kinds, pulls)
        for _ in range(40):
            one_step(rng, tables, fast, slow)
        state, arrays = fast.snapshot()
        again = Scheduler.restore(json.loads(json.dumps(state)), arrays)
        assert again.time == fast.time
        for _ in range(40):
            one_step(rng, tables, again, slow)


def test_different_arms_from_stacked_tables():
    rng = np.random.default_rng(3)
    values, unseen = rng.random((500, 2, 6)), rng.random(500)
    tables = [IndexTable(v, 1, u) for v, u in zip(values, unseen, strict=True)]
    packed, stacked = pack_tables(tables), stacked_tables(values, unseen)
    for name, part in packed._asdict().items():
        np.testing.assert_array_equal(part, getattr(stacked, name), err_msg=name)
    fast = Scheduler.packed(stacked, np.arange(500), 5)
    slow = NaiveScheduler(tables, range(500), 5)
    for _ in range(60):
        chosen = fast.ask()
        assert chosen.tolist() == slow.ask()
        states = rng.integers(0, 2, 5)
        fast.tell(chosen, states), slow.tell(chosen.tolist(), states.tolist())


def test_a_million_arms_take_at_most_32_bytes_each_and_few_are_young():
    table = IndexTable(np.concatenate([np.random.default_rng(0).random((2, 63)), [[2], [2]]], 1))
    scheduler = Scheduler([table], np.zeros(1_000_000, dtype=int), 10)
    for _ in range(100):
        scheduler.tell(scheduler.ask(), np.zeros(10, dtype=int))
    assert scheduler.n_bytes <= 32 * len(scheduler)
    assert scheduler._arms.counters[1] == 63 * 10
    # 640 arms take turns: those pulled 64 steps ago have the index of the others again
    assert scheduler.ask().tolist() == list(range(360, 370))


def test_rows_that_stand_still_are_never_young():
    """Only ages whose index differs from the loop's are looked at one by one."""
    tables = pack_tables([IndexTable([[0.5] * 20, [0.1] * 5 + [0.5] * 15])])
    assert tables.cap.tolist() == [1, 6, 1]
    loops = pack_tables([IndexTable([[3, 1, 2, 1, 2], [1, 2, 1, 2, 1]], 4, [1, 2] * 2)])
    assert loops.cap.tolist() == [2, 1, 1]
    assert loops.period.tolist() == [2, 2, 2]


@given(st.lists(st.integers(0, 40), max_size=120))
def test_heaps_hold_what_sets_hold(numbers):
    nodes, rank = np.full((41, 4), -1, dtype=np.int32), np.zeros(41, dtype=np.int8)
    root, held = -1, set()
    for number in numbers:
        if number in held:
            root = heaps.delete(nodes, rank, root, number)
        else:
            root = heaps.insert(nodes, rank, root, number)
        held ^= {number}
        assert root == min(held, default=-1)
        below = nodes[sorted(held)]
        for node, (_, left, right, _) in zip(sorted(held), below.tolist(), strict=True):
            assert all(child < 0 or child > node for child in (left, right))
            ranks = [rank[child] if child >= 0 else 0 for child in (left, right)]
            assert ranks[0] >= ranks[1]
            assert rank[node] == ranks[1] + 1


@given(st.sets(st.integers(0, 5000)), st.sets(st.integers(0, 5000)))
def test_bitmaps_hold_what_sets_hold(members, gone):
    levels = np.array([0, 79, 81, 82])
    words = np.zeros(82, dtype=np.uint64)
    for member in members:
        bitmaps.add(words, levels, member)
    for member in gone:
        bitmaps.discard(words, levels, member)
    left, place, listed = sorted(members - gone), 0, []
    while (place := bitmaps.first_from(words, levels, place)) >= 0:
        listed.append(place)
        place += 1
    assert listed == left


TABLE = IndexTable([[0.1, 0.3], [0.9, 0.3]])
SAVED = {"format": "restive scheduler 1", "time": 0, "pulls": 1}


@pytest.mark.parametrize(
    ("act", "path", "words"),
    [
        (lambda: Scheduler([TABLE], [0, 0], 3), "pulls", "not a number of arms to pull"),
        (lambda: Scheduler([TABLE], [0, 0], 0), "pulls", "not a number of arms to pull"),
        (lambda: Scheduler([TABLE], [0, 1], 1), "kinds[1]", "no table"),
        (lambda: Scheduler([], [0], 1), "tables", "none"),
        (lambda: Scheduler([TABLE], [0, 0]).ask(3), "pulls", "not a number of arms to pull"),
        (lambda: Scheduler([TABLE], [0, 0]).tell([2], [0]), "arms[0]", "no such arm"),
        (lambda: Scheduler([TABLE], [0, 0]).tell([-1], [0]), "arms[0]", "no such arm"),
        (lambda: Scheduler([TABLE], [0, 0]).tell([1], [2]), "states[0]", "no such state"),
        (lambda: Scheduler([TABLE], [0, 0]).tell([1, 1], [0, 0]), "arms", "twice"),
        (lambda: Scheduler([TABLE], [0, 0]).tell([0, 1], [0]), "states", "1 states for 2"),
        (lambda: Scheduler([TABLE], [0, 0]).tell([0.5], [0]), "arms", "whole numbers"),
        (lambda: Scheduler([TABLE], [0, 0]).skip(-1), "steps", "negative"),
        (lambda: Scheduler([TABLE], [0, 0]).remove([7]), "arms[0]", "no such arm"),
        (lambda: Scheduler([TABLE], [0, 0]).add([4]), "kinds[0]", "no table"),
        (lambda: Scheduler.restore({}, {}), "format", "not a saved scheduler"),
        (lambda: Scheduler([TABLE], [0, 0]).skip(1.5), "steps", "not a whole number"),
        (lambda: Scheduler([[[0.1, 0.3]]], [0]), "tables[0]", "not an IndexTable"),
        (lambda: Scheduler.restore(SAVED, {}), "tables.first", "missing"),
        (lambda: Scheduler.restore({"format": SAVED["format"]}, {}), "pulls", "missing"),
        (lambda: IndexTable([[1.0, 2.0], [3.0]]), "values", "not a table of numbers"),
        (lambda: IndexTable([[1.0, 2.0]], unseen="soon"), "unseen", "not a table of numbers"),
        (lambda: IndexTable([[1.0, np.nan]]), "values[0][1]", "not a number"),
        (lambda: IndexTable([1.0, 2.0, 3.0], 4), "period", "not a period"),
        (lambda: IndexTable([[1.0] * 4], 4, [1, 2, 3]), "unseen", "too few"),
    ],
)
def test_wrong_input_is_named(act, path, words):
    with pytest.raises(ProblemError) as raised:
        act()
    assert raised.value.faults[0].path == path
    assert words in raised.value.faults[0].message


def test_its_tables_are_public():
    assert restive.IndexTable is IndexTable


def test_a_refused_tell_changes_nothing():
    scheduler = Scheduler([TABLE], [0, 0, 0], 2)
    before = scheduler.snapshot()
    with pytest.raises(ProblemError):
        scheduler.tell([0, 1], [0, 5])
    after = scheduler.snapshot()
    assert before[0] == after[0]
    np.testing.assert_array_equal(before[1]["since"], after[1]["since"])
