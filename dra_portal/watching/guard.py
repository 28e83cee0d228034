"""What every thread of a watch shares: when to stop, and whether it may write."""

from __future__ import annotations

import threading

from dra_portal.watching.lock import WatchLock
from inventory.mirror import Guard


class StoppedError(Exception):
    """The watch is told to stop; the open transaction is rolled back."""


class WatchGuard(Guard):
    def __init__(self, lock: WatchLock, stop: threading.Event) -> None:
        self._lock = lock
        self._stop = stop

    def fence(self) -> None:
        self._lock.fence()

    def check(self) -> None:
        if self._stop.is_set():
            raise StoppedError("The watch stops.")
