"""A run that is killed at the hard limit each time comes back, but not for ever."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection  # noqa: F401  # named by the mark below

from allocator import services
from allocator.models import AllocationRun
from allocator.services import leases, queueing
from tests.allocator.lab import KilledError, Lab, die_at, states
from tests.dra_portal.elsewhere import app_at
from tests.dra_portal.own_servers import Redis
from tests.dra_portal.processes import Portal

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs PostgreSQL"),
    pytest.mark.timeout(600),
]


def planned(lab: Lab, settings: Any) -> AllocationRun:
    """A run that is to be written, and still ours: a busy machine may take longer than
    the limit to plan one, and a worker that starts takes up what is nobody's."""
    settings.RUN_LEASE_SECONDS = 600
    run = lab.start("one")
    with pytest.raises(KilledError):
        lab.execute(run, die_at("now writing"))
    run.refresh_from_db()
    return run


def test_a_run_that_is_always_killed_at_the_limit_ends_as_failed(
    lab: Lab, tmp_path: Path, settings: Any
):
    redis = Redis(tmp_path)
    redis.start()
    (tmp_path / "secret_key").write_text("s" * 60)
    portal = Portal(tmp_path, lab.file, "dra-portal", broker=redis.url)
    portal.settings = {
        "DRA_PORTAL_TASK_SECONDS": "2",
        "DRA_PORTAL_RUN_LEASE_SECONDS": "1",
        "DRA_PORTAL_RUN_TAKEOVERS": "2",
        "DRA_PORTAL_RUN_SNAPSHOT_SECONDS": "600",
    }
    run = planned(lab, settings)
    try:
        process = portal.start("worker1", "--include=tests.dra_portal.deaf_workers")
        portal.wait(lambda: "ready" in process.log, "the worker", seconds=120)
        lab.server.faults.latency = 60.0  # no answer comes before the limit
        leases.release(run)
        with app_at(redis.url):
            queueing.enqueue(run.pk)

            def over() -> bool:
                run.refresh_from_db()
                return run.finished_at is not None

            portal.wait(over, "the end of the run", seconds=240)
    finally:
        lab.server.faults.latency = 0.0
        portal.kill()
        redis.kill()

    assert states(run) == ["queued", "planning", "writing", "failed"]
    said = re.match(
        r"(\d+) workers in a row died while the run was writing", run.reason
    )
    assert said
    assert "Look at the claim before you start again." in run.reason
    # The worker that gives it up may be killed as well, by chance.
    assert process.log.count("Hard time limit") >= int(said[1]) >= 3
    services.sweep_leftovers()
    assert lab.left_behind() == []
    assert AllocationRun.objects.count() == 1
