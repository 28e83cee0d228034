"""The devices of a cluster in one order, and where they were a moment ago."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from typing import NamedTuple, overload

import numpy as np

from dra.cel.columns import Rows
from dra.cel.devices import DeviceInput
from dra.names import DeviceID, PoolKey
from dra.objects import Device, DeviceAttribute, DeviceCapacity, ResourceSlice
from dra.pools import Pool


class Block(NamedTuple):
    """The devices of one slice: rows ``start`` to ``stop`` (excluded)."""

    slice: ResourceSlice | None
    pool: PoolKey
    start: int
    stop: int


class Listing(Sequence[DeviceID]):
    """Devices as rows: pools by driver and name, slices by name, devices in order.

    Only slices of their pool's newest generation count.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.drivers: list[str] = []
        self.attributes: list[Mapping[str, DeviceAttribute]] = []
        self.capacity: list[Mapping[str, DeviceCapacity]] = []
        self.shareable: list[bool] = []
        self.devices: list[Device] = []
        """As published; empty for devices that belong to no pool."""
        self._pools: list[PoolKey] = []
        self._names: list[str] = []
        self._rows_by_pool: dict[PoolKey, dict[str, int | list[int]]] = {}

    @classmethod
    def of_pools(cls, pools: Mapping[PoolKey, Pool]) -> Listing:
        listing = cls()
        for key in sorted(pools):
            for piece in pools[key].device_slices:
                listing._add(key, piece)
        return listing

    @classmethod
    def of(cls, devices: Iterable[DeviceInput]) -> Listing:
        """Devices that belong to no pool; they are named by their row."""
        listing = cls()
        for row, device in enumerate(devices):
            listing._names.append(str(row))
            listing._pools.append(PoolKey(device.driver, ""))
            listing.drivers.append(device.driver)
            listing.attributes.append(device.attributes)
            listing.capacity.append(device.capacity)
            listing.shareable.append(device.allow_multiple_allocations)
        return listing

    def _add(self, pool: PoolKey, piece: ResourceSlice) -> None:
        devices = piece.spec.devices or ()
        start, count = len(self.drivers), len(devices)
        self.blocks.append(Block(piece, pool, start, start + count))
        self.devices += devices
        self.drivers += repeat(pool.driver, count)
        self._pools += repeat(pool, count)
        self._names += [device.name for device in devices]
        self.attributes += [device.attributes or {} for device in devices]
        self.capacity += [device.capacity or {} for device in devices]
        self.shareable += [bool(d.allow_multiple_allocations) for d in devices]

    def only(self, rows: Rows) -> Listing:
        """The devices at ``rows``, without their slices."""
        listing = Listing()
        picked = rows.tolist()
        for name in ("drivers", "attributes", "capacity", "shareable", "devices"):
            own = getattr(self, name)
            setattr(listing, name, [own[row] for row in picked] if own else [])
        listing._pools = [self._pools[row] for row in picked]
        listing._names = [self._names[row] for row in picked]
        return listing

    @cached_property
    def places(self) -> Mapping[int, int]:
        """The first row of each slice, by its identity."""
        return {id(block.slice): block.start for block in self.blocks}

    @cached_property
    def starts(self) -> Mapping[PoolKey, int]:
        """The first row of each pool that has a slice of devices."""
        return {block.pool: block.start for block in reversed(self.blocks)}

    def rows_of(self, pool: PoolKey) -> Mapping[str, int | list[int]]:
        """The row of each device of a pool; rows where a name is published twice."""
        found = self._rows_by_pool.get(pool)
        if found is None:
            found = {}
            for row in range(self.starts.get(pool, len(self)), len(self)):
                if self._pools[row] != pool:
                    break
                name = self._names[row]
                earlier = found.setdefault(name, row)
                if isinstance(earlier, list):
                    earlier.append(row)
                elif earlier != row:
                    found[name] = [earlier, row]
            self._rows_by_pool[pool] = found
        return found

    def source(self, old: Listing) -> Rows:
        """The row that each device had in ``old``; -1 where its slice was not there."""
        places = old.places
        source = np.full(len(self), -1, np.intp)
        for block in self.blocks:
            place = places.get(id(block.slice))
            if place is not None:
                size = block.stop - block.start
                source[block.start : block.stop] = np.arange(place, place + size)
        return source

    def named(
        self, kind: str
    ) -> Sequence[Mapping[str, DeviceAttribute | DeviceCapacity]]:
        """What each device publishes of "attributes" or "capacity"."""
        return self.attributes if kind == "attributes" else self.capacity

    def device(self, row: int) -> DeviceInput:
        return DeviceInput(
            driver=self.drivers[row],
            attributes=self.attributes[row],
            capacity=self.capacity[row],
            allow_multiple_allocations=self.shareable[row],
        )

    def row(self, device: DeviceID) -> int | None:
        """Where a device stands; None when it is not listed."""
        at = self.rows_of(PoolKey(device.driver, device.pool)).get(device.device)
        return at[0] if isinstance(at, list) else at

    def __len__(self) -> int:
        return len(self.drivers)

    @overload
    def __getitem__(self, row: int) -> DeviceID: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[DeviceID]: ...
    def __getitem__(self, row: int | slice) -> DeviceID | Sequence[DeviceID]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        return DeviceID(*self._pools[row], self._names[row])

    def __iter__(self) -> Iterator[DeviceID]:
        for pool, name in zip(self._pools, self._names, strict=True):
            yield DeviceID(*pool, name)
