"""CEL terms that tell the devices of a request apart, ready to be put into a selector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from claims.authoring.choices.asks import Ask, Rows, table_of, wanted
from claims.authoring.choices.memory import remembered
from claims.authoring.choices.published import ORDERED, Published, Test
from dra.allocation import DEFAULT, Features
from dra.cel.columns import Column
from dra.cel.reads import MAPS, Read
from dra.cel.table import DeviceTable
from dra.cel.writing import literal
from dra.familiar_names import PREFERRED, STANDARD
from dra.snapshot import Snapshot
from dra.validation.advice.ground import ground

MOST: Final = 24
"""Snippets in one answer."""
_LOOKED_AT: Final = 64
"""Attributes and capacities that are looked at, those that most devices publish."""
_MOST_VALUES: Final = 3
"""Snippets of one attribute."""
_MOST_ROWS: Final = 4096
"""Devices that are looked at to see whether a value names one of its node."""
_FEW: Final = 16
"""Different values with which an attribute sorts devices into groups."""
_PER_TYPE: Final = 100
_UNFAMILIAR: Final = 1000
"""Places in the list: a hundred per type, then what nobody knows by name."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A term that is true on ``devices`` of the ``of`` that match now.

    ``label`` says it in words. It never fails on one of them: where some lack the
    attribute, the term says what counts for these.
    """

    label: str
    expression: str
    devices: int
    of: int


def selector_snippets(
    snapshot: Snapshot, ask: Ask, features: Features = DEFAULT
) -> list[Snippet]:
    """Terms for the devices that match, those first that leave some of them out.

    Taints are no part of what a selector sees: see :mod:`.taints` for these.
    """
    table = table_of(snapshot, features)
    devices = wanted(snapshot, ask, features)
    if not len(devices):
        return []
    return list(
        remembered(
            table,
            ("snippets", ask.class_name, ask.selectors, features.consumable_capacity),
            (devices,),
            lambda: _snippets(table, devices.rows, shares=features.consumable_capacity),
        )
    )


def _snippets(table: DeviceTable, rows: Rows, *, shares: bool) -> tuple[Snippet, ...]:
    found: dict[str, Test] = {}
    for published in _familiar_first(table, rows):
        for test in _tests(published):
            if test.devices:
                found.setdefault(test.expression, test)
    for test in _scalars(table, rows, shares=shares):
        found.setdefault(test.expression, test)
    ordered = sorted(found.values(), key=lambda test: test.devices == len(rows))
    return tuple(
        Snippet(test.label, test.expression, test.devices, len(rows))
        for test in ordered[:MOST]
    )


def _familiar_first(table: DeviceTable, rows: Rows) -> list[Published]:
    """What people choose by in that order, then what sorts devices into few groups."""
    having: list[tuple[int, Column]] = []
    for read, column in table.columns.items():
        if read.kind in MAPS and column.present:
            number = int(np.count_nonzero(column.codes[rows]))
            if number:
                having.append((number, column))
    having.sort(key=lambda pair: -pair[0])
    found = []
    for number, column in having[:_LOOKED_AT]:
        published = Published(table, column, rows)
        place = _place(published)
        if place is not None and not (
            place >= _UNFAMILIAR and _names_devices(table, column, rows)
        ):
            found.append(((place, -number, column.read), published))
    return [published for _, published in sorted(found, key=lambda pair: pair[0])]


def _place(published: Published) -> int | None:
    """The place in the list; None for what is no help to choose by."""
    kinds = list(PREFERRED)
    if published.distinct > max(_FEW, published.having // 2):
        return None
    if published.type not in kinds:
        return None
    names, name = PREFERRED[published.type], published.read.identifier
    if name in names:
        return kinds.index(published.type) * _PER_TYPE + names.index(name)
    groups = 1 < published.distinct <= _FEW and published.read.domain != STANDARD
    return _UNFAMILIAR if groups else None


def _names_devices(table: DeviceTable, column: Column, rows: Rows) -> bool:
    """Whether the devices of a node all differ in it, as in a number or an address."""
    rows = rows[:_MOST_ROWS]
    nodes = ground(table).nodes[rows].astype(np.int64)
    pairs = nodes * column.size + column.codes[rows]
    return len(np.unique(pairs)) == len(rows) > len(np.unique(nodes))


def _tests(published: Published) -> Iterator[Test]:
    familiar = published.read.identifier in PREFERRED[published.type]
    most = _MOST_VALUES if familiar else 1
    if published.type in ORDERED:
        sizes = published.sizes
        # The smallest size leaves out nobody: of several it is no help.
        values = [(text, number) for text, _, number in sizes[: max(1, len(sizes) - 1)]]
    else:
        values = list(published.common(most))
    for value, number in values[:most]:
        test = published.test(value, number)
        if test is not None:
            yield test


def _scalars(table: DeviceTable, rows: Rows, *, shares: bool) -> Iterator[Test]:
    """Drivers, where there are several, and whether devices are shared."""
    drivers = Published(table, table.columns[Read("driver")], rows)
    if drivers.distinct > 1:
        for name, devices in drivers.common(_MOST_VALUES):
            expression = f"device.driver == {literal(name)}"
            yield Test(f"driver is {name}", expression, devices)
    shareable = Published(table, table.columns[Read("allowMultipleAllocations")], rows)
    if shares and shareable.distinct > 1:
        counts = dict(shareable.common(2))
        yes, no = counts.get("true", 0), counts.get("false", 0)
        yield Test("shared by several claims", "device.allowMultipleAllocations", yes)
        yield Test("not shared", "!device.allowMultipleAllocations", no)
