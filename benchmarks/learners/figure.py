"""The comparison in one picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.learners.suite import YARDSTICKS

__all__ = ["draw"]

LEAST = 0.5  # smaller regrets are drawn here
COLORS = {
    "tied-sampling": "#D55E00",
    "tied-sampling-tuned": "#CC79A7",
    "tied-ucrl": "#E69F00",
    "colored-ucrl2": "#0072B2",
}


def draw(results: dict[str, Any], path: Path) -> None:
    """Every learner on every kind, regret on a logarithmic axis."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "restive", "font.size": 9})
    rows = results["kinds"]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))[::-1]
    figure, axes = plt.subplots(figsize=(9, 0.42 * len(kinds) + 1.6), layout="constrained")
    for row in rows:
        _mark(axes, kinds.index(row["kind"]), row)
    for name, color in [*COLORS.items(), ("other rivals", "#999999"), ("yardsticks", "#56B4E9")]:
        axes.plot([], [], marker="o" if name in COLORS else "|", color=color, ls="", label=name)
    axes.set_xscale("log")
    axes.set_xlim(left=0.9 * LEAST)
    axes.set_yticks(range(len(kinds)), kinds)
    known = any(row["low"] is not None for row in rows)
    said = f"mean{' and 95% interval' * known}; at the edge: {LEAST:g} or less"
    axes.set_xlabel(f"gap regret after {results['steps']:,} steps ({said})")
    axes.grid(axis="x", color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, 1.09), ncols=6, frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _mark(axes: Any, y: int, row: dict[str, Any]) -> None:
    name = row["learner"]
    color = COLORS.get(name, "#999999" if name not in YARDSTICKS else "#56B4E9")
    big = name in COLORS
    if row["low"] is not None:
        ends = [max(row[end], LEAST) for end in ("low", "high")]
        axes.plot(ends, [y, y], color=color, lw=1.2, zorder=2 + big)
    axes.plot(max(row["mean"], LEAST), y, marker="o" if big else "|", ms=7 if big else 8,
              color=color, zorder=3 + big, ls="")  # fmt: skip
