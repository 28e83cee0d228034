"""Scheduler and claim controller of a stand-in, running by themselves."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Final, Self

import structlog

from cluster.standin.caching import CachingScheduler, Habits
from cluster.standin.controllers import ClaimController
from cluster.standin.store import Store
from cluster.standin.writing import Writer

log = structlog.get_logger("cluster.standin.control_plane")

_IDLE: Final = 0.02
"""Seconds between two looks when nothing happens."""


class ControlPlane:
    """A context manager; between start and stop pods are scheduled, claims cleaned up.

    ``habits`` say how late the scheduler writes; see :mod:`cluster.standin.caching`.
    """

    def __init__(self, store: Store, habits: Habits | None = None) -> None:
        self._store = store
        writer = Writer(store)
        self.scheduler = CachingScheduler(store, writer, habits or Habits())
        self._controller = ClaimController(store, writer)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._cleaned = -1

    def start(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="standin-control-plane")
        self._thread.start()
        return self

    def stop(self) -> None:
        """Returns when the step under way is done; what was queued is never sent."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                busy = self._step()
            except Exception:
                # Whatever a client wrote to the objects, scheduling goes on.
                log.exception("control_plane_step_failed")
                busy = False
            if not busy:
                self._store.reaches(self._store.version + 1, within=self._pause())

    def _step(self) -> bool:
        before = self._store.version
        if before != self._cleaned:
            self._controller.run()
            self._cleaned = before
        return self.scheduler.step() or self._store.version != before

    def _pause(self) -> float:
        due = self.scheduler.due
        left = _IDLE if due is None else due - time.monotonic()
        return min(max(left, 0.001), _IDLE)
