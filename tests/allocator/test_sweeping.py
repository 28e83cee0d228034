"""Runs whose task was lost are told to the workers again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import structlog
from celery import Celery
from django.utils import timezone
from structlog.testing import capture_logs

from allocator import tasks
from allocator.models import AllocationRun, RunTransition
from allocator.services import cancel_run, sweep_runs
from allocator.services.leases import new_worker_name, take
from allocator.services.queueing import TASK
from cluster.store import State
from dra_portal import celery_app
from inventory.models import WatchState
from tests.allocator import builders as build
from tests.allocator.lab import Lab

pytestmark = pytest.mark.django_db


class Queue:
    """A broker in memory, and what is in it."""

    def __init__(self) -> None:
        self.app = Celery("sweeping", broker="memory://")
        self.app.conf.task_default_queue = "sweeping-test"

    def taken(self, name: str = "sweeping-test") -> list[tuple[str, str, bool]]:
        """Task, run and whether it is for later; the queue is empty afterwards."""
        found = []
        with self.app.connection_for_read() as connection:
            queue = connection.SimpleQueue(name)
            while queue.qsize():
                message = queue.get_nowait()
                message.ack()
                headers = message.headers
                (args, _kwargs, _embed) = message.decode()
                found.append(
                    (headers["task"], str(args[0]), headers["eta"] is not None)
                )
            queue.close()
        return found


@pytest.fixture
def queue() -> Iterator[Queue]:
    queue = Queue()
    queue.app.set_current()
    yield queue
    celery_app.set_current()
    queue.app.close()


def age(run: AllocationRun, seconds: float) -> None:
    at = timezone.now() - timedelta(seconds=seconds)
    RunTransition.objects.filter(run=run).update(at=at)


def test_a_run_that_stood_still_for_a_lease_is_enqueued(
    lab: Lab, queue: Queue, settings: Any
):
    settings.RUN_LEASE_SECONDS = 60
    lab.put(build.claim("two"))
    old, new = lab.start("one"), lab.start("two")
    age(old, 61)

    assert sweep_runs() == 1
    assert queue.taken() == [(TASK, str(old.pk), False)]
    assert new.state == "queued"


def test_a_dry_run_waits_with_what_thinks_and_not_with_what_writes(
    lab: Lab, queue: Queue, settings: Any
):
    run, dry = lab.start("one"), lab.start("one", dry_run=True)

    assert sweep_runs(silent_seconds=0.0) == 2
    assert queue.taken() == [(TASK, str(run.pk), False)]
    assert queue.taken(settings.QUEUES.plan) == [(TASK, str(dry.pk), False)]


def test_a_starting_worker_takes_up_every_open_run(lab: Lab, queue: Queue):
    lab.put(build.claim("two"), build.claim("three"))
    runs = [lab.start(name) for name in ("one", "two", "three")]
    cancel_run(run=runs[2], user=None)

    assert tasks.sweep_runs(silent_seconds=0.0) == 2
    assert [run for _, run, _ in queue.taken()] == [str(r.pk) for r in runs[:2]]


def test_a_run_with_a_worker_is_enqueued_for_the_end_of_its_lease(
    lab: Lab, queue: Queue
):
    run = lab.start("one")
    take(run.pk, new_worker_name())
    sweep_runs(silent_seconds=0.0)
    assert queue.taken() == [(TASK, str(run.pk), True)]


def test_a_task_that_finds_another_worker_comes_back_after_its_lease(
    lab: Lab, queue: Queue
):
    run = lab.start("one")
    take(run.pk, new_worker_name())
    tasks.run_allocation(str(run.pk))
    assert queue.taken() == [(TASK, str(run.pk), True)]


def test_a_task_executes_its_run(lab: Lab, queue: Queue):
    run = lab.start("one", dry_run=True)
    tasks.run_allocation(str(run.pk))
    assert AllocationRun.objects.get(pk=run.pk).state == "done"
    assert queue.taken() == []


def test_without_a_queue_a_sweep_ends_quietly(lab: Lab):
    lab.start("one")
    broken = Celery("broken", broker="redis://127.0.0.1:1/0")
    broken.set_current()
    try:
        assert sweep_runs(silent_seconds=0.0) == 0
    finally:
        celery_app.set_current()
        broken.close()


def test_the_name_under_which_runs_are_enqueued_is_the_tasks():
    assert tasks.run_allocation.name == TASK


def test_a_run_that_came_by_a_sweep_still_names_the_request_that_asked(
    lab: Lab,
) -> None:
    with structlog.contextvars.bound_contextvars(request_id="asked-once"):
        run = lab.start("one")
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        lab.execute(run)
    moves = [line for line in logs if line["event"] == "run.moved"]
    assert len(moves) == 4
    assert {line["request_id"] for line in moves} == {"asked-once"}
    assert {line["run"] for line in moves} == {str(run.pk)}


def test_a_run_that_is_looked_at_again_and_again_gets_no_second_task(
    lab: Lab, queue: Queue, settings: Any
):
    settings.RUN_LEASE_SECONDS = 60
    settings.RUN_WATCH_SECONDS = 3600
    run = lab.start("one")
    WatchState.objects.filter(kind="ResourceClaim").update(state=State.RETRYING)
    tasks.run_allocation(str(run.pk))
    assert queue.taken() == [(TASK, str(run.pk), True)]
    age(run, 61)
    assert sweep_runs() == 0

    # Its task was lost after all.
    long_ago = timezone.now() - timedelta(seconds=61)
    AllocationRun.objects.update(looked_at=long_ago)
    assert sweep_runs() == 1
