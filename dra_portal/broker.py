"""Whether the broker answers, and how much lies in its queues. Never waits long."""

from __future__ import annotations

import threading
import time
from typing import Any, Final

import redis
import structlog
from django.conf import settings
from kombu.exceptions import OperationalError

from dra_portal.celery import app

log = structlog.get_logger("dra_portal.broker")

WAIT_SECONDS: Final = 1.0
REMEMBER_SECONDS: Final = 5.0
"""Anybody may ask for readiness; the broker is asked at most so often."""

_lock = threading.Lock()
_last: tuple[float, bool] = (float("-inf"), False)


def answers() -> bool:
    """Whether it did when it was last asked, some seconds ago at most."""
    global _last
    with _lock:
        if time.monotonic() - _last[0] >= REMEMBER_SECONDS:
            _last = (time.monotonic(), depths() is not None)
        return _last[1]


def forget() -> None:
    """Ask anew next time."""
    global _last
    _last = (float("-inf"), False)


def depths() -> dict[str, int] | None:
    """Messages that wait in each of our queues; None when the broker does not answer."""
    url = settings.CELERY_BROKER_URL
    try:
        if url.startswith(("redis://", "rediss://")):
            return _redis_depths(url)
        with app.connection_for_read() as connection:
            channel: Any = connection.default_channel
            return {name: channel._size(name) for name in settings.QUEUES.names}
    except (redis.RedisError, OperationalError, OSError, ValueError) as error:
        log.warning("broker.away", reason=type(error).__name__)
        return None


def _redis_depths(url: str) -> dict[str, int]:
    names = settings.QUEUES.names
    with redis.Redis.from_url(
        url, socket_connect_timeout=WAIT_SECONDS, socket_timeout=WAIT_SECONDS
    ) as client:
        pipe = client.pipeline(transaction=False)
        for name in names:
            pipe.llen(name)
        return dict(zip(names, pipe.execute(), strict=True))
