"""Taking allocations back, over HTTP, beside a scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster.standin.access import Rule, User
from cluster.standin.faults import Fault
from cluster.writeback import (
    Refusal,
    Refused,
    Release,
    Released,
    ReleaseOutcome,
    Request,
    Step,
    Unknown,
)
from cluster.writeback.carrier import CarrierWriter
from cluster.writeback.releasing import Releaser
from tests.cluster.guarded_world import QUICK, GuardedWorld, options
from tests.cluster.standin import scheduled as small
from tests.cluster.writeback_faults import (
    FAULTS,
    Death,
    DiedError,
    positions,
    requests_of,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path_factory.mktemp("world")) as world:
        world.server.faults.retry_after = 0
        yield world


@pytest.fixture
def world(shared: GuardedWorld) -> Iterator[GuardedWorld]:
    """An empty cluster without faults."""
    yield shared
    shared.server.faults.clear()
    for kind in ("Pod", "ResourceClaim"):
        for found in shared.store.objects(kind):
            name = found["metadata"]["name"]
            if shared.store.get(kind, name, "lab"):
                shared.store.delete(kind, name, "lab")


def allocate(world: GuardedWorld, name: str = "one") -> Release:
    """A claim that the portal has allocated and pinned."""
    world.add(name)
    order = world.order(name)
    CarrierWriter(world.client, options(), patience=QUICK).write(order)
    assert world.devices(name)
    return Release("lab", name, order.uid, "run-2")


def releaser(world: GuardedWorld) -> Releaser:
    return Releaser(world.client, options(), patience=QUICK)


def release(world: GuardedWorld, order: Release) -> ReleaseOutcome:
    return releaser(world).release(order)


def is_free(world: GuardedWorld) -> bool:
    claim = world.claim()
    return claim["status"] == {} and "finalizers" not in claim["metadata"]


def test_allocation_pin_and_finalizer_go_in_this_order(world: GuardedWorld):
    order = allocate(world)
    steps: list[Step] = []
    outcome = releaser(world).release(order, before=lambda step, _r: steps.append(step))

    assert isinstance(outcome, Released)
    assert steps == [Step.RELEASE, Step.FINALIZER_OFF]
    assert is_free(world)


def test_the_preview_is_what_is_then_sent(world: GuardedWorld):
    order = allocate(world)
    foreseen = releaser(world).preview(order, world.claim())
    outcome = release(world, order)
    assert isinstance(outcome, Released)
    assert [r.path for r in foreseen] == [r.path for r in outcome.requests]
    assert foreseen[0].body == outcome.requests[0].body


def test_the_scheduler_gives_the_device_to_the_next(world: GuardedWorld):
    order = allocate(world)
    world.add("next")
    world.store.put(small.pod("p", "next"))
    small.eventually(lambda: small.scheduled(world.store, "p") == "False")
    release(world, order)
    small.eventually(lambda: world.devices("next") == ["n1/gpu-0"])
    assert small.booked_twice(world.store) == []


def test_a_claim_that_pods_have_reserved_is_left_alone(world: GuardedWorld):
    order = allocate(world)
    world.store.put(small.pod("user", "one"))
    small.eventually(lambda: small.scheduled(world.store, "user") == "True")

    outcome = release(world, order)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.IN_USE
    assert "reserved by the pod user" in outcome.reason
    assert world.devices() == ["n1/gpu-0"]
    assert sorted(world.reserved()) == ["allocationpins", "pods"]


def test_an_override_takes_it_all_the_same(world: GuardedWorld):
    order = allocate(world)
    world.store.put(small.pod("user", "one"))
    small.eventually(lambda: small.scheduled(world.store, "user") == "True")
    outcome = release(world, replace(order, override=True))
    assert isinstance(outcome, Released)
    assert world.devices() == []


def test_the_pin_of_another_portal_counts_as_use(world: GuardedWorld):
    order = allocate(world)
    other = Releaser(world.client, replace(options(), owner="south"), patience=QUICK)
    outcome = other.release(order)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.IN_USE
    assert "reserved by the pin of another portal." in outcome.reason


def test_one_of_two_holders_is_not_released(world: GuardedWorld):
    order = allocate(world)
    world.add("theirs")
    other = world.claim("theirs")
    other["status"] = {"allocation": world.claim()["status"]["allocation"]}
    world.store.put(other)

    outcome = release(world, order)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.BOOKED_TWICE
    assert "held by the claim lab/theirs as well" in outcome.reason
    assert world.devices() == ["n1/gpu-0"]


def test_a_pod_that_reserves_the_claim_meanwhile_wins(world: GuardedWorld):
    order = allocate(world)

    def reserve(step: Step, _request: Request) -> None:
        claim = world.claim()
        if step is Step.RELEASE and len(claim["status"]["reservedFor"]) == 1:
            user = {"resource": "pods", "name": "user", "uid": "uid-user"}
            world.store.put(small.pod("user"))
            claim["status"]["reservedFor"].append(
                user | {"uid": _uid(world.store.get("Pod", "user", "lab"))}
            )
            world.store.put(claim)

    outcome = releaser(world).release(order, before=reserve)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.IN_USE
    assert world.devices() == ["n1/gpu-0"]


def _uid(found: Any) -> str:
    return str(found["metadata"]["uid"])


def test_a_free_claim_and_one_that_is_gone_are_released(world: GuardedWorld):
    world.add()
    order = Release("lab", "one", _uid(world.claim()))
    outcome = release(world, order)
    assert isinstance(outcome, Released)
    assert outcome.requests == ()
    world.store.delete("ResourceClaim", "one", "lab")
    outcome = release(world, order)
    assert isinstance(outcome, Released)
    assert outcome.claim is None
    world.add()
    outcome = release(world, order)
    assert isinstance(outcome, Released)
    assert outcome.claim is None


def test_a_claim_that_is_being_deleted_goes_when_it_is_released(world: GuardedWorld):
    order = allocate(world)
    served = world.client.discover()["ResourceClaim"]
    world.client.delete(served, "lab", "one")
    assert isinstance(release(world, order), Released)
    assert world.store.get("ResourceClaim", "one", "lab") is None


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_request_changes_nothing_in_the_end(
    world: GuardedWorld, fault: str
):
    first = allocate(world)
    count = requests_of(world.server, lambda: release(world, first))
    for position in positions(count):
        world.store.delete("ResourceClaim", "one", "lab")
        order = allocate(world)
        world.server.faults.plan(FAULTS[fault], position=position)
        outcome = release(world, order)
        assert isinstance(outcome, Released), f"request {position}: {outcome}"
        assert is_free(world), f"request {position}"
        world.server.faults.clear()


@pytest.mark.parametrize("at", [1, 2])
def test_who_is_killed_before_any_change_is_resumed_to_the_same_end(
    world: GuardedWorld, at: int
):
    order = allocate(world)
    with pytest.raises(DiedError):
        releaser(world).release(order, before=Death(at))
    assert isinstance(release(world, replace(order, resumed=True)), Released)
    assert is_free(world)


def test_a_server_that_is_not_there(world: GuardedWorld):
    order = allocate(world)
    world.server.faults.refuse_connections()
    outcome = release(world, order)
    assert isinstance(outcome, Refused)
    assert "Nothing was changed" in outcome.reason
    assert isinstance(release(world, replace(order, resumed=True)), Unknown)


READ = Rule(("get", "list"), ("resourceclaims",))


@pytest.mark.parametrize("right", ["resourceclaims/status", "resourceclaims/binding"])
def test_each_missing_right_is_named(tmp_path: Path, right: str):
    needed = ("resourceclaims", "resourceclaims/status", "resourceclaims/binding")
    given = tuple(Rule(("patch",), (one,)) for one in needed if one != right)
    users = {"t": User("portal", (READ, *given))}
    with GuardedWorld(tmp_path, users=users, token="t") as world:
        outcome = release(world, _held(world))
        assert isinstance(outcome, Refused)
        assert outcome.refusal is Refusal.FORBIDDEN
        assert right in outcome.missing
        assert world.devices() == ["n1/gpu-0"]


def test_without_the_right_to_the_finalizer_the_claim_is_free_and_a_note_says_so(
    tmp_path: Path,
):
    given = Rule(("patch",), ("resourceclaims/status", "resourceclaims/binding"))
    users = {"t": User("portal", (READ, given))}
    with GuardedWorld(tmp_path, users=users, token="t") as world:
        outcome = release(world, _held(world))
        assert isinstance(outcome, Released)
        assert "The finalizer stays" in outcome.note
        assert world.devices() == []


def _held(world: GuardedWorld) -> Release:
    claim = small.claim("one")
    claim["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]
    result = {"request": "gpu", "driver": small.DRIVER, "pool": "n1", "device": "gpu-0"}
    claim["status"] = {"allocation": {"devices": {"results": [result]}}}
    world.store.put(claim)
    return Release("lab", "one", _uid(world.claim()))


@pytest.mark.parametrize("fault", [Fault(422), Fault(404), Fault(403)])
def test_a_finalizer_that_cannot_be_taken_away_is_a_note_and_no_failure(
    world: GuardedWorld, fault: Fault
):
    order = allocate(world)

    def refuse(step: Step, _request: Request) -> None:
        if step is Step.FINALIZER_OFF:
            world.server.faults.plan(fault)

    outcome = releaser(world).release(order, before=refuse)
    assert isinstance(outcome, Released), outcome
    assert outcome.note.startswith("The finalizer stays: ") is (fault.status != 404)
    assert world.devices() == []


def test_a_server_that_goes_away_after_the_allocation_has_gone_is_no_doubt(
    world: GuardedWorld,
):
    order = allocate(world)

    def stop(step: Step, _request: Request) -> None:
        if step is Step.FINALIZER_OFF:
            world.server.faults.drop(times=50)

    outcome = releaser(world).release(order, before=stop)
    assert isinstance(outcome, Released), outcome
    assert outcome.note.startswith("The finalizer stays: ")
    assert world.devices() == []


def test_a_preview_asks_nobody(world: GuardedWorld):
    order = allocate(world)
    claim = world.claim()
    foreseeing = releaser(world)
    assert requests_of(world.server, lambda: foreseeing.preview(order, claim)) == 0
