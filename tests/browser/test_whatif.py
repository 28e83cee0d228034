"""A what-if as a person builds and reads it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.running_demo import Demo

pytestmark = pytest.mark.browser

HERE = "/c/demo/what-if/"
RUNS = "**/what-if/runs/*/"


def test_a_node_s_page_leads_to_its_drain_and_the_answer(
    page: Page, demo: Demo
) -> None:
    page.goto(f"{demo.address}/c/demo/nodes/gpu-h100-01/")
    page.locator("summary", has_text="What if").click()
    page.get_by_role("link", name="Drain it?").click()
    said = page.locator("#what-if-said")
    expect(said).to_contain_text("Drain gpu-h100-01.")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(RUNS)
    expect(page.locator(".wi-answer")).to_contain_text("lose")
    expect(page.get_by_role("heading", name="Devices before and after")).to_be_visible()
    expect(page.locator(".wi-map .cell").first).to_be_visible()
    page.get_by_role("button", name="Run again now").click()
    expect(page.get_by_role("heading", name="Since the last time")).to_be_visible()
    page.get_by_role("link", name="Beside each other").click()
    expect(page.locator(".wi-one-map").first).to_be_visible()


def test_rows_sentences_and_text_stay_one(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}{HERE}")
    page.locator("button[value='add edits cordon']").click()
    field = page.locator("[name='edits.0.nodes']")
    expect(field).to_be_focused()
    field.fill("gpu-h100-02")
    field.press("Tab")
    said = page.locator("#what-if-said")
    expect(said).to_contain_text("Cordon gpu-h100-02.")
    expect(page.locator("#wi-text")).to_have_value(
        "edits:\n- edit: cordon\n  nodes:\n  - gpu-h100-02\n"
    )
    page.locator("#wi-text-part summary").click()
    page.locator("#wi-text").fill("edits: [{edit: drain, nodes: [cpu-01]}]")
    page.get_by_role("button", name="Apply the text").click()
    expect(said).to_contain_text("Drain cpu-01.")
    expect(page.locator("[name='edits.0.nodes']")).to_have_value("cpu-01")
    page.locator("[name='edits.0.nodes']").fill("gone")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(said).to_contain_text("the cluster has no node gone")
    expect(page.locator("[name='edits.0.nodes']")).to_have_attribute(
        "aria-invalid", "true"
    )


def test_a_scenario_is_kept_run_and_deleted(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}{HERE}?like=gpu-h100-02&copies=2")
    page.get_by_label("Name", exact=True).fill("two more nodes")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/what-if/scenarios/*/")
    expect(page.locator("h1")).to_contain_text("two more nodes")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(RUNS)
    expect(page.locator("#what-if-body")).to_contain_text("not there")
    page.get_by_role("link", name="two more nodes").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("is gone.")).to_be_visible()


def test_without_scripts_all_of_it_works(plain: Page, demo: Demo) -> None:
    page = plain
    page.goto(f"{demo.address}{HERE}")
    page.locator("summary", has_text="Place something").click()
    page.locator("button[value='add workload claim']").click()
    page.locator("[name='workload.0.existing']").fill("team-b/mega-train-16gpu")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(RUNS)
    expect(page.locator(".wi-answer")).to_contain_text("does not fit")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("address", [f"{HERE}?drain=gpu-h100-01", f"{HERE}headroom/"])
def test_nothing_is_wider_than_a_telephone(
    address: str, theme: str, page: Page, demo: Demo
) -> None:
    page.context.add_cookies([{"name": "theme", "value": theme, "url": demo.address}])
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{demo.address}{address}")
    assert page.evaluate("document.documentElement.scrollWidth") == 400
