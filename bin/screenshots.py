"""Take the pictures of the README from a running demo: bin/screenshots.py http://127.0.0.1:8000."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT))

from tests.running_demo import chromium  # noqa: E402  # after the path is set

EXPRESSION = """device.driver == "gpu.nvidia.com" &&
  device.attributes["gpu.nvidia.com"].type == "gpu" &&
  device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0"""

PICTURES = {
    "overview": "/c/demo/",
    "cel": f"/c/demo/cel/?{urlencode({'expression': EXPRESSION, 'tab': 'false'})}",
    "claim": "/c/demo/claims/team-a/train-4gpu/",
    "map": "/c/demo/map/",
}


def main(address: str) -> None:
    password = (ROOT / "var/demo/password").read_text("utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(f"{address}/")
        page.get_by_label("Username").fill("demo")
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/c/demo/")
        for name, path in PICTURES.items():
            page.goto(f"{address}{path}")
            page.wait_for_load_state("load")
            page.wait_for_timeout(1500)  # cards that are asked for after the page
            page.screenshot(path=IMAGES / f"{name}.png")
        page.goto(f"{address}/c/demo/what-if/?drain=gpu-h100-01")
        page.get_by_role("button", name="Run", exact=True).click()
        answer = page.wait_for_selector(".wi-answer", timeout=60_000)
        assert answer is not None
        answer.evaluate("element => window.scrollTo(0, element.offsetTop - 64)")
        page.wait_for_timeout(1500)
        page.screenshot(path=IMAGES / "what-if.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000")
