"""Which node, why none, and when the search gives up."""

from __future__ import annotations

import itertools

import pytest

from dra.allocation import (
    AllocationError,
    Budget,
    DoesNotFit,
    Fits,
    GaveUp,
    place,
)
from tests.dra.allocation.world import (
    attribute,
    cluster,
    device_class,
    devices,
    distinct,
    everything,
    exactly,
    given,
    match,
    string,
    wanted,
)
from tests.dra.builders import (
    claim,
    device,
    node,
    piece,
    result,
)


def on(name, *made, **spec):
    return piece(f"slice-{name}", *made, pool=name, nodeName=name, **spec)


def gpus(count, **attributes):
    return [device(f"gpu-{i}", attributes=attributes) for i in range(count)]


def why(world, *claims, **options):
    got = place(world, claims, **options)
    assert isinstance(got, DoesNotFit), got
    return got.reason


def test_the_first_node_by_name_that_fits_is_taken():
    world = cluster(
        node("n3"),
        node("n2"),
        node("n1"),
        on("n1", *gpus(1)),
        on("n2", *gpus(2)),
        on("n3", *gpus(2)),
    )

    got = place(world, [wanted(exactly(count=2))])

    assert isinstance(got, Fits)
    assert got.node_name == "n2"


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"unschedulable": True}},
        {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}},
        {"metadata": {"name": "n1", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
    ],
)
def test_nodes_that_take_no_pods_are_left_out_unless_named(change):
    world = cluster(
        {**node("n1"), **change}, node("n2"), on("n1", *gpus(1)), on("n2", *gpus(1))
    )
    one = [wanted(exactly())]

    chosen, named = place(world, one), place(world, one, node_names=["n1"])

    assert isinstance(chosen, Fits)
    assert isinstance(named, Fits)
    assert (chosen.node_name, named.node_name) == ("n2", "n1")


def test_an_error_on_one_node_does_not_hide_another_that_fits():
    world = cluster(
        node("n1"), node("n2"), on("n1", *gpus(1)), on("n2", *gpus(1, a=string("x")))
    )
    picky = [wanted(exactly("r", 1, f"{attribute('a')} == 'x'"))]

    assert given(place(world, picky)) == ["r=gpu-0"]
    with pytest.raises(AllocationError, match="no such key: a"):
        place(world, picky, quirks="1.36")
    with pytest.raises(AllocationError, match="no such key: a"):
        place(world, picky, node_names=["n1"])


def test_a_broken_claim_is_an_error_at_once():
    with pytest.raises(AllocationError, match="device class nope"):
        place(cluster(), [wanted(exactly(cls="nope"))])


def test_without_nodes_the_reason_says_so():
    world = cluster({**node("n1"), "spec": {"unschedulable": True}})

    assert why(world, wanted(exactly())) == (
        "There is no node to try: none is ready and takes new pods."
    )


def test_where_all_nodes_are_ruled_out_the_reason_is_not_that_they_are_gone():
    found = place(cluster(node("n1")), [wanted(exactly())], node_names=[])

    assert isinstance(found, DoesNotFit)
    assert found.reason == (
        "There is no node to try: the pod may run on none that takes new pods."
    )


# --- reasons --------------------------------------------------------------------


def test_the_reason_names_what_was_asked_and_the_closest_node():
    numa = [device(f"g{i}", attributes={"numa": {"int": i // 3}}) for i in range(6)]
    world = cluster(node("n1"), node("n2"), on("n1", *numa[:2]), on("n2", *numa))

    reason = why(world, wanted(exactly("r", 4), constraints=[match("numa")]))

    assert reason == (
        "No node has 4 free devices of class gpu with equal gpu.example.com/numa; "
        "2 nodes were tried. Closest: n2, it has 3."
    )


def test_the_reason_counts_what_is_in_use():
    world = cluster(
        node("n1"),
        node("n2"),
        on("n1", *gpus(3)),
        on("n2", *gpus(1)),
        claim("other", result("gpu-1", pool="n1"), result("gpu-2", pool="n1")),
    )

    assert why(world, wanted(exactly(count=2))) == (
        "No node has 2 free devices of class gpu; 2 nodes were tried. Closest: n1, "
        "it has 1 (3 match: 2 in use)."
    )


def test_the_reason_says_that_no_device_passes_the_selectors():
    world = cluster(on("n1", *gpus(3, model=string("old"))))

    assert why(world, wanted(exactly("b200", 1, f"{attribute('model')} == 'new'"))) == (
        "None of the 3 devices published on node n1 passes the selectors of request "
        "b200 (class gpu)."
    )


def test_the_reason_says_that_nothing_is_published():
    assert why(cluster(), wanted(exactly())) == (
        "No usable device is published on node n1 for request r."
    )


def test_the_reason_says_that_candidates_lack_the_attribute():
    world = cluster(on("n1", *gpus(2, parent=string("x"))))

    assert why(world, wanted(exactly("r", 2), constraints=[match("deviceID")])) == (
        "Node n1 does not have 2 free devices of class gpu with equal "
        "gpu.example.com/deviceID: none of its 2 free devices has that attribute "
        "(request r)."
    )


def test_the_reason_counts_different_values():
    world = cluster(on("n1", *gpus(3, a=string("x"))))

    assert why(world, wanted(exactly("r", 2), constraints=[distinct("a")])) == (
        "Node n1 does not have 2 free devices of class gpu with different "
        "gpu.example.com/a: it has 1 (request r)."
    )


def test_requests_that_only_fit_alone_are_told_apart():
    a, b = gpus(1, a=string("A")), gpus(1, a=string("B"))
    b[0]["name"] = "other"
    world = cluster(
        device_class("a", f"{attribute('a')} == 'A'"),
        device_class("b", f"{attribute('a')} == 'B'"),
        on("n1", *a, *b),
    )
    requests = (exactly("x", cls="a"), exactly("y", cls="b"))

    assert why(world, wanted(*requests, constraints=[match("a")])) == (
        "Node n1 can serve each request alone but not all together: the constraints "
        "on gpu.example.com/a cannot be met together."
    )


def test_claims_of_one_pod_compete():
    world = cluster(on("n1", *gpus(1)))

    assert why(world, wanted(exactly(), name="one"), wanted(exactly(), name="two")) == (
        "Node n1 can serve each request alone but not all together: they compete for "
        "the same devices, capacity or counters."
    )


def test_requests_that_different_nodes_can_serve():
    world = cluster(
        node("n1"),
        node("n2"),
        on("n1", *gpus(1, a=string("A"))),
        on("n2", *gpus(1, a=string("B"))),
    )
    x = exactly("x", 1, f"{attribute('a')} == 'A'")
    y = exactly("y", 1, f"{attribute('a')} == 'B'")

    assert why(world, wanted(x, y)) == (
        "Each request can be served on some node, but no node can serve all of them; "
        "2 nodes were tried."
    )


def test_selectors_that_fail_everywhere_are_an_error_not_a_reason():
    world = cluster(on("n1", *gpus(1)))

    with pytest.raises(AllocationError, match="no such key"):
        place(world, [wanted(everything("r", f"{attribute('a')} == 'x'"))])


# --- budget ---------------------------------------------------------------------


def hard(count=24):
    """A claim whose last request can never agree with the first (case by case)."""
    parts = [device(f"g{i}", attributes={"group": {"int": 0}}) for i in range(count)]
    odd = piece(
        "t",
        device("nic", attributes={"gpu.example.com/group": {"int": 1}}),
        driver="nic.example.com",
    )
    world = cluster(
        devices(*parts),
        odd,
        device_class("gpu", 'device.driver == "gpu.example.com"'),
        device_class("nic", 'device.driver == "nic.example.com"'),
    )
    claim_ = wanted(
        exactly("gpus", 8), exactly("nic", cls="nic"), constraints=[match("group")]
    )
    return world, claim_


def test_a_hopeless_search_over_equal_devices_ends_soon():
    world, claim_ = hard()

    got = place(world, [claim_], budget=Budget(steps=3_000))

    assert isinstance(got, DoesNotFit)
    assert "constraints on gpu.example.com/group" in got.reason


def test_a_search_that_uses_up_its_steps_is_undecided():
    world, claim_ = hard()

    got = place(world, [claim_], budget=Budget(steps=50))

    assert got == GaveUp("n1", 50, "Undecided: the search was stopped after 50 steps.")


def test_a_search_stops_when_it_is_told_to():
    # A distinctAttribute that forgets, as in 1.36, leaves the search no short cuts, and
    # counts do not show that the constraints exclude each other.
    parts = [
        device(
            f"g{i}",
            attributes={"a": {"int": i % 5}, "b": {"int": i % 6}, "c": {"int": i % 7}},
        )
        for i in range(32)
    ]
    claim_ = wanted(
        exactly("r", 2),
        exactly("s", 3),
        exactly("t", 3),
        constraints=[match("a", "r", "s"), match("b", "s", "t"), distinct("c")],
    )
    asked = itertools.count()

    got = place(
        cluster(devices(*parts)),
        [claim_],
        quirks="1.36",
        budget=Budget(stop=lambda: next(asked) > 1),
    )

    assert isinstance(got, GaveUp)
    assert got.steps >= 256


def test_stopping_is_asked_for_between_nodes_without_devices():
    world = cluster(node("n1"), node("n2"))

    got = place(world, [wanted(exactly())], budget=Budget(stop=lambda: True))

    assert isinstance(got, GaveUp)


def test_far_nodes_are_answered_like_near_ones():
    """Beyond the first node selectors run on many devices at once."""
    names = [f"n{i:02}" for i in range(30)]
    world = cluster(
        *(node(n) for n in names),
        *(on(n, *gpus(2, a=string(n))) for n in names[:-1]),
        on(names[-1], device("odd"), *gpus(1, a=string("n29"))),
    )

    def the(name):
        return [wanted(exactly("r", 1, f"{attribute('a')} == '{name}'"))]

    got = place(world, the("n28"))

    assert isinstance(got, Fits)
    assert got.node_name == "n28"
    with pytest.raises(
        AllocationError, match="selector #0: CEL runtime error: no such"
    ):
        place(world, the("n29"))
    with pytest.raises(AllocationError, match="CEL compile error"):
        place(world, [wanted(exactly("r", 1, "nope"))])
