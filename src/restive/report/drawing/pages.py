"""Pages that need nothing else: templates with the style sheet that all of them share."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from restive.base.words import visible
from restive.report.drawing import palette

DARK = """color-scheme: dark;
--page: #14171c; --card: #1d2128; --ink: #eceff3; --soft: #a5adb8; --rule: #363c46;
--accent: #7cc0ff; --fill: #3d8fd1; --mark: #f3dc8a; --focus: #7cc0ff; --bar: #d97a3f;
--pull0: #1f5c88; --pull1: #7a5200; --pull2: #1b6b53; --either: #2a2f37; --never: #454c57;"""


def render_page(
    name: str, context: Mapping[str, Any], script: Sequence[str] = (), **filters: Callable[..., Any]
) -> str:
    """A template with its context, the style sheet and a script made of the files named."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    engine = Environment(
        loader=PackageLoader("restive.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_shown,
    )  # fmt: skip
    engine.filters.update(filters)
    style = engine.get_template("report.css").render(
        light=Markup(_colors(palette.LIGHT)), dark=Markup(DARK + _colors(palette.DARK))
    )
    folder = files("restive.report") / "templates" / "script"
    program = "".join((folder / f"{part}.js").read_text("utf-8") for part in script)
    return engine.get_template(name).render(
        context,
        style=Markup(style),
        script=Markup(program),
        content_policy=Markup(content_policy(*([program] if program else []))),
    )


def content_policy(*scripts: str) -> str:
    """The page's content security policy: these inline scripts by hash, no network, no forms.

    It goes into ``<meta http-equiv="Content-Security-Policy" content="...">``. Handlers in
    attributes, such as onclick, do not run under it; style attributes do apply.

    >>> content_policy()
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
form-action 'none'; script-src 'none'"
    """
    hashes = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes) or "'none'"
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        f"form-action 'none'; script-src {allowed}"
    )


def _shown(value: Any) -> Any:
    """Names that turn text around, or hide in it, are shown with escapes; our own marks stay."""
    return visible(value) if type(value) is str else value


def _colors(values: tuple[str, ...]) -> str:
    return " ".join(f"--c{k}: {value};" for k, value in enumerate(values))
