"""A run from the queue to its end, against a stand-in API server."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from allocator.models import AllocationRun
from allocator.services import cancel_run, execute_run
from claims.models import ResourceClaim
from cluster.standin.access import Rule
from cluster.standin.access import User as ApiUser
from cluster.standin.server import StandinServer
from cluster.store import State
from cluster.writeback import FINALIZER
from inventory.choices import Source
from inventory.models import Cluster, WatchState
from tests.allocator import builders as build
from tests.allocator.lab import Lab, states

pytestmark = pytest.mark.django_db

THE_WAY = ["queued", "planning", "writing", "verifying", "done"]


# --- the way ------------------------------------------------------------------


def test_a_pending_claim_is_allocated_on_the_first_node_that_fits(lab: Lab):
    run = lab.execute(lab.start("one"))

    assert states(run) == THE_WAY
    assert run.reason == "Allocated on node n0."
    assert lab.devices("one") == ["n0/gpu-0"]
    stored = lab.claim("one")
    assert stored["metadata"]["finalizers"] == [FINALIZER]
    allocation = stored["status"]["allocation"]
    assert allocation["allocationTimestamp"].endswith("Z")
    assert allocation["devices"]["config"][0]["source"] == "FromClass"
    terms = allocation["nodeSelector"]["nodeSelectorTerms"]
    assert terms[0]["matchFields"][0]["values"] == ["n0"]


def test_the_run_keeps_what_was_planned_and_exactly_what_was_sent(lab: Lab):
    run = lab.execute(lab.start("one"))

    assert run.plan == lab.claim("one")["status"]["allocation"]
    assert run.node_name == "n0"
    assert run.attempts == 1
    assert run.patch is not None
    finalizer, status = run.patch
    assert finalizer["body"]["metadata"]["finalizers"] == [FINALIZER]
    assert status["request"].endswith("/resourceclaims/one/status")
    assert status["body"]["status"] == {"allocation": run.plan}
    version = lab.claim("one")["metadata"]["resourceVersion"]
    assert run.written_resource_version == version
    assert run.snapshot_seq is not None
    assert run.finished_at is not None
    assert run.worker == ""
    assert run.lease_until is None


def test_the_portal_does_not_touch_the_mirror(lab: Lab, settings: Any):
    settings.RUN_VERIFY_SECONDS = 0
    before = ResourceClaim.objects.get().raw
    execute_run(lab.start("one").pk)
    assert ResourceClaim.objects.get().raw == before
    assert lab.devices("one") == ["n0/gpu-0"]


def test_the_next_claim_gets_the_next_device(lab: Lab):
    lab.put(build.claim("two"), build.claim("three", build.request(count=2)))
    for name in ("one", "two", "three"):
        lab.execute(lab.start(name))
    assert lab.devices("two") == ["n0/gpu-1"]
    assert lab.devices("three") == ["n1/gpu-0", "n1/gpu-1"]


def test_the_wanted_node_is_used(lab: Lab):
    run = lab.execute(lab.start("one", node="n1"))
    assert run.state == "done"
    assert lab.devices("one") == ["n1/gpu-0"]


def test_a_dry_run_shows_plan_and_requests_and_writes_nothing(lab: Lab):
    before = lab.claim("one")
    run = lab.execute(lab.start("one", dry_run=True))

    assert states(run) == ["queued", "planning", "done"]
    assert run.reason.startswith("Dry run: it fits on node n0.")
    assert run.plan is not None
    assert run.patch is not None
    assert run.plan["devices"]["results"][0]["device"] == "gpu-0"
    assert [r["request"].rsplit("/", 1)[-1] for r in run.patch] == ["one", "status"]
    assert lab.claim("one") == before
    assert run.ticket is None


def test_a_dry_run_works_on_a_dump(lab: Lab):
    Cluster.objects.update(source=Source.DUMP, read_only=True)
    WatchState.objects.update(state=State.STATIC, alive_at=None)
    lab.file.write_text("clusters: []", encoding="utf-8")
    cluster = Cluster.objects.get()
    lab.cluster = cluster
    run = lab.execute(lab.start("one", dry_run=True))
    assert run.state == "done"
    assert run.node_name == "n0"


# --- planning ends otherwise --------------------------------------------------


def test_a_claim_that_fits_nowhere(lab: Lab):
    lab.put(build.claim("big", build.request(count=3)))
    run = lab.execute(lab.start("big"))
    assert states(run) == ["queued", "planning", "no fit"]
    assert run.reason
    assert lab.devices("big") == []


def test_a_class_that_does_not_exist_is_named(lab: Lab):
    lab.put(build.claim("odd", build.request(deviceClassName="absent.acme.test")))
    run = lab.execute(lab.start("odd"))
    assert run.state == "failed"
    assert "absent.acme.test" in run.reason


def test_what_the_engine_does_not_know_is_said_and_not_guessed(lab: Lab):
    odd = {"cel": {"expression": "google.protobuf.Int32Value{value: 1} == 1"}}
    lab.put(build.claim("new", build.request(selectors=[odd])))
    run = lab.execute(lab.start("new"))
    assert run.state == "failed"
    assert run.reason.startswith("not supported yet: ")


def test_a_claim_that_was_deleted_before_planning(lab: Lab):
    run = lab.start("one")
    lab.server.store.delete("ResourceClaim", "one", "lab")
    lab.sync()
    run = lab.execute(run)
    assert run.state == "failed"
    assert run.reason == "The claim no longer exists."


def test_a_claim_that_was_made_anew_is_another_claim(lab: Lab):
    run = lab.start("one")
    lab.server.store.delete("ResourceClaim", "one", "lab")
    lab.put(build.claim("one"))
    run = lab.execute(run)
    assert run.state == "failed"
    assert "taken its name" in run.reason


def test_a_claim_that_was_allocated_before_planning(lab: Lab):
    run = lab.start("one")
    lab.give_away("one", "n1", "gpu-1")
    lab.sync()
    run = lab.execute(run)
    assert run.state == "failed"
    assert "allocated already" in run.reason


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"state": "retrying", "error": "no route to host."}, "retrying (no route"),
        ({"state": "stopped"}, "is stopped"),
        ({"listed_at": None}, "has not listed"),
        ({"alive_at": "2026-01-01T00:00:00Z"}, "no sign of life for 15 minutes"),
    ],
)
def test_nothing_is_planned_on_a_mirror_that_is_not_followed(
    lab: Lab, columns: dict[str, Any], words: str
):
    WatchState.objects.filter(kind="ResourceSlice").update(**columns)
    run = lab.execute(lab.start("one"))
    assert run.state == "failed"
    assert words in run.reason
    assert lab.devices("one") == []


def test_taint_rules_have_to_be_followed_where_they_are_served(lab: Lab):
    rules = WatchState.objects.filter(kind="DeviceTaintRule")
    rules.update(state=State.FORBIDDEN, error="devicetaintrules is forbidden")
    run = lab.execute(lab.start("one"))
    assert run.state == "failed"
    assert "The watch of DeviceTaintRule is forbidden" in run.reason
    rules.update(state=State.NOT_SERVED, error="", listed_at=None, alive_at=None)
    assert lab.execute(lab.start("one")).state == "done"


@pytest.mark.django_db(transaction=True)
def test_planning_waits_a_moment_for_the_mirror(lab: Lab, settings: Any):
    settings.RUN_MIRROR_SECONDS = 5
    watches = WatchState.objects.filter(kind="ResourceSlice")
    run = lab.start("one")
    watches.update(state=State.RETRYING)

    def come_back(point: str) -> None:
        if point == "now planning":
            timer = threading.Timer(0.3, go_live)
            timer.start()

    def go_live() -> None:
        watches.update(state=State.LIVE)
        connection.close()

    assert lab.execute(run, come_back).state == "done"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            build.taint_rule("broken", "gpu-0"),
            "has the taint acme.test/broken:NoSchedule",
        ),
        (
            build.allocated("two", build.result("n0", "gpu-0")),
            "is held by claim lab/two.",
        ),
        (
            build.slice_("n0", [build.device("gpu-1")], generation=2),
            "the newest generation of its pool does not have it.",
        ),
        (
            build.device_class(
                expression='device.attributes["gpu.acme.test"].index > 0'
            ),
            "does not pass selector #0 of class gpu.acme.test.",
        ),
    ],
    ids=["tainted", "taken", "gone", "class changed"],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_plan_that_breaks_a_rule_meanwhile_is_not_written(
    lab: Lab, change: Any, words: str, *, dry_run: bool
):
    point_of_change = "planned" if dry_run else "before writing"

    def interfere(point: str) -> None:
        if point == point_of_change:
            lab.put(change)

    run = lab.execute(lab.start("one", dry_run=dry_run), interfere)

    assert states(run) == ["queued", "planning", "failed"]
    assert words in run.reason
    assert run.reason.startswith("Nothing was written")
    assert run.ticket is None
    assert lab.devices("one") == []
    assert lab.execute(lab.start("one", dry_run=dry_run)).state == "done"


def test_a_claim_that_is_allocated_before_the_plan_is_written_is_a_conflict(lab: Lab):
    def lose(point: str) -> None:
        if point == "before writing":
            lab.give_away("one", "n1", "gpu-1")
            lab.sync()

    run = lab.execute(lab.start("one"), lose)

    assert run.state == "conflict"
    assert "allocated by somebody else" in run.reason


# --- others write, too --------------------------------------------------------


def test_a_changed_claim_is_read_anew_and_planned_again(lab: Lab):
    seen: list[str] = []

    def interfere(point: str) -> None:
        if point == "before sending status" and not seen:
            seen.append(point)
            lab.touch("one", "x")
            lab.sync()

    run = lab.execute(lab.start("one"), interfere)

    way = ["queued", "planning", "writing", "planning", "writing", "verifying", "done"]
    assert states(run) == way
    assert run.attempts == 2
    again = run.transitions.all()[3]
    assert again.reason == "The claim was changed while we wrote to it. Planning again."


def test_after_three_conflicts_the_run_ends_as_one(lab: Lab):
    count = 0

    def interfere(point: str) -> None:
        nonlocal count
        if point == "before sending status":
            count += 1
            lab.touch("one", str(count))
            lab.sync()

    run = lab.execute(lab.start("one"), interfere)

    assert run.state == "conflict"
    assert run.attempts == 3
    assert "3 times" in run.reason
    assert lab.devices("one") == []


def test_a_claim_that_somebody_else_allocates_meanwhile_is_a_conflict(lab: Lab):
    def lose(point: str) -> None:
        if point == "before sending status":
            lab.give_away("one", "n1", "gpu-1")

    run = lab.execute(lab.start("one"), lose)

    assert run.state == "conflict"
    assert "allocated by somebody else" in run.reason
    assert lab.devices("one") == ["n1/gpu-1"]


def test_a_cluster_that_left_the_clusters_file_fails_the_run(lab: Lab):
    run = lab.start("one")
    lab.file.write_text("clusters: []", encoding="utf-8")
    run = lab.execute(run)
    assert run.state == "failed"
    assert (
        run.reason
        == "Nothing was written: The cluster lab is not in the clusters file."
    )


def test_a_server_that_is_away_fails_the_run_with_a_sentence(lab: Lab):
    run = lab.start("one")
    lab.server.faults.refuse_connections()
    run = lab.execute(run)
    assert run.state == "failed"
    assert "cannot be reached" in run.reason
    assert "Nothing was allocated" in run.reason


def test_an_unknown_outcome_says_to_look_at_the_claim(lab: Lab):
    """The answer is lost, and the server is gone before anybody can look."""

    def vanish(point: str) -> None:
        if point == "before sending status":
            lab.server.faults.drop_after_write()
            threading.Timer(0.1, lab.server.faults.refuse_connections).start()

    run = lab.execute(lab.start("one"), vanish)
    assert run.state == "failed"
    assert "may or may not have been written" in run.reason
    assert "Look at the claim" in run.reason
    assert run.ticket is not None


def test_a_missing_right_is_named_in_the_end(lab: Lab, tmp_path: Path):
    reader = ApiUser("portal", (Rule(("get", "list", "patch"), ("resourceclaims",)),))
    with StandinServer(
        lab.server.store.objects("ResourceClaim"), users={"t": reader}
    ) as other:
        other.write_kubeconfig(tmp_path / "kubeconfig", token="t")
        run = lab.execute(lab.start("one"))
    assert run.state == "failed"
    assert "patch resourceclaims/status" in run.reason
    last = run.transitions.last()
    assert last is not None
    assert last.details["missing"] == "patch resourceclaims/status"


def test_a_search_that_takes_too_long_gives_up(lab: Lab, settings: Any):
    settings.RUN_PLAN_SECONDS = -1
    run = lab.execute(lab.start("one"))
    assert states(run) == ["queued", "planning", "failed"]
    assert "gave up undecided" in run.reason


def test_a_run_can_be_cancelled_while_it_plans(lab: Lab):
    user = User.objects.create_user("olga")
    run = lab.start("one")

    def cancel(point: str) -> None:
        if point == "planned":
            cancel_run(run=AllocationRun.objects.get(pk=run.pk), user=user)

    run = lab.execute(run, cancel)
    assert states(run) == ["queued", "planning", "cancelled"]
    assert lab.devices("one") == []


# --- verifying ----------------------------------------------------------------


def test_a_watch_that_does_not_bring_it_back_fails_the_run(lab: Lab):
    run = lab.start("one")
    execute_run(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "did not show it within 2 seconds" in run.reason
    assert run.written_resource_version in run.reason


def test_a_device_that_another_claim_holds_as_well_fails_the_run(lab: Lab):
    lab.put(build.claim("two"))

    def book_twice(point: str) -> None:
        if point == "before sending status":
            lab.give_away("two", "n0", "gpu-0")

    run = lab.execute(lab.start("one"), book_twice)

    assert run.state == "failed"
    assert "gpu.acme.test/n0/gpu-0 is booked twice" in run.reason
    assert "lab/two" in run.reason


def test_an_allocation_that_is_replaced_right_away_fails_the_run(lab: Lab):
    def replace(point: str) -> None:
        if point == "sent":
            lab.give_away("one", "n1", "gpu-1")

    run = lab.execute(lab.start("one"), replace)
    assert run.state == "failed"
    assert "holds another one" in run.reason


def test_a_claim_that_is_deleted_right_after_fails_the_run(lab: Lab):
    def delete(point: str) -> None:
        if point == "sent":
            lab.server.store.delete("ResourceClaim", "one", "lab")

    run = lab.execute(lab.start("one"), delete)
    assert run.state == "failed"
    assert "claim was deleted" in run.reason
