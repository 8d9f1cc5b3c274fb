"""Arms that change: how soon a learner that forgets is back, and what watching costs otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from restive.learners import make_learner
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.simulation import BanditWorld, ChangingWorld, drifting, play
from verification import Check, Finding, Settings, judge
from verification.kept import kept_runs

__all__ = ["CHECKS", "back_after", "ratio_interval"]

Floats = NDArray[np.float64]

WINDOW, AHEAD = 20, 25  # steps of a window; windows that must earn enough together
SMOOTH = 5  # windows that a figure shows as one
CLOSE = 0.9  # of the best average reward: back within 10%
SOONER, DEARER = 0.25, 1.5  # what the learner that forgets may need, and lose
LEARNERS = {
    "tied-sampling": ("tied-sampling", {}),
    "with changes": ("tied-sampling", {"changes": True}),
    "sw-ucb": ("sw-ucb", {}),
}


def channel(up: float, down: float, good: float = 1.0, bad: float = 0.0) -> Arm:
    return Arm([[1 - up, up], [down, 1 - down]], [bad, good], reward_noise="bernoulli")


def triple(low: float, high: float, still: float) -> Arm:
    """Three states that pay 0, 1/2 and 1: chances to fall, to rise and to stay in the middle."""
    fall, rise = (1 - still) * low / (low + high), (1 - still) * high / (low + high)
    chain = [[1 - high, high, 0], [fall, still, rise], [0, low, 1 - low]]
    return Arm(chain, [0, 0.5, 1], reward_noise="bernoulli")


@dataclass(frozen=True)
class Jump:
    """What the arms are before and after; none of these served to choose any setting.

    long: steps after the jump that learners without forgetting are watched for.
    """

    name: str
    before: Bandit
    after: Bandit
    long: int = 6000


JUMPS = (
    Jump("three channels trade places",
         Bandit([channel(0.25, 0.06), channel(0.1, 0.2), channel(0.05, 0.4)]),
         Bandit([channel(0.05, 0.4), channel(0.1, 0.2), channel(0.25, 0.06)])),
    Jump("the best channel breaks down",
         Bandit([channel(0.4, 0.08), channel(0.15, 0.2)]),
         Bandit([channel(0.03, 0.5), channel(0.15, 0.2)])),
    Jump("a poor channel becomes the best",
         Bandit([channel(0.3, 0.3), channel(0.04, 0.5)]),
         Bandit([channel(0.3, 0.3), channel(0.7, 0.03)]), 60_000),
    Jump("rewards change, chains do not",
         Bandit([channel(0.2, 0.3, 0.9, 0.5), channel(0.3, 0.3, 0.6, 0.4)]),
         Bandit([channel(0.2, 0.3, 0.2, 0.1), channel(0.3, 0.3, 0.6, 0.4)])),
    Jump("the worst of four becomes the best",
         Bandit([channel(0.3, 0.2), channel(0.2, 0.2), channel(0.1, 0.3), channel(0.05, 0.5)]),
         Bandit([channel(0.3, 0.2), channel(0.2, 0.2), channel(0.1, 0.3), channel(0.6, 0.04)]),
         60_000),
    Jump("three states, two arms trade places",
         Bandit([triple(0.1, 0.3, 0.5), triple(0.4, 0.1, 0.3)]),
         Bandit([triple(0.4, 0.1, 0.3), triple(0.1, 0.3, 0.5)])),
)  # fmt: skip
FORGETS = "with changes"


def rewards_of(learner: str, world: ChangingWorld, horizon: int, seed: int) -> Floats:
    """What a learner earns at every step."""
    name, options = LEARNERS[learner]
    player = make_learner(name, world.bandit.n_arms, horizon, rng=seed, **options)
    earned = []
    for states, paid in world.stream(horizon):
        pulls = player.play_path(states, paid)
        earned.append(paid[pulls, np.arange(len(pulls))])
    return np.concatenate(earned)


def earned_after(learner: str, jump: Jump, begin: int, after: int, seed: int) -> list[float]:
    """Mean rewards window by window after a jump."""
    world = ChangingWorld([(0, jump.before), (begin, jump.after)], rng=seed)
    rewards = rewards_of(learner, world, begin + after, seed)
    means: list[float] = rewards[begin:].reshape(-1, WINDOW).mean(axis=1).tolist()
    return means


def runs_of(settings: Settings, name: str, run: Callable[[int], object], quick: int) -> Floats:
    """Values of 24 runs, or of as many as ``--problems`` says; a folder keeps each of them."""
    many = min(24, settings.problems or 24)
    path = settings.out / "drift-runs.jsonl" if settings.out else None
    kind = "quick " * settings.quick + name
    return np.array(kept_runs(path, kind, run, range(settings.size(many, quick))))


def back_after(windows: Floats, best: float) -> int:
    """Steps after which the next windows earn enough on average; windows: (runs, n).

    The number of all steps if they never do.
    """
    mean = windows.mean(axis=0)
    coming = np.convolve(mean, np.full(AHEAD, 1.0 / AHEAD), mode="valid")
    good = np.flatnonzero(coming >= CLOSE * best)
    return int(good[0] if len(good) else len(mean)) * WINDOW


def ratio_interval(
    one: Floats, other: Floats, statistic: Callable[[Floats], float], draws: int = 1000
) -> tuple[float, float]:
    """A bootstrap interval (95%) of a ratio, the same runs drawn for both; rows are runs."""
    rng, ratios = np.random.default_rng(0), []
    for _ in range(draws):
        rows = rng.integers(len(one), size=len(one))
        ratios.append(statistic(one[rows]) / max(statistic(other[rows]), 1e-12))
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


def check_jumps(settings: Settings) -> Iterator[Finding]:
    """Steps until a learner is back within 10% of the new optimum, at most a quarter."""
    begin = settings.size(3000, 2000)
    for jump in JUMPS[: settings.size(len(JUMPS), 1)]:
        best = plan(jump.after).gain
        watched = {
            name: settings.size(jump.long if name == "tied-sampling" else 6000, 3000)
            for name in LEARNERS
        }
        curves = {
            name: runs_of(settings, f"jump: {jump.name}: {name}",
                          partial(earned_after, name, jump, begin, after), 6)
            for name, after in watched.items()
        }  # fmt: skip
        settings.draw(f"drift-{JUMPS.index(jump) + 1}", partial(_paint, curves, best, jump.name))
        # a first window is the least that can be told
        steps = partial(_steps_back, best=best)
        back = {name: int(steps(windows)) for name, windows in curves.items()}
        low, high = ratio_interval(curves[FORGETS], curves["tied-sampling"], steps)
        ratio = back[FORGETS] / back["tied-sampling"]
        yield Finding(
            f"jump: {jump.name}",
            f"back within 10% in a quarter of the time (jump at step {begin:,}, "
            f"{len(curves[FORGETS])} runs)",
            f"{ratio:.2f}: " + ", ".join(f"{n} {_shown(s, watched[n])}" for n, s in back.items()),
            f"{low:.2f}, {high:.2f}",
            # the few runs of the quick version can refute the claim, not show it
            judge((low if settings.quick else ratio) <= SOONER),
        )


def _steps_back(windows: Floats, best: float) -> float:
    return max(WINDOW, back_after(windows, best))


def _shown(steps: int, after: int) -> str:
    return f"over {after:,}" if steps >= after - WINDOW * (AHEAD - 1) else f"{steps:,}"


def _paint(curves: dict[str, Floats], best: float, title: str, axes: object) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    for name, all_windows in curves.items():
        windows = all_windows[:, : 6000 // WINDOW]
        windows = windows.reshape(len(windows), -1, SMOOTH).mean(axis=2)
        mean = windows.mean(axis=0)
        error = 2 * windows.std(axis=0, ddof=1) / len(windows) ** 0.5
        at = SMOOTH * WINDOW * (np.arange(len(mean)) + 0.5)
        (line,) = axes.plot(at, mean, label=name, lw=1.4)
        axes.fill_between(at, mean - error, mean + error, color=line.get_color(), alpha=0.2, lw=0)
    axes.axhline(CLOSE * best, color="#777777", lw=1, ls=":")
    axes.annotate("90% of the new optimum", (1, CLOSE * best), xycoords=("axes fraction", "data"),
                  ha="right", va="bottom", fontsize=9, color="#555555")  # fmt: skip
    axes.set(title=title, xlabel="steps after the jump", ylabel="reward per step")
    axes.legend(frameon=False, loc="lower right")


def _lost(learner: str, bandit: Bandit, horizon: int, seed: int) -> float:
    name, options = LEARNERS[learner]
    player = make_learner(name, bandit.n_arms, horizon, rng=seed, **options)
    run = play(player, BanditWorld(bandit, 1000 + seed), horizon, plan=plan(bandit))
    assert run.gap_regret is not None
    return float(run.gap_regret[-1])


def check_calm(settings: Settings) -> Iterator[Finding]:
    """Gap regret where nothing changes: at most half as much again."""
    horizon = settings.size(8000, 3000)
    kept: dict[str, list[Floats]] = {name: [] for name in LEARNERS}
    jumps = JUMPS[: settings.size(len(JUMPS), 1)]
    for jump in jumps:
        for name, lost in kept.items():
            run = partial(_lost, name, jump.before, horizon)
            lost.append(runs_of(settings, f"calm: {jump.name}: {name}", run, 6))
    totals = {name: np.sum(lost, axis=0) for name, lost in kept.items()}
    low, high = ratio_interval(totals["with changes"], totals["tied-sampling"], np.mean)
    ratio = totals["with changes"].mean() / totals["tied-sampling"].mean()
    pairs = zip(jumps, kept["with changes"], kept["tied-sampling"], strict=True)
    each = [f"{jump.name} {one.mean():.1f} and {two.mean():.1f}" for jump, one, two in pairs]
    rival = totals["sw-ucb"].mean() / totals["tied-sampling"].mean()
    yield Finding(
        "calm: what watching costs",
        f"gap regret of {horizon:,} steps without a change is at most {DEARER} times the default's "
        f"({len(totals[FORGETS])} runs)",
        f"{ratio:.2f} over all ({'; '.join(each)}); sw-ucb {rival:.0f}",
        f"{low:.2f}, {high:.2f}",
        judge(ratio <= DEARER),
    )


def check_drift(settings: Settings) -> Iterator[Finding]:
    """Arms that change little by little: what is earned from then on."""
    begin, length = settings.size(3000, 1000), settings.size(3000, 1000)
    for jump, more_is_claimed in ((JUMPS[0], False), (JUMPS[2], True))[: settings.size(2, 1)]:
        earned = {
            name: runs_of(settings, f"drift: {jump.name}: {name}",
                          partial(_drifted, name, jump, begin, length), 4)
            for name in LEARNERS
        }  # fmt: skip
        more = earned[FORGETS] - earned["tied-sampling"]
        error = 2 * more.std(ddof=1) / len(more) ** 0.5
        low, high = more.mean() - error, more.mean() + error
        claim = "more is earned than" if more_is_claimed else "no less is earned than"
        yield Finding(
            f"drift: {jump.name}",
            f"with changes {claim} without, beyond chance, while that happens over {length:,} "
            f"steps and in as many after ({len(more)} runs)",
            ", ".join(f"{name} {values.mean():.3f}" for name, values in earned.items()) + " a step",
            f"{low:.3f}, {high:.3f}",
            judge(low > 0 if more_is_claimed else high > 0),
        )


def _drifted(learner: str, jump: Jump, begin: int, length: int, seed: int) -> float:
    world = ChangingWorld(drifting(jump.before, jump.after, begin, begin + length), rng=seed)
    return float(rewards_of(learner, world, begin + 2 * length, seed)[begin:].mean())


CHECKS: dict[str, Check] = {"jumps": check_jumps, "calm": check_calm, "drifting": check_drift}
