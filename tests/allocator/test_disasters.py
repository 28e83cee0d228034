"""Redis, PostgreSQL, the API server or a worker dies while a batch is in work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection  # noqa: F401  # named by the mark below

from tests.allocator import disasters
from tests.allocator.disasters import go_through, scene

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        "connection.vendor != 'postgresql'", reason="stops its PostgreSQL"
    ),
    pytest.mark.timeout(1800),
]


def test_every_run_of_a_batch_ends_well_whatever_dies(tmp_path: Path, settings: Any):
    """One after the other, since the processes take longest to start."""
    with scene(tmp_path, settings, names=["watch", "worker1"]) as running:
        for befalls in (
            disasters.redis_dies,
            disasters.postgres_restarts,
            disasters.server_is_cut,
            disasters.a_worker_dies,
        ):
            go_through(running, befalls)
