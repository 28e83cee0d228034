"""Counting the cost while evaluating, for programs that might exceed the limit.

The estimate is never too low, so most programs need no meter. A metered frame
carries its meter in the second slot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dra.cel.cost.ranges import LIMIT, LIST_COST, MAP_COST
from dra.cel.cost.runtime import cost_of_call, cost_of_result
from dra.cel.errors import CostExceededError
from dra.cel.plan import Frame, Step
from dra.cel.values import Value

METER_SLOT: Final = 1


class Meter:
    """Counts units up to the limit."""

    __slots__ = ("spent",)

    def __init__(self) -> None:
        self.spent = 0

    def spend(self, units: int) -> None:
        self.spent += units
        if self.spent > LIMIT:
            raise CostExceededError


def charged(step: Step, before: int, *, if_true: int = 0, if_false: int = 0) -> Step:
    """``step`` with a price, and another one by its answer."""

    def run(frame: Frame) -> Value:
        meter: Meter = frame[METER_SLOT]
        meter.spend(before)
        value = step(frame)
        if value is True:
            meter.spend(if_true)
        elif value is False:
            meter.spend(if_false)
        return value

    return run


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
        values = [arg(frame) for arg in args]
        meter.spend(cost_of_call(function, overload, values))
        result = run_on_values(values)
        meter.spend(cost_of_result(function, result))
        return result

    return run


def _pick(index: int) -> Step:
    def run(values: Frame) -> Value:
        return values[index]

    return run


# What the reference pays around the parts that the user wrote, per turn: the
# condition of the loop, the accumulator, and building the next one.
_APPEND: Final = 1 + LIST_COST + 1
TURN: Final = {
    "all": (3, 0, 0),
    "exists": (4, 0, 0),
    "exists_one": (0, 2, 1),
}
"""Of a quantifier's predicate: before, when true, when false."""
COLLECT: Final = {
    "map": _APPEND,
    "filter": _APPEND,
    "transformList": _APPEND,
    "transformMap": 3,
    "transformMapEntry": 2,
}
"""Of a collected value. A predicate that says no costs 1."""
RESULT: Final = {"exists_one": 2}
"""Of the result where it is not 1."""
LITERALS: Final = {"list": LIST_COST, "map": MAP_COST}
