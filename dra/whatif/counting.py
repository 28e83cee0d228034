"""A cluster in numbers before and after: devices by class, node, namespace and state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra.allocation.classes import ClassUsage, class_usage
from dra.allocation.features import Features
from dra.cel.listing import Listing
from dra.device_states import STATES, table_states
from dra.pools import Pool
from dra.snapshot import Snapshot
from dra.usage import State
from dra.whatif.amounts import amounts, counter_sets
from dra.whatif.result import (
    CountChange,
    DeviceChange,
    DeviceCounts,
    Difference,
    NamespaceChange,
    PoolChange,
)

MOST_DEVICES: Final = 50_000
MOST_COUNTERS: Final = 2_000
_WHOLE: Final = "complete"
_ABSENT: Final = "absent"


def difference(
    before: Snapshot,
    after: Snapshot,
    *,
    features_before: Features,
    features: Features,
) -> Difference:
    """What changed between two snapshots of one run."""
    devices = list(_devices(before, after))
    sets = counter_sets(before, after)
    capacities, counters = amounts(before, after)
    return Difference(
        classes=tuple(_classes(before, after, features_before, features)),
        nodes=tuple(_nodes(before, after)),
        namespaces=tuple(_namespaces(before, after)),
        capacities=capacities,
        counters=counters,
        counter_sets=tuple(sets[:MOST_COUNTERS]),
        devices=tuple(devices[:MOST_DEVICES]),
        more_devices=max(0, len(devices) - MOST_DEVICES),
        more_counters=max(0, len(sets) - MOST_COUNTERS),
    )


def pool_changes(before: Snapshot, after: Snapshot) -> Iterator[PoolChange]:
    """Pools that came, went, broke or became whole, by driver and name."""
    for key in sorted(before.pools.keys() | after.pools.keys()):
        old, new = before.pools.get(key), after.pools.get(key)
        if old is new:
            continue
        was, is_ = _health(old), _health(new)
        if was != is_:
            yield PoolChange(key.driver, key.name, was, is_)


def _health(pool: Pool | None) -> str:
    if pool is None:
        return _ABSENT
    return _WHOLE if pool.usable else pool.problem


# --- classes ---


def _classes(
    before: Snapshot, after: Snapshot, features_before: Features, features: Features
) -> Iterator[CountChange]:
    was = class_usage(before, features=features_before)
    is_ = class_usage(after, features=features)
    for name in sorted(was.keys() | is_.keys()):
        yield _changed(name, _of_class(was.get(name)), _of_class(is_.get(name)))


def changed_classes(
    before: Snapshot, after: Snapshot, classes: Sequence[CountChange]
) -> list[CountChange]:
    """Those that select other devices or fail on others, though no node came or went."""
    if before.nodes.keys() != after.nodes.keys():
        return []
    return [one for one in classes if one.difference.devices or one.difference.errors]


def _of_class(usage: ClassUsage | None) -> DeviceCounts | None:
    if usage is None:
        return None
    return DeviceCounts(
        devices=usage.matched,
        free=usage.free,
        in_use=usage.in_use,
        shared=usage.shared,
        tainted=usage.tainted,
        blocked=usage.blocked,
        unusable=usage.incomplete + usage.invalid,
        errors=usage.errors,
    )


def _changed(
    name: str, before: DeviceCounts | None, after: DeviceCounts | None
) -> CountChange:
    old, new = before or DeviceCounts(), after or DeviceCounts()
    left = {
        field: getattr(new, field) - getattr(old, field)
        for field in DeviceCounts.__struct_fields__
    }
    return CountChange(name, before, after, DeviceCounts(**left))


# --- nodes ---


def _nodes(before: Snapshot, after: Snapshot) -> Iterator[CountChange]:
    was, is_ = _by_node(before), _by_node(after)
    for name in sorted(
        before.nodes.keys() | after.nodes.keys() | was.keys() | is_.keys()
    ):
        old, new = was.get(name), is_.get(name)
        same_presence = (name in before.nodes) == (name in after.nodes)
        if old == new and same_presence:
            continue
        yield _changed(
            name,
            _of_states(old) if old or name in before.nodes else None,
            _of_states(new) if new or name in after.nodes else None,
        )


def _by_node(snapshot: Snapshot) -> dict[str, tuple[int, ...]]:
    """Devices by state, in the order of ``STATES``; nodes without devices left out."""
    codes = table_states(snapshot)
    names, homes = node_of_rows(snapshot.devices().listing)
    flat = homes.astype(np.int64) * len(STATES) + codes
    counts = np.bincount(flat, minlength=len(names) * len(STATES))
    table = counts.reshape(-1, len(STATES)).tolist()
    return {
        name: tuple(row) for name, row in zip(names, table, strict=True) if any(row)
    }


def node_of_rows(listing: Listing) -> tuple[list[str], NDArray[np.int32]]:
    """The node of each device as a place in a list of names; "" for none."""
    numbers: dict[str, int] = {"": 0}
    homes = np.zeros(len(listing), np.int32)
    for piece, _, start, stop in listing.blocks:
        if piece is None:
            continue
        if piece.spec.per_device_node_selection:
            for row in range(start, stop):
                name = listing.devices[row].node_name or ""
                homes[row] = numbers.setdefault(name, len(numbers))
        else:
            name = piece.spec.node_name or ""
            homes[start:stop] = numbers.setdefault(name, len(numbers))
    return list(numbers), homes


def _of_states(row: tuple[int, ...] | None) -> DeviceCounts:
    if row is None:
        return DeviceCounts()
    number = dict(zip(STATES, row, strict=True))
    return DeviceCounts(
        devices=sum(row),
        free=number[State.FREE],
        in_use=number[State.IN_USE],
        shared=number[State.SHARED],
        tainted=number[State.TAINTED],
        blocked=number[State.BLOCKED],
        unusable=number[State.INCOMPLETE] + number[State.INVALID],
    )


# --- namespaces ---


def _namespaces(before: Snapshot, after: Snapshot) -> Iterator[NamespaceChange]:
    was, change = _held(before), dict[str, int]()
    for key in before.in_use.by_pool.keys() | after.in_use.by_pool.keys():
        old, new = before.in_use.pool(key), after.in_use.pool(key)
        if old is new:
            continue
        for use, sign in ((old, -1), (new, 1)):
            for holders in use.holders.values():
                for holder in holders:
                    name = holder.namespace
                    change[name] = change.get(name, 0) + sign
    for name in sorted(change):
        if change[name]:
            number = was.get(name, 0)
            yield NamespaceChange(name, number, number + change[name], change[name])


def _held(snapshot: Snapshot) -> dict[str, int]:
    """Devices that each namespace holds; every share counts."""
    found: dict[str, int] = {}
    for use in snapshot.in_use.by_pool.values():
        for holders in use.holders.values():
            for holder in holders:
                found[holder.namespace] = found.get(holder.namespace, 0) + 1
    return found


# --- devices ---


def _devices(before: Snapshot, after: Snapshot) -> Iterator[DeviceChange]:
    """Devices of which the state changed, in the order of the tables."""
    old_states, new_states = table_states(before), table_states(after)
    old_list, new_list = before.devices().listing, after.devices().listing
    if old_list is new_list:
        source = np.arange(len(new_list))
    else:
        source = new_list.source(old_list)
    kept = source >= 0
    same = kept.copy()
    same[kept] = old_states[source[kept]] == new_states[kept]
    left = np.ones(len(old_list), np.bool_)
    left[source[kept]] = False
    gone = {old_list[row]: row for row in np.flatnonzero(left).tolist()}
    new_names, new_homes = node_of_rows(new_list)
    for row in np.flatnonzero(~same).tolist():
        device = new_list[row]
        was = int(source[row]) if kept[row] else gone.pop(device, -1)
        old = STATES[old_states[was]].value if was >= 0 else ""
        new = STATES[new_states[row]].value
        if old != new:
            yield DeviceChange(*device, new_names[new_homes[row]], old, new)
    old_names, old_homes = node_of_rows(old_list)
    for device, row in gone.items():
        state = STATES[old_states[row]].value
        yield DeviceChange(*device, old_names[old_homes[row]], state, "")
