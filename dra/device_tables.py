"""The device tables of a snapshot, made when they are first asked for."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping
from typing import Any

from dra.cel.listing import Listing
from dra.cel.table import DeviceTable
from dra.names import PoolKey
from dra.pools import Pool


class DeviceTables:
    """One table per gate of list attributes; shared by snapshots with equal slices.

    A table follows the newest one that an earlier snapshot made, however many
    snapshots were in between. Threads may share it: the second to ask waits.
    """

    def __init__(
        self,
        earlier: Mapping[bool, DeviceTable] | None = None,
        memo: Mapping[Hashable, Any] | None = None,
    ) -> None:
        self.memo: dict[Hashable, Any] = dict(memo or {})
        """What others worked out about the slices; they check whether it still holds."""
        self._earlier = dict(earlier or {})
        self._made: dict[bool, DeviceTable] = {}
        self._lock = threading.Lock()

    def next(self) -> DeviceTables:
        """Those of a snapshot with other slices."""
        with self._lock:
            return DeviceTables(self._earlier | self._made, self.memo)

    def apart(self) -> DeviceTables:
        """The same tables for a world that is only thought of.

        It starts with what was worked out; what is worked out there stays there.
        """
        with self._lock:
            other = DeviceTables(self._earlier, self.memo)
            other._made = dict(self._made)
            return other

    def table(self, pools: Mapping[PoolKey, Pool], *, lists: bool) -> DeviceTable:
        with self._lock:
            table = self._made.get(lists)
            if table is None:
                listing = Listing.of_pools(pools)
                earlier = self._earlier.pop(lists, None)
                if earlier is None:
                    table = DeviceTable(listing, lists=lists)
                else:
                    table = earlier.followed_by(listing)
                self._made[lists] = table
            return table
