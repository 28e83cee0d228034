"""The claim editor where answers take their time: nothing that is typed meanwhile is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.test_claim_editor import begin, request_card, saved, sentence, yaml
from tests.running_demo import Demo

pytestmark = pytest.mark.browser

DRAFT = re.compile(r"/drafts/[^/]+/$")
LATENCY = 500  # milliseconds, longer than the pause after which the server is asked


@pytest.fixture
def slow(page: Page, demo: Demo) -> Iterator[Page]:
    """A blank claim in the editor, with a network that takes its time."""
    begin(page, demo)
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    conditions = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    network.send("Network.emulateNetworkConditions", conditions | {"latency": LATENCY})
    yield page
    network.detach()


@contextmanager
def unanswered(page: Page) -> Iterator[None]:
    """What the editor asks in the block reaches the server after it."""
    held: list[Route] = []
    holds = True

    def answer(route: Route) -> None:
        if holds and route.request.method == "POST":
            held.append(route)
        else:
            route.continue_()

    page.route(DRAFT, answer)
    yield
    holds = False
    for route in held:
        route.continue_()
    saved(page)
    page.unroute(DRAFT, answer)


def test_typing_on_while_answers_are_under_way_is_no_conflict(slow: Page) -> None:
    name = slow.get_by_label("Name", exact=True).first
    name.press("End")
    for letter in "-typed":
        name.press_sequentially(letter)
        slow.wait_for_timeout(400)
    saved(slow)
    expect(slow.locator("#draft-bar .callout")).to_have_count(0)
    assert "name: my-claim-typed" in yaml(slow)
    slow.reload()
    expect(name).to_have_value("my-claim-typed")


def test_fields_that_are_filled_in_during_a_step_keep_what_was_typed(
    page: Page, demo: Demo
) -> None:
    begin(page, demo)
    with unanswered(page):
        page.get_by_role("button", name="Add a request").click()
        page.locator(f"{request_card(page, 0)}-name").fill("gpu")
    expect(page.locator(f"{request_card(page, 1)}-name")).to_be_visible()
    assert re.findall(r"- name: (\S+)", yaml(page)) == ["gpu", "devices-2"]
    with unanswered(page):
        page.get_by_role("button", name="Move the request down").first.click()
        page.locator(f"{request_card(page, 0)}-name").fill("nic")
    assert re.findall(r"- name: (\S+)", yaml(page)) == ["devices-2", "nic"]


def test_a_step_is_done_on_the_text_that_was_typed_meanwhile(
    page: Page, demo: Demo
) -> None:
    begin(page, demo)
    with unanswered(page):
        page.get_by_role("button", name="Add a request").click()
        page.get_by_role("tab", name="YAML").click()
        page.locator("#ed-text-pane .cm-content").focus()
        page.keyboard.press("Control+Home")
        page.keyboard.type("# mine\n")
    assert yaml(page).startswith("# mine\n")
    assert re.findall(r"- name: (\S+)", yaml(page)) == ["devices", "devices-2"]


def test_an_answer_to_typing_closes_no_menu(page: Page, demo: Demo) -> None:
    begin(page, demo)
    with unanswered(page):
        page.get_by_label("Name", exact=True).first.fill("typed-then-menu")
        page.locator("#ed-more").click()
    expect(page.get_by_role("button", name="Add a template")).to_be_visible()
    page.get_by_role("button", name="Add a template").click()
    expect(page.locator(".ed-documents button")).to_have_count(2)
    assert "name: typed-then-menu" in yaml(page)


def test_two_clicks_create_once(slow: Page) -> None:
    slow.get_by_label("Name", exact=True).first.fill("clicked-twice")
    slow.locator(f"{request_card(slow, 0)}-exactly-deviceClassName").fill(
        "gpu.nvidia.com"
    )
    sentence(slow, "Fits now on")
    slow.get_by_role("button", name="Create", exact=True).dblclick()
    slow.wait_for_url(re.compile(r"/claims/default/clicked-twice/$"))


def test_enter_in_a_field_checks_and_adds_nothing(page: Page, demo: Demo) -> None:
    begin(page, demo)
    page.get_by_label("Name", exact=True).first.press("Enter")
    saved(page)
    assert "---" not in yaml(page)
    expect(page.locator(".ed-documents")).to_have_count(0)


def test_a_draft_that_another_tab_discarded_is_kept_with_what_was_typed(
    page: Page, demo: Demo
) -> None:
    begin(page, demo)
    other = page.context.new_page()
    other.goto(page.url)
    other.locator("#ed-more").click()
    other.get_by_role("button", name="Discard the draft").click()
    other.wait_for_url(re.compile("/new/$"))
    other.close()
    gone = page.url
    page.get_by_label("Name", exact=True).first.fill("saved-from-the-bin")
    page.get_by_role("button", name="Keep it as a new draft").click()
    page.wait_for_url(lambda address: address != gone)
    expect(page.get_by_label("Name", exact=True).first).to_have_value(
        "saved-from-the-bin"
    )


def test_leaving_a_field_undoes_no_undoing(page: Page, demo: Demo) -> None:
    begin(page, demo)
    page.get_by_label("Name", exact=True).first.fill("renamed")
    saved(page)
    page.get_by_role("tab", name="YAML").click()
    page.locator("#ed-text-pane .cm-content").focus()
    page.keyboard.press("Control+z")
    saved(page)
    assert "name: my-claim" in yaml(page)


def test_what_a_class_offers_comes_when_its_field_is_left(
    page: Page, demo: Demo
) -> None:
    begin(page, demo)
    page.locator(f"{request_card(page, 0)}-exactly-deviceClassName").fill(
        "gpu.nvidia.com"
    )
    sentence(page, "Fits now on")
    more = page.locator("summary", has_text="More:")
    more.focus()
    page.wait_for_timeout(300)
    expect(more).to_be_focused()
    more.press("Enter")
    expect(page.get_by_role("button", name="memory", exact=True)).to_be_visible()


def test_after_a_dry_run_the_hands_are_where_they_were(page: Page, demo: Demo) -> None:
    begin(page, demo)
    page.locator(f"{request_card(page, 0)}-exactly-deviceClassName").fill(
        "gpu.nvidia.com"
    )
    sentence(page, "Fits now on")
    dry = page.get_by_role("button", name="Dry run")
    dry.press("Enter")
    expect(page.locator("#draft-outcome")).to_be_visible()
    expect(dry).to_be_focused()


def test_signing_in_again_brings_back_what_was_typed(
    browser: Browser, demo: Demo
) -> None:
    context = browser.new_context()
    page = context.new_page()
    sign_in(page, demo)
    begin(page, demo)
    context.clear_cookies(name="sessionid")
    page.get_by_label("Name", exact=True).first.fill("typed-signed-out")
    page.wait_for_url("**/login/**")
    sign_in(page, demo)
    expect(page.get_by_label("Name", exact=True).first).to_have_value(
        "typed-signed-out"
    )
    saved(page)
    assert "name: typed-signed-out" in yaml(page)
    context.close()


def sign_in(page: Page, demo: Demo) -> None:
    if "/login/" not in page.url:
        page.goto(f"{demo.address}/login/")
    page.get_by_label("Username").fill("demo")
    page.get_by_label("Password").fill(demo.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda address: "/login/" not in address)
