"""URLs with the rules of Go's ``url.ParseRequestURI``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class URL:
    """An absolute URL or path, taken apart."""

    scheme: str
    host: str
    path: str
    query: str
