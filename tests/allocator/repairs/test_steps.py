"""Steps of a repair that come late: behind another worker, or near the quarantine's end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from allocator import wiring
from allocator.choices import StepState
from allocator.findings.pruning import prune_findings
from allocator.models import Finding, RepairStep
from allocator.repairs import asking, doing
from allocator.repairs.asking import RepairRefused
from tests.allocator.repairs.conftest import DEVICE, Ward
from tests.allocator.repairs.test_pages import page
from tests.allocator.repairs.test_putting_back import stranded

pytestmark = pytest.mark.django_db


def quarantined(ward: Ward, ada: User) -> Finding:
    finding = ward.admit()
    ward.work(asking.quarantine(finding, ada))
    asking.keep(finding, ada, "lab", "first")
    return finding


def test_nothing_is_released_behind_a_quarantine_that_is_about_to_end(
    ward: Ward, ada: User
) -> None:
    finding = quarantined(ward, ada)
    soon = timezone.now().replace(microsecond=0) + timedelta(minutes=5)
    step = asking.quarantine(finding, ada)
    step.details["until"] = soon.isoformat()
    step.save()
    ward.work(step)
    seen = ward.version("second")
    with pytest.raises(RepairRefused, match="prolong it first"):
        asking.release(finding, ada, "lab", "second", seen_version=seen)
    ward.work(asking.quarantine(finding, ada))
    seen = ward.version("second")
    asking.release(finding, ada, "lab", "second", seen_version=seen)


def test_ending_a_repair_whose_quarantine_is_gone_does_not_say_that_it_was_lifted(
    ward: Ward, ada: User
) -> None:
    finding = quarantined(ward, ada)
    node = ward.store.get("Node", "n0")
    assert node is not None
    del node["spec"]["taints"]
    node["metadata"].pop("annotations")
    node["metadata"]["labels"].pop("dra-portal.io/guarded")
    ward.store.put(node)
    ward.settle()
    step = ward.work(asking.lift(finding, ada))
    assert step.state == StepState.DONE
    assert step.result.startswith("The repair has ended; there was no quarantine")
    assert not ward.picture(finding).open


def test_a_worker_that_lost_its_step_leaves_its_end_to_the_other(
    ward: Ward, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = ward.admit()
    step = asking.quarantine(finding, ada)
    quarantiner_for = wiring.quarantiner_for

    def slowly(cluster: str) -> Any:
        """Meanwhile the lease has ended, and another worker has done the step."""
        done = quarantiner_for(cluster)
        RepairStep.objects.filter(pk=step.pk).update(
            busy_until=timezone.now() + timedelta(minutes=9)
        )
        return done

    monkeypatch.setattr(wiring, "quarantiner_for", slowly)
    assert not doing.do_step(step.pk)
    step.refresh_from_db()
    assert (step.state, step.finished_at) == (StepState.ASKED, None)


def test_the_finding_of_a_repair_stays_as_long_as_that_goes_on(
    ward: Ward, ada: User
) -> None:
    finding = quarantined(ward, ada)
    seen = ward.version("second")
    ward.work(asking.release(finding, ada, "lab", "second", seen_version=seen))
    long_ago = timezone.now() - timedelta(days=1000)
    assert Finding.objects.filter(pk=finding.pk).update(ended_at=long_ago)
    assert prune_findings() == 0
    ward.work(asking.rewrite(finding, ada, seen_version=ward.version("first")))
    assert ward.lab.devices("first") == [DEVICE]
    ward.work(asking.lift(finding, ada))
    assert prune_findings() == 1


def test_a_quarantine_lasts_longer_where_a_claim_was_not_put_back(
    ward: Ward, ada: User, operator: Client
) -> None:
    finding, _ = stranded(ward, ada)
    assert ward.picture(finding).count == 0
    assert "Prolong the quarantine</button>" in page(operator, finding)
    step = ward.work(asking.quarantine(finding, ada, hours=24))
    assert step.state == StepState.DONE, step.result
    ward.store.delete("Pod", "one", "lab")
    ward.settle()
    with pytest.raises(RepairRefused, match="there is nothing to do"):
        asking.quarantine(finding, ada)
