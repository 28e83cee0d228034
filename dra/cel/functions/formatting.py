"""``"...".format([...])``: Go's verbs with cel-go's rules, in English notation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Final, NamedTuple

from dra.cel import budget
from dra.cel import types as t
from dra.cel.declarations import Declarations
from dra.cel.errors import EvaluationError
from dra.cel.functions.conversions import bytes_to_string, double_to_string
from dra.cel.functions.times import duration_text, timestamp_text
from dra.cel.operators import type_name
from dra.cel.values import (
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    key_value,
)
from dra.errors import NotSupportedError

_PRECISION: Final = 6
_MAX_PRECISION: Final = 255
_HALF: Final = 5
# Room for the longest double.
_CONTEXT: Final = Context(prec=1000)
_MAX_NESTED: Final = 100_000
_WRITTEN: Final = 10
"""Units for a value within a list or map."""
_SUPERSCRIPT: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_SPECIAL_NUMBERS: Final = frozenset({"NaN", "Infinity", "-Infinity"})


class Clause(NamedTuple):
    """One ``%`` clause: its verb, and the precision where one is given."""

    verb: str
    precision: int | None


def declare(to: Declarations) -> None:
    to.method(
        "format",
        "string_format",
        (t.STRING, t.list_of(t.DYN)),
        t.STRING,
        format_text,
    )


def clauses(text: str) -> Iterator[str | Clause]:
    """The literal parts and the clauses of a format string.

    Raises :class:`EvaluationError` at the first bad clause. A caller that runs
    out of arguments must say so before asking on.
    """
    at = 0
    while at < len(text):
        mark = text.find("%", at)
        if mark == -1:
            yield text[at:]
            return
        if mark > at:
            yield text[at:mark]
        if text.startswith("%%", mark):
            yield "%"
            at = mark + 2
            continue
        clause, at = _clause(text, mark + 1)
        yield clause


def _clause(text: str, at: int) -> tuple[Clause, int]:
    precision: int | None = None
    if at >= len(text):
        raise EvaluationError("unexpected end of string")
    if text[at] == ".":
        end = at + 1
        while end < len(text) and text[end] in "0123456789":
            end += 1
        if end >= len(text):
            raise EvaluationError(
                "could not parse formatting clause: error while parsing precision: "
                "could not find end of precision specifier"
            )
        digits = text[at + 1 : end]
        if not digits or len(digits) > 18:
            raise EvaluationError(
                "could not parse formatting clause: error while parsing precision: "
                f'"{digits}" is not an integer'
            )
        precision, at = int(digits), end
    verb = text[at]
    if verb not in VERBS:
        raise EvaluationError(
            "could not parse formatting clause: unrecognized formatting clause "
            f'"{verb}"'
        )
    return Clause(verb, precision), at + 1


def format_text(text: str, args: list[Value]) -> str:
    out: list[str] = []
    used, length = 0, len(text)
    for part in clauses(text):
        if isinstance(part, str):
            out.append(part)
            continue
        if used >= len(args):
            raise EvaluationError(f"index {used} out of range")
        write, _, _ = VERBS[part.verb]
        written = write(args[used], part.precision)
        length += len(written)
        budget.check_text(length)
        out.append(written)
        used += 1
    budget.spend_on_text(length)
    return "".join(out)


def _refused(message: str, value: Value) -> EvaluationError:
    return EvaluationError(
        f"error during formatting: {message}, was given {type_name(value)}"
    )


# --- %s ---


def as_string(value: Value, _precision: int | None = None) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(int(value))
        case float():
            return double_to_string(value)
        case bytes():
            return bytes_to_string(value)
        case Duration():
            return duration_text(value)
        case Timestamp():
            return timestamp_text(value)
        case TypeValue():
            return value.name
        case list():
            return _list_text(value)
        case dict():
            return _map_text(value)
    raise _refused(STRING_MESSAGE, value)


def _inside(value: Value) -> str:
    """A value within a list or map, written as CEL."""
    budget.spend(_WRITTEN)
    if type(value) is int:
        return str(value)
    match value:
        case str():
            return go_quote(value)
        case bytes():
            return f"b{go_quote(bytes_to_string(value))}"
        case float():
            if math.isnan(value):
                return '"NaN"'
            if math.isinf(value):
                return '"+Inf"' if value > 0 else '"-Inf"'
            return f"{value:.{_PRECISION}f}"
        case Duration():
            return f"duration({go_quote(duration_text(value))})"
        case Timestamp():
            return f"timestamp({go_quote(timestamp_text(value))})"
        case None | bool() | int() | TypeValue() | list() | dict():
            return as_string(value)
    raise EvaluationError(
        f"error during formatting: no formatting function for {type_name(value)}"
    )


def _check_nested(length: int) -> None:
    """Lists of lists double with every level; stop before that takes seconds."""
    if length > _MAX_NESTED:
        raise NotSupportedError(f"lists of over {_MAX_NESTED:,} characters in format()")


def _list_text(value: list[Value]) -> str:
    parts: list[str] = []
    room = 0
    for item in value:
        parts.append(_inside(item))
        room += len(parts[-1])
        _check_nested(room)
    return f"[{', '.join(parts)}]"


def _map_text(value: dict[Value, Value]) -> str:
    pairs: list[tuple[str, str]] = []
    room = 0
    for stored, item in value.items():
        key = key_value(stored)
        if not isinstance(key, str | bool | int):
            raise EvaluationError(
                "error during formatting: no formatting function for map key of "
                f"type {type_name(key)}"
            )
        pairs.append((_inside(key), _inside(item)))
        room += len(pairs[-1][1])
        _check_nested(room)
    pairs.sort(key=lambda pair: pair[0])
    return f"{{{', '.join(f'{key}:{item}' for key, item in pairs)}}}"


_GO_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


def go_quote(text: str) -> str:
    """Go's ``%q``."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    budget.spend(2 * len(text))
    out = []
    for char in text:
        code = ord(char)
        if char in _GO_ESCAPES:
            out.append(_GO_ESCAPES[char])
        elif char == " " or char.isprintable():
            out.append(char)
        elif code < 0x80 or 0xDC80 <= code <= 0xDCFF:
            out.append(f"\\x{code & 0xFF:02x}")
        elif code < 0x10000:
            out.append(f"\\u{code:04x}")
        else:
            out.append(f"\\U{code:08x}")
    return f'"{"".join(out)}"'


# --- numbers ---


def _decimal(value: Value, _precision: int | None) -> str:
    if type(value) in (int, UInt):
        return str(int(value))
    raise _refused(DECIMAL_MESSAGE, value)


def _number(value: Value, message: str) -> float:
    if type(value) is float:
        return value
    if type(value) is str and value in _SPECIAL_NUMBERS:
        return float(value)
    raise _refused(message, value)


def _special(number: float) -> str | None:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    return None


def _fixed(value: Value, precision: int | None) -> str:
    number = _number(value, FIXED_MESSAGE)
    special = _special(number)
    if special is not None:
        return special
    places = _PRECISION if precision is None else precision
    if places > _MAX_PRECISION:
        raise NotSupportedError(f"a precision of {places} digits in format()")
    # Zero has no sign there, but what rounds to zero has.
    sign = "-" if number < 0 else ""
    number = abs(number)
    return sign + (f"{number:,.{places}f}" if places else _whole(number))


def _whole(number: float) -> str:
    """Without decimals the reference rounds the digits that the number is written
    with, and loses the digit that is carried to the front; we refuse there.
    """
    written = Decimal(repr(number))
    rounded = written.quantize(Decimal(1), ROUND_HALF_EVEN, _CONTEXT)
    carried = rounded.adjusted() > written.adjusted() and rounded
    if carried or (0 < written < 1 and written.as_tuple().digits[0] >= _HALF):
        raise NotSupportedError("rounding up to another digit in format()")
    return f"{rounded:,}"


def _scientific(value: Value, precision: int | None) -> str:
    """``%e``; a precision is taken for a width by the reference, and so by us."""
    number = _number(value, SCIENTIFIC_MESSAGE)
    special = _special(number)
    if special is not None:
        return special
    if precision is not None and precision > _PRECISION + 6:
        raise NotSupportedError("padding with %e in format()")
    mantissa, _, exponent = f"{number:.{_PRECISION}e}".partition("e")
    power = int(exponent)
    digits = f"{'-' if power < 0 else ''}{abs(power):02d}".translate(_SUPERSCRIPT)
    return f"{mantissa}\u202f×\u202f10{digits}"


def _binary(value: Value, _precision: int | None) -> str:
    if type(value) is bool:
        return "1" if value else "0"
    if type(value) in (int, UInt):
        return f"{int(value):b}"
    raise _refused(BINARY_MESSAGE, value)


def _octal(value: Value, _precision: int | None) -> str:
    if type(value) in (int, UInt):
        return f"{int(value):o}"
    raise _refused(OCTAL_MESSAGE, value)


def _hex(value: Value, _precision: int | None) -> str:
    if type(value) is str:
        return value.encode("utf-8", "surrogateescape").hex()
    if type(value) is bytes:
        return value.hex()
    if type(value) in (int, UInt):
        return f"{int(value):x}"
    raise _refused(HEX_MESSAGE, value)


def _upper_hex(value: Value, precision: int | None) -> str:
    return _hex(value, precision).upper()


STRING_MESSAGE: Final = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, "
    "lists, types, durations, and timestamps"
)
DECIMAL_MESSAGE: Final = "decimal clause can only be used on integers"
FIXED_MESSAGE: Final = "fixed-point clause can only be used on doubles"
SCIENTIFIC_MESSAGE: Final = "scientific clause can only be used on doubles"
BINARY_MESSAGE: Final = "only integers and bools can be formatted as binary"
OCTAL_MESSAGE: Final = "octal clause can only be used on integers"
HEX_MESSAGE: Final = "only integers, byte buffers, and strings can be formatted as hex"

type _Writer = Callable[[Value, int | None], str]
_HEX_KINDS: Final = ("int", "uint", "string", "bytes")

VERBS: Final[dict[str, tuple[_Writer, tuple[str, ...], str]]] = {
    "s": (
        as_string,
        (
            *("list", "map", "int", "uint", "double", "bool", "string", "timestamp"),
            *("bytes", "duration", "type", "null"),
        ),
        STRING_MESSAGE,
    ),
    "d": (_decimal, ("int", "uint"), DECIMAL_MESSAGE),
    "f": (_fixed, ("double", "string"), FIXED_MESSAGE),
    "e": (_scientific, ("double", "string"), SCIENTIFIC_MESSAGE),
    "b": (_binary, ("int", "uint", "bool"), BINARY_MESSAGE),
    "x": (_hex, _HEX_KINDS, HEX_MESSAGE),
    "X": (_upper_hex, _HEX_KINDS, HEX_MESSAGE),
    "o": (_octal, ("int", "uint"), OCTAL_MESSAGE),
}
"""By verb: how to write a value, the kinds of static types allowed, the complaint."""
