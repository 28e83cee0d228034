"""What is told of the use of a snapshot's devices, kept from snapshot to snapshot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol, cast

from dra.cel.table import DeviceTable
from dra.names import PoolKey
from dra.snapshot import Snapshot
from dra.usage import NO_USE, NOTHING_IN_USE, InUse, PoolUse

_making: Final = threading.Lock()
"""What follows an earlier one goes on numbering where that stopped: one at a time."""


class OfUse(Protocol):
    """Made of ``table`` and ``in_use``, and of an earlier one where there is one."""

    table: DeviceTable
    in_use: InUse


def following[T: OfUse](
    snapshot: Snapshot,
    table: DeviceTable,
    name: str,
    make: Callable[[DeviceTable, InUse, T | None], T],
) -> T:
    """What ``make`` makes for the snapshot, from what is kept by ``name`` of an earlier one.

    ``table`` is that of the snapshot's devices. Threads that ask at the same time get
    the same one: with two, numbers given out by one would mean something else to the
    other.
    """
    if snapshot.in_use is NOTHING_IN_USE:
        # Only imagined: what the cluster really holds stays at hand.
        return make(table, snapshot.in_use, None)
    memo = snapshot.device_tables.memo
    with _making:
        found = cast("T | None", memo.get(name))
        if (
            found is None
            or found.table is not table
            or found.in_use is not snapshot.in_use
        ):
            found = memo[name] = make(table, snapshot.in_use, found)
    return found


def changed_uses(
    old: Mapping[PoolKey, PoolUse], new: Mapping[PoolKey, PoolUse]
) -> Iterator[tuple[PoolKey, PoolUse, PoolUse]]:
    """The pools whose holders are others than before: what was, and what is."""
    for key in old.keys() - new.keys():
        yield key, old[key], NO_USE
    for key, use in new.items():
        before = old.get(key, NO_USE)
        if before is not use:
            yield key, before, use
