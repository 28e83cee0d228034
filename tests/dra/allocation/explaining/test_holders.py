"""Who holds the devices that a request cannot have, counted in numbers."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from dra.allocation.explaining import explain, holders
from dra.allocation.explaining.explanation import Loss
from dra.allocation.explaining.holders import HeldBy, held_by
from dra.allocation.traits import uses_of
from dra.cel.table import DeviceTable
from dra.names import ObjectKey
from dra.snapshot import Snapshot
from tests.dra.allocation.world import cluster, device_class, exactly, wanted
from tests.dra.builders import claim, device, node, piece, result

type Json = dict[str, Any]

NODES = tuple(f"n{number}" for number in range(4))
DEVICES = tuple(f"d{number}" for number in range(5))


def holder(chance: random.Random, name: str) -> Json:
    """A claim with some devices, some twice, one of them perhaps not there at all."""
    results = [
        result(
            chance.choice((*DEVICES, "gone")), pool=chance.choice((*NODES, "nowhere"))
        )
        for _ in range(chance.randrange(6))
    ]
    for each in results:
        if chance.random() < 0.3:
            each["shareID"] = name
        if chance.random() < 0.1:
            each["adminAccess"] = True
    return claim(name, *results)


def one_by_one(snapshot: Snapshot, rows: list[int]) -> list[Loss]:
    """What each claim holds, most first, as looking at device after device finds it."""
    ids = snapshot.devices().ids
    tally: dict[tuple[str, str], int] = {}
    for row in rows:
        found = {h.claim_key: None for h in snapshot.in_use.holders(ids[row])}
        for key in found:
            tally[key] = tally.get(key, 0) + 1
    losses = [Loss("claim", "/".join(key), number) for key, number in tally.items()]
    return sorted(losses, key=lambda loss: -loss.devices)


def test_counting_finds_what_looking_at_each_device_finds_whatever_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # So few that numbers are given out anew within the test.
    monkeypatch.setattr(holders, "_SPARE", 6)
    chance = random.Random(3)
    pieces = [
        piece(f"s-{name}", *map(device, DEVICES), pool=name, nodeName=name)
        for name in NODES
    ]
    world = cluster(*map(node, NODES), *pieces)
    names = [f"c{number}" for number in range(12)]
    anew = seen_several = 0
    earlier: HeldBy | None = None
    for step in range(150):
        name = f"{chance.choice(names)}-{step // 10}"
        world = world.edit(add=[holder(chance, name)])
        if chance.random() < 0.5:
            world = world.edit(
                remove=[ObjectKey("ResourceClaim", *chance.choice(list(world.claims)))]
            )
        found = held_by(world, world.devices())
        anew += earlier is not None and found.claims is not earlier.claims
        earlier = found
        seen_several += bool(found.several)
        rows = np.flatnonzero([chance.random() < 0.8 for _ in world.devices().ids])
        losses, more = found.losses(rows, 3)
        expected = one_by_one(world, rows.tolist())
        assert losses == expected[:3]
        assert more == len(expected[3:])
    assert anew
    assert seen_several


@pytest.mark.parametrize("made_of", [held_by, uses_of])
def test_threads_that_ask_at_the_same_time_get_one_answer(
    made_of: Callable[[Snapshot, DeviceTable], object], often: None
) -> None:
    names = [f"d{number:03}" for number in range(400)]
    world = cluster(node("n"), piece("s", *map(device, names), pool="n", nodeName="n"))
    made_of(world, world.devices())
    for turn in range(5):
        world = world.edit(
            add=[
                claim(f"c-{turn}-{d}", result(d, pool="n", shareID=f"{turn}-{d}"))
                for d in names
            ]
        )
        table = world.devices()
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda _: made_of(world, table), range(4)))  # noqa: B023  # all end within the turn
        assert len(set(map(id, found))) == 1


@pytest.fixture
def often() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_more_devices_than_can_be_looked_at_are_counted_all_the_same() -> None:
    many = 5_200
    names = [f"d{number:03}" for number in range(100)]
    nodes = [f"n{number:03}" for number in range(many // 100)]
    taint = {"key": "broken", "effect": "NoSchedule"}
    world = cluster(
        device_class(),
        *map(node, nodes),
        *(piece(f"s-{n}", *map(device, names), pool=n, nodeName=n) for n in nodes),
        *(
            piece(
                f"t-{n}",
                *(device(d, taints=[taint]) for d in names),
                pool=f"t-{n}",
                nodeName=n,
            )
            for n in nodes
        ),
        *(claim(f"c-{n}", *(result(d, pool=n) for d in names)) for n in nodes),
    )
    (request,) = explain(world, [wanted(exactly())], relax=False).requests
    stages = {stage.code: stage for stage in request.stages}
    in_use, tolerated = stages["not in use"], stages["tolerated"]
    assert in_use.lost == many
    assert len(in_use.losses) + in_use.more == len(nodes)
    assert [(x.name, x.devices) for x in tolerated.losses] == [
        ("broken:NoSchedule", many)
    ]
