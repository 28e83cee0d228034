"""Celery tasks of no single app: by the clock, idempotent, each calls one thing."""

from __future__ import annotations

from typing import Any, cast

from celery import shared_task
from django.contrib.sessions.models import Session
from django.utils import timezone

from allocator.findings.pruning import prune_findings
from claims.services.record import tidy as tidy_record
from dra_portal.watching.reasons import ReasonNudge
from inventory.models import Cluster
from inventory.services import leaving


@shared_task(name="dra_portal.tasks.nudge_waiting", acks_late=False)
def nudge_waiting() -> None:
    """Ask why claims wait where that is not known: what the watch asked was lost."""
    ReasonNudge().step()


@shared_task(name="dra_portal.tasks.tidy")
def tidy() -> dict[str, Any]:
    """Drop what is kept no longer: sessions, records of writes, findings that ended."""
    ended, _ = (
        cast("Any", Session.objects).filter(expire_date__lt=timezone.now()).delete()
    )
    for cluster in Cluster.objects.all():
        tidy_record(cluster)
    prune_findings()
    return {"sessions": ended}


@shared_task(name="dra_portal.tasks.delete_left_clusters")
def delete_left_clusters() -> int:
    """Go on deleting clusters that clusters.yaml has not named for long."""
    return leaving.delete_left()
