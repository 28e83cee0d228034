"""Nodes on which a device stands where it stands because of itself alone.

That is so where all slices are the node's own and complete, and no device draws on
counters. Then what is true of one device is true of all that are like it, on any such
node, and counting replaces looking (``dra.allocation.explaining.census``).
"""

from __future__ import annotations

import threading
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dra.allocation.errors import AllocationError
from dra.allocation.layout import Layout, NodeView
from dra.allocation.traits import Kind, kinds
from dra.cel.table import DeviceTable

type Places = NDArray[np.int32]

NOWHERE: Final = -1
"""In place of a node's place: the device is not on a plain node."""


class Plain:
    """The plain nodes of a layout.

    ``places`` has their place in ``names``, ``homes`` for each row of the table the
    place of its node, or NOWHERE for a device of another node.
    """

    def __init__(self, layout: Layout, table: DeviceTable) -> None:
        self.table = table
        self.names: list[str] = []
        self.homes: Places = np.full(len(table), NOWHERE, np.int32)
        for name in layout.snapshot.nodes:
            rows = self._rows(layout, name)
            if rows is not None:
                for start, stop in rows:
                    self.homes[start:stop] = len(self.names)
                self.names.append(name)
        self._leave_out_drawing()
        self.places = {name: place for place, name in enumerate(self.names) if name}

    def _rows(self, layout: Layout, name: str) -> list[tuple[int, int]] | None:
        """The rows of a node's devices; None for a node that is not plain."""
        try:
            view = layout.view(name)
        except AllocationError:
            return None
        if not _is_own(view, name):
            return None
        found = []
        for piece in view.pieces:
            start = self.table.listing.places.get(id(piece))
            if start is None:
                return None
            found.append((start, start + len(piece.spec.devices or ())))
        return found

    def _leave_out_drawing(self) -> None:
        """What one such device draws decides about others."""
        column = self.table.made_by(kinds)
        draws = [isinstance(raw, Kind) and raw.draws for raw in column.raws]
        drawing = np.array(draws, np.bool_)[column.codes] & (self.homes != NOWHERE)
        for place in np.unique(self.homes[drawing]).tolist():
            self.names[place] = ""
        gone = np.isin(self.homes, np.unique(self.homes[drawing]))
        self.homes[gone] = NOWHERE


def _is_own(view: NodeView, name: str) -> bool:
    if view.fixed is None or view.elsewhere:
        return False
    if not all(pool.usable and not pool.counter_slices for pool in view.pools):
        return False
    return all(
        piece.spec.node_name == name and not piece.spec.per_device_node_selection
        for piece in view.pieces
    )


_kept: WeakKeyDictionary[Layout, Plain] = WeakKeyDictionary()
_lock: Final = threading.Lock()


def plain_nodes(layout: Layout, table: DeviceTable) -> Plain:
    """Of a layout; worked out once and kept as long as it."""
    with _lock:
        found = _kept.get(layout)
    if found is None or found.table is not table:
        found = Plain(layout, table)
        with _lock:
            _kept[layout] = found
    return found
