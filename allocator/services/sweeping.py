"""Runs that nobody works on: their task was lost with a worker or with the queue."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.conf import settings
from django.db.models import Max, Q
from django.db.models.functions import Now

from allocator.choices import OPEN
from allocator.models import AllocationRun
from allocator.services import leases
from allocator.services.queueing import QueueError, enqueue

log = structlog.get_logger("allocator.runs")

_LIMIT = 1000


def sweep_runs(*, silent_seconds: float | None = None) -> int:
    """Enqueue open runs that have not moved for a while (default: a lease); how many.

    Harmless when a run's task is still in the queue: executing it twice does nothing. One
    that waits and is looked at again and again is left out, or each sweep would have it
    looked at by one task more. A run that another worker holds is enqueued for the time when
    its lease ends; one whose lease is over, at once.
    """
    if silent_seconds is None:
        silent_seconds = settings.RUN_LEASE_SECONDS
    silent = Now() - timedelta(seconds=silent_seconds)
    not_looked_at = Q(looked_at=None) | Q(looked_at__lte=silent)
    stuck = (
        AllocationRun.objects.filter(state__in=OPEN)
        .annotate(moved_at=Max("transitions__at"), lease_left=leases.LEFT)
        .filter(leases.OVER | Q(not_looked_at, moved_at__lte=silent))
        .order_by("created_at")
        .values_list("pk", "lease_left")[:_LIMIT]
    )
    count = 0
    for run_id, lease_left in stuck:
        try:
            enqueue(run_id, countdown=leases.seconds_of(lease_left))
        except QueueError:
            break  # logged; the next sweep finds them again
        count += 1
    if count:
        log.warning("runs.swept", count=count)
    return count
