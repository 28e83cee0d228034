"""Rules over time: claims that wait in vain, that come back, and outages."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from allocator.choices import RunState
from allocator.models import AllocationRule, AllocationRun
from allocator.services import follow_rules, rules, set_rule
from claims.models import ResourceClaim
from inventory.models import WatchState
from tests.allocator import builders as build
from tests.allocator.lab import Lab

pytestmark = pytest.mark.django_db


def test_claims_that_are_tried_no_more_hold_up_no_newer_one(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "_MOST_CLAIMS", 1)
    monkeypatch.setattr(rules, "_LOOKED_AT", 4)
    lab.put(*(build.claim(f"a-{number:02}") for number in range(12)))
    rule = set_rule(cluster=lab.cluster, namespace="lab", enabled=True, user=None)
    AllocationRun.objects.bulk_create(
        AllocationRun(
            cluster=lab.cluster,
            namespace="lab",
            claim_name=claim.name,
            claim_uid=claim.uid,
            rule=rule,
            state=RunState.CANCELLED,
        )
        for claim in ResourceClaim.objects.exclude(name="one")
    )
    assert follow_rules() == 1
    run = AllocationRun.objects.exclude(state=RunState.CANCELLED).get()
    assert run.claim_name == "one"


def test_a_claim_that_was_allocated_in_between_is_tried_as_at_first(lab: Lab) -> None:
    """It is used again and again: each pod's end gives its devices back."""
    rule = set_rule(cluster=lab.cluster, namespace="lab", enabled=True, user=None)
    free = lab.claim("one")
    long_ago = timezone.now() - timedelta(hours=2)
    for cycle in range(rules.MOST_TRIES + 1):
        assert follow_rules() == 1, cycle
        run = lab.execute(AllocationRun.objects.latest("created_at"))
        assert (run.state, run.rule) == ("done", rule)
        lab.put(free)
        AllocationRun.objects.update(finished_at=timezone.now())
        assert follow_rules() == 0, "not at once: whoever freed it may want it free"
        AllocationRun.objects.update(finished_at=long_ago)


def test_the_tries_since_a_claim_was_allocated_are_counted(lab: Lab) -> None:
    rule = set_rule(cluster=lab.cluster, namespace="lab", enabled=True, user=None)
    long_ago = timezone.now() - timedelta(hours=2)
    states = ["no fit", "no fit", "done", *["no fit"] * (rules.MOST_TRIES - 1)]
    for state in states:
        tried(lab, rule, state, long_ago)
    assert follow_rules() == 1
    AllocationRun.objects.filter(state="queued").delete()
    tried(lab, rule, "no fit", long_ago)
    assert follow_rules() == 0


def tried(lab: Lab, rule: AllocationRule, state: str, ended: datetime) -> None:
    AllocationRun.objects.create(
        cluster=lab.cluster,
        namespace="lab",
        claim_name="one",
        claim_uid=ResourceClaim.objects.get(name="one").uid,
        rule=rule,
        state=state,
        finished_at=ended,
    )


def test_an_outage_takes_no_tries_from_a_claim(lab: Lab) -> None:
    """While the watch is not live every run would end as failed."""
    set_rule(cluster=lab.cluster, namespace="lab", enabled=True, user=None)
    slices = WatchState.objects.filter(kind="ResourceSlice")
    slices.update(state="retrying")
    assert follow_rules() == 0
    assert not AllocationRun.objects.exists()
    slices.update(state="live")
    assert follow_rules() == 1
