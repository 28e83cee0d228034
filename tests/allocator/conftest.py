"""Nothing that a process keeps of one test's database reaches the next test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from allocator import snapshots


@pytest.fixture(autouse=True)
def _fresh_snapshots() -> Iterator[None]:
    snapshots.forget()
    yield
    snapshots.forget()
