"""Cluster rows follow ``clusters.yaml``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import structlog
from django.db import transaction
from django.utils import timezone

from cluster.config import ClusterConfig
from cluster.resources import RESOURCES
from cluster.store import State
from inventory import models as inventory
from inventory.mirror import ALWAYS, Guard, writing
from inventory.services import leaving

log = structlog.get_logger("dra_portal.watch")

_LEAP: Final = 1_000_000
"""More changes than a database can lose when it fails over."""


def sync_clusters(configs: Sequence[ClusterConfig]) -> dict[str, int]:
    """Make the cluster rows equal to ``configs``; their keys by name.

    Each gets a watch state per kind at once, so a page never shows half of them. A
    cluster whose origin changed is listed anew: versions of another server mean
    nothing. One that is named no more is kept for a while, and goes on as before when
    it comes back; unless it was being deleted: then it begins anew.
    """
    with transaction.atomic():
        named = {config.name for config in configs}
        # Locked, so that nobody begins to delete one that comes back.
        for cluster in inventory.Cluster.objects.select_for_update():
            if cluster.name not in named:
                leaving.leave(cluster)
            elif cluster.deleted_by:
                leaving.delete(cluster)
        return {config.name: _sync(config) for config in configs}


def note(
    cluster_id: int, guard: Guard, *, error: str, version: str | None = None
) -> None:
    """Write what talking to the cluster told; ``error`` is one sentence or empty."""
    values: dict[str, Any] = {"error": error, "checked_at": timezone.now()}
    if version is not None:
        values["version"] = version[:100]
    with writing(cluster_id, guard):
        inventory.Cluster.objects.filter(pk=cluster_id).update(**values)


def renumber(cluster_id: int, guard: Guard = ALWAYS) -> None:
    """Have every process make its picture of the cluster anew.

    A database that failed over may have lost what was committed last. Processes that had
    seen it would take other changes, which get the same numbers, for those that they
    know; so what comes now gets numbers that nobody has seen, and whoever has older ones
    is told that it has missed something (:mod:`allocator.snapshots`).
    """
    with writing(cluster_id, guard) as writer:
        newest = writer.seq + _LEAP
        inventory.Cluster.objects.filter(pk=cluster_id).update(
            seq=newest, pruned_seq=newest
        )


def _sync(config: ClusterConfig) -> int:
    wanted = {
        "source": config.source,
        "origin": config.origin[:500],
        "read_only": config.read_only,
        "feature_gates": dict(config.feature_gates),
    }
    cluster, created = inventory.Cluster.objects.get_or_create(
        name=config.name, defaults=wanted
    )
    states = inventory.WatchState.objects.filter(cluster=cluster)
    if not created:
        if (cluster.source, cluster.origin) != (config.source, wanted["origin"]):
            log.info("watch.cluster_moved", cluster=config.name, origin=config.origin)
            states.update(resource_version="")
        if cluster.left_at is not None:
            log.info("watch.cluster_came_back", cluster=config.name)
        inventory.Cluster.objects.filter(pk=cluster.pk).update(
            **wanted, error="", left_at=None
        )
    known = set(states.values_list("kind", flat=True))
    states.update(state=State.STARTING, error="")
    inventory.WatchState.objects.bulk_create(
        inventory.WatchState(cluster=cluster, kind=resource.kind)
        for resource in RESOURCES
        if resource.kind not in known
    )
    return cluster.pk
