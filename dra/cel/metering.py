"""Counting the cost while evaluating, for programs that might exceed the limit.

The estimate is never too low, so most programs need no meter. A metered frame
carries its meter in the second slot.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Final

from dra.cel.ast import Call, Ident, Node, Select
from dra.cel.cost.ranges import LIMIT, LIST_COST, MAP_COST
from dra.cel.cost.runtime import cost_of_call, cost_of_result
from dra.cel.errors import CostExceededError, EvaluationError
from dra.cel.plan import Frame, Pay, Step
from dra.cel.values import Value

METER_SLOT: Final = 1
_ALL_COMPUTED: Final = 2
_INDEXES: Final = ("_[_]", "_[?_]", "_?._")


class Meter:
    """Counts units up to the limit."""

    __slots__ = ("spent",)

    def __init__(self) -> None:
        self.spent = 0

    def spend(self, units: int) -> None:
        self.spent += units
        if self.spent > LIMIT:
            raise CostExceededError


def charged(step: Step, before: int, *, if_true: int = 0) -> Step:
    """``step`` with a price, and another one where it is true."""

    def run(frame: Frame) -> Value:
        meter: Meter = frame[METER_SLOT]
        meter.spend(before)
        value = step(frame)
        if if_true and value is True:
            meter.spend(if_true)
        return value

    return run


def pay(units: int) -> Pay:
    """What pays so much when it is called."""

    def run(frame: Frame) -> None:
        meter: Meter = frame[METER_SLOT]
        meter.spend(units)

    return run


def without_base(node: Node, step: Step, constants: Container[int]) -> Step:
    """A branch of a condition: where it is a name or a chain, its base costs nothing."""
    free = node.id not in constants and (
        isinstance(node, Ident)
        or (isinstance(node, Select) and not node.test)
        or (isinstance(node, Call) and node.function in _INDEXES)
    )
    return charged(step, -1) if free else step


def collected(macro: str, value: Step, *, constant: bool) -> Step:
    """A value that a macro adds to what it makes. A list of one constant is no list that
    has to be made each time."""
    spared = LIST_COST if constant and COLLECT[macro] == _APPEND else 0
    return charged(value, COLLECT[macro] - spared)


def metered_call(
    function: str,
    overload: str,
    args: list[Step],
    build: Callable[[list[Step]], Step],
) -> Step:
    """A call that pays by the values of its arguments."""
    run_on_values = build([_pick(index) for index in range(len(args))])

    def run(frame: Frame) -> Value:
        meter: Meter = frame[METER_SLOT]
        values, failed = _arguments(args, frame)
        meter.spend(cost_of_call(function, overload, values))
        if failed is not None:
            raise failed
        result = run_on_values(values)
        meter.spend(cost_of_result(function, result))
        return result

    return run


def _arguments(
    args: list[Step], frame: Frame
) -> tuple[list[Value], EvaluationError | None]:
    """The values, and the first error. Up to two arguments are always computed, and
    then the call is paid for although it fails."""
    values: list[Value] = []
    failed: EvaluationError | None = None
    for arg in args:
        try:
            values.append(arg(frame))
        except EvaluationError as error:
            if len(args) > _ALL_COMPUTED:
                raise
            failed = failed or error
            values.append(None)
    return values, failed


def _pick(index: int) -> Step:
    def run(values: Frame) -> Value:
        return values[index]

    return run


# What the reference pays around the parts that the user wrote, per turn: the
# condition of the loop, the accumulator, and building the next one.
_APPEND: Final = 1 + LIST_COST + 1
TURN: Final = {
    "all": (3, 0),
    "exists": (4, 0),
    "exists_one": (0, 2),
}
"""Of a quantifier's predicate: before, and when true."""
LOOK: Final = {"all": 2, "exists": 3}
"""Of the condition that ends a quantifier before its last element."""
COLLECT: Final = {
    "map": _APPEND,
    "filter": _APPEND,
    "transformList": _APPEND,
    "transformMap": 3,
    "transformMapEntry": 2,
}
"""Of a collected value. A predicate that says no costs nothing more."""
RESULT: Final = {"exists_one": 2}
"""Of the result where it is not 1."""
LITERALS: Final = {"list": LIST_COST, "map": MAP_COST}
