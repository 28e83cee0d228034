"""The types of single values: texts, numbers, quantities, times, and JSON left as it is."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final, override

import msgspec

from dra import quantity
from dra.errors import QuantityError
from dra.quantity import Quantity
from dra.validation.causes import quoted
from dra.validation.schema.shapes import (
    LONGEST_NUMBER,
    Mismatch,
    Reading,
    Shape,
    clean,
    kind_of,
)

_INT64: Final = range(-(2**63), 2**63)


class Text(Shape):
    go = "string"

    @override
    def read(self, raw: Any, path: str, owner: str, reading: Reading) -> str:
        if not isinstance(raw, str):
            raise self._wrong(raw, path, owner)
        return clean(raw)

    @override
    def zero(self) -> str:
        return ""


class Integer(Shape):
    go = "int64"

    @override
    def read(self, raw: Any, path: str, owner: str, reading: Reading) -> int:
        if type(raw) is not int or raw not in _INT64:
            raise self._wrong(raw, path, owner)
        return raw

    @override
    def zero(self) -> int:
        return 0


class Boolean(Shape):
    go = "bool"

    @override
    def read(self, raw: Any, path: str, owner: str, reading: Reading) -> bool:
        if not isinstance(raw, bool):
            raise self._wrong(raw, path, owner)
        return raw

    @override
    def zero(self) -> bool:
        return False


class Amount(Shape):
    """A quantity."""

    go = "resource.Quantity"
    keeps_zero = True

    @override
    def read(self, raw: Any, path: str, owner: str, reading: Reading) -> Quantity:
        fits = not isinstance(raw, int) or raw.bit_length() <= LONGEST_NUMBER
        if isinstance(raw, bool) or not isinstance(raw, (str, int, float)) or not fits:
            raise Mismatch(path, _BAD_QUANTITY)
        try:
            return quantity.read(clean(raw) if isinstance(raw, str) else raw)
        except QuantityError as error:
            known = _NUMBER.match(str(raw).strip()) and "suffix" in str(error)
            message = _BAD_SUFFIX if known else _BAD_QUANTITY
            raise Mismatch(path, message) from error

    @override
    def zero(self) -> Quantity:
        return quantity.ZERO

    @override
    def write(self, value: Quantity) -> str:
        return str(value)


_NUMBER: Final = re.compile(r"[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*\Z")
_BAD_SUFFIX: Final = "unable to parse quantity's suffix"
_BAD_QUANTITY: Final = (
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


class Time(Shape):
    """A time of RFC 3339, kept in UTC and whole seconds."""

    go = "v1.Time"

    @override
    def read(self, raw: Any, path: str, owner: str, reading: Reading) -> str:
        if not isinstance(raw, str):
            raise Mismatch(
                path,
                f"json: cannot unmarshal {kind_of(raw)} into Go value of type string",
            )
        found = _TIME.fullmatch(raw)
        moment = None if found is None else _moment(found)
        if moment is None:
            raise Mismatch(
                path,
                f'parsing time {quoted(clean(raw))} as "2006-01-02T15:04:05Z07:00": '
                "no time like 2026-01-31T23:59:59Z",
            )
        return moment

    @override
    def zero(self) -> str:
        return ""

    @override
    def write(self, value: str) -> str | None:
        return value or None


_TIME: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)([.,]\d+)?"
    r"(Z|(?P<sign>[+-])(?P<hours>\d\d):(?P<minutes>\d\d))",
    re.ASCII,
)
ZERO_TIME: Final = "0001-01-01T00:00:00Z"


def _moment(found: re.Match[str]) -> str | None:
    """As lenient as Go: hours of one digit, offsets of up to 24 hours and 60 minutes."""
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    hours, minutes = int(found["hours"] or 0), int(found["minutes"] or 0)
    if hours > 24 or minutes > 60:
        return None
    offset = timedelta(hours=hours, minutes=minutes)
    try:
        local = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        moment = local + offset if found["sign"] == "-" else local - offset
    except (ValueError, OverflowError):
        return None
    text = f"{moment:%Y-%m-%dT%H:%M:%S}Z".rjust(len(ZERO_TIME), "0")
    return "" if text == ZERO_TIME else text


def time_text(moment: datetime) -> str:
    """``moment`` as objects hold it."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"


class Raw(Shape):
    """JSON of any kind, kept as it is.

    The API server compares the text, so ``1``, ``1.0`` and ``true`` differ. White
    space and the order of members differ there, too; here they are left out,
    because who keeps a stored object may have lost them.
    """

    go = "runtime.RawExtension"

    @override
    def read(self, raw: Any, path: str, owner: str, reading: Reading) -> Any:
        return raw

    @override
    def zero(self) -> Any:
        return None

    @override
    def same(self, a: Any, b: Any) -> bool:
        left = [(a, b)]
        while left:
            x, y = left.pop()
            if type(x) is not type(y):
                return False
            if isinstance(x, dict):
                if x.keys() != y.keys():
                    return False
                left.extend((entry, y[key]) for key, entry in x.items())
            elif isinstance(x, list):
                if len(x) != len(y):
                    return False
                left.extend(zip(x, y, strict=True))
            elif x != y:
                return False
        return True


def compact_length(value: Any) -> int:
    """Bytes of ``value`` as JSON without white space, whatever it is and how deep."""
    try:
        return len(msgspec.json.encode(value))
    except (RecursionError, OverflowError, UnicodeEncodeError, TypeError):
        return _counted_length(value)


def _counted_length(value: Any) -> int:
    total = 0
    left = [value]
    while left:
        entry = left.pop()
        if isinstance(entry, dict):
            total += 2 + max(0, 2 * len(entry) - 1)
            for key, inner in entry.items():
                total += _text_length(str(key))
                left.append(inner)
        elif isinstance(entry, list):
            total += 2 + max(0, len(entry) - 1)
            left.extend(entry)
        elif isinstance(entry, str):
            total += _text_length(entry)
        elif isinstance(entry, bool) or entry is None:
            total += 5 if entry is False else 4
        elif isinstance(entry, int) and entry.bit_length() > LONGEST_NUMBER:
            total += entry.bit_length() * 3 // 10
        else:
            total += len(repr(entry))
    return total


_ESCAPED: Final = re.compile(r'["\\\b\f\n\r\t]|[\x00-\x1f]')


def _text_length(text: str) -> int:
    length = len(text.encode("utf-8", "surrogatepass")) + 2
    for found in _ESCAPED.finditer(text):
        length += 1 if found[0] in '"\\\b\f\n\r\t' else 5
    return length


def fits_floats(value: Any) -> bool:
    """Whether every number in this JSON is finite as 64-bit floating point."""
    left = [value]
    while left:
        entry = left.pop()
        if isinstance(entry, dict):
            left.extend(entry.values())
        elif isinstance(entry, list):
            left.extend(entry)
        elif isinstance(entry, (int, float)):
            try:
                if not math.isfinite(entry):
                    return False
            except OverflowError:
                return False
    return True
