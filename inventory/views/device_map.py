"""The device map: each node a strip, each device a cell, partitions in their device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from claims.queries import places
from inventory.choices import DeviceState
from inventory.filtersets import NodeFilter
from inventory.models import Cluster, Node
from inventory.queries import counts, devices, nodes, slices
from inventory.queries.devices import Placed
from inventory.views.kit import ClusterList
from web.converters import path_of
from web.pages import Column

Holders = dict[places.DeviceKey, list[str]]

NETWORK_SHOWN = 500
LABELS = {state.value: state.label for state in DeviceState}


@dataclass(frozen=True, slots=True)
class Strip:
    """One row of the map. ``drivers`` are (driver, its cells as HTML).

    ``free`` and ``total`` count those without a cell, ``left_out``, too.
    """

    name: str
    href: str
    drivers: Sequence[tuple[str, SafeString]]
    free: int
    total: int
    left_out: int = 0


def strips_of_nodes(cluster: Cluster, node_names: Sequence[str]) -> list[Strip]:
    """One strip per node, in the given order; two queries for any number."""
    found = devices.placed_on_nodes(cluster, node_names)
    holders = _holders(cluster, found)
    by_node: dict[str, list[Placed]] = {name: [] for name in node_names}
    for device in found:
        by_node[device.node_name].append(device)
    return [
        _strip(cluster, name, reverse("node", args=[cluster.name, name]), its, holders)
        for name, its in by_node.items()
    ]


def strips_without_node(cluster: Cluster) -> list[Strip]:
    """Network-attached devices: one strip per pool, cells of the first few hundred.

    Where there are more, one query more counts them, and pools without a cell have a
    strip all the same.
    """
    found = devices.placed_nowhere(cluster, NETWORK_SHOWN + 1)
    all_ = counts.counts_of_node(cluster, "") if len(found) > NETWORK_SHOWN else None
    found = found[:NETWORK_SHOWN]
    holders = _holders(cluster, found)
    by_pool: dict[tuple[str, str], list[Placed]] = {key: [] for key in all_ or ()}
    for device in found:
        by_pool.setdefault((device.driver, device.pool), []).append(device)
    return [
        _pool_strip(cluster, key, its, holders, all_[key] if all_ else None)
        for key, its in by_pool.items()
    ]


def strip_of_pool(
    cluster: Cluster, driver: str, pool: str, all_: counts.Counts
) -> Strip:
    """The devices of one pool, of which ``all_`` are the states."""
    its = devices.placed_in_pool(cluster, driver, pool, NETWORK_SHOWN)
    return _pool_strip(cluster, (driver, pool), its, _holders(cluster, its), all_)


def _pool_strip(
    cluster: Cluster,
    key: tuple[str, str],
    its: list[Placed],
    holders: Holders,
    all_: counts.Counts | None,
) -> Strip:
    href = reverse("pool", args=[cluster.name, *key])
    strip = _strip(cluster, key[1], href, its, holders)
    if all_ is None:
        return strip
    total = sum(all_.values())
    free = all_.get(DeviceState.FREE.value, 0)
    return replace(strip, free=free, total=total, left_out=total - len(its))


def _holders(cluster: Cluster, found: Iterable[Placed]) -> Holders:
    held = {(device.driver, device.pool) for device in found if device.holder_count}
    return places.holder_names(cluster, held) if held else {}


def _strip(
    cluster: Cluster, name: str, href: str, its: list[Placed], holders: Holders
) -> Strip:
    return Strip(
        name=name,
        href=href,
        drivers=[
            (driver, cells_of(cluster, list(group), holders))
            for driver, group in groupby(its, key=lambda device: device.driver)
        ],
        free=sum(device.state == DeviceState.FREE for device in its),
        total=len(its),
    )


def cells_of(
    cluster: Cluster, its: Sequence[Placed], holders: Holders, *, linked: bool = True
) -> SafeString:
    """Cells of devices of one driver; those on one counter set share a frame.

    The frame begins with the device that takes most of the set (the whole card),
    its partitions follow as small cells. A page of strips has thousands of cells, so
    they are put together from text that was escaped piece by piece. ``linked``: each
    leads to its device; not for devices that are only supposed.
    """
    nests: dict[tuple[str, str], list[Placed]] = {}
    for device in its:
        key = (device.pool, _counter_set(device) or f"\0{device.name}")
        nests.setdefault(key, []).append(device)
    base = escape(reverse("devices", args=[cluster.name])) if linked else ""
    parts = [_nest(base, members, holders) for members in nests.values()]
    return mark_safe("".join(parts))  # noqa: S308  # see above


def _nest(base: str, members: list[Placed], holders: Holders) -> str:
    if len(members) == 1:
        return _cell(base, members[0], holders, small=False)
    # More counters of its set consumed first: the whole device before its parts.
    ranked = sorted(members, key=lambda d: (-_counters_used(d), d.position))
    inner = "".join(
        _cell(base, device, holders, small=index > 0)
        for index, device in enumerate(ranked)
    )
    title = escape(_counter_set(members[0]))
    return f'<span class="nest" title="{title}">{inner}</span>'


def _cell(base: str, device: Placed, holders: Holders, *, small: bool) -> str:
    names = holders.get((device.driver, device.pool, device.name), [])
    by = f", held by {', '.join(names[:3])}" if names else ""
    label = escape(f"{device.name}: {LABELS.get(device.state, device.state)}{by}")
    path = escape(path_of(device.driver, device.pool, device.name))
    css = f"{device.state.replace(' ', '-')}{' small' if small else ''}"
    if not base:
        return f'<span class="cell {css}" title="{label}"></span>'
    return f'<a class="cell {css}" href="{base}{path}" title="{label}"></a>'


def _counter_set(device: Placed) -> str:
    first = device.counters[0] if device.counters else None
    return str(first.get("counterSet", "")) if isinstance(first, dict) else ""


def _counters_used(device: Placed) -> int:
    first = device.counters[0] if device.counters else {}
    return len(first.get("counters") or ()) if isinstance(first, dict) else 0


class DeviceMap(ClusterList[Node]):
    """A page of nodes as strips; filters and paging of the node list."""

    title = "Device map"
    name = "device-map"
    noun = ("node", "nodes")
    filterset_class = NodeFilter
    template_name = "inventory/map.html"
    results_template = "inventory/map.html#results"
    refresh_on = ("ResourceSlice", "ResourceClaim", "DeviceTaintRule")
    nothing_yet = "The watch has not seen a node of this cluster."
    page_size = 20
    page_sizes = (20, 50, 100)
    columns = (Column("name", "Node", sort=("name",)),)

    def queryset(self) -> QuerySet[Node]:
        return nodes.node_rows(self.cluster)

    def filter_options(self) -> dict[str, list[str]]:
        return {
            "zone": nodes.zones(self.cluster),
            "instance_type": nodes.instance_types(self.cluster),
            "driver": slices.drivers(self.cluster),
        }

    def sentence(self) -> str:
        return counts.sentence(counts.state_counts(self.cluster))

    def extra(self) -> dict[str, object]:
        page = self.current_page
        names = [node.name for node in page.object_list]
        last = page.number == self.paginator.num_pages and not self.is_filtered
        return super().extra() | {
            "strips": strips_of_nodes(self.cluster, names),
            "network": strips_without_node(self.cluster) if last else [],
            "states": list(DeviceState),
        }
