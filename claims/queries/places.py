"""Where claims and pods are: counts and names by node and by pool, for inventory pages."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, QuerySet

from claims.models import AllocatedDevice, Pod, ResourceClaim
from inventory.models import Cluster

DeviceKey = tuple[str, str, str]
"""driver, pool, device"""


def claim_counts_by_node(cluster: Cluster, node_names: Iterable[str]) -> dict[str, int]:
    """How many allocated claims name each of these nodes; absent: none."""
    rows = (
        ResourceClaim.objects.filter(cluster=cluster, node_name__in=list(node_names))
        .values_list("node_name")
        .annotate(Count("pk"))
    )
    return dict(rows)


def pods_on_node(cluster: Cluster, node_name: str) -> QuerySet[Pod]:
    """Pods with claims or of pod groups on this node, their claims prefetched."""
    return (
        Pod.objects.filter(cluster=cluster, node_name=node_name)
        .defer("raw")
        .prefetch_related("claims")
        .order_by("namespace", "name")
    )


def holder_names(
    cluster: Cluster, pools: Iterable[tuple[str, str]]
) -> dict[DeviceKey, list[str]]:
    """``namespace/name`` of the claims that hold devices of these pools; one query.

    A claim is named once, however many shares of a device it has. Admin access holds
    nothing: ``inventory.models.Device.holder_count`` counts the same claims.
    """
    wanted = set(pools)
    rows = (
        AllocatedDevice.objects.filter(
            cluster=cluster,
            driver__in={driver for driver, _ in wanted},
            pool__in={pool for _, pool in wanted},
            admin_access=False,
        )
        .order_by("claim__namespace", "claim__name")
        .values_list("driver", "pool", "device", "claim__namespace", "claim__name")
        .distinct()
    )
    found: dict[DeviceKey, list[str]] = {}
    for driver, pool, device, namespace, name in rows:
        if (driver, pool) in wanted:
            found.setdefault((driver, pool, device), []).append(f"{namespace}/{name}")
    return found
