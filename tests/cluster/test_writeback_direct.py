"""The direct writer against a stand-in API server, over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.writeback import (
    FINALIZER,
    Changed,
    Refusal,
    Refused,
    Request,
    Step,
    Written,
    holds,
)
from tests.cluster.writeback_world import (
    World,
    allocation,
    claim,
    outcome_allocation,
    server,
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with server() as running:
        world = World(running, tmp_path)
        yield world
        world.client.close()


# --- what is written ----------------------------------------------------------


def test_it_writes_the_finalizer_and_then_the_allocation(world: World):
    order = world.order()
    outcome = world.writer.write(order)

    assert isinstance(outcome, Written)
    stored = world.claim()
    assert stored["metadata"]["finalizers"] == [FINALIZER]
    assert holds(stored, order.allocation)
    assert outcome.resource_version == stored["metadata"]["resourceVersion"]
    assert [r.subresource for r in outcome.requests] == ["", "status"]
    assert outcome.exact


def test_everything_that_a_scheduler_writes_is_there(world: World):
    world.writer.write(world.order())

    stored = world.claim()["status"]["allocation"]
    assert stored["devices"]["results"] == [
        {"request": "gpu", "driver": "gpu.acme.test", "pool": "n1", "device": "gpu-0"}
    ]
    assert stored["devices"]["config"][0]["source"] == "FromClass"
    assert stored["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0][
        "values"
    ] == ["n1"]
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", stored["allocationTimestamp"]
    )


def test_reservations_and_foreign_finalizers_stay(world: World):
    before = world.claim()
    before["metadata"]["finalizers"] = ["acme.test/keep"]
    before["metadata"]["labels"] = {"team": "a"}
    before["status"] = {
        "reservedFor": [{"resource": "pods", "name": "p", "uid": "uid-p"}]
    }
    world.server.store.put(before)

    assert isinstance(world.writer.write(world.order()), Written)

    stored = world.claim()
    assert stored["metadata"]["finalizers"] == ["acme.test/keep", FINALIZER]
    assert stored["metadata"]["labels"] == {"team": "a"}
    assert stored["status"]["reservedFor"][0]["uid"] == "uid-p"


def test_a_finalizer_that_is_there_is_not_written_again(world: World):
    before = world.claim()
    before["metadata"]["finalizers"] = [FINALIZER]
    world.server.store.put(before)

    outcome = world.writer.write(world.order())

    assert isinstance(outcome, Written)
    assert [r.subresource for r in outcome.requests] == ["status"]


def test_the_status_request_names_the_version_and_the_uid(world: World):
    outcome = world.writer.write(world.order())

    assert isinstance(outcome, Written)
    first, second = (r.as_json() for r in outcome.requests)
    assert first["request"] == (
        "PATCH /apis/resource.k8s.io/v1/namespaces/lab/resourceclaims/one"
    )
    assert second["request"] == first["request"] + "/status"
    assert set(second["body"]["metadata"]) == {"resourceVersion", "uid"}
    assert set(second["body"]["status"]) == {"allocation"}


def test_null_inside_a_drivers_parameters_survives(world: World):
    wanted = allocation(parameters={"partition": None, "deep": [{"a": None}]})
    outcome = world.writer.write(world.order(wanted))

    assert isinstance(outcome, Written)
    config = world.claim()["status"]["allocation"]["devices"]["config"]
    assert config[0]["opaque"]["parameters"] == {
        "partition": None,
        "deep": [{"a": None}],
    }


def test_the_preview_is_what_is_then_sent(world: World):
    order = world.order()
    foreseen = world.writer.preview(order, world.claim())
    outcome = world.writer.write(order)

    assert isinstance(outcome, Written)
    first, second = (r.as_json() for r in foreseen)
    sent_first, sent_second = (r.as_json() for r in outcome.requests)
    assert first == sent_first
    assert second["request"] == sent_second["request"]
    assert second["body"]["status"] == sent_second["body"]["status"]


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
def test_it_writes_to_an_older_server(tmp_path: Path, version: str):
    with server(served={"resource.k8s.io": (version,)}) as running:
        world = World(running, tmp_path)
        outcome = world.writer.write(world.order())

        assert isinstance(outcome, Written)
        assert version in outcome.requests[0].path
        assert holds(world.claim(), world.order(outcome_allocation(outcome)).allocation)
        world.client.close()


# --- again --------------------------------------------------------------------


def test_a_second_call_with_the_same_order_sends_nothing(world: World):
    order = world.order()
    world.writer.write(order)
    version = world.claim()["metadata"]["resourceVersion"]

    again = world.writer.write(order)

    assert isinstance(again, Written)
    assert again.requests == ()
    assert world.claim()["metadata"]["resourceVersion"] == version


def test_after_a_crash_between_the_two_writes_the_rest_is_done(world: World):
    def die(step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            raise KeyboardInterrupt

    order = world.order()
    with pytest.raises(KeyboardInterrupt):
        world.writer.write(order, before=die)
    assert world.claim()["metadata"]["finalizers"] == [FINALIZER]

    outcome = world.writer.write(order)

    assert isinstance(outcome, Written)
    assert [r.subresource for r in outcome.requests] == ["status"]


# --- others -------------------------------------------------------------------


@pytest.mark.parametrize("step", [Step.FINALIZER, Step.STATUS])
def test_a_change_between_read_and_write_is_a_reason_to_plan_again(
    world: World, step: Step
):
    def interfere(at: Step, _request: Request) -> None:
        if at is step:
            world.label()

    outcome = world.writer.write(world.order(), before=interfere)

    assert isinstance(outcome, Changed)
    stored = world.claim()
    assert outcome.resource_version == stored["metadata"]["resourceVersion"]
    assert "allocation" not in stored.get("status", {})


def test_an_allocation_by_somebody_else_is_left_alone(world: World):
    world.allocate_elsewhere()
    before = world.claim()

    outcome = world.writer.write(world.order())

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.ALLOCATED
    assert world.claim() == before
    assert outcome.claim is not None


def test_losing_the_race_for_the_claim_is_told_as_such(world: World):
    def lose(step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            world.allocate_elsewhere()

    outcome = world.writer.write(world.order(), before=lose)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.ALLOCATED
    stored = world.claim()["status"]["allocation"]["devices"]["results"]
    assert stored[0]["device"] == "gpu-7"


def test_a_claim_that_is_gone(world: World):
    order = world.order()
    world.server.store.delete("ResourceClaim", "one", "lab")
    outcome = world.writer.write(order)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.GONE


def test_another_claim_of_the_same_name_is_not_touched(world: World):
    order = world.order()
    world.server.store.delete("ResourceClaim", "one", "lab")
    world.server.store.put(claim())

    outcome = world.writer.write(order)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.GONE
    assert "finalizers" not in world.claim()["metadata"]


@pytest.mark.parametrize("step", [Step.FINALIZER, Step.STATUS])
def test_a_claim_that_is_made_anew_during_the_write_is_not_touched(
    world: World, step: Step
):
    def replace(at: Step, _request: Request) -> None:
        if at is step:
            world.server.store.delete("ResourceClaim", "one", "lab")
            world.server.store.put(claim())

    outcome = world.writer.write(world.order(), before=replace)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.GONE
    assert "allocation" not in world.claim().get("status", {})


def test_a_claim_that_is_being_deleted(world: World):
    before = world.claim()
    before["metadata"]["finalizers"] = ["acme.test/slow"]
    world.server.store.put(before)
    served = world.client.discover()["ResourceClaim"]
    order = world.order()
    world.client.delete(served, "lab", "one")

    outcome = world.writer.write(order)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.DELETING
    assert "allocation" not in world.claim().get("status", {})
