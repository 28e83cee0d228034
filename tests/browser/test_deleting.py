"""Deleting a claim with the keyboard, on a phone, in the dark."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.running_demo import Demo

pytestmark = pytest.mark.browser

SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"
CREATE = """async claim => {
  const token = JSON.parse(document.body.getAttribute("hx-headers"));
  const answer = await fetch("/api/v1/clusters/demo/claims/", {
    method: "POST",
    headers: {"Content-Type": "application/json", ...token},
    body: JSON.stringify({object: claim}),
  });
  return answer.status;
}"""
CLAIM: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"namespace": "team-a", "name": "to-be-deleted"},
    "spec": {
        "devices": {
            "requests": [{"name": "r", "exactly": {"deviceClassName": "no.such.class"}}]
        }
    },
}


def wait_for_status(page: Page, address: str, status: int) -> None:
    """The watch brings what was written in a moment."""
    for _ in range(600):
        if page.context.request.get(address).status == status:
            return
        page.wait_for_timeout(200)
    raise AssertionError(f"{address} never answered {status}")


def test_a_claim_is_deleted_with_the_keyboard_and_leaves_the_list(
    home: Page, demo: Demo
) -> None:
    page = home
    assert page.evaluate(CREATE, CLAIM) == 201
    at = f"{demo.address}/c/demo/claims/team-a/to-be-deleted/"
    wait_for_status(page, at, 200)
    page.goto(at)
    page.set_viewport_size({"width": 400, "height": 800})
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.get_by_role("link", name="Delete").press("Enter")
    page.wait_for_url("**/delete/")
    assert page.evaluate(SIDEWAYS) <= 0
    expect(page.get_by_role("heading", level=1)).to_contain_text("Delete claim")
    page.get_by_role("button", name="Delete the claim").press("Enter")
    page.wait_for_url("**/c/demo/claims/")
    expect(page.get_by_role("status").first).to_contain_text(
        "Deleted the claim team-a/to-be-deleted."
    )
    wait_for_status(page, at, 404)


@pytest.mark.parametrize("kind", ["templates", "classes"])
def test_the_pages_before_fit_a_phone_and_change_nothing_when_it_is_kept(
    kind: str, page: Page, demo: Demo
) -> None:
    page.goto(f"{demo.address}/c/demo/{kind}/")
    page.locator("#results table tbody tr").first.locator("a").first.click()
    page.get_by_role("link", name="YAML").wait_for()
    at = page.url
    page.get_by_role("link", name="Delete").click()
    page.wait_for_url("**/delete/")
    for width in (400, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDEWAYS) <= 0
    page.get_by_role("link", name="Keep it").click()
    page.wait_for_url(at)
