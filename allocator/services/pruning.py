"""Runs that ended long ago are forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from allocator.choices import FINAL, RunKind, RunState, StepState
from allocator.models import AllocationRun, PoolLock, RepairStep, RunBatch
from allocator.services.stranding import left_without
from inventory.models import Cluster

_CHUNK: Final = 1000

log = structlog.get_logger("allocator.pruning")


def prune_runs() -> int:
    """Delete runs whose end is older than ``RUN_HISTORY_DAYS``; how many.

    Their steps and transitions go with them, then batches without runs and locks that
    nobody has held for that long. Rewritings of claims that are still without their
    allocation stay: nothing else tells of it. 0 days: nothing is ever deleted.
    """
    if settings.RUN_HISTORY_DAYS <= 0:
        return 0
    oldest = timezone.now() - timedelta(days=settings.RUN_HISTORY_DAYS)
    old = AllocationRun.objects.filter(state__in=FINAL, finished_at__lt=oldest)
    old = old.exclude(kind=RunKind.REWRITE, claim_uid__in=_left_without(old))
    count = 0
    while chunk := list(old.values_list("pk", flat=True)[:_CHUNK]):
        with transaction.atomic():
            _settle_steps(chunk)
            AllocationRun.objects.filter(pk__in=chunk).delete()
        count += len(chunk)
    RunBatch.objects.filter(runs__isnull=True, created_at__lt=oldest).delete()
    PoolLock.objects.filter(until__lt=oldest).delete()
    if count:
        log.info("runs.pruned", count=count)
    return count


def _settle_steps(run_ids: Sequence[UUID]) -> None:
    """Steps of repairs say themselves what came of these runs from here on."""
    steps = RepairStep.objects.filter(run__in=run_ids).select_related("run")
    for step in steps:
        run = step.run
        if run is None:
            continue
        done = run.state == RunState.DONE
        step.state = StepState.DONE if done else StepState.FAILED
        step.result, step.finished_at = run.reason, run.finished_at
        step.save(update_fields=["state", "result", "finished_at"])


def _left_without(old: QuerySet[AllocationRun]) -> set[str]:
    """Uids of claims of ``old`` runs that hold nothing although pods use them."""
    failed = old.filter(kind=RunKind.REWRITE, state=RunState.FAILED)
    uids = set(failed.values_list("claim_uid", flat=True))
    if not uids:
        return uids
    clusters = Cluster.objects.filter(runs__in=failed).distinct()
    return set().union(*(left_without(cluster, uids) for cluster in clusters))
