"""Celery tasks: each carries an id, calls one service, and that is all."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import structlog
from celery import shared_task
from celery.signals import worker_init, worker_ready

from allocator import services, wiring
from allocator import tasks_findings as tasks_findings  # registers its tasks
from allocator import tasks_history as tasks_history
from allocator import tasks_repair as tasks_repair
from allocator import tasks_whatif as tasks_whatif
from allocator.services.queueing import (
    BATCH_TASK,
    WAITING_TASK,
    QueueError,
    enqueue,
    enqueue_batch,
)

log = structlog.get_logger("allocator.tasks")


@shared_task(name="allocator.tasks.run_allocation", acks_late=True, max_retries=0)
def run_allocation(run_id: str) -> None:
    """Execute one run. When it cannot go on now, look again when it may."""
    try:
        services.execute_run(UUID(run_id))
    except services.RunBusyError as busy:
        try:
            enqueue(UUID(run_id), countdown=busy.retry_in)
        except QueueError:
            log.warning("run.left_to_sweep", run=run_id)


@shared_task(name="allocator.tasks.sweep_runs")
def sweep_runs(silent_seconds: float | None = None) -> int:
    """Enqueue runs whose task was lost. Meant for every minute or so."""
    return services.sweep_runs(silent_seconds=silent_seconds)


@shared_task(name=BATCH_TASK, acks_late=True, max_retries=0)
def plan_batch(batch_id: str) -> int:
    """Plan the runs of a batch together. Where it is lost, each is planned by itself."""
    try:
        return services.plan_batch(UUID(batch_id))
    except services.RunBusyError as busy:
        try:
            enqueue_batch(UUID(batch_id), countdown=busy.retry_in)
        except QueueError:
            log.warning("batch.left_to_sweep", batch=batch_id)
        return 0


@shared_task(name="allocator.tasks.follow_rules")
def follow_rules() -> int:
    """Start runs for new claims where a rule says so."""
    return services.follow_rules()


@shared_task(name="allocator.tasks.sweep_leftovers")
def sweep_leftovers() -> int:
    """Remove what ended runs left in clusters."""
    return services.sweep_leftovers()


@shared_task(name="allocator.tasks.prune_history")
def prune_history() -> int:
    """Forget runs that ended long ago."""
    return services.prune_runs()


@shared_task(name=WAITING_TASK, acks_late=False, max_retries=0)
def explain_waiting(cluster_id: int) -> int:
    """Why the pending claims of a cluster wait. A lost task is asked for again."""
    return services.explain_waiting(cluster_id)


@worker_init.connect
def get_ready(**_: Any) -> None:
    """The first run must not wait for imports."""
    wiring.preload()


@worker_ready.connect
def sweep_at_start(**_: Any) -> None:
    """A worker that starts takes up every open run: the queue may have been lost.

    What a crash left in clusters is looked for as well."""
    sweep_runs.delay(silent_seconds=0.0)
    sweep_leftovers.delay()
