"""The only writer of the tables that say what a cluster offers.

``store`` has what all kinds share (also those of ``claims``), ``kinds`` the kinds,
``pools`` what follows from slices: pools, devices and their states.
"""

from __future__ import annotations

from inventory.mirror.columns import Columns
from inventory.mirror.kinds import (
    DeviceClassStore,
    DeviceTaintRuleStore,
    NamespaceStore,
    NodeStore,
    ResourceSliceStore,
)
from inventory.mirror.pools import Holdings, pool_filter, refresh_states
from inventory.mirror.reading import Reading, fit, moment
from inventory.mirror.store import Derivation, Known, MirrorStore, Written
from inventory.mirror.writing import (
    ClusterGoneError,
    Guard,
    Writer,
    no_guard,
    writing,
)

__all__ = [
    "ClusterGoneError",
    "Columns",
    "Derivation",
    "DeviceClassStore",
    "DeviceTaintRuleStore",
    "Guard",
    "Holdings",
    "Known",
    "MirrorStore",
    "NamespaceStore",
    "NodeStore",
    "Reading",
    "ResourceSliceStore",
    "Writer",
    "Written",
    "fit",
    "moment",
    "no_guard",
    "pool_filter",
    "refresh_states",
    "writing",
]
