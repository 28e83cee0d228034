"""The carrier writer beside a scheduler, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster.standin.caching import Habits
from cluster.writeback import (
    Changed,
    Refusal,
    Refused,
    Request,
    Step,
    Written,
    holds,
)
from tests.cluster.carried_writes import write, writer
from tests.cluster.guarded_world import REFUSED, GuardedWorld
from tests.cluster.standin import scheduled as small


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path) as world:
        yield world


@pytest.fixture
def wide(tmp_path: Path) -> Iterator[GuardedWorld]:
    """One node with four devices."""
    with GuardedWorld(tmp_path, devices=4) as world:
        yield world


# --- what is written ----------------------------------------------------------


def test_the_scheduler_allocates_and_the_pin_keeps_it(world: GuardedWorld):
    world.add()
    outcome = write(world, world.order())

    assert isinstance(outcome, Written)
    assert world.devices() == ["n1/gpu-0"]
    assert world.reserved() == ["allocationpins"]
    assert world.nothing_left()
    assert [r.method for r in outcome.requests] == ["POST", "PATCH", "DELETE"]
    assert outcome.allocation is not None
    assert holds(world.claim(), outcome.allocation)
    assert outcome.also_held_by == ()


def test_the_carrier_is_minimal_and_says_whose_it_is(world: GuardedWorld):
    seen: list[Any] = []

    def look(step: Step, request: Request) -> None:
        if step is Step.CARRIER:
            seen.append(request.body)

    world.add()
    tolerations = ({"key": "gpu", "operator": "Exists"},)
    order = replace(
        world.order(), tolerations=tolerations, created_by="ann", run="run 7 of ann"
    )
    outcome = writer(world).write(order, before=look)

    assert isinstance(outcome, Written)
    (pod,) = seen
    labels, spec = pod["metadata"]["labels"], pod["spec"]
    assert labels["app.kubernetes.io/managed-by"] == "dra-portal"
    assert labels["dra-portal.io/owner"] == "dra-portal"
    assert labels["dra-portal.io/role"] == "carrier"
    assert labels["dra-portal.io/expires"].isdigit()
    assert len(labels["dra-portal.io/run"]) == 32, "no label value, so a digest"
    assert pod["metadata"]["annotations"]["dra-portal.io/created-by"] == "ann"
    assert pod["metadata"]["annotations"]["dra-portal.io/claim"] == "lab/one"
    assert "nodeName" not in spec
    assert spec["tolerations"] == [{"key": "gpu", "operator": "Exists"}]
    assert spec["terminationGracePeriodSeconds"] == 0
    (container,) = spec["containers"]
    assert "resources" not in container


@pytest.mark.parametrize(
    ("asked", "made"), [("batch", "batch"), ("", "first"), ("unheard-of", "first")]
)
def test_a_carrier_goes_to_the_scheduler_of_the_pod_that_waits(
    world: GuardedWorld, asked: str, made: str
):
    """Where several share a cluster, the others may not know of that pod's nodes."""
    world.add()
    order = replace(world.order(), scheduler=asked)
    names = ("first", "batch")
    create, *_ = writer(world, names=names).preview(order, world.claim())
    assert isinstance(create.body, dict)
    assert create.body["spec"]["schedulerName"] == made


def test_the_pin_names_owner_and_run(world: GuardedWorld):
    world.add()
    write(world, world.order())
    (pin,) = world.claim()["status"]["reservedFor"]
    assert pin["apiGroup"] == "dra-portal.io"
    assert pin["name"] == "dra-portal.run-1.released"


def test_the_preview_is_what_is_then_sent(world: GuardedWorld):
    world.add()
    order = world.order()
    foreseen = writer(world).preview(order, world.claim())
    outcome = write(world, order)
    assert isinstance(outcome, Written)
    assert [(r.method, r.path) for r in foreseen] == [
        (r.method, r.path) for r in outcome.requests
    ]
    first: Any = foreseen[1].body
    second: Any = outcome.requests[1].body
    assert first["status"] == second["status"]
    assert set(first["metadata"]) == set(second["metadata"])


def test_a_pod_can_use_the_claim_afterwards_and_its_end_takes_nothing(
    world: GuardedWorld,
):
    world.add()
    write(world, world.order())
    world.store.put(small.pod("user", "one"))
    small.eventually(lambda: small.scheduled(world.store, "user") == "True")
    world.store.delete("Pod", "user", "lab")
    small.eventually(lambda: world.reserved() == ["allocationpins"])
    assert world.devices() == ["n1/gpu-0"]


def test_it_works_with_bindings_of_carriers_refused_by_a_policy(tmp_path: Path):
    with GuardedWorld(tmp_path, habits=REFUSED) as world:
        world.add()
        outcome = write(world, world.order())
        assert isinstance(outcome, Written)
        assert world.reserved() == ["allocationpins"]
        assert world.nothing_left()


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
def test_it_works_on_an_older_server(tmp_path: Path, version: str):
    with GuardedWorld(tmp_path, served={"resource.k8s.io": (version,)}) as world:
        world.add()
        assert isinstance(write(world, world.order()), Written)
        assert world.reserved() == ["allocationpins"]


# --- the scheduler has its own mind -------------------------------------------


def test_other_devices_than_planned_are_given_back(wide: GuardedWorld):
    wide.add()
    outcome = write(wide, wide.order("one", "gpu-2"))

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.OTHER_DEVICES
    assert "chose gpu.acme.test/n1/gpu-0 instead of gpu.acme.test/n1/gpu-2" in (
        outcome.reason
    )
    assert wide.devices() == []
    assert wide.nothing_left()


def test_other_devices_are_given_back_with_bindings_refused(tmp_path: Path):
    with GuardedWorld(tmp_path, devices=2, habits=REFUSED) as world:
        world.add()
        outcome = write(world, world.order("one", "gpu-1"))
        assert isinstance(outcome, Refused)
        small.eventually(lambda: world.devices() == [])
        assert world.nothing_left()


def test_other_devices_will_do_where_the_options_say_so(wide: GuardedWorld):
    wide.add()
    outcome = write(wide, wide.order("one", "gpu-2"), accept_other_devices=True)

    assert isinstance(outcome, Written)
    assert wide.devices() == ["n1/gpu-0"]
    assert outcome.allocation is not None
    assert [r.device for r in outcome.allocation.devices.results or ()] == ["gpu-0"]


@pytest.mark.parametrize("asked", [True, False])
def test_the_order_decides_whether_other_devices_will_do(
    wide: GuardedWorld, asked: bool
):
    wide.add()
    order = wide.order("one", "gpu-2", accept_other_devices=asked)
    outcome = write(wide, order, accept_other_devices=not asked)
    assert isinstance(outcome, Written if asked else Refused)


def test_with_rules_it_gets_exactly_the_planned_device(wide: GuardedWorld):
    wide.add()
    outcome = write(
        wide, wide.order("one", "gpu-2"), exact_devices=True, taint_rules="safe"
    )

    assert isinstance(outcome, Written)
    assert wide.devices() == ["n1/gpu-2"]
    assert wide.nothing_left()


def test_rules_are_not_made_for_a_scheduler_that_may_not_bear_them(
    wide: GuardedWorld,
):
    wide.add()
    for version in ("", "1.36.2"):
        outcome = write(
            wide, wide.order("one", "gpu-2"), exact_devices=True, version=version
        )
        assert isinstance(outcome, Refused)
        assert outcome.refusal is Refusal.UNGUARDED
    assert wide.nothing_left()


def test_a_device_that_is_gone_means_plan_again(world: GuardedWorld):
    world.add("first")
    world.store.put(small.pod("p", "first"))
    small.eventually(lambda: world.devices("first"))
    world.add()

    outcome = write(world, world.order())

    assert isinstance(outcome, Changed)
    assert "The scheduler did not allocate the claim: 0/1 nodes" in outcome.reason
    assert ".." not in outcome.reason
    assert "p" in world.pods()
    assert len(world.pods()) == 1


def test_a_scheduler_that_does_nothing_is_waited_for_and_then_left(tmp_path: Path):
    with GuardedWorld(tmp_path, habits=Habits(name="another")) as world:
        world.add()
        beats: list[int] = []
        outcome = writer(world, wait=0.3).write(
            world.order(), beat=lambda: beats.append(1)
        )
        assert isinstance(outcome, Changed)
        assert "within 0 seconds" in outcome.reason
        assert world.nothing_left()
