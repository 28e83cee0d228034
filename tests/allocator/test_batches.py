"""Claims that are allocated together, and rules that start such batches."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from allocator.models import AllocationRun
from allocator.services import (
    RunRefused,
    Started,
    cancel_run,
    execute_run,
    follow_rules,
    plan_batch,
    set_rule,
    start_batch,
)
from allocator.services.batches import Ready
from allocator.services.leases import new_worker_name, take
from claims.models import ResourceClaim
from dra_portal import celery_app
from inventory.models import Cluster
from tests.allocator import builders as build
from tests.allocator.lab import Lab, states

pytestmark = pytest.mark.django_db


def batch(lab: Lab, *names: str, **how: Any) -> Started:
    claims = [("lab", name) for name in names]
    return start_batch(cluster=lab.cluster, claims=claims, user=None, **how)


def finish(lab: Lab) -> dict[str, str]:
    """Every open run to its end; the state of each claim's newest."""
    for run in AllocationRun.objects.exclude(state="no fit").order_by("position"):
        lab.execute(run)
    runs = AllocationRun.objects.order_by("created_at", "position")
    return {run.claim_name: run.state for run in runs}


def test_claims_of_a_batch_get_devices_in_their_order(lab: Lab):
    lab.put(build.claim("two"), build.claim("three"))
    started = batch(lab, "three", "one", "two")

    assert plan_batch(started.batch.pk) == 3
    runs = AllocationRun.objects.order_by("position")
    assert [r.state for r in runs] == ["writing"] * 3
    assert len({r.snapshot_seq for r in runs}) == 1
    assert [r.worker for r in runs] == [""] * 3
    assert finish(lab) == {"one": "done", "two": "done", "three": "done"}
    assert lab.devices("three") == ["n0/gpu-0"]
    assert lab.devices("one") == ["n0/gpu-1"]
    assert lab.devices("two") == ["n1/gpu-0"]


def test_what_is_too_much_for_all_is_said_of_the_last(lab: Lab):
    names = ["one", *(f"c{i}" for i in range(4))]
    lab.put(*(build.claim(name) for name in names[1:]))
    plan_batch(batch(lab, *names).batch.pk)
    assert list(finish(lab).values()) == ["done"] * 4 + ["no fit"]


def test_a_batch_of_plans_shows_what_they_would_get_together(lab: Lab):
    lab.put(build.claim("two"))
    plan_batch(batch(lab, "one", "two", dry_run=True).batch.pk)
    plans = AllocationRun.objects.order_by("position").values_list("plan", flat=True)
    devices = [p["devices"]["results"][0]["device"] for p in plans if p]
    assert devices == ["gpu-0", "gpu-1"]
    assert lab.devices("one") == []


def test_claims_that_cannot_be_had_are_left_out_with_the_reason(lab: Lab):
    lab.put(build.allocated("held", build.result("n1", "gpu-0")))
    started = batch(lab, "one", "held", "none", "one")
    assert [r.claim_name for r in started.runs] == ["one"]
    said = dict(started.refused)
    assert "not pending" in said["lab", "held"]
    assert "no claim" in said["lab", "none"]


def test_a_batch_needs_a_claim_that_can_be_had(lab: Lab):
    with pytest.raises(RunRefused, match="at least one"):
        batch(lab)
    with pytest.raises(RunRefused, match="too many"):
        batch(lab, *(f"c{i}" for i in range(501)))
    with pytest.raises(RunRefused, match="There is no claim lab/none"):
        batch(lab, "none")
    Cluster.objects.update(read_only=True)
    lab.cluster.refresh_from_db()
    with pytest.raises(RunRefused, match="read-only"):
        batch(lab, "one")


def test_a_run_that_somebody_else_has_begun_is_left_to_them(lab: Lab):
    lab.put(build.claim("two"))
    started = batch(lab, "one", "two")
    take(started.runs[0].pk, new_worker_name())
    assert plan_batch(started.batch.pk) == 1


def test_planning_again_changes_nothing(lab: Lab):
    started = batch(lab, "one")
    plan_batch(started.batch.pk)
    run = AllocationRun.objects.get()
    assert plan_batch(started.batch.pk) == 0
    assert states(run) == ["queued", "planning", "writing"]


def test_without_its_task_each_run_of_a_batch_is_planned_by_itself(lab: Lab):
    lab.put(build.claim("two"))
    batch(lab, "one", "two")
    assert set(finish(lab).values()) == {"done"}


def test_a_stale_mirror_ends_all_of_them_with_the_reason(lab: Lab, settings: Any):
    settings.RUN_WATCH_SECONDS = 0
    lab.mirror.cluster.watches.filter(kind="Node").update(state="retrying")
    plan_batch(batch(lab, "one").batch.pk)
    run = AllocationRun.objects.get()
    assert run.state == "failed"
    assert "The watch of Node is retrying" in run.reason


def test_a_plan_that_waited_is_checked_again_before_it_is_written(lab: Lab):
    """Its device was taken while it stood in the queue; it is planned anew."""
    plan_batch(batch(lab, "one").batch.pk)
    lab.put(build.allocated("held", build.result("n0", "gpu-0")))
    run = lab.execute(AllocationRun.objects.get())
    assert run.state == "done"
    assert lab.devices("one") == ["n0/gpu-1"]
    assert states(run).count("planning") == 2


# --- rules --------------------------------------------------------------------


def rule(lab: Lab, **how: Any) -> Any:
    said: dict[str, Any] = {"namespace": "lab", "enabled": True, "user": None}
    return set_rule(cluster=lab.cluster, **said | how)


def test_without_a_rule_nothing_is_started(lab: Lab):
    rule(lab, enabled=False)
    assert follow_rules() == 0


def test_a_rule_starts_runs_for_pending_claims_of_its_namespace(lab: Lab):
    lab.put(build.claim("other", namespace="elsewhere"))
    found = rule(lab, policy="spread")
    assert follow_rules() == 1
    run = AllocationRun.objects.get()
    assert (run.claim_name, run.rule, run.policy) == ("one", found, "spread")
    assert follow_rules() == 0  # it is under way


def test_a_claim_that_did_not_fit_is_tried_later_and_not_for_ever(lab: Lab):
    lab.put(build.claim("big", build.request(count=3)))
    ResourceClaim.objects.filter(name="one").delete()
    rule(lab)
    for tries in range(1, 9):
        assert follow_rules() == 1, tries
        run = AllocationRun.objects.order_by("created_at").last()
        assert run is not None
        execute_run(run.pk)
        assert follow_rules() == 0
        long_ago = timezone.now() - timedelta(hours=2)
        AllocationRun.objects.update(finished_at=long_ago)
    assert follow_rules() == 0


def test_a_claim_whose_run_was_cancelled_is_left_alone(lab: Lab):
    rule(lab)
    follow_rules()
    cancel_run(run=AllocationRun.objects.get(), user=None)
    AllocationRun.objects.update(finished_at=timezone.now() - timedelta(hours=2))
    assert follow_rules() == 0


def test_a_read_only_cluster_has_no_rules(lab: Lab):
    rule(lab)
    Cluster.objects.update(read_only=True)
    assert follow_rules() == 0
    lab.cluster.refresh_from_db()
    with pytest.raises(RunRefused, match="read-only"):
        rule(lab)


def planned(lab: Lab, *names: str) -> list[AllocationRun]:
    """Runs of a batch in its order: two on each node."""
    lab.put(*(build.claim(name) for name in names[1:]))
    plan_batch(batch(lab, *names).batch.pk)
    runs = list(AllocationRun.objects.order_by("position"))
    assert [run.node_name for run in runs] == ["n0", "n0", "n1", "n1"]
    return runs


def test_workers_are_told_of_every_planned_run(lab: Lab, settings: Any):
    _told(settings)
    runs = planned(lab, "one", "two", "three", "four")
    assert {run.pk for run in _told(settings)} == {run.pk for run in runs}


def test_workers_are_told_of_planned_runs_in_turns_from_each_pool(
    lab: Lab, settings: Any
):
    runs = planned(lab, "one", "two", "three", "four")
    _told(settings)
    ready = Ready(clock=lambda: 0.0)
    for run in runs:
        ready.add(run)
    assert _told(settings) == []
    ready.tell_all()
    assert [run.node_name for run in _told(settings)] == ["n0", "n1", "n0", "n1"]


def test_a_turn_is_told_of_while_others_are_still_planned(lab: Lab, settings: Any):
    one, two, three, four = planned(lab, "one", "two", "three", "four")
    _told(settings)
    now = [0.0]
    ready = Ready(clock=lambda: now[0])
    ready.add(one)
    ready.add(two)
    now[0] = 0.25
    ready.add(three)
    assert _told(settings) == [one, three]
    ready.add(four)
    assert _told(settings) == []
    ready.tell_all()
    assert _told(settings) == [two, four]


def _told(settings: Any) -> list[AllocationRun]:
    """The runs of the queue's messages, which are taken; not those of other tests."""
    told: list[AllocationRun] = []
    with celery_app.connection_for_read() as connection, connection.channel() as way:
        queue = celery_app.amqp.queues[settings.QUEUES.write](way)
        while (message := queue.get()) is not None:
            message.ack()
            told += AllocationRun.objects.filter(pk=message.payload[0][0])
    return told
