"""One planner for any bandit: exact where that fits the time, otherwise an interval that closes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import inf
from numbers import Integral, Real

from numpy.linalg import LinAlgError

from restive.base.errors import Fault, OutOfTimeError, refuse
from restive.base.notebook import notebook_line
from restive.base.words import duration_text
from restive.many import plan_stages as stages
from restive.many.blocks import ExactBlocks
from restive.many.bounded import BoundedPlan, interval_words
from restive.many.lagrangian import LagrangianBound
from restive.many.plan_candidates import index_findings, longer_play
from restive.many.plan_task import StageResult, Standing, Task
from restive.many.pulls_blocks import PullsBlocks
from restive.many.warming import ready
from restive.model.arguments import require_bandit
from restive.model.bandit import Bandit
from restive.planning.size import check_tolerance, is_small

FINE, ROUGH = 1e-6, 1e-4  # tolerances where an exact plan is quick, and elsewhere
AT_ONCE = 2.0  # seconds of a plan before which nothing else is worth doing
QUICK = 10.0  # seconds of an exact plan to the fine tolerance
EXACT_SHARE = 0.5  # of the time: a longer forecast is not begun
EXACT_TIME = 0.65  # of the time: an exact plan that takes longer is left for other ways
PLAY_SHARE = 0.12  # of the time left, for index policies
LEAST_PLAY = 4.0  # seconds, but not more than half of those left
LONGEST_PLAY = 15.0  # seconds, to narrow the interval of what an index policy earns
GROUPED = 2_000  # arms; more are not put into groups for several pulls a step
SHARED, TOGETHER = 3, 6  # pulls up to which blocks come before groups, and are tried at all
SLOW_SHARE = 0.15  # of the time, for a block with several pulls: from then on grids come first
BESIDE_GRIDS = 0.4  # share of the time for blocks that share several pulls, where grids come next
MANY = 50  # arms from which on prices alone are close, and pairs get less time
ALIKE = 3  # kinds of arms up to which pairs come first
PAIR_KINDS = 12  # kinds of arms up to which pairs are tried
TOO_SLOW = (ArithmeticError, LinAlgError)  # what arms that hardly move lead to
Stage = Callable[[Task, float], Iterator[StageResult]]


def best_plan(
    bandit: Bandit,
    tolerance: float | None = None,
    *,
    time: float = 60.0,
    memory: int | None = None,
    progress: Callable[[BoundedPlan], None] | None = None,
    rng: int = 0,
) -> BoundedPlan:
    """The best policy that can be found in ``time`` seconds, and how good the best one can be.

    Exact where that fits the time, otherwise by prices, blocks, grids, pairs and index policies,
    whichever suit the arms; any number of arms, and of pulls a step. Stops when the interval is as
    narrow as ``tolerance``, by default 1e-6 where an exact plan is quick and 1e-4 elsewhere.
    progress sees every better plan. After Ctrl-C it returns the best one so far, ``interrupted``.

    >>> from restive.problems import example1
    >>> best = best_plan(example1(epsilon=0.1))
    >>> best.method, best.proven_optimal, round(best.gain, 6)
    ('exact', True, 0.7)
    """
    best: BoundedPlan | None = None
    rounds = plan_improvements(bandit, tolerance, time=time, memory=memory, rng=rng)
    try:
        with notebook_line() as tell:
            for best in rounds:
                if progress is not None:
                    progress(best)
                elif tell is not None:
                    tell(f"planning: {interval_words(best)}")
    except KeyboardInterrupt:
        if best is None:
            raise
        return replace(best, interrupted=True, note="Interrupted: the best plan so far.")
    assert best is not None  # there is always a first one
    return best


def plan_improvements(
    bandit: Bandit,
    tolerance: float | None = None,
    *,
    time: float = 60.0,
    memory: int | None = None,
    rng: int = 0,
    exact: bool = True,
) -> Iterator[BoundedPlan]:
    """Plans whose intervals close, each better than the one before; the last one says why it ends.

    Every one of them may be stopped at. exact: whether an exact plan may be made of all arms;
    without, all else can be held against one.
    """
    require_bandit(bandit)
    _check_limits(time, memory, rng)
    if tolerance is not None:
        check_tolerance(tolerance)
    task, ahead = _task(bandit, tolerance, time, memory, rng)
    task.exact, ahead = exact, ahead if exact else inf
    standing = Standing(task)
    if ahead > min(AT_ONCE, time):
        if standing.done:  # one arm pays as much as any can
            yield standing.plan()
            return
        yield standing.plan()  # compiling may take a while, and be interrupted
    elif not is_small(bandit, task.tolerance, None):
        yield standing.plan()
        ready(task, "exact planning")
    task.restart(time)
    yield from _rounds(task, standing, ahead)
    yield standing.plan(_note(task, standing, ahead))


def _check_limits(time: float, memory: int | None, rng: int) -> None:
    """Refuse what is no time, no memory and no seed, all at once."""
    faults = []
    if not isinstance(time, Real) or not 0 < time < inf:
        remedy = "Give a number of seconds above 0, such as 60."
        faults.append(Fault("time", "not a time to plan in", f"{time!r}", remedy))
    if memory is not None and (not isinstance(memory, Real) or not memory > 0):
        remedy = "Give a number of bytes above 0, or None for what the machine can give."
        faults.append(Fault("memory", "not an amount of memory", f"{memory!r}", remedy))
    if not isinstance(rng, Integral) or rng < 0:
        faults.append(Fault("rng", "not a seed", f"{rng!r}", "Give a whole number, 0 or more."))
    refuse(faults)


def _task(
    bandit: Bandit, tolerance: float | None, time: float, memory: int | None, rng: int
) -> tuple[Task, float]:
    """The task, and the seconds that an exact plan takes."""
    task = Task(bandit, tolerance or FINE, time, memory, rng)
    ahead = stages.exact_seconds(task)
    if tolerance is None and ahead > QUICK:
        task.tolerance = ROUGH
        ahead = stages.exact_seconds(task)
    return task, ahead


def _rounds(task: Task, standing: Standing, ahead: float) -> Iterator[BoundedPlan]:
    if ahead <= min(AT_ONCE, task.left):
        yield from _followed(standing, stages.exact_stage(task, task.left))
        if standing.done:
            return
    ready(task, "prices")
    bound = stages.lagrangian_stage(task)
    standing.add(StageResult("prices", bound.upper, bound.price))
    yield standing.plan("This is the first bound; the search goes on.")
    if standing.done:
        return
    if AT_ONCE < ahead <= EXACT_SHARE * task.left:
        ready(task, "exact planning")
        yield from _followed(standing, stages.exact_stage(task, EXACT_TIME * task.left))
        if standing.done:
            return
    with suppress(*TOO_SLOW):  # an arm mixes too slowly to be played
        ready(task, "index policies")
        seconds = max(PLAY_SHARE * task.left, min(LEAST_PLAY, 0.5 * task.left))
        yield from _followed(standing, index_findings(task, bound, seconds))
    for words, stage, share in _ways(task, bound):
        if standing.done or task.left <= 0:
            return
        ready(task, words)
        try:
            yield from _followed(standing, stage(task, share * task.left))
        except TOO_SLOW:  # an arm mixes too slowly for this one
            continue
    played = standing.simulated
    if played is not None and not standing.done:
        enough = max(0.05 * standing.width, 0.5 * task.tolerance)
        seconds = min(task.left, LONGEST_PLAY)
        yield from _followed(standing, longer_play(task, played, seconds, enough))


def _followed(standing: Standing, findings: Iterator[StageResult]) -> Iterator[BoundedPlan]:
    """Take in what a stage finds until that is enough."""
    for finding in findings:
        if standing.add(finding):
            yield standing.plan("The search goes on.")
        if standing.done:
            return


def _ways(task: Task, bound: LagrangianBound | None) -> list[tuple[str, Stage, float]]:
    """What to try in which order where an exact plan does not fit: words, stage, share of time."""
    n_arms, pulls, n_kinds = task.bandit.n_arms, task.bandit.pulls, len(task.kinds)
    ways: list[tuple[str, Stage, float]] = []
    grids = ("grids of beliefs", stages.grid_stage, 0.7)
    pairs = ("pairs of arms", stages.pair_stage, 0.8 if n_arms <= MANY else 0.4)
    if pulls > 1 and task.exact and stages.pulls_fit(task):
        ways.append(("exact planning", stages.pulls_stage, 0.6))
    fits = stages.grid_ages(task) > 0
    if fits and _slow(task, bound):
        grids = (*grids[:2], 0.85)  # nothing else does as well for slow arms
        ways.append(grids)
    if n_kinds <= ALIKE and n_arms > 2:
        ways.append(pairs)
    groups: list[tuple[str, Stage, float]] = [("groups of arms", stages.group_stage, 0.3)]
    if pulls == 1 or n_arms > GROUPED:
        groups = []
    if pulls > SHARED:
        ways += groups
    if pulls <= TOGETHER:  # with several pulls, moderately slow arms take grids too
        share = BESIDE_GRIDS if pulls > 1 and fits and grids not in ways else 0.75
        ways.append(("blocks of arms", stages.block_stage, share))
    if fits and grids not in ways:
        ways.append(grids)
    if ALIKE < n_kinds <= PAIR_KINDS:
        ways.append(pairs)
    if pulls <= SHARED:
        ways += groups
    return [*ways[:-1], (*ways[-1][:2], 0.85)] if ways else []


def _slow(task: Task, bound: LagrangianBound | None) -> bool:
    """Whether a block of three arms takes a good part of the time.

    With several pulls a block of four more arms than pulls: fewer seldom settle the matter.
    """
    worth = task.gains if bound is None else bound.gains[task.kind_of]
    pulls, order = task.bandit.pulls, (-worth).argsort(kind="stable")
    arms = [task.bandit.arms[j] for j in order[: 3 if pulls == 1 else pulls + 4]]
    price = max(float(arm.rewards.max()) for arm in arms)
    try:
        if pulls > 1:
            blocks = PullsBlocks(pulls, task.memory, task.deadline)
            return blocks.seconds(arms, 0.5 * price, 1e-3) > SLOW_SHARE * task.left
        return ExactBlocks(task.memory).seconds(arms, 0.5 * price, 1e-3) > 0.05 * task.left
    except (*TOO_SLOW, OutOfTimeError):
        return True


def chosen_way(
    bandit: Bandit, tolerance: float | None = None, *, time: float = 60.0, memory: int | None = None
) -> tuple[tuple[str, ...], float]:
    """What ``best_plan`` would do in this time, in words and in order, without doing it.

    And the tolerance that it would plan to.
    """
    _check_limits(time, memory, 0)
    task, ahead = _task(bandit, tolerance, time, memory, 0)
    if ahead <= max(min(AT_ONCE, time), EXACT_SHARE * time):
        return ("exact planning",), task.tolerance
    ways = (words for words, _, _ in _ways(task, None))
    return ("prices", "index policies", *ways), task.tolerance


def _note(task: Task, standing: Standing, ahead: float) -> str:
    """What more time would buy."""
    if standing.done:
        return ""
    method, words = standing.upper.method, ""
    if method in MORE:
        words = f"More time would buy {MORE[method]}."
    played = standing.plan().simulated
    if played is not None and 0.5 * (played.upper - played.lower) > 0.3 * standing.width:
        words += " Much of the interval is the noise of simulated play."
    if EXACT_SHARE * (task.deadline - task.began) < ahead < inf:
        words += f" An exact plan would take about {duration_text(ahead)}."
    return words.strip()


MORE = {
    "the largest rewards": "an upper bound from blocks, grids or pairs of arms, where they fit",
    "prices": "a tighter bound from blocks, grids or pairs of arms, where they fit",
    "block": "a larger block of arms planned together, or more ages told apart",
    "block of all arms": "more ages told apart",
    "grid": "a finer grid and with it a lower upper bound",
    "pairs": "better budgets for the pairs of arms",
    "exact": "a narrower interval",
}
