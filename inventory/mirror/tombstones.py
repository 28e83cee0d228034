"""Tombstones are news for snapshots, not history: old ones go."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Max
from django.utils import timezone

from inventory.mirror.writing import ALWAYS, Guard, writing
from inventory.models import Cluster, Tombstone

KEEP_COUNT = 10_000
KEEP_AGE = timedelta(hours=1)


def prune_tombstones(
    cluster_id: int,
    *,
    guard: Guard = ALWAYS,
    keep_count: int = KEEP_COUNT,
    keep_age: timedelta = KEEP_AGE,
) -> int:
    """Delete tombstones beyond the newest ``keep_count`` or older than ``keep_age``.

    ``Cluster.pruned_seq`` becomes the greatest ``seq`` among them, in the same
    transaction: a snapshot that is not newer has missed a deletion and is built
    anew. Returns how many were deleted.
    """
    rows = Tombstone.objects.filter(cluster_id=cluster_id)
    if not rows.exists():
        return 0
    with writing(cluster_id, guard):
        old = rows.filter(deleted_at__lt=timezone.now() - keep_age)
        limit = old.aggregate(limit=Max("seq"))["limit"] or 0
        surplus = rows.order_by("-seq").values_list("seq", flat=True)
        limit = max(limit, *surplus[keep_count : keep_count + 1], 0)
        if not limit:
            return 0
        deleted, _ = rows.filter(seq__lte=limit).delete()
        Cluster.objects.filter(pk=cluster_id, pruned_seq__lt=limit).update(
            pruned_seq=limit
        )
        return deleted
