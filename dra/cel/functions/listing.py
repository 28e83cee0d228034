"""Functions on lists: Kubernetes' own, cel-go's, sets, and DRA's ``includes``."""

from __future__ import annotations

import functools
import itertools
from typing import Final

from dra.cel import budget
from dra.cel import types as t
from dra.cel.arithmetic import add
from dra.cel.cost.ranges import LIMIT
from dra.cel.declarations import Declarations
from dra.cel.errors import CostExceededError, EvaluationError
from dra.cel.operators import (
    comparable,
    compare,
    contains,
    definitely_equal,
    no_such_overload,
    type_name,
)
from dra.cel.values import Duration, UInt, Value

MAX_INCLUDES: Final = 48
_A = t.param("A")
_LIST = t.list_of(_A)
_T = t.list_of(t.param("T"))
_COMPARABLE: Final = {
    "int": t.INT,
    "uint": t.UINT,
    "double": t.DOUBLE,
    "bool": t.BOOL,
    "duration": t.DURATION,
    "timestamp": t.TIMESTAMP,
    "string": t.STRING,
    "bytes": t.BYTES,
}
_ZERO: Final[dict[str, Value]] = {
    "int": 0,
    "uint": UInt(0),
    "double": 0.0,
    "duration": Duration(0),
}


def declare(to: Declarations) -> None:
    _declare_kubernetes(to)
    _declare_sorting(to)
    to.method("slice", "list_slice", (_T, t.INT, t.INT), _T, slice_of)
    dyn = t.list_of(t.DYN)
    nested = t.list_of(_T)
    to.method("flatten", "list_flatten", (nested,), _T, flatten, guarded=False)
    to.method("flatten", "list_flatten_int", (dyn, t.INT), dyn, flatten, guarded=False)
    to.add("lists.range", "lists_range", (t.INT,), t.list_of(t.INT), numbers)
    to.method("reverse", "list_reverse", (_T,), _T, lambda x: x[::-1])
    to.method("distinct", "list_distinct", (_T,), _T, distinct)
    for name, run in (
        ("contains", set_contains),
        ("equivalent", set_equivalent),
        ("intersects", set_intersects),
    ):
        to.add(f"sets.{name}", f"list_sets_{name}_list", (_T, _T), t.BOOL, run)


def declare_includes(to: Declarations) -> None:
    """DRA's ``includes``, behind the gate of list attributes."""
    to.method("includes", "dra_includes_dyn_dyn", (t.DYN, t.DYN), t.BOOL, includes)


def _declare_kubernetes(to: Declarations) -> None:
    for name, kind in _COMPARABLE.items():
        items = t.list_of(kind)
        to.method(
            "isSorted", f"list_{name}_is_sorted_bool", (items,), t.BOOL, is_sorted
        )
        to.method("max", f"list_{name}_max_{name}", (items,), kind, largest)
        to.method("min", f"list_{name}_min_{name}", (items,), kind, smallest)
    for name, zero in _ZERO.items():
        kind = _COMPARABLE[name]
        to.method(
            "sum",
            f"list_{name}_sum_{name}",
            (t.list_of(kind),),
            kind,
            functools.partial(total, zero),
        )
    to.method("indexOf", "list_a_index_of_int", (_LIST, _A), t.INT, index_of)
    to.method(
        "lastIndexOf", "list_a_last_index_of_int", (_LIST, _A), t.INT, last_index_of
    )


def _declare_sorting(to: Declarations) -> None:
    for kind in _COMPARABLE.values():
        items = t.list_of(kind)
        to.method(
            "sort", f"list_{kind.name}_sort", (items,), items, sort, guarded=False
        )
        to.method(
            "@sortByAssociatedKeys",
            f"list_{kind.name}_sortByAssociatedKeys",
            (_T, items),
            _T,
            sort_by,
            guarded=False,
        )


def is_sorted(items: list[Value]) -> bool:
    budget.spend_on_elements(items)
    for item in items:
        if not comparable(item):
            raise no_such_overload()
    return not any(_order(a, b) == 1 for a, b in itertools.pairwise(items))


def _order(left: Value, right: Value) -> int | None:
    # The reference looks only for the answer it wants; an error is just another.
    try:
        return compare(left, right)
    except EvaluationError:
        return None


def _extreme(items: list[Value], name: str, wanted: int) -> Value:
    best: Value = None
    budget.spend_on_elements(items)
    for index, item in enumerate(items):
        if not comparable(item):
            raise no_such_overload()
        if index == 0 or _order(best, item) == wanted:
            best = item
    if not items:
        raise EvaluationError(f"{name} called on empty list")
    return best


def largest(items: list[Value]) -> Value:
    return _extreme(items, "max", -1)


def smallest(items: list[Value]) -> Value:
    return _extreme(items, "min", 1)


def total(zero: Value, items: list[Value]) -> Value:
    budget.spend_on_elements(items)
    return functools.reduce(add, items, zero)


def index_of(items: list[Value], wanted: Value) -> int:
    budget.spend_on_elements(items)
    for index, item in enumerate(items):
        if definitely_equal(item, wanted):
            return index
    return -1


def last_index_of(items: list[Value], wanted: Value) -> int:
    budget.spend_on_elements(items)
    for index in range(len(items) - 1, -1, -1):
        if definitely_equal(items[index], wanted):
            return index
    return -1


def slice_of(items: list[Value], start: int, end: int) -> list[Value]:
    call = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise EvaluationError(f"{call}, negative indexes not supported")
    if start > end:
        raise EvaluationError(
            f"{call}, start index must be less than or equal to end index"
        )
    if len(items) < end:
        raise EvaluationError(f"{call}, list is length {len(items)}")
    return items[start:end]


def flatten(items: Value, depth: Value = 1) -> list[Value]:
    if type(items) is not list or type(depth) is not int:
        raise no_such_overload("flatten", items, depth)
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    found: list[Value] = []
    for item in items:
        if isinstance(item, list) and depth > 0:
            found.extend(flatten(item, depth - 1))
            budget.check_list(len(found))
        else:
            found.append(item)
    budget.spend_on_list(len(found))
    return found


def numbers(count: int) -> list[Value]:
    """0, 1, … ``count`` - 1."""
    if count > LIMIT:
        raise CostExceededError
    return list(range(count))


def distinct(items: list[Value]) -> list[Value]:
    found: list[Value] = []
    for item in items:
        if not any(definitely_equal(item, other) for other in found):
            found.append(item)
    return found


def sort(items: Value) -> list[Value]:
    if type(items) is not list:
        raise no_such_overload("sort", items)
    return sort_by(items, items)


def sort_by(items: Value, keys: Value) -> list[Value]:
    """``items`` in the order of ``keys``, which must be of one ordered type."""
    if type(items) is not list or type(keys) is not list:
        raise no_such_overload("sort", items)
    if len(items) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the "
            f"associated keys list, but got {len(items)} and {len(keys)} elements "
            "respectively"
        )
    if not items:
        return items
    if not comparable(keys[0]):
        raise EvaluationError("list elements must be comparable")
    if len({type_name(key) for key in keys}) > 1:
        raise EvaluationError("list elements must have the same type")

    def order(a: int, b: int) -> int:
        return _order(keys[a], keys[b]) or 0

    places = sorted(range(len(items)), key=functools.cmp_to_key(order))
    return [items[place] for place in places]


def set_contains(items: list[Value], wanted: list[Value]) -> bool:
    return all(contains(items, item) for item in wanted)


def set_equivalent(left: list[Value], right: list[Value]) -> bool:
    return set_contains(left, right) and set_contains(right, left)


def set_intersects(left: list[Value], right: list[Value]) -> bool:
    return any(contains(right, item) for item in left)


def includes(target: Value, wanted: Value) -> bool:
    """Whether the list has an equal element, or the scalar is equal."""
    if not isinstance(target, list):
        return definitely_equal(target, wanted)
    for item in target[:MAX_INCLUDES]:
        if definitely_equal(item, wanted):
            return True
    if len(target) > MAX_INCLUDES:
        raise EvaluationError(
            "'includes' function cannot be applied to lists longer than "
            f"{MAX_INCLUDES} values"
        )
    return False
