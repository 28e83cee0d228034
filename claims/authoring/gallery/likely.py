"""Nodes on which an example probably fits, so that most need no look at all nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from claims.authoring.choices import Ask, wanted
from claims.authoring.choices.asks import Rows
from claims.authoring.gallery.examples import Draft
from dra.allocation import Features
from dra.allocation.placing import schedulable
from dra.cel.table import DeviceTable
from dra.device_states import STATES, table_states
from dra.snapshot import Snapshot
from dra.usage import State
from dra.validation.advice.ground import ANYWHERE, ground
from inventory.selecting import node_names

MOST: Final = 2
"""Nodes that are tried one by one."""
_LOOKED_AT: Final = 8
_USABLE: Final = [STATES.index(State.FREE), STATES.index(State.SHARED)]


def likely_nodes(
    snapshot: Snapshot, draft: Draft, features: Features, *, free: bool
) -> list[str]:
    """Nodes with devices for every request, those with most first; of equal ones the
    first in the table.

    ``free``: only devices count that claims may have now.
    """
    table = snapshot.devices(lists=features.list_type_attributes)
    found = _nodes(snapshot, table, draft, features, free=free)
    if draft.node_names is None:
        usable = set(schedulable(snapshot))
    else:
        usable = set(draft.node_names)
    return [name for name in found if name in usable][:MOST]


def _nodes(
    snapshot: Snapshot,
    table: DeviceTable,
    draft: Draft,
    features: Features,
    *,
    free: bool,
) -> list[str]:
    places = ground(table).nodes
    usable = np.isin(table_states(snapshot), _USABLE) if free else None
    least: np.ndarray | None = None
    rows: Rows = np.zeros(0, np.intp)
    for ask in _asks(draft):
        rows = wanted(snapshot, ask, features).rows
        if usable is not None:
            rows = rows[usable[rows]]
        rows = rows[places[rows] != ANYWHERE]
        here = np.bincount(places[rows], minlength=int(places.max(initial=0)) + 1)
        least = here if least is None else np.minimum(least, here)
    if least is None or not least.any():
        return []
    order = np.argsort(-least, kind="stable")[:_LOOKED_AT]
    best = [int(place) for place in order if least[place]]
    # A device of the last request stands for its node.
    samples = [int(rows[np.argmax(places[rows] == place)]) for place in best]
    names = node_names(table, samples)
    return [names[row] for row in samples]


def _asks(draft: Draft) -> Iterator[Ask]:
    """Every request; of alternatives the first."""
    for devices in draft.needs:
        for request in devices["requests"]:
            details: dict[str, Any] = (
                request.get("exactly") or request["firstAvailable"][0]
            )
            yield Ask.of(details)
