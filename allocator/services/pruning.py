"""Runs that ended long ago are forgotten."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import structlog
from django.conf import settings
from django.utils import timezone

from allocator.choices import FINAL
from allocator.models import AllocationRun, PoolLock, RunBatch

_CHUNK: Final = 1000

log = structlog.get_logger("allocator.pruning")


def prune_runs() -> int:
    """Delete runs whose end is older than ``RUN_HISTORY_DAYS``; how many.

    Their steps and transitions go with them, then batches without runs and locks that
    nobody has held for that long. 0 days: nothing is ever deleted.
    """
    if settings.RUN_HISTORY_DAYS <= 0:
        return 0
    oldest = timezone.now() - timedelta(days=settings.RUN_HISTORY_DAYS)
    old = AllocationRun.objects.filter(state__in=FINAL, finished_at__lt=oldest)
    count = 0
    while chunk := list(old.values_list("pk", flat=True)[:_CHUNK]):
        AllocationRun.objects.filter(pk__in=chunk).delete()
        count += len(chunk)
    RunBatch.objects.filter(runs__isnull=True, created_at__lt=oldest).delete()
    PoolLock.objects.filter(until__lt=oldest).delete()
    if count:
        log.info("runs.pruned", count=count)
    return count
