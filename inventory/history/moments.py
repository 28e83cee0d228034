"""Times that people and tools write, also those at the ends of the calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.utils.dateparse import parse_datetime


def moment(text: str) -> datetime | None:
    """``2026-11-30T07:00`` in UTC, or with an offset, as a time in UTC.

    None for what is no time, and for one that is none in UTC: the year 1 began
    earlier in the east.
    """
    try:
        found = parse_datetime(text.strip())
        if found is None:
            return None
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def earlier(until: datetime, span: timedelta) -> datetime:
    """``span`` before ``until``, or when the calendar begins."""
    try:
        return until - span
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)
