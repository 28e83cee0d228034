"""Expressions to start from, made of what the devices of this cluster publish."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dra import quantity, semver
from dra.allocation.classes import chain_of
from dra.cel import DeviceTable, Read
from dra.cel.catalog import Catalog, Known, catalog
from dra.errors import QuantityError, SemverError
from dra.snapshot import Snapshot
from inventory.views.cel_links import joined

MOST_CLASSES: Final = 12
MOST_DRIVERS: Final = 4

_STANDARD: Final = "resource.kubernetes.io"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NOT_AFTER_A_DOT: Final = frozenset({"in", "true", "false", "null"})
_DEFAULTS: Final = {
    "string": '""',
    "int": "-1",
    "bool": "false",
    "version": 'semver("0.0.0")',
    "quantity": 'quantity("0")',
}
# What people choose a device by, most telling first.
_PREFERRED: Final = {
    "string": (
        "productName",
        "product",
        "model",
        "tpuGen",
        "instanceType",
        "family",
        "profile",
        "coreType",
        "pciDevice",
        "type",
    ),
    "version": ("driverVersion", "firmwareVersion"),
    "bool": ("rdma", "rdmaCapable", "sriov", "healthy", "smtEnabled"),
    "int": ("numaNode", "numCPUs", "index"),
    "quantity": ("memory", "size", "cores", "cpu"),
}
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


def literal(value: str) -> str:
    """``value`` as CEL writes a string."""
    return json.dumps(value, ensure_ascii=False)


def path(read: Read) -> str:
    """``device.attributes["d"].name``, as short as it may be written."""
    base = f"device.{read.kind}"
    if not read.identifier:
        return base
    return f"{base}[{literal(read.domain)}]{_member(read.identifier)}"


def _member(name: str, *, optional: bool = False) -> str:
    mark = "?" if optional else ""
    if _NAME.fullmatch(name) and name not in _NOT_AFTER_A_DOT:
        return f".{mark}{name}"
    return f"[{mark}{literal(name)}]"


def condition(known: Known, *, always: bool) -> str:
    """A test for a common value of an attribute or capacity; empty where none is known.

    ``always``: every device that comes to it publishes it. Otherwise the test says
    what counts for those that do not.
    """
    value = telling_value(known)
    return test(known.read, type_of(known), value, always=always) if value else ""


def test(read: Read, kind: str, value: str, *, always: bool) -> str:
    """True for a device that publishes ``value``, of the type ``kind``, or more.

    Empty for types that have no simple test.
    """
    if kind not in _DEFAULTS:
        return ""
    text = path(read)
    if not always:
        member = _member(read.identifier, optional=True)
        base = f"device.{read.kind}[{literal(read.domain)}]{member}"
        text = f"{base}.orValue({_DEFAULTS[kind]})"
    match kind:
        case "bool":
            return text if value == "true" else f"!{text}"
        case "int":
            return f"{text} == {value}"
        case "version":
            return f"{text}.compareTo(semver({literal(value)})) >= 0"
        case "quantity":
            return f"{text}.compareTo(quantity({literal(value)})) >= 0"
    return f"{text} == {literal(value)}"


def telling_value(known: Known) -> str:
    """The most common value; of those that have an order, the highest common one."""
    if not known.examples:
        return ""
    match type_of(known):
        case "quantity":
            return max(
                filter(_is_quantity, known.examples), key=quantity.parse, default=""
            )
        case "version":
            return max(
                filter(_is_version, known.examples), key=semver.parse, default=""
            )
    return known.examples[0]


def _is_quantity(text: str) -> bool:
    try:
        quantity.parse(text)
    except QuantityError:
        return False
    return True


def _is_version(text: str) -> bool:
    try:
        semver.parse(text)
    except SemverError:
        return False
    return True


def type_of(known: Known) -> str:
    """The one type that devices publish it with; empty where there are several."""
    return next(iter(known.types)) if len(known.types) == 1 else ""


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
    for name in _PREFERRED[kind]:
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
    numa = known.get(Read("attributes", _STANDARD, "numaNode"))
    if numa is not None and type_of(numa) == "int":
        yield Example(f"on NUMA node {numa.examples[0]}", condition(numa, always=False))
    shareable = known.get(Read("allowMultipleAllocations"))
    if shareable is not None and "true" in shareable.examples:
        yield Example(
            "devices that claims may share", "device.allowMultipleAllocations"
        )
