"""Pods of ours that admission has changed: gates, another scheduler, another node."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster.writeback import Refusal, Refused, Request, Step, Written
from tests.cluster import carried_writes
from tests.cluster.guarded_world import GuardedWorld
from tests.cluster.guarded_writes import TAINT, writer
from tests.cluster.standin import scheduled as small

Json = dict[str, Any]
GATE = {"name": "queues.acme.test/admission"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path, nodes=2) as world:
        yield world


def admission(step: Step, **spec: Any) -> Callable[[Step, Request], None]:
    """A webhook that gives the pods of one step these fields."""

    def change(now: Step, request: Request) -> None:
        if now is step:
            assert isinstance(request.body, dict)
            request.body["spec"] |= spec

    return change


def ungate(world: GuardedWorld) -> None:
    """As a queue does once it is the pod's turn, which is soon."""
    small.eventually(world.pods, "the pod")
    (pod,) = world.store.objects("Pod")
    del pod["spec"]["schedulingGates"]
    pod["status"] = {"phase": "Pending"}
    world.store.put(pod)


def test_a_barrier_that_is_held_back_is_no_verdict_of_the_scheduler(
    world: GuardedWorld,
):
    world.add()
    gated = admission(Step.BARRIER, schedulingGates=[GATE])
    outcome = writer(world, **TAINT, barrier=0.0).write(world.order(), before=gated)

    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.UNGUARDED
    assert "scheduling gate queues.acme.test/admission" in outcome.reason
    assert world.devices() == []
    assert world.nothing_left()


def test_a_barrier_counts_once_its_gate_is_gone(world: GuardedWorld):
    world.add()
    gated = admission(Step.BARRIER, schedulingGates=[GATE])
    queue = threading.Thread(target=ungate, args=[world])
    queue.start()
    outcome = writer(world, **TAINT).write(world.order(), before=gated)
    queue.join()
    assert isinstance(outcome, Written)
    assert world.nothing_left()


def test_the_verdict_of_another_scheduler_is_no_barrier(world: GuardedWorld):
    world.add()
    moved = admission(Step.BARRIER, schedulerName="default-scheduler")
    outcome = writer(world, **TAINT, names=("batch",)).write(
        world.order(), before=moved
    )
    assert isinstance(outcome, Refused)
    assert "was given to the scheduler default-scheduler instead of batch" in (
        outcome.reason
    )
    assert world.devices() == []
    assert world.nothing_left()


def test_a_carrier_that_is_held_back_ends_with_the_gate_as_the_reason(
    world: GuardedWorld,
):
    world.add()
    gated = admission(Step.CARRIER, schedulingGates=[GATE])
    outcome = carried_writes.writer(world, wait=0.0).write(world.order(), before=gated)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.FORBIDDEN
    assert "scheduling gate queues.acme.test/admission" in outcome.reason
    assert world.nothing_left()


def test_a_carrier_whose_gate_goes_is_scheduled_like_any_other(world: GuardedWorld):
    world.add()
    gated = admission(Step.CARRIER, schedulingGates=[GATE])
    queue = threading.Thread(target=ungate, args=[world])
    queue.start()
    outcome = carried_writes.writer(world).write(world.order(), before=gated)
    queue.join()
    assert isinstance(outcome, Written)
    assert world.devices() == ["n1/gpu-0"]


def test_a_carrier_that_may_go_elsewhere_is_taken_back(world: GuardedWorld):
    world.add()
    moved = admission(Step.CARRIER, affinity={})
    order = replace(world.order(), accept_other_devices=True)
    outcome = carried_writes.writer(world).write(order, before=moved)
    assert isinstance(outcome, Refused)
    assert "changed the carrier pod" in outcome.reason
    assert world.devices() == []
    assert world.nothing_left()


def test_what_admission_adds_to_the_affinity_of_a_carrier_does_not_matter(
    world: GuardedWorld,
):
    world.add()

    def narrow(step: Step, request: Request) -> None:
        if step is Step.CARRIER:
            assert isinstance(request.body, dict)
            affinity = request.body["spec"]["affinity"]["nodeAffinity"]
            required = affinity["requiredDuringSchedulingIgnoredDuringExecution"]
            (term,) = required["nodeSelectorTerms"]
            label = {"key": "kubernetes.io/hostname", "operator": "Exists"}
            term["matchExpressions"] = [label]

    outcome = carried_writes.writer(world).write(world.order(), before=narrow)
    assert isinstance(outcome, Written)


def test_a_carrier_is_made_as_the_options_say(world: GuardedWorld):
    """For quotas that want amounts, priorities that must not preempt, meshes."""
    world.add()
    told: Json = {
        "resources": (("cpu", "10m"), ("memory", "16Mi")),
        "priority_class": "no-preemption",
        "labels": (("mesh.acme.test/inject", "false"), ("dra-portal.io/role", "x")),
    }
    made = carried_writes.writer(world, **told)
    create, *_ = made.preview(world.order(), world.claim())
    assert isinstance(create.body, dict)
    spec, labels = create.body["spec"], create.body["metadata"]["labels"]
    (container,) = spec["containers"]
    amounts = {"cpu": "10m", "memory": "16Mi"}
    assert container["resources"] == {"requests": amounts, "limits": amounts}
    assert spec["priorityClassName"] == "no-preemption"
    assert labels["mesh.acme.test/inject"] == "false"
    assert labels["dra-portal.io/role"] == "carrier", "what is ours stays ours"
    assert isinstance(made.write(world.order()), Written)


def test_no_user_id_is_named_so_that_a_namespace_may_give_its_own(world: GuardedWorld):
    world.add()
    (create, *_) = carried_writes.writer(world).preview(world.order(), world.claim())
    assert isinstance(create.body, dict)
    assert create.body["spec"]["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
