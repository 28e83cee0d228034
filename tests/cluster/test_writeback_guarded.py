"""The guarded direct writer beside a scheduler, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.writeback import (
    FINALIZER,
    Refusal,
    Refused,
    Request,
    Step,
    Written,
    holds,
)
from tests.cluster.guarded_world import GuardedWorld
from tests.cluster.guarded_writes import RULE, TAINT, partitions, write, writer
from tests.cluster.standin import scheduled as small


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path) as world:
        yield world


@pytest.mark.parametrize("guard", [RULE, TAINT], ids=["rule", "node taint"])
def test_finalizer_guard_barrier_allocation_and_everything_off(
    world: GuardedWorld, guard: dict[str, Any]
):
    world.add()
    order = world.order()
    steps: list[Step] = []
    outcome = writer(world, **guard).write(
        order, before=lambda step, _request: steps.append(step)
    )

    assert isinstance(outcome, Written)
    assert outcome.exact
    assert outcome.note == ""
    assert holds(world.claim(), order.allocation)
    assert world.claim()["metadata"]["finalizers"] == [FINALIZER]
    assert steps == [
        Step.FINALIZER,
        Step.GUARD,
        Step.BARRIER,
        Step.BARRIER_OFF,
        Step.STATUS,
        Step.GUARD_OFF,
    ]
    assert world.nothing_left()


def test_the_guard_says_whose_it_is_and_until_when(world: GuardedWorld):
    seen: dict[str, Any] = {}
    world.add()

    def look(step: Step, request: Request) -> None:
        if step is Step.STATUS:
            seen["rule"] = world.store.objects("DeviceTaintRule")
            seen["node"] = world.store.get("Node", "n1")

    order = world.order()
    writer(world, **RULE).write(order, before=look)
    (rule,) = seen["rule"]
    assert rule["spec"]["deviceSelector"] == {
        "driver": small.DRIVER,
        "pool": "n1",
        "device": "gpu-0",
    }
    assert rule["spec"]["taint"]["effect"] == "NoSchedule"
    assert rule["metadata"]["labels"]["dra-portal.io/run"] == "run-1"
    assert rule["metadata"]["labels"]["dra-portal.io/expires"].isdigit()

    world.add("two")
    world.store.delete("ResourceClaim", "one", "lab")
    writer(world, **TAINT).write(world.order("two"), before=look)
    node = seen["node"]
    (taint,) = node["spec"]["taints"]
    assert taint["effect"] == "NoSchedule"
    assert taint["value"] == "run-1"
    assert '"owner":"dra-portal"' in node["metadata"]["annotations"][taint["key"]]
    assert node["metadata"]["labels"]["dra-portal.io/guarded"] == "true"


def test_two_runs_on_one_node_have_a_taint_each(tmp_path: Path):
    """The first to end takes only its own."""
    with GuardedWorld(tmp_path, devices=2) as world:
        world.add("first")
        world.add("second")
        seen: list[Any] = []

        def meanwhile(step: Step, _request: Request) -> None:
            if step is Step.STATUS:
                other = world.order("second", "gpu-1", run="run-2")
                assert isinstance(writer(world, **TAINT).write(other), Written)
                seen.append(world.store.get("Node", "n1"))

        order = world.order("first")
        outcome = writer(world, **TAINT).write(order, before=meanwhile)
        assert isinstance(outcome, Written)
        (between,) = seen
        assert [t["value"] for t in between["spec"]["taints"]] == ["run-1"]
        assert between["metadata"]["labels"]["dra-portal.io/guarded"] == "true"
        assert world.nothing_left()


def test_taints_and_annotations_of_others_stay_on_the_node(world: GuardedWorld):
    node = small.node("n1", taints=[{"key": "theirs", "effect": "NoExecute"}])
    node["metadata"]["annotations"] = {"theirs": "too"}
    world.store.put(node)
    world.add()
    assert isinstance(write(world, world.order(), **TAINT), Written)
    found = world.store.get("Node", "n1")
    assert found is not None
    assert found["spec"]["taints"] == [{"key": "theirs", "effect": "NoExecute"}]
    assert found["metadata"]["annotations"] == {"theirs": "too"}
    assert "dra-portal.io/guarded" not in found["metadata"]["labels"]


# --- which guard --------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"by": "rule"}, "scheduler's version is not known"),
        ({"by": "rule", "version": "v1.36.2"}, "v1.36.2 is killed by DeviceTaintRules"),
        (
            {"by": "rule", "version": "1.36.3"},
            "not known whether kube-scheduler 1.36.3",
        ),
        ({"by": "rule", "taint_rules": "never"}, "forbids DeviceTaintRules"),
    ],
)
def test_rules_are_made_only_where_the_scheduler_is_known_to_bear_them(
    world: GuardedWorld, told: dict[str, Any], words: str
):
    world.add()
    outcome = write(world, world.order(), **told)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.UNGUARDED
    assert words in outcome.reason
    assert world.devices() == []
    assert "finalizers" not in world.claim()["metadata"]


def test_auto_is_a_rule_where_that_is_safe_and_else_a_taint(world: GuardedWorld):
    world.add()
    world.add("two")
    paths = []
    for name, told in (("one", {"version": "1.37.0"}), ("two", {})):
        outcome = write(world, world.order(name), **told)
        assert isinstance(outcome, Written)
        paths.append(outcome.requests[1].path)
        world.store.delete("ResourceClaim", name, "lab")
    assert paths == [
        "/apis/resource.k8s.io/v1beta2/devicetaintrules",
        "/api/v1/nodes/n1",
    ]


def test_without_rules_a_device_of_several_nodes_cannot_be_guarded(
    world: GuardedWorld,
):
    shared = small.gpus("n1", 1)
    shared["spec"] |= {"nodeName": None, "allNodes": True}
    world.store.put(shared)
    world.add()
    outcome = write(world, world.order())
    assert isinstance(outcome, Refused)
    assert "can be used from other nodes too" in outcome.reason
    assert "writer: carrier" in outcome.reason


def test_devices_that_draw_on_the_same_counters_are_guarded_too(world: GuardedWorld):
    world.store.load(partitions())
    seen: list[str] = []
    world.add()

    def look(step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            seen.extend(
                rule["spec"]["deviceSelector"]["device"]
                for rule in world.store.objects("DeviceTaintRule")
            )

    outcome = writer(world, **RULE).write(world.order("one", "half-0"), before=look)
    assert isinstance(outcome, Written)
    assert sorted(seen) == ["full", "half-0", "half-1"]
