"""What the best policy does, drawn small for a page; ``maps`` says what to draw."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from restive.base.arrays import Ints
from restive.report.drawing.picture import printable
from restive.report.drawing.svg import label, picture
from restive.report.policy import maps
from restive.report.policy.alike import ALIKE, shown_returns, three_alike
from restive.report.policy.colors import arm_label, cell_edges, seen_words, state_label
from restive.report.policy.visits import Visits, visits_of
from restive.report.policy.words import chance_note, situations

if TYPE_CHECKING:
    from restive.model.bandit import Bandit
    from restive.planning import Plan


ROW, STRIP = 22.0, 300.0
LETTER = 6.1  # width of a letter at the size of these pictures
MAP = 150.0
MAX_ROWS, MAX_MAPS, MAX_SIGHTS, MAX_ARMS, MAX_SITUATIONS = 8, 4, 10, 12, 6
RARE = 0.002


@dataclass(frozen=True)
class _Scale:
    """Ages along an axis: even steps, or even ratios where there are many."""

    ages: Ints
    length: float

    def edge(self, k: int) -> float:
        """Where column k begins."""
        return self._place(float(cell_edges(self.ages)[k])) * self.length

    def _place(self, value: float) -> float:
        low, high = float(self.ages[0]) - 0.5, float(self.ages[-1]) + 0.5
        if self.ages[-1] <= maps.FINE:
            return (value - low) / (high - low)
        return log(value / low) / log(high / low)

    def middle(self, k: int) -> float:
        return 0.5 * (self.edge(k) + self.edge(k + 1))

    def marks(self) -> list[tuple[float, str]]:
        """A few ages to write below the axis, with their places; the last stands for more."""
        count = len(self.ages)
        chosen = sorted({0, count // 4, count // 2, 3 * count // 4, count - 1})
        words = [str(self.ages[k]) + ("+" if k == count - 1 else "") for k in chosen]
        return [(self.middle(k), word) for k, word in zip(chosen, words, strict=True)]


def policy_section(
    plan: Plan | None, visits: Visits | None = None, note: str = ""
) -> dict[str, Any]:
    """What a page shows of the policy; without a plan nothing but the note.

    Pictures, a note on how to read them, what to pull in the commonest situations, and a remark on
    percentages among these.
    """
    if plan is None:
        return {"pictures": [], "note": note, "situations": [], "chance": ""}
    seen = visits or visits_of(plan)
    pictures, note = policy_picture(plan, seen)
    listed = situations(plan, MAX_SITUATIONS, seen)
    chance = chance_note(situation.pull for situation in listed)
    return {"pictures": pictures, "note": note, "situations": listed, "chance": chance}


def policy_picture(plan: Plan, visits: Visits | None = None) -> tuple[list[Markup], str]:
    """Pictures of the policy of a plan, and a sentence that says how to read them."""
    seen = visits or visits_of(plan)
    if plan.bandit.n_arms == 2:
        return _strips(plan, seen)
    if plan.bandit.n_arms == 3 and seen.pulled(3).min() > 0:
        return _maps(plan, seen)
    return _followers(plan, seen)


def _strips(plan: Plan, seen: Visits) -> tuple[list[Markup], str]:
    panels = maps.strips(plan, seen, MAX_ROWS)
    note = (
        "Each row is what was seen last of the first and of the second arm; the colour says which "
        "arm to pull as the older sight grows older. Dots: where the policy spends its time."
    )
    return [_strip(plan.bandit, panel) for panel in panels], note


def _strip(bandit: Bandit, panel: maps.Strips) -> Markup:
    scale, rows = _Scale(panel.ages, STRIP), len(panel.pairs)
    names = [arm_label(bandit, arm) for arm in (panel.last, panel.rested)]
    parts: list[str] = [label(0, -10, f"{names[0]} pulled last", "head", "start")]
    words = [_pair_words(bandit, pair) for pair in panel.pairs.tolist()]
    for r, pair in enumerate(words):
        parts.append(label(-6, (r + 0.5) * ROW + 4, pair, "name", "end"))
        parts += _stretches(bandit, panel, scale, r)
    parts += _dots(panel, scale)
    parts += [label(x, rows * ROW + 14, word, "pay") for x, word in scale.marks()]
    parts.append(label(STRIP / 2, rows * ROW + 29, f"steps since {names[1]} was seen", "pay"))
    room = max(LETTER * max(map(len, words)) + 14, 20)
    view = (-room, -26, STRIP + room + 12, rows * ROW + 62)
    return picture(parts, view, f"Best pulls after {names[0]} was pulled", "policy")


def _pair_words(bandit: Bandit, pair: list[int]) -> str:
    seen = [state_label(bandit, arm, state, 9) for arm, state in enumerate(pair)]
    return ", ".join(word for word in seen if word)


def _stretches(bandit: Bandit, panel: maps.Strips, scale: _Scale, row: int) -> list[str]:
    """One bar for each stretch of ages with the same pull, and the arm's name in it."""
    parts = []
    for action, first, past in maps.runs(panel.actions[row], panel.ages):
        left, right = scale.edge(first), scale.edge(past)
        parts.append(
            f'<rect x="{left:.1f}" y="{row * ROW + 1:.1f}" width="{right - left:.1f}" '
            f'height="{ROW - 2}" class="{_kind(action)}"/>'
        )
        name = "either" if action == maps.EITHER else arm_label(bandit, action, 12)
        age = str(panel.ages[first])
        options = [name, ""] if first == 0 else [f"from {age}: {name}", f"from {age}", age, ""]
        text = next(t for t in options if LETTER * len(t) + 8 <= right - left or not t)
        if text:
            parts.append(label(left + 4, (row + 0.5) * ROW + 2, text, "in", "start"))
    return parts


def _kind(action: int) -> str:
    return "either" if action == maps.EITHER else f"pull pull{action}"


def _dots(panel: maps.Strips, scale: _Scale) -> list[str]:
    parts = []
    for r, k in np.argwhere(panel.visits >= RARE).tolist():
        size = 1 + 3.2 * sqrt(float(panel.visits[r, k]))
        parts.append(
            f'<circle cx="{scale.middle(k):.1f}" cy="{(r + 1) * ROW - 4.5:.1f}" r="{size:.1f}" '
            'class="dot"/>'
        )
    return parts


def _maps(plan: Plan, seen: Visits) -> tuple[list[Markup], str]:
    roles = three_alike(plan.bandit, seen)
    bandit, seen = roles or (plan.bandit, seen)
    parts = maps.age_maps(plan, seen, MAX_MAPS)
    covered = sum(part.share for part in parts)
    note = (
        "Each square is one situation: the arm just pulled and what was seen last of every arm. "
        "Its axes are the steps since the other two arms were seen, and the colour says which arm "
        f"to pull. Grey: cannot happen. Dots: where the policy spends its time; these squares hold "
        f"{covered:.0%} of it."
    )
    note += ALIKE if roles else ""
    return [_map(bandit, part) for part in parts], note


def _map(bandit: Bandit, part: maps.AgeMap) -> Markup:
    scales = [_Scale(ages, MAP) for ages in part.ages]
    parts: list[str] = [f'<rect width="{MAP}" height="{MAP}" class="never"/>']
    parts += _regions(part, scales)
    for i, k in np.argwhere(part.visits >= RARE).tolist():
        x, y = scales[0].middle(i), MAP - scales[1].middle(k)
        size = 1 + 6 * sqrt(float(part.visits[i, k]))
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" class="dot"/>')
    parts += _region_names(bandit, part, scales)
    sights = [_sight(bandit, arm, *part.also[arm]) for arm in range(3)]
    a, b = part.others
    title = f"now {sights[part.last]}: {part.share:.0%}"
    parts.append(label(MAP / 2, -8, title, "head"))
    parts += [label(x, MAP + 13, word, "pay") for x, word in scales[0].marks()[::2]]
    parts += [label(-4, MAP - y + 4, word, "pay", "end") for y, word in scales[1].marks()[::2]]
    parts.append(label(MAP / 2, MAP + 27, f"age of {sights[a]}", "pay"))
    turned = label(0, 0, f"age of {sights[b]}", "pay")
    parts.append(f'<g transform="translate(-32 {MAP / 2}) rotate(-90)">{turned}</g>')
    return picture(parts, (-46, -24, MAP + 62, MAP + 58), f"Best pulls: {title}", "policy")


def _sight(bandit: Bandit, arm: int, *states: int, name: str = "") -> str:
    """An arm with the states in brackets; any, if all of them are meant."""
    seen = seen_words(bandit, arm, states, 8, 14)
    arms = printable(name, 24) if name else arm_label(bandit, arm, 10)
    return f"{arms} ({seen})" if seen else arms


def _regions(part: maps.AgeMap, scales: list[_Scale]) -> list[str]:
    """One path for each arm: along every row, stretches of the same pull."""
    shown = np.where(np.isnan(part.gaps), maps.EITHER - 1, part.actions)
    paths: dict[int, list[str]] = {}
    for k in range(shown.shape[1]):
        top, low = MAP - scales[1].edge(k + 1), MAP - scales[1].edge(k)
        for action, first, past in maps.runs(shown[:, k], part.ages[0]):
            left, right = scales[0].edge(first), scales[0].edge(past)
            step = f"M{left:.1f} {top:.1f}H{right:.1f}V{low:.1f}H{left:.1f}z"
            paths.setdefault(action, []).append(step)
    return [
        f'<path d="{"".join(steps)}" class="{_kind(action)}"/>'
        for action, steps in sorted(paths.items())
        if action >= maps.EITHER
    ]


def _region_names(bandit: Bandit, part: maps.AgeMap, scales: list[_Scale]) -> list[str]:
    """The arm's name in its widest stretch, of several in the one nearest to the middle."""
    widest: dict[int, tuple[float, float, float, float]] = {}
    for k in range(part.actions.shape[1]):
        y = MAP - scales[1].middle(k)
        for action, first, past in maps.runs(part.actions[:, k], part.ages[0]):
            left, right = scales[0].edge(first), scales[0].edge(past)
            candidate = (round(right - left, 3), -abs(y - MAP / 2), (left + right) / 2, y)
            widest[action] = max(widest.get(action, candidate), candidate)
    names = {arm: arm_label(bandit, arm, 10) for arm in range(3)}
    return [
        label(x, min(max(y + 4, 12), MAP - 4), names[arm], "in halo")
        for arm, (width, _, x, y) in sorted(widest.items())
        if arm in names and width >= LETTER * len(names[arm])
    ]


def _followers(plan: Plan, seen: Visits) -> tuple[list[Markup], str]:
    """Any number of arms: after each sight, how often each arm is pulled next."""
    bandit, after = plan.bandit, shown_returns(plan.bandit, seen, MAX_SIGHTS)
    pulled = np.flatnonzero(after.following.max(axis=0) >= 0.005).tolist()
    shown = pulled[:MAX_ARMS]
    left = bandit.n_arms - len(seen.arms_pulled if after.columns else shown)
    width, parts = 46.0, list[str]()
    rows = list(zip(after.arms.tolist(), after.states.tolist(), strict=True))
    for r, (arm, state) in enumerate(rows):
        sight = _sight(bandit, arm, state, name=after.rows[r] if after.rows else "")
        words = f"{sight}, {after.share[r]:.0%} of the time"
        parts.append(label(-6, (r + 0.5) * ROW + 4, words, "name", "end"))
        for j, arm in enumerate(shown):
            parts += _share(j * width, r * ROW, width, float(after.following[r, arm]))
    for j, arm in enumerate(shown):
        text = printable(after.columns[arm], 24) if after.columns else arm_label(bandit, arm, 10)
        name = label(0, 0, text, "pay", "start")
        at = f"translate({(j + 0.4) * width:.1f} -5) rotate(-35)"
        parts.append(f'<g transform="{at}">{name}</g>')
    view = (-220, -56, 220 + len(shown) * width + 44, len(rows) * ROW + 62)
    note = "Each row is what was just seen; the shares say which arm the policy pulls next."
    if left:
        never = "hardly ever pulled" if len(pulled) > len(shown) else "never pulled"
        note += f" Left out: {left} arm{'s' * (left > 1)}, {never}."
    note += "" if seen.computed else " Shares are simulated."
    return [picture(parts, view, "What the best policy pulls after each sight", "policy")], note


def _share(x: float, y: float, width: float, share: float) -> list[str]:
    cell = (
        f'<rect x="{x + 1:.1f}" y="{y + 1:.1f}" width="{width - 2}" height="{ROW - 2}" '
        f'class="share" style="--level:{share:.2f}"/>'
    )
    words = f"{share:.0%}" if share >= 0.005 else ""
    return [cell, label(x + width / 2, y + ROW / 2 + 4, words, "in") if words else ""]
