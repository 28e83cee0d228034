"""What every node sees of a snapshot's pools, worked out once and kept.

A node's view depends on the node, the slices and the gates alone, so it serves
every question until one of these changes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Hashable, Mapping
from typing import Any, cast

import msgspec

from dra.allocation.errors import AllocationError
from dra.allocation.features import Features
from dra.allocation.quirks import Quirk
from dra.errors import SelectorError
from dra.names import PoolKey
from dra.node_pools import NodePool, gather, pools_for_node, selects_node
from dra.objects import Node, ResourceSlice
from dra.pools import Pool
from dra.snapshot import Snapshot


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NodeView:
    """The pools of one node in the order of the search.

    ``pieces`` are the slices whose devices the search walks through,
    ``elsewhere`` those whose devices only count as users of counters. ``fixed`` is
    equal for nodes that differ in nothing but their devices, None for a node that
    is like no other.
    """

    node: Node
    sources: tuple[Pool, ...]
    pools: tuple[NodePool, ...]
    pieces: tuple[ResourceSlice, ...]
    elsewhere: tuple[ResourceSlice, ...]
    fixed: Hashable


class Layout:
    """The views of all nodes, each made when it is first asked for."""

    def __init__(
        self,
        snapshot: Snapshot,
        features: Features,
        quirks: Collection[Quirk],
        *,
        classic: bool,
        earlier: Layout | None,
    ) -> None:
        self.snapshot = snapshot
        self.features = features
        self.quirks = quirks
        self.classic = classic
        self.troubled = self._troubled()
        self._views: dict[str, NodeView] = {}
        self._earlier: Mapping[str, NodeView] = earlier._views if earlier else {}

    def holds_for(self, snapshot: Snapshot) -> bool:
        own = self.snapshot
        return own.nodes is snapshot.nodes and own.pools is snapshot.pools

    def view(self, name: str) -> NodeView:
        """Raises AllocationError for a node that does not exist or a selector of
        nodes that cannot be read."""
        view = self._views.get(name)
        if view is None:
            node = self.snapshot.nodes.get(name)
            if node is None:
                raise AllocationError(f"node {name} does not exist")
            view = self._views[name] = self._reused(node) or self._made(node)
        return view

    def _reused(self, node: Node) -> NodeView | None:
        view = self._earlier.get(node.metadata.name)
        if view is None or view.node is not node:
            return None
        sources = self._sources(node)
        same = len(sources) == len(view.sources) and all(
            a is b for a, b in zip(sources, view.sources, strict=True)
        )
        return view if same else None

    def _sources(self, node: Node) -> tuple[Pool, ...]:
        pools = self.snapshot.pools
        keys = self.snapshot.pool_keys_for_node(
            node.metadata.name, foreign_counters=False
        )
        return tuple(pools[key] for key in dict.fromkeys((*keys, *self.troubled)))

    def _made(self, node: Node) -> NodeView:
        pools = self._pools(node)
        usable = [pool for pool in pools if pool.usable]
        return NodeView(
            node=node,
            sources=self._sources(node),
            pools=pools,
            pieces=tuple(s for pool in usable for s in pool.slices),
            elsewhere=tuple(s for pool in usable for s in pool.elsewhere),
            fixed=self._fixed(node, pools),
        )

    def _pools(self, node: Node) -> tuple[NodePool, ...]:
        try:
            pools = pools_for_node(
                self.snapshot,
                node,
                self.features,
                foreign_counters=False,
                also=self.troubled,
            )
        except SelectorError as error:
            raise AllocationError(
                f"gather pool information: failed to perform node selection: {error}"
            ) from error
        if Quirk.NEWER_GENERATION_UNSEEN not in self.quirks:
            newest = self.snapshot.pools
            pools = tuple(
                pool
                for pool in pools
                if pool.generation == newest[_key(pool)].generation
            )
        if self.classic:
            pools = tuple(self._as_listed(pool) for pool in pools)
        return pools

    def _as_listed(self, pool: NodePool) -> NodePool:
        """The pool with its slices in the order in which they came."""
        came = [s.metadata.name for s in self.snapshot.pools[_key(pool)].arrival]
        order = {name: place for place, name in enumerate(came)}
        slices = sorted(pool.slices, key=lambda s: order[s.metadata.name])
        return dataclasses.replace(pool, slices=tuple(slices))

    def _troubled(self) -> tuple[PoolKey, ...]:
        """Pools of counters that a node may notice although none of it is its own.

        In 1.36 every node looks at all pools with counters (allocator.md
        section 13). One that is whole and valid changes nothing for other nodes.
        """
        if Quirk.COUNTER_POOLS_EVERYWHERE not in self.quirks:
            return ()
        found = []
        for key in self.snapshot.pool_index.counters:
            pool = self.snapshot.pools[key]
            homes = {piece.spec.node_name for piece in pool.arrival}
            if len(homes) == 1 and None not in homes and "" not in homes:
                seen = gather(pool, _NOWHERE, self.features)
                if seen is None or seen.usable:
                    continue
            found.append(key)
        return tuple(found)

    def _fixed(self, node: Node, pools: tuple[NodePool, ...]) -> Hashable:
        newest = self.snapshot.pools
        names: dict[str, int] = {}
        parts: list[Hashable] = []
        for pool in pools:
            if pool.generation != newest[_key(pool)].generation:
                return None
            if not pool.usable:
                parts.append((bool(pool.incomplete), bool(pool.invalid)))
                continue
            chosen = []
            for piece in pool.slices:
                on_node = _on_node(piece, node)
                if on_node is None:
                    return None
                # How many terms decides whether a result can be written down.
                reach = piece.spec.node_selector
                terms = len(reach.node_selector_terms or ()) if reach else 0
                chosen.append((len(piece.spec.devices or ()), on_node, terms))
            others = tuple(len(piece.spec.devices or ()) for piece in pool.elsewhere)
            # In 1.36 two pools of one name share their counters.
            same_name = names.setdefault(pool.name, len(names))
            parts.append((same_name, tuple(chosen), others, _counters(pool)))
        return tuple(parts)


_NOWHERE = Node()
"""A node that is home to nothing."""


def layout_of(
    snapshot: Snapshot, features: Features, quirks: Collection[Quirk], *, classic: bool
) -> Layout:
    """The layout of a snapshot; an earlier snapshot's views serve where they hold."""
    memo = snapshot.device_tables.memo
    seen = {Quirk.COUNTER_POOLS_EVERYWHERE, Quirk.NEWER_GENERATION_UNSEEN} & set(quirks)
    key = ("layout", features.partitionable_devices, classic, frozenset(seen))
    layout = cast("Layout | None", memo.get(key))
    if layout is None or not layout.holds_for(snapshot):
        layout = Layout(snapshot, features, quirks, classic=classic, earlier=layout)
        memo[key] = layout
    return layout


def _key(pool: NodePool) -> PoolKey:
    return PoolKey(pool.driver, pool.name)


def _on_node(piece: ResourceSlice, node: Node) -> Hashable:
    """Which devices of a slice the node reaches where each says so itself.

    None where that cannot be read.
    """
    if not piece.spec.per_device_node_selection:
        return ()
    try:
        return tuple(selects_node(d, node) for d in piece.spec.devices or ())
    except SelectorError:
        return None


def _counters(pool: NodePool) -> bytes:
    if not pool.counter_slices:
        return b""
    published: list[Any] = [piece.spec.shared_counters for piece in pool.counter_slices]
    return msgspec.msgpack.encode(published)
