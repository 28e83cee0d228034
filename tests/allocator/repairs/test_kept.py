"""What a repair still needs is not forgotten with the runs of its time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from allocator.models import AllocationRun, Finding, RepairStep
from allocator.repairs import asking, doing
from allocator.services import RunRefused, prune_runs
from tests.allocator.repairs.conftest import Ward
from tests.allocator.repairs.test_putting_back import end_pod, stranded

pytestmark = pytest.mark.django_db


def test_a_claim_that_was_left_without_its_allocation_is_remembered_while_its_pods_run(
    ward: Ward, ada: User, settings: Any
) -> None:
    settings.RUN_HISTORY_DAYS = 10
    stranded(ward, ada)
    long_ago = timezone.now() - timedelta(days=11)
    AllocationRun.objects.update(finished_at=long_ago)

    prune_runs()
    with pytest.raises(RunRefused, match="could not put it back"):
        ward.lab.start("first")

    end_pod(ward)
    assert prune_runs() == 1
    assert ward.lab.start("first").state == "queued"


def test_a_step_whose_run_is_forgotten_is_over_and_no_worker_takes_it_up(
    ward: Ward, ada: User, settings: Any
) -> None:
    """The release, the rewriting that failed, and the one that put back."""
    settings.RUN_HISTORY_DAYS = 10
    finding, _ = stranded(ward, ada)
    put_back = asking.put_back(finding, ada)
    assert put_back.run is not None
    assert ward.lab.execute(put_back.run).state == "done"
    ward.settle()
    before = ward.picture(finding)
    long_ago = timezone.now() - timedelta(days=11)
    Finding.objects.update(since=long_ago - timedelta(days=1))
    AllocationRun.objects.update(finished_at=long_ago)

    assert prune_runs() == 3
    for step in RepairStep.objects.all():
        assert not doing.do_step(step.pk)
    assert doing.sweep_steps() == 0
    after = ward.picture(finding)
    assert (after.asked, after.stage) == (None, before.stage)
    assert after.standing is not None, "the quarantine is still there"
    first, second = (s for s in after.steps if s.action in {"rewrite", "put back"})
    assert (first.state, second.state) == ("failed", "done")
    assert "Written anew" in second.result


def test_a_step_that_lost_its_run_in_another_way_is_nobodys_work(
    ward: Ward, ada: User
) -> None:
    finding, run = stranded(ward, ada)
    run.delete()
    RepairStep.objects.update(at=timezone.now() - timedelta(hours=1))
    step = RepairStep.objects.get(action="rewrite")
    assert (step.state, step.run) == ("asked", None)

    assert doing.sweep_steps() == 0
    assert not doing.do_step(step.pk)
    found = ward.picture(finding)
    assert found.asked is None
    assert found.standing is not None
