"""Arithmetic of CEL values, checked for the range of each type, oddities included.

Every function takes evaluated values and returns a value or raises
:class:`~dra.cel.errors.EvaluationError` in the reference's words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NoReturn

from dra.cel import budget
from dra.cel.errors import EvaluationError
from dra.cel.operators import NUMBERS, no_such_overload
from dra.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    Duration,
    Timestamp,
    UInt,
    Value,
)

DURATION_MIN: Final = INT_MIN
DURATION_MAX: Final = INT_MAX
TIMESTAMP_MIN: Final = -62135596800 * 10**9
TIMESTAMP_MAX: Final = 253402300799 * 10**9 + 999_999_999


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
    if kind is not type(right) or kind not in NUMBERS:
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


ARITHMETIC: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": modulo,
}
