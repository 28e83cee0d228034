"""One demo and one browser for all browser tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    StorageState,
    expect,
    sync_playwright,
)

from tests.running_demo import Demo, chromium, running_demo

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# The machine does other things meanwhile: what comes late comes all the same.
expect.set_options(timeout=15_000)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    # A gate that is off by default, so that its part of the editor can be tried.
    gate = ("--feature-gate", "DRADerivedAttributes")
    with running_demo(tmp_path_factory.mktemp("demo"), *gate) as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def signed_in(browser: Browser, demo: Demo) -> StorageState:
    """The cookies of a person who has signed in, for every page."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{demo.address}/")
    page.get_by_label("Username").fill("demo")
    page.get_by_label("Password").fill(demo.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/c/demo/")
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture(scope="session")
def profile(browser: Browser, signed_in: StorageState) -> Iterator[BrowserContext]:
    """The browser of one person: what it has loaded once it need not load again.

    A test that signs out, or that needs no scripts, makes a context of its own.
    """
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, storage_state=signed_in
    )
    yield context
    context.close()


@pytest.fixture
def page(profile: BrowserContext, demo: Demo) -> Iterator[Page]:
    """A signed-in page; the test fails on any error that the browser's console shows."""
    page = profile.new_page()
    complaints: list[str] = []
    page.on(
        "console",
        lambda message: (
            complaints.append(message.text) if message.type == "error" else None
        ),
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{demo.address}/c/demo/")
    yield page
    page.close()
    profile.clear_cookies(name="theme")
    assert complaints == []
