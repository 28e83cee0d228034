"""How much the tests that could go on for ever try."""

from __future__ import annotations

import os
from collections.abc import Iterable

EFFORT = int(os.environ.get("DRA_PORTAL_TEST_EFFORT", "1"))
"""1 for a minute in all, more for as many times the examples."""


def some[T](items: Iterable[T], *, one_in: int) -> list[T]:
    """One in so many, spread evenly; all of them with enough effort."""
    return list(items)[:: max(one_in // EFFORT, 1)]
