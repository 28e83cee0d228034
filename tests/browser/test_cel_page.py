"""The CEL page in a browser: the answer follows what is typed."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.running_demo import Demo

pytestmark = pytest.mark.browser

GPUS = (
    "device.driver == 'gpu.nvidia.com' && "
    "device.attributes['gpu.nvidia.com'].type == 'gpu'"
)
AMPERE = (
    "device.driver == 'gpu.nvidia.com' && "
    "device.attributes['gpu.nvidia.com'].architecture == 'Ampere'"
)

FEW = re.compile(r"Matches \d\d of 5\d\d devices")
"""Pools of the demo come and go meanwhile."""


def open_page(page: Page, demo: Demo, path: str = "cel/", **parameters: str) -> None:
    query = f"?{urlencode(parameters)}" if parameters else ""
    page.goto(f"{demo.address}/c/demo/{path}{query}")


def type_into(page: Page, text: str, label: str = "Expression") -> None:
    # Before, nobody may have heard of what is typed.
    page.wait_for_load_state()
    # Not the plain field that the editor takes the place of when it has been loaded.
    editor = page.get_by_role("textbox", name=label, exact=True).and_(
        page.locator(".cm-content")
    )
    editor.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Backspace")
    page.keyboard.insert_text(text)


def sentence(page: Page) -> str:
    return page.locator("#cel-answer .cel-sentence").first.inner_text()


def wait_until_asked(page: Page, **parameters: str | None) -> None:
    """Until the address has these parameters, or not where None."""

    def is_asked(url: str) -> bool:
        query = parse_qs(urlsplit(url).query)
        return all(
            query.get(name) == (None if value is None else [value])
            for name, value in parameters.items()
        )

    page.wait_for_url(is_asked)


def test_counts_and_address_follow_what_is_typed(home: Page) -> None:
    page = home
    page.get_by_role("navigation", name="Main").get_by_role("link", name="CEL").click()
    type_into(page, "device.driver == 'gpu.nvidia.com'")
    answer = page.locator("#cel-answer")
    expect(answer).to_contain_text(re.compile(r"Matches 4\d\d of 5\d\d devices"))
    first = sentence(page)
    type_into(page, GPUS)
    expect(answer).not_to_contain_text(first)
    expect(answer).to_contain_text(FEW)
    expect(page.locator("#cel-live")).to_have_text(FEW)
    wait_until_asked(page, expression=GPUS)
    page.reload()
    expect(answer).to_contain_text(FEW)


def test_a_mistake_is_shown_under_the_words_and_leaves_the_old_evidence(
    page: Page, demo: Demo
) -> None:
    open_page(page, demo, expression=GPUS)
    type_into(page, GPUS.replace("type", "type."))
    answer = page.locator("#cel-answer")
    expect(answer).to_contain_text("The API server would refuse it.")
    expect(answer.locator(".cel-refusal pre").first).to_contain_text("^")
    expect(answer).to_contain_text("Below: what the last expression")
    expect(page.locator(".cm-lintRange-error").first).to_be_attached()
    expect(page.locator("#cel-evidence .cel-terms")).to_be_visible()
    type_into(page, AMPERE)
    expect(page.locator("#cel-evidence .cel-terms")).to_contain_text("Ampere")
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)


def test_a_number_of_a_term_leads_to_its_devices(page: Page, demo: Demo) -> None:
    open_page(page, demo, expression=GPUS)
    alone = page.locator("#cel-evidence").get_by_role(
        "link", name=re.compile("^excludes")
    )
    alone.click()
    tab = page.locator("#cel-tab-false")
    expect(tab).to_have_attribute("aria-current", "page")
    expect(page.locator("#cel-unchosen")).to_be_visible()
    number = alone.inner_text().removeprefix("excludes ")
    expect(tab.locator(".n")).to_have_text(number)
    rows = page.locator(".cel-devices tbody tr")
    expect(rows.first).to_contain_text('"mig"')
    page.locator("#cel-unchosen").click()
    expect(page.locator("#cel-unchosen")).to_have_count(0)
    wait_until_asked(page, term=None)


def test_an_open_tab_stays_open_while_the_expression_changes(
    page: Page, demo: Demo
) -> None:
    open_page(page, demo, expression=GPUS)
    page.locator("#cel-tab-false").click()
    expect(page.locator("#cel-tab-false")).to_have_attribute("aria-current", "page")
    type_into(page, AMPERE)
    expect(page.locator("#cel-evidence .cel-terms")).to_contain_text("Ampere")
    expect(page.locator("#cel-tab-false")).to_have_attribute("aria-current", "page")
    wait_until_asked(page, tab="false", expression=AMPERE)


def test_two_expressions_are_compared(page: Page, demo: Demo) -> None:
    open_page(page, demo, expression=GPUS)
    page.get_by_text("Compare with another expression").click()
    type_into(page, AMPERE, label="Second expression")
    answer = page.locator("#cel-answer")
    expect(answer).to_contain_text("Only the first matches")
    expect(page.locator(".cel-devices tbody tr").first).to_contain_text('"Hopper"')
    page.locator("#cel-tab-second").click()
    expect(page.locator(".cel-devices tbody tr").first).to_contain_text('"mig"')
    wait_until_asked(page, compare=AMPERE, tab="second")
    answer.get_by_role("link", name="Stop comparing").click()
    expect(answer).not_to_contain_text("Only the first matches")


def test_a_suggestion_is_put_into_the_expression(page: Page, demo: Demo) -> None:
    open_page(page, demo, expression=GPUS.replace("== 'gpu'", "== 'GPU'"))
    answer = page.locator("#cel-answer")
    expect(answer).to_contain_text("Matches none")
    answer.locator(".cel-apply").first.click()
    expect(answer).to_contain_text(FEW)
    repaired = GPUS.replace("== 'gpu'", '== "gpu"')
    editor = page.get_by_role("textbox", name="Expression", exact=True)
    expect(editor).to_contain_text('== "gpu"')
    wait_until_asked(page, expression=repaired)


def test_an_example_is_tried_with_one_click(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    page.locator(".cel-examples").get_by_role("link", name="mig.nvidia.com").click()
    expect(page.locator("#cel-answer")).to_contain_text("Matches")
    wait_until_asked(page, expression=GPUS.replace("== 'gpu'", "== 'mig'"))


def test_the_scope_narrows_the_devices(page: Page, demo: Demo) -> None:
    open_page(page, demo, expression=AMPERE)
    page.get_by_label("Class").select_option("mig.nvidia.com")
    expect(page.locator("#cel-answer")).to_contain_text(
        "devices of class mig.nvidia.com"
    )
    wait_until_asked(page, **{"class": "mig.nvidia.com"})


def test_an_expression_is_explained_step_by_step_on_a_device(
    page: Page, demo: Demo
) -> None:
    open_page(page, demo, expression=GPUS, tab="false")
    page.locator(".cel-devices").get_by_role("link", name="Explain").first.click()
    steps = page.locator(".cel-steps")
    expect(steps).to_contain_text("decides")
    expect(steps.locator("tr.skipped").first).to_contain_text("not evaluated")
    type_into(page, "device.driver.startsWith('dra')")
    expect(page.locator("#cel-answer")).to_contain_text("The device matches.")
    expect(steps).to_contain_text("startsWith")


def test_the_page_of_a_class_counts_its_terms_and_leads_to_a_try(
    page: Page, demo: Demo
) -> None:
    open_page(page, demo, "classes/gpu.nvidia.com/")
    terms = page.locator("#class-terms .cel-terms")
    expect(terms).to_contain_text("excludes")
    page.get_by_role("link", name="Try a change").click()
    expect(page.locator("#cel-answer")).to_contain_text("Matches")


WIDTHS = [400, 1280]
SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"
STATES = {
    "nothing asked": {},
    "terms": {"expression": GPUS, "tab": "false"},
    "errors": {"expression": "device.attributes['gpu.nvidia.com'].profile == '1g.5gb'"},
    "refused": {"expression": f"{GPUS} && device.attributes['x'].y >"},
    "compared": {"expression": GPUS, "compare": AMPERE},
    "long": {"expression": " || ".join([GPUS] * 20)},
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("state", STATES)
def test_no_state_scrolls_sideways_or_complains(
    state: str, theme: str, page: Page, demo: Demo
) -> None:
    page.context.add_cookies([{"name": "theme", "value": theme, "url": demo.address}])
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    open_page(page, demo, **STATES[state])
    expect(page.locator(".cm-editor").first).to_be_visible()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDEWAYS) <= 0, f"{width} px wide"


def test_the_page_works_without_javascript(plain: Page, demo: Demo) -> None:
    page = plain
    open_page(page, demo)
    page.get_by_label("Expression", exact=True).fill(f"{GPUS}\n// gpus")
    page.get_by_label("Driver").select_option("gpu.nvidia.com")
    page.get_by_role("button", name="Evaluate").click()
    answer = page.locator("#cel-answer")
    expect(answer).to_contain_text("devices of driver gpu.nvidia.com")
    page.locator("#cel-evidence").get_by_role(
        "link", name=re.compile("^excludes")
    ).click()
    expect(page.locator("#cel-unchosen")).to_be_visible()
