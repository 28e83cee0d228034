"""What goes into the claim's status: configuration and node selector."""

from __future__ import annotations

import pytest

from dra.allocation import AllocationError, Fits
from dra.objects import AllocationResult, write
from tests.dra.allocation.world import (
    ask,
    cluster,
    device_class,
    devices,
    exactly,
    first_of,
    wanted,
)
from tests.dra.builders import DRIVER, device, node, piece

PARTS = [device(f"d{i}") for i in range(4)]


def allocation(outcome) -> AllocationResult:
    assert isinstance(outcome, Fits), outcome
    (only,) = outcome.allocations
    return only


def opaque(text):
    return {"opaque": {"driver": DRIVER, "parameters": {"is": text}}}


def configs(outcome):
    return [
        (c.source, c.requests, c.opaque and c.opaque.parameters["is"])
        for c in allocation(outcome).devices.config or ()
    ]


def selector(outcome):
    found = allocation(outcome).node_selector
    return None if found is None else write(found)


def this_node(name="n1"):
    only = {"key": "metadata.name", "operator": "In", "values": [name]}
    return {"nodeSelectorTerms": [{"matchFields": [only]}]}


def test_class_configuration_comes_once_per_class_for_all_its_requests():
    world = cluster(
        devices(*PARTS),
        device_class("one", config=[opaque("1a"), opaque("1b")]),
        device_class("two", config=[opaque("2")]),
    )
    requests = (
        exactly("x", cls="one"),
        exactly("y", cls="two"),
        exactly("z", cls="one"),
    )

    assert configs(ask(world, wanted(*requests))) == [
        ("FromClass", ["x", "z"], "1a"),
        ("FromClass", ["x", "z"], "1b"),
        ("FromClass", ["y"], "2"),
    ]


def test_the_claims_configuration_follows_and_keeps_its_requests():
    world = cluster(devices(*PARTS))
    claim = wanted(
        exactly("x"),
        exactly("y"),
        config=[opaque("all"), {**opaque("both"), "requests": ["x", "y"]}],
    )

    once = [("FromClaim", None, "all"), ("FromClaim", ["x", "y"], "both")]
    assert configs(ask(world, claim)) == once
    assert configs(ask(world, claim, quirks="1.36")) == [*once, once[1]]


def test_configuration_of_an_alternative_counts_only_when_it_is_chosen():
    world = cluster(devices(*PARTS))
    claim = wanted(
        first_of("x", exactly("big", 9), exactly("small")),
        config=[
            {**opaque("big"), "requests": ["x/big"]},
            {**opaque("small"), "requests": ["x/small"]},
            {**opaque("x"), "requests": ["x"]},
        ],
    )

    assert [c[2] for c in configs(ask(world, claim))] == ["small", "x"]


def test_a_device_of_one_node_binds_the_claim_to_it():
    assert selector(ask(cluster(devices(*PARTS)), wanted(exactly()))) == this_node()


def test_devices_that_every_node_reaches_leave_the_claim_free():
    world = cluster(devices(*PARTS, allNodes=True))

    assert selector(ask(world, wanted(exactly()))) is None


def test_a_device_may_bind_to_the_node_all_the_same():
    world = cluster(devices(device("d", bindsToNode=True), allNodes=True))

    assert selector(ask(world, wanted(exactly()))) == this_node()


def requirement(key, *values):
    return {"key": key, "operator": "In", "values": list(values)}


def labelled(*requirements):
    return {"nodeSelectorTerms": [{"matchExpressions": list(requirements)}]}


def test_node_selectors_of_several_devices_are_merged():
    world = cluster(
        node("n1", a="1", b="1"),
        piece(
            "s",
            device("x"),
            pool="p",
            nodeSelector=labelled(requirement("a", "1", "2")),
        ),
        piece(
            "t",
            device("y"),
            pool="q",
            nodeSelector=labelled(requirement("b", "1"), requirement("a", "2", "1")),
        ),
    )

    got = selector(ask(world, wanted(exactly(count=2))))

    assert got == labelled(requirement("a", "1", "2"), requirement("b", "1"))


def test_a_node_selector_of_several_terms_cannot_be_merged():
    terms = labelled(requirement("a", "1"))["nodeSelectorTerms"] * 2
    world = cluster(
        node("n1", a="1"),
        devices(device("x"), nodeSelector={"nodeSelectorTerms": terms}),
    )

    with pytest.raises(AllocationError, match="with 2 terms"):
        ask(world, wanted(exactly()))


def test_a_claim_without_requests_is_allocated_without_devices():
    assert write(allocation(ask(cluster(), wanted()))) == {"devices": {}}
