"""A rewriting that was refused in its middle: what is said, and the ways out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from allocator.models import AllocationRule, AllocationRun, Finding, RepairStep
from allocator.repairs import asking
from allocator.repairs.asking import RepairRefused
from allocator.services import RunRefused, follow_rules, sweep_leftovers
from claims.models import ResourceClaim
from cluster.standin.faults import Fault
from tests.allocator.lab import KilledError, die_at, end_lease, states
from tests.allocator.repairs.conftest import DEVICE, Ward
from tests.allocator.repairs.test_pages import page, press
from tests.cluster.standin.scheduled import eventually

pytestmark = pytest.mark.django_db


def counted_by_one(ward: Ward, ada: User) -> Finding:
    """In quarantine, "second" released: "first" is to be written anew."""
    finding = ward.admit()
    ward.work(asking.quarantine(finding, ada))
    asking.keep(finding, ada, "lab", "first")
    seen = ward.version("second")
    ward.work(asking.release(finding, ada, "lab", "second", seen_version=seen))
    return finding


def refuse(ward: Ward, status: int = 422) -> Callable[[str], None]:
    """The API server refuses the request that puts the allocation back."""

    def hook(point: str) -> None:
        if point == "before sending status":
            ward.lab.server.faults.plan(Fault(status))

    return hook


def stranded(ward: Ward, ada: User, status: int = 422) -> tuple[Finding, AllocationRun]:
    """The claim "first" is without its allocation, its pod runs."""
    finding = counted_by_one(ward, ada)
    step = asking.rewrite(finding, ada, seen_version=ward.version("first"))
    run = step.run
    assert run is not None
    run = ward.lab.execute(run, refuse(ward, status))
    assert (run.state, ward.lab.devices("first")) == ("failed", [])
    ward.settle()
    return finding, run


def end_pod(ward: Ward) -> None:
    ward.store.delete("Pod", "one", "lab")
    ward.settle()


def test_the_run_says_that_its_claim_is_without_its_allocation(
    ward: Ward, ada: User
) -> None:
    _, run = stranded(ward, ada, 403)
    assert run.reason.startswith("The allocation was not put back. ")
    assert "have it put back on the page of the finding" in run.reason
    last = run.transitions.latest("pk")
    assert last.details["missing"] == "patch resourceclaims/status"
    (request,) = run.patch or []
    assert request["body"]["status"]["allocation"]


def test_putting_it_back_makes_everything_as_it_was(ward: Ward, ada: User) -> None:
    finding = counted_by_one(ward, ada)
    before = ward.claim("first")["status"]
    step = asking.rewrite(finding, ada, seen_version=ward.version("first"))
    assert step.run is not None
    ward.lab.execute(step.run, refuse(ward))
    ward.settle()

    step = ward.work(asking.put_back(finding, ada))
    assert step.run is not None
    step.run.refresh_from_db()
    assert states(step.run) == ["queued", "planning", "writing", "verifying", "done"]
    assert ward.claim("first")["status"] == before
    found = ward.picture(finding)
    assert (found.stage, found.forgotten, found.stranded) == (4, False, None)
    ward.work(asking.lift(finding, ada))
    assert ward.another_pod() == "False"
    assert not ward.booked_twice()


def test_as_long_as_its_pods_run_the_quarantine_is_not_lifted(
    ward: Ward, ada: User
) -> None:
    finding, _ = stranded(ward, ada)
    found = ward.picture(finding)
    assert (found.stage, found.count) == (3, 0)
    with pytest.raises(
        RepairRefused, match="Put the allocation back, or end what uses"
    ):
        asking.lift(finding, ada)
    assert ward.another_pod() == "False"


def test_when_its_pods_have_ended_nothing_is_left_to_put_back(
    ward: Ward, ada: User
) -> None:
    finding, _ = stranded(ward, ada)
    end_pod(ward)
    found = ward.picture(finding)
    assert (found.stage, found.stranded) == (4, None)
    with pytest.raises(RepairRefused, match="nothing to put back"):
        asking.put_back(finding, ada)
    ward.work(asking.lift(finding, ada))
    assert ward.another_pod() == "True"
    assert not ward.booked_twice()


def test_pods_that_end_on_the_way_are_told_and_nothing_is_written(
    ward: Ward, ada: User
) -> None:
    finding, _ = stranded(ward, ada)
    step = asking.put_back(finding, ada)
    end_pod(ward)
    step = ward.work(step)
    assert step.run is not None
    assert "nothing has to be put back" in step.run.reason
    assert ward.lab.devices("first") == []
    assert ward.picture(finding).stage == 4


def test_a_device_that_somebody_got_meanwhile_is_not_booked_twice(
    ward: Ward, ada: User
) -> None:
    finding, _ = stranded(ward, ada)
    ward.work(asking.lift(finding, ada, although_forgotten=True))
    assert ward.another_pod() == "True"
    ward.settle()
    step = ward.work(asking.put_back(finding, ada))
    assert step.run is not None
    assert "was given to the claim lab/third meanwhile" in step.run.reason
    assert not ward.booked_twice()
    found = ward.picture(finding)
    assert found.stranded is not None
    assert found.open


def test_what_is_refused_again_can_be_asked_for_again(ward: Ward, ada: User) -> None:
    finding, first = stranded(ward, ada)
    step = asking.put_back(finding, ada)
    assert step.run is not None
    assert ward.lab.execute(step.run, refuse(ward)).state == "failed"
    ward.settle()
    again = asking.put_back(finding, ada)
    assert again.run is not None
    assert again.run.retry_of == first
    ward.work(again)
    assert ward.lab.devices("first") == [DEVICE]


@pytest.mark.parametrize("point", ["before writing", "before sending status", "sent"])
def test_a_worker_that_dies_while_putting_it_back_is_followed_by_another(
    ward: Ward, ada: User, point: str
) -> None:
    finding, _ = stranded(ward, ada)
    run = asking.put_back(finding, ada).run
    assert run is not None

    with pytest.raises(KilledError):
        ward.lab.execute(run, die_at(point))
    end_lease(run)
    assert ward.lab.execute(run).state == "done"
    assert ward.lab.devices("first") == [DEVICE]


def test_a_worker_that_died_after_it_was_put_back_does_not_take_it_away_again(
    ward: Ward, ada: User
) -> None:
    finding = counted_by_one(ward, ada)
    run = asking.rewrite(finding, ada, seen_version=ward.version("first")).run
    assert run is not None

    with pytest.raises(KilledError):
        ward.lab.execute(run, die_at("sent"))
    put_back = ward.version("first")
    end_lease(run)
    assert ward.lab.execute(run).state == "done"
    assert ward.version("first") == put_back


def test_a_run_that_no_worker_survives_can_still_be_put_back(
    ward: Ward, ada: User, settings: Any
) -> None:
    settings.RUN_TAKEOVERS = 0
    finding = counted_by_one(ward, ada)
    run = asking.rewrite(finding, ada, seen_version=ward.version("first")).run
    assert run is not None

    with pytest.raises(KilledError):
        ward.lab.execute(run, die_at("before sending status"))
    end_lease(run)
    assert ward.lab.execute(run).state == "failed"
    ward.settle()
    ward.work(asking.put_back(finding, ada))
    assert ward.lab.devices("first") == [DEVICE]


def test_a_claim_that_is_being_deleted_is_not_put_back(ward: Ward, ada: User) -> None:
    finding, _ = stranded(ward, ada)
    ResourceClaim.objects.filter(name="first").update(deleting=True)
    with pytest.raises(RepairRefused, match="is being deleted"):
        asking.put_back(finding, ada)


def test_nobody_allocates_it_anew_while_its_pods_run(ward: Ward, ada: User) -> None:
    stranded(ward, ada)
    with pytest.raises(RunRefused, match="could not put it back"):
        ward.lab.start("first")
    assert ward.lab.start("first", dry_run=True).state == "queued"
    end_pod(ward)
    assert ward.lab.start("first").state == "queued"


def test_no_rule_gives_it_another_device(ward: Ward, ada: User) -> None:
    stranded(ward, ada)
    AllocationRule.objects.create(
        cluster=ward.lab.cluster, namespace="lab", enabled=True
    )
    before = timezone.now()
    assert ResourceClaim.objects.filter(name="first", state="pending").exists()
    follow_rules()
    started = AllocationRun.objects.filter(created_at__gte=before)
    assert "first" not in {run.claim_name for run in started}
    end_pod(ward)
    follow_rules()
    assert "first" in {run.claim_name for run in started.all()}


def test_its_other_devices_stay_guarded_until_it_is_put_back(
    ruled_ward: Ward, ada: User
) -> None:
    ward = ruled_ward
    for piece in ward.store.objects("ResourceSlice"):
        piece["spec"]["devices"].append(piece["spec"]["devices"][0] | {"name": "gpu-9"})
        ward.store.put(piece)
    ward.settle()
    finding = ward.admit(count=2)
    ward.work(asking.quarantine(finding, ada))
    asking.keep(finding, ada, "lab", "first")
    seen = ward.version("second")
    ward.work(asking.release(finding, ada, "lab", "second", seen_version=seen))
    run = asking.rewrite(finding, ada, seen_version=ward.version("first")).run
    assert run is not None
    assert ward.lab.execute(run, refuse(ward)).state == "failed"
    ward.settle()
    sweep_leftovers()
    assert len(ward.store.objects("DeviceTaintRule")) == 2
    assert ward.another_pod() == "False"
    ward.work(asking.put_back(finding, ada))
    assert len(ward.lab.devices("first")) == 2
    assert len(ward.store.objects("DeviceTaintRule")) == 1


# --- two at once ---------------------------------------------------------------------


def test_a_step_that_another_one_came_before_is_refused(
    ward: Ward, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have looked at the same picture; lifting would give the device away."""
    finding = ward.admit()
    ward.work(asking.quarantine(finding, ada))
    asking.keep(finding, ada, "lab", "first")
    seen = ward.version("second")
    looked = asking._picture(finding)
    asking.lift(finding, ada)
    monkeypatch.setattr(asking, "_picture", lambda _finding: looked)
    with pytest.raises(RepairRefused, match="under way already"):
        asking.release(finding, ada, "lab", "second", seen_version=seen)
    assert not AllocationRun.objects.exists()


def test_a_repair_that_has_ended_meanwhile_takes_no_step(
    ward: Ward, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = ward.admit()
    ward.work(asking.quarantine(finding, ada))
    looked = asking._picture(finding)
    ward.work(asking.lift(finding, ada))
    monkeypatch.setattr(asking, "_picture", lambda _finding: looked)
    with pytest.raises(RepairRefused, match="has ended meanwhile"):
        asking.keep(finding, ada, "lab", "first")


# --- page and REST ---------------------------------------------------------------------


def test_the_page_leads_out_of_it(
    ward: Ward, ada: User, admin: Client, operator: Client, viewer: Client
) -> None:
    finding, _ = stranded(ward, ada)
    shown = page(admin, finding)
    assert "lab/first is without its allocation, although the pod one had it" in shown
    assert "was taken away to be written anew, and was not put back" in shown
    assert "kubectl delete pod one -n lab" in shown
    assert "Lift the quarantine</button>" not in shown
    assert "Everything is in order" not in shown
    assert "Put the allocation of lab/first back</button>" in shown
    for client in (operator, viewer):
        assert "Put the allocation of lab/first back</button>" not in page(
            client, finding
        )
        assert press(client, finding, "put-back").status_code == 403
    press(admin, finding, "put-back")
    ward.work(RepairStep.objects.latest("pk"))
    shown = page(admin, finding)
    assert "Put the allocation of lab/first back." in shown
    assert "The allocation of lab/first was written anew." in shown
    assert ward.lab.devices("first") == [DEVICE]


def test_over_rest_too(ward: Ward, ada: User, admin: Client, operator: Client) -> None:
    finding, run = stranded(ward, ada)
    address = f"/api/v1/findings/{finding.pk}/repair/"
    found = admin.get(address).json()
    assert found["stranded"] == {
        "namespace": "lab",
        "claim_name": "first",
        "users": found["stranded"]["users"],
        "deleting": False,
        "run": str(run.pk),
    }
    assert [user["name"] for user in found["stranded"]["users"]] == ["one"]
    assert operator.post(f"{address}put-back/").status_code == 403
    answer = admin.post(f"{address}put-back/")
    assert answer.status_code == 202
    assert answer.json()["stranded"] is None  # a run is about it
    ward.work(RepairStep.objects.latest("pk"))
    found = admin.get(address).json()
    assert (found["stage"], found["stranded"]) == (4, None)
    assert found["history"][0]["action"] == "put back"
    assert admin.post(f"{address}put-back/").status_code == 409


def test_without_a_rewriting_there_is_nothing_to_put_back(
    ward: Ward, ada: User, admin: Client
) -> None:
    finding = ward.admit()
    with pytest.raises(RepairRefused, match="nothing to put back"):
        asking.put_back(finding, ada)
    answer = admin.post(f"/api/v1/findings/{finding.pk}/repair/put-back/")
    assert answer.status_code == 409


def test_a_rewriting_whose_watch_is_away_waits_for_it(
    ward: Ward, ada: User, settings: Any
) -> None:
    from allocator.services.leases import RunBusyError
    from inventory.models import WatchState

    settings.RUN_WATCH_SECONDS = 60
    settings.RUN_VERIFY_SECONDS = 5
    finding = counted_by_one(ward, ada)
    run = asking.rewrite(finding, ada, seen_version=ward.version("first")).run
    assert run is not None

    def lose(point: str) -> None:
        if point == "sent":
            WatchState.objects.filter(kind="ResourceClaim").update(
                alive_at=timezone.now() - timedelta(hours=1)
            )

    from allocator.services import execute_run

    with pytest.raises(RunBusyError):
        execute_run(run.pk, hook=lose)
    run.refresh_from_db()
    assert run.state == "verifying"
    assert run.waits_for.startswith("Waits for the watch")
    eventually(lambda: ward.lab.devices("first") == [DEVICE])
    ward.settle()
    assert ward.lab.execute(run).state == "done"
