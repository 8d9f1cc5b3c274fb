"""Markov chains drawn for a page: circles and arrows where that is readable, else a matrix."""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from restive.base.arrays import Floats
from restive.report.drawing.picture import printable
from restive.report.drawing.svg import Box, label, number, picture, short

if TYPE_CHECKING:
    from restive.model.bandit import Arm

Point = tuple[float, float]

MAX_CIRCLES = 6
MAX_CELLS = 60  # states beyond which even a matrix says nothing
RADIUS = 27.0
SHADES = 8
CELL_ROOM = 300.0


def chain_picture(arm: Arm) -> Markup | None:
    """The chain of an arm with its rewards; None if it has too many states to be seen."""
    size = arm.n_states
    arrows = int(((arm.transitions > 0) & ~np.eye(size, dtype=bool)).sum())
    if size <= MAX_CIRCLES and arrows <= max(6, 2 * size):
        return _diagram(arm)
    return _matrix(arm) if size <= MAX_CELLS else None


def _in_words(arm: Arm) -> str:
    """Every move of a small chain; of a large one only the likeliest, which is all one can hear."""
    lines = []
    many = arm.n_states > MAX_CIRCLES
    for s, row in enumerate(arm.transitions):
        after = [int(row.argmax())] if many else np.flatnonzero(row > 0).tolist()
        moves = ", ".join(f"{arm.states[n]} {number(row[n])}" for n in after)
        how = "mostly" if many else "goes"
        lines.append(f"{arm.states[s]} (reward {number(arm.rewards_given[s])}) {how} to {moves}")
    return "; ".join(lines)


def _diagram(arm: Arm) -> Markup:
    places, box = _places(arm.n_states), Box()
    parts: list[str] = []
    for (s, n), chance in np.ndenumerate(arm.transitions):
        if chance > 0 and s != n:
            both = bool(arm.transitions[n, s] > 0)
            parts += _arrow(places[s], places[n], float(chance), both, len(places), box)
        elif chance > 0:
            parts += _loop(places[s], _outward(places, s), float(chance), box)
    for s, place in enumerate(places):
        parts += _node(place, arm, s, box)
    return picture(parts, box.view(), _in_words(arm), "chain")


def _places(size: int) -> list[Point]:
    """Centres of the states: beside each other, or around a circle from the top."""
    if size <= 2:
        return [(150.0 * s, 0.0) for s in range(size)]
    radius = 84.0 + 8.0 * size
    angles = [2 * pi * s / size - pi / 2 for s in range(size)]
    return [(radius * cos(angle), radius * sin(angle)) for angle in angles]


def _outward(places: list[Point], s: int) -> float:
    """Direction away from the others."""
    if len(places) == 1:
        return -pi / 2
    middle = [sum(values) / len(places) for values in zip(*places, strict=True)]
    return atan2(places[s][1] - middle[1], places[s][0] - middle[0])


def _node(place: Point, arm: Arm, state: int, box: Box) -> list[str]:
    x, y = place
    name, paid = printable(arm.states[state], 7), short(float(arm.rewards_given[state]))
    box.add(x, y, RADIUS + 1)
    circle = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" class="node" '
        f'style="--reward:{arm.rewards[state]:.2f}"/>'
    )
    words = label(x, y - 1, name, "name") + label(x, y + 13, f"r {paid}", "pay")
    return [circle, words]


def _arrow(start: Point, end: Point, chance: float, both: bool, size: int, box: Box) -> list[str]:
    """A curve to the left of the straight line, so that the way back has room on its right."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = hypot(dx, dy)
    left = (dy / length, -dx / length)
    bend = length * (0.42 if size == 2 else 0.22 if both else 0.14)
    control = (
        (start[0] + end[0]) / 2 + bend * left[0],
        (start[1] + end[1]) / 2 + bend * left[1],
    )
    tail, head = _towards(start, control, RADIUS), _towards(end, control, RADIUS + 2)
    along = 0.5 if size == 2 else 0.34  # others cross in the middle
    x, y = _on_curve(tail, control, head, along)
    x, y = x + 10 * left[0], y + 10 * left[1] + 4
    box.add(x, y - 4, 18, 9)
    curve = f"M{_pair(tail)}Q{_pair(control)} {_pair(head)}"
    return [*_stroke(curve, head, control, chance), label(x, y, number(chance), "chance")]


def _loop(place: Point, angle: float, chance: float, box: Box) -> list[str]:
    spread, far = 0.45, 2.5 * RADIUS
    ends = [_polar(place, angle + side * spread, RADIUS + 2 * (side > 0)) for side in (-1, 1)]
    pulls = [_polar(place, angle + side * spread * 1.15, far) for side in (-1, 1)]
    x, y = _polar(place, angle, 2.1 * RADIUS + 12 + 6 * abs(cos(angle)))
    box.add(x, y, 18, 9)
    curve = f"M{_pair(ends[0])}C{_pair(pulls[0])} {_pair(pulls[1])} {_pair(ends[1])}"
    return [*_stroke(curve, ends[1], pulls[1], chance), label(x, y + 4, number(chance), "chance")]


def _stroke(curve: str, head: Point, before: Point, chance: float) -> list[str]:
    """The line, thicker for likelier moves, and its arrowhead."""
    angle = atan2(head[1] - before[1], head[0] - before[0])
    corners = [head, _polar(head, angle + 2.7, 9), _polar(head, angle - 2.7, 9)]
    tip = "M" + "L".join(_pair(corner) for corner in corners) + "z"
    width = 1 + 1.8 * chance
    return [
        f'<path d="{curve}" class="arrow" stroke-width="{width:.1f}"/>',
        f'<path d="{tip}" class="tip"/>',
    ]


def _polar(place: Point, angle: float, distance: float) -> Point:
    return place[0] + distance * cos(angle), place[1] + distance * sin(angle)


def _towards(place: Point, target: Point, distance: float) -> Point:
    return _polar(place, atan2(target[1] - place[1], target[0] - place[0]), distance)


def _on_curve(a: Point, b: Point, c: Point, t: float) -> Point:
    weights = ((1 - t) ** 2, 2 * t * (1 - t), t**2)
    x, y = (sum(w * p[k] for w, p in zip(weights, (a, b, c), strict=True)) for k in (0, 1))
    return x, y


def _pair(place: Point) -> str:
    return f"{place[0]:.1f} {place[1]:.1f}"


def _matrix(arm: Arm) -> Markup:
    """Rows: from; columns: to; the darker the likelier. Bars at the right: rewards."""
    size = arm.n_states
    cell = 38.0 if size <= MAX_CIRCLES else min(24.0, CELL_ROOM / size)
    side = cell * size
    parts = [f'<rect width="{side:.1f}" height="{side:.1f}" class="frame"/>']
    parts += _cells(arm.transitions, cell)
    if size <= MAX_CIRCLES:
        parts += _cell_numbers(arm.transitions, cell)
    for s, reward in enumerate(arm.rewards):
        parts.append(
            f'<rect x="{side + 8:.1f}" y="{(s + 0.12) * cell:.1f}" width="{46 * reward:.1f}" '
            f'height="{0.76 * cell:.1f}" class="bar"/>'
        )
    parts += _matrix_names(arm, cell)
    parts.append(label(side + 31, -6, "reward", "pay"))
    parts.append(label(side / 2, -6, f"next of {size} states", "pay"))
    return picture(parts, (-72, -20, side + 136, side + 26), _in_words(arm), "chain matrix")


def _cells(matrix: Floats, cell: float) -> list[str]:
    """One path for each shade, which is much shorter than a rectangle for each cell."""
    levels = np.ceil(np.sqrt(matrix) * SHADES).astype(np.int64)
    parts = []
    for level in range(1, SHADES + 1):
        steps = "".join(
            f"M{n * cell:.4g} {s * cell:.4g}h{cell:.4g}v{cell:.4g}h-{cell:.4g}z"
            for s, n in np.argwhere(levels == level).tolist()
        )
        if steps:
            parts.append(f'<path d="{steps}" class="cell" style="--level:{level / SHADES:.3g}"/>')
    return parts


def _cell_numbers(matrix: Floats, cell: float) -> list[str]:
    return [
        label((n + 0.5) * cell, (s + 0.5) * cell + 4, f"{chance:.2g}", "halo")
        for (s, n), chance in np.ndenumerate(matrix)
        if chance > 0
    ]


def _matrix_names(arm: Arm, cell: float) -> list[str]:
    every = max(1, round(11 / cell))
    named = range(0, arm.n_states, every)
    return [
        label(-5, (s + 0.5) * cell + 4, printable(arm.states[s], 8), "name", "end") for s in named
    ]
