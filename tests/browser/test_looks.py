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
    "claims/",
    "templates/",
    "pods/",
    "taint-rules/",
    "runs/",
    "cel/",
    "search/?q=gpu",
]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("width", [400, 1280, 2400])
def test_a_page_never_scrolls_sideways(
    path: str, width: int, page: Page, demo: Demo
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{demo.address}/c/demo/{path}")
    wider = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wider <= 0


@pytest.mark.parametrize(
    "path",
    [path for path in PAGES if path and not path.startswith(("runs", "search", "cel"))],
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
