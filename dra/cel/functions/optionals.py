"""Functions on optional values. ``or`` and ``orValue`` are in the evaluator."""

from __future__ import annotations

from dra.cel import types as t
from dra.cel.arithmetic import TIMESTAMP_MIN
from dra.cel.declarations import Declarations
from dra.cel.errors import EvaluationError
from dra.cel.operators import type_name
from dra.cel.values import NONE, DomainMap, Duration, Optional, Timestamp, Value

_V = t.param("V")
_O = t.optional_of(_V)
_LIST = t.list_of(_V)


def declare(to: Declarations) -> None:
    to.add("optional.of", "optional_of", (_V,), _O, Optional)
    to.add("optional.ofNonZeroValue", "optional_ofNonZeroValue", (_V,), _O, of_non_zero)
    to.add("optional.none", "optional_none", (), _O, lambda: NONE)
    to.method("value", "optional_value", (_O,), _V, value)
    to.method("hasValue", "optional_hasValue", (_O,), t.BOOL, lambda o: o.present)
    to.method("or", "optional_or_optional", (_O, _O), _O)
    to.method("orValue", "optional_orValue_value", (_O, _V), _V)
    to.method("first", "list_first", (_LIST,), _O, lambda x: at(x, 0))
    to.method("last", "list_last", (_LIST,), _O, lambda x: at(x, -1))
    optionals = t.list_of(_O)
    to.add("optional.unwrap", "optional_unwrap", (optionals,), _LIST, unwrap)
    to.method("unwrapOpt", "optional_unwrapOpt", (optionals,), _LIST, unwrap)


def value(optional: Optional) -> Value:
    if not optional.present:
        raise EvaluationError("optional.none() dereference")
    return optional.value


def of_non_zero(inner: Value) -> Optional:
    return NONE if is_zero(inner) else Optional(inner)


def is_zero(inner: Value) -> bool:
    """Whether ``inner`` is the zero value of its type.

    Some types have none: optionals among them, and the device's maps of domains.
    """
    match inner:
        case None:
            return True
        case DomainMap():
            return False
        case Duration():
            return inner.nanos == 0
        case Timestamp():
            return inner.nanos == TIMESTAMP_MIN
        case bool() | int() | float() | str() | bytes() | list() | dict():
            return not inner
        case _:
            return False


def at(items: list[Value], index: int) -> Optional:
    return Optional(items[index]) if items else NONE


def unwrap(items: list[Value]) -> list[Value]:
    found: list[Value] = []
    for item in items:
        if not isinstance(item, Optional):
            raise EvaluationError(f"value of type {type_name(item)} is not optional")
        if item.present:
            found.append(item.value)
    return found
