"""Expressions to start from, made of what the devices of this cluster publish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dra.allocation.classes import chain_of
from dra.cel import DeviceTable, Read
from dra.cel.catalog import Catalog, Known, catalog
from dra.cel.writing import condition, literal, telling_value, type_of
from dra.familiar_names import PREFERRED, STANDARD
from dra.snapshot import Snapshot
from inventory.views.cel_links import joined

MOST_CLASSES: Final = 12
MOST_DRIVERS: Final = 4

_OPTIONAL_PREFERRED: Final = ("profile", "addressingMode", "partitionProfile", "uuid")


@dataclass(frozen=True, slots=True)
class Example:
    label: str
    expression: str


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    examples: Sequence[Example]


def examples(snapshot: Snapshot, table: DeviceTable) -> list[Group]:
    """Selectors of the classes, then what fits the drivers that have most devices."""
    known = catalog(table)
    found = [Group("Classes of this cluster", list(_classes(snapshot)))]
    for driver, devices in _drivers(table):
        found.append(Group(driver, list(_of_driver(driver, devices, known))))
    found.append(Group("Any driver", list(_of_any(known))))
    return [group for group in found if group.examples]


def _classes(snapshot: Snapshot) -> Iterator[Example]:
    for name in sorted(snapshot.classes)[:MOST_CLASSES]:
        chain = chain_of(snapshot.classes[name])
        if chain:
            yield Example(name, joined(chain))


def _drivers(table: DeviceTable) -> list[tuple[str, int]]:
    column = table.columns[Read("driver")]
    counts = np.bincount(column.codes, minlength=column.size).tolist()
    found = [
        (str(column.raws[code]), number)
        for code, number in enumerate(counts)
        if code and number
    ]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:MOST_DRIVERS]


def _of_driver(driver: str, devices: int, known: Catalog) -> Iterator[Example]:
    is_driver = f"device.driver == {literal(driver)}"
    yield Example("every device of the driver", is_driver)
    own = [known[read] for read in known if read.domain == driver]
    used: set[Read] = set()
    for kind in ("string", "quantity", "version", "bool"):
        chosen = _best([k for k in own if k.devices == devices], kind)
        if chosen is not None:
            used.add(chosen.read)
            yield _example(is_driver, chosen, always=True)
    partly = [k for k in own if k.devices < devices and k.read not in used]
    for name in _OPTIONAL_PREFERRED:
        for chosen in partly:
            if chosen.read.identifier == name and type_of(chosen) == "string":
                yield _example(is_driver, chosen, always=False)
                return


def _best(candidates: Sequence[Known], kind: str) -> Known | None:
    """The most telling one of a type, if there is one that says anything."""
    usable = {
        k.read.identifier: k
        for k in candidates
        if type_of(k) == kind and condition(k, always=True)
    }
    for name in PREFERRED[kind]:
        if name in usable:
            return usable[name]
    groups = [k for k in usable.values() if 1 < k.distinct * 2 <= k.devices]
    return groups[0] if groups else None


def _example(is_driver: str, known: Known, *, always: bool) -> Example:
    name, value = known.read.identifier, telling_value(known)
    kind = type_of(known)
    if kind == "bool":
        label = name if value == "true" else f"not {name}"
    elif kind in ("version", "quantity"):
        label = f"{name} at least {value}"
    else:
        label = f"{name} is {value}"
    return Example(label, f"{is_driver} && {condition(known, always=always)}")


def _of_any(known: Catalog) -> Iterator[Example]:
    numa = known.get(Read("attributes", STANDARD, "numaNode"))
    if numa is not None and type_of(numa) == "int":
        yield Example(f"on NUMA node {numa.examples[0]}", condition(numa, always=False))
    shareable = known.get(Read("allowMultipleAllocations"))
    if shareable is not None and "true" in shareable.examples:
        yield Example(
            "devices that claims may share", "device.allowMultipleAllocations"
        )
