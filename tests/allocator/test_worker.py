"""The whole way with every real part: server, watch, queue, worker process, mirror."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery
from django.db import connection

from allocator.models import AllocationRun
from claims.models import ResourceClaim
from dra_portal import celery_app
from tests.allocator import builders as build
from tests.allocator import contention
from tests.allocator.lab import Lab, states

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

REDIS = os.environ.get("DRA_PORTAL_TEST_REDIS", "redis://127.0.0.1:6379/15")
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Worker:
    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-4000:]


def wait_until(
    true: Callable[[], bool], what: str, worker: Worker, *, seconds: float = 120
) -> None:
    """Wait, as long as the worker lives; its log says more than we can."""
    deadline = time.monotonic() + seconds
    while not true():
        alive = worker.process.poll() is None
        if not alive or time.monotonic() > deadline:
            pytest.fail(f"waited for {what}; worker alive: {alive}\n{worker.said()}")
        time.sleep(0.1)


@pytest.fixture
def queue() -> Iterator[str]:
    """A queue of our own in Redis, where this process's tasks go."""
    name = f"dra-portal-test-{uuid.uuid4().hex[:12]}"
    app = Celery("sender", broker=REDIS)
    app.conf.task_default_queue = name
    app.set_current()
    yield name
    celery_app.set_current()
    app.close()
    with redis.Redis.from_url(REDIS) as client:
        for key in client.scan_iter(f"*{name}*"):
            client.delete(key)


@pytest.fixture
def watched(lab: Lab) -> Iterator[Lab]:
    """The lab, with the real watch in a thread instead of ``sync``."""
    with contention.watched(lab):
        yield lab


@contextmanager
def worker(lab: Lab, queue: str, log: Path, **environment: str) -> Iterator[Worker]:
    """A worker process on the test's database, queue and clusters file."""
    db = connection.settings_dict
    secret = f":{db['PASSWORD']}" if db["PASSWORD"] else ""
    url = f"postgresql://{db['USER']}{secret}@{db['HOST']}:{db['PORT']}/{db['NAME']}"
    env = os.environ | {
        "DJANGO_SETTINGS_MODULE": "dra_portal.settings",
        "DRA_PORTAL_DATABASE": url,
        "DRA_PORTAL_BROKER": REDIS,
        "DRA_PORTAL_QUEUE": queue,
        "DRA_PORTAL_CLUSTERS": str(lab.file),
        "DRA_PORTAL_LOG_LEVEL": "INFO",
        **environment,
    }
    command = [sys.executable, "-m", "celery", "-A", "dra_portal", "worker"]
    command += ["--pool", "solo", "--without-gossip", "--without-mingle"]
    with log.open("ab") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=out, stderr=out)
    try:
        yield Worker(process, log)
    finally:
        process.terminate()
        process.wait(120)


def finished(run: AllocationRun) -> Callable[[], bool]:
    def look() -> bool:
        run.refresh_from_db()
        return run.finished_at is not None

    return look


def looked_around(worker: Worker) -> bool:
    """Whether it has done all that a worker does when it starts."""
    done = re.findall(r"task\.done.* task=allocator\.tasks\.(\w+)", worker.said())
    return {"sweep_runs", "sweep_leftovers"} <= {*done}


def test_a_claim_is_allocated_by_a_worker_and_comes_back_through_the_watch(
    watched: Lab, queue: str, tmp_path: Path
):
    with worker(watched, queue, tmp_path / "worker.log") as working:
        watched.server.store.put(build.claim("fresh"))
        fresh = ResourceClaim.objects.filter(name="fresh")
        wait_until(fresh.exists, "the watch to bring the claim", working)
        run = watched.start("fresh")
        wait_until(finished(run), "the run", working)

    assert states(run) == ["queued", "planning", "writing", "verifying", "done"]
    assert watched.devices("fresh") == ["n0/gpu-0"]
    row = fresh.get()
    assert row.state == "allocated"
    assert row.node_name == "n0"
    assert [str(d) for d in row.devices.all()] == ["gpu.acme.test/n0/gpu-0"]
    assert row.resource_version == run.written_resource_version


def test_a_run_survives_the_death_of_its_worker(
    watched: Lab, queue: str, tmp_path: Path
):
    """kill -9 while it writes; a worker that starts later takes the run up."""
    log = tmp_path / "worker.log"
    slow: dict[str, Any] = {
        "DRA_PORTAL_RUN_LEASE_SECONDS": "3",
        "DRA_PORTAL_RUN_SNAPSHOT_SECONDS": "600",
    }
    with worker(watched, queue, log, **slow) as working:
        wait_until(lambda: looked_around(working), "the worker to look around", working)
        # To read and to write the claim takes several of these.
        watched.server.faults.latency = 5.0
        run = watched.start("one")
        writing = AllocationRun.objects.filter(pk=run.pk, state="writing")
        wait_until(writing.exists, "the run to write", working)
        working.process.kill()
        working.process.wait()
    watched.server.faults.latency = 0.0
    run.refresh_from_db()
    assert run.state == "writing"

    with worker(watched, queue, log, **slow) as working:
        wait_until(finished(run), "the run", working)

    assert states(run) == ["queued", "planning", "writing", "verifying", "done"]
    assert watched.devices("one") == ["n0/gpu-0"]
