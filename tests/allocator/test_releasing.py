"""Runs that take an allocation back."""

from __future__ import annotations

from typing import Any

import pytest

from allocator.models import AllocationRun
from allocator.services import RunRefused, retry_run, start_release
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from tests.allocator import builders as build
from tests.allocator.lab import KilledError, Lab, die_at, end_lease, states

pytestmark = pytest.mark.django_db

THE_WAY = ["queued", "planning", "writing", "verifying", "done"]
POINTS = [
    "before planning",
    "now planning",
    "planned",
    "before writing",
    "now writing",
    "before sending deallocation",
    "before sending finalizer removed",
    "sent",
    "before verifying",
    "now verifying",
    "before done",
    "now done",
]


def release(lab: Lab, name: str = "one", **how: Any) -> AllocationRun:
    return start_release(
        cluster=lab.cluster, namespace="lab", claim_name=name, user=None, **how
    )


@pytest.fixture
def held(lab: Lab) -> Lab:
    """The claim "one" holds a device that a run of ours gave it."""
    lab.execute(lab.start("one"))
    lab.sync()
    return lab


def test_an_allocation_that_nobody_uses_is_taken_back(held: Lab):
    run = held.execute(release(held))

    assert states(run) == THE_WAY
    assert run.reason == "Taken back; its devices are free again."
    assert held.devices("one") == []
    assert (
        "finalizers" not in held.claim("one")["metadata"]
        or not held.claim("one")["metadata"]["finalizers"]
    )


def test_a_dry_run_shows_the_requests_and_sends_none(held: Lab):
    run = held.execute(release(held, dry_run=True))
    assert run.state == "done"
    assert run.patch is not None
    assert len(run.patch) == 2
    assert held.devices("one") == ["n0/gpu-0"]


def test_the_points_at_which_a_worker_is_killed_here_are_all_there_are(held: Lab):
    seen: list[str] = []
    held.execute(release(held), seen.append)
    assert seen == POINTS


@pytest.mark.parametrize("point", POINTS)
def test_a_release_whose_worker_died_is_finished_by_the_next(held: Lab, point: str):
    run = release(held)
    with pytest.raises(KilledError):
        held.execute(run, die_at(point))
    end_lease(run)
    run = held.execute(run)

    assert states(run) == THE_WAY
    assert held.devices("one") == []


def test_a_claim_that_a_pod_has_reserved_is_not_taken_from_it(held: Lab):
    claim = held.claim("one")
    claim["status"]["reservedFor"] = [{"resource": "pods", "name": "p", "uid": "u1"}]
    held.put(claim)
    with pytest.raises(RunRefused, match="reserved by the pod p"):
        release(held)


def test_a_pod_that_reserves_it_at_the_last_moment_keeps_it(held: Lab):
    def reserve(point: str) -> None:
        if point == "now writing":
            claim = held.claim("one")
            pod = {"resource": "pods", "name": "p", "uid": "u1"}
            claim["status"]["reservedFor"] = [pod]
            held.server.store.put(claim)

    run = held.execute(release(held), reserve)
    assert run.state == "failed"
    assert "reserved by the pod p" in run.reason
    assert held.devices("one") == ["n0/gpu-0"]


def test_an_administrator_may_override_that_by_name(held: Lab):
    claim = held.claim("one")
    claim["status"]["reservedFor"] = [{"resource": "pods", "name": "p", "uid": "u1"}]
    held.put(claim)
    run = held.execute(release(held, override=True))
    assert run.state == "done"
    assert held.devices("one") == []


def test_a_claim_that_holds_nothing_is_refused(lab: Lab):
    with pytest.raises(RunRefused, match="holds no allocation"):
        release(lab)


def test_the_pin_of_a_carrier_goes_with_the_allocation(lab: Lab):
    lab.use("carrier")
    with ControlPlane(lab.server.store, Habits(delay=0.0)):
        lab.execute(lab.start("one"))
        lab.sync()
        assert len(lab.claim("one")["status"]["reservedFor"]) == 1
        run = lab.execute(release(lab))
    assert run.state == "done"
    assert not lab.claim("one").get("status", {}).get("reservedFor")
    assert lab.left_behind() == []


def test_a_failed_run_is_tried_again_as_a_new_one_that_names_it(lab: Lab):
    lab.put(build.claim("big", build.request(count=3)))
    failed = lab.execute(lab.start("big", policy="spread"))
    again = retry_run(run=failed, user=None)
    assert again.retry_of == failed
    assert again.policy == "spread"
    assert again.state == "queued"
    with pytest.raises(RunRefused, match="under way"):
        retry_run(run=again, user=None)


def test_a_plan_can_be_made_to_happen(lab: Lab):
    shown = lab.execute(lab.start("one", dry_run=True))
    run = lab.execute(retry_run(run=shown, user=None, dry_run=False))
    assert run.state == "done"
    assert run.retry_of == shown
    assert lab.devices("one") == ["n0/gpu-0"]
