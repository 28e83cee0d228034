"""Signatures of the operators, and ``size``. The evaluator knows what they do."""

from __future__ import annotations

from dra.cel import operators as ops
from dra.cel import types as t
from dra.cel.declarations import Declarations

_A, _B = t.param("A"), t.param("B")
_LIST, _MAP = t.list_of(_A), t.map_of(_A, _B)
_TIME = (t.TIMESTAMP, t.DURATION)


def declare(to: Declarations) -> None:
    _logic(to)
    _order(to)
    _arithmetic(to)
    _access(to)


def _logic(to: Declarations) -> None:
    to.add("_?_:_", "conditional", (t.BOOL, _A, _A), _A)
    to.add("_&&_", "logical_and", (t.BOOL, t.BOOL), t.BOOL)
    to.add("_||_", "logical_or", (t.BOOL, t.BOOL), t.BOOL)
    to.add("!_", "logical_not", (t.BOOL,), t.BOOL)
    to.add("@not_strictly_false", "not_strictly_false", (t.BOOL,), t.BOOL)
    to.add("_==_", "equals", (_A, _A), t.BOOL)
    to.add("_!=_", "not_equals", (_A, _A), t.BOOL)


def _order(to: Declarations) -> None:
    numbers = {"int64": t.INT, "uint64": t.UINT, "double": t.DOUBLE}
    others = {
        "bool": t.BOOL,
        "string": t.STRING,
        "bytes": t.BYTES,
        "timestamp": t.TIMESTAMP,
        "duration": t.DURATION,
    }
    for symbol, name in (
        ("_<_", "less"),
        ("_<=_", "less_equals"),
        ("_>_", "greater"),
        ("_>=_", "greater_equals"),
    ):
        for left, left_type in numbers.items():
            for right, right_type in numbers.items():
                suffix = left if left == right else f"{left}_{right}"
                to.add(symbol, f"{name}_{suffix}", (left_type, right_type), t.BOOL)
        for kind, kind_type in others.items():
            to.add(symbol, f"{name}_{kind}", (kind_type, kind_type), t.BOOL)


def _arithmetic(to: Declarations) -> None:
    stamp, span = _TIME
    for name, kind in (
        ("bytes", t.BYTES),
        ("double", t.DOUBLE),
        ("int64", t.INT),
        ("list", _LIST),
        ("string", t.STRING),
        ("uint64", t.UINT),
    ):
        to.add("_+_", f"add_{name}", (kind, kind), kind)
    to.add("_+_", "add_duration_duration", (span, span), span)
    to.add("_+_", "add_duration_timestamp", (span, stamp), stamp)
    to.add("_+_", "add_timestamp_duration", (stamp, span), stamp)
    for symbol, name, kinds in (
        ("_-_", "subtract", "double int64 uint64"),
        ("_*_", "multiply", "double int64 uint64"),
        ("_/_", "divide", "double int64 uint64"),
        ("_%_", "modulo", "int64 uint64"),
    ):
        for kind_name in kinds.split():
            kind = {"double": t.DOUBLE, "int64": t.INT, "uint64": t.UINT}[kind_name]
            to.add(symbol, f"{name}_{kind_name}", (kind, kind), kind)
    to.add("_-_", "subtract_duration_duration", (span, span), span)
    to.add("_-_", "subtract_timestamp_duration", (stamp, span), stamp)
    to.add("_-_", "subtract_timestamp_timestamp", (stamp, stamp), span)
    to.add("-_", "negate_double", (t.DOUBLE,), t.DOUBLE)
    to.add("-_", "negate_int64", (t.INT,), t.INT)


def _access(to: Declarations) -> None:
    value = t.optional_of(_B)
    element = t.optional_of(_A)
    opt_list, opt_map = t.optional_of(_LIST), t.optional_of(_MAP)
    to.add("_[_]", "index_list", (_LIST, t.INT), _A)
    to.add("_[_]", "index_map", (_MAP, _A), _B)
    to.add("_[_]", "optional_list_index_int", (opt_list, t.INT), element)
    to.add("_[_]", "optional_map_index_value", (opt_map, _A), value)
    to.add("_[?_]", "list_optindex_optional_int", (_LIST, t.INT), element)
    to.add("_[?_]", "optional_list_optindex_optional_int", (opt_list, t.INT), element)
    to.add("_[?_]", "map_optindex_optional_value", (_MAP, _A), value)
    to.add("_[?_]", "optional_map_optindex_optional_value", (opt_map, _A), value)
    to.add("cel.@mapInsert", "@mapInsert_map_key_value", (_MAP, _A, _B), _MAP)
    to.add("cel.@mapInsert", "@mapInsert_map_map", (_MAP, _MAP), _MAP)
    to.add("@in", "in_list", (_A, _LIST), t.BOOL)
    to.add("@in", "in_map", (_A, _MAP), t.BOOL)
    for name, kind in (
        ("bytes", t.BYTES),
        ("list", _LIST),
        ("map", _MAP),
        ("string", t.STRING),
    ):
        to.add("size", f"size_{name}", (kind,), t.INT, ops.size)
        to.method("size", f"{name}_size", (kind,), t.INT, ops.size)
