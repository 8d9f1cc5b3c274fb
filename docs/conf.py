"""How the site is built: ``python -m sphinx -W -b html docs build/site``. No network is needed."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import restive

project = "restive"
author = "The restive developers"
project_copyright = "The restive developers"
release = version = restive.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "mathml"]
exclude_patterns = ["figures/*.py", "recipes/*.py", "Thumbs.db"]
templates_path: list[str] = []
highlight_language = "text"
nitpicky = False

myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

nb_execution_mode = "force"  # notebooks are kept without outputs and run by every build
nb_execution_timeout = 900  # seconds a cell: kernels compile first, on a busy machine slowly
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_merge_streams = True

html_theme = "furo"
html_title = "restive"
html_static_path = ["_static"]
html_css_files = ["restive.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5f8a", "color-brand-content": "#0b5f8a"},
    "dark_css_variables": {"color-brand-primary": "#6cc3ee", "color-brand-content": "#6cc3ee"},
}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "Floats": "NDArray", "Ints": "NDArray"}
python_maximum_signature_line_length = 90

ARRAY = re.compile(r"~?(?:numpy\.)?ndarray\[.*?dtype\[~?(?:numpy\.)?(\w+)\]\]")


def shorten(app: Any, what: str, name: str, obj: Any, options: Any, text: str, back: str) -> Any:
    """Arrays by their name in the source."""
    return tuple(part and ARRAY.sub(r"NDArray[\1]", part) for part in (text, back))


def field_names(obj: Any) -> set[str]:
    """What a docstring may describe as "name: ...": parameters, and fields of results."""
    names = set(getattr(obj, "__dataclass_fields__", ()))
    try:
        return names | set(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        return names


def list_fields(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Sentences "name: what it is" become a list, and "|S|" stays as it is."""
    names = field_names(obj)
    known = "|".join(sorted(names)) or "-"
    field = re.compile(rf"(?:(?<=^)|(?<=\. ))((?:{known})(?:, \w+)*): ")
    result: list[str] = []
    inside = example = False
    for line in lines:
        example = bool(line.strip()) and (example or line.startswith(">>>"))
        if example or not line.strip():
            inside = False
            result.append(line)
            continue
        pieces = field.split(line.strip().replace("|", "\\|"))
        if pieces[0]:
            if inside and not line.startswith(" ") and result[-1].endswith("."):
                inside = False
                result.append("")
            result.append(f"  {pieces[0]}" if inside else pieces[0])
        for head, text in zip(pieces[1::2], pieces[2::2], strict=True):
            result += [] if inside else [""]
            inside = True
            result.append(f"- ``{head}``: {text.strip()}")
    lines[:] = result


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", list_fields)
    app.connect("autodoc-process-signature", shorten)
