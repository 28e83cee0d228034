"""Equality, order and arithmetic of CEL values, oddities included.

Every function takes evaluated values and returns a value or raises
:class:`~dra.cel.errors.EvaluationError` in the reference's words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NoReturn

from dra.cel import budget
from dra.cel.addresses import CIDR, IP
from dra.cel.errors import EvaluationError
from dra.cel.formats import NamedFormat
from dra.cel.urls import URL
from dra.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
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

DURATION_MIN: Final = INT_MIN
DURATION_MAX: Final = INT_MAX
TIMESTAMP_MIN: Final = -62135596800 * 10**9
TIMESTAMP_MAX: Final = 253402300799 * 10**9 + 999_999_999


def type_name(value: Value) -> str:
    """The name of the value's type at run time."""
    return _TYPE_NAMES[type(value)]


def no_such_overload(function: str = "", *args: Value) -> EvaluationError:
    """The error of a call whose arguments fit no overload."""
    if not function:
        return EvaluationError("no such overload")
    shown = ", ".join(type_name(arg) for arg in args)
    return EvaluationError(f"no such overload: {function}({shown})")


# --- equality ---

_NUMBERS: Final = frozenset({int, UInt, float})
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
    if kind in _NUMBERS and other in _NUMBERS:
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
    if kind in _NUMBERS:
        if other not in _NUMBERS:
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
    return kind in _NUMBERS or kind in _ORDERED or kind in (Duration, Timestamp)


# --- arithmetic ---


def _int(value: int) -> int:
    if INT_MIN <= value <= INT_MAX:
        return value
    raise EvaluationError("integer overflow")


def _uint(value: int) -> UInt:
    if 0 <= value <= UINT_MAX:
        return UInt(value)
    raise EvaluationError("unsigned integer overflow")


def make_duration(nanos: int) -> Duration:
    """A duration, checked for the range of 64 bits."""
    if DURATION_MIN <= nanos <= DURATION_MAX:
        return Duration(nanos)
    raise EvaluationError("duration overflow")


def make_timestamp(nanos: int) -> Timestamp:
    """A timestamp, checked for the years 1 to 9999."""
    if TIMESTAMP_MIN <= nanos <= TIMESTAMP_MAX:
        return Timestamp(nanos)
    raise EvaluationError("timestamp overflow")


def _refuse() -> NoReturn:
    raise no_such_overload()


def add(left: Value, right: Value) -> Value:
    match left, right:
        case (bool(), _) | (_, bool()):
            _refuse()
        case (UInt(), UInt()):
            return _uint(int(left) + int(right))
        case (UInt(), _) | (_, UInt()):
            _refuse()
        case (int(), int()):
            return _int(left + right)
        case (float(), float()):
            return left + right
        case (str(), str()) | (bytes(), bytes()):
            budget.spend_on_text(len(left) + len(right))
            return left + right
        case (list(), list()):
            budget.spend_on_list(len(left) + len(right))
            return left + right
        case (Duration(), Duration()):
            return make_duration(left.nanos + right.nanos)
        case (Timestamp(), Duration()) | (Duration(), Timestamp()):
            return make_timestamp(left.nanos + right.nanos)
    _refuse()


def subtract(left: Value, right: Value) -> Value:
    match left, right:
        case (bool(), _) | (_, bool()):
            _refuse()
        case (UInt(), UInt()):
            return _uint(int(left) - int(right))
        case (UInt(), _) | (_, UInt()):
            _refuse()
        case (int(), int()):
            return _int(left - right)
        case (float(), float()):
            return left - right
        case (Duration(), Duration()) | (Timestamp(), Timestamp()):
            return make_duration(left.nanos - right.nanos)
        case (Timestamp(), Duration()):
            return make_timestamp(left.nanos - right.nanos)
    _refuse()


def _same_numbers(left: Value, right: Value) -> type:
    kind = type(left)
    if kind is not type(right) or kind not in _NUMBERS:
        _refuse()
    return kind


def multiply(left: Value, right: Value) -> Value:
    kind = _same_numbers(left, right)
    if kind is float:
        return left * right
    product = int(left) * int(right)
    return _int(product) if kind is int else _uint(product)


def divide(left: Value, right: Value) -> Value:
    """Integers truncate towards zero; doubles follow IEEE 754."""
    kind = _same_numbers(left, right)
    if kind is float:
        return _divide_doubles(left, right)
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(int(left)) // abs(int(right))
    if kind is UInt:
        return UInt(quotient)
    return _int(quotient if (left < 0) == (right < 0) else -quotient)


def _divide_doubles(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def modulo(left: Value, right: Value) -> Value:
    """The sign is that of the left side."""
    kind = _same_numbers(left, right)
    if kind is float:
        _refuse()
    if right == 0:
        raise EvaluationError("modulus by zero")
    rest = abs(int(left)) % abs(int(right))
    if kind is UInt:
        return UInt(rest)
    if left == INT_MIN and right == -1:
        raise EvaluationError("integer overflow")
    return -rest if left < 0 else rest


def negate(value: Value) -> Value:
    kind = type(value)
    if kind is int:
        return _int(-value)
    if kind is float:
        return -value
    if kind is Duration:
        return make_duration(-value.nanos)
    _refuse()


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
    if isinstance(container, dict):
        try:
            return map_key(element) in container
        except TypeError:
            return False
    raise no_such_overload()


ARITHMETIC: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": modulo,
}
