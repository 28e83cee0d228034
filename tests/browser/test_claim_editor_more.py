"""The claim editor: what the keyboard alone must not do, classes, pods and made attributes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_claim_editor import (
    DEPLOYMENT,
    TEMPLATE,
    begin,
    opened,
    saved,
    sentence,
    write_yaml,
    yaml,
)
from tests.running_demo import Demo

pytestmark = pytest.mark.browser


def pasted(page: Page, demo: Demo, text: str) -> None:
    page.goto(f"{demo.address}/c/demo/claims/new/")
    write_yaml(page, "#paste", text)
    page.get_by_role("button", name="Open it").click()
    opened(page)


def rewrite(page: Page, editor: Locator, text: str) -> None:
    """By hand, key by key."""
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type(text)


CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: near, namespace: team-a}
spec:
  devices:
    requests:
    - name: gpus
      exactly: {deviceClassName: gpu.nvidia.com, count: 2}
"""


def test_a_tab_from_a_field_to_a_button_presses_nothing(page: Page, demo: Demo) -> None:
    pasted(page, demo, CLAIM)
    page.get_by_role("button", name="Add a constraint").click()
    attribute = page.get_by_label("Attribute", exact=True)
    expect(attribute).to_be_focused()
    page.keyboard.type("resource.kubernetes.io/numaNode")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Remove constraint 1")).to_be_focused()
    sentence(page, "Fits now on")
    expect(attribute).to_have_value("resource.kubernetes.io/numaNode")
    assert "matchAttribute: resource.kubernetes.io/numaNode" in yaml(page)


def test_an_attribute_that_a_request_makes_is_written_from_the_form(
    page: Page, demo: Demo
) -> None:
    pasted(page, demo, CLAIM)
    page.locator(".ed-more > summary").click()
    page.get_by_role("button", name="Add a derived attribute").click()
    name = "f-spec-devices-requests-0-exactly-derivedAttributes-0-name"
    expect(page.locator(f"#{name}")).to_be_focused()
    page.keyboard.type("example.com/model")
    page.keyboard.press("Tab")
    field = name.replace("-name", "-expression")
    editor = page.locator(f"#{field} + .cm-editor .cm-content")
    rewrite(page, editor, 'device.attributes["gpu.nvidia.com"].productName')
    said = page.locator(f"#{name}-said")
    expect(said).to_contain_text("must be referenced by at least one")
    said.get_by_role("button", name="Its devices have the same").click()
    sentence(page, "Fits now on")
    assert "matchAttribute: example.com/model" in yaml(page)
    expect(page.locator("#ed-constraints")).to_contain_text(
        "It is made by the request gpus."
    )
    rewrite(page, editor, "device.attributes[")
    sentence(page, "would refuse it")
    expect(page.locator(f"#{field}-said")).to_contain_text("Invalid value")


def test_a_class_shows_what_it_matches_while_it_is_written(
    page: Page, demo: Demo
) -> None:
    begin(page, demo, "Class")
    page.get_by_label("Name", exact=True).fill("mine")
    sentence(page, "would refuse it")
    editor = page.locator("#ed-selectors .cm-content")
    rewrite(page, editor, 'device.driver == "rdma.dra.net"')
    sentence(page, "It would match")
    counts = page.locator("#f-spec-selectors-0-cel-expression-counts")
    expect(counts).to_contain_text("match it")
    before = counts.inner_text()
    rewrite(page, editor, 'device.driver == "gpu.nvidia.com"')
    expect(counts).not_to_have_text(before)
    expect(page.locator("#ed-class-counts")).to_contain_text("nothing asks for it")


def test_a_change_for_the_pods_of_a_manifest_is_written_where_it_is_said(
    page: Page, demo: Demo
) -> None:
    gpus = TEMPLATE % ("gpu", "gpu.nvidia.com\n          count: 31  # too many")
    pasted(page, demo, DEPLOYMENT + gpus + TEMPLATE % ("nic", "rdma.dra.net"))
    page.locator(".ed-documents button").first.click()
    changes = page.locator("#pod-changes0")
    expect(changes).to_contain_text("in template web-gpu")
    change = changes.locator("li").filter(has_text="in template web-gpu").first
    change.get_by_role("button", name="Apply").click()
    sentence(page, "Fits now on")
    expect(page.locator(".ed-documents button").first).to_have_attribute(
        "aria-current", "true"
    )
    saved(page)
    assert re.search(r"count: \d  # too many", yaml(page))
    assert yaml(page).startswith("# web, with a card and a port for every pod")
