"""What calling a function costs, by overload and sizes of the arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from dra.cel.cost.ranges import (
    LIST_COST,
    MAXIMUM,
    ONE,
    REGEX_FACTOR,
    STRING_FACTOR,
    UNKNOWN,
    ZERO,
    Range,
    fixed,
    scale,
)
from dra.cel.cost.sizes import LIST_LENGTH, size_at
from dra.cel.types import Type


class Argument(NamedTuple):
    """An argument or receiver: its type, path, size, and value if literal."""

    type: Type
    path: list[str]
    known_size: Range | None
    literal: Any

    @property
    def size(self) -> Range:
        if self.known_size is not None:
            return self.known_size
        found = size_at(self.path)
        return UNKNOWN if found is None else found

    @property
    def computed_size(self) -> Range:
        return UNKNOWN if self.known_size is None else self.known_size

    def elements(self) -> Argument | None:
        """A stand-in for the elements, where the type says it has some."""
        if not self.type.params:
            return None
        path = [*self.path, "@items"] if self.path else []
        return Argument(self.type.params[0], path, None, None)


class CallCost(NamedTuple):
    """The cost of a call, its arguments included, and the size of the result."""

    cost: Range
    size: Range | None = None


type _Target = Argument | None
type _Args = list[Argument]
type _Rule = Callable[[str, _Target, _Args], CallCost | None]


def call_cost(
    function: str, overload: str, target: _Target, args: _Args, costs: list[Range]
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
    function: str, overload: str, target: _Target, args: _Args
) -> CallCost | None:
    for rule in (_OVERLOADS.get(overload), _FUNCTIONS.get(function)):
        found = None if rule is None else rule(overload, target, args)
        if found is not None:
            return found
    rule = _STANDARD.get(overload)
    return None if rule is None else rule(overload, target, args)


# --- standard library ---


def _traversal(size: Range) -> Range:
    return size.scaled(STRING_FACTOR)


def _format(_overload: str, target: _Target, _args: _Args) -> CallCost | None:
    return None if target is None else CallCost(_traversal(target.computed_size))


def _wrapped(value: int) -> int:
    """Unsigned arithmetic of 64 bits wraps around."""
    return value % 2**64


def _string_to_bytes(_overload: str, _target: _Target, args: _Args) -> CallCost:
    size = args[0].computed_size
    return CallCost(_traversal(size), Range(size.low, _wrapped(size.high * 4)))


def _bytes_to_string(_overload: str, _target: _Target, args: _Args) -> CallCost:
    size = args[0].computed_size
    return CallCost(_traversal(size), Range(size.low // 4, size.high))


def _quote(_overload: str, _target: _Target, args: _Args) -> CallCost:
    size = args[0].computed_size
    result = Range(_wrapped(size.low + 2), _wrapped(size.high * 2 + 2))
    return CallCost(_traversal(size), result)


def _affix(_overload: str, _target: _Target, args: _Args) -> CallCost:
    return CallCost(_traversal(args[0].computed_size))


def _in_list(_overload: str, _target: _Target, args: _Args) -> CallCost:
    return CallCost(args[1].computed_size.scaled(1))


def _regex_cost(text: Range, pattern: Range) -> Range:
    return _traversal(text.plus(ONE)).times(pattern.scaled(REGEX_FACTOR))


def _matches(_overload: str, target: _Target, args: _Args) -> CallCost | None:
    if target is None:
        return None
    return CallCost(_regex_cost(target.computed_size, args[0].computed_size))


def _contains(_overload: str, target: _Target, args: _Args) -> CallCost | None:
    if target is None:
        return None
    part = _traversal(args[0].computed_size)
    return CallCost(_traversal(target.computed_size).times(part))


def _concatenation(overload: str, _target: _Target, args: _Args) -> CallCost:
    size = args[0].computed_size.plus(args[1].computed_size)
    return CallCost(ONE if overload == "add_list" else _traversal(size), size)


def _comparison(_overload: str, _target: _Target, args: _Args) -> CallCost:
    high = min(args[0].computed_size.high, args[1].computed_size.high)
    return CallCost(_traversal(Range(1 if high > 0 else 0, high)))


_STANDARD: Final[dict[str, _Rule]] = {
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


# --- lists and sets of cel-go ---


def _allocating(factor: float, size: Range) -> CallCost:
    return CallCost(size.scaled(factor).plus(ONE).plus(fixed(LIST_COST)), size)


def _whole(argument: Argument, default: int) -> int:
    value = argument.literal
    return max(value, 0) if type(value) is int else default


def _slice(_overload: str, target: _Target, args: _Args) -> CallCost | None:
    if target is None:
        return None
    start, end = _whole(args[0], 0), _whole(args[1], target.size.high)
    return _allocating(1, fixed(_wrapped(end - start)))


def _range(_overload: str, _target: _Target, args: _Args) -> CallCost:
    return _allocating(1, fixed(_whole(args[0], MAXIMUM)))


def _reverse(_overload: str, target: _Target, _args: _Args) -> CallCost | None:
    return None if target is None else _allocating(1, target.size)


def _flatten(_overload: str, target: _Target, args: _Args) -> CallCost | None:
    if target is None:
        return None
    depth = _whole(args[0], MAXIMUM) if args else 1
    return _allocating(float(depth), target.size)


def _distinct(_overload: str, target: _Target, _args: _Args) -> CallCost | None:
    return None if target is None else _allocating(2, target.size.times(target.size))


def _sorting(overload: str, target: _Target, args: _Args) -> CallCost | None:
    by = args[0] if args else target
    if by is None:
        return None
    text = overload.startswith(("list_string_", "list_bytes_"))
    factor = 2 + STRING_FACTOR if text else 2.0
    return _allocating(factor, by.size.times(by.size))


def _sets(overload: str, _target: _Target, args: _Args) -> CallCost:
    pairs = args[0].size.times(args[1].size)
    factor = 2 if overload == "list_sets_equivalent_list" else 1
    return CallCost(pairs.scaled(factor).plus(ONE))


_SORTED_KINDS = (
    *("int", "uint", "double", "bool", "string", "bytes"),
    *("google.protobuf.Duration", "google.protobuf.Timestamp"),
)
_OVERLOADS: Final[dict[str, _Rule]] = {
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


# --- Kubernetes ---


def _constant(_overload: str, _target: _Target, _args: _Args) -> CallCost:
    return CallCost(ONE)


def _includes(_overload: str, target: _Target, _args: _Args) -> CallCost | None:
    return None if target is None else CallCost(Range(0, LIST_LENGTH))


def _list_traversal(_overload: str, target: _Target, _args: _Args) -> CallCost | None:
    if target is None:
        return None
    element = target.elements()
    if element is None:
        return CallCost(_traversal(target.size))
    each = ONE
    if element.type.kind in ("string", "bytes"):
        each = each.plus(_traversal(element.size))
    return CallCost(target.size.times(each))


def _argument_traversal(_overload: str, _target: _Target, args: _Args) -> CallCost:
    return CallCost(_traversal(args[0].size))


def _url(_overload: str, _target: _Target, args: _Args) -> CallCost:
    return CallCost(_traversal(args[0].size), args[0].size)


def _same_size(_overload: str, target: _Target, _args: _Args) -> CallCost | None:
    return None if target is None else CallCost(_traversal(target.size), target.size)


def _replace(_overload: str, target: _Target, args: _Args) -> CallCost | None:
    if target is None:
        return None
    size, old, new = target.size, args[0].size, args[1].size
    if old.low == 0:
        # Nothing is replaced by something around every character.
        most, kept_most = min(size.high + 1, MAXIMUM), size.high
    elif new.high <= old.low:
        most, kept_most = 0, size.high
    else:
        most, kept_most = _ceil_divide(size.high, old.low), 0
    if old.high == 0:
        least, kept_least = min(size.low + 1, MAXIMUM), size.low
    elif old.high <= new.low:
        least, kept_least = 0, size.low
    else:
        least, kept_least = _ceil_divide(size.low, old.high), 0
    result = Range(least, most).times(new).plus(Range(kept_least, kept_most))
    return CallCost(size.scaled(2 * STRING_FACTOR), result)


def _ceil_divide(left: int, right: int) -> int:
    # In floating point, as the reference does it.
    return min(math.ceil(float(left) / float(right)), MAXIMUM)


def _split(_overload: str, target: _Target, args: _Args) -> CallCost | None:
    if target is None:
        return None
    high = target.size.high
    if len(args) > 1 and type(args[1].literal) is int:
        high = _wrapped(args[1].literal)
    return CallCost(target.size.scaled(2 * STRING_FACTOR), Range(0, high))


def _join(_overload: str, target: _Target, args: _Args) -> CallCost | None:
    if target is None:
        return None
    items, element = target.size, target.elements()
    size = ZERO if element is None else items.times(element.size)
    if args:
        between = Range(max(items.low - 1, 0), max(items.high - 1, 0))
        size = size.plus(args[0].size.times(between))
    return CallCost(_traversal(size), size)


def _find(_overload: str, target: _Target, args: _Args) -> CallCost | None:
    if target is None:
        return None
    cost = _regex_cost(target.size, args[0].size)
    return CallCost(cost, Range(0, target.size.high))


def _ip(overload: str, target: _Target, args: _Args) -> CallCost:
    if overload == "cidr_ip":
        return _constant(overload, target, args)
    return _argument_traversal(overload, target, args)


def _is_canonical(_overload: str, _target: _Target, args: _Args) -> CallCost:
    return CallCost(args[0].size.scaled(2 * STRING_FACTOR))


_ADDRESS_BYTES: Final = Range(4, 16)


def _contains_ip(overload: str, _target: _Target, args: _Args) -> CallCost:
    cost = _traversal(_ADDRESS_BYTES.plus(_ADDRESS_BYTES))
    if overload == "cidr_contains_ip_string":
        cost = cost.plus(_traversal(args[0].size))
    return CallCost(cost)


def _contains_cidr(overload: str, _target: _Target, args: _Args) -> CallCost:
    cost = _traversal(_ADDRESS_BYTES.plus(_ADDRESS_BYTES))
    cost = cost.plus(_traversal(_ADDRESS_BYTES)).plus(ONE)
    if overload == "cidr_contains_cidr_string":
        cost = cost.plus(_traversal(args[0].size))
    return CallCost(cost)


_NAME_REGEX_SIZE: Final = 128
_FORMAT_SIZE: Final = 64


def _validate(_overload: str, _target: _Target, args: _Args) -> CallCost:
    size = _traversal(args[0].size)
    return CallCost(size.scaled(_NAME_REGEX_SIZE * REGEX_FACTOR))


_UNIT_EQUALITY: Final = frozenset(
    {"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"}
)


def _equality(_overload: str, _target: _Target, args: _Args) -> CallCost | None:
    """Values of Kubernetes' own types; others are compared by size."""
    left, right = args
    if left.type.name != right.type.name:
        return None
    if left.type.name in _UNIT_EQUALITY:
        return CallCost(ONE)
    if left.type.name == "kubernetes.NamedFormat":
        return CallCost(_traversal(Range(1, _FORMAT_SIZE)))
    if left.type.name == "kubernetes.URL":
        known = right.known_size
        high = 1 if known is None else known.high
        return CallCost(Range(scale(1, STRING_FACTOR), scale(high, STRING_FACTOR)))
    return None


def _each(rule: _Rule, names: str) -> dict[str, _Rule]:
    return dict.fromkeys(names.split(), rule)


_FUNCTIONS: Final[dict[str, _Rule]] = {
    **_each(_list_traversal, "isSorted sum max min indexOf lastIndexOf"),
    **_each(_same_size, "lowerAscii upperAscii substring trim"),
    **_each(_argument_traversal, "cidr isIP isCIDR"),
    **_each(_argument_traversal, "quantity isQuantity semver isSemver"),
    **_each(_find, "find findAll"),
    **_each(_constant, "masked prefixLength family isUnspecified isLoopback"),
    **_each(_constant, "isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast"),
    **_each(_constant, "format.named sign asInteger isInteger asApproximateFloat"),
    **_each(_constant, "isGreaterThan isLessThan compareTo add sub"),
    **_each(_constant, "major minor patch getScheme getHostname getHost getPort"),
    **_each(_constant, "getEscapedPath getQuery"),
    "url": _url,
    "replace": _replace,
    "split": _split,
    "join": _join,
    "ip": _ip,
    "ip.isCanonical": _is_canonical,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    "includes": _includes,
    "_==_": _equality,
}
