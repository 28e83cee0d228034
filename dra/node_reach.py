"""Which devices of a cluster a node reaches, and how, as numbers in table order."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dra.cel.table import DeviceTable
from dra.errors import SelectorError
from dra.node_pools import PoolFeatures, is_relevant, selects_node
from dra.objects import Node, ResourceSlice


class Way(StrEnum):
    """How a node comes to a device."""

    NOT = "not at all"
    NAME = "by name"
    """The slice or the device names the node: no other node reaches it."""
    EVERY = "every node"
    SELECTOR = "by selector"
    DEVICE = "per device"
    """The slice leaves it to each device, and this one is for several nodes."""


WAYS: Final = tuple(Way)
"""A code is the place of the way here."""
_CODES: Final = {way: code for code, way in enumerate(WAYS)}


class Reach(NamedTuple):
    """The way to each device of a table. ``troubles``: slices that nobody can read.

    The scheduler gives up on a node for which it has to read one of those.
    """

    codes: NDArray[np.uint8]
    troubles: Sequence[str]

    @property
    def any_way(self) -> NDArray[np.bool_]:
        """The devices that the node reaches."""
        found: NDArray[np.bool_] = self.codes != _CODES[Way.NOT]
        return found

    @property
    def with_others(self) -> NDArray[np.bool_]:
        """Those among them that are not the node's own."""
        found: NDArray[np.bool_] = self.codes > _CODES[Way.NAME]
        return found


def node_reach(table: DeviceTable, node: Node, features: PoolFeatures) -> Reach:
    """The way from ``node`` to each device of a snapshot's ``table``.

    The same slices as in :func:`dra.node_pools.pools_for_node`, whether or not their
    pool can be used: a device's state says that.
    """
    codes = np.zeros(len(table), np.uint8)
    troubles: list[str] = []
    known: _Known = {}
    for piece, _, start, stop in table.listing.blocks:
        assert piece is not None
        try:
            if is_relevant(piece, node, features):
                codes[start:stop] = _ways(piece, node, known)
        except SelectorError as error:
            troubles.append(str(error))
    return Reach(codes, troubles)


type _Known = dict[tuple[str | None, bool | None, int], bool]
"""Whether the node is meant, by what a device says: thousands say the same."""


def _ways(piece: ResourceSlice, node: Node, known: _Known) -> int | list[int]:
    """One code for all devices of a slice that is for ``node``, or one for each."""
    spec = piece.spec
    if not spec.per_device_node_selection:
        if spec.node_name:
            return _CODES[Way.NAME]
        return _CODES[Way.EVERY if spec.all_nodes else Way.SELECTOR]
    found = []
    for device in spec.devices or ():
        said = (device.node_name, device.all_nodes, id(device.node_selector))
        there = known.get(said)
        if there is None:
            try:
                there = known[said] = selects_node(device, node)
            except SelectorError as error:
                # A slice's own check stops at the first device that is for the node.
                raise SelectorError(
                    f"slice {piece.metadata.name}, device {device.name}: {error}"
                ) from error
        own = spec.node_name or device.node_name
        way = (Way.NAME if own else Way.DEVICE) if there else Way.NOT
        found.append(_CODES[way])
    return found
