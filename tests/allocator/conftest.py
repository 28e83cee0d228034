"""Nothing that a process keeps of one test's database reaches the next test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allocator import snapshots, wiring
from allocator.services import freshness
from cluster.standin.server import StandinServer
from tests.allocator import builders as build
from tests.allocator.lab import Lab

collect_ignore = (
    []
    if "DRA_PORTAL_SOAK_SECONDS" in os.environ
    else ["test_soak.py", "test_soak_processes.py"]
)
"""``make soak`` sets it: such a run takes half an hour."""


@pytest.fixture(autouse=True)
def _fresh_snapshots() -> Iterator[None]:
    snapshots.forget()
    freshness.forget()
    yield
    snapshots.forget()


@pytest.fixture
def lab(tmp_path: Path, settings: Any, db: None) -> Iterator[Lab]:
    """Two nodes with two devices each, and the pending claim "one"."""
    with StandinServer([*build.lab(), build.claim("one")]) as server:
        lab = Lab(server, tmp_path)
        settings.CLUSTERS_FILE = str(lab.file)
        settings.RUN_MIRROR_SECONDS = 1
        settings.RUN_WATCH_SECONDS = 1
        settings.RUN_SERVER_SECONDS = 3
        settings.RUN_VERIFY_SECONDS = 2
        # However busy the machine is, the server is not asked what the mirror knows.
        settings.RUN_SNAPSHOT_SECONDS = 50
        wiring.forget()
        yield lab
        wiring.forget()
