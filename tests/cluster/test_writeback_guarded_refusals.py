"""Why a guarded write is not made, and which right is missing when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.standin.access import Rule, User
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from cluster.writeback import (
    FINALIZER,
    Changed,
    Refusal,
    Refused,
    Request,
    Step,
    Unknown,
    Written,
    holds,
)
from tests.cluster.guarded_world import PATIENCE, GuardedWorld
from tests.cluster.guarded_writes import RULE, TAINT, partitions, write, writer
from tests.cluster.standin import scheduled as small


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path) as world:
        yield world


# --- reasons not to write ------------------------------------------------------------


def test_a_device_that_somebody_holds_means_plan_again(world: GuardedWorld):
    world.add("theirs")
    world.store.put(small.pod("p", "theirs"))
    small.eventually(lambda: world.devices("theirs"))
    world.add()
    outcome = write(world, world.order())
    assert isinstance(outcome, Changed)
    assert "is held by the claim lab/theirs" in outcome.reason


def test_counters_that_are_used_up_mean_plan_again(world: GuardedWorld):
    world.store.load(partitions())
    world.add("theirs")
    taken = world.claim("theirs")
    result = {"request": "gpu", "driver": small.DRIVER, "pool": "n1", "device": "full"}
    taken["status"] = {"allocation": {"devices": {"results": [result]}}}
    world.store.put(taken)
    world.add()
    outcome = write(world, world.order("one", "half-0"), **RULE)
    assert isinstance(outcome, Changed)
    assert "counter" in outcome.reason
    assert world.devices() == []


def test_a_device_that_is_taken_while_the_guard_goes_up_means_plan_again(
    world: GuardedWorld,
):
    world.add()
    world.add("theirs")

    def take(step: Step, _request: Request) -> None:
        if step is Step.BARRIER:
            other = world.claim("theirs")
            result = {"request": "gpu", "driver": small.DRIVER, "pool": "n1"}
            other["status"] = {
                "allocation": {"devices": {"results": [{**result, "device": "gpu-0"}]}}
            }
            world.store.put(other)

    outcome = writer(world).write(world.order(), before=take)
    assert isinstance(outcome, Changed)
    assert world.devices() == []
    assert world.nothing_left()


@pytest.mark.parametrize(
    "toleration",
    [{"operator": "Exists"}, {"key": "dra-portal.io/guard", "operator": "Exists"}],
)
def test_a_claim_that_tolerates_the_rule_is_a_reason_to_refuse(
    world: GuardedWorld, toleration: dict[str, str]
):
    world.add("bold", tolerations=[toleration])
    world.add()
    outcome = write(world, world.order(), **RULE)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.UNGUARDED
    assert "lab/bold would get the device in spite" in outcome.reason


def test_a_claim_that_tolerates_something_else_is_no_reason(world: GuardedWorld):
    world.add("mild", tolerations=[{"key": "other", "operator": "Exists"}])
    world.add()
    assert isinstance(write(world, world.order(), **RULE), Written)


def test_a_pod_that_tolerates_every_node_taint_is_a_reason_to_refuse(
    world: GuardedWorld,
):
    world.add("theirs")
    world.store.put(
        small.pod(
            "bold",
            "theirs",
            tolerations=[{"operator": "Exists"}],
            schedulingGates=[{"name": "wait"}],
        )
    )
    world.add()
    outcome = write(world, world.order(), **TAINT)
    assert isinstance(outcome, Refused)
    assert "lab/bold would get the device" in outcome.reason


@pytest.mark.parametrize("mark", ["nominated pod", "finalizer"])
def test_an_allocation_under_way_is_waited_for_and_then_refused(
    world: GuardedWorld, mark: str
):
    world.add("theirs")
    going = small.pod("going", "theirs", schedulingGates=[{"name": "wait"}])
    if mark == "finalizer":
        marked = world.claim("theirs")
        marked["metadata"]["finalizers"] = [FINALIZER]
        world.store.put(marked)
    else:
        going["status"]["nominatedNodeName"] = "n1"
        world.store.put(going)
    world.add()
    outcome = write(world, world.order(), marks=0.2)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.IN_FLIGHT
    assert "lab/going" in outcome.reason or "lab/theirs" in outcome.reason
    assert world.nothing_left() or world.pods() == ["going"]


def test_the_finalizer_of_another_run_of_ours_is_no_allocation_under_way(
    world: GuardedWorld,
):
    world.add("other")
    marked = world.claim("other")
    marked["metadata"]["finalizers"] = [FINALIZER]
    marked["metadata"]["annotations"] = {"dra-portal.io/owner": "dra-portal"}
    world.store.put(marked)
    world.add()
    assert isinstance(write(world, world.order(), marks=0), Written)


def test_a_pod_nominated_to_another_node_is_no_reason_to_wait(tmp_path: Path):
    with GuardedWorld(tmp_path, nodes=2) as world:
        going = small.pod("going", schedulingGates=[{"name": "wait"}])
        going["status"]["nominatedNodeName"] = "n2"
        world.store.put(going)
        world.add()
        assert isinstance(write(world, world.order(), marks=0), Written)


def test_a_scheduler_without_a_verdict_is_a_reason_to_refuse(tmp_path: Path):
    with GuardedWorld(tmp_path, habits=Habits(name="another")) as world:
        world.add()
        outcome = write(world, world.order(), barrier=0.3)
        assert isinstance(outcome, Refused)
        assert "default-scheduler gave no verdict on the barrier pod" in outcome.reason
        assert world.devices() == []
        assert world.nothing_left()


def test_a_slow_scheduler_gets_a_second_barrier_before_the_guard_goes(tmp_path: Path):
    with GuardedWorld(tmp_path, habits=Habits(delay=1.1)) as world:
        world.add()
        steps: list[Step] = []
        outcome = writer(world, busy=1.0).write(
            world.order(), before=lambda step, _request: steps.append(step)
        )
        assert isinstance(outcome, Written)
        assert steps[steps.index(Step.STATUS) :] == [
            Step.STATUS,
            Step.BARRIER,
            Step.BARRIER_OFF,
            Step.GUARD_OFF,
        ]


@pytest.mark.parametrize("named", [True, False])
def test_a_pod_of_a_scheduler_that_is_not_named_is_a_reason_to_refuse(
    world: GuardedWorld, named: bool
):
    """No barrier tells what that scheduler has decided already."""
    world.add("theirs")
    world.store.put(small.pod("strange", "theirs", schedulerName="batch"))
    world.add()
    names = (*(["batch"] if named else []), "default-scheduler")
    outcome = write(
        world, world.order(), names=names, barrier=0.5 if named else PATIENCE
    )
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.UNGUARDED
    strange = "lab/strange (batch)" in outcome.reason
    asked = "The scheduler batch gave no verdict" in outcome.reason
    assert (strange, asked) == (not named, named)
    assert world.devices() == []


@pytest.mark.parametrize(
    ("pod", "claim"),
    [
        ({"schedulingGates": [{"name": "wait"}]}, "theirs"),
        ({}, "one"),
        ({}, ""),
    ],
    ids=["gated", "of this claim", "without claims"],
)
def test_a_pod_of_another_scheduler_that_takes_no_device_is_no_reason(
    world: GuardedWorld, pod: dict[str, object], claim: str
):
    world.add("theirs")
    world.add()
    world.store.put(small.pod("strange", claim, schedulerName="batch", **pod))
    assert isinstance(write(world, world.order()), Written)


def test_a_pod_that_tolerates_only_evictions_is_no_reason_to_refuse(
    world: GuardedWorld,
):
    world.add("theirs")
    mild = [{"operator": "Exists", "effect": "NoExecute"}]
    gates = [{"name": "wait"}]
    world.store.put(
        small.pod("mild", "theirs", tolerations=mild, schedulingGates=gates)
    )
    world.add()
    assert isinstance(write(world, world.order(), **TAINT), Written)


def test_every_scheduler_is_asked(tmp_path: Path):
    batch = Habits(delay=0.0, name="batch")
    asked: list[str] = []

    def note(step: Step, request: Request) -> None:
        if step is Step.BARRIER:
            assert isinstance(request.body, dict)
            asked.append(request.body["spec"]["schedulerName"])

    names = ("default-scheduler", "batch")
    with GuardedWorld(tmp_path) as world, ControlPlane(world.store, batch):
        world.add()
        outcome = writer(world, names=names).write(world.order(), before=note)
    assert isinstance(outcome, Written)
    assert asked == [*names]


def test_a_namespace_for_barriers_that_is_missing_is_named(world: GuardedWorld):
    world.add()
    outcome = write(world, world.order(), namespace="nowhere")
    assert isinstance(outcome, Refused)
    assert "The namespace nowhere for barrier pods does not exist" in outcome.reason
    assert world.nothing_left()


def test_a_claim_that_changes_is_planned_anew(world: GuardedWorld):
    world.add()

    def touch(step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            changed = world.claim()
            changed["metadata"]["labels"] = {"touched": "yes"}
            world.store.put(changed)

    outcome = writer(world).write(world.order(), before=touch)
    assert isinstance(outcome, Changed)
    assert world.devices() == []
    assert world.nothing_left()


def test_a_change_before_the_finalizer_does_not_matter(world: GuardedWorld):
    world.add()
    touched: list[Step] = []

    def touch(step: Step, _request: Request) -> None:
        if step is Step.FINALIZER and not touched:
            touched.append(step)
            changed = world.claim()
            changed["metadata"]["labels"] = {"touched": "yes"}
            world.store.put(changed)

    assert isinstance(writer(world).write(world.order(), before=touch), Written)


def test_a_double_booking_that_is_seen_is_told_and_not_rolled_back(
    world: GuardedWorld,
):
    world.add()
    world.add("theirs")
    order = world.order()

    def take(step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            other = world.claim("theirs")
            result = {"request": "gpu", "driver": small.DRIVER, "pool": "n1"}
            other["status"] = {
                "allocation": {"devices": {"results": [{**result, "device": "gpu-0"}]}}
            }
            world.store.put(other)

    outcome = writer(world).write(order, before=take)
    assert isinstance(outcome, Written)
    assert "lab/theirs as well" in outcome.also_held_by[0]
    assert holds(world.claim(), order.allocation)
    assert world.nothing_left()


# --- rights --------------------------------------------------------------------------


READ = Rule(("get", "list", "watch"), ("*",))
GUARD = {
    "rule": (("create", "devicetaintrules"), ("delete", "devicetaintrules")),
    "node-taint": (("patch", "nodes"),),
}
RIGHTS = (
    ("patch", "resourceclaims"),
    ("patch", "resourceclaims/status"),
    ("patch", "resourceclaims/binding"),
    ("create", "pods"),
    ("delete", "pods"),
)


@pytest.mark.parametrize(
    ("by", "missing"),
    [
        *(("node-taint", right) for right in (*RIGHTS, *GUARD["node-taint"])),
        *(("rule", right) for right in GUARD["rule"]),
    ],
)
def test_each_missing_right_is_named(tmp_path: Path, by: str, missing: tuple[str, str]):
    given = [
        Rule((verb,), (resource,))
        for verb, resource in (*RIGHTS, *GUARD[by])
        if (verb, resource) != missing
    ]
    users = {"t": User("portal", (READ, *given))}
    with GuardedWorld(tmp_path, users=users, token="t") as world:
        world.add()
        outcome = write(world, world.order(), by=by, taint_rules="safe")
        verb, resource = missing
        if verb == "delete":
            said = getattr(outcome, "note", "") or getattr(outcome, "reason", "")
            assert "could not be removed" in said
            assert resource in said or "pod" in said
            return
        assert isinstance(outcome, Refused)
        assert outcome.refusal is Refusal.FORBIDDEN
        assert verb in outcome.missing
        assert resource in outcome.missing
        assert world.devices() == []
        assert world.nothing_left()


@pytest.mark.parametrize("by", GUARD)
def test_the_rights_suffice(tmp_path: Path, by: str):
    given = [Rule((verb,), (res,)) for verb, res in (*RIGHTS, *GUARD[by])]
    users = {"t": User("portal", (READ, *given))}
    with GuardedWorld(tmp_path, users=users, token="t") as world:
        world.add()
        outcome = write(world, world.order(), by=by, taint_rules="safe")
        assert isinstance(outcome, Written)
        assert world.nothing_left()


def test_a_server_that_goes_after_the_write_leaves_the_outcome_unknown(
    world: GuardedWorld,
):
    world.add()

    def vanish(step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            world.server.faults.refuse_connections()

    outcome = writer(world).write(replace(world.order(), resumed=True), before=vanish)
    assert isinstance(outcome, Unknown)
    assert "could not be removed" in outcome.reason
