"""Use over time in a browser: drawn, in both themes, on narrow screens, by keyboard."""

from __future__ import annotations

import subprocess
import sys

import pytest
from playwright.sync_api import Page, expect

from tests.running_demo import ROOT, Demo, environment

pytestmark = pytest.mark.browser

SAMPLES = """
import django
django.setup()
from datetime import timedelta
from django.utils import timezone
from inventory.history import storing
from inventory.history.numbers import WHOLE, Key, Numbers
from inventory.models import Cluster, DeviceClass, Namespace, Node
from inventory.models_history import UsageCover, UsageSeries
UsageCover.objects.all().delete()
UsageSeries.objects.all().delete()
cluster, now = Cluster.objects.get(name="demo"), timezone.now()
keys = [WHOLE] + [
    Key(kind, model.objects.filter(cluster=cluster).order_by("name").first().name)
    for kind, model in (("class", DeviceClass), ("node", Node), ("namespace", Namespace))
]
for ago in range(600, 1, -2):
    held = 100 + ago % 240
    numbers = Numbers(free=400 - held, in_use=held, tainted=20)
    storing.keep(cluster, dict.fromkeys(keys, numbers), now - timedelta(minutes=ago))
"""
SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"
INK = """canvas => {
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] > 100) colours.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
  }
  return [...colours].sort();
}"""


@pytest.fixture(scope="module", autouse=True)
def _sampled(demo: Demo) -> None:
    """Ten hours of samples, as if the demo had run for so long."""
    subprocess.run(
        [sys.executable, "-c", SAMPLES],
        cwd=ROOT,
        env=environment(demo.directory),
        check=True,
        timeout=240,
    )


def test_use_is_drawn_where_it_was_counted(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/c/demo/")
    card = page.locator("#usage-card")
    expect(card).to_contain_text("In the last 24 hours between")
    canvas = card.locator("canvas")
    expect(canvas).to_have_count(1)
    light = canvas.evaluate(INK)
    assert light
    page.get_by_role("button", name="Light or dark").click()
    expect(card.locator("canvas")).to_have_count(1)
    assert card.locator("canvas").evaluate(INK) != light
    page.set_viewport_size({"width": 400, "height": 900})
    expect(card.locator("canvas")).to_be_visible()
    assert page.evaluate(SIDEWAYS) <= 0


@pytest.mark.parametrize("list_", ["classes", "nodes", "namespaces"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_classes_nodes_and_namespaces_have_their_chart_on_a_narrow_screen(
    theme: str, list_: str, page: Page, demo: Demo
) -> None:
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.set_viewport_size({"width": 400, "height": 900})
    page.goto(f"{demo.address}/c/demo/{list_}/?sort=name")
    page.locator("#results table tbody tr").first.locator("a").first.click()
    card = page.locator("#usage-card")
    expect(card.locator("canvas")).to_be_visible()
    assert len(card.locator("canvas").evaluate(INK)) > 1
    expect(card).to_contain_text("Each point is the average of 5 minutes.")
    assert page.evaluate(SIDEWAYS) <= 0


def test_a_chart_without_samples_says_why(page: Page, demo: Demo) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    page.goto(f"{demo.address}/c/demo/usage/?by=node&name=never-there")
    card = page.locator("#usage-card")
    expect(card).to_contain_text("No node of this name had a device or a claim")
    expect(card.locator("canvas")).to_have_count(0)
    assert page.evaluate(SIDEWAYS) <= 0


def test_ranges_are_reached_by_keyboard_and_the_table_says_the_same(
    page: Page, demo: Demo
) -> None:
    page.goto(f"{demo.address}/c/demo/usage/?range=1h")
    card = page.locator("#usage-card")
    card.get_by_role("link", name="7 days").focus()
    page.keyboard.press("Enter")
    expect(card.get_by_role("link", name="7 days")).to_have_attribute(
        "aria-current", "true"
    )
    card.get_by_text("As a table").click()
    expect(card.get_by_role("columnheader", name="in use")).to_be_visible()
    page.goto(f"{demo.address}/c/demo/changes/")
    expect(page.get_by_role("heading", name="What changed")).to_be_visible()
