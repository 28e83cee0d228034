"""One demo and one browser for all browser tests, which take turns in its tabs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    StorageState,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.browser.editor_page import EditorTab
from tests.browser.tabs import PATIENCE, taken
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

expect.set_options(timeout=PATIENCE)

WIDE: ViewportSize = {"width": 1280, "height": 900}


ENOUGH = {
    "DRA_PORTAL_CEL_SECONDS": "60",
    "DRA_PORTAL_WHAT_IF_INLINE_SECONDS": "60",
}
"""On a busy machine the portal would give half of an answer, or one that comes later."""


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    # A gate that is off by default, so that its part of the editor can be tried. What
    # happens in the cluster is done by the tests, not by chance.
    how = ("--still", "--feature-gate", "DRADerivedAttributes")
    directory = tmp_path_factory.mktemp("demo")
    with running_demo(directory, *how, settings=ENOUGH) as found:
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
    context.set_default_timeout(PATIENCE)
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

    A test that signs out makes a context of its own.
    """
    context = browser.new_context(viewport=WIDE, storage_state=signed_in)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture(scope="session")
def tab(profile: BrowserContext) -> Page:
    return profile.new_page()


@pytest.fixture
def page(tab: Page, profile: BrowserContext) -> Iterator[Page]:
    """A signed-in person's tab, as wide as a desk's, in which no page is open yet."""
    try:
        with taken(tab):
            yield tab
    finally:
        tab.mouse.move(0, 0)
        tab.set_viewport_size(WIDE)
        tab.emulate_media(color_scheme="light")
        profile.clear_cookies(name="theme")


@pytest.fixture
def home(page: Page, demo: Demo) -> Page:
    """The page that a person sees first."""
    page.goto(f"{demo.address}/c/demo/")
    return page


@pytest.fixture(scope="session")
def plain(browser: Browser, signed_in: StorageState) -> Iterator[Page]:
    """The tab of a signed-in person whose browser runs no scripts."""
    context = browser.new_context(
        viewport=WIDE, storage_state=signed_in, java_script_enabled=False
    )
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def editors(browser: Browser) -> Iterator[EditorTab]:
    tab = EditorTab(browser)
    yield tab
    tab.close()
