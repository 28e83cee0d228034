"""On which nodes a constraint over several requests could be met, were all devices free.

Counting instead of searching, which is exact: devices can be given to requests if
and only if every group of requests finds enough of them (Hall's theorem; a device
that allows several allocations serves every request once).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations as subsets
from typing import Final

import numpy as np
from numpy.typing import NDArray

from claims.authoring.choices.asks import Ask, Wanted
from dra.allocation.constraints import value_set
from dra.cel.columns import ABSENT, Column
from dra.cel.selection import Part, combinations
from dra.cel.table import DeviceTable
from dra.objects import DeviceAttribute
from dra.validation.advice.ground import ground

type Numbers = NDArray[np.int64]
type Amounts = NDArray[np.float64]

EXACT: Final = 4
"""With more requests than this only each alone and all together are counted."""
MOST_FAR: Final = 256
"""Values of devices that every node reaches, tried where a request wants all devices."""


@dataclass(frozen=True, slots=True)
class Places:
    """What a constraint leaves.

    ``match`` and ``distinct`` are the numbers of nodes on which the requests can have
    devices that agree, or that all differ; ``distinct`` is None where devices have
    several values each and counting does not tell. ``varied`` are the nodes on which
    the devices do not all have one value.
    """

    match: int
    distinct: int | None
    varied: int


class Sites:
    """The devices of several asks by node.

    A device that several nodes reach counts for every node. ``rows`` are all these
    devices, ``nodes`` the number of nodes on which the requests find devices enough
    without any constraint.
    """

    def __init__(
        self,
        table: DeviceTable,
        asks: Sequence[Ask],
        found: Sequence[Wanted],
        *,
        nodes: int,
    ) -> None:
        """``nodes`` is how many the cluster has."""
        given = ground(table)
        asks, found = _merged(asks, found, given.shareable)
        bits = np.zeros(len(table), np.int64)
        for place, devices in enumerate(found):
            bits[devices.rows] |= 1 << place
        self.rows = np.flatnonzero(bits)
        self._bits = bits[self.rows]
        self._shareable = given.shareable[self.rows]
        # Node 0 has what every node reaches: it stands for nodes without more.
        self._nodes: Numbers = given.nodes[self.rows].astype(np.int64) + 1
        self._own = int(given.nodes.max(initial=-1)) + 1
        self._bare = max(0, nodes - self._own)
        self._everything = any(ask.everything for ask in asks)
        groups = list(_groups(len(asks)))
        needs = [self._need(ask, place) for place, ask in enumerate(asks)]
        self._groups = [
            (self._weight(group), np.sum([needs[place] for place in group], axis=0))
            for group in groups
        ]
        self.nodes = self._counted(self._enough_somehow())

    def _weight(self, group: Sequence[int]) -> Amounts:
        """How many requests of a group each device can serve."""
        serves = np.sum([self._bits >> place & 1 for place in group], axis=0)
        weight = np.where(self._shareable, serves, np.minimum(serves, 1))
        return weight.astype(np.float64)

    def _need(self, ask: Ask, place: int) -> Amounts:
        """Devices that an ask needs on each node."""
        if not ask.everything:
            return np.full(self._own + 1, float(ask.count))
        mine = (self._bits >> place & 1).astype(np.float64)
        return np.maximum(self._by_node(self._nodes, mine), 1.0)

    def _by_node(self, nodes: Numbers, amounts: Amounts | None = None) -> Amounts:
        """Sums by node, with what every node reaches."""
        here = np.bincount(nodes, amounts, minlength=self._own + 1).astype(np.float64)
        here[1:] += here[0]
        return here

    def _counted(self, fits: NDArray[np.bool_]) -> int:
        """How many nodes these are."""
        return int(np.count_nonzero(fits[1:])) + (self._bare if fits[0] else 0)

    def _enough_somehow(self) -> NDArray[np.bool_]:
        enough = np.ones(self._own + 1, np.bool_)
        for weights, need in self._groups:
            enough &= self._by_node(self._nodes, weights) >= need
        return enough

    def places(self, column: Column, *, lists: bool) -> Places:
        """What a constraint on this attribute leaves; ``lists``: values may be lists."""
        which, values, several = _values(column, column.codes[self.rows], lists=lists)
        size = int(values.max(initial=0)) + 1
        parts = [Part(self._nodes[which], self._own + 1), Part(values, size)]
        pairs = combinations(parts, len(which))
        at, value = self._nodes[which][pairs.first], values[pairs.first]
        matching = np.ones(len(at), np.bool_)
        differing = np.ones(self._own + 1, np.bool_)
        kinds = np.zeros(self._own + 1)
        far: list[Amounts] = []
        for weights, need in self._groups:
            here = np.bincount(pairs.which, weights[which], minlength=len(at))
            everywhere = np.zeros(size)
            everywhere[value[at == 0]] = here[at == 0]
            far.append(everywhere)
            matching &= here + np.where(at == 0, 0, everywhere[value]) >= need[at]
            new = (here > 0) & ((at == 0) | (everywhere[value] == 0))
            kinds = self._by_node(at[new])
            differing &= kinds >= need
        agreeing = self._from_afar(far)
        agreeing[at[matching]] = True
        return Places(
            match=self._counted(agreeing),
            distinct=None if several else self._counted(differing),
            # The last group is all requests together.
            varied=self._counted(kinds > 1),
        )

    def _from_afar(self, far: Sequence[Amounts]) -> NDArray[np.bool_]:
        """Nodes for which devices suffice that every node reaches.

        ``far`` has the devices by value, for each group of requests.
        """
        fits = np.zeros(self._own + 1, np.bool_)
        values = np.flatnonzero(far[-1])
        if self._everything:
            values = values[:MOST_FAR]
        for value in values.tolist():
            enough = np.ones(self._own + 1, np.bool_)
            for (_, need), everywhere in zip(self._groups, far, strict=True):
                enough &= everywhere[value] >= need
            fits |= enough
            if fits[0] and not self._everything:
                break  # needs are the same everywhere
        return fits


def _merged(
    asks: Sequence[Ask], found: Sequence[Wanted], shareable: NDArray[np.bool_]
) -> tuple[Sequence[Ask], Sequence[Wanted]]:
    """Requests for the same devices, none of which is shared, are one for more of them."""
    counts: dict[int, int] = {}
    for ask, devices in zip(asks, found, strict=True):
        if ask.everything or shareable[devices.rows].any():
            return asks, found
        counts[id(devices)] = counts.get(id(devices), 0) + ask.count
    firsts = {id(devices): devices for devices in reversed(found)}
    merged = [Ask("", count=counts[key]) for key in firsts]
    return merged, list(firsts.values())


def _groups(count: int) -> Iterator[tuple[int, ...]]:
    everyone = tuple(range(count))
    for size in range(1, count + 1):
        if size in (1, count) or count <= EXACT:
            yield from subsets(everyone, size)


def _values(
    column: Column, codes: NDArray[np.int32], *, lists: bool
) -> tuple[NDArray[np.intp], Numbers, bool]:
    """Devices and a value of each, both as numbers; a device comes once per value.

    True besides where some device has more than one.
    """
    if not lists:
        which = np.flatnonzero(codes != ABSENT)
        return which, codes[which].astype(np.int64), False
    numbers: dict[tuple[str, object], int] = {}
    which_parts, value_parts, several = [], [], False
    for code in np.unique(codes).tolist():
        raw = column.raws[code]
        found = value_set(raw) if isinstance(raw, DeviceAttribute) else None
        if found is None:
            continue
        here = np.flatnonzero(codes == code)
        several = several or len(found.members) > 1
        for member in found.members:
            number = numbers.setdefault((found.type, member), len(numbers))
            which_parts.append(here)
            value_parts.append(np.full(len(here), number, np.int64))
    if not which_parts:
        return np.zeros(0, np.intp), np.zeros(0, np.int64), False
    return np.concatenate(which_parts), np.concatenate(value_parts), several
