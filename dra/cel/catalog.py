"""What can be read in a cluster: every attribute and capacity, with types and values.

The editor completes from it, and warnings name what was probably meant.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Final
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
from numpy.typing import NDArray

from dra.cel.columns import Column
from dra.cel.likeness import closest
from dra.cel.reads import Read
from dra.cel.table import DeviceTable
from dra.objects import DeviceAttribute, DeviceCapacity
from dra.semver import Version

EXAMPLES: Final = 5
"""Values that :class:`Known` shows at most."""

_MEMBERS: Final = {
    "string": "string",
    "version": "version",
    "int_": "int",
    "bool_": "bool",
    "strings": "strings",
    "ints": "ints",
    "bools": "bools",
    "versions": "versions",
}
"""The members of an attribute, of which one is set, by how common they are."""


_BY_VALUE: Final[Mapping[type, str]] = {
    str: "string",
    Version: "version",
    int: "int",
    bool: "bool",
}
"""The type by that of the CEL value, where this alone tells it."""


class Known(msgspec.Struct, frozen=True):
    """One thing that can be read.

    ``types`` counts devices by the type they publish it with: "string", "int",
    "bool", "version", "quantity", lists as "strings" and so on, "nothing" for an
    attribute without a value. ``devices`` publish it, with ``distinct`` different
    spellings of the value; ``examples`` are the most common ones, at most
    :data:`EXAMPLES`.
    """

    read: Read
    types: Mapping[str, int]
    devices: int
    distinct: int
    examples: tuple[str, ...]


class Catalog(Mapping[Read, Known]):
    """All that the devices of one table publish, and how many there are.

    A column is looked at when it is first asked for: at 100,000 devices that takes
    up to a few milliseconds.
    """

    def __init__(self, table: DeviceTable) -> None:
        self._columns = table.columns
        self._known: dict[Read, Known] = {}
        self.devices = len(table)

    @property
    def known(self) -> Mapping[Read, Known]:
        return self

    def __getitem__(self, read: Read) -> Known:
        found = self._known.get(read)
        if found is None:
            column = self._columns[read]
            if not column.present:
                raise KeyError(read)
            found = self._known[read] = look(column)
        return found

    def __iter__(self) -> Iterator[Read]:
        return (read for read, column in self._columns.items() if column.present)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, read: object) -> bool:
        column = self._columns.get(read) if isinstance(read, Read) else None
        return column is not None and column.present > 0

    def domains(self, kind: str) -> Mapping[str, int]:
        """The domains of "attributes" or "capacity", with devices of each, sorted."""
        masks: dict[str, NDArray[np.bool_]] = {}
        for read, column in self._columns.items():
            if read.kind == kind and column.present:
                mask = column.codes != 0
                masks[read.domain] = masks.get(read.domain, mask) | mask
        return {name: int(np.count_nonzero(masks[name])) for name in sorted(masks)}

    def near(self, wanted: Read, *, most: int = 3) -> tuple[Read, ...]:
        """What ``wanted``, which nobody publishes, was probably meant to be.

        Best first: the same name in the other map, in a domain of a like name, or in
        any domain of devices that have the wanted domain; then a like name in that
        domain, and a like name in a like domain. For ``Read("driver", name)`` the
        drivers, and for a ``wanted`` without identifier the domains, with names like
        it.
        """
        kind, domain, identifier = wanted
        if kind == "driver":
            return tuple(Read("driver", name) for name in self.near_drivers(domain))
        if not identifier:
            names = [(name, Read(kind, name)) for name in self.domains(kind)]
            return tuple(closest(domain, names, most=most))
        published = [read for read in self if read.domain and read != wanted]
        same = [read for read in published if read.identifier == identifier]
        beside = [(r.identifier, r) for r in published if r[:2] == wanted[:2]]
        found = [
            *(read for read in same if read.domain == domain),
            *closest(domain, [(read.domain, read) for read in same], most=most),
            *(read for read in same if self._meet(read, wanted)),
            *closest(identifier, beside, most=most),
        ]
        if not found:
            names = [(read.identifier, read) for read in published]
            like = closest(identifier, names, most=len(names))
            found = closest(domain, [(read.domain, read) for read in like], most=most)
        return tuple(dict.fromkeys(found))[:most]

    def _meet(self, read: Read, wanted: Read) -> bool:
        """Whether devices with the domain of ``wanted`` publish ``read``."""
        codes = self._columns[read].codes
        return any(
            bool((codes[column.codes != 0] != 0).any())
            for other, column in self._columns.items()
            if other[:2] == wanted[:2] and column.present
        )

    def near_drivers(self, wanted: str, *, most: int = 3) -> tuple[str, ...]:
        """Drivers with names like ``wanted``."""
        column = self._columns[Read("driver")]
        counts = np.bincount(column.codes, minlength=column.size)
        used = [str(column.raws[code]) for code in np.flatnonzero(counts).tolist()]
        return tuple(closest(wanted, [(name, name) for name in used], most=most))


_kept: WeakKeyDictionary[DeviceTable, Catalog] = WeakKeyDictionary()
_lock: Final = threading.Lock()


def catalog(table: DeviceTable) -> Catalog:
    """What the devices of ``table`` publish; made once and kept as long as the table."""
    with _lock:
        found = _kept.get(table)
        if found is None:
            found = _kept[table] = Catalog(table)
        return found


def look(column: Column) -> Known:
    """Counts of one column."""
    counts = np.bincount(column.codes, minlength=column.size)[: column.size]
    counts[0] = 0
    return Known(
        read=column.read,
        types=_types(column, counts),
        devices=column.present,
        distinct=int(np.count_nonzero(counts)),
        examples=tuple(value_text(column.raws[code]) for code in most_common(counts)),
    )


def most_common(counts: NDArray[np.intp], most: int = EXAMPLES) -> list[int]:
    """The codes with the highest counts, equal ones in order."""
    used = np.flatnonzero(counts)
    if len(used) > most:
        least = np.partition(counts[used], -most)[-most]
        above = used[counts[used] > least]
        equal = used[counts[used] == least][: most - len(above)]
        used = np.concatenate([above, equal])
    return sorted(used.tolist(), key=lambda code: (-counts[code], code))


def _types(column: Column, counts: NDArray[np.intp]) -> Mapping[str, int]:
    kind = column.read.kind
    if kind != "attributes":
        name = {"capacity": "quantity", "driver": "string"}.get(kind, "bool")
        return {name: column.present}
    values_in_use = set(map(type, column.values[1 : column.size]))
    if len(values_in_use) == 1 and values_in_use <= _BY_VALUE.keys():
        return {_BY_VALUE[values_in_use.pop()]: column.present}
    raws = column.raws[1 : column.size]
    found: dict[str, int] = {}
    rest = counts[1:].copy()
    for member, name in _MEMBERS.items():
        if not rest.any():
            break
        values = [getattr(raw, member) for raw in raws]
        missing = values.count(None)
        if missing == len(values):
            continue
        has = np.array([value is not None for value in values]) if missing else ...
        here = int(rest[has].sum())
        rest[has] = 0
        if here:
            found[name] = here
    if left := int(rest.sum()):
        found["nothing"] = left
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def type_of(raw: object) -> str:
    """The type that a published value has, in the words of :class:`Known`."""
    if isinstance(raw, DeviceCapacity):
        return "quantity"
    if isinstance(raw, DeviceAttribute):
        for member, name in _MEMBERS.items():
            if getattr(raw, member) is not None:
                return name
        return "nothing"
    return "bool" if isinstance(raw, bool) else "string"


def value_text(raw: object) -> str:
    """A published value as people read it."""
    if isinstance(raw, DeviceCapacity):
        return str(raw.value)
    value: object = raw
    if isinstance(raw, DeviceAttribute):
        value = next((v for m in _MEMBERS if (v := getattr(raw, m)) is not None), None)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_item, value))}]"
    return "" if value is None else str(value)


def _item(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
