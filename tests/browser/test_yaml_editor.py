"""The YAML editor in front of its textarea, under the portal's content security policy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.editor_page import (
    EditorPage,
    EditorTab,
    contrasts,
    diagnostics,
    editor_page,
)

pytestmark = pytest.mark.browser

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: train
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.example.com
        selectors:
        - cel:
            expression: device.driver == "gpu.example.com"
        count: 8
"""
FORM = """
<form id="form" action="/sent" method="get">
  <label for="text">Claim as YAML</label>
  <textarea id="text" name="text" rows="12" data-yaml-editor data-yaml-marks="#yaml-marks"
            hx-get="/evaluate" hx-trigger="input changed delay:150ms" hx-target="#results"
  >{text}</textarea>
  <button class="button primary">Save</button>
</form>
<script type="application/json" id="yaml-marks">{marks}</script>
<div id="results"></div>
<button data-yaml-go="14:16" id="go">Count</button>
"""


def mark(line: int, column: int, message: str, **more: Any) -> dict[str, Any]:
    return {"line": line, "column": column, "message": message} | {
        "severity": "error",
        **more,
    }


def form(text: str = CLAIM, *found: dict[str, Any]) -> str:
    return FORM.format(text=escape(text), marks=json.dumps(found))


@contextmanager
def yaml_page(
    editors: EditorTab, text: str = CLAIM, *found: dict[str, Any], **more: Any
) -> Iterator[EditorPage]:
    body = more.pop("body", "") or form(text, *found)
    with editor_page(
        editors, body=body, scripts=["yaml-editor", "cel-highlight"], **more
    ) as at:
        yield at


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Claim as YAML", exact=True)


def field(page: Page) -> str:
    """What the form would send."""
    return page.locator("#text").input_value()


def go_to(page: Page, line: int, column: int) -> None:
    page.evaluate(
        "([line, column]) =>"
        " document.querySelector('#text').yamlEditor.select(line, column)",
        [line, column],
    )


def set_text(page: Page, text: str) -> None:
    page.evaluate(
        "(text) => document.querySelector('#text').yamlEditor.setText(text)", text
    )


def marked(page: Page, severity: str = "error") -> list[str]:
    return page.locator(f".cm-lintRange-{severity}").all_inner_texts()


SETTLING = """() => {
  window.settled = new Promise((done) => {
    addEventListener("htmx:afterSettle", () => done(), { once: true });
  });
}"""
"""``settled`` is awaited later: what htmx does to the page after its next swap is done."""


def listen(page: Page) -> None:
    """Collects in ``told`` what the form hears."""
    page.evaluate(
        "() => { window.told = []; for (const name of ['input', 'change'])"
        " document.querySelector('#form').addEventListener(name, (event) =>"
        " told.push([name, event.target.id])); }"
    )


def told(page: Page) -> Any:
    return page.evaluate("told")


def test_what_is_typed_is_in_the_field_and_told_once(editors: EditorTab) -> None:
    with yaml_page(editors) as at:
        at.evaluate = lambda text: f"<output>{len(text.splitlines())} lines</output>"
        listen(at.page)
        go_to(at.page, 14, 17)
        at.page.keyboard.type("0")
        assert field(at.page) == CLAIM.replace("count: 8", "count: 80")
        assert told(at.page) == [["input", "text"]]
        expect(at.page.locator("output")).to_have_text("14 lines")
        at.page.keyboard.press("Control+z")
        assert field(at.page) == CLAIM
        at.page.get_by_role("button", name="Save").focus()
        assert told(at.page)[1:] == [["input", "text"]]


def test_the_keyboard_indents_and_leaves_after_escape(editors: EditorTab) -> None:
    with yaml_page(editors, "devices:") as at:
        page = at.page
        expect(box(page)).to_have_accessible_description(
            re.compile("Escape, then Tab leaves")
        )
        box(page).click()
        page.keyboard.press("Control+End")
        page.keyboard.press("Enter")
        page.keyboard.type("requests:")
        page.keyboard.press("Enter")
        page.keyboard.type("- name: a")
        page.keyboard.press("Enter")
        page.keyboard.type("count: 1")
        assert field(page) == ("devices:\n  requests:\n    - name: a\n      count: 1")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        assert field(page).endswith("\n        count: 1")
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Save")).to_be_focused()
        page.keyboard.press("Shift+Tab")
        expect(box(page)).to_be_focused()


def test_lines_are_numbered_coloured_and_can_be_folded(editors: EditorTab) -> None:
    with yaml_page(editors) as at:
        expect(at.page.locator(".cm-lineNumbers")).to_contain_text("14")
        shown = at.page.locator(".cm-line span").evaluate_all(
            "(all) => all.map((one) => [one.className, one.textContent])"
        )
        assert ["hl-key", "kind"] in shown
        assert ["hl-device", "device"] in shown
        assert ["hl-number", "8"] in shown
        go_to(at.page, 9, 1)
        at.page.keyboard.press("Control+Shift+BracketLeft")
        expect(at.page.locator(".cm-foldPlaceholder")).to_have_count(1)
        expect(box(at.page)).not_to_contain_text("count: 8")
        at.page.locator("#go").click()
        expect(box(at.page)).to_contain_text("count: 8")


def test_marks_stand_where_the_server_means_and_say_what_it_says(
    editors: EditorTab,
) -> None:
    found = [
        mark(10, 26, "No such class.", endLine=10, endColumn=41),
        mark(14, 9, "Only 4 are free.", severity="warning"),
        mark(4, 3, "A draft.", severity="info", endColumn=7),
    ]
    with yaml_page(editors, CLAIM, *found) as at:
        page = at.page
        assert marked(page) == ["gpu.example.com"]
        assert (
            marked(page, "warning") == ["count: 8"]
            or "".join(marked(page, "warning")) == "count: 8"
        )
        assert marked(page, "info") == ["name"]
        for severity in ["error", "warning", "info"]:
            expect(page.locator(f".cm-lint-marker-{severity}")).to_have_count(1)
        expect(box(page)).to_have_attribute("aria-invalid", "true")
        said = page.get_by_role("status").first
        expect(said).to_have_text("1 error, 1 warning: F8 goes to the next.")
        page.locator(".cm-lintRange-error").hover()
        expect(page.locator(".cm-tooltip-lint")).to_have_text("Error: No such class.")
        page.mouse.move(0, 0)
        box(page).focus()
        page.keyboard.press("F8")
        expect(said).to_have_text("Note: A draft.")
        page.keyboard.press("F8")
        expect(said).to_have_text("Error: No such class.")
        page.keyboard.press("Shift+F8")
        expect(said).to_have_text("Note: A draft.")


def answer(*found: dict[str, Any]) -> str:
    return (
        '<script type="application/json" id="yaml-marks" hx-swap-oob="true">'
        f"{json.dumps(found)}</script>"
    )


def test_marks_are_read_again_when_the_server_sends_others(editors: EditorTab) -> None:
    with yaml_page(editors, CLAIM, mark(2, 7, "first")) as at:
        at.evaluate = lambda text: (
            answer(mark(5, 1, "second"))
            if text.startswith("# mine")
            else answer(mark(3, 1, "third"))
        )
        go_to(at.page, 1, 1)
        with at.no_answers():
            at.page.keyboard.insert_text("# mine\n")
            # The mark moves with the text until the answer comes.
            assert marked(at.page) == ["ResourceClaim"]
        expect(at.page.locator(".cm-lintRange-error")).to_have_text("  name: train")
        at.page.keyboard.press("Control+z")
        expect(at.page.locator(".cm-lintRange-error")).to_have_text("metadata:")
        at.page.keyboard.press("F8")
        expect(at.page.get_by_role("status").first).to_have_text("Error: third")


def test_a_swap_that_brings_no_marks_leaves_those_that_have_moved(
    editors: EditorTab,
) -> None:
    with yaml_page(editors, CLAIM, mark(2, 7, "first")) as at:
        at.evaluate = lambda text: f"<output>{len(text)}</output>"
        go_to(at.page, 1, 1)
        at.page.evaluate(SETTLING)
        at.page.keyboard.insert_text("# mine\n")
        expect(at.page.locator("output")).to_be_visible()
        at.page.evaluate("window.settled")
        assert marked(at.page) == ["ResourceClaim"]


def test_an_answer_about_an_older_text_marks_what_is_still_there(
    editors: EditorTab,
) -> None:
    with yaml_page(editors) as at:
        at.page.evaluate(
            "([marks, read]) => {"
            " const detail = {requestConfig: {parameters: {text: read}}};"
            " const results = document.querySelector('#results');"
            " htmx.trigger(results, 'htmx:beforeSwap', detail);"
            " document.querySelector('#yaml-marks').textContent = marks;"
            " htmx.trigger(results, 'htmx:afterSwap', detail);"
            " htmx.trigger(results, 'htmx:afterSettle', detail); }",
            [json.dumps([mark(1, 7, "no")]), CLAIM.partition("\n")[2]],
        )
        assert marked(at.page) == ["ResourceClaim"]


def test_a_text_from_the_server_changes_only_what_differs(editors: EditorTab) -> None:
    with yaml_page(editors) as at:
        page = at.page
        listen(page)
        go_to(page, 14, 16)
        page.keyboard.insert_text("1")
        page.keyboard.press("ArrowRight")
        go_to(page, 3, 1)
        page.keyboard.press("Control+Shift+BracketLeft")  # folds metadata
        go_to(page, 13, 25)
        before = len(told(page))
        set_text(page, f"# drafted\r\n{field(page).replace('example', 'other', 1)}")
        wanted = f"# drafted\n{CLAIM}".replace("count: 8", "count: 18")
        wanted = wanted.replace("example", "other", 1)
        assert field(page) == wanted
        assert len(told(page)) == before
        expect(page.locator(".cm-foldPlaceholder")).to_have_count(1)
        page.keyboard.insert_text("X")
        assert "expression: Xdevice" in field(page)
        for _ in range(3):
            page.keyboard.press("Control+z")
        assert field(page) == CLAIM


def test_a_text_from_the_server_moves_nothing_on_the_screen(editors: EditorTab) -> None:
    long = "".join(f"key{number}: {number}\n" for number in range(300))
    with yaml_page(editors, long) as at:
        go_to(at.page, 200, 1)
        at.drawn()
        line = at.page.locator(".cm-line", has_text="key199:")
        before = line.bounding_box()
        set_text(at.page, f"# one\n# two\n{long.replace('key250: 250', 'last: 1')}")
        at.drawn()  # CodeMirror measures before the next frame
        assert before
        assert line.bounding_box() == pytest.approx(before, abs=1)
        at.page.keyboard.type("x")
        assert field(at.page).splitlines()[201] == "xkey199: 199"


def test_marks_that_come_with_a_text_are_about_it(editors: EditorTab) -> None:
    new = CLAIM.replace("  name: train", "  labels:\n    team: a\n  name: train")
    for name in ["htmx:afterSwap", "htmx:afterSettle"]:
        with yaml_page(editors, CLAIM, mark(1, 1, "old")) as at:
            at.page.evaluate(
                "([name, text]) => document.addEventListener(name, () =>"
                " document.querySelector('#text').yamlEditor.setText(text))",
                [name, new],
            )
            at.evaluate = lambda text: answer(mark(6, 9, "new"))
            go_to(at.page, 14, 17)
            at.page.keyboard.type("0")
            expect(at.page.locator(".cm-lintRange-error")).to_have_text("train")
            assert field(at.page) == new


def test_a_button_goes_to_its_place(editors: EditorTab) -> None:
    long = CLAIM + "".join(f"# {number}\n" for number in range(200))
    body = form(long) + '<a href="/elsewhere" data-yaml-go="200">Comment</a>'
    with yaml_page(editors, body=body) as at:
        at.page.get_by_role("link", name="Comment").click()
        expect(box(at.page)).to_be_focused()
        at.page.keyboard.type("x")
        assert field(at.page).splitlines()[199] == "x# 185"
        expect(at.page.locator(".cm-activeLineGutter").last).to_be_in_viewport()
        at.page.get_by_role("button", name="Count").click()
        at.page.keyboard.type("1")
        assert "count: 18" in field(at.page)
        assert at.requests("/elsewhere") == []


def test_searching_is_no_part_of_the_form(editors: EditorTab) -> None:
    with yaml_page(editors) as at:
        page = at.page
        listen(page)
        box(page).click()
        page.keyboard.press("Control+f")
        page.keyboard.type("gpu")
        expect(page.locator(".cm-searchMatch")).to_have_count(3)
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        expect(box(page)).to_be_focused()
        assert told(page) == []
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/sent?*")
        assert at.requests("/sent") == [{"text": [CLAIM.replace("\n", "\r\n")]}]


def test_an_editor_that_htmx_brings_starts_anew(editors: EditorTab) -> None:
    body = (
        '<div id="part"><button hx-get="/evaluate?text=" hx-target="#part"'
        ' hx-swap="outerHTML">Load</button>{form}</div>'
    )
    with yaml_page(editors, body=body.format(form=form())) as at:
        other = form("kind: Pod\n", mark(1, 7, "A Pod is no claim."))
        at.evaluate = lambda text: body.format(form=other)
        at.page.get_by_role("button", name="Load").click()
        expect(at.page.locator(".cm-editor")).to_have_text(re.compile("Pod"))
        expect(at.page.locator(".cm-editor")).to_have_count(1)
        assert marked(at.page) == ["Pod"]
        at.evaluate = lambda text: ""
        go_to(at.page, 1, 7)
        at.page.keyboard.type("My")
        assert field(at.page) == "kind: MyPod\n"


def test_one_script_serves_both_editors_of_a_page(editors: EditorTab) -> None:
    body = (
        form()
        + '<label for="expression">Expression</label>'
        + '<textarea id="expression" name="expression" data-cel-editor>tru</textarea>'
        + diagnostics({"start": 0, "end": 3, "severity": "error", "message": "no"})
    )
    with editor_page(editors, body=body, scripts=["yaml-editor", "cel-editor"]) as at:
        expect(at.page.locator(".cm-editor")).to_have_count(2)
        assert marked(at.page) == ["tru"]
        editor = at.page.get_by_role("textbox", name="Expression", exact=True)
        editor.click()
        at.page.keyboard.press("End")
        at.page.keyboard.type("e")
        assert at.field == "true"


def test_without_scripts_the_textarea_is_a_plain_one(editors: EditorTab) -> None:
    with yaml_page(editors, java_script_enabled=False) as at:
        at.page.get_by_label("Claim as YAML").fill("kind: Pod")
        at.page.get_by_role("button", name="Save").click()
        at.page.wait_for_url("**/sent?*")
        assert at.requests("/sent") == [{"text": ["kind: Pod"]}]


def test_a_long_line_hangs_and_a_narrow_page_never_scrolls_sideways(
    editors: EditorTab,
) -> None:
    text = CLAIM.replace("count: 8", f"# {'word ' * 40}{'x' * 100}")
    with yaml_page(editors, text, mark(14, 9, "long " * 100)) as at:
        page = at.page
        page.set_viewport_size({"width": 400, "height": 700})
        box(page).click()
        page.keyboard.press("Control+f")
        expect(page.locator(".cm-search")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        scroller = page.locator(".cm-scroller")
        assert scroller.evaluate("(one) => one.scrollWidth - one.clientWidth") <= 0
        rows = page.locator(".cm-line").nth(13).locator("span").last
        left = rows.evaluate(
            "(span) => [...span.getClientRects()].filter((one) => one.width > 20)"
            ".map((one) => one.left)"
        )
        assert len(left) > 5
        assert left[0] < left[1] == max(left)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_can_be_read(theme: str, editors: EditorTab) -> None:
    text = f"# ours\n{CLAIM}tag: !a 'b'\n"
    found = [
        mark(3, 7, "a"),
        mark(5, 3, "b", severity="warning"),
        mark(6, 1, "c", severity="info"),
    ]
    with yaml_page(editors, text, *found, theme=theme) as at:
        page = at.page
        page.locator(".cm-lintRange-warning").hover()
        expect(page.locator(".cm-tooltip-lint")).to_have_text("Warning: b")
        box(page).focus()
        page.keyboard.press("Control+f")
        page.keyboard.type("gpu")
        page.keyboard.press("Enter")
        expect(page.locator(".cm-searchMatch-selected")).to_have_count(1)
        ratios = contrasts(page)
        assert {"hl-key", "hl-string", "hl-number", "hl-comment"} <= set(ratios)
        assert {name: one for name, one in ratios.items() if one < 4.5} == {}
