"""Attributes that a constraint over some requests could compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from claims.authoring.choices.asks import Ask, Wanted, table_of, wanted
from claims.authoring.choices.memory import remembered
from claims.authoring.choices.published import types_of
from claims.authoring.choices.sites import Places, Sites
from claims.authoring.choices.words import counted, listed
from dra.allocation import DEFAULT, Features
from dra.cel.catalog import most_common, value_text
from dra.cel.columns import Column
from dra.cel.table import DeviceTable
from dra.familiar_names import STANDARD, meaning
from dra.snapshot import Snapshot
from dra.validation.advice.ground import ground

MOST: Final = 64
"""Attributes that are looked at, those that most devices publish."""
MOST_REQUESTS: Final = 32
_SHOWN: Final = 4
_LISTS: Final = {
    "strings": "string",
    "ints": "int",
    "bools": "bool",
    "versions": "version",
}
_TYPES: Final = {"int": "whole number", "bool": "true or false", "string": "text"}


@dataclass(frozen=True, slots=True)
class Coverage:
    """``having`` of the ``devices`` that a request could take publish the attribute."""

    request: str
    having: int
    devices: int

    @property
    def text(self) -> str:
        return f"{self.having:,} of {self.devices:,}"


@dataclass(frozen=True, slots=True)
class AttributeChoice:
    """One attribute, ``domain/name`` as constraints write it.

    ``type`` is "string", "int", "bool" or "version", and ``is_list`` says that some
    devices have several values: two agree when they have one in common.
    ``coverage`` is per request in the order asked. Of the devices of all requests
    there are ``distinct`` different values; ``values`` are the most common, with
    devices of each. ``unique``: no two have the same one.

    Were all devices free, on ``match_nodes`` of the ``nodes`` that have devices
    enough they could agree, on ``distinct_nodes`` all differ (None: not known). The
    constraint is ``good_for_match`` or ``good_for_distinct`` where it can be met and
    says something. ``meaning`` explains a standard attribute, else it is empty.
    """

    name: str
    type: str
    is_list: bool
    is_standard: bool
    coverage: tuple[Coverage, ...]
    distinct: int
    values: tuple[tuple[str, int], ...]
    unique: bool
    nodes: int
    match_nodes: int
    distinct_nodes: int | None
    good_for_match: bool
    good_for_distinct: bool
    meaning: str
    sentence: str


def attribute_choices(
    snapshot: Snapshot, asks: Sequence[Ask], features: Features = DEFAULT
) -> list[AttributeChoice]:
    """What a constraint over ``asks`` could compare, standard attributes first.

    An attribute is offered when devices of every request publish it with a common
    type. Empty where a request has no devices, or there is none.
    """
    table = table_of(snapshot, features)
    asked = tuple(asks)[:MOST_REQUESTS]
    found = [wanted(snapshot, ask, features) for ask in asked]
    if not asked or not all(len(devices) for devices in found):
        return []
    return list(
        remembered(
            table,
            ("attributes", asked, len(snapshot.nodes)),
            tuple(found),
            lambda: _choices(table, asked, found, nodes=len(snapshot.nodes)),
        )
    )


def _choices(
    table: DeviceTable, asks: Sequence[Ask], found: Sequence[Wanted], *, nodes: int
) -> tuple[AttributeChoice, ...]:
    sites = Sites(table, asks, found, nodes=nodes)
    choices = [
        _Looked(table, column, asks, found, sites).choice()
        for column in _common(table, found)
    ]
    return tuple(sorted((c for c in choices if c is not None), key=_place))


def _place(choice: AttributeChoice) -> tuple[bool, bool, bool, float, str]:
    covered = min(c.having / c.devices for c in choice.coverage)
    useful = choice.good_for_match or choice.good_for_distinct
    return (
        not (choice.is_standard and useful),
        not choice.good_for_match,
        not choice.good_for_distinct,
        -covered,
        choice.name,
    )


def _common(table: DeviceTable, found: Sequence[Wanted]) -> list[Column]:
    """The attributes that every request has devices with, at most :data:`MOST`."""
    having: list[tuple[int, Column]] = []
    for read, column in table.columns.items():
        if read.kind != "attributes" or not column.present:
            continue
        least = min(int(np.count_nonzero(column.codes[d.rows])) for d in found)
        if least:
            having.append((least, column))
    having.sort(key=lambda pair: -pair[0])
    return [column for _, column in having[:MOST]]


class _Looked:
    """One attribute, looked at for all requests together."""

    def __init__(
        self,
        table: DeviceTable,
        column: Column,
        asks: Sequence[Ask],
        found: Sequence[Wanted],
        sites: Sites,
    ) -> None:
        self.table = table
        self.column = column
        self.asks = asks
        self.found = found
        self.sites = sites
        self.name = f"{column.read.domain}/{column.read.identifier}"

    def choice(self) -> AttributeChoice | None:
        types = types_of(self.table, self.column)
        common = self._common_types(types)
        if not common:
            return None
        is_list = any(name in _LISTS for name in types)
        counts = self._counts(self.sites.rows)
        distinct = int(np.count_nonzero(counts))
        unique = not is_list and 1 < distinct == int(counts.sum())
        places = self.sites.places(self.column, lists=is_list)
        total = sum(ask.count for ask in self.asks)
        several = total > 1 or any(ask.everything for ask in self.asks)
        standard = self.column.read.domain == STANDARD
        says = _Says(
            places, self.sites.nodes, unique=unique, several=several, is_list=is_list
        )
        return AttributeChoice(
            name=self.name,
            type=listed(sorted(common), "or"),
            is_list=is_list,
            is_standard=standard,
            coverage=self._coverage(),
            distinct=distinct,
            values=tuple(
                (value_text(self.column.raws[code]), int(counts[code]))
                for code in most_common(counts, _SHOWN)
            ),
            unique=unique,
            nodes=self.sites.nodes,
            match_nodes=places.match,
            distinct_nodes=places.distinct,
            good_for_match=says.match,
            good_for_distinct=says.distinct,
            meaning=meaning(self.name),
            sentence=says.sentence(),
        )

    def _counts(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        counts = np.bincount(self.column.codes[rows], minlength=self.column.size)
        counts[0] = 0
        return counts

    def _coverage(self) -> tuple[Coverage, ...]:
        return tuple(
            Coverage(
                ask.name or ask.class_name,
                int(np.count_nonzero(self.column.codes[devices.rows])),
                len(devices),
            )
            for ask, devices in zip(self.asks, self.found, strict=True)
        )

    def _common_types(self, types: frozenset[str]) -> set[str]:
        """The types with which devices of every request publish it."""
        known = types - {"nothing"}
        if len(known) == 1 == len(types):
            return {_LISTS.get(name, name) for name in known}
        kinds = ground(self.table).kinds(self.column)
        each = [kinds.types(self.column.codes[d.rows]) for d in self.found]
        return set.intersection(*each)


@dataclass(frozen=True, slots=True)
class _Says:
    """What a constraint on one attribute would come to."""

    places: Places
    nodes: int
    unique: bool
    several: bool
    is_list: bool

    @property
    def match(self) -> bool:
        return self.several and self.places.match > 0 and self.places.varied > 0

    @property
    def distinct(self) -> bool:
        return self.several and self.places.distinct != 0 and self.places.varied > 0

    def sentence(self) -> str:
        if not self.nodes:
            return (
                "No node has enough devices for the requests, with or without a "
                "constraint."
            )
        if not self.several:
            return "One device has nothing to agree with: ask for more than one."
        if self.unique:
            return f"Every device has a value of its own. {self._sharing()} {self._differing()}"
        if not self.places.varied:
            return (
                "All devices of a node have one value: match changes nothing, distinct "
                "can never be met."
            )
        return f"{self._matching()} {self._differing()}"

    def _sharing(self) -> str:
        """Match of values that no two devices have in common."""
        if not self.places.match:
            return "Match can never be met."
        return (
            f"Match: every request gets a share of the same device, on "
            f"{self._on(self.places.match)}."
        )

    def _matching(self) -> str:
        words = "have a value in common" if self.is_list else "have the same value"
        if not self.places.match:
            return f"Match can be met on no node: too few devices {words}."
        return f"Match: enough devices {words} on {self._on(self.places.match)}."

    def _differing(self) -> str:
        if self.places.distinct is None:
            return "Distinct: whether enough devices differ, the preview tells."
        if not self.places.distinct:
            return "Distinct can be met on no node."
        return f"Distinct: enough devices differ on {self._on(self.places.distinct)}."

    def _on(self, number: int) -> str:
        if number >= self.nodes:
            return f"all {counted(number, 'node')} that have enough of them"
        return f"{number:,} of {counted(self.nodes, 'node')} that have enough of them"
