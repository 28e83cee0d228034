"""What an expression can read in this cluster, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from claims.views.cel.question import Question
from dra.cel import DeviceTable, Read
from dra.cel.catalog import Known, catalog, type_of, value_text
from dra.cel.writing import condition, path, test
from web.pages.cells import count

MOST: Final = 150
_ORDER: Final = ("driver", "attributes", "capacity", "allowMultipleAllocations")


@dataclass(frozen=True, slots=True)
class ReadableRow:
    """``expression`` tries it: true on devices with the most common value."""

    path: str
    types: str
    devices: int
    distinct: int
    examples: str
    expression: str
    href: str


@dataclass(frozen=True, slots=True)
class Readable:
    title: str
    sentence: str
    rows: Sequence[ReadableRow]
    more: int = 0
    one_device: bool = False


def readable(table: DeviceTable, question: Question) -> Readable:
    """Everything that some device publishes: fields, then by domain, most devices first."""
    known = catalog(table)
    ordered = sorted(known, key=lambda read: _place(known[read]))
    shown = [_row(known[read], len(table), question) for read in ordered[:MOST]]
    published = sum(1 for read in ordered if read.identifier)
    return Readable(
        title="What an expression can read here",
        rows=shown,
        more=len(ordered) - len(shown),
        sentence=f"{count(len(table), 'device')} "
        f"{'publishes' if len(table) == 1 else 'publish'} "
        f"{count(published, 'attribute or capacity', 'attributes and capacities')}.",
    )


def readable_of(table: DeviceTable, row: int, question: Question) -> Readable:
    """Everything that one device publishes."""
    shown = []
    for read, column in sorted(table.columns.items(), key=lambda item: _kind(item[0])):
        code = int(column.codes[row])
        if not code:
            continue
        raw = column.raws[code]
        expression = test(read, type_of(raw), value_text(raw), always=True)
        shown.append(
            ReadableRow(
                path=path(read),
                types=type_of(raw),
                devices=0,
                distinct=0,
                examples=value_text(raw),
                expression=expression,
                href=question.but(expression=expression).query if expression else "",
            )
        )
    return Readable(
        title="What an expression can read of this device",
        sentence="Click one to try it.",
        rows=shown,
        one_device=True,
    )


def _kind(read: Read) -> tuple[int, Read]:
    return (_ORDER.index(read.kind) if read.kind in _ORDER else len(_ORDER), read)


def _place(known: Known) -> tuple[int, str, int, str]:
    read = known.read
    return (_kind(read)[0], read.domain, -known.devices, read.identifier)


def _row(known: Known, devices: int, question: Question) -> ReadableRow:
    expression = _try(known, always=known.devices == devices)
    href = question.but(expression=expression, tab="").query if expression else ""
    return ReadableRow(
        path=path(known.read),
        types=", ".join(known.types),
        devices=known.devices,
        distinct=known.distinct,
        examples=", ".join(known.examples),
        expression=expression,
        href=href,
    )


def _try(known: Known, *, always: bool) -> str:
    if known.read == Read("allowMultipleAllocations"):
        return "device.allowMultipleAllocations"
    return condition(known, always=always)
