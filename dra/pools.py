"""Pools: the slices of one driver that belong together.

Two views of the same slices. :class:`Pool` is the whole pool as the cluster
publishes it: what a page shows. :class:`NodePool` is what the allocator sees of
it for one node, which differs: other nodes' slices are not looked at until a
pool appears incomplete (allocator.md section 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from dra.errors import SelectorError
from dra.labels import matches_node
from dra.names import PoolKey
from dra.objects import Device, Node, NodeSelector, ResourceSlice
from dra.values import first_value_problem


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
    _views: dict[tuple[bool, bool], NodePool | None] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """Memo of :func:`gather`, by feature and "is the node of all slices"."""
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
    by_name = sorted(arrival, key=_slice_name)
    first = by_name[0].spec
    generation = max(s.spec.pool.generation for s in by_name)
    current = tuple(s for s in by_name if s.spec.pool.generation == generation)
    older = tuple(s for s in by_name if s.spec.pool.generation != generation)
    unreadable = {
        piece.metadata.name: f"slice {piece.metadata.name}: {at.path}: {at.reason}"
        for piece in by_name
        if (at := first_value_problem(piece))
    }
    missing = _missing(generation, current, older)
    fault = _unreadable(current, unreadable)
    if not fault and not missing:
        fault = _contradiction(current, current)
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


def _unreadable(slices: Iterable[ResourceSlice], unreadable: Mapping[str, str]) -> str:
    if not unreadable:
        return ""
    reasons = (unreadable.get(piece.metadata.name, "") for piece in slices)
    return next(filter(None, reasons), "")


def _slice_name(piece: ResourceSlice) -> str:
    return piece.metadata.name


def _missing(
    generation: int,
    current: tuple[ResourceSlice, ...],
    older: tuple[ResourceSlice, ...],
) -> str:
    """Why the pool is not complete, in words; empty when it is."""
    wanted = sorted({s.spec.pool.resource_slice_count for s in current})
    present = len(current)
    if wanted == [present]:
        return ""
    if len(wanted) > 1:
        counts = ", ".join(map(str, wanted[:-1])) + f" and {wanted[-1]}"
        reason = (
            f"slices of generation {generation} announce different counts: {counts}"
        )
    elif wanted[0] > present:
        reason = f"{present} of {_slices(wanted[0])} of generation {generation}"
    else:
        reason = (
            f"{_slices(present)} of generation {generation} present, "
            f"{wanted[0]} announced"
        )
    left: dict[int, int] = {}
    for piece in older:
        number = piece.spec.pool.generation
        left[number] = left.get(number, 0) + 1
    for number in sorted(left, reverse=True):
        reason += f"; generation {number} still has {_slices(left[number])}"
    return reason


def _slices(count: int) -> str:
    return "1 slice" if count == 1 else f"{count} slices"


def _contradiction(
    relevant: Iterable[ResourceSlice], consumers: Iterable[ResourceSlice]
) -> str:
    """How slices of a complete pool contradict each other; empty when they do not.

    Device names and counter sets come from ``relevant`` slices, references to
    counters are checked in ``consumers``.
    """
    sets: dict[str, set[str]] = {}
    names: set[str] = set()
    for piece in relevant:
        for counter_set in piece.spec.shared_counters or ():
            if counter_set.name in sets:
                return f'counter set "{counter_set.name}" is published twice'
            sets[counter_set.name] = set(counter_set.counters or ())
        if not piece.spec.shared_counters:
            for device in piece.spec.devices or ():
                if device.name in names:
                    return f'device "{device.name}" is published twice'
                names.add(device.name)
    for piece in consumers:
        for device in piece.spec.devices or ():
            reason = _unknown_counter(device, sets)
            if reason:
                return reason
    return ""


def _unknown_counter(device: Device, sets: Mapping[str, set[str]]) -> str:
    for use in device.consumes_counters or ():
        known = sets.get(use.counter_set)
        if known is None:
            return (
                f'device "{device.name}" consumes from counter set '
                f'"{use.counter_set}", which the pool does not have'
            )
        for counter in use.counters or ():
            if counter not in known:
                return (
                    f'device "{device.name}" consumes counter "{counter}", which '
                    f'counter set "{use.counter_set}" does not have'
                )
    return ""


# --- what one node sees -----------------------------------------------------


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
    if key not in pool._views:
        pool._views[key] = _gather(pool, node, features)
    return pool._views[key]


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
            incomplete = _missing(generation, pool.current, pool.older)
        else:
            seen = {s.metadata.name for s in collected}
            elsewhere = tuple(s for s in pool.current if s.metadata.name not in seen)
    by_name = sorted(collected, key=_slice_name)
    invalid = ""
    if not incomplete:
        invalid = _node_fault(pool, by_name, elsewhere, features)
    return NodePool(
        driver=pool.driver,
        name=pool.name,
        generation=generation,
        slices=tuple(s for s in by_name if not s.spec.shared_counters),
        counter_slices=tuple(s for s in by_name if s.spec.shared_counters),
        elsewhere=tuple(s for s in elsewhere if not s.spec.shared_counters),
        incomplete=incomplete,
        invalid=invalid,
        late=any(
            device.binding_conditions is not None
            for piece in by_name
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
    fault = _unreadable(everything, pool.unreadable)
    consumers = everything if features.partitionable_devices else ()
    return fault or _contradiction(collected, consumers)


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
    return [s for s in (*own, *shared) if _is_relevant(s, node, features)]


def _is_relevant(piece: ResourceSlice, node: Node, features: PoolFeatures) -> bool:
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
