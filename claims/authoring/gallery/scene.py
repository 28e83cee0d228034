"""The cluster as recipes see it: its classes with their devices, whoever holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from claims.authoring.choices import Ask, Wanted, attribute_choices, wanted
from claims.authoring.choices.asks import Rows
from claims.authoring.choices.published import Published
from claims.authoring.choices.sites import Places, Sites
from dra.allocation import Features
from dra.cel.catalog import value_text
from dra.cel.columns import Column
from dra.cel.reads import Read
from dra.cel.table import DeviceTable
from dra.familiar_names import PREFERRED, STANDARD
from dra.names import split_qualified_name
from dra.snapshot import Snapshot
from dra.validation import Gates
from dra.validation.advice.ground import ANYWHERE, Mask, ground
from dra.validation.advice.scene import most_on_a_node

MOST_CLASSES: Final = 24
"""Classes that examples are made of, of those with devices."""
MOST_PARTS: Final = 2000
"""Devices that are looked at to see whether they are parts of others."""
_NEAR: Final = ("pcieRoot", "numaNode")
"""Standard attributes that say which devices are near each other, nearest first."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A class that has devices.

    ``whole`` devices draw on no counters, ``drawing`` ones do. ``shareable`` allow
    several allocations. ``most`` are on one node at most. ``configured``: the class
    has parameters for the driver. ``resource`` is its name as an extended resource, or
    empty.
    """

    name: str
    devices: Wanted
    drivers: tuple[str, ...]
    whole: int
    shareable: int
    most: int
    configured: bool
    resource: str

    @property
    def number(self) -> int:
        return len(self.devices)

    @property
    def drawing(self) -> int:
        return self.number - self.whole

    def ask(self, count: int = 1, *expressions: str) -> Ask:
        return Ask(self.name, tuple(expressions), name=self.name, count=count)


class Scene:
    """One snapshot, looked at without who holds what."""

    def __init__(self, snapshot: Snapshot, features: Features, gates: Gates) -> None:
        self.snapshot = snapshot
        self.features = features
        self.gates = gates
        self.table: DeviceTable = snapshot.devices(lists=features.list_type_attributes)

    @cached_property
    def classes(self) -> tuple[Seen, ...]:
        """What people mostly want first.

        That is: what has a name as an extended resource, then classes of one driver
        before those of many, whole devices before partitions, many devices before few.
        """
        found = []
        for name in sorted(self.snapshot.classes):
            devices = wanted(self.snapshot, Ask(name), self.features)
            if len(devices):
                found.append(self._seen(name, devices))
        found.sort(
            key=lambda c: (
                not c.resource,
                len(c.drivers) > 1,
                -c.whole,
                c.drawing,
                c.name,
            )
        )
        return tuple(found[:MOST_CLASSES])

    def _seen(self, name: str, devices: Wanted) -> Seen:
        rows, spec = devices.rows, self.snapshot.classes[name].spec
        given = ground(self.table)
        drivers = Published(self.table, self.table.columns[Read("driver")], rows)
        return Seen(
            name=name,
            devices=devices,
            drivers=tuple(driver for driver, _ in drivers.common(8)),
            whole=len(rows) - int(np.count_nonzero(self._draws[rows])),
            shareable=int(np.count_nonzero(given.shareable[rows]))
            if self.features.consumable_capacity
            else 0,
            most=most_on_a_node(given.nodes[rows]),
            configured=bool(spec.config),
            resource=spec.extended_resource_name or "",
        )

    @cached_property
    def _draws(self) -> Mask:
        devices = self.table.listing.devices
        return np.array([bool(d.consumes_counters) for d in devices], np.bool_)

    def are_parts(self, seen: Seen) -> bool:
        """Whether devices of a class are parts of others: several draw on one counter set."""
        if seen.whole:
            return False
        rows: list[int] = seen.devices.rows[:MOST_PARTS].tolist()
        sets = [
            (self.table.ids[row].pool, drawn.counter_set)
            for row in rows
            for drawn in self.table.listing.devices[row].consumes_counters or ()
        ]
        return len(set(sets)) < len(sets)

    # --- attributes -----------------------------------------------------------

    def published(self, seen: Seen, column: Column) -> Published:
        return Published(self.table, column, seen.devices.rows)

    @cached_property
    def standard(self) -> tuple[tuple[str, Column], ...]:
        """Standard attributes by name, those first that say what is near what."""
        found = [
            (read.identifier, column)
            for read, column in self.table.columns.items()
            if read.kind == "attributes" and read.domain == STANDARD and column.present
        ]
        order = {name: place for place, name in enumerate(_NEAR)}
        found.sort(key=lambda pair: (order.get(pair[0], len(order)), pair[0]))
        return tuple((f"{STANDARD}/{name}", column) for name, column in found)

    def grouping(self, seen: Seen) -> Iterator[tuple[str, Column]]:
        """Attributes of a class's own driver in which some devices of a node agree."""
        for choice in attribute_choices(self.snapshot, [seen.ask(2)], self.features):
            (coverage,) = choice.coverage
            if (
                choice.good_for_match
                and not choice.is_standard
                and not choice.is_list
                and coverage.having == coverage.devices
            ):
                read = Read("attributes", *split_qualified_name(choice.name, ""))
                yield choice.name, self.table.columns[read]

    def places(self, column: Column, asks: Sequence[Ask]) -> Places:
        """What a constraint on an attribute over these requests leaves."""
        found = [wanted(self.snapshot, ask, self.features) for ask in asks]
        sites = Sites(self.table, asks, found, nodes=len(self.snapshot.nodes))
        return sites.places(column, lists=self.features.list_type_attributes)

    def most_alike(self, seen: Seen, column: Column) -> int:
        """How many devices of a class have one value on one node, at most."""
        rows = seen.devices.rows
        nodes, codes = ground(self.table).nodes[rows], column.codes[rows]
        here = (codes != 0) & (nodes != ANYWHERE)
        if not here.any():
            return 0
        pairs = nodes[here].astype(np.int64) * column.size + codes[here]
        _, counts = np.unique(pairs, return_counts=True)
        return int(counts.max())

    def familiar(self, seen: Seen, kind: str) -> list[Published]:
        """What people choose devices by, of one type, that all of the class publish."""
        names = PREFERRED[kind]
        found: list[tuple[int, Read, Published]] = []
        for read, column in self.table.columns.items():
            if not column.present or read.identifier not in names:
                continue
            published = self.published(seen, column)
            if published.type == kind and not published.missing:
                found.append((names.index(read.identifier), read, published))
        return [published for *_, published in sorted(found, key=lambda f: f[:2])]

    def having(self, read: Read, text: str, rows: Rows) -> Mask:
        """Which of the devices at ``rows`` publish ``text``."""
        column = self.table.columns[read]
        codes = column.codes[rows]
        used: list[int] = np.unique(codes[codes != 0]).tolist()
        found = [code for code in used if value_text(column.raws[code]) == text]
        mask: Mask = np.isin(codes, found)
        return mask
