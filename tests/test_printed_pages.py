"""Pages on paper, in a real browser: nothing beyond the edge, no blank page, no controls."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from markov_traces import THREE, arm_of, walk
from restive import check_markov, fit
from restive.data.traces import Traces
from restive.report.data.page import fit_page
from test_paper_page import page as paper_page  # noqa: F401
from test_report_browser import browser  # noqa: F401
from test_report_views import pages_of

STYLES = Path(__file__).parent.parent / "docs" / "_static" / "restive.css"
WIDTH = round(180 / 25.4 * 96)  # of an A4 page within margins of 15 mm, in pixels
RIGHTMOST = "all => Math.max(...all.map((e) => e.getBoundingClientRect().right))"


@pytest.fixture
def on_paper(browser, tmp_path):  # noqa: F811
    """Opens a page as it is printed, from a dark screen; no page of it may be blank."""
    context = browser.new_context(viewport={"width": WIDTH, "height": 1000}, color_scheme="dark")

    def opener(text):
        target = tmp_path / "page.html"
        target.write_text(text, encoding="utf-8")
        opened = context.new_page()
        opened.goto(target.as_uri())
        sheets = pages_of(opened.pdf(format="A4", prefer_css_page_size=True))
        assert min(sheet.count(b"Tj") + sheet.count(b"TJ") for sheet in sheets) >= 5
        opened.emulate_media(media="print")
        return opened

    yield opener
    context.close()


def style(opened, places, name):
    """The values that this style has there."""
    return set(
        opened.locator(places).evaluate_all(f"all => all.map((e) => getComputedStyle(e).{name})")
    )


def test_the_page_of_the_data(on_paper):
    rng = np.random.default_rng(0)
    arms = [arm_of(walk(THREE, 500, rng), f"channel {k}") for k in range(3)]
    fitted = fit(Traces(tuple(arms)))
    opened = on_paper(fit_page(fitted, check_markov(fitted.traces, fitted.bandit)))
    assert opened.locator("th, td, svg").evaluate_all(RIGHTMOST) <= WIDTH
    assert not opened.locator("nav").is_visible()
    assert not opened.locator(".skip").is_visible()
    assert style(opened, "body", "backgroundColor") == {"rgb(255, 255, 255)"}
    assert style(opened, ".sides table, .sides svg", "breakInside") == {"avoid"}
    assert style(opened, ".timeline, .range i, .key i", "printColorAdjust") == {"exact"}


def test_the_page_of_the_paper(on_paper, paper_page):  # noqa: F811
    opened = on_paper(paper_page)
    assert opened.locator("svg, math, dd, h2").evaluate_all(RIGHTMOST) <= WIDTH
    assert not opened.locator(".skip").is_visible()
    assert style(opened, "body", "backgroundColor") == {"rgb(255, 255, 255)"}
    assert style(opened, ".claim-card", "breakInside") == {"avoid"}
    assert style(opened, ".surprise", "printColorAdjust") == {"exact"}


@pytest.mark.parametrize("columns", [6, 12])
def test_tables_of_the_site(on_paper, columns):
    """Its theme lets wide tables scroll, which paper cannot, and keeps long ones in one piece."""
    row = "".join(f"<td>0.{k}123456</td>" for k in range(columns))
    theme = ".table-wrapper { overflow-x: auto } table { break-inside: avoid }"
    opened = on_paper(
        f"<style>{theme}</style><style>{STYLES.read_text('utf-8')}</style>"
        "<a class='skip-to-content'>Skip to content</a><div class='table-wrapper'><table>"
        f"<tr>{row.replace('td', 'th')}</tr>{f'<tr>{row}</tr>' * 80}</table></div>"
    )
    assert opened.locator("td").evaluate_all(RIGHTMOST) <= WIDTH
    assert not opened.locator(".skip-to-content").is_visible()
    assert style(opened, ".table-wrapper", "overflowX") == {"visible"}
    assert style(opened, "table", "breakInside") == {"auto"}
    assert style(opened, "tr", "breakInside") == {"avoid"}
