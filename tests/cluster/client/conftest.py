"""A stand-in and a client of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.client import ClusterClient
from cluster.standin.server import StandinServer
from tests.cluster.running import (
    client_of,
    resource_slice,
)


@pytest.fixture
def standin() -> Iterator[StandinServer]:
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "default"},
    }
    slices = [resource_slice(f"s-{i:02}") for i in range(20)]
    with StandinServer([namespace, *slices]) as server:
        yield server


@pytest.fixture
def client(standin: StandinServer, tmp_path: Path) -> Iterator[ClusterClient]:
    client = client_of(standin, tmp_path)
    yield client
    client.close()
