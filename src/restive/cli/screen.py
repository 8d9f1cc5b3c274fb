"""What ``restive inspect`` and ``restive plan`` show: tables and sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import floor
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from restive.base.words import count_text, duration_text, listed, outward, size_text
from restive.cli.console import console, dim, gain_text, show, table, title, waiting

Finder = Callable[[], Mapping[str, Any]]

SHOWN_STATES = 12
SHOWN_ARMS = 24
WIDE = 1e-3  # an interval wider than this is printed instead of its middle


def show_problem(facts: Mapping[str, Any]) -> None:
    """Print what ``facts.of_problem`` found."""
    out = console()
    count = facts["n_arms"]
    close = f"{facts['tolerance']:g}"
    heads = ("arm", "states", "reward", "period", "mixes in", f"to {close} in", "diameter")
    shown = facts["arms"][: SHOWN_ARMS + (count == SHOWN_ARMS + 1)]
    facts_rows = [_arm_row(arm, j == facts["best_arm"]["arm"]) for j, arm in enumerate(shown)]
    arms = table(out, (*heads, "reversible"), facts_rows, right=range(1, 7), spare=1)
    more = [f"and {count - len(shown):,} more (see --json)"] * (len(shown) < count)
    rows = [row for arm in shown for row in _state_rows(arm)]
    states = table(out, ("arm", "state", "reward", "share of time"), rows, right=(2, 3))
    name = title(facts, f"{count:,} arm{'s' * (count != 1)}")
    show(out, name, "", arms, *more, "", states, "", _problem_sentence(facts))


def show_plan(facts: Mapping[str, Any], myopic: Finder, words: Finder, more: bool = True) -> bool:
    """Print what ``facts.value_of`` tells at once, then what takes time, as far as it gets.

    more: whether anything that takes time is wanted. Returns whether all was found; Ctrl-C leaves
    out what is not there yet.
    """
    out = console()
    show(out, title(facts, "plan"), "", _plan_sentence(facts), "")
    beside = _unless_interrupted("evaluating the myopic policy", myopic) if more else None
    show(out, _policies(out, facts, beside))
    told = beside and _unless_interrupted("putting the policy into words", words)
    if told:
        _show_words(out, told)
    _show_effort(out, facts)
    return bool(told)


def _unless_interrupted(what: str, find: Finder) -> Mapping[str, Any] | None:
    try:
        with waiting(f"{what}; Ctrl-C leaves it out"):
            return find()
    except KeyboardInterrupt:
        return None


def _policies(
    out: Console, facts: Mapping[str, Any], myopic: Mapping[str, Any] | None
) -> Table | Text:
    """What the best policy and simple ones earn."""
    best = facts["best_arm"]
    values = {"best policy": facts, f"always {best['name']}": best}
    if myopic is not None:
        how = " (simulated)" if myopic["simulated"] else ""
        values = {"best policy": facts, f"myopic policy{how}": myopic, **values}
    # a share of what is earned says something only where 0 is nothing
    beside, compared = ("share of the best", _share) if _from_zero(facts) else ("less", _less)
    rows = [(name, _amount(value), compared(value, facts)) for name, value in values.items()]
    return table(out, ("policy", "reward per step", beside), rows, right=(1, 2))


def _show_words(out: Console, told: Mapping[str, Any]) -> None:
    from restive.report.policy.words import chance_note

    if told["rule"]:
        show(out, "", f"In words: {told['rule']['sentence']}")
    show(out, "", _situations(out, told["situations"]))
    if note := chance_note(situation["pull"] for situation in told["situations"]):
        show(out, dim(note))


def _show_effort(out: Console, facts: Mapping[str, Any]) -> None:
    sweeps = "1 sweep" if facts["sweeps"] == 1 else f"{facts['sweeps']:,} sweeps"
    small = f"{facts['states']:,} information states, {sweeps}, {duration_text(facts['seconds'])}."
    show(out, "", dim(small))
    if not facts["converged"]:
        words = (
            f"restive: the tolerance of {facts['tolerance']:g} was not reached: "
            f"{facts['note'] or 'the caps given, or rounding, leave the interval wider'}. "
            "It still holds."
        )
        show(console(stderr=True), Text(words, style="yellow"))


def _situations(out: Console, situations: Sequence[Mapping[str, Any]]) -> Table | Text:
    """What to pull when, in the situations that come up most."""
    time = "share of time" if all(row["computed"] for row in situations) else "share (simulated)"
    columns = {"seen": "just seen", "remembered": "last seen of the other", "pull": "pull next"}
    if not any(situation["remembered"] for situation in situations):
        del columns["remembered"]
    rows = [[*(row[key] for key in columns), f"{row['share']:.0%}"] for row in situations]
    return table(out, [*columns.values(), time], rows, right=(len(columns),))


def _arm_row(arm: Mapping[str, Any], best: bool) -> tuple[str, ...]:
    return (
        arm["name"] + (" (best)" if best else ""),
        f"{len(arm['states']):,}",
        gain_text(arm["gain"]),
        f"{arm['period']:,}",
        _steps(arm["mixing_time"]),
        _steps(arm["mixing_time_at_tolerance"]),
        _steps(arm["diameter"]),
        "yes" if arm["reversible"] else "no",
    )


def _state_rows(arm: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    rows = zip(arm["states"], arm["rewards"], arm["stationary"], strict=True)
    for k, (state, reward, share) in enumerate(rows):
        if k == SHOWN_STATES and len(arm["states"]) > SHOWN_STATES + 1:
            yield (arm["name"], f"and {len(arm['states']) - k:,} more (see --json)", "", "")
            return
        yield (arm["name"], state, gain_text(reward), f"{100 * share:.2f}%")


def _problem_sentence(facts: Mapping[str, Any]) -> str:
    best, pulls = facts["best_arm"], facts["pulls"]
    alone = f"Pulling one arm all the time earns at most {gain_text(best['gain'])} per step, with "
    alone += f"{best['name']}; switching arms at the right times may earn more."
    if pulls > 1:
        most = gain_text(facts["best_arms_gain"])
        alone = f"Of the {facts['n_arms']:,} arms {pulls:,} are pulled at each step; the same "
        alone += f"ones all the time earn at most {most}, switching may earn more."
    if facts["n_arms"] == 1:
        alone = f"There is one arm only, and it earns {gain_text(best['gain'])} per step."
    return " ".join(filter(None, (alone, _size_sentence(facts), _choice_sentence(facts))))


def _size_sentence(facts: Mapping[str, Any]) -> str:
    """What exact planning would take."""
    from restive.planning.size import NO_MACHINE

    size = facts["forecast"]
    if facts["pulls"] > 1:
        return ""
    if size is None:
        return "Exact planning is out of reach: an arm mixes too slowly to count the steps."
    if size["bytes"] is None or size["bytes"] > NO_MACHINE:
        return (
            f"Exact planning is out of reach: {facts['n_arms']:,} arms together have more "
            "information states than any machine can hold."
        )
    fits = "" if size["fits"] else ", more than this machine can give"
    span = "longer than can be said" if size["seconds"] is None else duration_text(size["seconds"])
    return (
        f"Planning this to within {facts['tolerance']:g} takes about {count_text(size['states'])} "
        f"information states, {size_text(size['bytes'])} and {span} or so{fits}."
    ).replace("about about", "about")


def _choice_sentence(facts: Mapping[str, Any]) -> str:
    """What ``restive plan`` would do."""
    way = facts["way"]
    if way == ["exact planning"]:
        return "restive plan does just that."
    if "exact planning" in way:
        others = listed([other for other in way if other != "exact planning"])
        return (
            f"restive plan plans exactly if that fits {facts['seconds']:g} s, and else closes an "
            f"interval by {others}."
        )
    return f"restive plan closes an interval within about {facts['seconds']:g} s, by {listed(way)}."


def _plan_sentence(facts: Mapping[str, Any]) -> str:
    lower, upper = outward(facts["gain_lower"], facts["gain_upper"])
    best = facts["best_arm"]
    arm = f"always pulling the best arm, {best['name']} ({gain_text(best['gain'])})."
    if not _from_zero(facts):
        more = f"{max(facts['gain_lower'] - best['gain'], 0.0):.4g}"
        words = f"The best policy earns {_amount(facts)} per step (certified between {lower} and "
        words += f"{upper}), at least {more} more than {arm}"
    elif _wide(facts):
        words = f"The best policy earns between {lower} and {upper} per step (certified), at least "
        words += f"{_comparison(facts['gain_lower'], best['gain'])} {arm}"
    else:
        # a gain that may be nothing is not called more than nothing
        gain = facts["gain"] if facts["gain_lower"] > 0 else 0.0
        words = f"The best policy earns {gain_text(facts['gain'])} per step (certified between "
        words += f"{lower} and {upper}), {_comparison(gain, best['gain'])} {arm}"
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
        f"later, and the best policy earns {listed(parts)}."
    )


def _comparison(gain: float, single: float) -> str:
    if single <= 0:
        return "as much as" if gain <= 0 else "instead of the nothing from"
    more = 100 * (gain / single - 1)
    if more <= 0 or gain_text(gain) == gain_text(single):
        return "as much as"
    if more < 0.05:  # too little for a decimal, but the numbers beside it differ
        return f"{more:.1g}% more than"
    return f"{more:.0f}% more than" if more >= 9.5 else f"{more:.1f}% more than"


def _from_zero(facts: Mapping[str, Any]) -> bool:
    return bool(facts["reward_range"][0] == 0)


def _less(value: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """How much less than the best policy it earns, in the units of the rewards."""
    if value["gain"] is None or value is best:
        return "-"
    if not (_wide(best) or _wide(value)):
        return f"{max(best['gain'] - value['gain'], 0.0):.4f}"
    return f"at most {best['gain_upper'] - value.get('gain_lower', value['gain']):.4f}"


def _wide(value: Mapping[str, Any]) -> bool:
    """Whether one number would say more than is known."""
    return bool(value.get("gain_upper", 0.0) - value.get("gain_lower", 0.0) > WIDE)


def _amount(value: Mapping[str, Any]) -> str:
    if value["gain"] is None:
        return "not computed"
    if not _wide(value):
        return gain_text(value["gain"])
    return " to ".join(outward(value["gain_lower"], value["gain_upper"]))


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
