"""The comparison in words, tables and one picture."""

from __future__ import annotations

from typing import Any

from benchmarks.learners.deep import NAME
from benchmarks.learners.kinds import KINDS, MANY
from benchmarks.learners.suite import LARGE, LARGEST, OURS, PARTS, SLOW, YARDSTICKS, seed
from restive.experiments.statistics import MIN_RUNS
from restive.learners import LEARNERS

__all__ = ["page", "printed"]

MOST_CASES = 25  # losing cases that are listed; the rest is in the JSON
FORMER = (
    "**These runs are of former problems, and of tied-sampling without hope for rare states.** "
    "Learners and tuned forms that have come since are not in the tables, and the times are those "
    "of a busy machine. What follows tells where the next run's problems come from: they have been "
    "drawn anew because the former ones had a part in making hope a default."
)


def _network() -> str:
    """What the deep Q-network is, if it plays."""
    if "deep" not in PARTS:
        return (
            "A deep Q-network of two hidden layers, in NumPy alone, plays the same problems once "
            "`python -m benchmarks.learners.deep --write` has searched for its constants; it is "
            "not in these tables."
        )
    return (
        f"{NAME} is an extra, and no learner of restive: a double deep Q-network of two hidden "
        "layers of 32, in NumPy (benchmarks/learners/deep_q.py), told the state spaces and T, that "
        "sees last states and ages and makes one training step, on 32 remembered pulls, a pull. "
        "It has as many seeds as the slow learners. Its search had as many settings as theirs, on "
        "the same problems ([deep.json](deep.json)). Ten thousand pulls are few for a network; "
        "nothing is said of longer runs."
    )


def printed(results: dict[str, Any]) -> str:
    return "\n\n".join([_losing(results), _ratios(results), _kinds(results), _many(results)])


def page(results: dict[str, Any], tuning: dict[str, Any]) -> str:
    """docs/benchmarks/learners.md."""
    kinds = len(KINDS)
    count, steps = len(results["problems"]), results["steps"]
    runs = {name: max((r["runs"] for r in results["rows"] if r["learner"] in group), default=0)
            for name, group in (("most", OURS[:1]), ("slow", SLOW))}  # fmt: skip
    parts = [
        "# Learners compared",
        f"{count} problems of {kinds} kinds, {steps:,} steps, {_seeds(runs['most'])} each. Made by "
        f"`python -m benchmarks.learners --seeds {runs['most']} --slow-seeds {runs['slow']} "
        "--write`. **Gap regret** is what each pull lost against the best one in its information "
        "state, free of luck. Run r of all learners meets the same worlds. "
        f"{_intervals(runs['most'])}",
        f"Fewer seeds ({runs['slow']}) have the kinds {', '.join(LARGEST)}, and the learners "
        f"{', '.join(SLOW)}, which take long to plan and do not play the kinds {', '.join(LARGE)}.",
        *([] if results["seed"] == seed() else [FORMER]),
        _drawn(tuning),
        "## Where tied-sampling loses",
        _losing(results),
        "## Ratios",
        "Geometric means over problems of (gap regret of ours + 1) / (that of the rival + 1): "
        "below 1 ours lost less. Wins: problems on which ours lost less, of those that both can "
        "play with the most seeds. The best rival of a problem is chosen after the fact, among "
        "all, which flatters it the more the fewer seeds there are.",
        _ratios(results),
        "![gap regret of every learner on every kind of problem](learners.svg)",
        "## Gap regret by kind",
        "Means over the problems of each kind that a learner can play; best in bold, yardsticks "
        "(which know the arms) apart. learners.json has every problem.",
        _kinds(results),
        f"## {MANY.capitalize()}",
        "Too large for an exact plan. Rewards lost against Whittle's policy of the true arms on "
        "the same paths, simulated, not against the best policy.",
        _many(results),
        "## Constants",
        _constants(tuning),
        "tied-ucrl has no constants to choose but delta, 0.05 here as for all. The constants of "
        "tiling as published are half-widths sqrt(log T / (6 N)) and frontier zones of half-width "
        "(log T / T)^(1/3); its tuned form multiplies them. thompson and ucb1 have none; "
        "ucb1-tuned is the UCB1-TUNED of the same authors.",
        _network(),
        "## Seconds a run",
        "Medians over problems, one run at a time on a machine with other work.",
        _seconds(results),
        "## Not applicable",
        _refused(results),
    ]
    return "\n\n".join(parts) + "\n"


def _drawn(tuning: dict[str, Any]) -> str:
    """Where the problems come from, and what was chosen on which others."""
    return (
        "The problems (benchmarks/learners/kinds.py) were drawn after all choosing had ended: "
        "their seed is a hash of [tuning.json](tuning.json) and of the commit that made hope for "
        "rare states a default of tied-sampling. None was left out. Every rival with constants "
        "runs twice: as published, told what its paper asks for, and as NAME-tuned, with the best "
        f"of {tuning['settings']} settings on {len(tuning['problems'])} other problems "
        f"({tuning['runs']} runs of {tuning['steps']:,} steps). tied-sampling had the same search, "
        "with hope. Its defaults are older: a dozen settings by gap regret on seven problems of "
        "restive-suite-v1 (example-1 to example-3, random-1 and random-4, negative-correlation, "
        "best-arm-is-best), then episodes and draws on twelve others "
        "([decision 7](../decisions/0007-tied-posterior.md)). Hope was designed on thirteen drawn "
        "problems and made a default after runs on others, the 45 problems of the former version "
        "of this page among them ([decision 17](../decisions/0017-hope-for-rare-states.md)); so "
        "those were drawn anew for this one. Rivals were not given hope."
    )


def _seeds(count: int) -> str:
    return f"{count} seed{'s' * (count != 1)}"


def _intervals(seeds: int) -> str:
    if seeds >= MIN_RUNS:
        return (
            "Intervals are 95% over seeds, the unit of luck. Where there are fewer than six, those "
            "of ratios are over problems instead, which were drawn independently of each other, "
            "and single numbers have none."
        )
    return (
        f"**{_seeds(seeds)} are too few for intervals over seeds**, which need six; --seeds 6 "
        "plays more. Intervals of ratios are 95% over problems instead, which were drawn "
        "independently of each other; single numbers have none."
    )


def _lines(heads: str, right: str, rows: list[str]) -> str:
    """A table; ``right`` has an r for every column set flush right, an l for the others."""
    rule = "|".join("--:" if side == "r" else "---" for side in right)
    return "\n".join([f"| {heads} |", f"|{rule}|", *rows])


def _span(row: dict[str, Any], key: str) -> str:
    """A number with its interval; without one where there are too few seeds."""
    if row["low"] is None:
        return f"{row[key]:.3g}"
    return f"{row[key]:.3g} ({row['low']:.3g} to {row['high']:.3g})"


def _losing(results: dict[str, Any]) -> str:
    cases = results["losing"]
    problems = list(dict.fromkeys(case["problem"] for case in cases))
    certain = [case for case in cases if (case["low"] or 0.0) > 0]
    surely = len({case["problem"] for case in certain})
    rows = [
        f"| {case['problem']} | {case['rival']} | {case['own']:.1f} | {case['rivals']:.1f} | "
        f"{_span(case, 'difference')} |"
        for case in cases[:MOST_CASES]
    ]
    heads = "problem | rival | tied-sampling | rival's | difference"
    told = f"on {surely} of them by a difference whose interval is above 0"
    if all(case["low"] is None for case in cases):
        told = "which these few seeds cannot tell from luck case by case"
    words = (
        f"On {len(problems)} of the problems some rival lost less on average, {told}. The worst "
        f"{len(rows)} of {len(cases)} cases:"
    )
    return f"{words}\n\n{_lines(heads, 'llrrr', rows)}" if cases else "On none of the problems."


def _ratios(results: dict[str, Any]) -> str:
    best = [
        f"| {row['learner']} | the best rival of each problem, of those with as many seeds | "
        f"{_span(row, 'ratio')} | {row['wins']} of {row['problems']} | {_worst(row)} |"
        for row in _known(results["best"])
    ]
    rows = [
        f"| {row['learner']} | {row['against']} | {_span(row, 'ratio')} | "
        f"{row['wins']} of {row['problems']} | {_worst(row)} |"
        for row in sorted(_known(results["ratios"]), key=_rank)
    ]
    return _lines("ours | against | ratio | wins | worst problem", "llrrl", best + rows)


def _rank(row: dict[str, Any]) -> tuple[bool, float]:
    return row["learner"] != OURS[0], -row["ratio"]


def _known(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["ratio"] is not None]


def _worst(row: dict[str, Any]) -> str:
    return f"{row['worst']}: {row['worst_ratio']:.3g}" if row["worst"] else ""


def _order(names: set[str]) -> list[str]:
    rest = sorted(names - set(OURS) - set(YARDSTICKS))
    return [name for name in (*OURS, *rest, *YARDSTICKS) if name in names]


def _kinds(results: dict[str, Any]) -> str:
    return _table(results["kinds"], "kind")


def _many(results: dict[str, Any]) -> str:
    return _table(results["many"], "problem") if results["many"] else "none"


def _table(rows: list[dict[str, Any]], column: str) -> str:
    """Learners down, kinds or problems across."""
    cells = {(row[column], row["learner"]): row for row in rows}
    columns = list(dict.fromkeys(key for key, _ in cells))
    least = {
        key: min(r["mean"] for (k, name), r in cells.items() if k == key and name not in YARDSTICKS)
        for key in columns
    }
    lines = []
    for name in _order({name for _, name in cells}):
        texts = []
        for key in columns:
            row = cells.get((key, name))
            text = "" if row is None else _span(row, "mean")
            best = row is not None and row["mean"] <= least[key] and name not in YARDSTICKS
            texts.append(f"**{text}**" if best else text)
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    return _lines("learner | " + " | ".join(columns), "l" + "r" * len(columns), lines)


def _constants(tuning: dict[str, Any]) -> str:
    rows = [
        f"| {name} | {_options(entry['best'])} | {entry['score']:.3g} | "
        f"{max(setting['score'] for setting in entry['settings']):.3g} |"
        for name, entry in tuning["learners"].items()
    ]
    single = [name for name in tuning["learners"] if f"{name}-tuned" not in LEARNERS]
    same = [name for name in single if not name.endswith("-tuned")]
    words = (
        "The best settings of the search; scores are geometric means of gap regret + 1 on its "
        "problems, of the best setting and of the worst. There is no second form where the search "
        f"found the constants that are there already ({', '.join(same)}). ucrl2-tuned takes the "
        "width of colored-ucrl2-tuned. The grids of asr, exp3, exp3.s, explore-then-plan, "
        "explore-then-whittle and rucb were moved once, after a first look at which an end was "
        "best; the search is equal but for that. The best of tied-sampling, tiling, restless-ucb, "
        "rucb and asr is still at an end of its grid: more search might help them. That of sw-ucb "
        "is a window as long as the runs of the search, which forgets nothing there."
    )
    return f"{words}\n\n{_lines('learner | tuned | score | worst', 'llrr', rows)}"


def _options(options: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in options.items())


def _seconds(results: dict[str, Any]) -> str:
    times = sorted(results["seconds"].items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {seconds:.2g}" for name, seconds in times) + "."


def _refused(results: dict[str, Any]) -> str:
    lines = [
        f"- {learner}: {len(problems)} problems ({', '.join(problems)})"
        for learner, problems in sorted(results["refused"].items())
    ]
    return "\n".join(lines) or "none"
