"""Tabs of a browser in which tests take turns.

What a browser does to open a window takes longer than most tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import ConsoleMessage, Error, Page

PATIENCE: Final = 90_000
"""Milliseconds. The machine does other things meanwhile: what comes late comes all the same."""


@contextmanager
def taken(tab: Page) -> Iterator[None]:
    """The tab for one test, which fails on any error that the browser's console shows.

    Afterwards it is empty: nothing that the test began goes on.
    """
    complaints: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(f"{message.text} {message.location['url']}")

    def on_error(error: Error) -> None:
        complaints.append(str(error))

    tab.on("console", on_console)
    tab.on("pageerror", on_error)
    try:
        yield
        tab.goto("about:blank")  # of any other page it asks for an icon
        assert not complaints, complaints
    finally:
        tab.remove_listener("console", on_console)
        tab.remove_listener("pageerror", on_error)
        tab.mouse.move(0, 0)
