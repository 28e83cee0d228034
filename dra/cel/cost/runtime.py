"""What a call really cost, by the values it got: the counterpart of the estimate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from dra.cel.addresses import CIDR, IP
from dra.cel.cost.ranges import LIMIT, LIST_COST, REGEX_FACTOR, STRING_FACTOR
from dra.cel.formats import NamedFormat
from dra.cel.urls import URL
from dra.cel.values import Optional, QuantityPointer, QuantityValue, Value
from dra.semver import Version

type _Rule = Callable[[list[Value], str], int]


def size(value: Value) -> int:
    """Code points, bytes, elements or entries; 1 for what has no size."""
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    if isinstance(value, Optional) and value.present:
        return size(value.value)
    if isinstance(value, IP):
        return value.bits // 8
    if isinstance(value, CIDR):
        return math.ceil(value.prefix / 8)
    return 1


def cost_of_call(function: str, overload: str, args: list[Value]) -> int:
    """The cost of a call before it runs; ``overload`` is empty when undecided."""
    rule = _OVERLOADS.get(overload) or _FUNCTIONS.get(function)
    return 1 if rule is None else rule(args, overload)


def cost_of_result(function: str, result: Value) -> int:
    """What is due after the call, for functions that pay for what they build."""
    return _scaled(size(result), 2 * STRING_FACTOR) if function == "join" else 0


def _scaled(amount: float, factor: float) -> int:
    return math.ceil(amount * factor)


def _first(args: list[Value], _overload: str) -> int:
    return _scaled(size(args[0]), STRING_FACTOR)


def _first_twice(args: list[Value], _overload: str) -> int:
    return _scaled(size(args[0]), 2 * STRING_FACTOR)


def _nothing(_args: list[Value], _overload: str) -> int:
    return 0


def _traversal(args: list[Value], _overload: str) -> int:
    """The whole value; the count stops where the limit is passed anyway."""
    total = 0
    pending = [args[0]]
    while pending and total <= LIMIT:
        value = pending.pop()
        if isinstance(value, str):
            total += int(len(value.encode("utf-8", "surrogateescape")) * STRING_FACTOR)
        elif isinstance(value, bytes):
            total += int(len(value) * STRING_FACTOR)
        elif isinstance(value, list):
            pending.extend(value)
        elif isinstance(value, dict):
            pending.extend(value.keys())
            pending.extend(value.values())
        else:
            total += 1
    return total


_UNIT: Final = (QuantityValue, QuantityPointer, IP, CIDR, URL, Version, NamedFormat)


def _equality(args: list[Value], overload: str) -> int:
    if isinstance(args[0], _UNIT):
        return 1
    return _smaller(args, overload)


def _smaller(args: list[Value], _overload: str) -> int:
    return _scaled(min(size(args[0]), size(args[1])), STRING_FACTOR)


def _concatenation(args: list[Value], _overload: str) -> int:
    return _scaled(size(args[0]) + size(args[1]), STRING_FACTOR)


def _regex(args: list[Value], _overload: str) -> int:
    text = _scaled(1.0 + size(args[0]), STRING_FACTOR)
    return text * _scaled(size(args[1]), REGEX_FACTOR)


def _contains(args: list[Value], _overload: str) -> int:
    return _first(args, "") * _scaled(size(args[1]), STRING_FACTOR)


def _second_size(args: list[Value], _overload: str) -> int:
    return size(args[1])


def _ip(args: list[Value], overload: str) -> int:
    return 1 if overload == "cidr_ip" else _first(args, overload)


def _contains_ip(args: list[Value], overload: str) -> int:
    block, other = size(args[0]), size(args[1])
    parse = overload == "cidr_contains_ip_string"
    return _scaled(2 * block, STRING_FACTOR) + (
        _scaled(other, STRING_FACTOR) if parse else 0
    )


def _contains_cidr(args: list[Value], overload: str) -> int:
    block, other = size(args[0]), size(args[1])
    parse = overload == "cidr_contains_cidr_string"
    return (
        _scaled(2 * block, STRING_FACTOR)
        + _scaled(block, STRING_FACTOR)
        + 1
        + (_scaled(other, STRING_FACTOR) if parse else 0)
    )


def _validate(args: list[Value], _overload: str) -> int:
    if not isinstance(args[0], NamedFormat):
        return 1
    text = _scaled(1.0 + size(args[1]), STRING_FACTOR)
    return text * _scaled(args[0].regex_size, REGEX_FACTOR)


def _allocating(factor: float, amount: int) -> int:
    return int(amount * factor) + 1 + LIST_COST


def _slice(args: list[Value], _overload: str) -> int:
    start, end = args[1:3]
    numbers = type(start) is int and type(end) is int
    return _allocating(1, max(end - start, 0) if numbers else 0)


def _range(args: list[Value], _overload: str) -> int:
    return _allocating(1, max(args[0], 0) if type(args[0]) is int else 0)


def _whole_list(args: list[Value], _overload: str) -> int:
    return _allocating(1, size(args[0]))


def _flatten(args: list[Value], _overload: str) -> int:
    depth = args[1] if len(args) == 2 and type(args[1]) is int else 1
    return _allocating(max(depth, 0), size(args[0]))


def _self_compare(args: list[Value], _overload: str) -> int:
    items = args[-1]
    amount = size(items)
    text = amount and isinstance(items, list) and isinstance(items[0], str | bytes)
    return _allocating(2 + STRING_FACTOR if text else 2.0, amount * amount)


def _sort(args: list[Value], overload: str) -> int:
    """By the type of the keys; where that is only known later, nobody counts."""
    return _self_compare(args, overload) if overload else 1


def _pairs(args: list[Value], overload: str) -> int:
    factor = 2 if overload == "list_sets_equivalent_list" else 1
    return size(args[0]) * size(args[1]) * factor + 1


def _each(rule: _Rule, names: str) -> dict[str, _Rule]:
    return dict.fromkeys(names.split(), rule)


_FUNCTIONS: Final[dict[str, _Rule]] = {
    **_each(_traversal, "isSorted sum max min indexOf lastIndexOf"),
    **_each(_first, "url lowerAscii upperAscii substring trim cidr isIP isCIDR"),
    **_each(_first, "quantity isQuantity semver isSemver"),
    **_each(_first_twice, "replace split ip.isCanonical"),
    **_each(_regex, "find findAll"),
    "distinct": _self_compare,
    **_each(_sort, "sort @sortByAssociatedKeys"),
    "join": _nothing,
    "ip": _ip,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    "_==_": _equality,
    "_!=_": _smaller,
}
_OVERLOADS: Final[dict[str, _Rule]] = {
    **_each(_first, "starts_with_string ends_with_string string_to_bytes"),
    **_each(_first, "bytes_to_string strings_quote string_format"),
    "in_list": _second_size,
    **_each(_concatenation, "add_string add_bytes"),
    "matches_string": _regex,
    "contains_string": _contains,
    "list_slice": _slice,
    "lists_range": _range,
    "list_reverse": _whole_list,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_sets_contains_list": _pairs,
    "list_sets_intersects_list": _pairs,
    "list_sets_equivalent_list": _pairs,
    **{
        f"{order}_{kind}": _smaller
        for order in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
}
