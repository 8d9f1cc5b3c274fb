"""The runner of the pages' examples notices what is wrong, and the reference is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import restive
from page_runner import run_page

HOME = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "text",
    [
        "```python\n1 / 0\n```\n",
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ false\n```\n",
        "```toml\n# a.toml\nx = 1\n```\n\n```console\n$ cat a.toml\nx = 1\n```\n",
    ],
)
def test_a_wrong_example_is_noticed(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        run_page(text, "made up")


def test_what_is_left_out_says_why(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page("<!-- not run: divides by zero -->\n```python\n1 / 0\n```\n", "made up")


def test_the_reference_has_every_public_name():
    pages = "".join(page.read_text("utf-8") for page in (HOME / "docs" / "api").glob("*.md"))
    rooms = {"__version__", "learners", "problems", "theory"}
    missing = [
        name
        for name in set(restive.__all__) - rooms
        if not re.search(rf"auto\w+:: restive\.{name}$", pages, re.MULTILINE)
    ]
    assert not missing


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs"])
def test_links_to_files_lead_somewhere(name):
    """Those of the site are checked when it is built, anchors included; these are read as files."""
    pages = sorted((HOME / name).rglob("*.md")) if name == "docs" else [HOME / name]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", page.read_text("utf-8"))
        if not (page.parent / target).exists()
    ]
    assert pages
    assert not broken
