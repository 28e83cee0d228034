"""The CEL editor in front of its textarea, under the portal's content security policy."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.editor_page import (
    FORM,
    EditorTab,
    contrasts,
    diagnostics,
    editor_page,
)

pytestmark = pytest.mark.browser

A = 'device.attributes["gpu.nvidia.com"]'


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Expression", exact=True)


def write(page: Page, text: str) -> None:
    """Types ``text`` as it is, behind everything; brackets are not closed by themselves."""
    box(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(text)


def type_slowly(page: Page, text: str) -> None:
    page.keyboard.type(text, delay=15)


def proposals(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Completions").get_by_role("option")


def take(page: Page, label: str) -> None:
    """Waits for the proposal and takes it with the keyboard."""
    first = proposals(page).first
    expect(first).to_contain_text(label)
    expect(first).to_have_attribute("aria-selected", "true")
    # CodeMirror ignores Enter while the list is asked for anew and right after it opens.
    expect(page.locator(".cm-tooltip-autocomplete-disabled")).to_have_count(0)
    page.wait_for_timeout(100)
    page.keyboard.press("Enter")
    expect(proposals(page)).to_have_count(0)


def underlined(page: Page, severity: str) -> list[str]:
    return page.locator(f".cm-lintRange-{severity}").all_inner_texts()


def test_what_is_typed_is_in_the_field_and_asked_for_once(editors: EditorTab) -> None:
    with editor_page(editors) as at:
        at.evaluate = lambda expression: f"<output>{len(expression)}</output>"
        box(at.page).click()
        with at.no_answers():
            at.page.keyboard.type("true", delay=20)
            assert at.field == "true"
        expect(at.page.locator("output")).to_have_text("4")
        at.page.keyboard.press("ArrowLeft")
        at.page.keyboard.type("u")
        expect(at.page.locator("output")).to_have_text("5")
        asked = [query["expression"] for query in at.requests("/evaluate")]
        # Who types slowly is asked about what is there in between, too.
        assert [one for one in asked if len(one[0]) > 3] == [["true"], ["truue"]]
        assert sorted(asked) == asked
        assert len({one for (one,) in asked}) == len(asked)


def test_input_and_change_are_told_as_by_a_textarea(editors: EditorTab) -> None:
    with editor_page(editors) as at:
        at.page.evaluate(
            "window.told = []; for (const name of ['input', 'change'])"
            " document.addEventListener(name, (event) =>"
            " told.push([name, event.target.id, event.target.value]))"
        )
        box(at.page).click()
        at.page.keyboard.type("a")  # of two, each may be undone alone
        at.page.keyboard.press("Control+z")
        assert at.page.evaluate("told.at(-1)") == ["input", "expression", ""]
        at.page.keyboard.press("Control+y")
        at.page.keyboard.press("Tab")
        at.page.wait_for_function("told.at(-1)[0] === 'change'")
        assert at.page.evaluate("told.at(-1)") == ["change", "expression", "a"]


def test_an_attribute_is_completed_from_the_catalog(editors: EditorTab) -> None:
    with editor_page(editors) as at:
        page = at.page
        box(page).click()
        type_slowly(page, "device.attr")
        take(page, "attributes")
        type_slowly(page, '["gpu')
        take(page, "gpu.nvidia.com")
        assert at.field == A
        type_slowly(page, ".prod")
        info = page.locator(".cm-completionInfo")
        expect(info).to_contain_text("gpu.nvidia.com/productName")
        expect(info).to_contain_text("string, 2 values")
        expect(info).to_contain_text("On 8,192 of 10,245 devices.")
        expect(info).to_contain_text("NVIDIA H100 80GB HBM3, NVIDIA A100-SXM4-40GB")
        take(page, "productName")
        type_slowly(page, ' == "')
        take(page, "NVIDIA H100 80GB HBM3")
        assert at.field == f'{A}.productName == "NVIDIA H100 80GB HBM3"'
        assert len(at.requests("/catalog.json")) == 1


def test_methods_follow_the_type_and_leave_the_cursor_in_the_call(
    editors: EditorTab,
) -> None:
    with editor_page(editors) as at:
        page = at.page
        write(page, 'device.capacity["gpu.nvidia.com"].memory')
        type_slowly(page, ".compareT")
        take(page, "compareTo")
        type_slowly(page, 'quantity("40')
        take(page, "40320Mi")
        assert at.field == (
            'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40320Mi"))'
        )


def test_an_old_domain_is_replaced_as_a_whole(editors: EditorTab) -> None:
    with editor_page(
        editors, expression='device.attributes["gpu.nvidia"].x &amp;&amp; a["b"]'
    ) as at:
        box(at.page).click()
        at.page.keyboard.press("Control+Home")
        for _ in range(len('device.attributes["gpu')):
            at.page.keyboard.press("ArrowRight")
        at.page.keyboard.press("Control+Space")
        take(at.page, "gpu.nvidia.com")
        assert at.field == f'{A}.x && a["b"]'


def test_without_a_catalog_functions_are_still_completed(editors: EditorTab) -> None:
    body = FORM.format(expression="").replace("/catalog.json", "/missing.json")
    with editor_page(editors, body=body) as at:
        box(at.page).click()
        type_slowly(at.page, "quant")
        take(at.page, "quantity")
        assert at.field == "quantity()"


def test_a_squiggle_stands_under_the_words_that_the_server_means(
    editors: EditorTab,
) -> None:
    with editor_page(editors) as at:
        at.evaluate = lambda expression: diagnostics(
            {"start": 7, "end": 10, "severity": "error", "message": "unknown: foo"},
            {"start": 14, "end": 17, "severity": "warning", "message": "rare: bar"},
        )
        write(at.page, '"😀" == foo || bar')
        expect(at.page.locator(".cm-lintRange-error")).to_have_text("foo")
        expect(at.page.locator(".cm-lintRange-warning")).to_have_text("bar")
        expect(box(at.page)).to_have_attribute("aria-invalid", "true")
        at.page.locator(".cm-lintRange-error").hover()
        expect(at.page.locator(".cm-tooltip-lint")).to_have_text("Error: unknown: foo")
        at.page.keyboard.press("F8")
        expect(at.page.get_by_role("status").first).to_have_text("Error: unknown: foo")


def swap_in(page: Page, fragment: str, asked: str) -> None:
    """As htmx does when the answer to a request about ``asked`` arrives."""
    page.evaluate(
        "([fragment, asked]) => {"
        " const results = document.querySelector('#results');"
        " results.innerHTML = fragment;"
        " const detail = {requestConfig: {parameters: {expression: asked}}};"
        " htmx.trigger(results, 'htmx:afterSwap', detail);"
        " htmx.trigger(results, 'htmx:afterSettle', detail); }",
        [fragment, asked],
    )


FOO_AND_BAR = diagnostics(
    {"start": 0, "end": 3, "severity": "error", "message": "foo"},
    {"start": 7, "end": 10, "severity": "error", "message": "bar"},
)


def test_an_edit_takes_away_the_squiggle_it_touches(editors: EditorTab) -> None:
    body = FORM.format(expression="foo || bar").replace('hx-get="/evaluate"', "")
    with editor_page(editors, body=body) as at:
        swap_in(at.page, FOO_AND_BAR, "foo || bar")
        assert underlined(at.page, "error") == ["foo", "bar"]
        box(at.page).click()
        at.page.keyboard.press("Control+Home")
        at.page.keyboard.type("x")
        assert underlined(at.page, "error") == ["bar"]


def test_an_answer_about_an_older_text_marks_only_what_is_still_there(
    editors: EditorTab,
) -> None:
    body = FORM.format(expression="foo || ba").replace('hx-get="/evaluate"', "")
    with editor_page(editors, body=body) as at:
        swap_in(at.page, FOO_AND_BAR, "foo || bar")
        assert underlined(at.page, "error") == ["foo"]


def test_answers_without_complaints_clear_the_squiggles(editors: EditorTab) -> None:
    with editor_page(editors) as at:
        at.evaluate = lambda expression: (
            diagnostics({"start": 0, "end": 1, "severity": "error", "message": "no"})
            if expression == "a"
            else diagnostics()
        )
        write(at.page, "a")
        expect(at.page.locator(".cm-lintRange-error")).to_have_count(1)
        expect(box(at.page)).to_have_attribute("aria-invalid", "true")
        write(at.page, " b")
        expect(at.page.locator(".cm-lintRange-error")).to_have_count(0)
        expect(box(at.page)).not_to_have_attribute("aria-invalid", "true")


def test_tab_leaves_the_editor_in_both_directions(editors: EditorTab) -> None:
    with editor_page(editors) as at:
        page = at.page
        box(page).click()
        type_slowly(page, "device.")
        expect(proposals(page).first).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Save")).to_be_focused()
        expect(proposals(page)).to_have_count(0)
        page.keyboard.press("Shift+Tab")
        expect(box(page)).to_be_focused()
        assert at.field == "device."


def test_the_textarea_itself_is_no_stop_of_the_keyboard(editors: EditorTab) -> None:
    with editor_page(editors) as at:
        stops = []
        for _ in range(3):
            at.page.keyboard.press("Tab")
            stops.append(
                at.page.evaluate(
                    "document.activeElement.className || document.activeElement.id"
                )
            )
        assert [stop.split()[0] for stop in stops] == ["cm-content", "button", "after"]


def test_control_and_enter_send_the_form_with_its_first_button(
    editors: EditorTab,
) -> None:
    with editor_page(editors) as at:
        write(at.page, "true\n|| false")
        at.page.keyboard.press("Control+Enter")
        at.page.wait_for_url("**/sent?*")
        assert at.requests("/sent") == [
            {"expression": ["true\r\n|| false"], "go": ["yes"]}
        ]


def test_a_required_field_says_why_the_form_is_not_sent(editors: EditorTab) -> None:
    body = FORM.format(expression="").replace('rows="4"', 'rows="4" required')
    with editor_page(editors, body=body) as at:
        at.page.get_by_role("button", name="Save").click()
        expect(box(at.page)).to_be_focused()
        expect(at.page.get_by_role("status").first).to_have_text(
            re.compile("fill", re.IGNORECASE)
        )
        assert at.requests("/sent") == []


def test_label_help_and_placeholder_belong_to_the_editor(editors: EditorTab) -> None:
    with editor_page(editors) as at:
        editor = box(at.page)
        expect(editor).to_have_accessible_description(
            re.compile(r"^A selector of devices\. .*Ctrl\+Space.*Tab leaves$")
        )
        expect(editor).to_have_attribute("aria-required", "true")
        expect(at.page.get_by_text("device.driver == …")).to_be_visible()
        at.page.locator("label").click()
        expect(editor).to_be_focused()


def test_without_scripts_the_textarea_is_a_plain_one(editors: EditorTab) -> None:
    with editor_page(editors, java_script_enabled=False) as at:
        at.page.get_by_label("Expression").fill("true")
        at.page.get_by_role("button", name="Save").click()
        at.page.wait_for_url("**/sent?*")
        assert at.requests("/sent") == [{"expression": ["true"], "go": ["yes"]}]


def test_an_editor_that_htmx_brings_works_and_leaves_nothing_behind(
    editors: EditorTab,
) -> None:
    body = (
        '<div id="part"><button hx-get="/evaluate?expression=" hx-target="#part">'
        "Load</button></div>"
    )
    with editor_page(editors, body=body) as at:
        at.evaluate = lambda expression: body + FORM.format(expression="true")
        for _ in range(2):
            at.page.get_by_role("button", name="Load").last.click()
            expect(at.page.locator(".cm-editor")).to_have_count(1)
        at.evaluate = lambda expression: ""
        write(at.page, " || x")
        assert at.field == "true || x"


def test_an_editor_that_a_script_puts_in_works_too(editors: EditorTab) -> None:
    body = f'<div id="part">{FORM.format(expression="false")}</div>'
    with editor_page(editors, body=body) as at:
        new = FORM.format(expression="tru") + diagnostics(
            {"start": 0, "end": 3, "severity": "error", "message": "unknown: tru"}
        )
        at.page.evaluate(
            "(html) => { const part = document.createElement('section');"
            " part.innerHTML = html;"
            " document.querySelector('#part').replaceWith(part); }",
            new,
        )
        expect(at.page.locator(".cm-editor")).to_have_count(1)
        assert underlined(at.page, "error") == ["tru"]
        write(at.page, "e")
        assert at.field == "true"


def test_the_editor_follows_what_else_changes_the_field(editors: EditorTab) -> None:
    with editor_page(editors, expression="true") as at:
        editor = box(at.page)
        at.page.evaluate(
            "() => { const field = document.querySelector('#expression');"
            " field.value = 'a == b'; field.dispatchEvent(new Event('input')); }"
        )
        expect(editor).to_have_text("a == b")
        at.page.evaluate("document.querySelector('form').reset()")
        expect(editor).to_have_text("true")
        assert at.field == "true"


def test_a_field_that_is_read_only_can_be_read_only(editors: EditorTab) -> None:
    body = FORM.format(expression="true").replace('rows="4"', 'rows="4" readonly')
    with editor_page(editors, body=body) as at:
        write(at.page, "x")
        expect(box(at.page)).to_have_attribute("aria-readonly", "true")
        assert at.field == "true"
        at.page.evaluate("document.querySelector('#expression').readOnly = false")
        write(at.page, "x")
        assert at.field == "truex"


def test_maxlength_holds_and_a_long_expression_is_named(editors: EditorTab) -> None:
    body = FORM.format(expression="").replace("10240", "10")
    with editor_page(editors, body=body) as at:
        write(at.page, "0123456789abc")
        assert at.field == "0123456789"
        expect(at.page.get_by_role("status").first).to_contain_text("10 characters")
    body = FORM.format(expression="").replace('maxlength="10240"', "")
    with editor_page(editors, body=body) as at:
        write(at.page, "x" * 10_241)
        expect(at.page.get_by_role("status").first).to_contain_text(
            "10,241 of 10,240 bytes"
        )


def test_brackets_close_and_lines_are_indented(editors: EditorTab) -> None:
    with editor_page(editors) as at:
        box(at.page).click()
        at.page.keyboard.type("size([")
        at.page.keyboard.press("Enter")
        at.page.keyboard.type("1")
        assert at.field == "size([\n    1\n])"
        expect(at.page.locator(".cm-editor .hl-call")).to_have_text("size")


CODE = '<p><code data-cel>device.driver == "a" &amp;&amp; [1u].exists(x, x &lt; 2u) // b</code></p>'


def test_an_expression_that_is_only_read_has_colours_too(editors: EditorTab) -> None:
    with editor_page(editors, body=CODE) as at:
        code = at.page.locator("code[data-cel]")
        expect(code).to_have_text('device.driver == "a" && [1u].exists(x, x < 2u) // b')
        shown = code.locator("span").evaluate_all(
            "(all) => all.map((one) => [one.className, one.textContent])"
        )
        assert ["hl-device", "device"] in shown
        assert ["hl-macro", "exists"] in shown
        assert ["hl-comment", "// b"] in shown


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_can_be_read(theme: str, editors: EditorTab) -> None:
    with editor_page(editors, theme=theme) as at:
        write(at.page, 'has(device.x) && size("a") == 1u || true // ` c')
        at.page.keyboard.press("Enter")
        at.page.keyboard.type("`")
        at.page.keyboard.press("Enter")
        type_slowly(at.page, "device.")
        expect(at.page.locator(".cm-completionInfo")).to_be_visible()
        found: dict[str, Any] = contrasts(at.page)
        kinds = {name for name in found if name.startswith("hl-")}
        assert kinds == {
            f"hl-{kind}"
            for kind in [
                "comment",
                "string",
                "number",
                "keyword",
                "macro",
                "call",
                "device",
                "name",
                "operator",
                "invalid",
            ]
        }
        assert {name: ratio for name, ratio in found.items() if ratio < 4.5} == {}
        background = at.page.locator(".cm-editor").evaluate(
            "(editor) => getComputedStyle(editor).backgroundColor"
        )
        assert background == (
            "rgb(255, 255, 255)" if theme == "light" else "rgb(20, 24, 30)"
        )


def size(page: Page) -> tuple[float, float]:
    box = page.locator(".cm-editor").bounding_box()
    assert box
    return box["width"], box["height"]


def test_a_long_complaint_moves_nothing(editors: EditorTab) -> None:
    body = FORM.format(expression="foo").replace('hx-get="/evaluate"', "")
    with editor_page(editors, body=body) as at:
        before = size(at.page)
        long = {"start": 0, "end": 3, "severity": "error", "message": "foo bar " * 200}
        swap_in(at.page, diagnostics(long), "foo")
        expect(at.page.get_by_role("status").first).to_contain_text("foo bar")
        assert size(at.page) == before
        assert at.page.evaluate("document.documentElement.scrollWidth") == 900


def test_a_narrow_page_never_scrolls_sideways(editors: EditorTab) -> None:
    with editor_page(editors) as at:
        at.page.set_viewport_size({"width": 400, "height": 700})
        write(at.page, f'{A}.productName == "{"x" * 300}" &&{" true &&" * 30} device')
        type_slowly(at.page, ".")
        expect(proposals(at.page).first).to_be_visible()
        expect(at.page.locator(".cm-completionInfo")).to_be_visible()
        assert (
            at.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        )
