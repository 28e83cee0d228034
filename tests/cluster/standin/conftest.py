"""A running stand-in and a client for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cluster.standin.api import Options
from cluster.standin.server import StandinServer
from tests.cluster.standin.http_client import Http


@pytest.fixture
def server() -> Iterator[StandinServer]:
    options = Options(bookmark_seconds=0.2, future_patience=0.1)
    with StandinServer(options=options) as running:
        yield running


@pytest.fixture
def http(server: StandinServer) -> Http:
    return Http(server.port)
