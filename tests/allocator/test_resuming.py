"""No run is lost and none done twice: redelivery, concurrency, death at any point."""

from __future__ import annotations

import threading
from typing import Any
from uuid import uuid4

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection

from allocator.models import AllocationRun
from allocator.services import RunBusyError, cancel_run, execute_run
from allocator.services.leases import new_worker_name, release, take
from tests.allocator import builders as build
from tests.allocator.lab import KilledError, Lab, die_at, end_lease, states

pytestmark = pytest.mark.django_db

POINTS = [
    "before planning",
    "now planning",
    "planned",
    "before writing",
    "now writing",
    "before sending finalizer",
    "before sending status",
    "sent",
    "before verifying",
    "now verifying",
    "before done",
    "now done",
]
THE_WAY = ["queued", "planning", "writing", "verifying", "done"]


def test_the_points_at_which_a_worker_is_killed_here_are_all_there_are(lab: Lab):
    seen: list[str] = []
    lab.execute(lab.start("one"), seen.append)
    assert seen == POINTS


@pytest.mark.parametrize("point", POINTS)
def test_a_run_whose_worker_died_is_finished_by_the_next(lab: Lab, point: str):
    run = lab.start("one")
    with pytest.raises(KilledError):
        lab.execute(run, die_at(point))
    run.refresh_from_db()
    if run.state != "done":
        assert run.worker
        end_lease(run)

    run = lab.execute(run)

    assert states(run) == THE_WAY
    assert lab.devices("one") == ["n0/gpu-0"]
    assert run.plan == lab.claim("one")["status"]["allocation"]
    assert run.attempts == 1


@pytest.mark.parametrize("away", ["server", "clusters file"])
def test_what_a_dead_worker_may_have_written_is_not_called_unwritten(
    lab: Lab, settings: Any, away: str
):
    """It had; the next one cannot look, so the devices stay with the run."""
    settings.RUN_SERVER_SECONDS = 1
    run = lab.start("one")
    with pytest.raises(KilledError):
        lab.execute(run, die_at("sent"))
    end_lease(run)
    if away == "server":
        lab.server.faults.refuse_connections()
    else:
        lab.file.write_text("clusters: []", encoding="utf-8")

    run = lab.execute(run)

    assert run.state == "failed"
    assert "may" in run.reason
    assert "Nothing was" not in run.reason
    assert "Look at the claim before you start again." in run.reason
    assert run.ticket is not None
    assert lab.devices("one") == ["n0/gpu-0"]


@pytest.mark.parametrize("point", ["before sending status", "sent", "before verifying"])
def test_the_second_worker_plans_the_same_even_if_a_better_device_came_free(
    lab: Lab, point: str
):
    """What was sent may still arrive, so the stored plan is carried out."""
    run = lab.start("one")
    with pytest.raises(KilledError):
        lab.execute(run, die_at(point))
    run.refresh_from_db()
    plan = run.plan
    end_lease(run)
    assert lab.execute(run).plan == plan


def test_nobody_else_works_on_a_run_while_its_lease_lasts(lab: Lab, settings: Any):
    settings.RUN_LEASE_SECONDS = 400
    run = lab.start("one")
    with pytest.raises(KilledError):
        lab.execute(run, die_at("planned"))

    with pytest.raises(RunBusyError) as busy:
        execute_run(run.pk)

    assert 300 < busy.value.retry_in <= 401
    assert states(run) == ["queued", "planning"]


def test_executing_a_finished_run_changes_nothing(lab: Lab):
    run = lab.execute(lab.start("one"))
    claim = lab.claim("one")
    lab.execute(run)
    assert states(run) == THE_WAY
    assert lab.claim("one") == claim


def test_executing_a_cancelled_run_changes_nothing(lab: Lab):
    run = cancel_run(run=lab.start("one"), user=None)
    lab.execute(run)
    assert states(run) == ["queued", "cancelled"]
    assert lab.devices("one") == []


def test_executing_a_run_that_does_not_exist_is_no_error(lab: Lab):
    execute_run(uuid4())


def test_an_unexpected_error_ends_the_run_with_a_sentence(lab: Lab):
    def burst(point: str) -> None:
        if point == "planned":
            raise RuntimeError("boom")

    run = lab.start("one")
    with pytest.raises(RuntimeError):
        lab.execute(run, burst)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "unexpected error (RuntimeError)" in run.reason
    assert run.worker == ""


def test_a_run_that_takes_too_long_is_told_so(lab: Lab):
    def late(point: str) -> None:
        if point == "planned":
            raise SoftTimeLimitExceeded

    run = lab.start("one")
    with pytest.raises(SoftTimeLimitExceeded):
        lab.execute(run, late)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "longer than a run may (1200 s" in run.reason


def test_a_slow_worker_that_lost_its_lease_stops_before_it_writes(lab: Lab):
    """It wakes up after another worker has finished the run."""
    run = lab.start("one")
    other: list[str] = []

    def sleep_long(point: str) -> None:
        if point == "now writing" and not other:
            other.append(point)
            end_lease(run)
            lab.execute(AllocationRun.objects.get(pk=run.pk))

    run = lab.execute(run, sleep_long)

    assert states(run) == THE_WAY
    assert lab.devices("one") == ["n0/gpu-0"]


@pytest.mark.parametrize("point", ["now planning", "before sending status"])
def test_an_earlier_plan_that_arrives_late_is_taken_up(lab: Lab, point: str):
    """A request of the first attempt lands when the second plan is under way."""
    run = lab.start("one")
    attempt = 0

    def interfere(here: str) -> None:
        nonlocal attempt
        if here == "before sending status":
            attempt += 1
            if attempt == 1:
                lab.touch("one", "x")
                lab.server.store.delete("ResourceSlice", f"n0-{build.GPU}")
                lab.sync()
        if here == point and attempt == (2 if here == "before sending status" else 1):
            first = run.transitions.filter(to_state="writing")[0].details["plan"]
            late = lab.claim("one")
            late["status"] = {"allocation": first}
            lab.server.store.put(late)
            lab.sync()

    run = lab.execute(run, interfere)

    assert run.state == "done"
    assert lab.devices("one") == ["n0/gpu-0"]
    assert run.node_name == "n0"
    assert run.plan == lab.claim("one")["status"]["allocation"]
    assert run.transitions.get(to_state="verifying").reason == (
        "An earlier request of this run had been carried out."
    )


def test_a_worker_whose_run_was_taken_over_does_not_send_the_allocation(lab: Lab):
    run = lab.start("one")

    def lose(point: str) -> None:
        if point == "before sending finalizer":
            end_lease(run)
            assert take(run.pk, new_worker_name()) is not None

    run = lab.execute(run, lose)
    assert run.state == "writing"
    assert lab.devices("one") == []


def test_leases_are_taken_by_one_and_given_back(lab: Lab):
    run = lab.start("one")
    mine = take(run.pk, new_worker_name())
    assert mine is not None
    with pytest.raises(RunBusyError):
        take(run.pk, new_worker_name())
    release(mine)
    assert take(run.pk, new_worker_name()) is not None


@pytest.mark.django_db(transaction=True)
def test_of_workers_that_get_the_same_run_at_once_one_does_it(lab: Lab):
    run = lab.start("one")
    busy: list[str] = []
    ready = threading.Barrier(4)

    def work() -> None:
        try:
            ready.wait()
            lab.execute(AllocationRun.objects.get(pk=run.pk))
        except RunBusyError as error:
            busy.append(str(error))
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    run.refresh_from_db()
    assert states(run) == THE_WAY
    assert len(busy) <= 3
    assert lab.devices("one") == ["n0/gpu-0"]


def test_a_run_of_a_kind_that_this_worker_does_not_know_waits_for_one_that_does(
    lab: Lab,
):
    """While an update is rolled out, workers of two versions take from one queue."""
    run = lab.start("one")
    AllocationRun.objects.filter(pk=run.pk).update(kind="migrate")
    with pytest.raises(RunBusyError):
        execute_run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.worker, run.lease_until) == ("queued", "", None)
    assert lab.devices("one") == []
