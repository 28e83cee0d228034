"""What a node's page says of devices that the node shares with other nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

import numpy as np
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from allocator import snapshots
from dra.names import PoolKey
from dra.node_reach import WAYS, Way
from inventory.choices import DeviceState
from inventory.models import Cluster
from inventory.queries import counts, slices
from inventory.queries.picked import picked
from inventory.selecting import NoSuchNode, Reached, reached
from inventory.views import links
from web.pages import cells
from web.pages.addresses import asking

POOLS_SHOWN: Final = 50
TROUBLES_SHOWN: Final = 3
HELD: Final = (DeviceState.IN_USE, DeviceState.SHARED)

WORDS: Final = {
    Way.EVERY: "The slice is for all nodes.",
    Way.SELECTOR: "The node matches the node selector of the slice.",
    Way.DEVICE: "Each device says for which nodes it is, and this is one of several.",
}


@dataclass(frozen=True, slots=True)
class SharedPool:
    """One pool with devices that the node shares; ``held_href`` lists who has them."""

    key: PoolKey
    ways: SafeString
    badge: SafeString
    problem: str
    counts: counts.Counts
    held: int
    href: str
    held_href: str


@dataclass(frozen=True, slots=True)
class SharedDevices:
    """``published``: whether any driver publishes devices that no slice ties to a node.

    ``doubt`` says why nobody knows what the node reaches.
    """

    published: bool = False
    pools: Sequence[SharedPool] = ()
    pools_left: int = 0
    counts: counts.Counts = field(default_factory=dict)
    troubles: Sequence[str] = ()
    troubles_left: int = 0
    doubt: str = ""

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def shared_devices(cluster: Cluster, node_name: str) -> SharedDevices:
    """Bounded: the first pools by driver and name, the others counted.

    One query where no slice is for several nodes; else those of the snapshot, of its
    slices' keys once, and two more.
    """
    if not slices.any_for_several_nodes(cluster):
        return SharedDevices()
    try:
        found = reached(cluster, snapshots.current(cluster), node_name)
    except NoSuchNode as error:
        return SharedDevices(published=True, doubt=str(error))
    by_pool = {}
    if found.reach.with_others.any():
        condition = picked(cluster, found.table, found.reach.with_others)
        by_pool = counts.counts_where(cluster, condition)
    shown = dict(list(by_pool.items())[:POOLS_SHOWN])
    troubles = found.reach.troubles
    return SharedDevices(
        published=True,
        pools=list(_pools(cluster, node_name, found, shown)),
        pools_left=len(by_pool) - len(shown),
        counts=counts.total(by_pool.values()),
        troubles=troubles[:TROUBLES_SHOWN],
        troubles_left=max(0, len(troubles) - TROUBLES_SHOWN),
    )


def _pools(
    cluster: Cluster,
    node_name: str,
    found: Reached,
    shown: dict[PoolKey, counts.Counts],
) -> Iterator[SharedPool]:
    if not shown:
        return
    rows = {PoolKey(row.driver, row.name): row for row in slices.pools(cluster, shown)}
    ways = _ways(found, shown)
    devices = reverse("devices", args=[cluster.name])
    for key, its in shown.items():
        row = rows.get(key)
        href = asking(
            devices,
            driver=key.driver,
            pool=key.name,
            reaches=node_name,
            one_node="false",
        )
        states = urlencode({"state": [state.value for state in HELD]}, doseq=True)
        yield SharedPool(
            key=key,
            ways=cells.joined(
                format_html(
                    '<span class="nowrap" title="{}">{}</span>', WORDS[way], way.value
                )
                for way in ways.get(key, ())
            ),
            badge=links.pool_badge(row) if row else SafeString(""),
            problem=row.problem if row else "",
            counts=its,
            held=sum(its.get(state.value, 0) for state in HELD),
            href=href,
            held_href=f"{href}&{states}",
        )


def _ways(
    found: Reached, pools: dict[PoolKey, counts.Counts]
) -> dict[PoolKey, list[Way]]:
    """How the node comes to the shared devices of each of ``pools``."""
    codes: dict[PoolKey, set[int]] = {}
    for _, pool, start, stop in found.table.listing.blocks:
        if pool in pools:
            its = found.reach.codes[start:stop]
            codes.setdefault(pool, set()).update(np.unique(its).tolist())
    return {
        pool: [way for code, way in enumerate(WAYS) if code in its and way in WORDS]
        for pool, its in codes.items()
    }
