"""Slows down guessing of passwords, the same for known and unknown names.

An attempt is recorded before the password is looked at, so that many at once do
not slip through, and taken back when it was right.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from web.models import LoginFailure

WINDOW: Final = timedelta(minutes=15)
PER_USER_AND_ADDRESS: Final = 5
PER_ADDRESS: Final = 50
_KEEP: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One recorded attempt; ``wait`` is None when it may go on."""

    user_key: str
    ids: tuple[int, ...]
    wait: timedelta | None


def begin(request: HttpRequest, username: str) -> Attempt:
    """Record an attempt. ``wait`` says how long none will be accepted."""
    address = address_of(request)
    # Hashed: people type passwords into the name field.
    name = hashlib.sha256(username.strip().lower().encode()).hexdigest()[:32]
    keys = {
        f"user:{name}@{address}": PER_USER_AND_ADDRESS,
        f"ip:{address}": PER_ADDRESS,
    }
    now = timezone.now()
    LoginFailure.objects.filter(at__lt=now - _KEEP).delete()
    waits = [
        wait for key, limit in keys.items() if (wait := _wait(key, limit)) is not None
    ]
    user_key = next(iter(keys))
    if waits:
        return Attempt(user_key=user_key, ids=(), wait=max(waits))
    rows = [LoginFailure.objects.create(key=key) for key in keys]
    return Attempt(user_key=user_key, ids=tuple(row.pk for row in rows), wait=None)


def succeed(attempt: Attempt) -> None:
    """The password was right: forget this attempt and the user's failures here."""
    LoginFailure.objects.filter(pk__in=attempt.ids).delete()
    LoginFailure.objects.filter(key=attempt.user_key).delete()


def address_of(request: HttpRequest) -> str:
    """The client's address; behind our own proxy the hop that the proxy added."""
    if getattr(settings, "SECURE_PROXY_SSL_HEADER", None):
        hops = request.headers.get("X-Forwarded-For", "").split(",")
        if hops[-1].strip():
            return hops[-1].strip()[:45]
    return str(request.META.get("REMOTE_ADDR", ""))[:45]


def _wait(key: str, limit: int) -> timedelta | None:
    now = timezone.now()
    recent = LoginFailure.objects.filter(key=key, at__gt=now - WINDOW)
    times = list(recent.order_by("-at").values_list("at", flat=True)[:limit])
    if len(times) < limit:
        return None
    return times[-1] + WINDOW - now
