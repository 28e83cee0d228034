"""The clock: beat with nothing on disk, of which any number may run.

One of them, the holder of a lock in the database, sends what is due; the others wait
and take over when its session ends. Two that both think they have it for a moment do
no harm: every task of the schedule may run twice.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import structlog
from celery.beat import Scheduler
from django.db import Error as DBError
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from dra_portal import alive

log = structlog.get_logger("dra_portal.beat")

ADVISORY_KEY: Final = 0x44524142
"""Any number that nobody else uses in this database."""
LOOK_SECONDS: Final = 5


class BeatLock:
    """The right to send what is due. On SQLite everybody has it."""

    def __init__(self) -> None:
        self._session: BaseDatabaseWrapper | None = None

    def held(self) -> bool:
        """Whether it is ours now; tries to get it when it is not. Never raises."""
        if connection.vendor != "postgresql":
            return True
        try:
            return self._lives() if self._session else self._acquire()
        except DBError as error:
            log.warning("beat.database_failed", reason=str(error))
            self.release()
            return False

    def release(self) -> None:
        """The server frees the lock with the session."""
        session, self._session = self._session, None
        if session is not None:
            with suppress(DBError):
                session.close()

    def _lives(self) -> bool:
        assert self._session is not None
        with self._session.cursor() as cursor:
            cursor.execute("SELECT 1")
        return True

    def _acquire(self) -> bool:
        session = self._session = connection.copy()
        with session.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_KEY])
            (locked,) = cursor.fetchone()
        if not locked:
            self.release()
        return bool(locked)


class SingleScheduler(Scheduler):
    """Celery's in-memory scheduler; silent while another beat has the lock."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.lock = BeatLock()
        self._beating: bool | None = None
        self._closed = False
        super().__init__(*args, **kwargs)
        self.max_interval = LOOK_SECONDS

    def setup_schedule(self) -> None:
        """Only what this version has tasks for."""
        self.app.loader.import_default_modules()
        self.merge_inplace(
            {
                name: entry
                for name, entry in self.app.conf.beat_schedule.items()
                if entry["task"] in self.app.tasks
            }
        )

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """One step; seconds until the next.

        SIGTERM closes us and raises SystemExit wherever the process is: where that went
        no further, as in the end of an object, it is raised again here.
        """
        if self._closed:
            raise SystemExit
        alive.touch("beat")
        held = self.lock.held()
        if held != self._beating:
            self._beating = held
            log.info("beat.started" if held else "beat.waiting")
        if not held:
            return LOOK_SECONDS
        wait: float = super().tick(*args, **kwargs)
        return wait

    def close(self) -> None:
        self._closed = True
        super().close()
        self.lock.release()
