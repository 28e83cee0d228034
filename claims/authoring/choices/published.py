"""One attribute or capacity over the devices of a request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from claims.authoring.choices.asks import Rows
from dra import quantity, semver
from dra.cel.catalog import catalog, most_common, type_of, value_text
from dra.cel.columns import Column
from dra.cel.reads import Read
from dra.cel.table import DeviceTable
from dra.cel.writing import test
from dra.errors import QuantityError, SemverError
from dra.quantity import Quantity
from dra.semver import Version

ORDERED: Final = ("quantity", "version")
"""Types of values that are asked for as "at least"."""
_MOST_SIZES: Final = 1000
"""Values with an order that are compared, the most common ones."""
_TOLD_BY_VALUE: Final = frozenset({str, int, bool, Version, Quantity})
"""Types of CEL values that tell the type with which they are published."""
_TAKEN_FOR: Final = {
    "quantity": "0",
    "version": "0.0.0",
    "string": "",
    "bool": "false",
    "int": "-1",
}
"""What a guarded test takes a device for that publishes nothing."""


@dataclass(frozen=True, slots=True)
class Test:
    """A CEL term that is true on ``devices`` of those of the request.

    ``label`` says it in words: "productName is NVIDIA H100".
    """

    label: str
    expression: str
    devices: int


class Published:
    """``having`` of ``devices`` publish it, with ``distinct`` different values.

    ``type`` is the one type that they use, or empty.
    """

    def __init__(self, table: DeviceTable, column: Column, rows: Rows) -> None:
        self.read: Read = column.read
        self._raws = column.raws
        self.counts: NDArray[np.intp] = np.bincount(
            column.codes[rows], minlength=column.size
        )
        self.devices = len(rows)
        self.missing = int(self.counts[0])
        self.counts[0] = 0
        self.having = self.devices - self.missing
        self.distinct = int(np.count_nonzero(self.counts))
        self._column = column
        self._table = table

    @cached_property
    def type(self) -> str:
        if not self.having:
            return ""
        found = types_of(self._table, self._column)
        if len(found) == 1:
            return next(iter(found))
        used: list[int] = np.flatnonzero(self.counts).tolist()
        here = {type_of(self._raws[code]) for code in used}
        return here.pop() if len(here) == 1 else ""

    def common(self, most: int) -> Iterator[tuple[str, int]]:
        """The most common values as text, with devices of each."""
        for code in most_common(self.counts, most):
            yield value_text(self._raws[code]), int(self.counts[code])

    @cached_property
    def sizes(self) -> list[tuple[str, Any, int]]:
        """Values that have an order, the largest first: text, size, devices of it.

        Equal ones come once; those that cannot be read are left out.
        """
        found: dict[Any, tuple[str, int]] = {}
        for text, number in self.common(_MOST_SIZES):
            size = _size(self.type, text)
            if size is not None:
                before = found.get(size, (text, 0))
                found[size] = (before[0], before[1] + number)
        return [
            (text, size, number)
            for size, (text, number) in sorted(found.items(), reverse=True)
        ]

    def test(self, value: str, devices: int) -> Test | None:
        """A term for ``value``, which ``devices`` publish, or more where it has an order.

        Devices that lack the attribute are no obstacle to it. None for types that
        have no simple test.
        """
        expression = test(self.read, self.type, value, always=not self.missing)
        if not expression:
            return None
        name = self.read.identifier
        if self.type in ORDERED:
            return Test(f"{name} at least {value}", expression, self._at_least(value))
        if value == _TAKEN_FOR[self.type]:
            devices += self.missing
        label = f"{name} is {value}"
        if self.type == "bool":
            label = name if value == "true" else f"not {name}"
        return Test(label, expression, devices)

    def _at_least(self, value: str) -> int:
        least = _size(self.type, value)
        if least is None:
            return 0
        found = sum(number for _, size, number in self.sizes if size >= least)
        return found + (
            self.missing if _size(self.type, _TAKEN_FOR[self.type]) >= least else 0
        )


def types_of(table: DeviceTable, column: Column) -> frozenset[str]:
    """The types of a column's values, in the words of :class:`dra.cel.catalog.Known`."""
    # Of columns with a value per device the catalog takes its time to count.
    kinds = set(map(type, column.values[1 : column.size]))
    if len(kinds) == 1 and kinds <= _TOLD_BY_VALUE:
        return frozenset({type_of(column.raws[1])})
    return frozenset(catalog(table)[column.read].types)


def _size(kind: str, text: str) -> Any:
    """Something that can be compared with others of its kind; None for no size."""
    try:
        return quantity.parse(text) if kind == "quantity" else semver.parse(text)
    except (QuantityError, SemverError):
        return None
