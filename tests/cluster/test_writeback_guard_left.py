"""A guard that an earlier call of the same run has left, when the run goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster.writeback import Changed, Order, Request, Step, Written
from tests.cluster.guarded_world import GuardedWorld
from tests.cluster.guarded_writes import RULE, TAINT, writer
from tests.cluster.writeback_faults import Death, DiedError

Json = dict[str, Any]
EXPIRES = "dra-portal.io/expires"
AFTER_GUARD = 3
"""The finalizer, the guard, and then the barrier, before which the worker dies."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GuardedWorld]:
    with GuardedWorld(tmp_path) as world:
        yield world


def left_by_a_dead_worker(world: GuardedWorld, guard: dict[str, Any]) -> Order:
    world.add()
    order = world.order()
    with pytest.raises(DiedError):
        writer(world, **guard).write(order, before=Death(AFTER_GUARD))
    return replace(order, resumed=True)


def rules(world: GuardedWorld) -> list[Json]:
    return world.store.objects("DeviceTaintRule")


def node(world: GuardedWorld) -> Json:
    found = world.store.get("Node", "n1")
    assert found is not None
    return found


class AtTheWrite:
    """What guards the devices at the moment of the allocation."""

    def __init__(self, world: GuardedWorld) -> None:
        self.world = world
        self.rules: list[Json] = []
        self.node: Json = {}

    def __call__(self, step: Step, _request: Request) -> None:
        if step is Step.STATUS:
            self.rules, self.node = rules(self.world), node(self.world)

    def ends(self) -> list[float]:
        """When the guards may be swept away, as Unix seconds."""
        notes = self.node["metadata"].get("annotations") or {}
        return [
            *(float(rule["metadata"]["labels"][EXPIRES]) for rule in self.rules),
            *(float(json.loads(note)["expires"]) for note in notes.values()),
        ]


def test_a_rule_that_may_be_swept_at_any_moment_is_made_anew(world: GuardedWorld):
    order = left_by_a_dead_worker(world, RULE)
    (rule,) = rules(world)
    rule["metadata"]["labels"][EXPIRES] = str(int(time.time()) + 5)
    world.store.put(rule)

    seen = AtTheWrite(world)
    assert isinstance(writer(world, **RULE).write(order, before=seen), Written)
    (end,) = seen.ends()
    assert end > time.time() + 60
    assert world.nothing_left()


def test_a_taint_that_may_be_swept_at_any_moment_gets_more_time(world: GuardedWorld):
    order = left_by_a_dead_worker(world, TAINT)
    tainted = node(world)
    ((key, note),) = tainted["metadata"]["annotations"].items()
    soon = json.loads(note) | {"expires": str(int(time.time()) + 5)}
    tainted["metadata"]["annotations"][key] = json.dumps(soon)
    world.store.put(tainted)

    seen = AtTheWrite(world)
    assert isinstance(writer(world, **TAINT).write(order, before=seen), Written)
    (end,) = seen.ends()
    assert end > time.time() + 60
    assert world.nothing_left()


def test_a_taint_that_somebody_took_off_is_put_on_again(world: GuardedWorld):
    """Its note is still there: tools that keep a node's taints know nothing of it."""
    order = left_by_a_dead_worker(world, TAINT)
    bare = node(world)
    bare["spec"]["taints"] = []
    world.store.put(bare)

    seen = AtTheWrite(world)
    assert isinstance(writer(world, **TAINT).write(order, before=seen), Written)
    assert [taint["effect"] for taint in seen.node["spec"]["taints"]] == ["NoSchedule"]
    assert world.nothing_left()


def test_a_guard_outlasts_the_barriers_of_every_scheduler(world: GuardedWorld):
    names = tuple(f"scheduler-{n}" for n in range(8))
    left_by_a_dead_worker(world, {**RULE, "names": names, "barrier": 600.0})
    (rule,) = rules(world)
    end = float(rule["metadata"]["labels"][EXPIRES])
    assert end > time.time() + 2 * len(names) * 600.0


@pytest.mark.parametrize("guard", [RULE, TAINT], ids=["rule", "node taint"])
def test_nothing_is_written_once_somebody_has_taken_the_guard_away(
    world: GuardedWorld, guard: dict[str, Any]
):
    world.add()

    def tidy(step: Step, _request: Request) -> None:
        if step is Step.BARRIER_OFF:
            for rule in rules(world):
                world.store.delete("DeviceTaintRule", rule["metadata"]["name"])
            bare = node(world)
            bare["spec"]["taints"] = []
            world.store.put(bare)

    outcome = writer(world, **guard).write(world.order(), before=tidy)
    assert isinstance(outcome, Changed)
    assert "was taken away by somebody else" in outcome.reason
    assert world.devices() == []
    assert world.nothing_left()
