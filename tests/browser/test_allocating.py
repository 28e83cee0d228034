"""The main job of the portal, as a person does it."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.running_demo import Demo

pytestmark = pytest.mark.browser


def test_a_pending_claim_is_allocated_and_the_page_shows_it(home: Page) -> None:
    page = home
    page.get_by_role("navigation", name="Main").get_by_role(
        "link", name="Claims"
    ).click()
    page.get_by_role("link", name="team-a/train-4gpu").click()
    expect(page.get_by_text("Fits now on")).to_be_visible()
    page.get_by_role("button", name="Allocate").click()
    page.wait_for_url(re.compile(r"/runs/"))
    # No reload: the event stream brings the end of the run.
    expect(page.locator(".page-head, .story").get_by_text("done").first).to_be_visible()
    page.get_by_role("link", name="team-a/train-4gpu").first.click()
    got = page.locator(".ask-got a")
    expect(got).to_have_count(4)
    got.first.click()
    expect(page.get_by_text("train-4gpu").first).to_be_visible()


def test_a_plan_only_run_writes_nothing(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/c/demo/claims/?state=pending")
    page.get_by_role("link", name="research/any-accelerator").click()
    page.get_by_role("button", name="Show the plan").click()
    page.wait_for_url(re.compile(r"/runs/"))
    expect(page.get_by_text("plan only").first).to_be_visible()


def api(demo: Demo, path: str, body: dict[str, Any] | None = None) -> Any:
    request = urllib.request.Request(
        f"{demo.address}/api/v1/{path}",
        data=json.dumps(body).encode() if body is not None else None,
        headers={
            "Authorization": f"Bearer {demo.token}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=90) as answer:
        return json.load(answer)


def test_a_claim_is_allocated_over_rest(demo: Demo) -> None:
    pending = api(demo, "claims/?cluster=demo&state=pending&limit=100")["results"]
    claim = next(c for c in pending if "gpu-nic" in c["name"] or "nic" in c["name"])
    run = api(
        demo,
        "runs/",
        {
            "cluster": "demo",
            "namespace": claim["namespace"],
            "claim_name": claim["name"],
        },
    )
    deadline = time.monotonic() + 120
    while run["state"] not in {"done", "no fit", "failed", "conflict"}:
        assert time.monotonic() < deadline, run
        time.sleep(0.2)
        run = api(demo, f"runs/{run['id']}/")
    assert run["state"] == "done", run["reason"]
    seen = api(demo, f"claims/demo/{claim['namespace']}/{claim['name']}/")
    assert len(seen["devices"]) == 2
