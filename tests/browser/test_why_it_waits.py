"""Why a claim waits, as a person reads it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.stand_in import label_claim
from tests.running_demo import Demo

pytestmark = pytest.mark.browser

CLAIM = "/c/demo/claims/team-b/mega-train-16gpu/"


def test_the_reason_comes_after_the_page_and_opens_up(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}{CLAIM}")
    why = page.locator("#claim-why")
    expect(why.locator(".badge").first).to_have_text("cannot fit")
    expect(why.locator(".why-sentence")).to_contain_text("16 free devices")

    held = why.locator("details.why-step", has_text="not in use")
    expect(held.locator("li").first).to_be_hidden()
    held.locator("summary").click()
    expect(held.locator("a[href*='/claims/']").first).to_be_visible()

    change = why.locator(".why-changes details").first
    change.locator("summary").click()
    expect(change.locator(".added").first).to_contain_text("count:")


def test_what_was_opened_stays_open_when_the_answer_is_replaced(
    page: Page, demo: Demo
) -> None:
    page.goto(f"{demo.address}{CLAIM}")
    why = page.locator("#claim-why")
    held = why.locator("details.why-step", has_text="not in use")
    held.locator("summary").click()
    page.evaluate("document.getElementById('claim-why').dataset.old = 'yes'")
    # Each event asks anew.
    label_claim(demo, "team-b", "mega-train-16gpu", "looked-at")
    expect(page.locator("#claim-why[data-old]")).to_have_count(0)
    expect(held).to_have_attribute("open", "")


def test_without_scripts_the_reason_is_a_page(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}{CLAIM}why/")
    expect(page.locator(".why-sentence")).to_contain_text("16 free devices")
    page.get_by_label("Breadcrumbs").get_by_role("link", name="mega-train").click()
    page.wait_for_url(f"**{CLAIM}")
