"""Derived attributes: what an expression says of a device, as if the driver said it."""

from __future__ import annotations

from typing import Any, Final

from dra.cel.errors import EvaluationError
from dra.cel.operators import type_name
from dra.cel.program import Program
from dra.cel.values import DeviceMap, Value
from dra.objects import DeviceAttribute
from dra.semver import Version

_FIELDS: Final = {bool: "bool_", int: "int_", str: "string", Version: "version"}
_LIST_FIELDS: Final = {
    bool: "bools",
    int: "ints",
    str: "strings",
    Version: "versions",
}


def derive(program: Program, device: DeviceMap) -> DeviceAttribute:
    """The attribute that ``program``, compiled as ``derived``, makes of a device.

    Raises :class:`EvaluationError`, also for a value that is no attribute: none but
    strings, integers, booleans and versions, and lists of one of them where the
    program was compiled with the gate of lists. An empty list is an attribute
    without a value: it has nothing in common with any other.
    """
    value = program.value(device)
    if type(value) is list:
        if not program.features.list_type_attributes:
            raise EvaluationError(
                "unsupported CEL return type: list, and DRAListTypeAttributes is off"
            )
        return _of_list(value)
    field = _FIELDS.get(type(value))
    if field is None:
        raise EvaluationError(f"unsupported CEL return type: {type_name(value)}")
    return _attribute(field, _raw(value))


def _of_list(items: list[Value]) -> DeviceAttribute:
    if not items:
        return DeviceAttribute()
    first = type(items[0])
    field = _LIST_FIELDS.get(first)
    if field is None:
        raise EvaluationError(f"unsupported list element type: {type_name(items[0])}")
    for position, item in enumerate(items):
        if type(item) is not first:
            raise EvaluationError(
                f"expected list element at index {position} to be "
                f"{type_name(items[0])}, got {type_name(item)}"
            )
    return _attribute(field, [_raw(item) for item in items])


def _attribute(field: str, value: Any) -> DeviceAttribute:
    return DeviceAttribute(**{field: value})


def _raw(value: Value) -> Value:
    """As it would stand in a ResourceSlice."""
    return str(value) if type(value) is Version else value
