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


def test_a_shared_address_shows_the_same_devices(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/c/demo/devices/?cel=device.driver+%3D%3D+%22dra.net%22")
    expect(page.get_by_label("CEL", exact=True)).to_have_value(
        'device.driver == "dra.net"'
    )
    expect(page.locator("#cel-said")).to_contain_text("devices match")
