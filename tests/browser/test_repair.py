"""A device that is booked twice, repaired step by step as a person does it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.double_booking import LONG, book_twice
from tests.running_demo import Demo

pytestmark = pytest.mark.browser

SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"
SHOTS = os.environ.get("DRA_PORTAL_TEST_SHOTS", "")


def look(page: Page, name: str) -> None:
    for width in (400, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDEWAYS) <= 0, f"{name}, {width} px wide"
        if SHOTS:
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                path = Path(SHOTS) / f"{name}-{width}-{theme}.png"
                page.screenshot(path=path, full_page=True)
    page.emulate_media(color_scheme="light")


def open_repair(page: Page, demo: Demo, device: str) -> None:
    """By the button on the claim's page, once somebody has looked."""
    for _ in range(240):
        page.goto(f"{demo.address}/c/demo/repair/{device}/")
        if re.search(r"/findings/\d+/$", page.url):
            return
        page.wait_for_timeout(500)
    raise AssertionError("the double booking was not found")


@pytest.mark.timeout(300)
def test_from_the_double_booking_to_its_end(page: Page, demo: Demo) -> None:
    device = book_twice(demo)
    short = device.rpartition("/")[2]
    open_repair(page, demo, device)
    guide = page.locator("#repair")
    expect(page.get_by_role("heading", name=f"Who holds {short} now")).to_be_visible()
    expect(page.locator(".holders")).to_contain_text("Running")
    look(page, "repair-1")

    guide.get_by_role("button", name=f"Quarantine {short}").click()
    expect(page.locator(".story")).to_contain_text("In quarantine by")
    expect(guide.get_by_text("at the latest, then the portal's")).to_be_visible()
    keeper = guide.get_by_role("button", name="keeps it").filter(has_not_text=LONG)
    keeper.click()
    expect(guide).to_contain_text("End the pods of")
    look(page, "repair-2")

    # Whoever opens the page later finds it as it was left.
    page.reload()
    guide.get_by_role("button", name=re.compile(f"Release .*{LONG}")).click()
    expect(guide).to_contain_text("holds the device.")
    rewrite = guide.get_by_role("button", name=re.compile(r"^Write .* anew$"))
    expect(rewrite).to_be_visible()
    look(page, "repair-3")
    rewrite.click()
    expect(guide).to_contain_text("was written anew.")
    guide.get_by_role("button", name="Lift the quarantine", exact=True).click()
    expect(guide).to_contain_text("Lifted.")
    expect(page.locator(".story li")).to_have_count(5)
    look(page, "repair-4")


def test_a_claim_of_a_long_name_that_is_booked_twice_never_scrolls_sideways(
    page: Page, demo: Demo
) -> None:
    name = f"{LONG}-again"
    device = book_twice(demo, name)
    page.goto(f"{demo.address}/c/demo/claims/?q={name}")
    link = page.locator("#results tbody").get_by_role("link", name=re.compile(name))
    for _ in range(240):
        if link.count():
            break
        page.wait_for_timeout(500)
        page.reload()
    link.first.click()
    heading = page.get_by_role("heading", name="Booked twice")
    expect(heading).to_be_visible()
    look(page, "booked-twice")
    page.get_by_role("link", name="Repair it step by step").click()
    expect(page).to_have_url(re.compile(r"/(findings|repair)/"))
    open_repair(page, demo, device)
    look(page, "repair-long")
