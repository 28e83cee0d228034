"""The list of devices in a browser: it follows the expression that is typed."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.running_demo import Demo

pytestmark = pytest.mark.browser

GPUS = "device.driver == 'gpu.nvidia.com'"


def test_the_list_and_the_count_follow_the_expression(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/c/demo/devices/?state=free")
    field = page.get_by_label("CEL", exact=True)
    field.press_sequentially(f"{GPUS} && device.drivr == 'x'")
    said = page.locator("#cel-said")
    expect(said).to_contain_text("undefined field 'drivr'")
    expect(said.locator("mark")).to_have_text(".")
    expect(page.get_by_text("This filter cannot be read")).to_be_visible()
    field.fill(GPUS)
    expect(said).to_contain_text(re.compile(r"4\d\d of 5\d\d devices match\."))
    expect(page.locator("#results tbody tr").first).to_contain_text("gpu.nvidia.com")
    expect(field).to_be_focused()
    query = parse_qs(urlsplit(page.url).query)
    assert query == {"state": ["free"], "cel": [GPUS]}
    said.get_by_role("link", name="Explain this expression").click()
    expect(page.locator("#cel-answer")).to_contain_text("Matches")


@pytest.mark.parametrize("width", [1280, 400])
def test_no_attribute_is_out_of_sight_sideways(
    width: int, page: Page, demo: Demo
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{demo.address}/c/demo/devices/")
    page.get_by_text("Narrow by any attribute").click()
    expect(page.locator(".facet").nth(10)).to_be_attached()
    for part in ("#facets", ".facets"):
        found = page.locator(part).evaluate("e => e.scrollWidth - e.clientWidth")
        assert found == 0, part
    last = page.locator(".facet").last
    last.scroll_into_view_if_needed()
    expect(last).to_be_in_viewport()


def test_a_shared_address_shows_the_same_devices(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/c/demo/devices/?cel=device.driver+%3D%3D+%22dra.net%22")
    expect(page.get_by_label("CEL", exact=True)).to_have_value(
        'device.driver == "dra.net"'
    )
    expect(page.locator("#cel-said")).to_contain_text("devices match")
