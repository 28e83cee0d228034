"""Devices by state: of the cluster, of nodes, of pools. One grouped query each."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, Q

from dra.names import PoolKey
from inventory.choices import DeviceState
from inventory.models import Cluster, Device

Counts = dict[str, int]
"""State → number of devices; states without a device may be absent."""


def state_counts(cluster: Cluster) -> Counts:
    """All devices of the cluster, every state named."""
    rows = Device.objects.filter(cluster=cluster).values_list("state")
    return {state.value: 0 for state in DeviceState} | dict(rows.annotate(Count("pk")))


def counts_by_node(
    cluster: Cluster, node_names: Iterable[str]
) -> dict[str, dict[str, Counts]]:
    """Node → driver → counts, for these nodes."""
    rows = (
        Device.objects.filter(cluster=cluster, node_name__in=list(node_names))
        .values_list("node_name", "driver", "state")
        .annotate(Count("pk"))
        .order_by("driver")
    )
    found: dict[str, dict[str, Counts]] = {}
    for node, driver, state, number in rows:
        found.setdefault(node, {}).setdefault(driver, {})[state] = number
    return found


def counts_of_node(cluster: Cluster, node_name: str) -> dict[tuple[str, str], Counts]:
    """(driver, pool) → counts of those of its devices that are on this node."""
    rows = (
        Device.objects.filter(cluster=cluster, node_name=node_name)
        .values_list("driver", "pool", "state")
        .annotate(Count("pk"))
        .order_by("driver", "pool")
    )
    found: dict[tuple[str, str], Counts] = {}
    for driver, pool, state, number in rows:
        found.setdefault((driver, pool), {})[state] = number
    return found


def counts_by_pool(
    cluster: Cluster, pools: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], Counts]:
    """(driver, pool) → counts, for these pools."""
    wanted = set(pools)
    rows = (
        Device.objects.filter(cluster=cluster, pool__in={pool for _, pool in wanted})
        .values_list("driver", "pool", "state")
        .annotate(Count("pk"))
    )
    found: dict[tuple[str, str], Counts] = {}
    for driver, pool, state, number in rows:
        if (driver, pool) in wanted:
            found.setdefault((driver, pool), {})[state] = number
    return found


def counts_where(cluster: Cluster, condition: Q) -> dict[PoolKey, Counts]:
    """Pool → counts of its devices for which ``condition`` holds, by driver and name."""
    rows = (
        Device.objects.filter(condition, cluster=cluster)
        .values_list("driver", "pool", "state")
        .annotate(Count("pk"))
        .order_by("driver", "pool")
    )
    found: dict[PoolKey, Counts] = {}
    for driver, pool, state, number in rows:
        found.setdefault(PoolKey(driver, pool), {})[state] = number
    return found


def of_no_single_node(cluster: Cluster) -> int:
    """How many devices several nodes reach, or none."""
    return Device.objects.filter(cluster=cluster, node_name="").count()


def total(counts: Iterable[Counts]) -> Counts:
    """The sum of several counts."""
    found: Counts = {}
    for one in counts:
        for state, number in one.items():
            found[state] = found.get(state, 0) + number
    return found


def sentence(counts: Counts) -> str:
    """``412 of 1,024 devices free.`` and what the others are."""
    all_ = sum(counts.values())
    if not all_:
        return ""
    others = [
        f"{counts[state.value]:,} {state.label}"
        for state in DeviceState
        if state is not DeviceState.FREE and counts.get(state.value)
    ]
    rest = f" The others: {', '.join(others)}." if others else ""
    noun = "device" if all_ == 1 else "devices"
    return f"{counts.get(DeviceState.FREE, 0):,} of {all_:,} {noun} free.{rest}"
