"""Rows of devices that were picked out of a snapshot's device table.

A table knows devices by slice and position, and so do the rows. Devices of a slice
mostly go together, so what the database is given is short: the slices of which every
device was picked, and single devices of the others.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, F, Lookup, Q, Value
from django.db.models.functions import Cast
from django.db.models.sql.compiler import SQLCompiler
from numpy.typing import NDArray

from dra.cel.table import DeviceTable
from inventory.models import Cluster, ResourceSlice

_MOST_POSITIONS: Final = 2**20
"""Devices in one slice; Kubernetes allows 128."""

type _Keys = NDArray[np.int64]


class AnyOf(Lookup):
    """A number is one of very many: one parameter, however many there are."""

    lookup_name = "any_of"
    prepare_rhs = False

    def __init__(self, lhs: Any, numbers: Sequence[int]) -> None:
        super().__init__(lhs, numbers)

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        left, parameters = self.process_lhs(compiler, connection)
        # As text: adapting thousands of numbers one by one takes longer.
        listed = ",".join(map(str, self.rhs))
        if connection.vendor == "postgresql":
            return f"{left} = ANY(%s::bigint[])", (*parameters, f"{{{listed}}}")
        sql = f"{left} IN (SELECT value FROM json_each(%s))"  # noqa: S608 - left is Django's
        return sql, (*parameters, f"[{listed}]")


def picked(cluster: Cluster, table: DeviceTable, mask: NDArray[np.bool_]) -> Q:
    """The condition for rows of ``inventory.models.Device`` where ``mask`` is true.

    ``table`` belongs to a snapshot of ``cluster``. One query the first time, then
    none until a slice changes. A slice that changes between the snapshot and the
    query is seen with its new devices; the next snapshot sorts that out.
    """
    blocks = _blocks(cluster, table)
    counts = np.bincount(blocks.of_row[mask], minlength=len(blocks.keys))
    whole = blocks.keys[(counts == blocks.sizes) & (counts > 0)]
    split = (counts < blocks.sizes) & (counts > 0)
    condition = Q(AnyOf(F("slice_id"), whole.tolist()))
    if not split.any():
        return condition
    rows = np.flatnonzero(mask & split[blocks.of_row])
    of_row = blocks.of_row[rows]
    places = blocks.keys[of_row] * _MOST_POSITIONS + (rows - blocks.starts[of_row])
    place = F("slice_id") * Value(_MOST_POSITIONS) + F("position")
    # The slices as well, because there is an index of them.
    singles = Q(AnyOf(F("slice_id"), blocks.keys[split].tolist())) & Q(
        AnyOf(Cast(place, BigIntegerField()), places.tolist())
    )
    return (condition | singles) if len(whole) else singles


class _Blocks:
    """The slices of a table: primary key, first row and size; 0 for one that is gone."""

    def __init__(self, table: DeviceTable, key_of: dict[str, int]) -> None:
        found = table.listing.blocks
        names = [block.slice.metadata.name if block.slice else "" for block in found]
        self.keys: _Keys = np.array([key_of.get(name, 0) for name in names], np.int64)
        self.starts = np.array([block.start for block in found], np.intp)
        self.sizes = np.array([b.stop - b.start for b in found], np.intp)
        self.of_row = np.repeat(np.arange(len(found)), self.sizes)


_known: WeakKeyDictionary[DeviceTable, tuple[int, _Blocks]] = WeakKeyDictionary()
_lock: Final = threading.Lock()


def _blocks(cluster: Cluster, table: DeviceTable) -> _Blocks:
    """Kept with the table: a slice row that is made anew makes a new table."""
    with _lock:
        known = _known.get(table)
    if known is not None and known[0] == cluster.pk:
        return known[1]
    rows = ResourceSlice.objects.filter(cluster=cluster)
    blocks = _Blocks(table, dict(rows.values_list("name", "pk")))
    with _lock:
        _known[table] = (cluster.pk, blocks)
    return blocks
