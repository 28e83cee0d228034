"""The guarded writer with a fault at each of its requests, and killed at each step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from cluster.writeback import Changed, Order, Outcome, Refused, Written, holds
from cluster.writeback.guarded import GuardedWriter
from cluster.writeback.leftovers import leftovers, sweep
from tests.cluster.guarded_world import QUICK, GuardedWorld, options
from tests.cluster.standin import scheduled as small
from tests.cluster.writeback_faults import (
    FAULTS,
    REFUSALS,
    Death,
    DiedError,
    positions,
    requests_of,
)

GUARDS = {"rule": {"by": "rule", "taint_rules": "safe"}, "taint": {"by": "node-taint"}}
CHANGES = 6
"""Finalizer, guard, barrier, its end, allocation, the end of the guard."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path_factory.mktemp("world")) as world:
        world.server.faults.retry_after = 0
        yield world


@pytest.fixture(autouse=True)
def _nothing_is_planned(world: GuardedWorld) -> Iterator[None]:
    yield
    world.server.faults.clear()


def writer(world: GuardedWorld, guard: str) -> GuardedWriter:
    told: dict[str, Any] = GUARDS[guard]
    return GuardedWriter(world.client, options(**told), patience=QUICK)


def write(world: GuardedWorld, order: Order, guard: str) -> Outcome:
    return writer(world, guard).write(order)


def begin(world: GuardedWorld) -> Order:
    """A free claim in a cluster where nothing else is."""
    for found in world.store.objects("ResourceClaim"):
        world.store.delete("ResourceClaim", found["metadata"]["name"], "lab")
    assert world.nothing_left()
    world.add()
    return world.order()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_request_changes_nothing_in_the_end(
    world: GuardedWorld, fault: str
):
    guard = "rule" if FAULTS[fault].after else "taint"
    first = begin(world)
    count = requests_of(world.server, lambda: write(world, first, guard))
    for position in positions(count):
        order = begin(world)
        world.server.faults.plan(FAULTS[fault], position=position)
        outcome = write(world, order, guard)
        assert isinstance(outcome, Written), f"request {position}: {outcome}"
        assert outcome.note == "", f"request {position}"
        assert holds(world.claim(), order.allocation)
        assert world.nothing_left(), f"request {position}"
        if FAULTS[fault].after:
            # What was done and not heard of is looked for, never done again.
            assert len(outcome.requests) == CHANGES, f"request {position}"
        world.server.faults.clear()


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_of_any_request_ends_in_good_order(world: GuardedWorld, refusal: str):
    first = begin(world)
    count = requests_of(world.server, lambda: write(world, first, "rule"))
    for position in positions(count):
        order = begin(world)
        world.server.faults.plan(REFUSALS[refusal], position=position)
        outcome = write(world, order, "rule")
        world.server.faults.clear()
        # One answer was wrong, so what it hid may need another look.
        sweep(world.client, leftovers(world.client), ended=lambda _leftover: True)
        assert world.nothing_left(), f"request {position}"
        if isinstance(outcome, Written):
            assert holds(world.claim(), order.allocation), f"request {position}"
        else:
            assert isinstance(outcome, Changed | Refused), f"request {position}"
            assert outcome.reason
            assert world.devices() == [], f"request {position}"


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("at", range(1, CHANGES + 1))
def test_who_is_killed_before_any_change_is_resumed_to_the_same_end(
    world: GuardedWorld, guard: str, at: int
):
    order = begin(world)
    death = Death(at)
    with pytest.raises(DiedError):
        writer(world, guard).write(order, before=death)
    outcome = write(world, replace(order, resumed=True), guard)
    assert isinstance(outcome, Written)
    assert holds(world.claim(), order.allocation)
    assert world.nothing_left()


@pytest.mark.parametrize("guard", GUARDS)
def test_a_write_that_is_killed_and_then_in_vain_leaves_no_guard(
    world: GuardedWorld, guard: str
):
    """Somebody else allocates the claim between the two calls."""
    order = begin(world)
    with pytest.raises(DiedError):
        writer(world, guard).write(order, before=Death(CHANGES - 1))
    taken = world.claim()
    result = {"request": "gpu", "driver": small.DRIVER, "pool": "n1", "device": "gpu-9"}
    taken["status"] = {"allocation": {"devices": {"results": [result]}}}
    world.store.put(taken)
    outcome = write(world, replace(order, resumed=True), guard)
    assert not isinstance(outcome, Written)
    assert world.nothing_left()
