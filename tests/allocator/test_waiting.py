"""Why pending claims wait is worked out beside the pages, and bounded."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from allocator import queries, tasks
from allocator.models import AllocationRun, WaitingPass, WaitingReason
from allocator.services import explain_waiting
from claims.models import ResourceClaim
from dra_portal.watching.reasons import ReasonNudge
from tests.allocator import builders as build
from tests.allocator.builders import Mirror

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(settings: Any) -> Mirror:
    """Two nodes with two devices each; three pending claims, and time enough for all."""
    settings.WAITING_SECONDS = settings.WAITING_PASS_SECONDS = 60
    world = Mirror()
    world.replace(
        [
            *build.lab(),
            build.claim("one"),
            build.claim("many", build.request(count=3)),
            build.claim("odd", build.request(deviceClassName="none.test")),
        ]
    )
    world.cluster.refresh_from_db()
    return world


def verdicts() -> dict[str, str]:
    return dict(WaitingReason.objects.values_list("claim_name", "verdict"))


def test_every_pending_claim_gets_its_reason(world: Mirror) -> None:
    assert explain_waiting(world.cluster.pk) == 3
    assert verdicts() == {"one": "fits", "many": "hopeless", "odd": "refused"}
    reason = WaitingReason.objects.get(claim_name="many")
    assert "No node has 3 free devices" in reason.sentence
    assert reason.seq == world.cluster.seq


def test_a_second_pass_without_a_change_does_nothing(world: Mirror) -> None:
    explain_waiting(world.cluster.pk)
    assert explain_waiting(world.cluster.pk) == 0


def test_a_claim_that_a_run_is_allocating_is_left_for_the_pass_after_it(
    world: Mirror,
) -> None:
    run = AllocationRun.objects.create(
        cluster=world.cluster, namespace="lab", claim_name="one", state="writing"
    )
    assert explain_waiting(world.cluster.pk) == 2
    assert set(verdicts()) == {"many", "odd"}
    AllocationRun.objects.filter(pk=run.pk).update(state="cancelled")
    explain_waiting(world.cluster.pk)
    assert verdicts()["one"] == "fits"


def test_a_claim_that_waits_no_more_loses_its_reason(world: Mirror) -> None:
    explain_waiting(world.cluster.pk)
    world.put(build.allocated("one", build.result("n0", "gpu-0")))
    explain_waiting(world.cluster.pk)
    assert set(verdicts()) == {"many", "odd"}


def test_a_new_claim_of_the_same_name_does_not_inherit_a_reason(world: Mirror) -> None:
    explain_waiting(world.cluster.pk)
    world.put(build.claim("one", build.request(count=3)))
    claim = ResourceClaim.objects.get(name="one")
    assert queries.waiting_reasons(world.cluster, [claim]) == {}
    explain_waiting(world.cluster.pk)
    assert queries.waiting_reasons(world.cluster, [claim])[claim.pk].verdict == (
        "hopeless"
    )


def test_two_passes_of_one_cluster_never_run_at_once(world: Mirror) -> None:
    later = timezone.now() + timedelta(seconds=60)
    WaitingPass.objects.create(cluster=world.cluster, busy_until=later)
    assert explain_waiting(world.cluster.pk) == 0
    assert verdicts() == {}


def test_a_pass_whose_worker_died_does_not_stand_in_the_way(world: Mirror) -> None:
    before = timezone.now() - timedelta(seconds=1)
    WaitingPass.objects.create(cluster=world.cluster, busy_until=before)
    assert explain_waiting(world.cluster.pk) == 3
    assert WaitingPass.objects.get().busy_until is None


def test_what_one_pass_does_not_get_to_comes_in_the_next(
    world: Mirror, settings: Any
) -> None:
    settings.WAITING_CLAIMS = 2
    assert explain_waiting(world.cluster.pk) == 2
    assert WaitingPass.objects.get().open == 1
    assert explain_waiting(world.cluster.pk) == 2
    assert set(verdicts()) == {"one", "many", "odd"}
    assert WaitingPass.objects.get().open == 0


def test_the_newest_claims_come_first(world: Mirror, settings: Any) -> None:
    newest = build.claim("newest")
    newest["metadata"]["creationTimestamp"] = "2026-11-29T13:00:00Z"
    world.put(newest)
    settings.WAITING_CLAIMS = 1
    explain_waiting(world.cluster.pk)
    assert set(verdicts()) == {"newest"}


def test_claims_of_one_pod_share_their_reason(world: Mirror) -> None:
    world.put(build.claim("two", build.request(count=2)))
    pod = build.pod("both", "one")
    pod["spec"]["resourceClaims"].append({"name": "b", "resourceClaimName": "two"})
    world.put(pod)
    explain_waiting(world.cluster.pk)
    reasons = WaitingReason.objects.filter(claim_name__in=["one", "two"])
    assert {reason.verdict for reason in reasons} == {"hopeless"}
    assert len({reason.sentence for reason in reasons}) == 1


def test_a_claim_without_a_uid_keeps_its_reason(world: Mirror) -> None:
    nameless = build.claim("nameless")
    del nameless["metadata"]["uid"]
    world.put(nameless)
    explain_waiting(world.cluster.pk)
    claim = ResourceClaim.objects.get(name="nameless")
    assert queries.waiting_reasons(world.cluster, [claim])[claim.pk].verdict == "fits"


def test_a_cluster_that_is_gone_is_no_error(world: Mirror) -> None:
    assert tasks.explain_waiting(world.cluster.pk + 1) == 0


def test_the_watch_asks_for_what_has_changed_and_only_then(world: Mirror) -> None:
    nudge = ReasonNudge()
    assert nudge.behind() == [world.cluster.pk]
    explain_waiting(world.cluster.pk)
    assert nudge.behind() == []
    world.put(build.claim("three"))
    assert nudge.behind() == [world.cluster.pk]
