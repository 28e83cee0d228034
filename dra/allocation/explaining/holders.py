"""Which claims hold the devices that a request cannot have: one number per device.

Looking at the holders of 40,000 devices one by one takes longer than all the rest of an
explanation; numbers are counted at once. They follow from one snapshot to the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra.allocation.explaining.explanation import Loss
from dra.allocation.following import changed_uses, following
from dra.cel.table import DeviceTable
from dra.names import PoolKey
from dra.snapshot import Snapshot
from dra.usage import Holder, InUse, PoolUse

type Numbers = NDArray[np.int32]
type Rows = NDArray[np.intp]

NOBODY: Final = 0
_SEVERAL: Final = -1
_SHARING: Final = 1 << 24
"""More claims than share one device."""
_SPARE: Final = 4096
"""Numbers of claims that are gone by now, before all are given out anew."""


class HeldBy:
    """Who holds each device of one snapshot.

    ``numbers[row]`` is a place in ``claims`` where one claim holds the device, 0 where
    none does, below 0 where several share it: those are in ``several[row]``.
    """

    def __init__(
        self, table: DeviceTable, in_use: InUse, earlier: HeldBy | None
    ) -> None:
        self.table = table
        self.in_use = in_use
        self.numbers: Numbers = np.zeros(len(table), np.int32)
        self.claims: list[tuple[str, str]] = [("", "")]
        self.several: dict[int, tuple[int, ...]] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._most = 0
        old: Mapping[PoolKey, PoolUse] = {}
        if earlier is not None and earlier.table is table and not earlier.is_worn():
            old = earlier.in_use.by_pool
            self.numbers = earlier.numbers.copy()
            self.several = dict(earlier.several)
            self.claims, self._places = earlier.claims, earlier._places
            self._most = earlier._most
        self._patch(old)
        self._most = self._most or 2 * len(self.claims) + _SPARE

    def is_worn(self) -> bool:
        """Whether most of the numbers may be those of claims that are gone."""
        return len(self.claims) > self._most

    def _patch(self, old: Mapping[PoolKey, PoolUse]) -> None:
        for key, before, after in changed_uses(old, self.in_use.by_pool):
            rows = self.table.listing.rows_of(key)
            for name in before.holders:
                self._set(rows.get(name), ())
            for name, holders in after.holders.items():
                self._set(rows.get(name), holders)

    def _set(self, at: int | list[int] | None, holders: Sequence[Holder]) -> None:
        if at is None:
            return
        numbers = tuple(dict.fromkeys(self._number(h.claim_key) for h in holders))
        for row in at if isinstance(at, list) else [at]:
            self.several.pop(row, None)
            if len(numbers) > 1:
                self.several[row] = numbers
                self.numbers[row] = _SEVERAL
            else:
                self.numbers[row] = numbers[0] if numbers else NOBODY

    def _number(self, claim: tuple[str, str]) -> int:
        number = self._places.get(claim)
        if number is None:
            self.claims.append(claim)
            number = self._places[claim] = len(self.claims) - 1
        return number

    def losses(self, rows: Rows, most: int) -> tuple[list[Loss], int]:
        """How many of the devices at ``rows``, ascending, each claim holds.

        The ``most`` claims that hold the most of them, those of earlier devices first,
        and how many claims there are beside these.
        """
        numbers = self.numbers[rows]
        shared = rows[numbers == _SEVERAL].tolist()
        alone = numbers > NOBODY
        pairs = [
            (number, row * _SHARING + place)
            for row in shared
            for place, number in enumerate(self.several[row])
        ]
        held = np.append(numbers[alone], [number for number, _ in pairs]).astype(
            np.int64
        )
        where = np.append(rows[alone] * _SHARING, [at for _, at in pairs])
        tally = np.bincount(held)
        claims = np.flatnonzero(tally)
        first = np.full(len(tally), len(self.numbers) * _SHARING, np.int64)
        np.minimum.at(first, held, where.astype(np.int64))
        best = np.lexsort((first[claims], -tally[claims]))[:most]
        losses = [
            Loss("claim", "/".join(self.claims[number]), int(tally[number]))
            for number in claims[best].tolist()
        ]
        return losses, len(claims) - len(losses)


def held_by(snapshot: Snapshot, table: DeviceTable) -> HeldBy:
    """The holders of a snapshot's devices; follows those of an earlier snapshot."""
    return following(snapshot, table, "held by", HeldBy)
