"""Clusters leave ``clusters.yaml``, come back, and are deleted in the end.

A slip in that file must not cost years of history, so a cluster that is missing there is
only marked. Deleting one begins with a name in ``deleted_by``, under the lock of its row,
and takes away a bounded number of rows in each transaction; the row of the cluster itself
goes last. Killed in between, it is gone on with.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

import structlog
from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from cluster.store import State
from inventory.models import Cluster, WatchState
from inventory.queries.leaving import kept_until

PORTAL: Final = "the portal"
SECONDS: Final = 90.0
"""For one call that deletes; the next one goes on."""
_BATCH: Final = 1_000

type Table = tuple[type[models.Model], str]
"""A model, and the way from it to the cluster as a lookup."""

log = structlog.get_logger("dra_portal.watch")


class StillNamedError(Exception):
    """The cluster is in ``clusters.yaml``; the text is a sentence for the user."""


def leave(cluster: Cluster) -> None:
    """What holds for a cluster from the moment that ``clusters.yaml`` names it no more.

    ``cluster`` is a locked row. It is deleted at once where nothing is to be kept.
    """
    if cluster.left_at is not None:
        return
    if settings.LEFT_CLUSTER_DAYS == 0:
        delete(cluster)
        return
    cluster.left_at, cluster.read_only, cluster.error = timezone.now(), True, ""
    cluster.save(update_fields=["left_at", "read_only", "error"])
    WatchState.objects.filter(cluster=cluster).update(state=State.STOPPED, error="")
    log.warning(
        "watch.cluster_left",
        cluster=cluster.name,
        kept_until=str(kept_until(cluster)),
        advice="Put it back into clusters.yaml, and it goes on as before.",
    )


def ask_deletion(cluster: Cluster, by: str) -> None:
    """Have a cluster that left deleted in the next minutes. Raises StillNamedError."""
    left = Cluster.objects.filter(pk=cluster.pk, left_at__isnull=False)
    if left.filter(deleted_by="").update(deleted_by=by[:150]):
        log.info("cluster.deletion_asked", cluster=cluster.name, by=by)
    elif not left.exists():
        raise StillNamedError(
            f"The cluster {cluster.name} is in clusters.yaml, so it is watched: take it "
            "out of the file first."
        )


def delete_left(*, seconds: float = SECONDS) -> int:
    """Delete what left long enough ago, and what somebody wants deleted; how many are gone."""
    limit = timezone.now() - timedelta(days=settings.LEFT_CLUSTER_DAYS)
    due = Cluster.objects.filter(left_at__lte=limit, deleted_by="")
    due.update(deleted_by=PORTAL)
    end = time.monotonic() + seconds
    going = Cluster.objects.exclude(deleted_by="").values_list("pk", flat=True)
    return sum(_delete_until(pk, end) for pk in list(going))


def delete(cluster: Cluster) -> None:
    """Delete a cluster with all that belongs to it, in the caller's transaction."""
    log.info("watch.cluster_removed", cluster=cluster.name)
    for table in tables():
        while _delete_some(table, cluster.pk):
            pass
    cluster.delete()


def tables() -> list[Table]:
    """Every table whose rows go with a cluster; children before what they hang on."""
    direct = dict(_children(Cluster))
    found: dict[type[models.Model], str] = {}
    seen: set[type[models.Model]] = {Cluster}

    def walk(model: type[models.Model], way: str) -> None:
        for child, field in _children(model):
            if child in seen:
                continue
            seen.add(child)
            own = direct.get(child) or f"{field}__{way}"
            walk(child, own)
            found[child] = own

    walk(Cluster, "")
    return list(found.items())


def _children(model: type[models.Model]) -> Iterator[tuple[type[models.Model], str]]:
    """Models whose rows a deleted row of ``model`` takes with it, by which field."""
    for relation in model._meta.get_fields(include_hidden=True):
        if not isinstance(relation, models.ForeignObjectRel):
            continue
        if relation.on_delete is models.CASCADE:
            yield relation.related_model, relation.field.name


def _delete_until(pk: int, end: float) -> bool:
    """Whether the cluster is gone; False when the time was over or it has come back."""
    for table in tables():
        full = True
        while full:
            if time.monotonic() >= end:
                return False
            with transaction.atomic():
                if _going(pk) is None:
                    return False
                full = _delete_some(table, pk) == _BATCH
    with transaction.atomic():
        cluster = _going(pk)
        if cluster is None:
            return False
        cluster.delete()
    log.info("cluster.deleted", cluster=cluster.name, by=cluster.deleted_by)
    return True


def _going(pk: int) -> Cluster | None:
    """The locked row, while it is still to be deleted."""
    rows = Cluster.objects.select_for_update().exclude(deleted_by="")
    return rows.filter(pk=pk, left_at__isnull=False).first()


def _delete_some(table: Table, cluster_id: int) -> int:
    model, way = table
    rows: Any = model._base_manager
    of_cluster = rows.filter(**{way: cluster_id}).order_by()
    pks = list(of_cluster.values_list("pk", flat=True)[:_BATCH])
    if pks:
        # Without the raw objects, which Django would read before it deletes them.
        rows.filter(pk__in=pks).only("pk").delete()
    return len(pks)
