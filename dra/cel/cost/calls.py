"""What calling a function costs, by overload and sizes of the arguments."""

from __future__ import annotations

from dra.cel.cost.arguments import (
    Args,
    CallCost,
    Target,
)
from dra.cel.cost.kubernetes import FUNCTIONS
from dra.cel.cost.lists import OVERLOADS
from dra.cel.cost.ranges import (
    ONE,
    ZERO,
    Range,
)
from dra.cel.cost.standard import STANDARD


def call_cost(
    function: str, overload: str, target: Target, args: Args, costs: list[Range]
) -> CallCost:
    """The cost of ``overload`` with arguments that cost ``costs``."""
    paid = ZERO
    for cost in costs:
        paid = paid.plus(cost)
    own = _own_cost(function, overload, target, args)
    if own is not None:
        return CallCost(own.cost.plus(paid), own.size)
    if overload in ("logical_or", "logical_and"):
        # The right side may never run.
        left, right = costs
        return CallCost(Range(left.low, left.plus(right).high))
    if overload == "conditional":
        condition, yes, no = costs
        size = args[1].computed_size.union(args[2].computed_size)
        return CallCost(condition.plus(yes.union(no)), size)
    return CallCost(ONE.plus(paid))


def _own_cost(
    function: str, overload: str, target: Target, args: Args
) -> CallCost | None:
    for rule in (OVERLOADS.get(overload), FUNCTIONS.get(function)):
        found = None if rule is None else rule(overload, target, args)
        if found is not None:
            return found
    rule = STANDARD.get(overload)
    return None if rule is None else rule(overload, target, args)
