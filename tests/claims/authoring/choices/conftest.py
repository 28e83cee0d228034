"""The demo's cluster, once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cluster.standin.generator import generate
from dra.snapshot import Snapshot

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture(scope="session")
def demo() -> Snapshot:
    return Snapshot.build(generate(nodes=20, now=NOW))
