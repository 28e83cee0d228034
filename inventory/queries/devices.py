"""Devices for lists, pages and maps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models import QuerySet

from inventory.models import Cluster, Device, DeviceTaintRule
from inventory.queries.cache import remembered
from inventory.queries.slices import drivers

SAMPLE = 20
"""Devices of each driver that are asked which attributes exist."""


def device_rows(cluster: Cluster) -> QuerySet[Device]:
    """Devices of a cluster without the columns that lists do not show."""
    return Device.objects.filter(cluster=cluster).defer("facts", "counters")


def device(cluster: Cluster, driver: str, pool: str, name: str) -> Device:
    """One device with its slice. Raises DoesNotExist.

    An invalid pool may publish a name twice; the first one counts.
    """
    rows = Device.objects.filter(cluster=cluster, driver=driver, pool=pool, name=name)
    found = rows.select_related("slice").defer("slice__raw").order_by("pk").first()
    if found is None:
        raise Device.DoesNotExist
    return found


def devices_of_slice(slice_pk: int) -> QuerySet[Device]:
    return Device.objects.filter(slice=slice_pk).order_by("position")


def devices_of_pool(cluster: Cluster, driver: str, pool: str) -> QuerySet[Device]:
    """In the order in which the allocator looks at them."""
    return (
        Device.objects.filter(cluster=cluster, driver=driver, pool=pool)
        .select_related("slice")
        .defer("slice__raw", "facts")
        .order_by("slice__name", "position")
    )


class Placed(NamedTuple):
    """What a map shows of a device: a page has thousands, so no model instances."""

    driver: str
    pool: str
    name: str
    node_name: str
    state: str
    holder_count: int
    counters: list[Any]
    position: int


def placed_on_nodes(cluster: Cluster, node_names: Iterable[str]) -> list[Placed]:
    """Devices of these nodes, by driver, pool, slice and position."""
    return _placed(Device.objects.filter(node_name__in=list(node_names)), cluster)


def placed_nowhere(cluster: Cluster, most: int) -> list[Placed]:
    """Devices that no single node owns (network-attached ones), the first ``most``."""
    return _placed(Device.objects.filter(node_name=""), cluster, most)


def placed_in_pool(cluster: Cluster, driver: str, pool: str, most: int) -> list[Placed]:
    """The first ``most`` devices of a pool."""
    return _placed(Device.objects.filter(driver=driver, pool=pool), cluster, most)


def _placed(
    rows: QuerySet[Device], cluster: Cluster, most: int | None = None
) -> list[Placed]:
    ordered = rows.filter(cluster=cluster).order_by(
        "driver", "pool", "slice_id", "position"
    )
    return [Placed(*row) for row in ordered.values_list(*Placed._fields)[:most]]


def attribute_names(cluster: Cluster) -> list[str]:
    """Names of attributes and capacities, from a sample of each driver's devices."""
    return remembered("attribute-names", cluster, lambda: _sampled_names(cluster))


def _sampled_names(cluster: Cluster) -> list[str]:
    names: set[str] = set()
    for driver in drivers(cluster):
        rows = Device.objects.filter(cluster=cluster, driver=driver)
        # Newest first: a new kind of node shows its attributes at once.
        for attributes, capacity in rows.order_by("-pk").values_list(
            "attributes", "capacity"
        )[:SAMPLE]:
            names.update(attributes, capacity)
    return sorted(names)


def rule_rows(cluster: Cluster) -> QuerySet[DeviceTaintRule]:
    return DeviceTaintRule.objects.filter(cluster=cluster)


def devices_of_rule(rule: DeviceTaintRule) -> QuerySet[Device]:
    """Devices that the rule's selector names (an empty part means any)."""
    wanted = {"driver": rule.driver, "pool": rule.pool, "name": rule.device}
    return device_rows(rule.cluster).filter(
        **{column: value for column, value in wanted.items() if value}
    )
