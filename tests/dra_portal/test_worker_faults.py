"""A worker whose child is killed, and whose broker goes away and comes back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery
from celery.exceptions import OperationalError

from tests.dra_portal.elsewhere import app_at
from tests.dra_portal.own_servers import Redis
from tests.dra_portal.processes import Portal
from tests.dra_portal.watched import write_clusters

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Redis]:
    made = Redis(tmp_path)
    made.start()
    yield made
    made.kill()


@pytest.fixture
def sender(broker: Redis) -> Iterator[Celery]:
    """Another process of the portal: its configuration, the broker of this test."""
    with app_at(broker.url) as app:
        yield app


STUCK_TASKS = "--include=tests.dra_portal.tasks_of_tests,tests.dra_portal.deaf_workers"


@pytest.fixture
def worker(tmp_path: Path, broker: Redis) -> Iterator[Portal]:
    (tmp_path / "secret_key").write_text("s" * 60)
    made = Portal(
        tmp_path, write_clusters(tmp_path, ""), "dra-portal", broker=broker.url
    )
    try:
        process = made.start("worker1", STUCK_TASKS)
        made.wait(lambda: "ready" in process.log, "the worker")
        yield made
    finally:
        made.kill()


def test_what_was_killed_or_lost_its_broker_is_done_in_the_end(
    worker: Portal, broker: Redis, sender: Celery, tmp_path: Path
) -> None:
    process = worker.processes["worker1"]
    workers = [process]

    def done(name: str) -> int:
        said = f'"task": "{name}", "outcome": "success"'
        return sum(each.log.count(said) for each in workers)

    def returned() -> bool:
        # Celery mostly connects again. Sometimes it stumbles over the connection that
        # is gone and ends: compose and Kubernetes start it anew then.
        if workers == [process] and process.running.poll() is not None:
            del worker.processes["worker1"]
            workers.append(worker.start("worker2", STUCK_TASKS))
        return done("dra_portal.tasks.tidy") > before

    # A child that hears nothing is killed at the limit; its message comes again.
    sender.send_task("tests.stuck", (str(tmp_path),))
    worker.wait(lambda: done("tests.stuck") == 1, "the second delivery")
    assert (tmp_path / "deliveries").read_text() == "xx"
    assert "Hard time limit" in process.log

    # Nobody hangs on a broker that is away: publishing ends with an error.
    broker.kill()
    began = time.monotonic()
    with pytest.raises(OperationalError):
        sender.send_task("dra_portal.tasks.tidy")
    assert time.monotonic() - began < 60

    # The worker has waited and goes on.
    broker.start()
    before = done("dra_portal.tasks.tidy")
    sender.send_task("dra_portal.tasks.tidy")
    worker.wait(returned, "the worker's return")
    assert {status for status, _ in worker.stop().values()} == {0}
