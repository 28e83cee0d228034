"""Which pools concern a node: a snapshot's way to them without looking at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from dra.names import PoolKey
from dra.pools import Pool


@dataclass(frozen=True, slots=True)
class PoolIndex:
    """Which pools a node has to look at."""

    by_node: Mapping[str, tuple[PoolKey, ...]]
    """Pools with a device slice whose nodeName is this node."""
    networked: Mapping[PoolKey, None]
    """Pools with a device slice that names no node."""
    counters: Mapping[PoolKey, None]
    """Pools with a slice of shared counters."""

    def change(self, moves: Iterable[tuple[Pool | None, Pool | None]]) -> PoolIndex:
        """The index after each pool of ``moves`` changed from its old to its new form."""
        by_node = dict(self.by_node)
        networked = dict(self.networked)
        counters = dict(self.counters)
        for old, new in moves:
            before, after = _reach(old), _reach(new)
            if before == after:
                continue
            key = cast("Pool", new or old).key
            for node in before.nodes - after.nodes:
                left = tuple(k for k in by_node[node] if k != key)
                if left:
                    by_node[node] = left
                else:
                    del by_node[node]
            for node in after.nodes - before.nodes:
                by_node[node] = tuple(sorted((*by_node.get(node, ()), key)))
            for index, member in (
                (networked, after.networked),
                (counters, after.counters),
            ):
                index.pop(key, None)
                if member:
                    index[key] = None
        return PoolIndex(by_node, networked, counters)


class _Reach(NamedTuple):
    nodes: frozenset[str]
    networked: bool
    counters: bool


def _reach(pool: Pool | None) -> _Reach:
    slices = pool.arrival if pool else ()
    devices = [s.spec.node_name or "" for s in slices if not s.spec.shared_counters]
    return _Reach(
        nodes=frozenset(filter(None, devices)),
        networked="" in devices,
        counters=len(devices) < len(slices),
    )
