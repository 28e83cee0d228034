"""Telling the workers what to do. A task carries an id and nothing else.

A broker that takes a connection and never answers holds a task for a few seconds at most
(``CELERY_BROKER_TRANSPORT_OPTIONS``), and those that come right after it not at all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from socket import gaierror
from typing import Any, Final
from uuid import UUID

import structlog
from celery import current_app
from django.conf import settings
from django.db import InterfaceError, connection
from django.db import OperationalError as DBOperationalError
from kombu.exceptions import OperationalError

from allocator.models import AllocationRun

log = structlog.get_logger("allocator.runs")

TASK = "allocator.tasks.run_allocation"
BATCH_TASK = "allocator.tasks.plan_batch"
WAITING_TASK = "allocator.tasks.explain_waiting"

_RETRY: Final = {"max_retries": 1, "interval_start": 0.2, "interval_max": 0.2}
_NO_RETRY: Final = {"max_retries": 0}
_REST: Final = 3.0
"""Seconds for which a broker that failed is left alone: a batch has hundreds of runs, and
whoever asked for it waits for an answer."""

_failed: dict[str, tuple[float, QueueError]] = {}
"""By the broker's address: when it failed last (monotonic), and how."""


class QueueError(Exception):
    """The task queue cannot be used. ``perhaps``: it may have the task all the same, as
    nobody was refused; else nobody was told."""

    def __init__(self, reason: str, *, perhaps: bool = False) -> None:
        self.perhaps = perhaps
        super().__init__(reason)


def send(task: str, *args: Any, again: bool = True, **options: Any) -> None:
    """Put a task into its queue. By name: tasks are above services and call them.

    ``again``: try a second time, as a connection that was idle may be gone; ``options``
    are those of Celery. Raises QueueError, within some seconds.
    """
    broker = str(current_app.conf.broker_write_url)
    at, before = _failed.get(broker, (float("-inf"), QueueError("")))
    if time.monotonic() - at < _REST:
        raise QueueError(str(before), perhaps=before.perhaps)
    signature = current_app.signature(task, args=args, ignore_result=True)
    try:
        signature.apply_async(
            retry=True, retry_policy=_RETRY if again else _NO_RETRY, **options
        )
    except (OperationalError, OSError) as error:
        failure = QueueError(str(error), perhaps=not _was_refused(error))
        _failed[broker] = time.monotonic(), failure
        raise failure from error
    _failed.pop(broker, None)


def forget() -> None:
    """Ask brokers that have failed at once."""
    _failed.clear()


def _was_refused(error: BaseException) -> bool:
    """Whether there was nobody to connect to."""
    return any(isinstance(e, (ConnectionRefusedError, gaierror)) for e in _chain(error))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def enqueue(
    run_id: UUID, *, countdown: float = 0.0, dry_run: bool | None = None
) -> None:
    """Have a worker execute the run, in ``countdown`` seconds at the earliest.

    A dry run writes nothing, so it waits with the others that think and leaves the
    queue of runs to those that do; None: its row says whether it is one. Raises
    QueueError.
    """
    dry = _is_dry(run_id) if dry_run is None else dry_run
    queue: dict[str, Any] = {"queue": settings.QUEUES.plan} if dry else {}
    try:
        send(TASK, str(run_id), countdown=countdown, **queue)
    except QueueError as error:
        log.warning("run.not_enqueued", run=str(run_id), error=str(error))
        raise


def _is_dry(run_id: UUID) -> bool:
    """Without a database no: whoever takes it finds out."""
    try:
        return AllocationRun.objects.filter(pk=run_id, dry_run=True).exists()
    except (DBOperationalError, InterfaceError):
        connection.close_if_unusable_or_obsolete()
        return False


def enqueue_batch(batch_id: UUID, *, countdown: float = 0.0) -> None:
    """Have a worker plan the runs of a batch. Raises QueueError."""
    try:
        send(BATCH_TASK, str(batch_id), countdown=countdown)
    except QueueError as error:
        log.warning("batch.not_enqueued", batch=str(batch_id), error=str(error))
        raise


def enqueue_waiting(cluster_id: int, *, expires: float) -> None:
    """Have a worker say why claims wait, within ``expires`` seconds or not at all.

    Raises QueueError.
    """
    send(WAITING_TASK, cluster_id, again=False, expires=expires)
