"""Who works on a run: one worker, until its lease ends.

A task is delivered at least once, so two workers may hold the same run's id. The
lease lets one of them work; it is renewed at every step and ends by itself when the
worker dies. Should a worker that was only slow wake up after its lease, its next
``move`` or ``renew`` finds another name on the run, and it stops.
"""

from __future__ import annotations

import os
import socket
import threading
import uuid
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from allocator.choices import FINAL, OPEN
from allocator.models import AllocationRun
from allocator.services.states import RunMovedError


class RunBusyError(Exception):
    """Another worker is on the run; ``retry_in`` seconds from now its lease ends."""

    def __init__(self, retry_in: float) -> None:
        self.retry_in = retry_in
        super().__init__(f"another worker is on this run for {retry_in:.0f} s at most")


def new_worker_name() -> str:
    """Host, process and thread for people, and a part that makes it this execution's."""
    thread = threading.get_native_id()
    mark = uuid.uuid4().hex[:8]
    return f"{socket.gethostname()}:{os.getpid()}:{thread}:{mark}"


def take(run_id: UUID, worker: str) -> AllocationRun | None:
    """The run, ours for a while. None when it is over, or is no more.

    Raises RunBusyError while somebody else has it.
    """
    now = timezone.now()
    free = Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    taken = AllocationRun.objects.filter(free, pk=run_id, state__in=OPEN).update(
        worker=worker, lease_until=now + _length()
    )
    run = AllocationRun.objects.select_related("cluster").filter(pk=run_id).first()
    if run is None or run.state in FINAL:
        return None
    if not taken:
        # Free by now if it has no lease: then the next try may come at once.
        left = (run.lease_until - now).total_seconds() if run.lease_until else 0.0
        raise RunBusyError(max(left, 0.0) + 1.0)
    return run


def renew(run: AllocationRun) -> None:
    """Keep the run for another while. Raises RunMovedError when it is not ours now."""
    until = timezone.now() + _length()
    kept = AllocationRun.objects.filter(
        pk=run.pk, worker=run.worker, state=run.state
    ).update(lease_until=until)
    if not kept:
        raise RunMovedError(f"run {run.pk} is with somebody else or was cancelled")
    run.lease_until = until


def release(run: AllocationRun) -> None:
    """Let others have it; nothing happens when it is not ours any more."""
    AllocationRun.objects.filter(pk=run.pk, worker=run.worker).update(
        worker="", lease_until=None
    )


def _length() -> timedelta:
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)
