"""Functions on quantities."""

from __future__ import annotations

from dra import quantity
from dra.cel import types as t
from dra.cel.declarations import Declarations
from dra.cel.errors import EvaluationError
from dra.cel.values import QuantityPointer, QuantityValue
from dra.errors import QuantityError

_Q = t.QUANTITY


def declare(to: Declarations) -> None:
    to.add("quantity", "string_to_quantity", (t.STRING,), _Q, parse)
    to.add("isQuantity", "is_quantity_string", (t.STRING,), t.BOOL, is_quantity)
    to.add("sign", "quantity_sign", (_Q,), t.INT, lambda q: q.quantity.sign)
    to.method("isGreaterThan", "quantity_is_greater_than", (_Q, _Q), t.BOOL, greater)
    to.method("isLessThan", "quantity_is_less_than", (_Q, _Q), t.BOOL, less)
    to.method("compareTo", "quantity_compare_to", (_Q, _Q), t.INT, compare)
    to.method("asApproximateFloat", "quantity_get_float", (_Q,), t.DOUBLE, as_float)
    to.method("asInteger", "quantity_get_int", (_Q,), t.INT, as_integer)
    to.method(
        "isInteger",
        "quantity_is_integer",
        (_Q,),
        t.BOOL,
        lambda q: q.quantity.is_integer(),
    )
    to.method("add", "quantity_add", (_Q, _Q), _Q, add)
    to.method("add", "quantity_add_int", (_Q, t.INT), _Q, add_int)
    to.method("sub", "quantity_sub", (_Q, _Q), _Q, subtract)
    to.method("sub", "quantity_sub_int", (_Q, t.INT), _Q, subtract_int)


def parse(text: str) -> QuantityValue:
    try:
        return QuantityValue(quantity.parse(text))
    except QuantityError as error:
        raise EvaluationError(str(error)) from error


def is_quantity(text: str) -> bool:
    try:
        quantity.parse(text)
    except QuantityError:
        return False
    return True


def greater(left: QuantityValue, right: QuantityValue) -> bool:
    return left.quantity.nanos > right.quantity.nanos


def less(left: QuantityValue, right: QuantityValue) -> bool:
    return left.quantity.nanos < right.quantity.nanos


def compare(left: QuantityValue, right: QuantityValue) -> int:
    a, b = left.quantity.nanos, right.quantity.nanos
    return (a > b) - (a < b)


def as_float(value: QuantityValue) -> float:
    return value.quantity.as_float()


def as_integer(value: QuantityValue) -> int:
    try:
        return value.quantity.as_integer()
    except QuantityError as error:
        raise EvaluationError(str(error)) from error


def add(left: QuantityValue, right: QuantityValue) -> QuantityPointer:
    return QuantityPointer(left.quantity + right.quantity)


def add_int(left: QuantityValue, right: int) -> QuantityPointer:
    return QuantityPointer(left.quantity + quantity.Quantity.of(right))


def subtract(left: QuantityValue, right: QuantityValue) -> QuantityPointer:
    return QuantityPointer(left.quantity - right.quantity)


def subtract_int(left: QuantityValue, right: int) -> QuantityPointer:
    return QuantityPointer(left.quantity - quantity.Quantity.of(right))
