"""``policy_figure``: a plan's policy as a picture in a file."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from restive.base.errors import Fault, ProblemError, RestiveError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from restive.planning import Plan

__all__ = ["policy_figure"]

# Without dates and random names, the same plan gives the same bytes.
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
}
WIDE = 1e-3  # an interval wider than this stands in the title instead of its middle
# for names that matplotlib's own font cannot write, where one of these is installed
FALLBACKS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "WenQuanYi Zen Hei", "Microsoft YaHei",
    "Hiragino Sans", "PingFang SC", "Arial Unicode MS", "Unifont",
)  # fmt: skip
SETTINGS: Any = {
    "svg.hashsalt": "restive",
    "text.parse_math": False,  # a name may hold a dollar sign
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def policy_figure(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Draw the policy of a plan into ``path``, which ends in .svg, .png or .pdf.

    Two arms: the arm to pull as the rested arm's age grows, for every pair of last states. Three:
    the same over both rested arms' ages, in the most frequent situations. Otherwise a stretch of
    play, and what follows each sight. The same plan gives the same bytes; the file appears whole
    or not at all. Frequencies come from simulated play with a fixed seed.
    """
    target = _checked(Path(path))
    if find_spec("matplotlib") is None:
        raise RestiveError(
            "drawing needs matplotlib, which is not installed. "
            "Install it with: pip install restive[plot]"
        )
    picture = _render(plan, target.suffix.lower())
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        draft.write_bytes(picture)
        os.replace(draft, target)
    except OSError as error:
        if error.strerror is None:
            raise
        # named after the file that was asked for, not after its draft
        raise type(error)(error.errno, error.strerror, str(target)) from None
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()


def _checked(target: Path) -> Path:
    kinds = ", ".join(METADATA)
    if target.suffix.lower() not in METADATA:
        remedy = f"Give a path that ends in one of {kinds}."
        fault = Fault(str(target), "unknown kind of picture", repr(target.suffix), remedy)
    elif target.is_dir():
        fault = Fault(str(target), "this is a folder", "", "Give the path of a file in it.")
    elif not target.parent.is_dir():
        remedy = "Create it first, or give another path."
        fault = Fault(str(target), "no such folder", str(target.parent), remedy)
    else:
        return target
    raise ProblemError([fault])


def families() -> list[str]:
    """Fonts to write with, one after the other until one has the letter."""
    from matplotlib.font_manager import get_font_names

    installed = set(get_font_names())
    return ["DejaVu Sans", *(name for name in FALLBACKS if name in installed)]


def _render(plan: Plan, suffix: str) -> bytes:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # whatever the user's own settings are
        matplotlib.rcParams.update(SETTINGS)
        matplotlib.rcParams["font.family"] = families()
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # names in rare scripts
        figure = Figure(layout="constrained")
        _draw(figure, plan)
        stream = BytesIO()
        figure.savefig(
            stream,
            format=suffix[1:],
            dpi=130 if suffix == ".png" else 200,
            metadata=METADATA[suffix],
        )
    return stream.getvalue()


def _draw(figure: Figure, plan: Plan) -> None:
    from restive.report.policy import data as data
    from restive.report.policy.panels import draw_maps, draw_strips
    from restive.report.policy.play import play
    from restive.report.policy.summary import draw_summary

    bandit, seen = plan.bandit, play(plan)
    if bandit.n_arms == 2:
        note = draw_strips(figure, bandit, data.strips(plan, seen))
    elif bandit.n_arms == 3:
        note = draw_maps(figure, bandit, data.age_maps(plan, seen))
    else:
        note = draw_summary(figure, bandit, seen, data.returns(plan, seen))
    figure.suptitle(_title(plan), fontsize=12.5)
    figure.supxlabel(note, fontsize=8.5, color="#555555")


def _title(plan: Plan) -> str:
    from restive.report.policy.colors import plain

    digits = 4
    while digits < 7 and 10.0**-digits > (plan.gain_upper - plan.gain_lower):
        digits += 1
    name = f"{plain(plan.bandit.name, 40)}: the" if plan.bandit.name else "The"
    low, high = (f"{bound:.{digits}f}" for bound in (plan.gain_lower, plan.gain_upper))
    words = f"{name} best policy earns {plan.gain:.{digits}f} a step ({low} to {high})"
    if plan.gain_upper - plan.gain_lower > WIDE:
        words = f"{name} best policy earns between {low} and {high} a step"
    gains = [0.5 * (one[1] + one[2]) for one in plan.starts]
    least, most = f"{min(gains):.{digits}f}", f"{max(gains):.{digits}f}"
    if least == most:
        return words
    return f"{words},\nthe mean over its starts, which allow from {least} to {most}"
