"""Durations and timestamps: reading, writing, and their parts."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from dra.cel import budget
from dra.cel import types as t
from dra.cel.arithmetic import DURATION_MAX, DURATION_MIN, make_timestamp
from dra.cel.declarations import Declarations
from dra.cel.errors import EvaluationError
from dra.cel.values import Duration, Timestamp

_SECOND: Final = 10**9
_NO_ZONE: Final = 1000
"""Units for looking for a time zone in vain."""
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_DURATION = re.compile(
    r"[+-]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)"
)
_PART = re.compile(r"([0-9]*(?:\.[0-9]*)?)(ns|us|µs|μs|ms|s|m|h)")
_STAMP = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?"
    r"(?:Z|([+-])(\d{2}):(\d{2}))",
    re.ASCII,
)
_OFFSET = re.compile(r"([+-]?)(\d{2}):(\d{2})", re.ASCII)
_EPOCH: Final = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - arithmetic without zones


def declare(to: Declarations) -> None:
    stamp, span = t.TIMESTAMP, t.DURATION
    to.add("duration", "duration_to_duration", (span,), span, lambda d: d)
    to.add("duration", "int64_to_duration", (t.INT,), span, refuse_span)
    to.add("duration", "string_to_duration", (t.STRING,), span, parse_duration)
    to.add("timestamp", "timestamp_to_timestamp", (stamp,), stamp, lambda s: s)
    to.add("timestamp", "int64_to_timestamp", (t.INT,), stamp, from_seconds)
    to.add("timestamp", "string_to_timestamp", (t.STRING,), stamp, parse_timestamp)
    for name, overload, part in (
        ("getFullYear", "year", lambda d: d.year),
        ("getMonth", "month", lambda d: d.month - 1),
        ("getDayOfYear", "day_of_year", lambda d: d.timetuple().tm_yday - 1),
        ("getDayOfMonth", "day_of_month", lambda d: d.day - 1),
        ("getDate", "day_of_month_1_based", lambda d: d.day),
        ("getDayOfWeek", "day_of_week", lambda d: (d.weekday() + 1) % 7),
        ("getHours", "hours", lambda d: d.hour),
        ("getMinutes", "minutes", lambda d: d.minute),
        ("getSeconds", "seconds", lambda d: d.second),
    ):
        _timestamp_part(to, name, overload, part)
    to.method(
        "getMilliseconds", "timestamp_to_milliseconds", (stamp,), t.INT, _stamp_millis
    )
    to.method(
        "getMilliseconds",
        "timestamp_to_milliseconds_with_tz",
        (stamp, t.STRING),
        t.INT,
        _stamp_millis_in_zone,
    )
    for name, overload, unit in (
        ("getHours", "hours", 3600 * _SECOND),
        ("getMinutes", "minutes", 60 * _SECOND),
        ("getSeconds", "seconds", _SECOND),
        ("getMilliseconds", "milliseconds", 10**6),
    ):
        to.method(name, f"duration_to_{overload}", (span,), t.INT, _whole(unit))


def _whole(unit: int) -> Callable[[Duration], int]:
    def run(span: Duration) -> int:
        whole = abs(span.nanos) // unit
        return whole if span.nanos >= 0 else -whole

    return run


def _timestamp_part(
    to: Declarations,
    name: str,
    overload: str,
    part: Callable[[datetime.datetime], int],
) -> None:
    def in_utc(stamp: Timestamp) -> int:
        return part(_local(stamp, "UTC"))

    def in_zone(stamp: Timestamp, zone: str) -> int:
        return part(_local(stamp, zone))

    to.method(name, f"timestamp_to_{overload}", (t.TIMESTAMP,), t.INT, in_utc)
    to.method(
        name,
        f"timestamp_to_{overload}_with_tz",
        (t.TIMESTAMP, t.STRING),
        t.INT,
        in_zone,
    )


def _stamp_millis(stamp: Timestamp) -> int:
    return stamp.nanos % _SECOND // 10**6


def _stamp_millis_in_zone(stamp: Timestamp, zone: str) -> int:
    _local(stamp, zone)
    return _stamp_millis(stamp)


def _local(stamp: Timestamp, zone: str) -> datetime.datetime:
    """The date and time in ``zone`` ("UTC", a tz database name, or "+02:00")."""
    moment = _EPOCH + datetime.timedelta(seconds=stamp.nanos // _SECOND)
    try:
        return moment + _offset(moment, zone)
    except OverflowError as error:
        raise EvaluationError(
            f"the date in {zone} is outside the years 1 to 9999"
        ) from error


def _offset(moment: datetime.datetime, zone: str) -> datetime.timedelta:
    if zone in ("", "UTC"):
        return datetime.timedelta(0)
    found = _OFFSET.fullmatch(zone)
    if found is not None:
        sign = -1 if found[1] == "-" else 1
        minutes = int(found[2]) * 60 + int(found[3])
        return datetime.timedelta(minutes=sign * minutes)
    try:
        info = zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        budget.spend(_NO_ZONE)
        raise EvaluationError(f"unknown time zone {zone}") from error
    aware = moment.replace(tzinfo=datetime.UTC).astimezone(info)
    return aware.utcoffset() or datetime.timedelta(0)


def refuse_span(_number: int) -> Duration:
    """``duration(1)``: the reference declares it and cannot do it."""
    raise EvaluationError(
        "type conversion error from 'int' to 'google.protobuf.Duration'"
    )


def parse_duration(text: str) -> Duration:
    """Go's notation: ``1h30m``, ``-1.5s``, ``100ms``."""
    if not _DURATION.fullmatch(text):
        raise EvaluationError(
            "type conversion error from 'string' to 'google.protobuf.Duration'"
        )
    total = 0
    for number, unit in _PART.findall(text):
        whole, _, fraction = number.partition(".")
        whole = whole.lstrip("0")
        scale = _UNITS[unit]
        total += int(whole or "0") * scale if len(whole) < 25 else 2**64
        if fraction:
            total += int(Decimal(f"0.{fraction[:40]}") * scale)
    total = -total if text.startswith("-") else total
    if not DURATION_MIN <= total <= DURATION_MAX:
        raise EvaluationError(
            "type conversion error from 'string' to 'google.protobuf.Duration'"
        )
    return Duration(total)


def duration_text(span: Duration) -> str:
    """Seconds with an ``s``: ``1.5s``."""
    whole, rest = divmod(abs(span.nanos), _SECOND)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{'-' if span.nanos < 0 else ''}{whole}{fraction}s"


def from_seconds(seconds: int) -> Timestamp:
    return make_timestamp(seconds * _SECOND)


def parse_timestamp(text: str) -> Timestamp:
    """RFC 3339."""
    found = _STAMP.fullmatch(text)
    failed = EvaluationError(
        "type conversion error from 'string' to 'google.protobuf.Timestamp'"
    )
    if found is None:
        raise failed
    try:
        moment = datetime.datetime(*map(int, found.groups()[:6]))  # type: ignore[arg-type]  # noqa: DTZ001 - six numbers; the offset follows
    except ValueError as error:
        raise failed from error
    seconds = (moment - _EPOCH) // datetime.timedelta(seconds=1)
    if found[8]:
        hours, minutes = int(found[9]), int(found[10])
        if hours > 24 or minutes > 59:
            raise failed
        offset = hours * 3600 + minutes * 60
        seconds -= -offset if found[8] == "-" else offset
    nanos = int((found[7] or "")[:9].ljust(9, "0"))
    return make_timestamp(seconds * _SECOND + nanos)


def timestamp_text(stamp: Timestamp) -> str:
    """RFC 3339 in UTC, with as many digits as needed."""
    seconds, nanos = divmod(stamp.nanos, _SECOND)
    moment = _EPOCH + datetime.timedelta(seconds=seconds)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{moment.isoformat(timespec='seconds')}{fraction}Z"
