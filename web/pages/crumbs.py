"""The way from the top to the page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Crumb:
    """``href`` empty: the page itself."""

    text: str
    href: str = ""
