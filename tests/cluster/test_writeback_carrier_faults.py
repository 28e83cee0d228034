"""The carrier writer with a fault at each of its requests, and killed at each step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from cluster.writeback import Changed, Order, Outcome, Refused, Unknown, Written
from cluster.writeback.carrier import CarrierWriter
from cluster.writeback.leftovers import Leftover, leftovers, sweep
from cluster.writeback.tags import Role
from tests.cluster.guarded_world import QUICK, GuardedWorld, allocation, options
from tests.cluster.standin import scheduled as small
from tests.cluster.writeback_faults import (
    FAULTS,
    REFUSALS,
    Death,
    DiedError,
    positions,
    requests_of,
)

CHANGES = 3
"""Carrier, pin, the end of the carrier."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path_factory.mktemp("world"), devices=2) as world:
        world.server.faults.retry_after = 0
        yield world


@pytest.fixture(autouse=True)
def _nothing_is_planned(world: GuardedWorld) -> Iterator[None]:
    yield
    world.server.faults.clear()


def write(world: GuardedWorld, order: Order, **changes) -> Outcome:
    return CarrierWriter(world.client, options(**changes), patience=QUICK).write(order)


def begin(world: GuardedWorld) -> Order:
    """A free claim in a cluster where nothing else is."""
    for found in world.store.objects("Pod"):
        world.store.delete("Pod", found["metadata"]["name"], "lab")
    for found in world.store.objects("ResourceClaim"):
        world.store.delete("ResourceClaim", found["metadata"]["name"], "lab")
    world.add()
    return world.order()


def allocated_and_kept(world: GuardedWorld) -> bool:
    return (
        world.devices() == ["n1/gpu-0"]
        and world.reserved() == ["allocationpins"]
        and world.nothing_left()
    )


def is_free(world: GuardedWorld) -> bool:
    return world.devices() == [] and world.nothing_left()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_request_changes_nothing_in_the_end(
    world: GuardedWorld, fault: str
):
    first = begin(world)
    count = requests_of(world.server, lambda: write(world, first))
    assert allocated_and_kept(world)
    for position in positions(count):
        order = begin(world)
        world.server.faults.plan(FAULTS[fault], position=position)
        outcome = write(world, order)
        assert isinstance(outcome, Written), f"request {position}: {outcome}"
        small.eventually(lambda: allocated_and_kept(world), f"request {position}")
        if FAULTS[fault].after:
            # What was done and not heard of is looked for, never done again.
            assert len(outcome.requests) == CHANGES, f"request {position}"
        world.server.faults.clear()


@pytest.mark.parametrize("fault", ["refused with 500", "done and connection lost"])
def test_a_fault_while_steering_changes_nothing_in_the_end(
    world: GuardedWorld, fault: str
):
    steered = {"exact_devices": True, "taint_rules": "safe"}
    first = replace(begin(world), allocation=allocation("gpu-1"))
    count = requests_of(world.server, lambda: write(world, first, **steered))
    for position in positions(count):
        order = replace(begin(world), allocation=allocation("gpu-1"))
        world.server.faults.plan(FAULTS[fault], position=position)
        outcome = write(world, order, **steered)
        assert isinstance(outcome, Written), f"request {position}: {outcome}"
        assert outcome.note == "", f"request {position}"
        assert world.devices() == ["n1/gpu-1"]
        small.eventually(world.nothing_left, f"request {position}")
        world.server.faults.clear()


@pytest.mark.parametrize("fault", ["refused with 500", "done and connection lost"])
def test_a_fault_while_giving_back_leaves_nothing(world: GuardedWorld, fault: str):
    first = replace(begin(world), allocation=allocation("gpu-1"))
    count = requests_of(world.server, lambda: write(world, first))
    for position in positions(count):
        order = replace(begin(world), allocation=allocation("gpu-1"))
        world.server.faults.plan(FAULTS[fault], position=position)
        outcome = write(world, order)
        assert isinstance(outcome, Refused | Changed), f"request {position}: {outcome}"
        small.eventually(
            lambda: world.devices() == [] and world.nothing_left(),
            f"request {position}",
        )
        world.server.faults.clear()


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_of_any_request_ends_in_good_order(world: GuardedWorld, refusal: str):
    first = begin(world)
    count = requests_of(world.server, lambda: write(world, first))
    for position in positions(count):
        order = begin(world)
        world.server.faults.plan(REFUSALS[refusal], position=position)
        outcome = write(world, order, clean=0.5)
        world.server.faults.clear()
        # One answer was wrong, so the pod that it hid may need another look.
        sweep(world.client, leftovers(world.client), ended=_is_no_pin)
        small.eventually(world.nothing_left, f"request {position}")
        small.eventually(partial(fits, world, outcome), f"request {position}")


def fits(world: GuardedWorld, outcome: Outcome) -> bool:
    """Whether the cluster is as the outcome says."""
    kept, free = allocated_and_kept(world), is_free(world)
    if isinstance(outcome, Unknown):
        return kept or free
    return kept if isinstance(outcome, Written) else free


def _is_no_pin(leftover: Leftover) -> bool:
    return leftover.role is not Role.PIN


@pytest.mark.parametrize("at", range(1, CHANGES + 1))
def test_who_is_killed_before_any_change_is_resumed_to_the_same_end(
    world: GuardedWorld, at: int
):
    order = begin(world)
    writer = CarrierWriter(world.client, options(), patience=QUICK)
    with pytest.raises(DiedError):
        writer.write(order, before=Death(at))
    outcome = write(world, replace(order, resumed=True))
    assert isinstance(outcome, Written)
    small.eventually(lambda: allocated_and_kept(world))


def test_who_is_killed_after_the_last_change_finds_its_pin(world: GuardedWorld):
    order = begin(world)
    write(world, order)
    outcome = write(world, replace(order, resumed=True))
    assert isinstance(outcome, Written)
    assert outcome.requests == ()


def test_the_carrier_of_an_earlier_plan_gives_way_to_a_new_one(world: GuardedWorld):
    order = begin(world)
    writer = CarrierWriter(world.client, options(), patience=QUICK)
    earlier = replace(order, allocation=allocation("gpu-1"))
    pod: Any = writer.preview(earlier, world.claim())[0].body
    pod["spec"]["schedulingGates"] = [{"name": "so-that-nothing-happens"}]
    world.store.put(pod)

    outcome = write(world, replace(order, resumed=True))

    assert isinstance(outcome, Written)
    small.eventually(lambda: allocated_and_kept(world))
