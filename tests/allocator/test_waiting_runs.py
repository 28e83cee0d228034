"""What a run waits for instead of failing: the watch, the API server, the database."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from allocator.models import AllocationRun
from allocator.services import (
    RunBusyError,
    execute_run,
    freshness,
    plan_batch,
    start_batch,
)
from allocator.views.runs import sentence_of
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from inventory.models import WatchState
from tests.allocator import builders as build
from tests.allocator.lab import KilledError, Lab, die_at, end_lease, states
from tests.allocator.test_resuming import POINTS, THE_WAY

pytestmark = pytest.mark.django_db

WAITS = "Waits for the watch. The watch of ResourceClaim is retrying (503)"


def lose_the_watch() -> None:
    claims = WatchState.objects.filter(kind="ResourceClaim")
    claims.update(state="retrying", error="503")


def waited(run: AllocationRun, seconds: float) -> None:
    since = timezone.now() - timedelta(seconds=seconds)
    AllocationRun.objects.filter(pk=run.pk).update(waits_since=since)


def wait_in_the_queue(lab: Lab, run: AllocationRun) -> AllocationRun:
    with pytest.raises(RunBusyError) as busy:
        lab.execute(run)
    assert busy.value.retry_in <= 2
    run.refresh_from_db()
    assert run.worker == ""
    assert run.lease_until is None
    return run


@pytest.fixture
def patient(lab: Lab, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Lab:
    settings.RUN_WATCH_SECONDS = 60
    monkeypatch.setattr(freshness, "_HOLD", 0.1)
    return lab


def test_a_run_waits_in_the_queue_for_a_watch_and_says_so(patient: Lab):
    run = patient.start("one")
    lose_the_watch()
    run = wait_in_the_queue(patient, run)
    assert run.state == "planning"
    assert run.waits_for.startswith(WAITS)
    assert sentence_of(run) == run.waits_for

    patient.sync()
    run = patient.execute(run)
    assert states(run) == THE_WAY
    assert run.waits_for == ""
    assert run.waits_since is None


def test_a_run_that_has_waited_long_enough_ends_with_what_it_waited_for(patient: Lab):
    run = patient.start("one")
    lose_the_watch()
    waited(wait_in_the_queue(patient, run), 61)
    run = patient.execute(run)
    assert run.state == "failed"
    assert "The watch of ResourceClaim is retrying (503)" in run.reason
    assert "start again when the watch is live" in run.reason
    assert run.waits_for == ""


def test_a_plan_that_waits_to_be_written_waits_for_the_watch_too(patient: Lab):
    run = patient.start("one")
    with pytest.raises(KilledError):
        patient.execute(run, die_at("now writing"))
    end_lease(run)
    lose_the_watch()
    assert wait_in_the_queue(patient, run).state == "writing"
    patient.sync()
    assert states(patient.execute(run)) == THE_WAY


def test_what_was_written_is_not_called_unseen_while_nobody_watches(
    patient: Lab, settings: Any
):
    settings.RUN_VERIFY_SECONDS = 2
    run = patient.start("one")

    def cut(point: str) -> None:
        if point == "sent":
            lose_the_watch()

    with pytest.raises(RunBusyError):
        execute_run(run.pk, hook=cut)  # and the mirror does not follow
    run.refresh_from_db()
    assert run.state == "verifying"
    assert run.waits_for.startswith(WAITS)

    patient.sync()
    assert states(patient.execute(run)) == THE_WAY


def test_a_batch_waits_together(patient: Lab):
    patient.put(build.claim("two"))
    started = start_batch(
        cluster=patient.cluster, claims=[("lab", "one"), ("lab", "two")], user=None
    )
    lose_the_watch()
    with pytest.raises(RunBusyError):
        plan_batch(started.batch.pk)
    runs = AllocationRun.objects.all()
    assert [(r.state, r.waits_for.startswith(WAITS)) for r in runs] == [
        ("queued", True)
    ] * 2

    patient.sync()
    assert plan_batch(started.batch.pk) == 2
    assert {(r.state, r.waits_for) for r in runs.all()} == {("writing", "")}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("writer", "step"),
    [
        ("unguarded", "status"),
        ("carrier", "carrier pod"),
        ("carrier", "pin"),
        ("direct", "barrier pod"),
        ("direct", "status"),
    ],
)
@pytest.mark.parametrize("how", ["cut", "503"])
def test_a_server_that_is_away_for_seconds_delays_a_write_and_no_more(
    lab: Lab, settings: Any, writer: str, step: str, how: str
):
    settings.RUN_SERVER_SECONDS = 60
    lab.use(writer)
    faults = lab.server.faults
    back = threading.Timer(4.0, faults.accept_connections)
    gone: list[str] = []

    def go(point: str) -> None:
        if point != f"before sending {step}" or gone:
            return
        gone.append(point)
        if how == "503":
            faults.answer(503, times=5)  # more than a writer tries by itself
        else:
            faults.refuse_connections()
            back.start()

    with ControlPlane(lab.server.store, Habits(delay=0.0)):
        run = lab.execute(lab.start("one"), go)
    if how == "cut":
        back.join()
    assert gone
    assert states(run) == THE_WAY, run.reason
    assert lab.devices("one") == ["n0/gpu-0"]
    assert lab.left_behind() == []


# --- the database goes away ---------------------------------------------------------


def cut_the_session(at: str) -> Any:
    """At that point the database ends our session, as it does when it restarts."""
    done: list[str] = []

    def hook(point: str) -> None:
        if point == at and not done:
            done.append(point)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    return hook


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs sessions")
@pytest.mark.parametrize("point", [p for p in POINTS if p != "now done"])
def test_a_run_whose_worker_lost_the_database_goes_on(lab: Lab, point: str):
    run = lab.start("one")
    with pytest.raises(RunBusyError):
        lab.execute(run, cut_the_session(point))
    run.refresh_from_db()
    assert run.state in {"queued", "planning", "writing", "verifying"}

    run = lab.execute(run)

    assert states(run) == THE_WAY
    assert lab.devices("one") == ["n0/gpu-0"]
    assert run.attempts == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs sessions")
def test_a_batch_that_lost_the_database_is_planned_by_the_next(lab: Lab):
    started = start_batch(cluster=lab.cluster, claims=[("lab", "one")], user=None)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    other.close()
    with pytest.raises(RunBusyError):
        plan_batch(started.batch.pk)
    assert plan_batch(started.batch.pk) == 1


# --- nobody survives it ---------------------------------------------------------------


def die_again_and_again(lab: Lab, run: AllocationRun, point: str, times: int) -> None:
    for _ in range(times):
        with pytest.raises(KilledError):
            lab.execute(run, die_at(point))
        end_lease(run)


@pytest.mark.parametrize(
    "point", ["before planning", "planned", "before sending status", "sent"]
)
def test_a_run_that_no_worker_survives_is_given_up(lab: Lab, settings: Any, point: str):
    settings.RUN_TAKEOVERS = 2
    run = lab.start("one")
    die_again_and_again(lab, run, point, 3)

    run = lab.execute(run)

    assert run.state == "failed"
    assert "3 workers in a row died" in run.reason
    assert "DRA_PORTAL_TASK_SECONDS" in run.reason
    assert run.worker == ""
    sent = point in {"before sending status", "sent"}
    assert ("Look at the claim before you start again." in run.reason) == sent
    assert (run.ticket is not None) == sent


def test_deaths_on_the_way_do_not_end_a_run_that_gets_on(lab: Lab, settings: Any):
    settings.RUN_TAKEOVERS = 2
    run = lab.start("one")
    for point in ("planned", "sent", "before done"):
        die_again_and_again(lab, run, point, 2)
    assert states(lab.execute(run)) == THE_WAY
