"""However quickly pods are placed, they are placed as one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra.allocation import Features
from dra.objects import ResourceClaim, read
from dra.whatif.placing import Placed, Placer, Unit
from dra.whatif.world import World
from tests.dra.allocation.world import device_class, first_of, selector
from tests.dra.builders import Json, claim, consumes, counter_set, device, node, piece
from tests.dra.whatif.world import cluster, held, plainly

KINDS = ["big", "small"]
FEATURES = Features.preset("1.36")


def kind_is(kind: str) -> str:
    return f'device.attributes["gpu.example.com"].kind == "{kind}"'


def exactly(count: int, kind: str | None, **fields: Any) -> Json:
    body: Json = {"deviceClassName": "gpu", **fields}
    if "allocationMode" not in fields:
        body["count"] = count
    if kind:
        body["selectors"] = [selector(kind_is(kind))]
    return {"name": "r", "exactly": body}


requests = st.one_of(
    st.builds(exactly, st.integers(1, 3), st.sampled_from([None, *KINDS])),
    st.builds(
        lambda kind: exactly(0, kind, allocationMode="All"), st.sampled_from(KINDS)
    ),
    st.builds(
        lambda a, b: first_of(
            "r",
            {**exactly(a, "big"), "name": "first"},
            {**exactly(b, "small"), "name": "second"},
        ),
        st.integers(1, 2),
        st.integers(1, 3),
    ),
    st.builds(
        lambda n: exactly(1, None, capacity={"requests": {"memory": f"{n}Gi"}}),
        st.integers(1, 6),
    ),
    st.just(exactly(1, None, selectors=[selector("device.attributes['x'].nope == 1")])),
)


@st.composite
def devices(draw: Any, number: int, *, counted: bool) -> Json:
    found = device(
        f"gpu-{number}",
        attributes={"kind": {"string": draw(st.sampled_from(KINDS))}},
        capacity={"memory": {"value": "8Gi"}},
    )
    if counted:
        found["consumesCounters"] = [
            consumes("set", memory=draw(st.sampled_from(["4", "8"])))
        ]
    elif draw(st.booleans()):
        found["allowMultipleAllocations"] = True
        found["capacity"]["memory"]["requestPolicy"] = {
            "default": "2Gi",
            "validRange": {"min": "1Gi"},
        }
    if draw(st.integers(0, 7)) == 0:
        found["taints"] = [{"key": "bad", "effect": "NoSchedule"}]
    return found


@st.composite
def clusters(draw: Any) -> list[Json]:
    objects = [device_class()]
    for number in range(draw(st.integers(1, 5))):
        name = f"n{number}"
        counted = draw(st.integers(0, 2)) == 0
        made = [
            draw(devices(place, counted=counted))
            for place in range(draw(st.integers(0, 4)))
        ]
        raw = node(name)
        if draw(st.integers(0, 9)) == 0:
            raw["spec"] = {"unschedulable": True}
        objects.append(raw)
        spec: Json = {"pool": name, "nodeName": name, "of": 2 if counted else 1}
        objects.append(piece(f"{name}-a", *made, **spec))
        if counted:
            sets = [counter_set("set", memory="16")]
            objects.append(piece(f"{name}-b", sharedCounters=sets, **spec))
        if made and draw(st.booleans()):
            objects.append(held(f"held-{name}", made[0]["name"], on=name))
    if draw(st.integers(0, 3)) == 0:
        # A pool of two nodes that draw on the same counters.
        spec = {"pool": "both", "of": 3}
        sets = [counter_set("set", memory="12")]
        for name in ("n0", "n1"):
            made = [draw(devices(place, counted=True)) for place in range(2)]
            for one in made:
                one["name"] = f"{name}-{one['name']}"
            objects.append(piece(f"both-{name}", *made, nodeName=name, **spec))
        objects.append(piece("both", sharedCounters=sets, nodeName="n0", **spec))
    if draw(st.integers(0, 3)) == 0:
        shared = [draw(devices(place, counted=False)) for place in range(3)]
        objects.append(piece("net", *shared, pool="net", allNodes=True))
    return objects


@settings(max_examples=120)
@given(
    clusters(),
    st.lists(st.tuples(requests, st.integers(1, 5)), min_size=1, max_size=4),
    st.sampled_from(["firstFit", "spread", "pack"]),
    st.sampled_from(["none", "1.36"]),
)
def test_claims_get_what_they_get_one_by_one(objects, runs, policy, quirks):
    snapshot = cluster(*objects)
    wanted: list[ResourceClaim] = []
    expected: list[int] = []
    for request, copies in runs:
        for _ in range(copies):
            raw = claim(f"want-{len(wanted)}")
            raw["spec"] = {"devices": {"requests": [request]}}
            wanted.append(read(raw, ResourceClaim))
            expected.append(copies)

    placer = Placer(World(snapshot, FEATURES, quirks, None), policy)
    answers: list[Any] = []
    for one, copies in zip(wanted, expected, strict=True):
        found = placer.place(Unit("u", None, (one,)), expected=copies)
        if isinstance(found, Placed):
            (got,) = found.claims
            assert got.status.allocation is not None
            results = got.status.allocation.devices.results or ()
            answers.append((found.node, [f"{r.pool}/{r.device}" for r in results]))
        else:
            answers.append(found.verdict)

    assert answers == plainly(
        snapshot, wanted, policy, features=FEATURES, quirks=quirks
    )


@pytest.mark.parametrize("policy", ["firstFit", "spread"])
@settings(max_examples=40)
@given(clusters(), st.lists(requests, min_size=2, max_size=4), st.integers(0, 3))
def test_going_back_leaves_no_trace(policy, objects, wants, keep):
    snapshot = cluster(*objects)
    units = []
    for number, request in enumerate(wants):
        raw = claim(f"want-{number}")
        raw["spec"] = {"devices": {"requests": [request]}}
        units.append(Unit("u", None, (read(raw, ResourceClaim),)))
    world = World(snapshot, FEATURES, "none", None)
    placer = Placer(world, policy)

    for unit in units[:keep]:
        placer.place(unit, expected=4)
    start = world.snapshot
    first = [placer.place(unit, expected=4) for unit in units[keep:]]
    placer.go_back(start, [f for f in first if isinstance(f, Placed)])
    again = [placer.place(unit, expected=4) for unit in units[keep:]]

    assert [_where(one) for one in again] == [_where(one) for one in first]


def _where(found: Any) -> Any:
    if not isinstance(found, Placed):
        return found.verdict
    names = []
    for one in found.claims:
        assert one.status.allocation is not None
        results = one.status.allocation.devices.results or ()
        names += [result.device for result in results]
    return found.node, names
