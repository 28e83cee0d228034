"""What is wrong, in a browser: from the list to the way to mend it, and acknowledging."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.running_demo import Demo

pytestmark = pytest.mark.browser

SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"
NAMESPACE = "Namespace allows admin access"


def open_list(page: Page, demo: Demo, query: str = "") -> None:
    """Once a worker has looked at the cluster."""
    page.goto(f"{demo.address}/c/demo/findings/{query}")
    for _ in range(240):
        if page.locator("#results tbody tr").count():
            return
        page.wait_for_timeout(500)
        page.reload()
    raise AssertionError("nobody has looked")


def test_the_list_leads_to_what_to_do_and_to_the_objects(
    home: Page, demo: Demo
) -> None:
    page = home
    # Beside the word may stand how many are serious.
    main = page.get_by_role("navigation", name="Main")
    main.get_by_role("link", name="Findings").click()
    open_list(page, demo, "?kind=ResourceClaim")
    expect(page.locator(".sentence").first).to_contain_text("good to know")
    page.locator("#results").get_by_role("link", name="Claim with admin access").click()
    expect(page.get_by_role("heading", name="Why it matters")).to_be_visible()
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    page.locator(".concerned").get_by_role("link").first.click()
    expect(page.locator("#object-findings")).to_contain_text("admin access")


def test_an_operator_acknowledges_and_takes_it_back(page: Page, demo: Demo) -> None:
    open_list(page, demo, "?kind=Namespace")
    page.locator("#results").get_by_role("link", name=NAMESPACE).click()
    page.get_by_label("Why it can stay").fill("monitoring needs it")
    page.get_by_role("button", name="Acknowledge").click()
    expect(page.locator("#finding-body")).to_contain_text("monitoring needs it")
    open_list(page, demo, "?kind=Namespace")
    expect(page.locator("#results tbody")).to_contain_text("acknowledged")
    page.locator("#results").get_by_role("link", name=NAMESPACE).click()
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_label("Why it can stay")).to_be_visible()


def test_a_filter_narrows_the_list_without_a_new_page(page: Page, demo: Demo) -> None:
    open_list(page, demo)
    filters = page.get_by_role("search", name="Filters")
    filters.get_by_label("What", exact=True).select_option(label=NAMESPACE)
    expect(page.locator("#results tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("code=namespace-admin-access"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_scrolls_sideways(theme: str, page: Page, demo: Demo) -> None:
    open_list(page, demo)
    page.context.add_cookies([{"name": "theme", "value": theme, "url": demo.address}])
    addresses = [
        page.url,
        f"{demo.address}"
        f"{page.locator('#results tbody tr a').first.get_attribute('href')}",
    ]
    for address in addresses:
        for width in (400, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(address)
            assert page.evaluate(SIDEWAYS) <= 0, f"{address} at {width} px"
