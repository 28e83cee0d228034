"""How long ago something was, from the API's timestamps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

LONG: Final = timedelta(minutes=10)
"""From then on something that should pass quickly did not."""

_DAY: Final = 86_400
_HOUR: Final = 3_600
_MINUTE: Final = 60


def age_of(stamp: str | None, now: datetime) -> timedelta | None:
    """None for an absent timestamp or one that is none."""
    if not stamp:
        return None
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return now - moment


def in_words(age: timedelta) -> str:
    """ "3 days", "2 hours", "12 minutes"."""
    seconds = max(0, int(age.total_seconds()))
    for unit, size in (("day", _DAY), ("hour", _HOUR), ("minute", _MINUTE)):
        number = seconds // size
        if number:
            return f"{number:,} {unit}{'' if number == 1 else 's'}"
    return f"{seconds} second{'' if seconds == 1 else 's'}"
