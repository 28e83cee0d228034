"""One writer per pool at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from allocator.models import AllocationRun, PoolLock
from allocator.services import RunBusyError, execution
from allocator.services.leases import new_worker_name, take
from allocator.services.locks import PoolLocks
from dra.objects import AllocationResult, read
from tests.allocator import builders as build
from tests.allocator.lab import Lab

pytestmark = pytest.mark.django_db


def plan(*nodes: str) -> AllocationResult:
    results = [build.result(node, "gpu-0") for node in nodes]
    return read({"devices": {"results": results}}, AllocationResult)


def taken(lab: Lab, name: str) -> AllocationRun:
    run = take(lab.start(name).pk, new_worker_name())
    assert run is not None
    return run


@pytest.fixture
def two(lab: Lab) -> tuple[PoolLocks, PoolLocks]:
    """The locks of two runs that two workers are on."""
    lab.put(build.claim("two"))
    return PoolLocks(taken(lab, "one")), PoolLocks(taken(lab, "two"))


def test_a_pool_has_one_writer(two: tuple[PoolLocks, PoolLocks]):
    first, second = two
    assert first.take(plan("n0"))
    assert not second.take(plan("n0"))
    assert second.holder() == "the run of claim lab/one"
    assert second.take(plan("n1"))


def test_of_several_pools_all_are_taken_or_none(two: tuple[PoolLocks, PoolLocks]):
    first, second = two
    first.take(plan("n1"))
    assert not second.take(plan("n0", "n1"))
    first.release()
    assert first.take(plan("n0"))


def test_a_lock_that_is_given_back_is_free(two: tuple[PoolLocks, PoolLocks]):
    first, second = two
    first.take(plan("n0"))
    first.release()
    assert second.take(plan("n0"))


def test_the_lock_of_a_dead_worker_ends_by_itself(two: tuple[PoolLocks, PoolLocks]):
    first, second = two
    first.take(plan("n0"))
    PoolLock.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert second.take(plan("n0"))


def test_who_takes_a_run_over_has_its_locks(lab: Lab):
    run = taken(lab, "one")
    PoolLocks(run).take(plan("n0"))
    run.worker = new_worker_name()
    assert PoolLocks(run).take(plan("n0"))


def test_what_takes_nothing_from_a_pool_needs_no_lock(two: tuple[PoolLocks, PoolLocks]):
    first, second = two
    first.take(plan("n0"))
    admin = {"devices": {"results": [build.result("n0", "gpu-0", adminAccess=True)]}}
    assert second.take(read(admin, AllocationResult))


def test_a_run_gives_its_locks_back_however_it_ends(lab: Lab):
    def lose(point: str) -> None:
        if point == "before sending status":
            lab.server.store.delete("ResourceClaim", "one", "lab")

    assert lab.execute(lab.start("one"), lose).state == "failed"
    assert list(PoolLock.objects.values_list("owner", flat=True)) == [""]


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker looks for another run at once when a pool is busy."""
    monkeypatch.setattr(execution, "_PATIENCE", 0.1)


@pytest.mark.usefixtures("_impatient")
def test_a_run_that_waits_too_long_for_a_pool_says_who_has_it(lab: Lab, settings: Any):
    settings.RUN_LOCK_SECONDS = 0
    lab.put(build.claim("two"))
    PoolLocks(taken(lab, "one")).take(plan("n0"))
    run = lab.execute(lab.start("two"))
    assert run.state == "failed"
    assert "the run of claim lab/one is writing to the same pool" in run.reason


@pytest.mark.usefixtures("_impatient")
def test_a_run_whose_pool_is_busy_is_left_for_later(lab: Lab):
    lab.put(build.claim("two"))
    PoolLocks(taken(lab, "one")).take(plan("n0"))
    run = lab.start("two")
    with pytest.raises(RunBusyError):
        lab.execute(run)
    run.refresh_from_db()
    assert (run.state, run.worker) == ("writing", "")
