"""Values and names that few devices publish and that look like slips for common ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra.audits.codes import Code
from dra.audits.finding import Finding, Subject, counted, finding
from dra.cel.columns import ABSENT, Column
from dra.cel.likeness import difference
from dra.cel.reads import Read
from dra.cel.table import DeviceTable
from dra.objects import DeviceAttribute

FEW: Final = 3
"""Devices that may publish an uncommon value at most …"""
TIMES: Final = 10
"""… and so many times as many publish the common one."""
MOST_VALUES: Final = 64
"""Attributes with more different values are names of things, not kinds."""
_SHORTEST: Final = 4
_DRIVER: Final = Read("driver")


def slip_findings(table: DeviceTable) -> Iterator[Finding]:
    """Text attributes of all devices, and the names of attributes driver by driver."""
    for read, column in sorted(table.columns.items()):
        if read.kind == "attributes" and read.identifier:
            yield from _values(f"{read.domain}/{read.identifier}", column, table)
    yield from _names(table)


def _values(attribute: str, column: Column, table: DeviceTable) -> Iterator[Finding]:
    counts = np.bincount(column.codes, minlength=column.size)
    counts[0] = 0
    used = np.flatnonzero(counts)
    if not 2 <= len(used) <= MOST_VALUES:
        return
    number = {
        text: (int(counts[code]), int(code))
        for code in used.tolist()
        if (text := _text(column.raws[code])) is not None
    }
    for text, (few, code) in sorted(number.items()):
        common = _meant(text, few, {t: n for t, (n, _) in number.items()})
        if common is None:
            continue
        first = int(np.flatnonzero(column.codes == code)[0])
        device = str(table.ids[first])
        yield finding(
            Code.VALUE_UNCOMMON,
            Subject("Driver", "", table.ids[first].driver, "", f"{attribute} {text}"),
            f"{counted(few, 'device')} ({device}{' …' if few > 1 else ''}) {_publish(few)} "
            f'"{text}" as {attribute}, {number[common][0]:,} publish "{common}".',
            attribute=attribute,
            value=text,
            common=common,
            device=device,
        )


def _text(raw: object) -> str | None:
    return raw.string if isinstance(raw, DeviceAttribute) else None


def _publish(number: int) -> str:
    return "publishes" if number == 1 else "publish"


def _names(table: DeviceTable) -> Iterator[Finding]:
    by_driver: dict[str, dict[str, int]] = {}
    example: dict[tuple[str, str], str] = {}
    if not len(table):
        return
    for kind in ("attributes", "capacity"):
        for read, column in table.columns.items():
            if read.kind != kind or not read.identifier:
                continue
            for driver, number, row in _by_driver(column, table):
                name = f"{read.domain}/{read.identifier}"
                counts = by_driver.setdefault(driver, {})
                counts[name] = counts.get(name, 0) + number
                example.setdefault((driver, name), str(table.ids[row]))
    for driver, counts in sorted(by_driver.items()):
        for name, few in sorted(counts.items()):
            common = _meant(name, few, counts)
            if common is None or _beside(name, common, driver, table):
                continue
            device = example[driver, name]
            yield finding(
                Code.ATTRIBUTE_UNCOMMON,
                Subject("Driver", "", driver, "", name),
                f"{counted(few, 'device')} of driver {driver} ({device}"
                f"{' …' if few > 1 else ''}) {_publish(few)} {name}, {counts[common]:,} "
                f"publish {common}.",
                attribute=name,
                common=common,
                device=device,
            )


def _beside(name: str, common: str, driver: str, table: DeviceTable) -> bool:
    """Whether the devices with a rare name have the common one too: it is another thing."""
    drivers = table.columns[_DRIVER]
    codes = [code for code, raw in enumerate(drivers.raws) if raw == driver]
    of_driver = np.isin(drivers.codes, codes)
    rare = _with(name, table) & of_driver
    return not np.any(rare & ~_with(common, table))


def _with(name: str, table: DeviceTable) -> NDArray[np.bool_]:
    """By row: whether the device has an attribute or a capacity of that name."""
    found = np.zeros(len(table), dtype=bool)
    domain, _, identifier = name.partition("/")
    for kind in ("attributes", "capacity"):
        column = table.columns.get(Read(kind, domain, identifier))
        if column is not None:
            found |= column.codes != ABSENT
    return found


def _by_driver(column: Column, table: DeviceTable) -> Iterator[tuple[str, int, int]]:
    """Driver, how many of its devices publish the column, and the first of them."""
    rows = np.flatnonzero(column.codes)
    drivers = table.columns[_DRIVER]
    codes, first, counts = np.unique(
        drivers.codes[rows], return_index=True, return_counts=True
    )
    for code, at, number in zip(
        codes.tolist(), first.tolist(), counts.tolist(), strict=True
    ):
        yield str(drivers.raws[code]), number, int(rows[at])


def _meant(text: str, few: int, counts: dict[str, int]) -> str | None:
    """The common text that a rare one is a slip for."""
    if few > FEW or len(text) < _SHORTEST:
        return None
    common = [(n, t) for t, n in counts.items() if n >= TIMES * few and t != text]
    for _, other in sorted(common, reverse=True):
        if _is_slip(text, other):
            return other
    return None


@lru_cache(maxsize=1 << 14)
def _is_slip(text: str, common: str) -> bool:
    return difference(text, common) is not None
