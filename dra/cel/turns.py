"""The turns of looping macros: which macros loop, what the user wrote of one, what a
turn pays."""

from __future__ import annotations

from typing import Final

from dra.cel import budget
from dra.cel.ast import (
    Call,
    Comprehension,
    ListLiteral,
    Node,
)
from dra.cel.metering import LOOK, TURN, charged, collected, pay
from dra.cel.plan import Frame, Pay, Step
from dra.cel.values import Value

LOOPS: Final = frozenset(
    [
        "all",
        "exists",
        "exists_one",
        "map",
        "filter",
        "transformList",
        "transformMap",
        "transformMapEntry",
    ]
)


def weighed(step: Step, units: int) -> Step:
    """``step``, for which a turn of a loop has to have room in the budget."""
    spend = budget.spend

    def run(frame: Frame) -> Value:
        spend(units)
        return step(frame)

    return run


def pay_for_turns(
    macro: str,
    predicate: Step | None,
    value: Step | None,
    constant: bool,
) -> tuple[Step | None, Step | None, Pay]:
    """What a turn's parts cost, and what a look costs that ends the loop early."""
    if predicate is not None:
        before, if_true = TURN.get(macro, (0, 0))
        predicate = charged(predicate, before, if_true=if_true)
    if value is not None:
        value = collected(macro, value, constant=constant)
    return predicate, value, pay(LOOK.get(macro, 0))


class Written:
    """The parts of a looping macro that the user wrote, out of its expansion."""

    __slots__ = ("predicate", "value")

    def __init__(self, node: Comprehension) -> None:
        step = node.step
        assert isinstance(step, Call)
        self.predicate: Node | None = None
        self.value: Node | None = None
        if node.macro in ("all", "exists"):
            self.predicate = step.args[1]
            return
        if step.function == "_?_:_":
            self.predicate = step.args[0]
            if node.macro == "exists_one":
                return
            step = step.args[1]
            assert isinstance(step, Call)
        last = step.args[-1]
        if step.function == "_+_":
            assert isinstance(last, ListLiteral)
            last = last.elements[0]
        self.value = last
