"""Making a scheduler count a device again that it takes for free."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.standin.access import Rule, User
from cluster.writeback import Refusal, Refused, Request, Step
from cluster.writeback.leftovers import leftovers
from cluster.writeback.putting_back import Rewritten, Unfinished
from tests.cluster.guarded_world import GuardedWorld
from tests.cluster.repair_world import (
    SAFE,
    book_twice,
    put,
    quarantine,
    quarantiner,
    release,
    rewrite_order,
    rewriter,
    third,
)
from tests.cluster.standin import scheduled as small
from tests.cluster.writeback_faults import DiedError

BY_NODE: dict[str, Any] = {}
WAYS = pytest.mark.parametrize("told", [SAFE, BY_NODE], ids=["rule", "node taint"])


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path) as world:
        yield world


def run(world: GuardedWorld, name: str, phase: str = "Running") -> None:
    pod = world.store.get("Pod", name, "lab")
    assert pod is not None
    pod["status"]["phase"] = phase
    world.store.put(pod)


def test_without_a_repair_the_device_is_given_away_again(world: GuardedWorld):
    book_twice(world)
    release(world, "second")
    third(world)
    assert world.devices("third") == ["n1/gpu-0"]
    assert small.booked_twice(world.store) == ["n1/gpu-0"]


@WAYS
def test_a_quarantine_alone_only_puts_it_off(world: GuardedWorld, told: dict[str, Any]):
    book_twice(world)
    put(world, told)
    release(world, "second")
    third(world)
    assert world.devices("third") == []
    quarantiner(world, **told).lift(quarantine())
    small.eventually(lambda: world.devices("third") == ["n1/gpu-0"])
    assert small.booked_twice(world.store) == ["n1/gpu-0"]


@WAYS
def test_after_quarantine_release_and_rewriting_it_counts_rightly(
    world: GuardedWorld, told: dict[str, Any]
):
    book_twice(world)
    put(world, told)
    release(world, "second")
    before = world.claim("first")
    steps: list[Step] = []
    done = rewriter(world, **told).rewrite(
        rewrite_order(world), before=lambda step, _r: steps.append(step)
    )
    assert isinstance(done, Rewritten), done
    assert done.also_held_by == ()
    assert steps == [Step.CLEARED, Step.STATUS]
    after = world.claim("first")
    assert after["status"] == before["status"]
    assert after["metadata"]["finalizers"] == before["metadata"]["finalizers"]
    quarantiner(world, **told).lift(quarantine())
    assert leftovers(world.client) == []

    third(world)
    assert small.scheduled(world.store, "three") == "False"
    assert world.devices("third") == []
    # And once the survivor has ended, the next one gets it.
    world.store.delete("Pod", "one", "lab")
    small.eventually(lambda: world.devices("third") == ["n1/gpu-0"])
    assert small.booked_twice(world.store) == []


def test_a_finalizer_that_the_controller_took_meanwhile_is_put_back(
    world: GuardedWorld,
):
    book_twice(world)
    put(world, BY_NODE)
    release(world, "second")

    steps: list[Step] = []

    def controller(step: Step, _request: Request) -> None:
        steps.append(step)
        if steps == [Step.CLEARED, Step.STATUS]:
            claim = world.claim("first")
            claim["metadata"].pop("finalizers")
            world.store.put(claim)

    done = rewriter(world).rewrite(rewrite_order(world), before=controller)
    assert isinstance(done, Rewritten)
    assert steps == [Step.CLEARED, Step.STATUS, Step.FINALIZER, Step.STATUS]
    claim = world.claim("first")
    assert claim["metadata"]["finalizers"] == [
        "resource.kubernetes.io/delete-protection"
    ]
    assert world.devices("first") == ["n1/gpu-0"]


def test_parameters_with_null_come_back_as_they_were(world: GuardedWorld):
    book_twice(world)
    put(world, BY_NODE)
    release(world, "second")
    claim = world.claim("first")
    opaque = {"driver": small.DRIVER, "parameters": {"a": None, "b": [None]}}
    config = [{"source": "FromClaim", "requests": ["gpu"], "opaque": opaque}]
    claim["status"]["allocation"]["devices"]["config"] = config
    world.store.put(claim)
    done = rewriter(world).rewrite(rewrite_order(world))
    assert isinstance(done, Rewritten)
    found = world.claim("first")["status"]["allocation"]["devices"]["config"]
    assert found == config


def test_the_other_devices_of_the_claim_are_kept_free_for_the_moment(tmp_path: Path):
    with GuardedWorld(tmp_path, devices=2) as world:
        book_twice(world, count=2)
        put(world, SAFE)
        release(world, "second")
        world.add("third")
        world.store.put(small.pod("three", "third"))
        seen: list[int] = []

        def look(step: Step, _request: Request) -> None:
            if step is Step.CLEARED:
                seen.append(len(world.store.objects("DeviceTaintRule")))

        done = rewriter(world, **SAFE).rewrite(rewrite_order(world), before=look)
        assert isinstance(done, Rewritten)
        assert seen == [2]
        assert len(world.store.objects("DeviceTaintRule")) == 1
        assert len(world.devices("first")) == 2
        quarantiner(world, **SAFE).lift(quarantine())
        assert small.booked_twice(world.store) == []
        assert world.devices("third") == []


# --- what makes it stop before anything is written --------------------------------


def refused(world: GuardedWorld, order: Any = None) -> Refused:
    before = world.claim("first")
    outcome = rewriter(world).rewrite(order or rewrite_order(world))
    assert isinstance(outcome, Refused), outcome
    assert "Nothing was written" in outcome.reason
    assert world.claim("first") == before
    return outcome


@pytest.fixture
def repaired_so_far(world: GuardedWorld) -> GuardedWorld:
    """Quarantined, the other one released."""
    book_twice(world)
    put(world, BY_NODE)
    release(world, "second")
    return world


def test_a_claim_that_was_changed_meanwhile(repaired_so_far: GuardedWorld):
    world = repaired_so_far
    order = rewrite_order(world)
    world.store.put(small.pod("late", "first", tolerations=[{"operator": "Exists"}]))
    small.eventually(lambda: small.scheduled(world.store, "late") == "True")
    outcome = refused(world, order)
    assert outcome.refusal is Refusal.CHANGED
    assert "reserved by the pod late and the pod one" in outcome.reason


def test_a_change_between_the_look_and_the_write(repaired_so_far: GuardedWorld):
    world = repaired_so_far

    def touch(step: Step, _request: Request) -> None:
        if step is Step.CLEARED:
            claim = world.claim("first")
            claim["metadata"]["labels"] = {"touched": "yes"}
            world.store.put(claim)

    outcome = rewriter(world).rewrite(rewrite_order(world), before=touch)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.CHANGED
    assert world.devices("first") == ["n1/gpu-0"]


def test_a_claim_that_holds_nothing(repaired_so_far: GuardedWorld):
    world = repaired_so_far
    order = rewrite_order(world)
    world.store.delete("Pod", "one", "lab")
    small.eventually(lambda: world.devices("first") == [])
    outcome = refused(world, order)
    assert "it holds nothing now" in outcome.reason


@pytest.mark.parametrize(
    ("phase", "said"),
    [("Pending", "does not run yet (Pending)"), ("Succeeded", "ends")],
)
def test_a_pod_that_starts_or_ends(world: GuardedWorld, phase: str, said: str):
    book_twice(world)
    put(world, BY_NODE)
    release(world, "second")
    world.plane.stop()
    run(world, "one", phase)
    outcome = refused(world)
    assert outcome.refusal is Refusal.UNSAFE
    assert said in outcome.reason


def test_a_pod_that_waits_for_the_claim(repaired_so_far: GuardedWorld):
    world = repaired_so_far
    world.store.put(small.pod("waits", "first"))
    small.eventually(lambda: small.scheduled(world.store, "waits") == "False")
    outcome = refused(world)
    assert "The pod waits waits for the claim" in outcome.reason


def test_a_reservation_of_a_pod_that_is_gone(repaired_so_far: GuardedWorld):
    world = repaired_so_far
    world.plane.stop()
    world.store.delete("Pod", "one", "lab")
    assert "The pod one, which has it reserved, is gone" in refused(world).reason


def test_what_a_driver_wrote_into_the_claim(repaired_so_far: GuardedWorld):
    world = repaired_so_far
    claim = world.claim("first")
    claim["status"]["devices"] = [
        {"driver": small.DRIVER, "pool": "n1", "device": "gpu-0", "data": {"a": 1}}
    ]
    world.store.put(claim)
    assert "status.devices" in refused(world).reason


def test_another_claim_still_holds_the_device(world: GuardedWorld):
    book_twice(world)
    put(world, BY_NODE)
    outcome = refused(world)
    assert outcome.refusal is Refusal.BOOKED_TWICE
    assert "lab/second" in outcome.reason


def test_a_device_that_is_not_in_quarantine(world: GuardedWorld):
    book_twice(world)
    release(world, "second")
    outcome = refused(world)
    assert outcome.refusal is Refusal.UNGUARDED
    assert "Quarantine the device first" in outcome.reason


def test_a_cordoned_node_is_as_good(world: GuardedWorld):
    book_twice(world)
    release(world, "second")
    world.store.put(small.node("n1", unschedulable=True))
    assert isinstance(rewriter(world).rewrite(rewrite_order(world)), Rewritten)


def test_a_pod_that_heeds_no_taint_and_waits(repaired_so_far: GuardedWorld):
    world = repaired_so_far
    world.add("greedy")
    world.store.put(
        small.pod(
            "stubborn",
            "greedy",
            nodeSelector={"no": "node"},
            tolerations=[{"operator": "Exists"}],
        )
    )
    assert "lab/stubborn waits and tolerates any taint" in refused(world).reason


def test_a_missing_right(tmp_path: Path):
    everything = Rule(("*",), ("*",))
    reader = Rule(("get", "list", "watch"), ("*",))
    taints = Rule(("patch",), ("nodes",))
    users = {"admin": User("admin", (everything,)), "t": User("p", (reader, taints))}
    with GuardedWorld(tmp_path, users=users, token="admin") as world:
        book_twice(world)
        put(world, BY_NODE)
        release(world, "second")
        again = copy.copy(world)
        path = world.server.write_kubeconfig(tmp_path / "other", token="t")
        from cluster.client import ClusterClient
        from cluster.config import ClusterConfig

        again.client = ClusterClient.connect(ClusterConfig(name="a", kubeconfig=path))
        outcome = rewriter(again).rewrite(rewrite_order(world))
        again.client.close()
        assert isinstance(outcome, Refused)
        assert outcome.missing == "patch resourceclaims/status"
        assert world.devices("first") == ["n1/gpu-0"]


# --- interruptions ------------------------------------------------------------------


@pytest.mark.parametrize("step", [Step.CLEARED, Step.STATUS])
def test_a_call_that_died_is_finished_by_the_next(
    repaired_so_far: GuardedWorld, step: Step
):
    world = repaired_so_far
    order = rewrite_order(world)

    def die(at: Step, _request: Request) -> None:
        if at is step:
            raise DiedError

    with pytest.raises(DiedError):
        rewriter(world).rewrite(order, before=die)
    held = world.devices("first")
    assert held == ([] if step is Step.STATUS else ["n1/gpu-0"])
    again = rewrite_order(world, status=order.status, seen=order.seen, resumed=True)
    assert isinstance(rewriter(world).rewrite(again), Rewritten)
    assert world.claim("first")["status"] == order.status
    third(world)
    quarantiner(world).lift(quarantine())
    assert world.devices("third") == []


def test_a_call_whose_last_answer_was_lost_is_done_again(
    repaired_so_far: GuardedWorld,
):
    world = repaired_so_far
    order = rewrite_order(world)
    assert isinstance(rewriter(world).rewrite(order), Rewritten)
    again = rewrite_order(world, status=order.status, seen=order.seen, resumed=True)
    assert isinstance(rewriter(world).rewrite(again), Rewritten)
    assert world.claim("first")["status"] == order.status


def test_an_api_server_that_goes_away_in_between_is_no_end(
    repaired_so_far: GuardedWorld,
):
    world = repaired_so_far
    order = rewrite_order(world)

    def stop(step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            world.server.stop()

    outcome = rewriter(world).rewrite(order, before=stop)
    assert isinstance(outcome, Unfinished)
    assert "put back as soon as it can" in outcome.reason
    world.server.start()


def test_a_claim_that_was_allocated_elsewhere_in_between_is_told(
    repaired_so_far: GuardedWorld,
):
    world = repaired_so_far
    order = rewrite_order(world)

    def rival(step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            claim = world.claim("first")
            result = {
                "request": "gpu",
                "driver": small.DRIVER,
                "pool": "n1",
                "device": "gpu-7",
            }
            claim["status"] = {"allocation": {"devices": {"results": [result]}}}
            world.store.put(claim)

    outcome = rewriter(world).rewrite(order, before=rival)
    assert isinstance(outcome, Refused)
    assert outcome.refusal is Refusal.ALLOCATED
    assert "n1/gpu-7" in outcome.reason
    assert "end them" in outcome.reason
