"""The only writer of the tables that say what a cluster offers.

``store`` has what all kinds share (also those of ``claims``), ``kinds`` the kinds,
``pools`` what follows from slices: pools, devices and their states.
"""

from __future__ import annotations

from inventory.mirror.columns import Columns
from inventory.mirror.derivation import Derivation, Known, Written
from inventory.mirror.kinds import (
    DeviceClassStore,
    DeviceTaintRuleStore,
    NamespaceStore,
    NodeStore,
    ResourceSliceStore,
)
from inventory.mirror.pools import Holdings, pool_filter, refresh_states
from inventory.mirror.reading import Key, Reading, fit, key_of, moment, read_object
from inventory.mirror.store import MirrorStore
from inventory.mirror.tombstones import prune_tombstones
from inventory.mirror.writing import (
    ALWAYS,
    ClusterGoneError,
    Guard,
    Writer,
    idle_writer,
    writing,
)

__all__ = [
    "ALWAYS",
    "ClusterGoneError",
    "Columns",
    "Derivation",
    "DeviceClassStore",
    "DeviceTaintRuleStore",
    "Guard",
    "Holdings",
    "Key",
    "Known",
    "MirrorStore",
    "NamespaceStore",
    "NodeStore",
    "Reading",
    "ResourceSliceStore",
    "Writer",
    "Written",
    "fit",
    "idle_writer",
    "key_of",
    "moment",
    "pool_filter",
    "prune_tombstones",
    "read_object",
    "refresh_states",
    "writing",
]
