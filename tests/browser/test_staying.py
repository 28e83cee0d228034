"""A part of a page is replaced: who is in it stays where they are."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.running_demo import Demo

pytestmark = pytest.mark.browser

ASKED = """(part, told) => new Promise(done => {
  addEventListener(told, ({ detail }) => {
    if (detail.requestConfig.elt === part) setTimeout(done, 0);
  });
  htmx.ajax("GET", part.getAttribute("hx-get") || location.href, {
    source: part, target: part, swap: "outerHTML",
  });
})"""
TICKED_AS_IT_COMES = """(part, claim) => new Promise(done => {
  addEventListener("htmx:afterSwap", () => {
    done(document.querySelector(`input.pick[value="${claim}"]`).checked);
  }, { once: true });
  htmx.ajax("GET", location.href, { source: part, target: part, swap: "outerHTML" });
})"""
MARKED = "part => { part.dataset.old = '' }"


def replaced(page: Page, part: str) -> None:
    """As the page does it by itself when the cluster changes."""
    page.locator(part).evaluate(ASKED, "htmx:afterSettle")


def answered(page: Page, part: str) -> None:
    """As the page does it by itself; what is answered may have to wait."""
    page.locator(part).evaluate(ASKED, "htmx:afterRequest")


def test_the_keyboard_stays_on_a_link_when_the_cluster_changes(
    page: Page, demo: Demo
) -> None:
    page.goto(f"{demo.address}/c/demo/")
    card = page.locator("a.stat", has_text="in use")
    card.focus()
    replaced(page, "#overview-body")
    expect(card).to_be_focused()


def test_the_keyboard_stays_on_the_page_of_clusters(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/clusters/")
    page.get_by_role("link", name="Rights").focus()
    replaced(page, "#clusters-body")
    expect(page.get_by_role("link", name="Rights")).to_be_focused()


def test_one_sorts_and_pages_on_by_keyboard(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/c/demo/devices/")
    header = page.get_by_role("columnheader", name="State").get_by_role("link")
    header.press("Enter")
    expect(page).to_have_url(re.compile(r"sort=state$"))
    expect(header).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"sort=-state$"))
    following = page.get_by_role("link", name="Next page")
    following.press("Enter")
    expect(page).to_have_url(re.compile(r"page=2$"))
    expect(following).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"page=3$"))


def test_what_is_gone_leaves_the_keyboard_at_its_part(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/c/demo/")
    page.locator("#overview-body").evaluate(
        """part => {
          const link = document.createElement("a");
          link.href = "/gone/";
          link.textContent = "A claim that is deleted meanwhile";
          part.prepend(link);
          link.focus();
        }"""
    )
    for _ in range(2):
        replaced(page, "#overview-body")
        expect(page.locator("#overview-body")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#overview-body a").first).to_be_focused()


def test_what_is_pressed_is_not_taken_away(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/c/demo/")
    part = page.locator("#overview-body")
    part.evaluate(MARKED)
    card = page.locator("a.stat", has_text="in use")
    card.hover()
    page.mouse.down()
    answered(page, "#overview-body")
    expect(part).to_have_attribute("data-old", "")
    page.mouse.up()
    page.wait_for_url("**/claims/**")


def test_what_had_to_wait_for_a_pointer_comes_when_it_is_let_go(
    page: Page, demo: Demo
) -> None:
    page.goto(f"{demo.address}/c/demo/")
    part = page.locator("#overview-body")
    part.evaluate(MARKED)
    part.locator("h2").first.hover()
    page.mouse.down()
    answered(page, "#overview-body")
    expect(part).to_have_attribute("data-old", "")
    page.mouse.up()
    expect(part).not_to_have_attribute("data-old", "")


def test_an_order_that_somebody_asks_for_finds_its_place(
    page: Page, demo: Demo
) -> None:
    """What the list asks for by itself is answered in between."""
    page.goto(f"{demo.address}/c/demo/devices/")
    sorting = re.compile(r"\?sort=state$")
    held: list[Route] = []
    page.route(sorting, lambda route: held.append(route))
    header = page.get_by_role("columnheader", name="State")
    with page.expect_request(sorting):
        header.get_by_role("link").press("Enter")
    answered(page, "#results")
    (asked,) = held
    asked.continue_()
    page.unroute(sorting)
    expect(page).to_have_url(sorting)
    expect(header).to_have_attribute("aria-sort", "ascending")


def test_what_is_ticked_is_so_whenever_somebody_looks(page: Page, demo: Demo) -> None:
    claim = "team-b/mega-train-16gpu"
    page.goto(f"{demo.address}/c/demo/claims/?state=pending")
    page.get_by_label(f"Choose {claim}").check()
    part = page.locator("#results")
    assert part.evaluate(TICKED_AS_IT_COMES, claim) is True


def test_what_somebody_has_opened_stays_open(page: Page, demo: Demo) -> None:
    device = "gpu.nvidia.com/gpu-a100-01/gpu-0"
    page.goto(f"{demo.address}/c/demo/devices/{device}/")
    fold = page.locator("#device-use details")
    fold.locator("summary").press("Enter")
    expect(fold).to_have_attribute("open", "")
    replaced(page, "#device-use")
    expect(fold).to_have_attribute("open", "")
    expect(fold.locator("summary")).to_be_focused()


def test_a_filter_of_several_choices_says_how_many_are_on(
    page: Page, demo: Demo
) -> None:
    page.goto(f"{demo.address}/c/demo/devices/")
    menu = page.locator("#filters details", has_text="free").first
    summary = menu.locator("summary")
    expect(summary).to_contain_text("any")
    summary.click()
    menu.get_by_label("free", exact=True).check()
    menu.get_by_label("in use", exact=True).check()
    expect(summary).to_contain_text("2 chosen")
    menu.get_by_label("free", exact=True).uncheck()
    menu.get_by_label("in use", exact=True).uncheck()
    expect(summary).to_contain_text("any")
