"""What the portal writes is in order, and is looked at like what others write."""

from __future__ import annotations

import pytest

from allocator.findings import passing
from allocator.models import Finding
from dra.audits import Code
from tests.allocator import builders as build
from tests.allocator.lab import Lab

pytestmark = pytest.mark.django_db


def codes() -> set[str]:
    return set(Finding.objects.filter(ended_at=None).values_list("code", flat=True))


def test_a_claim_that_the_portal_allocated_has_nothing_wrong(lab: Lab) -> None:
    lab.put(build.pod("user", "one"))
    assert lab.execute(lab.start("one")).state == "done"
    passing.update_findings(lab.cluster.pk)
    assert codes() == set()


def test_a_device_that_the_portal_and_somebody_else_gave_away_is_found(
    lab: Lab,
) -> None:
    lab.put(build.claim("two"), build.pod("user", "one"), build.pod("other", "two"))
    assert lab.execute(lab.start("one")).state == "done"
    pool, device = lab.devices("one")[0].split("/")
    lab.give_away("two", pool, device)
    lab.sync()
    passing.update_findings(lab.cluster.pk)
    row = Finding.objects.get(code=Code.DEVICE_BOOKED_TWICE)
    assert row.evidence["claims"] == "lab/one, lab/two"
    concerned = row.objects_concerned.filter(kind="ResourceClaim")
    assert {one.name for one in concerned} == {"one", "two"}
