"""Typing over a selection in the editors: nothing that the page's policy refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.editor_page import EditorTab, editor_page
from tests.browser.test_yaml_editor import CLAIM, form

pytestmark = pytest.mark.browser

SELECTOR = 'device.driver == "gpu.example.com"'

type Typing = Callable[[Page], None]


def content(page: Page) -> Locator:
    return page.locator(".cm-content").first


def by_keyboard(page: Page) -> None:
    page.keyboard.press("Control+a")
    page.keyboard.type("true")


def by_script(page: Page) -> None:
    content(page).fill("true")


def by_insertion(page: Page) -> None:
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("true")


def by_composition(page: Page) -> None:
    """As an input method does it, and a key for accents."""
    session = page.context.new_cdp_session(page)
    page.keyboard.press("Control+a")
    session.send(
        "Input.imeSetComposition",
        {"text": "tru", "selectionStart": 3, "selectionEnd": 3},
    )
    session.send("Input.insertText", {"text": "true"})
    session.detach()


WAYS = (by_keyboard, by_script, by_insertion, by_composition)


@pytest.mark.parametrize("typing", WAYS)
def test_a_selector_is_typed_over_without_a_word_in_the_console(
    editors: EditorTab, typing: Typing
) -> None:
    with editor_page(editors, expression=SELECTOR.replace('"', "&quot;")) as at:
        content(at.page).click()
        typing(at.page)
        expect(at.page.locator("#expression")).to_have_value("true")
        # A composition takes two steps; who types slowly undoes each letter alone.
        for _ in "true":
            at.page.keyboard.press("Control+z")
        expect(at.page.locator("#expression")).to_have_value(SELECTOR)


@pytest.mark.parametrize("typing", WAYS)
def test_yaml_is_typed_over_without_a_word_in_the_console(
    editors: EditorTab, typing: Typing
) -> None:
    with editor_page(editors, body=form(CLAIM), scripts=["yaml-editor"]) as at:
        content(at.page).click()
        typing(at.page)
        expect(at.page.locator("#text")).to_have_value("true")


def test_a_bracket_that_is_typed_over_a_selection_goes_around_it(
    editors: EditorTab,
) -> None:
    with editor_page(editors, expression="true") as at:
        content(at.page).click()
        at.page.keyboard.press("Control+a")
        at.page.keyboard.type("(")
        expect(at.page.locator("#expression")).to_have_value("(true)")


def test_what_does_not_change_is_not_typed_over(editors: EditorTab) -> None:
    body = (
        '<label for="expression">Expression</label>'
        '<textarea id="expression" readonly data-cel-editor>true</textarea>'
    )
    with editor_page(editors, body=body) as at:
        content(at.page).click()
        at.page.keyboard.press("Control+a")
        at.page.keyboard.type("false")
        expect(at.page.locator("#expression")).to_have_value("true")
        expect(content(at.page)).to_have_text("true")
