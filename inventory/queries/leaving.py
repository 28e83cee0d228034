"""Clusters that ``clusters.yaml`` names no more: kept for a while, followed by nobody."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from inventory.models import Cluster


def followed() -> QuerySet[Cluster]:
    """The clusters that ``clusters.yaml`` names."""
    return Cluster.objects.filter(left_at=None)


def kept_until(cluster: Cluster) -> datetime | None:
    """When a cluster that left will be deleted; None for one that is followed."""
    if cluster.left_at is None:
        return None
    return cluster.left_at + timedelta(days=settings.LEFT_CLUSTER_DAYS)


def why_left(cluster: Cluster) -> str:
    """A sentence for everybody who sees a cluster that left; empty for any other."""
    if cluster.left_at is None:
        return ""
    if cluster.deleted_by:
        return (
            f"The cluster {cluster.name} is not in clusters.yaml and is being deleted with "
            f"all that is kept of it (by {cluster.deleted_by}): put back into the file it "
            "begins anew."
        )
    until = kept_until(cluster)
    assert until is not None
    due = until <= timezone.now()
    when = "within minutes" if due else f"on {_moment(until)}"
    return (
        f"The cluster {cluster.name} has not been in clusters.yaml since "
        f"{_moment(cluster.left_at)}: nothing of it is watched or written, and it will be "
        f"deleted {when} with its runs and history, unless you put it back into the file; "
        "an administrator can delete it now."
    )


def _moment(at: datetime) -> str:
    return f"{at:%d %b %Y %H:%M} UTC"
