"""Devices that publish the same, told apart by kind instead of one by one."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from claims.authoring.choices.asks import Rows
from dra.allocation.traits import kinds
from dra.cel.table import DeviceTable
from dra.objects import Device

MOST: Final = 2000
"""Kinds that are looked at, those of most devices; more are nearly all of one sort."""


class Kind(NamedTuple):
    """``number`` devices with the capacities, taints and counters of ``device``."""

    device: Device
    number: int


def kinds_of(table: DeviceTable, rows: Rows) -> list[Kind]:
    """The kinds among the devices at ``rows``, those of most devices first."""
    if not len(rows):
        return []
    codes = table.made_by(kinds).codes[rows]
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST].tolist()
    devices = table.listing.devices
    return [Kind(devices[rows[first[at]]], int(counts[at])) for at in order]
