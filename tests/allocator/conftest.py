"""Nothing that a process keeps of one test's database reaches the next test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allocator import snapshots, wiring
from cluster.standin.server import StandinServer
from tests.allocator import builders as build
from tests.allocator.lab import Lab


@pytest.fixture(autouse=True)
def _fresh_snapshots() -> Iterator[None]:
    snapshots.forget()
    yield
    snapshots.forget()


@pytest.fixture
def lab(tmp_path: Path, settings: Any, db: None) -> Iterator[Lab]:
    """Two nodes with two devices each, and the pending claim "one"."""
    with StandinServer([*build.lab(), build.claim("one")]) as server:
        lab = Lab(server, tmp_path)
        settings.CLUSTERS_FILE = str(lab.file)
        settings.RUN_MIRROR_SECONDS = 1
        settings.RUN_VERIFY_SECONDS = 2
        wiring.forget()
        yield lab
        wiring.forget()
