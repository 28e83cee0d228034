"""Pools: the slices of one driver that belong together.

Two views of the same slices. :class:`Pool` is the whole pool as the cluster
publishes it: what a page shows. :class:`~dra.node_pools.NodePool` is what the
allocator sees of it for one node, which differs: other nodes' slices are not
looked at until a pool appears incomplete (allocator.md section 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dra.names import PoolKey
from dra.objects import Device, ResourceSlice
from dra.pool_faults import contradiction, unreadable_value, what_is_missing
from dra.values import first_value_problem

if TYPE_CHECKING:
    from dra.node_pools import NodePool


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool over the whole cluster.

    ``current`` are the slices of the newest ``generation``, by name; ``older``
    those of earlier ones, which drivers leave behind while they republish.
    ``wanted`` is the announced resourceSliceCount. Devices may be allocated only
    when ``complete and valid``; otherwise ``problem`` says why not in words.
    Contradictions are looked for only in a complete pool; a quantity that does
    not parse makes any pool invalid. ``unreadable`` has the reason by slice.
    ``arrival`` are all slices in the order in which they came.
    """

    driver: str
    name: str
    generation: int
    current: tuple[ResourceSlice, ...]
    older: tuple[ResourceSlice, ...]
    wanted: int
    complete: bool
    valid: bool
    problem: str
    unreadable: Mapping[str, str]
    arrival: tuple[ResourceSlice, ...] = field(compare=False, repr=False)
    views: dict[tuple[bool, bool], NodePool | None] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """Memo of :func:`dra.node_pools.gather`, by feature and "is the node of all slices"."""
    memo: dict[str, Any] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """What others worked out about the pool; each has a key of its own."""

    @property
    def key(self) -> PoolKey:
        return PoolKey(self.driver, self.name)

    @property
    def usable(self) -> bool:
        return self.complete and self.valid

    @property
    def present(self) -> int:
        """How many slices of the newest generation exist."""
        return len(self.current)

    @property
    def node_name(self) -> str:
        """The node of all its slices, empty when they differ or name none."""
        names = {s.spec.node_name or "" for s in self.current}
        return names.pop() if len(names) == 1 else ""

    @property
    def device_slices(self) -> tuple[ResourceSlice, ...]:
        return tuple(s for s in self.current if not s.spec.shared_counters)

    @property
    def counter_slices(self) -> tuple[ResourceSlice, ...]:
        return tuple(s for s in self.current if s.spec.shared_counters)

    def devices(self) -> Iterator[Device]:
        """The devices of the newest generation, slices by name, devices in order."""
        for piece in self.current:
            if not piece.spec.shared_counters:
                yield from piece.spec.devices or ()


def make_pool(slices: Iterable[ResourceSlice]) -> Pool:
    """The pool that ``slices``, at least one and all of one pool, make up."""
    arrival = tuple(slices)
    by_name = sorted(arrival, key=slice_name)
    first = by_name[0].spec
    generation = max(s.spec.pool.generation for s in by_name)
    current = tuple(s for s in by_name if s.spec.pool.generation == generation)
    older = tuple(s for s in by_name if s.spec.pool.generation != generation)
    unreadable = {
        piece.metadata.name: f"slice {piece.metadata.name}: {at.path}: {at.reason}"
        for piece in by_name
        if (at := first_value_problem(piece))
    }
    missing = what_is_missing(generation, current, older)
    fault = unreadable_value(current, unreadable)
    if not fault and not missing:
        fault = contradiction(current, current)
    return Pool(
        driver=first.driver,
        name=first.pool.name,
        generation=generation,
        current=current,
        older=older,
        wanted=current[0].spec.pool.resource_slice_count,
        complete=not missing,
        valid=not fault,
        problem="; ".join(filter(None, (fault, missing))),
        unreadable=unreadable,
        arrival=arrival,
    )


def slice_name(piece: ResourceSlice) -> str:
    return piece.metadata.name
