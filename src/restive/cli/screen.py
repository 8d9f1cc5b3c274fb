"""Tables and sentences for people: boxes and colour on a terminal, plain text in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import floor, log10
from typing import TYPE_CHECKING, Any

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from restive.base.words import duration_text, size_text

if TYPE_CHECKING:
    from restive.problems import Problem

__all__ = [
    "progress",
    "show_bounds",
    "show_gallery",
    "show_plan",
    "show_problem",
    "show_written",
    "waiting",
]

PLAIN_WIDTH = 100_000  # in a pipe nothing is wrapped or cut
SHOWN_STATES = 12
WIDE = 1e-3  # an interval wider than this is printed instead of its middle
PLAIN_RULE = Box("    \n" * 2 + " ── \n" + "    \n" * 5)  # a rule under the heading, no more


def show_problem(facts: Mapping[str, Any]) -> None:
    """Print what ``facts.of_problem`` found."""
    out = _console()
    arms = facts["arms"]
    close = f"{facts['tolerance']:g}"
    out.print(_title(facts, f"{len(arms)} arm{'s' * (len(arms) != 1)}"))
    out.print()
    heads = ("arm", "states", "reward", "period", "mixes in", f"to {close} in", "diameter")
    facts_rows = [_arm_row(arm, j == facts["best_arm"]["arm"]) for j, arm in enumerate(arms)]
    out.print(_table(out, (*heads, "reversible"), facts_rows, right=range(1, 7)))
    out.print()
    state_rows = [row for arm in arms for row in _state_rows(arm)]
    state_heads = ("arm", "state", "reward", "share of time")
    out.print(_table(out, state_heads, state_rows, right=(2, 3)))
    out.print()
    out.print(Text(_problem_sentence(facts)))


def show_plan(facts: Mapping[str, Any]) -> None:
    """Print what ``facts.of_plan`` found."""
    out = _console()
    best = facts["best_arm"]
    values = {
        "best policy": facts,
        "myopic policy": facts["myopic"],
        f"always {best['name']}": best,
    }
    rows = [(name, _amount(value), _share(value, facts)) for name, value in values.items()]
    out.print(_title(facts, "plan"))
    out.print()
    heads = ("policy", "reward per step", "share of the best")
    out.print(_table(out, heads, rows, right=(1, 2)))
    out.print()
    out.print(Text(_plan_sentence(facts)))
    out.print()
    out.print(_situations(out, facts["situations"]))
    out.print()
    small = (
        f"{facts['states']:,} information states, {facts['sweeps']:,} sweeps, "
        f"{duration_text(facts['seconds'])}."
    )
    out.print(Text(small, style="dim"))
    if not facts["converged"]:
        words = (
            f"restive: the tolerance of {facts['tolerance']:g} was not reached: the caps given, or "
            "rounding, leave the interval wider. It still holds."
        )
        _console(stderr=True).print(Text(words, style="yellow"))


def show_written(paths: Sequence[str]) -> None:
    """Print the names of the files that were written."""
    for path in paths:
        _console().print(Text(f"Wrote {path}.", style="dim"))


def _situations(out: Console, found: Sequence[Mapping[str, Any]]) -> Table | Text:
    """What to pull when, in the situations that come up most."""
    if any(one["remembered"] for one in found):
        heads = ("just seen", "last seen of the other", "pull next", "share of time")
        rows = [(o["seen"], o["remembered"], o["pull"], f"{o['share']:.0%}") for o in found]
        return _table(out, heads, rows, right=(3,))
    short = [(o["seen"], o["pull"], f"{o['share']:.0%}") for o in found]
    return _table(out, ("just seen", "pull next", "share of time"), short, right=(2,))


def show_bounds(facts: Mapping[str, Any]) -> None:
    """Print what ``facts.of_bounds`` found."""
    out = _console()
    known = facts["true_diameter"]
    columns = [facts["lemma_1"]] + ([known["bounds"]] if known and known["bounds"] else [])
    out.print(_title(facts, f"what the theorems promise at T = {_large(facts['horizon'])}"))
    out.print()
    heads = ("", "with Lemma 1", "with the true diameter")[: len(columns) + 1]
    rows = [(what, *(_large(read(one)) for one in columns)) for what, read in _BOUNDS]
    out.print(_table(out, heads, rows, right=range(1, len(heads))))
    out.print()
    for sentence in [*_diameter_sentence(known), *facts["explanation"]]:
        out.print(Text(sentence))


def show_gallery(gallery: Mapping[str, Problem]) -> None:
    """Print the gallery: a line for each problem and one for each of its parameters."""
    out = _console()
    rows: list[tuple[str, ...]] = []
    for name, problem in gallery.items():
        rows.append((name, problem.description, "", ""))
        for one in problem.parameters:
            default = "" if one.default is None else str(one.default)
            rows.append((f"  --{one.name.replace('_', '-')}", one.help, default, one.range))
    heads = ("problem", "what it is", "default", "may be")
    out.print(_table(out, heads, rows, right=(2,)))
    out.print()
    out.print(Text("restive problem NAME > file.toml writes one; restive plan file.toml plans it."))


@contextmanager
def progress() -> Iterator[Callable[[str, int, float], None] | None]:
    """A live line on standard error while a plan is made; None where nobody watches."""
    err = _console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    with err.status("planning") as status:

        def report(what: str, sweeps: int, width: float) -> None:
            status.update(f"{what}: sweep {sweeps:,}, known to within {width:.2g}")

        yield report


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """A live line on standard error while something takes its time, if anybody watches."""
    err = _console(stderr=True)
    if not err.is_terminal:
        yield
        return
    with err.status(what):
        yield


def _console(stderr: bool = False) -> Console:
    out = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not out.is_terminal:
        out.width = PLAIN_WIDTH
    return out


def _title(facts: Mapping[str, Any], what: str) -> Text:
    return Text.assemble((facts["problem"] or "unnamed problem", "bold"), f": {what}")


def _table(
    out: Console, heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]
) -> Table | Text:
    """A table whose columns ``right`` are numbers; without rules where nobody watches."""
    if not out.is_terminal:
        return _plain_table([heads, *rows], right)
    table = Table(box=PLAIN_RULE, header_style="bold", pad_edge=False, show_edge=False)
    for k, head in enumerate(heads):
        numeric = k in right
        table.add_column(Text(head), justify="right" if numeric else "left", no_wrap=numeric)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _plain_table(rows: Sequence[Sequence[str]], right: Sequence[int]) -> Text:
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        blanks = [" " * (width - cell_len(cell)) for width, cell in zip(widths, row, strict=True)]
        cells = zip(row, blanks, strict=True)
        words = [b + cell if k in right else cell + b for k, (cell, b) in enumerate(cells)]
        return "  ".join(words).rstrip()

    return Text("\n".join(map(line, rows)))


def _arm_row(arm: Mapping[str, Any], best: bool) -> tuple[str, ...]:
    return (
        arm["name"] + (" (best)" if best else ""),
        f"{len(arm['states']):,}",
        _gain(arm["gain"]),
        f"{arm['period']:,}",
        _steps(arm["mixing_time"]),
        _steps(arm["mixing_time_at_tolerance"]),
        _steps(arm["diameter"]),
        "yes" if arm["reversible"] else "no",
    )


def _state_rows(arm: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    table = zip(arm["states"], arm["rewards"], arm["stationary"], strict=True)
    for k, (state, reward, share) in enumerate(table):
        if k == SHOWN_STATES and len(arm["states"]) > SHOWN_STATES + 1:
            yield (arm["name"], f"and {len(arm['states']) - k:,} more (see --json)", "", "")
            return
        yield (arm["name"], state, _gain(reward), f"{100 * share:.2f}%")


def _problem_sentence(facts: Mapping[str, Any]) -> str:
    best, size = facts["best_arm"], facts["forecast"]
    alone = f"Pulling one arm all the time earns at most {_gain(best['gain'])} per step, with "
    alone += f"{best['name']}; switching arms at the right times may earn more."
    if len(facts["arms"]) == 1:
        alone = f"There is one arm only, and it earns {_gain(best['gain'])} per step."
    close = f"{facts['tolerance']:g}"
    if size is None:
        return f"{alone} Planning is out of reach: an arm mixes too slowly to count the steps."
    fits = "" if size["fits"] else ", more than this machine can give; ask for a larger tolerance"
    return (
        f"{alone} Planning this to within {close} takes about {size['states']:,} information "
        f"states, {size_text(size['bytes'])} and {duration_text(size['seconds'])} or so{fits}."
    )


def _plan_sentence(facts: Mapping[str, Any]) -> str:
    lower, upper = _interval(facts["gain_lower"], facts["gain_upper"])
    best = facts["best_arm"]
    arm = f"always pulling the best arm, {best['name']} ({_gain(best['gain'])})."
    if _wide(facts):
        words = f"The best policy earns between {lower} and {upper} per step (certified), at least "
        words += f"{_comparison(facts['gain_lower'], best['gain'])} {arm}"
    else:
        # a gain that may be nothing is not called more than nothing
        gain = facts["gain"] if facts["gain_lower"] > 0 else 0.0
        words = f"The best policy earns {_gain(facts['gain'])} per step (certified between {lower} "
        words += f"and {upper}), {_comparison(gain, best['gain'])} {arm}"
    return f"{words}{_starts_sentence(facts['starts'])}"


def _starts_sentence(starts: Sequence[Mapping[str, Any]]) -> str:
    """Where the gain depends on the phases in which the arms start: how."""
    shares: dict[str, float] = {}
    for start in starts:
        amount = _amount(start)
        shares[amount] = shares.get(amount, 0.0) + start["probability"]
    if len(shares) < 2:
        return ""
    parts = [f"{amount} in {100 * share:.3g}% of the starts" for amount, share in shares.items()]
    if len(parts) > SHOWN_STATES:
        parts = [*parts[:SHOWN_STATES], f"{len(parts) - SHOWN_STATES} more values (see --json)"]
    return (
        " That is the mean over the starts: which phases the arms start in cannot be changed "
        f"later, and the best policy earns {', '.join(parts[:-1])} and {parts[-1]}."
    )


def _diameter_sentence(known: Mapping[str, Any] | None) -> list[str]:
    """What is known of the true diameter beside Lemma 1's bound: a sentence, or none."""
    if known is None:
        return []
    if known["within_upper"] is None:
        return ["The true diameter is infinite: some states are never reached from others."]
    low, high = known["within_lower"], known["within_upper"]
    value = f"{_large(high)} (certain to within {high - low:.1g}; {known['states']:,} states)"
    if high < 1:
        value += ", which the theorems count as 1"
    if known["finite"]:
        return [f"The true diameter is {value}."]
    return [
        "The true diameter is infinite: the periods of some arms share a divisor, so their phases "
        f"never change against each other. Among the states that one play can meet it is {value}."
    ]


def _comparison(gain: float, single: float) -> str:
    if single <= 0:
        return "as much as" if gain <= 0 else "instead of the nothing from"
    more = 100 * (gain / single - 1)
    if more < 0.05:
        return "as much as"
    return f"{more:.0f}% more than" if more >= 9.5 else f"{more:.1f}% more than"


def _interval(lower: float, upper: float) -> tuple[str, str]:
    """Both ends, rounded outwards so that what is printed is still certain."""
    digits = min(12, max(4, 1 - floor(log10(max(upper - lower, 1e-12)))))
    step = Decimal(1).scaleb(-digits)
    low = Decimal(lower).quantize(step, ROUND_FLOOR)
    high = Decimal(upper).quantize(step, ROUND_CEILING)
    return f"{low:f}", f"{high:f}"


_BOUNDS: tuple[tuple[str, Callable[[Mapping[str, Any]], float | None]], ...] = (
    ("diameter of the decision problem", lambda b: b["diameter"]),
    ("regret at most, Theorem 4", lambda b: b["theorem_4"]),
    ("regret at most, the sum in its proof", lambda b: b["terms"]["total"]),
    ("regret at most, by any play", lambda b: b["horizon"]),
    ("Theorem 4 says something from T =", lambda b: b["meaningful_horizon"]),
    ("the sum says something from T =", lambda b: b["meaningful_horizon_terms"]),
)


def _large(value: float | None) -> str:
    """Short, whatever the size; None stands for what no float can hold."""
    if value is None:
        return "beyond 1e300"
    if value < (1e9 if isinstance(value, int) else 1e6):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
    return f"{value:.2e}"


def _gain(value: float | None) -> str:
    return "too large" if value is None else f"{value:.4f}"


def _wide(value: Mapping[str, Any]) -> bool:
    """Whether one number would say more than is known."""
    return bool(value.get("gain_upper", 0.0) - value.get("gain_lower", 0.0) > WIDE)


def _amount(value: Mapping[str, Any]) -> str:
    if not _wide(value):
        return _gain(value["gain"])
    return " to ".join(_interval(value["gain_lower"], value["gain_upper"]))


def _share(value: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """Part of what the best policy earns."""
    if value["gain"] is None or best["gain_lower"] <= 0:
        return "-"
    if value is best or not (_wide(best) or _wide(value)):
        return f"{100 * min(value['gain'] / best['gain'], 1):.1f}%"
    sure = value.get("gain_lower", value["gain"]) / best["gain_upper"]
    return f"at least {floor(1000 * min(sure, 1)) / 10:.1f}%"


def _steps(value: float | None) -> str:
    if value is None:
        return "> 4e15"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if value < 1e6 else f"{value:.3g}"
