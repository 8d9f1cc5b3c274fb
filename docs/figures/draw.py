"""Draw the pictures of this folder again: python docs/figures/draw.py."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

from restive import Arm, Bandit, BanditWorld, Plan, compare, plan_policy, problems
from restive.planning import plan
from restive.report import policy_figure

HERE = Path(__file__).parent
FREE, BUSY, TRACE = "#9bd0a5", "#e4e4e4", "#1a1a2e"
LINES = {"tied-sampling": "#0b7a3b", "colored-ucrl2": "#b35900", "thompson": "#7a3ea8"}
STEPS = 90


def main() -> None:
    for name, bandit, tolerance in [
        ("example-3.svg", problems.example3(0.1), 1e-6),
        ("four-channels.png", problems.gilbert_elliott(4), 1e-4),
        ("tutorial-policy.svg", tutorial(), 1e-6),
    ]:
        policy_figure(plan(bandit, tolerance), HERE / name)
    draw_play_and_learning()


def tutorial() -> Bandit:
    """The problem of docs/tutorial.md."""
    names = ["busy", "free"]
    first = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1], name="channel 1", states=names)
    second = Arm([[0.7, 0.3], [0.2, 0.8]], [0, 0.8], name="channel 2", states=names)
    return Bandit([first, second])


def draw_play_and_learning() -> None:
    """A stretch of the best policy's play on hidden chains, and what learners lose against it."""
    mpl.use("agg")
    mpl.rcParams.update({"svg.hashsalt": "restive", "font.size": 10})
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3), width_ratios=(1.7, 1))
    draw_play(left, plan(tutorial()))
    draw_losses(right)
    figure.tight_layout(w_pad=3)
    figure.savefig(HERE / "play-and-learning.svg", metadata={"Date": None})


def draw_play(ax: Axes, best: Plan) -> None:
    states, _ = next(BanditWorld(best.bandit, 4).blocks(STEPS))
    pulls = pulled(best, states)
    steps = np.arange(STEPS)
    for arm, row in enumerate(states):
        colors = [(BUSY, FREE)[state] for state in row]
        ax.bar(steps, 0.76, 1.02, arm - 0.38, color=colors, linewidth=0)
    ax.plot(steps, pulls, color=TRACE, linewidth=1.2)
    earned = states[pulls, steps] == 1
    ax.plot(steps[earned], pulls[earned], "o", color=TRACE, markersize=3.5)
    ax.plot(steps[~earned], pulls[~earned], "o", color="white", mec=TRACE, markersize=3.5)
    alone = best.bandit.arms[0].gain
    words = f"The best policy earns {best.gain:.3f} a step, the best channel alone {alone:.3f}"
    ax.set_title(words, loc="left", fontsize=10.5)
    ax.set_yticks(range(2), ["channel 1", "channel 2"])
    ax.set_xlabel("step; green: free, grey: busy; only the channel in use is seen")
    ax.set(xlim=(-0.5, STEPS - 0.5), ylim=(1.5, -0.5))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def pulled(best: Plan, states: np.ndarray) -> np.ndarray:
    """Which arm the policy pulls at each step of a path."""
    from restive.learners.fixed import FollowPolicy

    return np.asarray(FollowPolicy(plan_policy(best)).play_path(states, np.zeros(states.shape)))


def draw_losses(ax: Axes) -> None:
    with TemporaryDirectory() as folder:
        results = compare({"radio": tutorial()}, folder, list(LINES), horizons=10_000, runs=20)
    for name, color in LINES.items():
        curves = results.curves("radio", name, 10_000)
        assert curves is not None
        mean = curves.gap_regret.mean(axis=0)
        ax.plot(curves.times, mean, color=color, linewidth=2)
        ax.annotate(f"{name} {mean[-1]:,.0f}", (curves.times[-1], mean[-1]), xytext=(-4, 3),
                    textcoords="offset points", ha="right", color=color)  # fmt: skip
    ax.set_title("What learners lose against it", loc="left", fontsize=10.5)
    ax.set(xlabel="step", xlim=(0, 10_000), ylim=(0, 1_750))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
