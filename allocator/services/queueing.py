"""Telling the workers what to do. A task carries an id and nothing else."""

from __future__ import annotations

from uuid import UUID

import structlog
from celery import current_app
from kombu.exceptions import OperationalError

log = structlog.get_logger("allocator.runs")

TASK = "allocator.tasks.run_allocation"
WAITING_TASK = "allocator.tasks.explain_waiting"
_RETRY = {"max_retries": 1, "interval_start": 0.2, "interval_max": 0.2}


class QueueError(Exception):
    """The task queue cannot be reached; nobody was told."""


def enqueue(run_id: UUID, *, countdown: float = 0.0) -> None:
    """Have a worker execute the run, in ``countdown`` seconds at the earliest.

    By name: tasks are above services and call them. Raises QueueError.
    """
    task = current_app.signature(TASK, args=(str(run_id),), ignore_result=True)
    try:
        task.apply_async(countdown=countdown, retry=True, retry_policy=_RETRY)
    except (OperationalError, OSError) as error:
        log.warning("run.not_enqueued", run=str(run_id), error=str(error))
        raise QueueError(str(error)) from error


def enqueue_waiting(cluster_id: int, *, expires: float) -> None:
    """Have a worker say why claims wait, within ``expires`` seconds or not at all.

    Raises QueueError.
    """
    task = current_app.signature(
        WAITING_TASK, args=(cluster_id,), ignore_result=True, expires=expires
    )
    try:
        task.apply_async(retry=False)
    except (OperationalError, OSError) as error:
        raise QueueError(str(error)) from error
