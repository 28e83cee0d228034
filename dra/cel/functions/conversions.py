"""``int``, ``uint``, ``double``, ``bool``, ``string``, ``bytes``, ``type``, ``dyn``."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from dra.cel import types as t
from dra.cel.declarations import Declarations
from dra.cel.errors import EvaluationError
from dra.cel.functions.times import duration_text, timestamp_text
from dra.cel.operators import type_name
from dra.cel.values import INT_MAX, INT_MIN, UINT_MAX, Timestamp, TypeValue, UInt, Value

_A = t.param("A")
_SIGNED = re.compile(r"[+-]?[0-9]+")
_UNSIGNED = re.compile(r"[0-9]+")
_DIGITS = "[0-9](?:_?[0-9])*"
_HEX_DIGITS = "[0-9a-fA-F](?:_?[0-9a-fA-F])*"
_FLOAT = re.compile(
    rf"[+-]?(?:(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})"
    rf"(?:[eE][+-]?{_DIGITS})?|inf|infinity)",
    re.IGNORECASE | re.ASCII,
)
_HEX_FLOAT = re.compile(
    rf"[+-]?0[xX]_?(?:{_HEX_DIGITS}(?:\.(?:{_HEX_DIGITS})?)?|\.{_HEX_DIGITS})"
    r"[pP][+-]?[0-9]+"
)
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


def declare(to: Declarations) -> None:
    to.add("type", "type", (_A,), t.type_of(_A), lambda v: TypeValue(type_name(v)))
    to.add("dyn", "to_dyn", (_A,), t.DYN, same)
    to.add("bool", "bool_to_bool", (t.BOOL,), t.BOOL, same)
    to.add("bool", "string_to_bool", (t.STRING,), t.BOOL, string_to_bool)
    to.add("bytes", "bytes_to_bytes", (t.BYTES,), t.BYTES, same)
    to.add("bytes", "string_to_bytes", (t.STRING,), t.BYTES, string_to_bytes)
    to.add("double", "double_to_double", (t.DOUBLE,), t.DOUBLE, same)
    to.add("double", "int64_to_double", (t.INT,), t.DOUBLE, float)
    to.add("double", "string_to_double", (t.STRING,), t.DOUBLE, string_to_double)
    to.add("double", "uint64_to_double", (t.UINT,), t.DOUBLE, float)
    to.add("int", "int64_to_int64", (t.INT,), t.INT, same)
    to.add("int", "double_to_int64", (t.DOUBLE,), t.INT, double_to_int)
    to.add("int", "duration_to_int64", (t.DURATION,), t.INT, lambda d: d.nanos)
    to.add("int", "string_to_int64", (t.STRING,), t.INT, string_to_int)
    to.add("int", "timestamp_to_int64", (t.TIMESTAMP,), t.INT, timestamp_to_int)
    to.add("int", "uint64_to_int64", (t.UINT,), t.INT, uint_to_int)
    to.add("uint", "uint64_to_uint64", (t.UINT,), t.UINT, same)
    to.add("uint", "double_to_uint64", (t.DOUBLE,), t.UINT, double_to_uint)
    to.add("uint", "int64_to_uint64", (t.INT,), t.UINT, int_to_uint)
    to.add("uint", "string_to_uint64", (t.STRING,), t.UINT, string_to_uint)
    to.add("string", "string_to_string", (t.STRING,), t.STRING, same)
    to.add("string", "bool_to_string", (t.BOOL,), t.STRING, bool_to_string)
    to.add("string", "bytes_to_string", (t.BYTES,), t.STRING, bytes_to_string)
    to.add("string", "double_to_string", (t.DOUBLE,), t.STRING, double_to_string)
    to.add("string", "duration_to_string", (t.DURATION,), t.STRING, duration_text)
    to.add("string", "int64_to_string", (t.INT,), t.STRING, str)
    to.add("string", "timestamp_to_string", (t.TIMESTAMP,), t.STRING, timestamp_text)
    to.add("string", "uint64_to_string", (t.UINT,), t.STRING, str)


def same(value: Value) -> Value:
    return value


def _failed(value: Value, to: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{type_name(value)}' to '{to}'")


def string_to_bool(text: str) -> bool:
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _failed(text, "bool")


def bool_to_string(value: bool) -> str:
    return "true" if value else "false"


def string_to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def bytes_to_string(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise EvaluationError(
            "invalid UTF-8 in bytes, cannot convert to string"
        ) from error


def string_to_int(text: str) -> int:
    digits = text.lstrip("+-0")
    if _SIGNED.fullmatch(text) and len(digits) < 20:
        value = int(digits or "0")
        value = -value if text.startswith("-") else value
        if INT_MIN <= value <= INT_MAX:
            return value
    raise _failed(text, "int")


def string_to_uint(text: str) -> UInt:
    digits = text.lstrip("0")
    if _UNSIGNED.fullmatch(text) and len(digits) <= 20:
        value = int(digits or "0")
        if value <= UINT_MAX:
            return UInt(value)
    raise _failed(text, "uint")


def string_to_double(text: str) -> float:
    """Go's ``ParseFloat``; a number beyond the range is an error."""
    if _HEX_FLOAT.fullmatch(text):
        try:
            return float.fromhex(text.replace("_", ""))
        except OverflowError as error:
            raise _failed(text, "double") from error
    if text.lower() == "nan":
        return math.nan
    if not _FLOAT.fullmatch(text):
        raise _failed(text, "double")
    value = float(text)
    if math.isinf(value) and "inf" not in text.lower():
        raise _failed(text, "double")
    return value


def double_to_int(value: float) -> int:
    if math.isfinite(value) and -(2.0**63) < value < 2.0**63:
        return int(value)
    raise EvaluationError("integer overflow")


def double_to_uint(value: float) -> UInt:
    if math.isfinite(value) and 0 <= value < 2.0**64:
        return UInt(int(value))
    raise EvaluationError("unsigned integer overflow")


def uint_to_int(value: UInt) -> int:
    if value > INT_MAX:
        raise EvaluationError("integer overflow")
    return int(value)


def int_to_uint(value: int) -> UInt:
    if value < 0:
        raise EvaluationError("unsigned integer overflow")
    return UInt(value)


def timestamp_to_int(value: Timestamp) -> int:
    """Whole seconds since 1970."""
    return value.nanos // 10**9


def double_to_string(value: float) -> str:
    """The shortest text that reads back, as Go's ``%g`` writes it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    number = "".join(map(str, digits))
    shift = exponent + len(number) - 1
    prefix = "-" if sign else ""
    if -4 <= shift < 6:
        return prefix + _plain(number, shift)
    tail = f".{number[1:]}" if len(number) > 1 else ""
    return f"{prefix}{number[0]}{tail}e{'-' if shift < 0 else '+'}{abs(shift):02d}"


def _plain(number: str, shift: int) -> str:
    if shift < 0:
        return "0." + "0" * (-shift - 1) + number
    whole = number[: shift + 1].ljust(shift + 1, "0")
    rest = number[shift + 1 :]
    return f"{whole}.{rest}" if rest else whole
