"""A stand-in, a store in memory, and a reflector between them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.client import ClusterClient
from cluster.standin.api import Options as StandinOptions
from cluster.standin.server import StandinServer
from cluster.store import State
from tests.cluster.running import (
    SLICES,
    Running,
    client_of,
    resource_slice,
    running,
)
from tests.cluster.stores import MemoryStore


@pytest.fixture
def standin() -> Iterator[StandinServer]:
    options = StandinOptions(bookmark_seconds=0.3)
    slices = [resource_slice(f"s-{i:02}") for i in range(20)]
    with StandinServer(slices, options=options) as server:
        yield server


@pytest.fixture
def client(standin: StandinServer, tmp_path: Path) -> ClusterClient:
    return client_of(standin, tmp_path)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def live(client, store) -> Iterator[Running]:
    """A reflector of slices that has listed and watches."""
    with running(client, SLICES, store) as run:
        store.wait_until(lambda: store.state is State.LIVE)
        yield run
    assert store.problems == []
