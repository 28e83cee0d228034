"""What cel-go's functions on lists and sets cost."""

from __future__ import annotations

from typing import Final

from dra.cel.cost.arguments import (
    Args,
    Argument,
    CallCost,
    Rule,
    Target,
    wrapped,
)
from dra.cel.cost.ranges import (
    LIST_COST,
    MAXIMUM,
    ONE,
    STRING_FACTOR,
    Range,
    fixed,
)


def _allocating(factor: float, size: Range) -> CallCost:
    return CallCost(size.scaled(factor).plus(ONE).plus(fixed(LIST_COST)), size)


def _whole(argument: Argument, default: int) -> int:
    value = argument.literal
    return max(value, 0) if type(value) is int else default


def _slice(_overload: str, target: Target, args: Args) -> CallCost | None:
    if target is None:
        return None
    start, end = _whole(args[0], 0), _whole(args[1], target.size.high)
    return _allocating(1, fixed(wrapped(end - start)))


def _range(_overload: str, _target: Target, args: Args) -> CallCost:
    return _allocating(1, fixed(_whole(args[0], MAXIMUM)))


def _reverse(_overload: str, target: Target, _args: Args) -> CallCost | None:
    return None if target is None else _allocating(1, target.size)


def _flatten(_overload: str, target: Target, args: Args) -> CallCost | None:
    if target is None:
        return None
    depth = _whole(args[0], MAXIMUM) if args else 1
    return _allocating(float(depth), target.size)


def _distinct(_overload: str, target: Target, _args: Args) -> CallCost | None:
    return None if target is None else _allocating(2, target.size.times(target.size))


def _sorting(overload: str, target: Target, args: Args) -> CallCost | None:
    by = args[0] if args else target
    if by is None:
        return None
    text = overload.startswith(("list_string_", "list_bytes_"))
    factor = 2 + STRING_FACTOR if text else 2.0
    return _allocating(factor, by.size.times(by.size))


def _sets(overload: str, _target: Target, args: Args) -> CallCost:
    pairs = args[0].size.times(args[1].size)
    factor = 2 if overload == "list_sets_equivalent_list" else 1
    return CallCost(pairs.scaled(factor).plus(ONE))


_SORTED_KINDS = (
    *("int", "uint", "double", "bool", "string", "bytes"),
    *("google.protobuf.Duration", "google.protobuf.Timestamp"),
)


OVERLOADS: Final[dict[str, Rule]] = {
    "list_slice": _slice,
    "lists_range": _range,
    "list_reverse": _reverse,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_distinct": _distinct,
    "list_sets_contains_list": _sets,
    "list_sets_intersects_list": _sets,
    "list_sets_equivalent_list": _sets,
    **{f"list_{kind}_sort": _sorting for kind in _SORTED_KINDS},
    **{f"list_{kind}_sortByAssociatedKeys": _sorting for kind in _SORTED_KINDS},
}
"""By overload; asked first."""
