"""Pools and the slices they are made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import OuterRef, Q, QuerySet, Subquery

from dra.names import PoolKey
from inventory.models import Cluster, Pool, ResourceSlice


def pool_rows(cluster: Cluster) -> QuerySet[Pool]:
    """Pools with ``published_at``: when the newest slice of their generation came."""
    slices = ResourceSlice.objects.filter(
        cluster=OuterRef("cluster"),
        driver=OuterRef("driver"),
        pool_name=OuterRef("name"),
        generation=OuterRef("generation"),
    )
    newest = slices.order_by("-created_at").values("created_at")[:1]
    return Pool.objects.filter(cluster=cluster).annotate(published_at=Subquery(newest))


def pools_of_node(
    cluster: Cluster, node_name: str, with_devices: Iterable[tuple[str, str]]
) -> QuerySet[Pool]:
    """Pools of a node, and those of several nodes ``with_devices`` (driver, pool) there."""
    on_it = Q(node_name=node_name)
    for driver, name in with_devices:
        on_it |= Q(driver=driver, name=name)
    return pool_rows(cluster).filter(on_it).order_by("driver", "name")


def pools(cluster: Cluster, keys: Collection[PoolKey]) -> list[Pool]:
    """Those of ``keys`` that there are."""
    rows = Pool.objects.filter(cluster=cluster, name__in={key.name for key in keys})
    return [row for row in rows if PoolKey(row.driver, row.name) in keys]


def any_for_several_nodes(cluster: Cluster) -> bool:
    """Whether a slice with devices does not name the one node that they are for."""
    rows = ResourceSlice.objects.filter(cluster=cluster, node_name="")
    return rows.filter(device_count__gt=0).exists()


def slice_rows(cluster: Cluster) -> QuerySet[ResourceSlice]:
    """Slices of a cluster, the raw object left out."""
    return ResourceSlice.objects.filter(cluster=cluster).defer("raw")


def slices_of_pool(cluster: Cluster, driver: str, pool: str) -> QuerySet[ResourceSlice]:
    """Newest generation first, then by name."""
    return (
        slice_rows(cluster)
        .filter(driver=driver, pool_name=pool)
        .order_by("-generation", "name")
    )


def drivers(cluster: Cluster) -> list[str]:
    """The drivers that publish something, by name."""
    rows = Pool.objects.filter(cluster=cluster).order_by("driver")
    return list(rows.values_list("driver", flat=True).distinct()[:200])


def pool_problems(cluster: Cluster) -> dict[str, int]:
    """``all``, ``incomplete`` and ``invalid`` pools; one that is both is invalid, as
    its badge says."""
    rows = Pool.objects.filter(cluster=cluster)
    return {
        "all": rows.count(),
        "incomplete": rows.filter(complete=False, valid=True).count(),
        "invalid": rows.filter(valid=False).count(),
    }
