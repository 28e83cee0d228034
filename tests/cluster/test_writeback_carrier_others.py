"""A carrier beside others, without rights, and without a server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster.standin.access import Rule, User
from cluster.standin.caching import Habits
from cluster.writeback import (
    Changed,
    Refusal,
    Refused,
    Request,
    Step,
    Unknown,
    Written,
)
from tests.cluster.carried_writes import write, writer
from tests.cluster.guarded_world import GuardedWorld
from tests.cluster.standin import scheduled as small
from tests.cluster.writeback_faults import Death, DiedError


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path) as world:
        yield world


# --- others --------------------------------------------------------------------------


def test_an_allocation_by_somebody_else_is_left_alone(world: GuardedWorld):
    world.add()
    world.store.put(small.pod("p", "one"))
    small.eventually(lambda: world.devices())
    outcome = write(world, world.order())
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.ALLOCATED
    assert world.pods() == ["p"]


def test_a_claim_that_is_gone_or_another_one(world: GuardedWorld):
    world.add()
    order = world.order()
    world.store.delete("ResourceClaim", "one", "lab")
    for _ in range(2):
        outcome = write(world, order)
        assert isinstance(outcome, Refused)
        assert outcome.refusal is Refusal.GONE
        world.add()
    assert world.nothing_left()


def test_a_claim_that_goes_while_the_scheduler_is_waited_for(tmp_path: Path):
    with GuardedWorld(tmp_path, habits=Habits(name="another")) as world:
        world.add()

        def vanish(step: Step, _request: Request) -> None:
            if step is Step.CARRIER:
                world.store.delete("ResourceClaim", "one", "lab")

        outcome = writer(world).write(world.order(), before=vanish)
        assert isinstance(outcome, Refused)
        assert outcome.refusal is Refusal.GONE
        assert world.nothing_left()


def test_a_carrier_that_somebody_deletes_means_plan_again(tmp_path: Path):
    with GuardedWorld(tmp_path, habits=Habits(name="another")) as world:
        world.add()
        order = world.order()
        made = writer(world)

        def delete() -> None:
            small.eventually(world.pods, "the carrier")
            (name,) = world.pods()
            world.store.delete("Pod", name, "lab")

        somebody = threading.Thread(target=delete)
        somebody.start()
        outcome = made.write(order)
        somebody.join()
        assert isinstance(outcome, Changed)
        assert "deleted by somebody else" in outcome.reason


def test_a_carrier_that_may_be_swept_at_any_moment_is_made_anew(tmp_path: Path):
    """Its worker died long ago; the periodic clean-up is about to come."""
    with GuardedWorld(tmp_path, habits=Habits(name="another")) as world:
        world.add()
        order = world.order()
        with pytest.raises(DiedError):
            writer(world, wait=0.1).write(order, before=Death(2))
        (old,) = world.store.objects("Pod")
        old["metadata"]["labels"]["dra-portal.io/expires"] = str(int(time.time()) + 5)
        world.store.put(old)

        steps: list[Step] = []
        resumed = replace(order, resumed=True)
        writer(world, wait=0.2).write(resumed, before=lambda s, _r: steps.append(s))
        assert steps == [Step.CARRIER_OFF, Step.CARRIER, Step.CARRIER_OFF]


def test_what_changes_between_the_look_and_the_pin_is_looked_at_again(
    world: GuardedWorld,
):
    world.add()
    touched: list[Step] = []

    def touch(step: Step, _request: Request) -> None:
        if step is Step.PIN and not touched:
            touched.append(step)
            changed = world.claim()
            changed["metadata"]["labels"] = {"touched": "yes"}
            world.store.put(changed)

    outcome = writer(world).write(world.order(), before=touch)
    assert isinstance(outcome, Written)
    assert world.reserved() == ["allocationpins"]


def test_an_allocation_that_is_another_one_by_the_time_of_the_pin_is_not_kept(
    world: GuardedWorld,
):
    world.add()

    def swap(step: Step, _request: Request) -> None:
        if step is Step.PIN:
            changed = world.claim()
            devices = changed["status"]["allocation"]["devices"]
            devices["results"][0]["device"] = "gpu-9"
            world.store.put(changed)

    outcome = writer(world).write(world.order(), before=swap)
    assert isinstance(outcome, Changed)
    assert "taken back before it could be kept" in outcome.reason
    assert "allocationpins" not in world.reserved()


def test_a_pod_of_the_carriers_name_that_is_not_ours_is_not_touched(
    world: GuardedWorld,
):
    world.add()
    order = world.order()
    foreseen: Any = writer(world).preview(order, world.claim())[0].body
    name = foreseen["metadata"]["name"]
    world.store.put(small.pod(name))
    outcome = write(world, order)
    assert isinstance(outcome, Refused)
    assert "is not the portal's" in outcome.reason
    assert world.pods() == [name]


def test_another_writer_that_holds_the_device_too_is_told(world: GuardedWorld):
    world.add()
    world.add("theirs")

    def meddle(step: Step, _request: Request) -> None:
        if step is Step.PIN:
            other = world.claim("theirs")
            other["status"] = {
                "allocation": world.claim()["status"]["allocation"],
            }
            world.store.put(other)

    outcome = writer(world).write(world.order(), before=meddle)
    assert isinstance(outcome, Written)
    assert outcome.also_held_by == (
        "The device gpu.acme.test/n1/gpu-0 is held by the claim lab/theirs as well.",
    )


# --- rights --------------------------------------------------------------------------


RIGHTS = [
    ("create", "pods"),
    ("get", "pods"),
    ("watch", "pods"),
    ("patch", "resourceclaims/status"),
    ("patch", "resourceclaims/binding"),
]
READ = Rule(("get", "list", "watch"), ("resourceclaims", "namespaces"))
CARRY = (
    Rule(("create", "get", "watch", "delete"), ("pods",)),
    Rule(("patch",), ("resourceclaims/status", "resourceclaims/binding")),
)


@pytest.mark.parametrize(("verb", "resource"), RIGHTS)
def test_each_missing_right_is_named(tmp_path: Path, verb: str, resource: str):
    given = [
        Rule((v,), (r,))
        for rule in CARRY
        for v in rule.verbs
        for r in rule.resources
        if (v, r) != (verb, resource)
    ]
    users = {"t": User("portal", (READ, *given))}
    # The scheduler may be faster than the answer to the watch, unless there is none.
    habits = Habits(name="another" if verb == "watch" else "default-scheduler")
    with GuardedWorld(tmp_path, users=users, token="t", habits=habits) as world:
        world.add()
        outcome = write(world, world.order())
        assert isinstance(outcome, Refused)
        assert outcome.refusal is Refusal.FORBIDDEN
        assert verb in outcome.missing
        assert resource.partition("/")[0] in outcome.missing
        # The portal may not see its carrier: the clean-up of a larger right takes it.
        if (verb, resource) not in (("get", "pods"), ("create", "pods")):
            small.eventually(world.nothing_left)
        small.eventually(lambda: world.reserved() == [] or world.pods())


def test_without_the_right_to_delete_the_allocation_stands_and_a_note_says_so(
    tmp_path: Path,
):
    given = (
        Rule(("create", "get", "watch"), ("pods",)),
        CARRY[1],
    )
    users = {"t": User("portal", (READ, *given))}
    with GuardedWorld(tmp_path, users=users, token="t") as world:
        world.add()
        outcome = write(world, world.order(), clean=0.1)
        assert isinstance(outcome, Written)
        assert "could not be removed" in outcome.note
        assert "allocationpins" in world.reserved()


def test_without_the_right_to_delete_a_carrier_that_failed_is_told_too(tmp_path: Path):
    given = (Rule(("create", "get", "watch"), ("pods",)), CARRY[1])
    users = {"t": User("portal", (READ, *given))}
    with GuardedWorld(tmp_path, devices=2, users=users, token="t") as world:
        world.add()
        outcome = write(world, world.order("one", "gpu-1"), clean=0.1)
        assert isinstance(outcome, Refused)
        assert outcome.refusal is Refusal.OTHER_DEVICES
        assert "could not be removed" in outcome.reason


def test_the_rights_suffice(tmp_path: Path):
    users = {"t": User("portal", (READ, *CARRY))}
    with GuardedWorld(tmp_path, users=users, token="t") as world:
        world.add()
        assert isinstance(write(world, world.order()), Written)
        assert world.nothing_left()


# --- a server that goes away ---------------------------------------------------------


def test_a_server_that_is_not_there_refuses_nothing_written(world: GuardedWorld):
    world.add()
    order = world.order()
    world.server.faults.refuse_connections()
    outcome = write(world, order)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.UNAVAILABLE
    resumed = write(world, replace(order, resumed=True))
    assert isinstance(resumed, Unknown)


def test_a_server_that_goes_after_the_carrier_leaves_the_outcome_unknown(
    world: GuardedWorld,
):
    world.add()

    def vanish(step: Step, _request: Request) -> None:
        if step is Step.PIN:
            world.server.faults.refuse_connections()

    outcome = writer(world).write(world.order(), before=vanish)
    assert isinstance(outcome, Unknown)
    assert "may or may not" in outcome.reason
