"""A run from the queue to its end, against a stand-in API server."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection

from allocator.services import execute_run, freshness
from allocator.services.checking import objections
from claims.models import ResourceClaim
from cluster.store import State
from cluster.writeback import FINALIZER
from dra.objects import AllocationResult, read
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
    assert run.reason.startswith("not supported: ")


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
    lab: Lab, settings: Any, columns: dict[str, Any], words: str
):
    settings.RUN_WATCH_SECONDS = 0
    WatchState.objects.filter(kind="ResourceSlice").update(**columns)
    run = lab.execute(lab.start("one"))
    assert run.state == "failed"
    assert words in run.reason
    assert lab.devices("one") == []


def test_taint_rules_have_to_be_followed_where_they_are_served(lab: Lab, settings: Any):
    settings.RUN_WATCH_SECONDS = 0
    rules = WatchState.objects.filter(kind="DeviceTaintRule")
    rules.update(state=State.FORBIDDEN, error="devicetaintrules is forbidden")
    run = lab.execute(lab.start("one"))
    assert run.state == "failed"
    assert "The watch of DeviceTaintRule is forbidden" in run.reason
    rules.update(state=State.NOT_SERVED, error="", listed_at=None, alive_at=None)
    assert lab.execute(lab.start("one")).state == "done"


@pytest.mark.django_db(transaction=True)
def test_planning_waits_a_moment_for_the_mirror(
    lab: Lab, settings: Any, monkeypatch: pytest.MonkeyPatch
):
    # However late the other thread has its turn, the moment is not over yet.
    settings.RUN_WATCH_SECONDS = 120
    monkeypatch.setattr(freshness, "_HOLD", 120.0)
    watches = WatchState.objects.filter(kind="ResourceSlice")
    run = lab.start("one")
    watches.update(state=State.RETRYING)

    def go_live() -> None:
        watches.update(state=State.LIVE)
        connection.close()

    timer = threading.Timer(0.3, go_live)

    def come_back(point: str) -> None:
        if point == "now planning":
            timer.start()

    assert lab.execute(run, come_back).state == "done"
    timer.join()


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
def test_what_is_wrong_with_a_plan_now_is_said(lab: Lab, change: Any, words: str):
    run = lab.execute(lab.start("one", dry_run=True))
    plan = read(run.plan, AllocationResult)
    assert objections(run, plan, "n0") == ""
    lab.put(change)
    assert words in objections(run, plan, "n0")


@pytest.mark.parametrize(
    "change",
    [
        build.taint_rule("broken", "gpu-0"),
        build.allocated("two", build.result("n0", "gpu-0")),
        build.slice_("n0", [build.device("gpu-1")], generation=2),
        build.device_class(expression='device.attributes["gpu.acme.test"].index > 0'),
    ],
    ids=["tainted", "taken", "gone", "class changed"],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_plan_that_the_cluster_has_overtaken_is_made_anew(
    lab: Lab, change: Any, *, dry_run: bool
):
    point_of_change = "planned" if dry_run else "before writing"

    def interfere(point: str) -> None:
        if point == point_of_change:
            lab.put(change)

    run = lab.execute(lab.start("one", dry_run=dry_run), interfere)

    assert run.state == "done"
    assert run.plan is not None
    assert run.plan["devices"]["results"][0]["device"] == "gpu-1"
    assert lab.devices("one") == ([] if dry_run else ["n0/gpu-1"])


def test_a_claim_that_is_allocated_before_the_plan_is_written_is_a_conflict(lab: Lab):
    def lose(point: str) -> None:
        if point == "before writing":
            lab.give_away("one", "n1", "gpu-1")
            lab.sync()

    run = lab.execute(lab.start("one"), lose)

    assert run.state == "conflict"
    assert "allocated by somebody else" in run.reason
