"""Every page in light and dark, wide and narrow: nothing scrolls sideways, nothing complains."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.running_demo import Demo

pytestmark = pytest.mark.browser

PAGES = [
    "",
    "devices/",
    "nodes/",
    "pools/",
    "slices/",
    "classes/",
    "namespaces/",
    "claims/",
    "templates/",
    "pods/",
    "taint-rules/",
    "runs/",
    "findings/",
    "cel/",
    "search/?q=gpu",
]
WIDTHS = [400, 1280, 2400]
SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"
STACKED = """() => [...document.querySelectorAll(".table-box:has(> .stacked)")]
  .filter(box => box.scrollWidth > box.clientWidth)
  .map(box => box.innerText.slice(0, 80))"""
"""Tables that scroll sideways although their rows are lines."""
LONG_LABELS = """() => {
  for (const button of document.querySelectorAll("main .button:not(.icon-only)")) {
    button.append(" a-name-as-long-as-names-may-be".repeat(3).replaceAll(" ", "-"));
  }
}"""
"""As where a button names a claim."""


@pytest.mark.parametrize("path", PAGES)
def test_a_page_never_scrolls_sideways(path: str, page: Page, demo: Demo) -> None:
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.goto(f"{demo.address}/c/demo/{path}")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDEWAYS) <= 0, f"{width} px wide"


@pytest.mark.parametrize(
    "path",
    [
        "/tokens/",
        f"/c/demo/devices/?q={'x' * 250}",
        f"/c/demo/devices/?cel={'x' * 300}",
        f"/c/demo/search/?q={'x' * 250}",
    ],
)
def test_neither_do_long_words(path: str, page: Page, demo: Demo) -> None:
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.goto(f"{demo.address}{path}")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDEWAYS) <= 0, f"{width} px wide"


@pytest.mark.parametrize("path", [*PAGES, "claims/team-a/train-4gpu/", "runs/rules/"])
def test_buttons_with_long_names_wrap(path: str, page: Page, demo: Demo) -> None:
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.goto(f"{demo.address}/c/demo/{path}")
    page.evaluate(LONG_LABELS)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDEWAYS) <= 0, f"{width} px wide"


def test_on_a_narrow_screen_rows_are_told_line_by_line(page: Page, demo: Demo) -> None:
    """What would be beyond the edge of a table: no box scrolls sideways, cells say what
    they are."""
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.goto(f"{demo.address}/c/demo/devices/")
    device = page.locator("#results tbody tr a").first.get_attribute("href")
    for path in (device, "/c/demo/changes/", "/c/demo/namespaces/team-a/"):
        page.goto(f"{demo.address}{path}")
        assert page.locator("table.stacked").count(), path
        assert page.evaluate(STACKED) == [], path
    label = "getComputedStyle(document.querySelector('.stacked td[data-label]'), '::before').content"
    assert ": " in page.evaluate(label)


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in PAGES
        if path and not path.startswith(("runs", "findings", "search", "cel"))
    ],
)
def test_the_first_row_of_a_list_leads_to_a_page_with_its_yaml(
    path: str, page: Page, demo: Demo
) -> None:
    page.goto(f"{demo.address}/c/demo/{path}")
    page.locator("#results table tbody tr").first.locator("a").first.click()
    page.wait_for_load_state()
    if path in {"pools/", "devices/"}:
        return
    page.get_by_role("link", name="YAML").click()
    assert "apiVersion" in page.locator("#yaml").inner_text()
