"""Equality, order and membership of CEL values, oddities included.

Every function takes evaluated values and returns a value or raises
:class:`~dra.cel.errors.EvaluationError` in the reference's words.
"""

from __future__ import annotations

import math
from typing import Any, Final

from dra.cel import budget
from dra.cel.addresses import CIDR, IP
from dra.cel.errors import EvaluationError
from dra.cel.formats import NamedFormat
from dra.cel.urls import URL
from dra.cel.values import (
    DeviceMap,
    DomainMap,
    Duration,
    Optional,
    QuantityPointer,
    QuantityValue,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    WrittenMap,
    has_no_hash,
    map_key,
)
from dra.semver import Version

_TYPE_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    bytes: "bytes",
    float: "double",
    int: "int",
    list: "list",
    dict: "map",
    DeviceMap: "map",
    DomainMap: "map",
    WrittenMap: "map",
    type(None): "null_type",
    str: "string",
    UInt: "uint",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    TypeValue: "type",
    QuantityValue: "kubernetes.Quantity",
    QuantityPointer: "kubernetes.Quantity",
    Version: "kubernetes.Semver",
    IP: "net.IP",
    CIDR: "net.CIDR",
    URL: "kubernetes.URL",
    NamedFormat: "kubernetes.NamedFormat",
}


def type_name(value: Value) -> str:
    """The name of the value's type at run time."""
    return _TYPE_NAMES[type(value)]


def unhashable(value: Value) -> EvaluationError:
    """What the reference says where it would have to hash a version or bytes."""
    return EvaluationError(
        f"internal error: runtime error: hash of unhashable type {type_name(value)}"
    )


def no_such_overload(function: str = "", *args: Value) -> EvaluationError:
    """The error of a call whose arguments fit no overload."""
    if not function:
        return EvaluationError("no such overload")
    shown = ", ".join(type_name(arg) for arg in args)
    return EvaluationError(f"no such overload: {function}({shown})")


# --- equality ---

NUMBERS: Final = frozenset({int, UInt, float})
_PLAIN: Final = frozenset({str, int, bool, UInt, float, bytes, Duration, Timestamp})
_STRICT: Final = frozenset({Version, IP, CIDR, URL, NamedFormat})


type _Seen = set[tuple[int, int]]


def equal(left: Value, right: Value) -> bool:
    """``left == right``.

    Values of different type are unequal, except for numbers, which compare by
    value. Versions, quantities, addresses, URLs and formats on the *left* side
    refuse everything that is not of their type with an error.
    """
    kind = type(left)
    if kind is type(right) and kind in _PLAIN:
        return bool(left == right)
    return _equal_unlike(left, right, set())


def _equal_unlike(left: Value, right: Value, seen: _Seen) -> bool:
    kind, other = type(left), type(right)
    if kind is other and kind in _PLAIN:
        return bool(left == right)
    if left is None or right is None:
        return left is None and right is None
    if kind in NUMBERS and other in NUMBERS:
        return _compare_numbers(left, right) == 0
    if kind is QuantityValue or kind is QuantityPointer:
        # The sum of two quantities is a pointer, which only its left side sees
        # through: the reference's equality takes the plain type on the right.
        if other is not QuantityValue:
            raise no_such_overload()
        return bool(left.quantity == right.quantity)
    if kind in _STRICT:
        if other is not kind:
            raise no_such_overload()
        return bool(left == right)
    if kind is list:
        if other is not list or len(left) != len(right):
            return False
        return _none_unequal(left, right, seen)
    if isinstance(left, dict):
        return isinstance(right, dict) and _equal_maps(left, right, seen)
    if kind is Optional:
        return other is Optional and _equal_optionals(left, right, seen)
    return kind is TypeValue and other is TypeValue and left.name == right.name


def _none_unequal(left: list[Value], right: list[Value], seen: _Seen) -> bool:
    """Whether no pair is unequal; pairs that cannot be compared are not.

    ``seen`` holds the pairs of lists under comparison or found equal: a list
    that holds another one many times, many levels deep, is compared once.
    """
    pair = (id(left), id(right))
    if pair in seen:
        return True
    seen.add(pair)
    budget.spend_on_elements(left)
    for a, b in zip(left, right, strict=True):
        try:
            same = _equal_unlike(a, b, seen)
        except EvaluationError:
            continue
        if not same:
            return False
    return True


def _equal_maps(
    left: dict[Value, Value], right: dict[Value, Value], seen: _Seen
) -> bool:
    pair = (id(left), id(right))
    if pair in seen:
        return True
    seen.add(pair)
    if len(left) != len(right):
        return False
    budget.spend_on_elements(left)
    others: list[Value] = []
    for key in left:
        found, other = find(right, key)
        if not found:
            return False
        others.append(other)
    for value, other in zip(left.values(), others, strict=True):
        try:
            same = _equal_unlike(value, other, seen)
        except EvaluationError:
            continue
        if not same:
            return False
    return True


def _equal_optionals(left: Optional, right: Optional, seen: _Seen) -> bool:
    if not left.present or not right.present:
        return left.present == right.present
    return _equal_unlike(left.value, right.value, seen)


def definitely_equal(left: Value, right: Value) -> bool:
    """Whether ``==`` says true; values that cannot be compared are not equal."""
    try:
        return equal(left, right)
    except EvaluationError:
        return False


def find(mapping: dict[Value, Value], key: Value) -> tuple[bool, Value]:
    """Look a stored key up; absent domains of a device are empty maps."""
    if type(mapping) is DomainMap:
        return True, mapping.get(key, {})
    try:
        return True, mapping[key]
    except KeyError:
        return False, None


# --- order ---


def _compare_numbers(left: float, right: float) -> int | None:
    """-1, 0, 1; None when one is not a number."""
    if type(left) is float or type(right) is float:
        a, b = float(left), float(right)
        if math.isnan(a) or math.isnan(b):
            return None
        return (a > b) - (a < b)
    return (left > right) - (left < right)


_ORDERED: Final = frozenset({str, bytes, bool})


def _sign(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def compare(left: Value, right: Value) -> int:
    """-1, 0 or 1. Numbers compare by value across types."""
    kind, other = type(left), type(right)
    if kind in NUMBERS:
        if other not in NUMBERS:
            raise no_such_overload()
        order = _compare_numbers(left, right)
        if order is None:
            raise EvaluationError("NaN values cannot be ordered")
        return order
    if kind is not other:
        raise no_such_overload()
    if kind in _ORDERED:
        return _sign(left, right)
    if kind is Duration or kind is Timestamp:
        return _sign(left.nanos, right.nanos)
    raise no_such_overload()


def comparable(value: Value) -> bool:
    """Whether values of this type have an order."""
    kind = type(value)
    return kind in NUMBERS or kind in _ORDERED or kind in (Duration, Timestamp)


# --- containers ---


def size(value: Value) -> int:
    """Code points, bytes, elements or entries."""
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise no_such_overload("size", value)


def contains(container: Value, element: Value) -> bool:
    """``element in container``."""
    if type(container) is list:
        budget.spend_on_elements(container)
        return any(definitely_equal(element, item) for item in container)
    if type(container) is WrittenMap and container and has_no_hash(element):
        raise unhashable(element)
    if isinstance(container, dict):
        try:
            return map_key(element) in container
        except TypeError:
            return False
    raise no_such_overload()
