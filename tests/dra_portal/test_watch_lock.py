"""One watch at a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from cluster.standin.server import StandinServer
from dra_portal.watching import (
    AlreadyWatchedError,
    LockLostError,
    SharedSessionError,
    Watching,
    WatchLock,
)
from inventory import models
from tests.dra_portal.transaction_pooler import pooled
from tests.dra_portal.watched import clusters_of, equal, eventually, watch
from tests.inventory.mirror.worlds import slice_

pytestmark = pytest.mark.django_db(transaction=True)

GONE_IN = 120_000
"""Milliseconds that the end of a session may take."""


def test_only_one_gets_the_lock() -> None:
    first, second = WatchLock(), WatchLock()
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()


def test_the_owner_may_ask_again() -> None:
    lock = WatchLock()
    assert lock.acquire()
    assert lock.acquire()
    assert lock.renew()
    lock.release()


def test_who_lost_the_lock_cannot_write() -> None:
    first, second = WatchLock(), WatchLock()
    assert first.acquire()
    with transaction.atomic():
        first.fence()
    first.release()
    assert second.acquire()
    with pytest.raises(LockLostError), transaction.atomic():
        first.fence()
    with transaction.atomic():
        second.fence()
    second.release()


@pytest.mark.skipif(
    "connection.vendor == 'postgresql'", reason="its server knows who lives"
)
def test_a_silent_owner_is_replaced() -> None:
    first, second = WatchLock(), WatchLock()
    assert first.acquire()
    long_ago = timezone.now() - timedelta(minutes=5)
    models.WatchLock.objects.update(heartbeat=long_ago)
    assert second.acquire()
    first._beat = 0.0
    assert not first.renew()
    second.release()


@pytest.mark.skipif(
    "connection.vendor == 'postgresql'", reason="its server knows who lives"
)
@pytest.mark.parametrize("minutes", [-5, 5], ids=["slow", "fast"])
def test_a_process_whose_clock_is_wrong_knows_who_lives(
    monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    first, second, third = WatchLock(), WatchLock(), WatchLock()
    assert first.acquire()
    off = timedelta(minutes=minutes)
    monkeypatch.setattr(timezone, "now", lambda: datetime.now(UTC) + off)
    assert not second.acquire()
    silent = datetime.now(UTC) - timedelta(seconds=31)
    models.WatchLock.objects.update(heartbeat=silent)
    assert second.acquire()
    assert not third.acquire()
    second.release()


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs sessions")
def test_a_watch_refuses_a_pooler_that_shares_its_session(tmp_path: Path) -> None:
    """Before it takes a lock: one that another's session had would stay for ever."""
    with StandinServer() as server:
        path = clusters_of(server, tmp_path)
        with pooled(shares=True):
            for _ in range(3):
                with pytest.raises(SharedSessionError, match="pool_mode=session"):
                    WatchLock().acquire()
            for arguments in ([], ["--once"]):
                with pytest.raises(CommandError, match="a database session of its own"):
                    call_command("watch", "--clusters", path, *arguments)
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database "
                    "WHERE locktype = 'advisory' AND datname = current_database()"
                )
                assert cursor.fetchall() == []
        assert not models.WatchLock.objects.exists()


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs sessions")
def test_a_pooler_that_gives_each_client_a_session_will_do() -> None:
    with pooled(shares=False):
        first, second = WatchLock(), WatchLock()
        assert first.acquire()
        assert not second.acquire()
        assert first.renew()
        first.release()
        assert second.acquire()
        second.release()


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs sessions")
def test_a_watch_whose_session_came_to_be_shared_ends() -> None:
    with pooled(shares=False) as pooler:
        lock = WatchLock()
        assert lock.acquire()
        pooler.shares = True
        assert lock.renew()  # gives its session back
        assert models.WatchLock.objects.exists()  # and this another one
        with pytest.raises(SharedSessionError):
            lock.renew()
        lock.release()


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs sessions")
def test_an_owner_whose_session_broke_notices_and_is_replaced() -> None:
    first, second = WatchLock(), WatchLock()
    assert first.acquire()
    assert first._session is not None
    with first._session.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, %s)", [pid, GONE_IN])
    assert second.acquire()
    assert not first.renew()
    with pytest.raises(LockLostError), transaction.atomic():
        first.fence()
    second.release()


def test_a_second_watch_waits_for_the_first_and_takes_over(tmp_path: Path) -> None:
    with StandinServer([slice_("a")]) as server:
        path = clusters_of(server, tmp_path)
        first, second = WatchLock(), WatchLock()
        with watch(path, lock=first) as one:
            eventually(equal(server))
            with watch(path, lock=second):
                owner = models.WatchLock.objects.get().owner
                assert owner == first.owner
                one.end()
                eventually(lambda: models.WatchLock.objects.get().owner == second.owner)
                server.store.put(slice_("b", pool="node-2"))
                eventually(equal(server))


def test_a_watch_that_lost_the_lock_stops_writing_and_waits(tmp_path: Path) -> None:
    with StandinServer([slice_("a")]) as server:
        lock = WatchLock()
        with watch(clusters_of(server, tmp_path), lock=lock):
            eventually(equal(server))
            models.WatchLock.objects.update(owner="somebody else")
            server.store.put(slice_("b", pool="node-2"))
            # It finds out, and becomes the watch again when nobody else lives.
            models.WatchLock.objects.update(
                heartbeat=timezone.now() - timedelta(minutes=5)
            )
            eventually(equal(server))


def test_once_refuses_while_another_watches(tmp_path: Path) -> None:
    with StandinServer() as server:
        path = clusters_of(server, tmp_path)
        lock = WatchLock()
        assert lock.acquire()
        with pytest.raises(AlreadyWatchedError):
            Watching(path).run_once()
        lock.release()


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs sessions")
def test_a_database_that_drops_every_session_is_written_again(tmp_path: Path) -> None:
    with (
        StandinServer([slice_("a")]) as server,
        watch(clusters_of(server, tmp_path)),
    ):
        eventually(equal(server))
        for number in range(3):
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            server.store.put(slice_(f"b{number}", pool=f"node-{number + 2}"))
            eventually(equal(server))
