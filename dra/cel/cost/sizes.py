"""Sizes of what a device can hold, found by the path of an expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from dra.cel.cost.ranges import Range

DRIVER_NAME_LENGTH: Final = 63
DOMAIN_LENGTH: Final = 63
IDENTIFIER_LENGTH: Final = 32
VALUE_LENGTH: Final = 64
ATTRIBUTES_AND_CAPACITIES: Final = 32
LIST_LENGTH: Final = 48


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """One level of the device: its maximum size, and what is below."""

    size: int
    fields: Mapping[str, _Shape] = field(default_factory=dict)
    key: _Shape | None = None
    element: _Shape | None = None


# Values longer than lists, so one number does for both.
_ATTRIBUTE = _Shape(VALUE_LENGTH)
_QUANTITY = _Shape(0)


def _map(key: _Shape, element: _Shape) -> _Shape:
    return _Shape(ATTRIBUTES_AND_CAPACITIES, key=key, element=element)


_DOMAIN, _IDENTIFIER = _Shape(DOMAIN_LENGTH), _Shape(IDENTIFIER_LENGTH)
_DEVICE = _Shape(
    0,
    fields={
        "driver": _Shape(DRIVER_NAME_LENGTH),
        "attributes": _map(_DOMAIN, _map(_IDENTIFIER, _ATTRIBUTE)),
        "capacity": _map(_DOMAIN, _map(_IDENTIFIER, _QUANTITY)),
        "allowMultipleAllocations": _Shape(1),
    },
)


class Path:
    """The way from a variable to a value, with the memory of a Go slice.

    ``plus`` writes into room that several paths may share, as ``append`` does in
    the reference: a path can change behind its owner's back, and some costs depend
    on it.
    """

    __slots__ = ("_cells", "_length")

    def __init__(self, cells: list[str], length: int) -> None:
        self._cells = cells
        self._length = length

    def plus(self, name: str) -> Path:
        cells, length = self._cells, self._length
        if length == len(cells):
            cells = cells[:length] + [""] * max(1, length)
        cells[length] = name
        return Path(cells, length + 1)

    def names(self) -> list[str]:
        return self._cells[: self._length]


NOWHERE: Final = Path([], 0)


def root(name: str) -> Path:
    return Path([name], 1)


def size_at(names: list[str]) -> Range | None:
    """The size of the value at a path; None where nothing is known."""
    if not names or names[0] != "device":
        return None
    shape = _DEVICE
    for name in names[1:]:
        below = _below(shape, name)
        if below is None:
            return None
        shape = below
    return Range(0, shape.size)


def _below(shape: _Shape, name: str) -> _Shape | None:
    if name in ("@items", "@values"):
        return shape.element
    if name == "@keys":
        return shape.key
    found = shape.fields.get(name)
    if found is None and shape.element is _ATTRIBUTE:
        return _ATTRIBUTE
    return found
