"""Of two beats one beats; the other takes over."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery.beat import ScheduleEntry
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from dra_portal import alive, celery_app
from dra_portal.beating import ADVISORY_KEY, LOOK_SECONDS, BeatLock, SingleScheduler
from dra_portal.tasks import tidy
from tests.dra_portal.watched import eventually

pytestmark = pytest.mark.django_db


class Beat(SingleScheduler):
    """Notes what it would send."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        super().__init__(app=celery_app)

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        self.sent.append(str(entry.task))


@pytest.fixture
def beats() -> Iterator[tuple[Beat, Beat]]:
    both = Beat(), Beat()
    for beat in both:
        for entry in beat.schedule.values():
            entry.last_run_at = timezone.now() - timedelta(days=1)
    wait_until_free()
    yield both
    for beat in both:
        beat.lock.release()
    wait_until_free()


def wait_until_free() -> None:
    """The server frees the lock a moment after the end of the session that had it."""

    def is_free() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database "
                "WHERE datname = current_database() AND objid = %s",
                [ADVISORY_KEY],
            )
            return cursor.fetchone() is None

    if connection.vendor == "postgresql":
        eventually(is_free)


def run(beat: Beat) -> float:
    """Everything that is due."""
    for _ in range(20):
        wait = beat.tick()
        if wait:
            return wait
    raise AssertionError("it never rests")


def test_only_the_holder_of_the_lock_sends(beats: tuple[Beat, Beat]) -> None:
    first, second = beats
    assert 0 < run(first) <= LOOK_SECONDS
    assert run(second) == LOOK_SECONDS
    assert "allocator.tasks.sweep_runs" in first.sent
    assert second.sent == []


def test_the_other_takes_over_when_it_ends(beats: tuple[Beat, Beat]) -> None:
    first, second = beats
    run(first)
    run(second)
    first.close()
    wait_until_free()
    run(second)
    assert sorted(second.sent) == sorted(first.sent)


def test_it_ends_although_what_the_signal_raised_went_no_further(
    beats: tuple[Beat, Beat],
) -> None:
    first, _ = beats
    run(first)
    first.close()
    with pytest.raises(SystemExit):
        first.tick()


def test_a_lost_session_is_noticed_and_the_lock_taken_again() -> None:
    lock = BeatLock()
    assert lock.held()
    assert lock._session is not None
    lock._session.cursor().execute("SELECT 1")
    pid = lock._session.connection.info.backend_pid
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 120000)", [pid])
    assert not lock.held()
    assert lock.held()
    lock.release()
    wait_until_free()


def test_it_is_scheduled_only_what_there_is_a_task_for(
    beats: tuple[Beat, Beat],
) -> None:
    tasks = {entry.task for entry in beats[0].schedule.values()}
    assert tasks <= set(celery_app.tasks)
    assert {"allocator.tasks.sweep_runs", "dra_portal.tasks.tidy"} <= tasks


def test_it_shows_that_it_lives(beats: tuple[Beat, Beat]) -> None:
    alive.path_of("beat").unlink(missing_ok=True)
    run(beats[1])
    assert alive.path_of("beat").exists()


def test_a_sign_of_life_that_cannot_be_given_stops_nothing(settings: Any) -> None:
    settings.VAR_DIR = "/proc/nowhere"
    alive.touch("watch")


def test_tidying_drops_ended_sessions_only() -> None:
    for days in (-1, 1):
        session = SessionStore()
        session.create()
        expire = timezone.now() + timedelta(days=days)
        Session.objects.filter(pk=session.session_key).update(expire_date=expire)
    assert tidy() == {"sessions": 1}
    assert Session.objects.count() == 1
