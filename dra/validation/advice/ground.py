"""What advice needs of a device table more than once: nodes, types; kept with the table."""

from __future__ import annotations

import threading
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dra.cel.columns import Codes, Column
from dra.cel.reads import Read
from dra.cel.table import DeviceTable
from dra.objects import DeviceAttribute

type Mask = NDArray[np.bool_]

ANYWHERE: Final = -1
"""In place of a node: the device can be reached from several."""
UNKNOWN: Final = -1
"""The number that drivers publish for what they could not find out."""

_SCALARS: Final = {
    "int_": "int",
    "bool_": "bool",
    "string": "string",
    "version": "version",
}
_LISTS: Final = {
    "ints": "int",
    "bools": "bool",
    "strings": "string",
    "versions": "version",
}


class Kinds:
    """Of an attribute's column: which type each code stands for.

    ``types`` are words like "int", the same for a list of them; "" for no value.
    """

    def __init__(self, column: Column) -> None:
        raws = column.raws[1 : column.size]
        self._types = np.zeros(column.size, np.int8)
        self.has_lists = False
        self.unknown: Codes = np.zeros(0, np.int32)
        rest = len(raws)
        # A list wins over a scalar, as in constraints.
        for place, member in enumerate((*_SCALARS, *_LISTS)):
            if not rest:
                break
            values = [
                getattr(raw, member) if isinstance(raw, DeviceAttribute) else None
                for raw in raws
            ]
            missing = values.count(None)
            if missing == len(values):
                continue
            rest -= len(values) - missing
            has = np.array([False, *(value is not None for value in values)])
            self._types[has] = place + 1
            self.has_lists = self.has_lists or member in _LISTS
            if member == "int_" and UNKNOWN in values:
                self.unknown = np.array([values.index(UNKNOWN) + 1], np.int32)

    def types(self, codes: Codes) -> set[str]:
        """The types of these devices' values."""
        found = np.flatnonzero(np.bincount(self._types[codes], minlength=1))
        return {_NAMES[place] for place in found.tolist() if place}


_NAMES: Final = ("", *_SCALARS.values(), *_LISTS.values())


class Ground:
    """``nodes``: the place of each device's node among all that have devices, or ANYWHERE.
    ``shareable``: whether it allows several allocations. Holds no table."""

    def __init__(self, table: DeviceTable) -> None:
        self.nodes = _nodes(table)
        self.shareable: Mask = np.array(table.listing.shareable, np.bool_)
        self._kinds: dict[Read, Kinds] = {}

    def kinds(self, column: Column) -> Kinds:
        found = self._kinds.get(column.read)
        if found is None:
            found = self._kinds[column.read] = Kinds(column)
        return found


def _nodes(table: DeviceTable) -> NDArray[np.int32]:
    found: dict[str, int] = {}
    nodes = np.full(len(table), ANYWHERE, np.int32)
    for block in table.listing.blocks:
        spec = block.slice.spec if block.slice is not None else None
        if spec is None:
            continue
        if spec.node_name:
            place = found.setdefault(spec.node_name, len(found))
            nodes[block.start : block.stop] = place
        elif spec.per_device_node_selection:
            for row, device in enumerate(spec.devices or (), block.start):
                if device.node_name:
                    nodes[row] = found.setdefault(device.node_name, len(found))
    return nodes


_kept: WeakKeyDictionary[DeviceTable, Ground] = WeakKeyDictionary()
_lock: Final = threading.Lock()


def ground(table: DeviceTable) -> Ground:
    """Of ``table``; made once and kept as long as the table."""
    with _lock:
        found = _kept.get(table)
        if found is None:
            found = _kept[table] = Ground(table)
        return found
