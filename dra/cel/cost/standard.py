"""What the functions of the standard library cost."""

from __future__ import annotations

from typing import Final

from dra.cel.cost.arguments import (
    Args,
    CallCost,
    Rule,
    Target,
    regex_cost,
    traversal,
    wrapped,
)
from dra.cel.cost.ranges import (
    ONE,
    Range,
)


def _format(_overload: str, target: Target, _args: Args) -> CallCost | None:
    return None if target is None else CallCost(traversal(target.computed_size))


def _string_to_bytes(_overload: str, _target: Target, args: Args) -> CallCost:
    size = args[0].computed_size
    return CallCost(traversal(size), Range(size.low, wrapped(size.high * 4)))


def _bytes_to_string(_overload: str, _target: Target, args: Args) -> CallCost:
    size = args[0].computed_size
    return CallCost(traversal(size), Range(size.low // 4, size.high))


def _quote(_overload: str, _target: Target, args: Args) -> CallCost:
    size = args[0].computed_size
    result = Range(wrapped(size.low + 2), wrapped(size.high * 2 + 2))
    return CallCost(traversal(size), result)


def _affix(_overload: str, _target: Target, args: Args) -> CallCost:
    return CallCost(traversal(args[0].computed_size))


def _in_list(_overload: str, _target: Target, args: Args) -> CallCost:
    return CallCost(args[1].computed_size.scaled(1))


def _matches(_overload: str, target: Target, args: Args) -> CallCost | None:
    if target is None:
        return None
    return CallCost(regex_cost(target.computed_size, args[0].computed_size))


def _contains(_overload: str, target: Target, args: Args) -> CallCost | None:
    if target is None:
        return None
    part = traversal(args[0].computed_size)
    return CallCost(traversal(target.computed_size).times(part))


def _concatenation(overload: str, _target: Target, args: Args) -> CallCost:
    size = args[0].computed_size.plus(args[1].computed_size)
    return CallCost(ONE if overload == "add_list" else traversal(size), size)


def _comparison(_overload: str, _target: Target, args: Args) -> CallCost:
    high = min(args[0].computed_size.high, args[1].computed_size.high)
    return CallCost(traversal(Range(1 if high > 0 else 0, high)))


STANDARD: Final[dict[str, Rule]] = {
    "string_format": _format,
    "string_to_bytes": _string_to_bytes,
    "bytes_to_string": _bytes_to_string,
    "strings_quote": _quote,
    "starts_with_string": _affix,
    "ends_with_string": _affix,
    "in_list": _in_list,
    "matches_string": _matches,
    "contains_string": _contains,
    "add_string": _concatenation,
    "add_bytes": _concatenation,
    "add_list": _concatenation,
    "equals": _comparison,
    "not_equals": _comparison,
    **{
        f"{order}_{kind}": _comparison
        for order in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
}
"""By overload; asked last."""
