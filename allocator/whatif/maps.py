"""Nodes with their devices before and after a scenario, as data for the device map."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from dra.device_states import STATES, table_states
from dra.objects import Device
from dra.snapshot import Snapshot
from dra.usage import State
from dra.whatif.counting import node_of_rows
from dra.whatif.result import Result

type Json = dict[str, Any]
type Cells = list[list[Any]]
type Side = tuple[Cells, list[int]]
"""The devices that are drawn, and how many are free and there in all."""

MOST_NODES: Final = 24
MOST_DEVICES: Final = 300
"""Of one node that are drawn; all of them are counted."""
_FREE: Final = STATES.index(State.FREE)


def node_maps(before: Snapshot, after: Snapshot, result: Result) -> list[Json]:
    """The nodes that change, first those that lose devices, then by name.

    Each is ``{"node", "before", "after", "counts", "cordoned"}``, the last one whether it
    takes no new pods afterwards; a side is a list of ``[driver, pool,
    device, state, counter set, counters]``, or None where the node does not exist.
    ``counters`` is how many counters of the set the device draws on. ``counts`` are
    ``[free, all]`` of both sides, more than the lists have where these are cut.
    """
    names = _concerned(result)
    sides = [_sides(snapshot, names) for snapshot in (before, after)]
    nowhere = (None, None)
    return [
        {
            "node": name,
            "before": sides[0].get(name, nowhere)[0],
            "after": sides[1].get(name, nowhere)[0],
            "counts": [side.get(name, nowhere)[1] for side in sides],
            "cordoned": name in after.nodes and after.nodes[name].spec.unschedulable,
        }
        for name in names
        if sides[0].get(name) != sides[1].get(name)
    ][:MOST_NODES]


def _concerned(result: Result) -> list[str]:
    """Names of nodes, a few more than are shown: some may look the same after all."""
    found: dict[str, None] = {}
    changed = result.difference.nodes
    for names in (
        (loss.node for loss in result.losses),
        (n.name for n in changed if n.before is None or n.after is None),
        (loss.new_node for loss in result.losses),
        (placement.node for placement in result.placements),
        (device.node for device in result.difference.devices),
        (n.name for n in changed if n.before != n.after),
    ):
        _add(found, names)
    return list(found)


def _add(found: dict[str, None], names: Iterable[str]) -> None:
    for name in names:
        if len(found) >= 2 * MOST_NODES:
            return
        if name:
            found[name] = None


def _sides(snapshot: Snapshot, names: Iterable[str]) -> dict[str, Side]:
    listing = snapshot.devices().listing
    codes = table_states(snapshot)
    known, homes = node_of_rows(listing)
    numbers = {name: number for number, name in enumerate(known)}
    found: dict[str, Side] = {}
    for name in names:
        number = numbers.get(name)
        rows = [] if number is None else np.flatnonzero(homes == number).tolist()
        if not rows and name not in snapshot.nodes:
            continue
        cells = [
            [*listing[row], STATES[codes[row]].value, *_draws_on(listing.devices[row])]
            for row in rows[:MOST_DEVICES]
        ]
        free = int(np.count_nonzero(codes[rows] == _FREE)) if rows else 0
        found[name] = (cells, [free, len(rows)])
    return found


def _draws_on(device: Device) -> tuple[str, int]:
    if not device.consumes_counters:
        return "", 0
    first = device.consumes_counters[0]
    return first.counter_set, len(first.counters or ())
