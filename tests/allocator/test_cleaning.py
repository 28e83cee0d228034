"""What ended runs left in the cluster is swept up; what open ones need is not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from structlog.testing import capture_logs

from allocator.models import AllocationRun, PoolLock, RunBatch
from allocator.services import prune_runs, start_batch, sweep_leftovers
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from cluster.writeback import Step
from inventory.models import Cluster
from tests.allocator import builders as build
from tests.allocator.lab import KilledError, Lab, die_at
from tests.cluster.standin.scheduled import eventually

pytestmark = pytest.mark.django_db


@pytest.fixture
def left(lab: Lab) -> AllocationRun:
    """A guarded write that stopped with guard and barrier pod in the cluster."""
    lab.use("direct")
    run = lab.start("one")
    with ControlPlane(lab.server.store, Habits(delay=0.0)), pytest.raises(KilledError):
        lab.execute(run, die_at("before sending barrier pod removed"))
    assert lab.left_behind() != []
    return run


def test_what_an_open_run_has_put_there_stays(lab: Lab, left: AllocationRun):
    before = lab.left_behind()
    assert sweep_leftovers() == 0
    assert lab.left_behind() == before


def test_what_an_ended_run_has_put_there_goes(lab: Lab, left: AllocationRun):
    AllocationRun.objects.update(state="failed", finished_at=timezone.now())
    assert sweep_leftovers() > 0
    assert lab.left_behind() == []


def test_a_server_that_is_away_is_swept_the_next_time(lab: Lab, left: AllocationRun):
    AllocationRun.objects.update(state="failed", finished_at=timezone.now())
    lab.server.faults.refuse_connections()
    assert sweep_leftovers() == 0
    lab.server.faults.clear()
    assert sweep_leftovers() > 0


def test_no_cluster_is_always_the_last_one_to_be_swept(lab: Lab):
    """Servers that let a sweep wait until its time is over would starve the others."""
    lab.server.faults.refuse_connections()
    for name in ("a", "z"):
        Cluster.objects.create(name=name, source="kubeconfig")
    last: set[str] = set()
    for _ in range(40):
        with capture_logs() as logs:
            sweep_leftovers()
        last.add(
            [e for e in logs if e["event"] == "leftovers.not_swept"][-1]["cluster"]
        )
    assert last == {"a", "lab", "z"}


def test_the_pin_of_a_run_that_is_done_stays(lab: Lab):
    lab.use("carrier")
    with ControlPlane(lab.server.store, Habits(delay=0.0)):
        run = lab.execute(lab.start("one"))
        assert run.state == "done"
        sweep_leftovers()
    assert len(lab.claim("one")["status"]["reservedFor"]) == 1
    assert lab.devices("one") == ["n0/gpu-0"]


def test_the_pin_of_a_cancelled_run_goes_however_many_others_stay(lab: Lab):
    """Each allocation that a carrier brought keeps its pin, as long as it lives."""
    states = {f"c-{n:04}": "done" for n in range(2500)} | {"z": "cancelled"}
    runs = AllocationRun.objects.bulk_create(
        AllocationRun(
            cluster=lab.cluster, namespace="lab", claim_name=name, state=state
        )
        for name, state in states.items()
    )
    for run in runs:
        entry = {"apiGroup": "dra-portal.io", "resource": "allocationpins"}
        pin = {**entry, "name": f"dra-portal.{run.pk}.released", "uid": str(run.pk)}
        claim = build.allocated(run.claim_name, build.result("n0", run.claim_name))
        claim["status"]["reservedFor"] = [pin]
        lab.server.store.put(claim)
    lab.use("carrier")
    assert sweep_leftovers() == 1
    assert lab.devices("z") == []
    assert lab.devices("c-2499") != []


def carried_and_left(lab: Lab) -> AllocationRun:
    """Its binding is refused, so that the claim holds what nobody has reserved."""
    lab.use("carrier")
    run = lab.start("one")
    habits = Habits(delay=0.0, refuse_binding="dra-portal-carrier-")
    with ControlPlane(lab.server.store, habits), pytest.raises(KilledError):
        lab.execute(run, die_at(f"before sending {Step.PIN}"))
    # The binding is tried again each second, and each time reserved before it is refused.
    while reserved(lab):
        with ControlPlane(lab.server.store, habits):
            eventually(lambda: not reserved(lab))
    assert lab.devices("one") != []
    AllocationRun.objects.update(state="failed", finished_at=timezone.now())
    return run


def reserved(lab: Lab) -> list[Any]:
    return lab.claim("one")["status"].get("reservedFor") or []


def test_what_was_allocated_for_a_carrier_of_an_ended_run_goes_with_it(lab: Lab):
    carried_and_left(lab)
    assert sweep_leftovers() > 0
    assert lab.left_behind() == []
    assert lab.devices("one") == []


def test_what_a_later_run_has_written_stays_when_the_carrier_goes(lab: Lab):
    """Written by another writer it is reserved for nobody either."""
    first = carried_and_left(lab)
    lab.sync()
    later = AllocationRun.objects.create(
        cluster=lab.cluster,
        namespace="lab",
        claim_name="one",
        claim_uid=first.claim_uid,
        state="done",
    )
    assert later.created_at > first.created_at
    assert sweep_leftovers() > 0
    assert lab.left_behind() == []
    assert lab.devices("one") != []


def test_runs_that_ended_long_ago_are_forgotten(lab: Lab, settings: Any):
    settings.RUN_HISTORY_DAYS = 10
    start_batch(cluster=lab.cluster, claims=[("lab", "one")], user=None)
    run = lab.execute(AllocationRun.objects.get())
    assert prune_runs() == 0
    long_ago = timezone.now() - timedelta(days=11)
    AllocationRun.objects.update(finished_at=long_ago)
    RunBatch.objects.update(created_at=long_ago)
    PoolLock.objects.update(until=long_ago)
    assert prune_runs() == 1
    assert not AllocationRun.objects.filter(pk=run.pk).exists()
    assert not RunBatch.objects.exists()
    assert not PoolLock.objects.exists()


def test_runs_under_way_are_kept_and_so_is_everything_at_zero_days(
    lab: Lab, settings: Any
):
    settings.RUN_HISTORY_DAYS = 0
    lab.execute(lab.start("one"))
    AllocationRun.objects.update(finished_at=timezone.now() - timedelta(days=999))
    assert prune_runs() == 0
