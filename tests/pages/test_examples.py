"""Every example in README.md and docs/ runs and prints what the page shows; see page_runner."""

from __future__ import annotations

from pathlib import Path

import pytest

import restive
from page_runner import blocks, one_core, run_page

HOME = Path(__file__).parents[2]
PAGES = [HOME / "README.md", *sorted((HOME / "docs").rglob("*.md"))]

LEARNERS_BEFORE = set(restive.LEARNERS)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(blocks(page.read_text("utf-8")))],
    ids=lambda page: page.relative_to(HOME).as_posix(),
)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        with one_core():
            run_page(page.read_text("utf-8"), page.name)
    finally:
        for name in set(restive.LEARNERS) - LEARNERS_BEFORE:
            restive.LEARNERS.forget(name)
