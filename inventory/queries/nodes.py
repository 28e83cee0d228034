"""Nodes for lists and pages."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from inventory.choices import DeviceState
from inventory.models import Cluster, Device, Node


def node_rows(cluster: Cluster) -> QuerySet[Node]:
    """Nodes of a cluster, the raw object left out."""
    return Node.objects.filter(cluster=cluster).defer("raw")


def with_device_counts(nodes: QuerySet[Node]) -> QuerySet[Node]:
    """Adds ``device_total`` and ``device_free``: only for sorting by them."""
    devices = (
        Device.objects.filter(cluster=OuterRef("cluster"), node_name=OuterRef("name"))
        .order_by()
        .values("node_name")
    )
    # The state is no condition: it would draw the planner to the index by state.
    free = Count("pk", filter=Q(state=DeviceState.FREE))
    return nodes.annotate(
        device_total=_number(devices.annotate(n=Count("pk")).values("n")),
        device_free=_number(devices.annotate(n=free).values("n")),
    )


def _number(rows: QuerySet[Any, Any]) -> Coalesce:
    return Coalesce(Subquery(rows, output_field=IntegerField()), 0)


def zones(cluster: Cluster) -> list[str]:
    """The zones that nodes are in, by name."""
    return _distinct(cluster, "zone")


def instance_types(cluster: Cluster) -> list[str]:
    """The instance types of nodes, by name."""
    return _distinct(cluster, "instance_type")


def node_counts(cluster: Cluster) -> dict[str, int]:
    """``all``, ``not ready`` and ``cordoned``."""
    rows = Node.objects.filter(cluster=cluster)
    counted = rows.values_list("ready", "unschedulable").annotate(n=Count("pk"))
    found = {"all": 0, "not ready": 0, "cordoned": 0}
    for ready, cordoned, number in counted:
        found["all"] += number
        found["not ready"] += 0 if ready else number
        found["cordoned"] += number if cordoned else 0
    return found


def _distinct(cluster: Cluster, column: str) -> list[str]:
    rows = Node.objects.filter(cluster=cluster).exclude(**{column: ""})
    return list(
        rows.order_by(F(column)).values_list(column, flat=True).distinct()[:200]
    )
