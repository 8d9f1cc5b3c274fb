"""Files that a plan leaves behind: all of a file or none of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from math import prod
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from restive.base.errors import TooLargeError, refusal
from restive.base.writing import checked_target, new_file

if TYPE_CHECKING:
    from restive.many.bounded import BoundedPlan
    from restive.many.policies import KindIndexPolicy
    from restive.planning import Plan

PICTURES = (".pdf", ".svg", ".png")
FIGURES = (*PICTURES, ".pgf")
MAX_ARMS = 3
MAX_ROWS = 1_000_000
INSTEAD = "Ask for single states instead: restive.planning.plan(bandit).action(last_states, ages)."


def check_target(option: str, path: str, suffixes: Sequence[str], needs: str = "") -> None:
    """Refuse a file that could not be written, before any work is done for it."""
    if not path:
        return
    target = checked_target(option, path, suffixes)
    if needs and find_spec(needs) is None:
        remedy = "Install it with: pip install 'restive[plot]'"
        raise refusal(option, f"drawing needs {needs}, which is not installed", "", remedy)
    try:  # whether a file can be made beside it, where its draft will be
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}."):
            pass
    except OSError as error:
        words = f"cannot be written: {error.strerror}"
        raise refusal(option, words, str(target), "Give a path in a folder of yours.") from None


def write_policy(plan: Plan | BoundedPlan, path: str) -> None:
    """Write one row per information state: what was seen, how long ago, what to pull next.

    Where these are too many: indices of each kind of arm, or the most frequent situations.
    """
    rows = _rows(plan)
    with new_file(path) as draft, open(draft, "w", encoding="utf-8", newline="") as stream:
        if Path(path).suffix.lower() == ".csv":
            import csv

            from restive.base.words import formula_free

            csv.writer(stream).writerows(map(formula_free, row) for row in rows)
        else:
            import json

            head = next(rows)
            stream.write("[")
            for k, row in enumerate(rows):
                entry = json.dumps(dict(zip(head, row, strict=True)), ensure_ascii=False)
                stream.write(("," if k else "") + "\n" + entry)
            stream.write("\n]\n")


def _rows(plan: Plan | BoundedPlan) -> Iterator[Sequence[Any]]:
    """The heading and then the rows of the table that says most about the policy."""
    from restive.many.policies import KindIndexPolicy
    from restive.planning import Plan

    if isinstance(plan, Plan) and plan.bandit.n_arms <= MAX_ARMS:
        count = _count(plan)
        if count > MAX_ROWS:
            raise TooLargeError(
                f"--policy-out: the policy has {count:,} information states; listings go up to "
                f"{MAX_ROWS:,} rows. {INSTEAD}"
            )
        return _states(plan)
    policy = plan.policy
    return _indices(plan, policy) if isinstance(policy, KindIndexPolicy) else _situations(plan)


def _ages(plan: Plan) -> list[range]:
    """Ages of each arm while others are pulled: from 2 on, until they are stored alike again."""
    pairs = zip(plan.caps, plan.bandit.arms, strict=True)
    return [range(2, max(int(cap), 2) + arm.period) for cap, arm in pairs]


def _count(plan: Plan) -> int:
    """Rows of the listing: the arm pulled last has age 1, the others any of theirs."""
    ages, arms = _ages(plan), range(plan.bandit.n_arms)
    return prod(plan.bandit.n_states) * sum(
        prod(len(ages[j]) for j in arms if j != last) for last in arms
    )


def _states(plan: Plan) -> Iterator[Sequence[Any]]:
    """A row for each information state."""
    bandit, ages = plan.bandit, _ages(plan)
    names = [bandit.arm_name(j) for j in range(bandit.n_arms)]
    numbers = range(1, bandit.n_arms + 1)
    yield [
        "last_arm", *(f"state_{j}" for j in numbers), *(f"age_{j}" for j in numbers),
        "action", *(f"gap_{j}" for j in numbers),
    ]  # fmt: skip
    for last, name in enumerate(names):
        grid = list(product(*(range(1, 2) if j == last else r for j, r in enumerate(ages))))
        for states in product(*(range(size) for size in bandit.n_states)):
            seen = [arm.states[s] for arm, s in zip(bandit.arms, states, strict=True)]
            everywhere = [states] * len(grid)
            actions, gaps = plan.actions(everywhere, grid), plan.gap(everywhere, grid)
            for age, action, gap in zip(grid, actions, gaps.round(12).tolist(), strict=True):
                yield [name, *seen, *age, names[action], *gap]


def _indices(plan: Plan | BoundedPlan, policy: KindIndexPolicy) -> Iterator[Sequence[Any]]:
    """A row for each kind of arm, state last seen and age."""
    import numpy as np

    yield ["kind", "arms", "first_arm", "state", "age", "index"]
    population, written = policy.population, 0
    for kind, (arm, index) in enumerate(zip(population.kinds, policy.tables, strict=True)):
        arms = np.flatnonzero(population.kind_of == kind)
        name = plan.bandit.arm_name(int(arms[0]))
        for state, line in zip(arm.states, index.values.tolist(), strict=True):
            for age, value in enumerate(line, start=1):
                yield [kind + 1, len(arms), name, state, age, value]
                written += 1
        if written > MAX_ROWS:
            return


def _situations(plan: Plan | BoundedPlan) -> Iterator[Sequence[Any]]:
    """Situations of simulated play, the most frequent first, and what is pulled in them."""
    from restive.report.policy.bounded_play import play_stretch

    played, bandit = play_stretch(plan), plan.bandit
    numbers = [j + 1 for j in played.block]
    yield ["share", *(f"state_{j}" for j in numbers), *(f"age_{j}" for j in numbers), "pull"]
    total = max(1, sum(played.situations.values()))
    for (states, ages, arms), count in played.situations.most_common():
        seen = [bandit.arms[j].states[s] if s >= 0 else "" for j, s in
                zip(played.block, states, strict=True)]  # fmt: skip
        yield [count / total, *seen, *ages, " + ".join(bandit.arm_name(j) for j in arms)]
