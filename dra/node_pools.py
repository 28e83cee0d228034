"""What the allocator sees of the pools for one node (allocator.md section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from dra.errors import SelectorError
from dra.labels import matches_node
from dra.names import PoolKey
from dra.objects import Node, NodeSelector, ResourceSlice
from dra.pool_faults import contradiction, unreadable_value, what_is_missing
from dra.pools import Pool, slice_name


class PoolFeatures(Protocol):
    """The feature gates that gathering depends on."""

    @property
    def partitionable_devices(self) -> bool: ...


class PoolSource(Protocol):
    """Where the pools come from: a :class:`dra.snapshot.Snapshot`."""

    @property
    def pools(self) -> Mapping[PoolKey, Pool]: ...

    def pool_keys_for_node(
        self, node_name: str, *, foreign_counters: bool
    ) -> Iterable[PoolKey]: ...


@dataclass(frozen=True, slots=True)
class NodePool:
    """What the allocator sees of a pool for one node.

    ``slices`` are the relevant device slices by name; ``counter_slices`` the
    relevant slices with shared counters. ``elsewhere`` are the device slices of
    the same generation for other nodes, known only when the pool was completed
    by looking at all slices. An ``incomplete`` or ``invalid`` pool (each the
    reason in words, empty when it is not) contributes no devices.
    ``late`` pools, those with binding conditions, come after all others.
    """

    driver: str
    name: str
    generation: int
    slices: tuple[ResourceSlice, ...]
    counter_slices: tuple[ResourceSlice, ...]
    elsewhere: tuple[ResourceSlice, ...]
    incomplete: str
    invalid: str
    late: bool

    @property
    def usable(self) -> bool:
        return not self.incomplete and not self.invalid


def pools_for_node(
    snapshot: PoolSource,
    node: Node,
    features: PoolFeatures,
    *,
    foreign_counters: bool = True,
    also: Iterable[PoolKey] = (),
) -> tuple[NodePool, ...]:
    """The pools that matter for ``node``, in the order in which they are tried.

    By driver, then name, those with binding conditions last (allocator.md
    section 2). With ``foreign_counters`` every pool with shared counters is
    there, even one whose devices all sit on other nodes, as in the reference;
    without, such a pool is left out, which saves O(nodes) work, unless it is
    one of ``also``.

    Raises :class:`~dra.errors.SelectorError` naming the slice whose node
    selector cannot be read.
    """
    own = snapshot.pool_keys_for_node(
        node.metadata.name, foreign_counters=foreign_counters
    )
    keys = dict.fromkeys((*own, *also))
    found = (gather(snapshot.pools[key], node, features) for key in keys)
    return tuple(
        sorted(
            (pool for pool in found if pool is not None),
            key=lambda pool: (pool.late, pool.driver, pool.name),
        )
    )


def gather(pool: Pool, node: Node, features: PoolFeatures) -> NodePool | None:
    """What ``node`` sees of ``pool``; None when nothing, or when it is obsolete."""
    homes = {piece.spec.node_name for piece in pool.arrival}
    if len(homes) > 1 or not (home := homes.pop()):
        return _gather(pool, node, features)
    key = (features.partitionable_devices, home == node.metadata.name)
    if key not in pool.views:
        pool.views[key] = _gather(pool, node, features)
    return pool.views[key]


def _gather(pool: Pool, node: Node, features: PoolFeatures) -> NodePool | None:
    relevant = _relevant(pool, node, features)
    if not relevant:
        return None
    generation = max(s.spec.pool.generation for s in relevant)
    collected = [s for s in relevant if s.spec.pool.generation == generation]
    wanted = collected[0].spec.pool.resource_slice_count
    elsewhere: tuple[ResourceSlice, ...] = ()
    incomplete = ""
    if len(collected) != wanted:
        if pool.generation > generation:
            return None
        if pool.present != wanted:
            incomplete = what_is_missing(generation, pool.current, pool.older)
        else:
            seen = {s.metadata.name for s in collected}
            elsewhere = tuple(s for s in pool.current if s.metadata.name not in seen)
    by_name = sorted(collected, key=slice_name)
    with_devices = tuple(s for s in by_name if not s.spec.shared_counters)
    invalid = ""
    if not incomplete:
        invalid = _node_fault(pool, by_name, elsewhere, features)
    return NodePool(
        driver=pool.driver,
        name=pool.name,
        generation=generation,
        slices=with_devices,
        counter_slices=tuple(s for s in by_name if s.spec.shared_counters),
        elsewhere=tuple(s for s in elsewhere if not s.spec.shared_counters),
        incomplete=incomplete,
        invalid=invalid,
        # Of a pool that cannot be used the reference keeps no devices to look at.
        late=not (incomplete or invalid)
        and any(
            device.binding_conditions is not None
            for piece in with_devices
            for device in piece.spec.devices or ()
        ),
    )


def _node_fault(
    pool: Pool,
    collected: list[ResourceSlice],
    elsewhere: tuple[ResourceSlice, ...],
    features: PoolFeatures,
) -> str:
    everything = (*collected, *elsewhere)
    fault = unreadable_value(everything, pool.unreadable)
    consumers = everything if features.partitionable_devices else ()
    return fault or contradiction(collected, consumers)


def _relevant(pool: Pool, node: Node, features: PoolFeatures) -> list[ResourceSlice]:
    """Own slices first, then shared ones: the order that picks the "first slice"."""
    name = node.metadata.name
    own: list[ResourceSlice] = []
    shared: list[ResourceSlice] = []
    for piece in pool.arrival:
        spec = piece.spec
        if not spec.node_name or spec.shared_counters:
            shared.append(piece)
        elif spec.node_name == name:
            own.append(piece)
    return [s for s in (*own, *shared) if is_relevant(s, node, features)]


def is_relevant(piece: ResourceSlice, node: Node, features: PoolFeatures) -> bool:
    """Whether the allocator looks at a slice for ``node``.

    Raises :class:`~dra.errors.SelectorError` naming the slice whose node selector
    cannot be read.
    """
    spec = piece.spec
    if not features.partitionable_devices and (
        spec.per_device_node_selection is not None or spec.shared_counters
    ):
        return False
    if spec.shared_counters:
        return True
    try:
        if spec.node_name or spec.all_nodes or spec.node_selector is not None:
            return selects_node(spec, node)
        if spec.per_device_node_selection:
            return any(selects_node(device, node) for device in spec.devices or ())
    except SelectorError as error:
        raise SelectorError(f"slice {piece.metadata.name}: {error}") from error
    return False


class _NodeSelection(Protocol):
    @property
    def node_name(self) -> str | None: ...
    @property
    def all_nodes(self) -> bool | None: ...
    @property
    def node_selector(self) -> NodeSelector | None: ...


def selects_node(selection: _NodeSelection, node: Node) -> bool:
    """Whether a slice's spec or a device says that ``node`` reaches it.

    Precedence: nodeName, allNodes, nodeSelector; none of them: no node.
    """
    if selection.node_name:
        return selection.node_name == node.metadata.name
    if selection.all_nodes:
        return True
    if selection.node_selector is not None:
        return matches_node(selection.node_selector, node)
    return False
