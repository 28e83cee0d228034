"""Workers whose clocks are wrong neither take what lives nor wait for what is dead.

The clock of the process is moved by minutes; what rows say is by the database's.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from allocator.choices import RepairAction, StepState
from allocator.findings import passing
from allocator.models import (
    AllocationRun,
    DeviceRepair,
    FindingPass,
    PoolLock,
    RepairStep,
    WaitingPass,
    WhatIfRun,
)
from allocator.repairs import doing
from allocator.services import (
    RunBusyError,
    freshness,
    leases,
    reservations,
    sweeping,
    waiting,
)
from allocator.services.leases import new_worker_name, take
from allocator.services.locks import PoolLocks
from allocator.whatif import running
from dra.objects import AllocationResult, read
from inventory.models import Cluster, WatchState
from tests.allocator import builders as build
from tests.allocator.lab import Lab

pytestmark = pytest.mark.django_db

LEASE = 90.0
PLAN = {"devices": {"results": [build.result("n0", "gpu-0")]}}
LIVING, DEAD = timedelta(seconds=60), timedelta(seconds=-2)


class Clock:
    """That of this process, once it is ``wrong``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, off: timedelta) -> None:
        self._monkeypatch, self._off = monkeypatch, off

    def go_wrong(self) -> None:
        off = self._off
        self._monkeypatch.setattr(timezone, "now", lambda: datetime.now(UTC) + off)


@pytest.fixture(params=[-300, 300], ids=["slow", "fast"])
def clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch, timedelta(seconds=request.param))


@pytest.fixture(autouse=True)
def _leases(settings: Any) -> None:
    settings.RUN_LEASE_SECONDS = int(LEASE)


def by_the_database(left: timedelta) -> datetime:
    return datetime.now(UTC) + left


def taken(run: AllocationRun) -> AllocationRun:
    found = take(run.pk, new_worker_name())
    assert found is not None
    return found


# --- runs -----------------------------------------------------------------------


def test_a_run_with_a_living_worker_is_not_taken(lab: Lab, clock: Clock) -> None:
    first = taken(lab.start("one"))
    clock.go_wrong()
    with pytest.raises(RunBusyError) as busy:
        take(first.pk, new_worker_name())
    assert busy.value.retry_in == pytest.approx(LEASE + 1, abs=30)
    assert leases.begin_together([first.pk], new_worker_name()) == []
    first.refresh_from_db()
    assert first.takeovers == 0


def test_a_run_whose_worker_is_dead_is_taken_at_once(lab: Lab, clock: Clock) -> None:
    first = taken(lab.start("one"))
    AllocationRun.objects.update(lease_until=by_the_database(DEAD))
    clock.go_wrong()
    second = taken(first)
    assert (second.takeovers, second.worker != first.worker) == (1, True)


def test_queued_runs_of_a_dead_worker_are_planned_at_once(
    lab: Lab, clock: Clock
) -> None:
    first = taken(lab.start("one"))
    AllocationRun.objects.update(lease_until=by_the_database(DEAD))
    clock.go_wrong()
    (begun,) = leases.begin_together([first.pk], new_worker_name())
    assert (begun.pk, begun.state) == (first.pk, "planning")


def test_the_lease_of_a_worker_whose_clock_is_wrong_is_as_long_as_any(
    lab: Lab, clock: Clock
) -> None:
    left: dict[str, float] = {}

    def look(point: str) -> None:
        row = AllocationRun.objects.annotate(left=leases.LEFT).get(pk=run.pk)
        if row.left is not None:
            left[point] = row.left.total_seconds()

    run = lab.start("one")
    clock.go_wrong()
    assert lab.execute(run, look).state == "done"
    # Each point where another worker might look: as taken, moved or renewed just before.
    assert {"before planning", "before sending status", "now verifying"} <= set(left)
    assert all(LEASE - 30 < seconds <= LEASE for seconds in left.values())
    started, ended = run.created_at, AllocationRun.objects.get(pk=run.pk).finished_at
    assert ended is not None
    assert abs(ended - started) < timedelta(seconds=60)


def test_a_sweep_finds_the_runs_of_dead_workers_and_comes_to_living_ones_in_time(
    lab: Lab, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.put(build.claim("two"))
    clock.go_wrong()  # the transitions are written by the wrong clock
    dead, living = taken(lab.start("one")), taken(lab.start("two"))
    AllocationRun.objects.filter(pk=dead.pk).update(lease_until=by_the_database(DEAD))
    told: dict[Any, float] = {}
    monkeypatch.setattr(
        sweeping, "enqueue", lambda run_id, countdown: told.update({run_id: countdown})
    )
    sweeping.sweep_runs()
    assert told[dead.pk] == 0.0
    assert told.get(living.pk, LEASE) == pytest.approx(LEASE, abs=30)


# --- pools ----------------------------------------------------------------------


def test_a_pool_in_use_is_not_taken_and_one_of_a_dead_worker_is(
    lab: Lab, clock: Clock
) -> None:
    lab.put(build.claim("two"))
    first, second = (PoolLocks(taken(lab.start(name))) for name in ("one", "two"))
    plan = read(PLAN, AllocationResult)
    assert first.take(plan)
    clock.go_wrong()
    assert not second.take(plan)
    PoolLock.objects.update(until=by_the_database(DEAD))
    assert second.take(plan)
    assert not first.take(plan)


# --- others with an owner and an end ----------------------------------------------


def test_a_what_if_with_a_living_worker_is_left_alone(
    lab: Lab, person: Any, clock: Clock
) -> None:
    run = what_if(lab.cluster, person("viewer"), LIVING)
    clock.go_wrong()
    assert running._take(run.pk) is None
    assert running.cancel_what_if(run=run).state == "running"
    WhatIfRun.objects.update(lease_until=by_the_database(DEAD))
    after = running._take(run.pk)
    assert after is not None
    assert running._take(run.pk) is None


def what_if(cluster: Cluster, user: User, left: timedelta) -> WhatIfRun:
    return WhatIfRun.objects.create(
        cluster=cluster,
        user=user,
        state="running",
        worker="w",
        document={},
        lease_until=by_the_database(left),
    )


def test_a_step_of_a_repair_is_done_by_one_worker(
    lab: Lab, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    repair = DeviceRepair.objects.create(
        cluster=lab.cluster, driver="d", pool="p", device="x"
    )
    step = RepairStep.objects.create(
        repair=repair,
        action=RepairAction.QUARANTINE,
        state=StepState.ASKED,
        busy_until=by_the_database(LIVING),
    )
    told: list[int] = []

    def tell(step_id: int) -> bool:
        told.append(step_id)
        return True

    monkeypatch.setattr(doing, "tell_workers", tell)
    clock.go_wrong()
    assert not doing.do_step(step.pk)
    assert doing.sweep_steps() == 0
    RepairStep.objects.update(busy_until=by_the_database(DEAD))
    assert doing.sweep_steps() == 1
    assert doing.do_step(step.pk)
    assert told == [step.pk]


@pytest.mark.parametrize(
    ("model", "begin"),
    [(WaitingPass, waiting._begin), (FindingPass, passing._begin)],
    ids=["why claims wait", "what is wrong"],
)
def test_one_look_at_a_cluster_at_a_time(
    lab: Lab, clock: Clock, model: Any, begin: Any
) -> None:
    model.objects.create(cluster=lab.cluster, busy_until=by_the_database(LIVING))
    clock.go_wrong()
    assert begin(lab.cluster) is None
    model.objects.update(busy_until=by_the_database(DEAD))
    until = begin(lab.cluster)
    # What it was told is how it finds its own row again.
    assert model.objects.filter(cluster=lab.cluster, busy_until=until).exists()
    assert begin(lab.cluster) is None


# --- what the watch wrote on another machine ----------------------------------------


def test_a_watch_that_is_silent_proves_nothing_whatever_the_clock_says(
    lab: Lab, clock: Clock, settings: Any
) -> None:
    settings.RUN_WATCH_SECONDS, settings.RUN_SNAPSHOT_SECONDS = 0, 10
    lab.server.store.put(build.allocated("new", build.result("n0", "gpu-0")))
    claims = WatchState.objects.filter(kind="ResourceClaim")
    claims.update(alive_at=by_the_database(timedelta(seconds=-20)))
    clock.go_wrong()
    run = lab.execute(lab.start("one"))
    assert run.state == "failed"
    assert "1 claims are not as the API server has them now" in run.reason


def test_a_watch_that_was_heard_just_now_will_do_whatever_the_clock_says(
    lab: Lab, clock: Clock
) -> None:
    clock.go_wrong()
    lab.sync()
    lab.server.faults.refuse_connections()
    assert freshness.look(lab.cluster, beat=lambda: None, proof=True) is None


def test_the_plan_of_a_failed_run_counts_until_the_watch_has_heard_of_its_end(
    lab: Lab, clock: Clock
) -> None:
    """Else a run that failed by a slow clock is settled by what came before its end."""

    def fail(point: str) -> None:
        if point == "before sending status":
            clock.go_wrong()
            raise ValueError("a fault of ours")

    run = lab.start("one")
    with pytest.raises(ValueError, match="a fault"):
        lab.execute(run, fail)
    plans = reservations.reserved(lab.cluster, but=None)
    assert len(plans) == 1
    claims = WatchState.objects.filter(kind="ResourceClaim")
    claims.update(event_at=by_the_database(timedelta(seconds=60)))
    assert reservations.reserved(lab.cluster, but=None) == []
