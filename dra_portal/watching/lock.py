"""One watch process per database; a second one waits and takes over.

Two things together:

* Who lives: on PostgreSQL an advisory lock, which the server frees when the session
  of its owner ends; on SQLite a heartbeat in the row of ``WatchLock``, which goes by
  the clock of the database. A pooler between us and the server that gives each
  transaction another session keeps no such lock: with it the watch refuses to start.
* Who may write: the row names the owner. Each transaction of the mirror asks for it
  (:meth:`WatchLock.fence`), so a process that lost the lock without noticing (it was
  suspended, its session broke) cannot write a line after the other began.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from contextlib import suppress
from datetime import timedelta

import structlog
from django.db import Error as DBError
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Q
from django.db.models.functions import Now

from inventory import models
from inventory.mirror import idle_writer

log = structlog.get_logger("dra_portal.watch")

NAME = "watch"
ADVISORY_KEY = 0x44524157
"""Any number that nobody else uses in this database."""
STALE_SECONDS = 30.0
"""On SQLite: silence after which the owner counts as dead."""
HEARTBEAT_SECONDS = 5.0
_LOOKS = 3
"""At a session; other clients of a pooler may hide once that it is shared."""


class LockLostError(Exception):
    """Another process is the watch now; nothing was written."""


class SharedSessionError(Exception):
    """A pooler hands our database session to others; says so and what to do."""

    def __init__(self) -> None:
        super().__init__(
            "The watch needs a database session of its own: the lock that keeps it single "
            "belongs to the session, and what DRA_PORTAL_DATABASE names gives each "
            "transaction another one (as pgbouncer does with pool_mode=transaction). Name "
            "PostgreSQL itself, or a pool with pool_mode=session."
        )


class WatchLock:
    """The right to write the mirror. Not to be shared between instances."""

    def __init__(
        self, *, owner: str = "", stale_seconds: float = STALE_SECONDS
    ) -> None:
        host = socket.gethostname()
        self.owner = owner or f"{host}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._stale = timedelta(seconds=stale_seconds)
        self._session: BaseDatabaseWrapper | None = None
        self._server_process = 0
        self._beat = 0.0
        self._lost = False

    def acquire(self) -> bool:
        """Try once; False when another process has it.

        Raises django.db.Error, and SharedSessionError where no lock would hold.
        """
        rows = free = models.WatchLock.objects.filter(name=NAME)
        if connection.vendor == "postgresql":
            # Who gets this knows that the session of the owner is gone.
            if not self._acquire_advisory():
                return False
        else:
            dead = Q(heartbeat__lte=Now() - self._stale)
            free = rows.filter(dead | Q(owner=self.owner))
        ours = {"owner": self.owner, "heartbeat": Now()}
        if not free.update(**ours):
            _, made = rows.get_or_create(name=NAME, defaults=ours)
            if not made:
                return False
        self._beat = time.monotonic()
        self._lost = False
        return True

    def renew(self) -> bool:
        """Show that we live; False when the lock is lost. Never waits for a writer.

        Raises SharedSessionError when the session turns out to be no more ours alone.
        """
        if self._lost:
            return False
        if self._session is not None and not self._session_lives():
            return False
        if time.monotonic() - self._beat < HEARTBEAT_SECONDS:
            return True
        with idle_writer() as idle:
            if not idle:
                # A transaction is open: its fence renews the heartbeat.
                return True
            try:
                return self._heartbeat()
            except DBError as error:
                # Busy or restarting. If somebody took over, the fence will tell.
                log.warning("watch.heartbeat_failed", reason=str(error))
                connection.close()
                return True

    def fence(self) -> None:
        """Inside a transaction: raise LockLostError unless the lock is ours.

        The row stays locked until the transaction ends, so nobody takes over
        between this look and the commit.
        """
        if time.monotonic() - self._beat >= HEARTBEAT_SECONDS:
            ours = self._heartbeat()
        else:
            rows = models.WatchLock.objects.select_for_update()
            ours = bool(rows.filter(name=NAME, owner=self.owner).values_list("pk"))
        if not ours:
            self._lost = True
            raise LockLostError("Another process has become the watch.")

    def release(self) -> None:
        """Give the lock back, if it is still ours."""
        try:
            models.WatchLock.objects.filter(name=NAME, owner=self.owner).delete()
        except DBError as error:
            log.warning("watch.release_failed", reason=str(error))
        self._unlock()
        self._end_session()

    def _acquire_advisory(self) -> bool:
        try:
            if self._session is None:
                self._session = connection.copy()
                self._server_process = _own_process(self._session)
            with self._session.cursor() as cursor:
                cursor.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_KEY])
                (locked,) = cursor.fetchone()
        except (DBError, SharedSessionError):
            self._end_session()
            raise
        if not locked:
            self._end_session()
        return bool(locked)

    def _unlock(self) -> None:
        """Free the advisory lock now; the end of a session frees it a bit later."""
        if self._session is None:
            return
        with suppress(DBError), self._session.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [ADVISORY_KEY])

    def _session_lives(self) -> bool:
        assert self._session is not None
        try:
            same = _process_of(self._session) == self._server_process
        except DBError:
            self._end_session()
            return False
        if not same:
            self._end_session()
            raise SharedSessionError
        return True

    def _end_session(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _heartbeat(self) -> bool:
        rows = models.WatchLock.objects.filter(name=NAME, owner=self.owner)
        ours = rows.update(heartbeat=Now()) > 0
        self._beat = time.monotonic()
        return ours


def _own_process(session: BaseDatabaseWrapper) -> int:
    """The server's process that serves ``session`` and nobody else.

    Raises SharedSessionError: one process serves two connections that are both open, or
    one connection is served by another process while the first is busy.
    """
    first = _process_of(session)
    for _ in range(_LOOKS):
        with transaction.atomic():
            if _process_of(connection) == first or _process_of(session) != first:
                raise SharedSessionError
        # A pooler would rather give us the one that has just been given back.
        if _process_of(session) != first:
            raise SharedSessionError
    return first


def _process_of(session: BaseDatabaseWrapper) -> int:
    with session.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (process,) = cursor.fetchone()
    return int(process)
