"""What one node can see of a snapshot's slices, and what is wrong with the rest.

Written from the rules (pools, generations, node selection) and independent of
how the search gathers its pools.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from dra.allocation.features import Features
from dra.allocation.verify.violations import Code
from dra.errors import SelectorError
from dra.labels import matches_node
from dra.names import DeviceID, PoolKey
from dra.objects import Device, Node, NodeSelector, ResourceSlice
from dra.pools import Pool
from dra.snapshot import Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class SeenPool:
    """The newest generation of a pool, seen from the node.

    ``here`` are the device slices that reach the node; ``known`` all slices that
    count for counters, those of other nodes included. ``problem`` says why the
    pool gives no devices, empty when it does.
    """

    key: PoolKey
    here: tuple[ResourceSlice, ...]
    known: tuple[ResourceSlice, ...]
    problem: str


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """A device that the node can use."""

    id: DeviceID
    device: Device
    slice: ResourceSlice
    pool: SeenPool


@dataclass(frozen=True, slots=True)
class Absent:
    """Why the node cannot use a device."""

    code: Code
    reason: str


class World:
    """One snapshot, seen from one node."""

    def __init__(self, snapshot: Snapshot, node: Node, features: Features) -> None:
        self.snapshot = snapshot
        self.node = node
        self.features = features
        self._pools: dict[PoolKey, SeenPool | None] = {}
        self._devices: dict[PoolKey, dict[str, Published]] = {}

    def pools(self) -> Iterator[SeenPool]:
        """The pools with at least one device slice that reaches the node."""
        name = self.node.metadata.name
        for key in self.snapshot.pool_keys_for_node(name, foreign_counters=False):
            seen = self.pool(key)
            if seen is not None and seen.here:
                yield seen

    def pool(self, key: PoolKey) -> SeenPool | None:
        """The pool as the node sees it, None when nobody publishes one."""
        if key not in self._pools:
            pool = self.snapshot.pools.get(key)
            self._pools[key] = None if pool is None else self._see(pool)
        return self._pools[key]

    def find(self, device: DeviceID) -> Published | Absent:
        """The device, or why the node cannot use it."""
        pool = self.pool(PoolKey(device.driver, device.pool))
        if pool is None:
            return Absent(Code.DEVICE_UNKNOWN, "nobody publishes its pool")
        if pool.problem:
            return Absent(Code.POOL_UNUSABLE, pool.problem)
        found = self.devices(pool).get(device.device)
        if found is None:
            if any(device.device == d.name for s in pool.known for d in _devices(s)):
                return Absent(Code.NOT_ON_NODE, self._elsewhere())
            return Absent(
                Code.DEVICE_UNKNOWN,
                "the newest generation of its pool does not have it",
            )
        if not self.reaches(found):
            return Absent(Code.NOT_ON_NODE, self._elsewhere())
        return found

    def _elsewhere(self) -> str:
        return f"it cannot be used from node {self.node.metadata.name}"

    def devices(self, pool: SeenPool) -> dict[str, Published]:
        """The devices of slices that reach the node, whether they themselves do or not."""
        found = self._devices.get(pool.key)
        if found is None:
            driver, name = pool.key
            found = self._devices[pool.key] = {
                device.name: Published(
                    DeviceID(driver, name, device.name), device, piece, pool
                )
                for piece in pool.here
                for device in piece.spec.devices or ()
            }
        return found

    def reaches(self, published: Published) -> bool:
        """Whether the device itself reaches the node, its slice doing so."""
        if not published.slice.spec.per_device_node_selection:
            return True
        try:
            return _selects(published.device, self.node)
        except SelectorError:
            return False

    def _see(self, pool: Pool) -> SeenPool:
        try:
            relevant = [s for s in _own_first(pool, self.node) if self._is_relevant(s)]
        except SelectorError as error:
            return SeenPool(
                pool.key, (), (), f"a node selector cannot be read: {error}"
            )
        now = [s for s in relevant if s.spec.pool.generation == pool.generation]
        here = tuple(s for s in now if not s.spec.shared_counters)
        known = tuple(now)
        problem = ""
        if not here:
            return SeenPool(pool.key, (), pool.current, problem)
        wanted = now[0].spec.pool.resource_slice_count
        if len(now) != wanted:
            known = pool.current
            if len(known) != wanted:
                problem = f"{len(known)} of {wanted} slices of its pool are there"
        if not problem:
            problem = self._contradiction(pool, now, known)
        return SeenPool(pool.key, here, known, problem)

    def _is_relevant(self, piece: ResourceSlice) -> bool:
        spec = piece.spec
        if not self.features.partitionable_devices and (
            spec.shared_counters or spec.per_device_node_selection is not None
        ):
            return False
        if spec.shared_counters:
            return True
        if spec.node_name or spec.all_nodes or spec.node_selector is not None:
            return _selects(spec, self.node)
        if spec.per_device_node_selection:
            return any(_selects(d, self.node) for d in spec.devices or ())
        return False

    def _contradiction(
        self, pool: Pool, now: Iterable[ResourceSlice], known: Iterable[ResourceSlice]
    ) -> str:
        for piece in known:
            unreadable = pool.unreadable.get(piece.metadata.name)
            if unreadable:
                return f"its pool cannot be read: {unreadable}"
        names = Counter(d.name for s in now for d in _devices(s))
        twice = next((name for name, times in names.items() if times > 1), None)
        if twice is not None:
            return f'its pool publishes device "{twice}" twice'
        if not self.features.partitionable_devices:
            return ""
        sets = [c for s in now for c in s.spec.shared_counters or ()]
        known_sets = {c.name: frozenset(c.counters or ()) for c in sets}
        if len(known_sets) < len(sets):
            return "its pool publishes a counter set twice"
        for piece in known:
            for device in piece.spec.devices or ():
                for use in device.consumes_counters or ():
                    offered = known_sets.get(use.counter_set)
                    if offered is None or not offered.issuperset(use.counters or ()):
                        return (
                            f'device "{device.name}" of its pool consumes counters '
                            "that the pool does not have"
                        )
        return ""


def _devices(piece: ResourceSlice) -> Iterable[Device]:
    """The devices that a slice offers; those of a slice with counters never are."""
    return () if piece.spec.shared_counters else piece.spec.devices or ()


def _own_first(pool: Pool, node: Node) -> list[ResourceSlice]:
    """The order in which the first slice is the one whose slice count holds."""

    def is_shared(piece: ResourceSlice) -> bool:
        return not piece.spec.node_name or bool(piece.spec.shared_counters)

    own = [
        s
        for s in pool.arrival
        if not is_shared(s) and s.spec.node_name == node.metadata.name
    ]
    return [*own, *filter(is_shared, pool.arrival)]


class _Selection(Protocol):
    @property
    def node_name(self) -> str | None: ...
    @property
    def all_nodes(self) -> bool | None: ...
    @property
    def node_selector(self) -> NodeSelector | None: ...


def _selects(selection: _Selection, node: Node) -> bool:
    """Precedence: nodeName, allNodes, nodeSelector."""
    if selection.node_name:
        return selection.node_name == node.metadata.name
    if selection.all_nodes:
        return True
    return selection.node_selector is not None and matches_node(
        selection.node_selector, node
    )
