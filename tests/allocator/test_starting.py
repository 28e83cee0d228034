"""Which runs may be started and cancelled, and what the user is told otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from celery import Celery
from django.contrib.auth.models import User

from allocator.models import AllocationRun
from allocator.services import RunRefused, cancel_run, start_run
from dra_portal import celery_app
from inventory.choices import Source
from inventory.models import Cluster
from tests.allocator import builders as build
from tests.allocator.builders import Mirror
from tests.allocator.lab import states

pytestmark = pytest.mark.django_db


@pytest.fixture
def mirror() -> Mirror:
    mirror = Mirror()
    mirror.replace([*build.lab(), build.claim("one")])
    return mirror


def start(mirror: Mirror, name: str = "one", **how: Any) -> AllocationRun:
    how = {"namespace": "lab", "user": None} | how
    cluster = Cluster.objects.get(pk=mirror.cluster.pk)
    return start_run(cluster=cluster, claim_name=name, **how)


def test_a_run_is_queued_with_the_claim_it_is_for_and_who_asked(mirror: Mirror):
    user = User.objects.create_user("olga")
    run = start(mirror, user=user, node="n1")

    assert run.state == "queued"
    assert run.claim_uid.startswith("uid-")
    assert run.created_by == user
    assert run.wanted_node == "n1"
    (first,) = run.transitions.all()
    assert (first.from_state, first.to_state, first.actor) == ("", "queued", "olga")


def test_the_task_is_sent_after_the_commit(
    mirror: Mirror, django_capture_on_commit_callbacks: Any
):
    with django_capture_on_commit_callbacks() as callbacks:
        start(mirror)
    assert len(callbacks) == 1


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"source": Source.DUMP, "read_only": True}, "dump"),
        ({"read_only": True}, "read-only"),
    ],
)
def test_a_cluster_that_cannot_be_written_is_refused_but_for_dry_runs(
    mirror: Mirror, columns: dict[str, Any], words: str
):
    Cluster.objects.update(**columns)
    with pytest.raises(RunRefused, match=words):
        start(mirror)
    assert start(mirror, dry_run=True).state == "queued"


def test_a_claim_that_is_not_there_is_refused(mirror: Mirror):
    with pytest.raises(RunRefused, match="There is no claim lab/two"):
        start(mirror, "two")


def test_an_allocated_claim_is_refused(mirror: Mirror):
    mirror.put(build.allocated("held", build.result("n0", "gpu-0")))
    with pytest.raises(RunRefused, match="not pending: it is allocated"):
        start(mirror, "held")


def test_a_claim_that_is_being_deleted_is_refused(mirror: Mirror):
    going = build.claim("going")
    going["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z"
    mirror.put(going)
    with pytest.raises(RunRefused, match="being deleted"):
        start(mirror, "going")


def test_a_claim_that_cannot_be_read_is_refused_with_the_reason(mirror: Mirror):
    odd = build.claim("odd")
    odd["spec"]["devices"]["requests"] = "many"
    mirror.put(odd)
    with pytest.raises(RunRefused, match="cannot be read"):
        start(mirror, "odd")


def test_a_node_that_does_not_exist_is_refused(mirror: Mirror):
    with pytest.raises(RunRefused, match="no node n9"):
        start(mirror, node="n9")


def test_a_claim_has_one_open_run_that_writes(mirror: Mirror):
    start(mirror)
    with pytest.raises(RunRefused, match=r"already on its way \(queued\)"):
        start(mirror)
    assert start(mirror, dry_run=True).state == "queued"


def test_after_the_end_of_a_run_the_next_may_start(mirror: Mirror):
    cancel_run(run=start(mirror), user=None)
    assert start(mirror).state == "queued"


def test_a_queued_run_can_be_cancelled_once(mirror: Mirror):
    user = User.objects.create_user("olga")
    run = cancel_run(run=start(mirror), user=user)

    assert states(run) == ["queued", "cancelled"]
    assert run.reason == "Cancelled by olga."
    assert run.finished_at is not None
    with pytest.raises(RunRefused, match="over: cancelled"):
        cancel_run(run=run, user=user)


@pytest.mark.parametrize("state", ["writing", "verifying"])
def test_a_run_that_has_sent_its_allocation_cannot_be_cancelled(
    mirror: Mirror, state: str
):
    run = start(mirror)
    AllocationRun.objects.update(state=state, committed=True)
    with pytest.raises(RunRefused, match="writing to the cluster"):
        cancel_run(run=run, user=None)


@pytest.mark.django_db(transaction=True)
def test_without_a_queue_the_run_fails_with_a_sentence(mirror: Mirror):
    broken = Celery("broken", broker="redis://127.0.0.1:1/0")
    broken.set_current()
    try:
        run = start(mirror)
    finally:
        celery_app.set_current()

    assert states(run) == ["queued", "failed"]
    assert "queue cannot be reached" in run.reason
    assert start(mirror).state == "queued"
