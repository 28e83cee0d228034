"""A repair from the double booking to its end, beside a scheduler that forgets."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from allocator.choices import StepState
from allocator.models import DeviceRepair, Finding
from allocator.repairs import asking, doing
from allocator.repairs.asking import RepairRefused
from allocator.services import execute_run, sweep_leftovers
from cluster.standin.store import Store
from tests.allocator import builders as build
from tests.allocator.lab import KilledError, die_at, end_lease, states
from tests.allocator.repairs.conftest import DEVICE, Ward, expire
from tests.cluster.standin.scheduled import eventually, scheduled

pytestmark = pytest.mark.django_db


def quarantined(ward: Ward, finding: Finding, user: User) -> None:
    step = ward.work(asking.quarantine(finding, user))
    assert step.state == StepState.DONE, step.result


def released(ward: Ward, finding: Finding, user: User, name: str = "second") -> None:
    keeper = "first" if name == "second" else "second"
    asking.keep(finding, user, "lab", keeper)
    step = asking.release(
        finding, user, "lab", name, seen_version=ward.version(name), although_used=True
    )
    ward.work(step)
    assert ward.lab.devices(name) == []


def end_pod(store: Store, name: str) -> None:
    store.delete("Pod", name, "lab")


# --- what happens without it, and with it -----------------------------------------


def test_a_release_without_a_repair_books_the_device_again(
    ward: Ward, ada: User
) -> None:
    ward.admit()
    from allocator.services import start_release

    run = start_release(
        cluster=ward.lab.cluster,
        namespace="lab",
        claim_name="second",
        user=ada,
        override=True,
    )
    assert ward.lab.execute(run).state == "done"
    assert ward.another_pod() == "True"
    assert ward.booked_twice()


@pytest.mark.parametrize("which", ["ward", "ruled_ward"])
def test_with_the_guided_steps_it_does_not(
    which: str, request: pytest.FixtureRequest, ada: User
) -> None:
    ward: Ward = request.getfixturevalue(which)
    finding = ward.admit()
    assert ward.picture(finding).stage == 1

    quarantined(ward, finding, ada)
    found = ward.picture(finding)
    assert found.stage == 2
    assert found.standing is not None
    assert found.standing.means == ("rule" if which == "ruled_ward" else "node-taint")

    released(ward, finding, ada)
    found = ward.picture(finding)
    assert finding.ended_at is not None
    assert (found.stage, found.forgotten) == (3, True)

    before = ward.claim("first")["status"]
    step = ward.work(asking.rewrite(finding, ada, seen_version=ward.version("first")))
    assert step.run is not None
    step.run.refresh_from_db()
    assert states(step.run) == ["queued", "planning", "writing", "verifying", "done"]
    assert ward.claim("first")["status"] == before
    found = ward.picture(finding)
    assert (found.stage, found.forgotten) == (4, False)

    step = ward.work(asking.lift(finding, ada))
    assert step.state == StepState.DONE, step.result
    assert ward.lab.left_behind() == []
    assert ward.picture(finding).stage == 5

    assert ward.another_pod() == "False"
    assert not ward.booked_twice()
    # Once the survivor has ended the next one gets the device, and only then.
    end_pod(ward.store, "one")
    eventually(lambda: ward.lab.devices("third") == [DEVICE])
    assert not ward.booked_twice()


def test_lifting_too_early_would_book_it_again_and_is_refused(
    ward: Ward, ada: User
) -> None:
    finding = ward.admit()
    quarantined(ward, finding, ada)
    released(ward, finding, ada)
    with pytest.raises(RepairRefused, match="the next pod would get it too"):
        asking.lift(finding, ada)
    step = ward.work(asking.lift(finding, ada, although_forgotten=True))
    assert step.state == StepState.DONE
    assert ward.another_pod() == "True"
    assert ward.booked_twice()


def test_schedulers_that_were_restarted_count_rightly(ward: Ward, ada: User) -> None:
    finding = ward.admit()
    quarantined(ward, finding, ada)
    released(ward, finding, ada)
    ward.plane.scheduler.restart()
    asking.restarted(finding, ada)
    assert ward.picture(finding).stage == 4
    ward.work(asking.lift(finding, ada))
    assert ward.another_pod() == "False"


def test_waiting_ends_when_the_survivor_has_ended(ward: Ward, ada: User) -> None:
    finding = ward.admit()
    quarantined(ward, finding, ada)
    released(ward, finding, ada)
    asking.wait(finding, ada)
    found = ward.picture(finding)
    assert (found.stage, found.waits) == (3, True)
    end_pod(ward.store, "one")
    eventually(lambda: ward.lab.devices("first") == [])
    ward.settle()
    assert ward.picture(finding).stage == 4
    ward.work(asking.lift(finding, ada))
    assert ward.another_pod() == "True"
    assert not ward.booked_twice()


def test_a_loser_whose_pods_ended_is_freed_by_the_cluster_itself(
    ward: Ward, ada: User
) -> None:
    finding = ward.admit()
    quarantined(ward, finding, ada)
    asking.keep(finding, ada, "lab", "second")
    end_pod(ward.store, "one")
    eventually(lambda: ward.lab.devices("first") == [])
    ward.settle()
    found = ward.picture(finding)
    assert (found.stage, found.forgotten) == (3, True)
    assert found.survivor is not None
    assert found.survivor.name == "lab/second"


def test_a_second_double_booking_begins_the_steps_anew(ward: Ward, ada: User) -> None:
    finding = ward.admit()
    quarantined(ward, finding, ada)
    released(ward, finding, ada)
    ward.work(asking.rewrite(finding, ada, seen_version=ward.version("first")))
    assert ward.picture(finding).stage == 4
    ward.give_too("fourth")
    again = ward.finding()
    assert ward.picture(again).stage == 2
    step = asking.release
    asking.keep(again, ada, "lab", "first")
    ward.work(step(again, ada, "lab", "fourth", seen_version=ward.version("fourth")))
    assert ward.picture(again).stage == 3
    assert DeviceRepair.objects.count() == 1


def test_a_double_booking_that_ended_without_a_repair_can_still_be_repaired(
    ward: Ward, ada: User
) -> None:
    finding = ward.admit()
    ward.store.delete("ResourceClaim", "second", "lab")
    ward.settle()
    found = ward.picture(finding)
    assert finding.ended_at is not None
    assert found.forgotten
    quarantined(ward, finding, ada)
    ward.work(asking.rewrite(finding, ada, seen_version=ward.version("first")))
    ward.work(asking.lift(finding, ada))
    assert ward.another_pod() == "False"


# --- what is refused, and why ------------------------------------------------------


def test_nothing_is_released_before_the_quarantine_and_the_choice(
    ward: Ward, ada: User
) -> None:
    finding = ward.admit()

    def give_way(name: str = "second", **how: Any) -> None:
        seen = how.pop("seen_version", ward.version(name))
        asking.release(finding, ada, "lab", name, seen_version=seen, **how)

    with pytest.raises(RepairRefused, match="Decide first which claim"):
        give_way()
    asking.keep(finding, ada, "lab", "first")
    with pytest.raises(RepairRefused, match="not in quarantine"):
        give_way()
    quarantined(ward, finding, ada)
    with pytest.raises(RepairRefused, match="is the claim that keeps the device"):
        give_way("first")
    with pytest.raises(RepairRefused, match="does not hold the device"):
        asking.release(finding, ada, "lab", "none", seen_version="1")
    asking.keep(finding, ada, "lab", "second")
    with pytest.raises(RepairRefused, match="reserved by the pod one"):
        give_way("first")
    assert ward.lab.devices("first") == [DEVICE]
    assert ward.lab.devices("second") == [DEVICE]


def test_a_claim_that_changed_since_the_page_was_shown_is_left_alone(
    ward: Ward, ada: User
) -> None:
    finding = ward.admit()
    quarantined(ward, finding, ada)
    asking.keep(finding, ada, "lab", "first")
    seen = ward.version("second")
    pod = build.pod("late", "second")
    pod["spec"]["tolerations"] = [{"operator": "Exists"}]
    ward.store.put(pod)
    eventually(lambda: scheduled(ward.store, "late") == "True")
    ward.settle()
    with pytest.raises(RepairRefused, match=r"changed since you .* the pod late\."):
        asking.release(finding, ada, "lab", "second", seen_version=seen)
    assert ward.lab.devices("second") == [DEVICE]


def test_a_pod_that_comes_while_the_run_is_on_its_way_keeps_the_claim(
    ward: Ward, ada: User
) -> None:
    finding = ward.admit()
    quarantined(ward, finding, ada)
    asking.keep(finding, ada, "lab", "first")
    step = asking.release(
        finding, ada, "lab", "second", seen_version=ward.version("second")
    )
    claim = ward.claim("second")
    entry = {"resource": "pods", "name": "late", "uid": "u-late"}
    claim["status"]["reservedFor"] = [entry]
    ward.plane.stop()
    ward.store.put(claim)
    run = step.run
    assert run is not None
    execute_run(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "reserved by the pod late. Nothing was taken back" in run.reason
    assert ward.lab.devices("second") == [DEVICE]


def test_rewriting_is_refused_in_words(ward: Ward, ada: User) -> None:
    finding = ward.admit()
    seen = ward.version("first")
    with pytest.raises(RepairRefused, match="release all but one of them first"):
        asking.rewrite(finding, ada, seen_version=seen)
    quarantined(ward, finding, ada)
    released(ward, finding, ada)
    with pytest.raises(RepairRefused, match="was changed since you looked at it"):
        asking.rewrite(finding, ada, seen_version="1")
    ward.store.put(build.pod("waits", "first"))
    eventually(lambda: scheduled(ward.store, "waits") == "False")
    ward.settle()
    with pytest.raises(RepairRefused, match="The pod waits waits for the claim"):
        asking.rewrite(finding, ada, seen_version=ward.version("first"))


def test_one_step_at_a_time(ward: Ward, ada: User) -> None:
    finding = ward.admit()
    asking.quarantine(finding, ada)
    with pytest.raises(RepairRefused, match="A step is under way"):
        asking.quarantine(finding, ada)


@pytest.mark.parametrize(
    ("wish", "hours"), [("prayer", 8), ("auto", 0), ("auto", 9999)]
)
def test_a_quarantine_that_cannot_be(
    ward: Ward, ada: User, wish: str, hours: int
) -> None:
    finding = ward.admit()
    with pytest.raises(RepairRefused):
        asking.quarantine(finding, ada, wish=wish, hours=hours)


def test_rules_are_refused_where_they_may_kill_the_scheduler(
    ward: Ward, ada: User
) -> None:
    finding = ward.admit()
    with pytest.raises(RepairRefused, match="version is not known"):
        asking.quarantine(finding, ada, wish="rule")
    assert ward.store.objects("DeviceTaintRule") == []


def test_a_cluster_that_is_read_only_here_is_left_alone(ward: Ward, ada: User) -> None:
    finding = ward.admit()
    finding.cluster.read_only = True
    with pytest.raises(RepairRefused, match="read-only here"):
        asking.quarantine(finding, ada)


# --- interruptions, expiry ----------------------------------------------------------


def test_the_sweep_takes_a_quarantine_away_only_when_it_has_expired(
    ward: Ward, ada: User
) -> None:
    finding = ward.admit()
    quarantined(ward, finding, ada)
    sweep_leftovers()
    ward.settle()
    assert ward.picture(finding).standing is not None

    step = asking.quarantine(finding, ada)
    past = timezone.now().replace(microsecond=0) - timedelta(seconds=5)
    step.details["until"] = past.isoformat()
    step.save()
    ward.work(step)
    assert ward.picture(finding).standing is not None
    sweep_leftovers()
    ward.settle()
    found = ward.picture(finding)
    assert found.standing is None
    assert (found.stage, found.open) == (1, True)


def test_a_step_whose_worker_died_is_done_by_the_next(ward: Ward, ada: User) -> None:
    finding = ward.admit()
    step = asking.quarantine(finding, ada)
    expire(step)
    assert doing.sweep_steps() == 1
    ward.work(step)
    assert step.state == StepState.DONE
    assert not doing.do_step(step.pk)
    assert doing.sweep_steps() == 0


@pytest.mark.parametrize(
    "point",
    ["planned", "before writing", "before sending cleared for a moment", "before sending status", "sent"],
)  # fmt: skip
def test_a_rewriting_whose_worker_died_is_finished_by_the_next(
    ward: Ward, ada: User, point: str
) -> None:
    finding = ward.admit()
    quarantined(ward, finding, ada)
    released(ward, finding, ada)
    before = ward.claim("first")["status"]
    step = asking.rewrite(finding, ada, seen_version=ward.version("first"))
    run = step.run
    assert run is not None

    with pytest.raises(KilledError):
        ward.lab.execute(run, die_at(point))
    end_lease(run)
    run = ward.lab.execute(run)
    assert run.state == "done", run.reason
    assert ward.claim("first")["status"] == before
    ward.settle()
    assert ward.picture(finding).stage == 4
    ward.work(asking.lift(finding, ada))
    assert ward.another_pod() == "False"


def test_a_step_that_the_cluster_refuses_says_which_right_is_missing(
    ward: Ward, ada: User
) -> None:
    finding = ward.admit()
    ward.store.delete("Node", "n0")
    step = ward.work(asking.quarantine(finding, ada))
    assert step.state == StepState.FAILED
    assert "does not exist any more" in step.result
