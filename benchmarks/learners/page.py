"""The comparison in words, tables and one picture."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.learners.compare import ORACLES, OURS
from benchmarks.learners.suite import suite

__all__ = ["draw", "page", "printed"]

LEAST = 0.5  # smaller regrets are drawn here
COLORS = {"tied-sampling": "#D55E00", "tied-ucrl": "#E69F00", "colored-ucrl2": "#0072B2"}


def printed(found: dict[str, Any], horizons: list[int]) -> str:
    return "\n\n".join(
        [_goals(found), _claims(found), *(_table(found, horizon) for horizon in horizons)]
    )


def page(found: dict[str, Any], horizons: list[int]) -> str:
    """docs/benchmarks/learners.md."""
    refused = [
        f"- {learner}: " + "; ".join(f"{problem} ({why})" for problem, why in problems.items())
        for learner, problems in sorted(found["refused"].items())
    ]
    parts = [
        "# Learners compared",
        "Gap regret (what each pull lost against the best one in its information state, free of "
        "luck), means over paired seeds with 95% bootstrap intervals. Made by "
        "`python -m benchmarks.learners --write`. Rivals are told what their papers ask for "
        "(horizon, sizes, mixing times, ...) and are not tuned, but for one: tsde is told a "
        "quarter of the mixing times, with which its thousand plans take seconds, not minutes, and "
        "it plays no worse. tied-sampling is told nothing, but "
        "its defaults were tuned: a dozen settings by their gap regret on Examples 1 to 3, random "
        "1 and 4, negative correlation and best arm is best, other seeds; episodes and draws on "
        "twelve problems that are not here. Runs seen on Examples 3 and 4 led to its sparse prior "
        "and to its second looks (docs/decisions/0007).",
        "![gap regret of every learner on every problem](learners.svg)",
        "## Goals",
        _goals(found),
        "## Ratios",
        _claims(found),
        *(f"## Gap regret after {h:,} steps\n\n{_table(found, h)}" for h in horizons),
        "## Seconds per 100,000 steps",
        "Medians over the problems with K arms. Two runs at a time; other work on the machine "
        "adds to them.",
        _seconds(found),
        "## Not applicable\n\n" + ("\n".join(refused) or "none"),
    ]
    return "\n\n".join(parts) + "\n"


def _goals(found: dict[str, Any]) -> str:
    lines = ["| goal | measured | at most | met |", "|---|--:|--:|---|"]
    lines += [
        f"| {goal['goal']} | {goal['measured']:.3g} | {goal['at_most']:.3g} | "
        + ("yes |" if goal["met"] else "**no** |")
        for goal in found["goals"]
    ]
    return "\n".join(lines)


def _claims(found: dict[str, Any]) -> str:
    lines = ["| steps | learner | against | geometric mean of ratios | worst problem |",
             "|--:|---|---|--:|---|"]  # fmt: skip
    lines += [
        f"| {claim['horizon']:,} | {claim['learner']} | {claim['against']} | "
        f"{claim['geometric_mean']:.3g} ({claim['low']:.3g} to {claim['high']:.3g}) | "
        f"{claim['worst']}: {claim['worst_ratio']:.3g} |"
        for claim in found["claims"]
    ]
    return "\n".join(lines)


def _order(found: dict[str, Any]) -> list[str]:
    names = {row["learner"] for row in found["rows"]}
    rest = sorted(names - set(OURS) - set(ORACLES))
    return [n for n in OURS if n in names] + rest + [n for n in ORACLES if n in names]


def _table(found: dict[str, Any], horizon: int) -> str:
    rows = {(r["problem"], r["learner"]): r for r in found["rows"] if r["horizon"] == horizon}
    problems = list(dict.fromkeys(problem for problem, _ in rows))
    lines = ["| learner | " + " | ".join(problems) + " |", "|---" + "|--:" * len(problems) + "|"]
    least = {
        p: min(r["mean"] for (q, n), r in rows.items() if q == p and n not in ORACLES)
        for p in problems
    }
    for name in _order(found):
        cells = []
        for problem in problems:
            row = rows.get((problem, name))
            text = "" if row is None else f"{row['mean']:.3g} ({row['low']:.3g}, {row['high']:.3g})"
            best = row is not None and row["mean"] <= least[problem]
            cells.append(f"**{text}**" if best and name not in ORACLES else text)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _seconds(found: dict[str, Any]) -> str:
    """Medians for two, three and four arms, and the slowest problem."""
    arms = {problem: bandit.n_arms for problem, bandit in suite().items()}
    counts = sorted({arms[p] for times in found["seconds"].values() for p in times})
    heads = [f"K={count}" for count in counts]
    lines = ["| learner | " + " | ".join(heads) + " | slowest problem |",
             "|---" + "|--:" * len(heads) + "|---|"]  # fmt: skip
    for name in _order(found):
        times = found["seconds"].get(name)
        if not times:
            continue
        cells = []
        for count in counts:
            some = [seconds for problem, seconds in times.items() if arms[problem] == count]
            cells.append(f"{median(some):.2f}" if some else "")
        slowest = max(times, key=lambda problem: times[problem])
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {slowest}: {times[slowest]:.2f} |")
    return "\n".join(lines)


def draw(found: dict[str, Any], horizon: int, path: Path) -> None:
    """Every learner on every problem, regret on a logarithmic axis."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "restive", "font.size": 9})
    rows = [r for r in found["rows"] if r["horizon"] == horizon]
    problems = list(dict.fromkeys(r["problem"] for r in rows))[::-1]
    figure, axes = plt.subplots(figsize=(9, 0.42 * len(problems) + 1.6), layout="constrained")
    for row in rows:
        y, name = problems.index(row["problem"]), row["learner"]
        color = COLORS.get(name, "#999999" if name not in ORACLES else "#56B4E9")
        big = name in COLORS
        ends = [max(row[end], LEAST) for end in ("low", "high")]
        axes.plot(ends, [y, y], color=color, lw=1.2, zorder=2 + big)
        axes.plot(max(row["mean"], LEAST), y, marker="o" if big else "|", ms=7 if big else 8,
                  color=color, zorder=3 + big, ls="")  # fmt: skip
    for name, color in [*COLORS.items(), ("other rivals", "#999999"), ("oracles", "#56B4E9")]:
        big = name in COLORS
        axes.plot([], [], marker="o" if big else "|", color=color, ls="", label=name)
    axes.set_xscale("log")
    axes.set_xlim(left=0.9 * LEAST)
    axes.set_yticks(range(len(problems)), problems)
    said = f"mean and 95% interval; at the edge: {LEAST:g} or less"
    axes.set_xlabel(f"gap regret after {horizon:,} steps ({said})")
    axes.grid(axis="x", color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, 1.09), ncols=5, frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
