"""What Kubernetes' own functions cost, and equality of its own types."""

from __future__ import annotations

import math
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
    MAXIMUM,
    ONE,
    REGEX_FACTOR,
    STRING_FACTOR,
    ZERO,
    Range,
    scale,
)
from dra.cel.cost.sizes import LIST_LENGTH


def _constant(_overload: str, _target: Target, _args: Args) -> CallCost:
    return CallCost(ONE)


def _includes(_overload: str, target: Target, _args: Args) -> CallCost | None:
    return None if target is None else CallCost(Range(0, LIST_LENGTH))


def _list_traversal(_overload: str, target: Target, _args: Args) -> CallCost | None:
    if target is None:
        return None
    element = target.elements()
    if element is None:
        return CallCost(traversal(target.size))
    each = ONE
    if element.type.kind in ("string", "bytes"):
        each = each.plus(traversal(element.size))
    return CallCost(target.size.times(each))


def _argument_traversal(_overload: str, _target: Target, args: Args) -> CallCost:
    return CallCost(traversal(args[0].size))


def _url(_overload: str, _target: Target, args: Args) -> CallCost:
    return CallCost(traversal(args[0].size), args[0].size)


def _same_size(_overload: str, target: Target, _args: Args) -> CallCost | None:
    return None if target is None else CallCost(traversal(target.size), target.size)


def _replace(_overload: str, target: Target, args: Args) -> CallCost | None:
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


def _split(_overload: str, target: Target, args: Args) -> CallCost | None:
    if target is None:
        return None
    high = target.size.high
    if len(args) > 1 and type(args[1].literal) is int:
        high = wrapped(args[1].literal)
    return CallCost(target.size.scaled(2 * STRING_FACTOR), Range(0, high))


def _join(_overload: str, target: Target, args: Args) -> CallCost | None:
    if target is None:
        return None
    items, element = target.size, target.elements()
    size = ZERO if element is None else items.times(element.size)
    if args:
        between = Range(max(items.low - 1, 0), max(items.high - 1, 0))
        size = size.plus(args[0].size.times(between))
    return CallCost(traversal(size), size)


def _find(_overload: str, target: Target, args: Args) -> CallCost | None:
    if target is None:
        return None
    cost = regex_cost(target.size, args[0].size)
    return CallCost(cost, Range(0, target.size.high))


def _ip(overload: str, target: Target, args: Args) -> CallCost:
    if overload == "cidr_ip":
        return _constant(overload, target, args)
    return _argument_traversal(overload, target, args)


def _is_canonical(_overload: str, _target: Target, args: Args) -> CallCost:
    return CallCost(args[0].size.scaled(2 * STRING_FACTOR))


_ADDRESS_BYTES: Final = Range(4, 16)


def _contains_ip(overload: str, _target: Target, args: Args) -> CallCost:
    cost = traversal(_ADDRESS_BYTES.plus(_ADDRESS_BYTES))
    if overload == "cidr_contains_ip_string":
        cost = cost.plus(traversal(args[0].size))
    return CallCost(cost)


def _contains_cidr(overload: str, _target: Target, args: Args) -> CallCost:
    cost = traversal(_ADDRESS_BYTES.plus(_ADDRESS_BYTES))
    cost = cost.plus(traversal(_ADDRESS_BYTES)).plus(ONE)
    if overload == "cidr_contains_cidr_string":
        cost = cost.plus(traversal(args[0].size))
    return CallCost(cost)


_NAME_REGEX_SIZE: Final = 128
_FORMAT_SIZE: Final = 64


def _validate(_overload: str, _target: Target, args: Args) -> CallCost:
    size = traversal(args[0].size)
    return CallCost(size.scaled(_NAME_REGEX_SIZE * REGEX_FACTOR))


_UNIT_EQUALITY: Final = frozenset(
    {"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"}
)


def _equality(_overload: str, _target: Target, args: Args) -> CallCost | None:
    """Values of Kubernetes' own types; others are compared by size."""
    left, right = args
    if left.type.name != right.type.name:
        return None
    if left.type.name in _UNIT_EQUALITY:
        return CallCost(ONE)
    if left.type.name == "kubernetes.NamedFormat":
        return CallCost(traversal(Range(1, _FORMAT_SIZE)))
    if left.type.name == "kubernetes.URL":
        known = right.known_size
        high = 1 if known is None else known.high
        return CallCost(Range(scale(1, STRING_FACTOR), scale(high, STRING_FACTOR)))
    return None


def _each(rule: Rule, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


FUNCTIONS: Final[dict[str, Rule]] = {
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
"""By function; asked when no overload has a rule."""
