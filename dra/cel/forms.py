"""Operators and the other calls that are not plain functions, as closures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dra.cel import arithmetic
from dra.cel import operators as ops
from dra.cel.plan import Frame, Step
from dra.cel.values import Optional, Value


def _conditional(condition: Step, yes: Step, no: Step) -> Step:
    def run(frame: Frame) -> Value:
        chosen = condition(frame)
        if chosen is True:
            return yes(frame)
        if chosen is False:
            return no(frame)
        raise ops.no_such_overload()

    return run


def _not(arg: Step) -> Step:
    def run(frame: Frame) -> Value:
        value = arg(frame)
        if value is True:
            return False
        if value is False:
            return True
        raise ops.no_such_overload("!_", value)

    return run


def _equals(left: Step, right: Step) -> Step:
    equal = ops.equal

    def run(frame: Frame) -> Value:
        return equal(left(frame), right(frame))

    return run


def _not_equals(left: Step, right: Step) -> Step:
    definitely_equal = ops.definitely_equal

    def run(frame: Frame) -> Value:
        return not definitely_equal(left(frame), right(frame))

    return run


def _in(element: Step, container: Step) -> Step:
    contains = ops.contains

    def run(frame: Frame) -> Value:
        value = element(frame)
        return contains(container(frame), value)

    return run


def _order(test: Callable[[int], bool]) -> Callable[[Step, Step], Step]:
    def make(left: Step, right: Step) -> Step:
        def run(frame: Frame) -> Value:
            return test(ops.compare(left(frame), right(frame)))

        return run

    return make


def _arithmetic(operate: Callable[[Value, Value], Value]) -> Callable[..., Step]:
    def make(left: Step, right: Step) -> Step:
        def run(frame: Frame) -> Value:
            return operate(left(frame), right(frame))

        return run

    return make


def _negate(arg: Step) -> Step:
    def run(frame: Frame) -> Value:
        return arithmetic.negate(arg(frame))

    return run


def _or(left: Step, right: Step) -> Step:
    def run(frame: Frame) -> Value:
        value = left(frame)
        if type(value) is Optional and not value.present:
            return right(frame)
        return value

    return run


def _or_value(left: Step, right: Step) -> Step:
    def run(frame: Frame) -> Value:
        value = left(frame)
        if type(value) is not Optional:
            return value
        return value.value if value.present else right(frame)

    return run


FORMS: Final[dict[str, Callable[..., Step]]] = {
    "_?_:_": _conditional,
    "!_": _not,
    "-_": _negate,
    "_==_": _equals,
    "_!=_": _not_equals,
    "@in": _in,
    "_<_": _order(lambda order: order < 0),
    "_<=_": _order(lambda order: order <= 0),
    "_>_": _order(lambda order: order > 0),
    "_>=_": _order(lambda order: order >= 0),
    "or": _or,
    "orValue": _or_value,
    **{name: _arithmetic(operate) for name, operate in arithmetic.ARITHMETIC.items()},
}
