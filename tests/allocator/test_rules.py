"""Rules among many claims that wait in vain."""

from __future__ import annotations

import pytest

from allocator.choices import RunState
from allocator.models import AllocationRun
from allocator.services import follow_rules, rules, set_rule
from claims.models import ResourceClaim
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
