"""Plans first, batches, rules and releases, as a person does them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.running_demo import Demo

pytestmark = pytest.mark.browser

SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"
SHOTS = os.environ.get("DRA_PORTAL_TEST_SHOTS", "")


def look(page: Page, name: str) -> None:
    """Narrow and wide, light and dark: nothing scrolls sideways; pictures where asked."""
    for width in (400, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDEWAYS) <= 0, f"{name}, {width} px wide"
        if SHOTS:
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                path = Path(SHOTS) / f"{name}-{width}-{theme}.png"
                page.screenshot(path=path, full_page=True)
    page.emulate_media(color_scheme="light")


def done(page: Page) -> None:
    expect(page.locator(".story").get_by_text("done").first).to_be_visible()


def test_a_plan_is_shown_first_and_then_made_to_happen(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/c/demo/claims/?state=pending&q=tokenizer")
    page.locator("table tbody a[href*='/claims/']").first.click()
    page.get_by_role("button", name="Show the plan").click()
    page.wait_for_url(re.compile(r"/runs/"))
    done(page)
    expect(page.get_by_text("What it changes of the claim")).to_be_visible()
    look(page, "plan")
    page.get_by_role("button", name="Allocate").click()
    page.wait_for_url(re.compile(r"/runs/"))
    done(page)
    look(page, "run")
    page.locator("dl a[href*='/claims/'], .facts a[href*='/claims/']").first.click()
    expect(page.get_by_role("heading", name="Deallocate")).to_be_visible()
    look(page, "claim")
    page.get_by_role("button", name="Deallocate", exact=True).click()
    page.wait_for_url(re.compile(r"/runs/"))
    done(page)
    expect(
        page.get_by_text("Taken back; its devices are free again.").first
    ).to_be_visible()


def test_ticked_claims_are_planned_together(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/c/demo/claims/?state=pending")
    page.get_by_label("Choose research/any-accelerator").check()
    page.get_by_label("Choose team-b/mega-train-16gpu").check()
    button = page.get_by_role("button", name="Plan 2 claims")
    expect(button).to_be_enabled()
    look(page, "choice")
    button.click()
    page.wait_for_url(re.compile(r"/runs/batches/"))
    expect(page.locator("#results tbody tr")).to_have_count(2)
    # It follows its runs by itself, and so do the sentence and the buttons.
    expect(page.locator("#list-sentence")).not_to_contain_text("under way")
    expect(page.get_by_role("button", name="Cancel what can be stopped")).to_be_hidden()
    expect(page.locator("#results tbody").get_by_text("queued")).to_have_count(0)
    look(page, "batch")


def test_a_rule_is_turned_on_and_off(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/c/demo/runs/")
    page.get_by_role("link", name="Rules", exact=True).click()
    page.get_by_label("Namespace", exact=True).fill("nobody-lives-here")
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("button", name="Turn off")).to_be_visible()
    look(page, "rules")
    page.get_by_role("button", name="Turn off").click()
    expect(page.get_by_role("button", name="Turn on").first).to_be_visible()
