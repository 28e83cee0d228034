"""Celery tasks: each carries an id, calls one service, and that is all."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import structlog
from celery import shared_task
from celery.signals import worker_init, worker_ready

from allocator import services, wiring
from allocator.services.queueing import WAITING_TASK, QueueError, enqueue

log = structlog.get_logger("allocator.tasks")


@shared_task(name="allocator.tasks.run_allocation", acks_late=True, max_retries=0)
def run_allocation(run_id: str) -> None:
    """Execute one run. When another worker has it, look again after its lease."""
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
    """A worker that starts takes up every open run: the queue may have been lost."""
    sweep_runs.delay(silent_seconds=0.0)
