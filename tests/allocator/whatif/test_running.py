"""Runs: at once where that is quick, in a worker otherwise, and never twice."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import Celery
from django.contrib.auth.models import User
from django.utils import timezone

from allocator.models import WhatIfRun
from allocator.tasks import tasks_whatif
from allocator.whatif import running
from allocator.whatif.running import (
    WhatIfRefused,
    ask_again,
    cancel_what_if,
    execute_what_if,
    start_what_if,
)
from dra.whatif import ScenarioError
from dra_portal.celery import app as celery_app
from inventory.models import Cluster
from tests.allocator.whatif.conftest import copies, drain, scenario


def started(cluster: Cluster, user: User, raw: Any, **more: Any) -> WhatIfRun:
    return start_what_if(cluster=cluster, user=user, scenario=scenario(raw), **more)


@pytest.fixture
def no_time(settings: Any) -> None:
    """Nothing is quick enough to be answered at once."""
    settings.WHAT_IF_INLINE_SECONDS = 0


def test_a_short_one_is_answered_at_once(demo: Cluster, viewer: User) -> None:
    run = started(demo, viewer, drain("gpu-h100-01"))
    assert (run.state, run.complete, run.is_open) == ("done", True, False)
    assert run.result is not None
    assert run.result["edits"] == ["Drain gpu-h100-01."]
    assert run.snapshot_seq == demo.seq
    assert run.snapshot_at is not None
    assert run.lease_until is None


def test_the_same_scenario_on_the_same_state_has_the_same_result(
    demo: Cluster, viewer: User
) -> None:
    one, other = (started(demo, viewer, copies(30)) for _ in range(2))
    assert one.pk != other.pk
    assert (one.digest, one.snapshot_seq) == (other.digest, other.snapshot_seq)
    assert one.result == other.result


def test_a_long_one_keeps_what_was_found_and_goes_to_a_worker(
    demo: Cluster, viewer: User, no_time: None
) -> None:
    run = started(demo, viewer, copies(30))
    assert (run.state, run.complete, run.fits) == ("queued", False, None)
    assert run.result is not None
    tasks_whatif.run_what_if(str(run.pk))
    run.refresh_from_db()
    assert (run.state, run.complete, run.fits) == ("done", True, False)
    assert "of 30 copies fit" in run.sentence
    assert run.finished_at is not None
    assert (run.step, run.attempts) != ("", 0)


def test_a_second_delivery_does_nothing(
    demo: Cluster, viewer: User, no_time: None
) -> None:
    run = started(demo, viewer, copies(3))
    execute_what_if(run.pk)
    run.refresh_from_db()
    finished = run.finished_at
    execute_what_if(run.pk)
    run.refresh_from_db()
    assert run.finished_at == finished
    assert run.attempts == 1


def test_a_worker_that_died_is_followed_by_another_but_not_for_ever(
    demo: Cluster, viewer: User, no_time: None
) -> None:
    run = started(demo, viewer, copies(3))
    past = timezone.now() - timedelta(seconds=1)
    died = {"state": "running", "worker": "gone", "lease_until": past}
    WhatIfRun.objects.filter(pk=run.pk).update(**died)
    assert running.sweep_what_ifs() == 1
    execute_what_if(run.pk)
    run.refresh_from_db()
    assert run.state == "done"
    WhatIfRun.objects.filter(pk=run.pk).update(**died, attempts=running.MOST_ATTEMPTS)
    execute_what_if(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "smaller" in run.reason


def test_one_that_somebody_works_on_is_left_alone(
    demo: Cluster, viewer: User, no_time: None
) -> None:
    run = started(demo, viewer, copies(3))
    soon = timezone.now() + timedelta(minutes=1)
    WhatIfRun.objects.filter(pk=run.pk).update(
        state="running", worker="w", lease_until=soon
    )
    execute_what_if(run.pk)
    run.refresh_from_db()
    assert (run.state, run.worker, run.attempts) == ("running", "w", 0)
    assert running.sweep_what_ifs() == 0


def test_one_that_waits_is_cancelled_at_once(
    demo: Cluster, viewer: User, no_time: None
) -> None:
    run = cancel_what_if(run=started(demo, viewer, copies(3)))
    assert run.state == "cancelled"
    execute_what_if(run.pk)
    run.refresh_from_db()
    assert run.state == "cancelled"
    with pytest.raises(WhatIfRefused, match="over: cancelled"):
        cancel_what_if(run=run)


def test_one_under_way_stops_and_keeps_what_was_found(
    demo: Cluster, viewer: User, no_time: None
) -> None:
    run = started(demo, viewer, copies(30))
    WhatIfRun.objects.filter(pk=run.pk).update(cancel_asked=True)
    execute_what_if(run.pk)
    run.refresh_from_db()
    assert (run.state, run.complete) == ("cancelled", False)
    assert run.sentence.startswith("The run was stopped")


def test_one_that_takes_too_long_is_stopped(
    demo: Cluster, viewer: User, no_time: None, settings: Any
) -> None:
    settings.WHAT_IF_SECONDS = 0
    run = started(demo, viewer, copies(30))
    execute_what_if(run.pk)
    run.refresh_from_db()
    assert (run.state, run.complete) == ("done", False)
    assert "fewer copies" in run.reason


def test_what_the_cluster_cannot_have_leaves_no_run(
    demo: Cluster, viewer: User
) -> None:
    with pytest.raises(ScenarioError) as caught:
        started(demo, viewer, drain("gone"))
    assert caught.value.path == "edits[0].nodes[0]"
    assert not WhatIfRun.objects.exists()


def test_a_user_has_few_under_way_at_once(
    demo: Cluster,
    viewer: User,
    no_time: None,
    settings: Any,
    person: Callable[..., User],
) -> None:
    settings.WHAT_IF_AT_ONCE = 1
    first = started(demo, viewer, copies(3))
    with pytest.raises(WhatIfRefused, match="under way"):
        started(demo, viewer, copies(3))
    started(demo, person("operator"), copies(3))
    cancel_what_if(run=first)
    started(demo, viewer, copies(3))


def test_only_the_newest_runs_of_a_user_are_kept(
    demo: Cluster, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MOST_KEPT", 2)
    ids = [started(demo, viewer, {}).pk for _ in range(3)]
    kept = set(WhatIfRun.objects.values_list("pk", flat=True))
    assert kept == set(ids[1:])


def test_old_runs_are_forgotten(demo: Cluster, viewer: User, settings: Any) -> None:
    old, new = (started(demo, viewer, {}) for _ in range(2))
    long_ago = timezone.now() - timedelta(days=settings.WHAT_IF_KEEP_DAYS + 1)
    WhatIfRun.objects.filter(pk=old.pk).update(created_at=long_ago)
    assert tasks_whatif.sweep_what_ifs() == 0
    assert list(WhatIfRun.objects.values_list("pk", flat=True)) == [new.pk]


def test_asking_again_is_a_new_run_that_names_the_old(
    demo: Cluster, viewer: User
) -> None:
    first = started(demo, viewer, copies(2), title="two more")
    again = ask_again(run=first, user=viewer)
    assert (again.previous_id, again.title) == (first.pk, "two more")
    assert again.result == first.result


@pytest.mark.django_db(transaction=True)
def test_without_a_queue_the_first_answer_stays_with_the_reason(
    demo: Cluster, viewer: User, no_time: None
) -> None:
    broken = Celery("broken", broker="redis://127.0.0.1:1/0")
    broken.set_current()
    try:
        run = started(demo, viewer, copies(3))
    finally:
        celery_app.set_current()
    assert run.state == "failed"
    assert "queue cannot be reached" in run.reason
    assert run.result is not None
