"""Provoked collisions: one free device, and a pod whose scheduler decided just before.

The scheduler has the device reserved in memory and nothing of it can be seen, which is
when reading before writing does not help. A device counts as booked twice when two
claims hold it after everything has come to rest.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cluster.standin.caching import Habits
from cluster.writeback import Outcome, Request, Step, Unknown, Writer, Written
from cluster.writeback.carrier import CarrierWriter
from cluster.writeback.direct import DirectWriter
from cluster.writeback.guarded import GuardedWriter
from tests.cluster.guarded_world import QUICK, GuardedWorld, options
from tests.cluster.standin import scheduled as small

DELAY = 0.02
"""Seconds that each call of the scheduler waits; four calls make an allocation."""
ROUNDS = 40


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedWorld]:
    habits = Habits(delay=DELAY)
    with GuardedWorld(tmp_path_factory.mktemp("world"), habits=habits) as world:
        yield world


def collide(
    world: GuardedWorld,
    writer: Writer,
    *,
    moment: float = 0.0,
    step: Step | None = None,
    late: bool = False,
) -> str:
    """One round: what became of it (``twice``, ``ours``, ``theirs``, ``nobody``).

    The competing pod appears ``moment`` seconds before the writer starts, or ahead of
    one of the writer's steps. ``late``: its scheduler sends nothing until we are done.
    """
    world.plane.scheduler.holds = late
    world.add("ours")
    world.add("theirs")
    order = world.order("ours", run=f"run-{random.random()}")

    def compete(at: Step | None, _request: Request | None = None) -> None:
        if at is step and not world.store.get("Pod", "rival", "lab"):
            world.store.put(small.pod("rival", "theirs"))
            small.eventually(lambda: _decided(world), "the decision")

    compete(None)
    QUICK.sleep(moment)
    writer.write(order, before=compete)
    world.plane.scheduler.holds = False
    if not world.store.get("Pod", "rival", "lab"):
        compete(step)
    small.eventually(lambda: small.scheduled(world.store, "rival"), "the verdict")
    small.eventually(lambda: not world.plane.scheduler.due, "rest")
    twice = small.booked_twice(world.store)
    ours, theirs = world.devices("ours"), world.devices("theirs")
    _clear(world)
    if twice:
        return "twice"
    return "ours" if ours else "theirs" if theirs else "nobody"


def _decided(world: GuardedWorld) -> bool:
    """Whether the scheduler has something queued, or has written its verdict."""
    return bool(world.plane.scheduler.due or small.scheduled(world.store, "rival"))


def _clear(world: GuardedWorld) -> None:
    for kind in ("Pod", "ResourceClaim"):
        for found in world.store.objects(kind):
            if world.store.get(kind, found["metadata"]["name"], "lab"):
                world.store.delete(kind, found["metadata"]["name"], "lab")
    assert world.nothing_left()


def moments(count: int) -> Iterator[float]:
    """From at once to after the scheduler's last call."""
    chance = random.Random(7)
    return (chance.uniform(0, 5 * DELAY) for _ in range(count))


def test_the_plain_writer_books_devices_twice(world: GuardedWorld):
    writer = DirectWriter(world.client, patience=QUICK)
    assert collide(world, writer, late=True) == "twice"


def test_the_carrier_never_does(world: GuardedWorld):
    writer = CarrierWriter(world.client, options(), patience=QUICK)
    seen = [collide(world, writer, moment=moment) for moment in moments(ROUNDS - 9)]
    for step in (Step.CARRIER, Step.PIN, Step.CARRIER_OFF):
        seen += [collide(world, writer, step=step) for _ in range(3)]
    assert "twice" not in seen, seen
    assert {"ours", "theirs"} <= set(seen)


@pytest.mark.parametrize(
    "guard",
    [{"by": "rule", "taint_rules": "safe"}, {"by": "node-taint"}],
    ids=["rule", "node taint"],
)
def test_the_guarded_writer_never_does(world: GuardedWorld, guard: dict[str, Any]):
    told = options(**guard, settle=2 * DELAY)
    writer = GuardedWriter(world.client, told, patience=QUICK)
    seen = [
        collide(world, writer, moment=moment) for moment in moments(ROUNDS // 2 - 6)
    ]
    for step in (
        *(Step.FINALIZER, Step.GUARD, Step.BARRIER),
        *(Step.BARRIER_OFF, Step.STATUS, Step.GUARD_OFF),
    ):
        seen.append(collide(world, writer, step=step))
    assert "twice" not in seen, seen
    assert {"ours", "theirs"} <= set(seen)


def test_a_guard_without_a_barrier_would(world: GuardedWorld):
    """What the barrier is for: the decision that was made before the guard."""
    told = options(by="node-taint", names=())
    writer = GuardedWriter(world.client, told, patience=QUICK)
    assert collide(world, writer, step=Step.GUARD, late=True) == "twice"


@pytest.mark.parametrize("kind", ["carrier", "guarded"])
def test_eight_writers_and_the_pods_of_others_share_what_there_is(
    tmp_path: Path, kind: str
):
    """Twelve devices, eight claims of ours, eight pods: no device goes twice."""
    with GuardedWorld(
        tmp_path, nodes=3, devices=4, habits=Habits(delay=0.005)
    ) as world:
        told = options(accept_other_devices=True, settle=DELAY)
        writer: Writer = (
            CarrierWriter(world.client, told, patience=QUICK)
            if kind == "carrier"
            else GuardedWriter(world.client, told, patience=QUICK)
        )
        for n in range(8):
            world.add(f"ours-{n}")
            world.add(f"theirs-{n}")

        def one(n: int) -> Outcome:
            world.store.put(small.pod(f"rival-{n}", f"theirs-{n}"))
            device, node = f"gpu-{n // 3}", f"n{n % 3 + 1}"
            order = world.order(f"ours-{n}", device, node=node, run=f"run-{n}")
            return writer.write(order)

        with ThreadPoolExecutor(8) as threads:
            outcomes = list(threads.map(one, range(8)))
        small.eventually(
            lambda: all(small.scheduled(world.store, f"rival-{n}") for n in range(8)),
            "the verdicts",
        )
        small.eventually(lambda: not world.plane.scheduler.due, "rest")

        assert small.booked_twice(world.store) == []
        assert not any(isinstance(outcome, Unknown) for outcome in outcomes)
        for n, outcome in enumerate(outcomes):
            held = world.devices(f"ours-{n}")
            assert bool(held) == isinstance(outcome, Written), outcome
        assert sum(isinstance(outcome, Written) for outcome in outcomes) > 0
        assert all(name.startswith("rival") for name in world.pods())
