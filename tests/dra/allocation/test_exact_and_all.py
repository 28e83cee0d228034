"""Requests for a number of devices and for all of them."""

from __future__ import annotations

import pytest

from dra.allocation import AllocationError, DoesNotFit, Fits
from dra.allocation.matching import MAX_CHAINS
from dra.allocation.views import view_of
from tests.dra.allocation.world import (
    ask,
    attribute,
    cluster,
    device_class,
    devices,
    everything,
    exactly,
    given,
    match,
    string,
    wanted,
)
from tests.dra.builders import claim, device, node, piece, result

THREE = [device(f"gpu-{i}", attributes={"index": {"int": i}}) for i in range(3)]


def test_the_first_devices_in_order_are_given():
    world = cluster(devices(*THREE))

    assert given(ask(world, wanted(exactly(count=2)))) == ["r=gpu-0", "r=gpu-1"]


def test_order_is_driver_then_pool_then_slice_name_then_place_in_the_slice():
    world = cluster(
        piece("s-1", device("d"), pool="a", driver="z.example.com"),
        piece("s-2", device("c"), pool="b"),
        piece("s-4", device("b"), pool="a", of=2),
        piece("s-3", device("z"), device("a"), pool="a", of=2),
    )

    got = given(ask(world, wanted(exactly(count=5))))

    assert [g.removeprefix("r=") for g in got] == ["z", "a", "b", "c", "d"]


def test_pools_with_binding_conditions_come_last():
    world = cluster(
        piece("s-1", device("a", bindingConditions=["ready"]), pool="a"),
        piece("s-2", device("b"), pool="b"),
    )

    assert given(ask(world, wanted(exactly()))) == ["r=b"]


def test_selectors_of_class_and_request_must_all_pass():
    world = cluster(devices(*THREE), device_class("gpu", f"{attribute('index')} > 0"))

    got = ask(world, wanted(exactly("r", 1, f"{attribute('index')} != 1")))

    assert given(got) == ["r=gpu-2"]


def test_a_device_in_use_is_left_out_and_not_even_evaluated():
    world = cluster(
        devices(device("gpu-0"), *THREE[1:]),
        claim("other", result("gpu-0")),
    )

    got = ask(world, wanted(exactly("r", 1, f"{attribute('index')} == 1")))

    assert given(got) == ["r=gpu-1"]


def test_a_selector_that_fails_on_a_reached_device_is_an_error():
    world = cluster(devices(device("gpu-0")))

    with pytest.raises(AllocationError, match=r"claim default/wanted, request r: sel"):
        ask(world, wanted(exactly("r", 1, f"{attribute('index')} == 1")))


def test_a_selector_that_fails_behind_the_solution_is_not_noticed():
    world = cluster(devices(THREE[0], device("gpu-x")))

    got = ask(world, wanted(exactly("r", 1, f"{attribute('index')} == 0")))

    assert given(got) == ["r=gpu-0"]


def test_an_expression_that_does_not_compile_is_an_error_once_a_device_is_there():
    hopeless = wanted(exactly("r", 1, "nope"))

    assert isinstance(ask(cluster(), hopeless), DoesNotFit)
    with pytest.raises(AllocationError, match="CEL compile error"):
        ask(cluster(devices(device())), hopeless)


def test_a_class_error_names_the_class():
    world = cluster(devices(device()), device_class("gpu", "nope"))

    with pytest.raises(AllocationError, match=r"^class gpu: selector #0: CEL"):
        ask(world, wanted(exactly()))


def test_earlier_requests_move_when_later_ones_need_their_device():
    world = cluster(devices(*THREE))

    got = ask(
        world,
        wanted(exactly("x"), exactly("y", 1, f"{attribute('index')} == 0")),
    )

    assert given(got) == ["x=gpu-1", "y=gpu-0"]


def test_earlier_claims_move_as_well():
    world = cluster(devices(*THREE[:2]))

    got = ask(
        world,
        wanted(exactly("x"), name="one"),
        wanted(exactly("y", 1, f"{attribute('index')} == 0"), name="two"),
    )

    assert given(got) == ["x=gpu-1", "y=gpu-0"]


def test_no_claims_fit_anywhere():
    assert ask(cluster()) == Fits("n1", ())


def test_a_claim_may_hold_32_devices_and_no_more():
    world = cluster(devices(*(device(f"d{i:02}") for i in range(40))))

    assert len(given(ask(world, wanted(exactly(count=32))))) == 32
    with pytest.raises(AllocationError, match="33 exceeds the claim limit of 32"):
        ask(world, wanted(exactly(count=33)))
    with pytest.raises(AllocationError, match="40 exceeds the claim limit of 32"):
        ask(world, wanted(everything()))
    with pytest.raises(AllocationError, match="40 exceeds"):
        ask(world, wanted(exactly("x", 20), exactly("y", 20)))


def test_the_limit_is_per_claim():
    world = cluster(devices(*(device(f"d{i:02}") for i in range(40))))

    got = ask(
        world,
        wanted(exactly(count=20), name="one"),
        wanted(exactly(count=20), name="two"),
    )

    assert len(given(got)) == 40


# --- all ---------------------------------------------------------------------


def test_all_means_every_matching_device():
    world = cluster(devices(*THREE))

    got = ask(world, wanted(everything("r", f"{attribute('index')} > 0")))

    assert given(got) == ["r=gpu-1", "r=gpu-2"]


def test_all_needs_at_least_one():
    assert isinstance(ask(cluster(), wanted(everything())), DoesNotFit)


def test_all_fails_while_one_of_them_is_in_use():
    world = cluster(devices(*THREE), claim("other", result("gpu-1")))

    got = ask(world, wanted(everything()))

    assert isinstance(got, DoesNotFit)
    assert got.reason == (
        "Request r wants all 3 matching devices of node n1, but only 2 can be had: "
        "1 in use."
    )


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (piece("s", device(), pool="other", of=2, driver="z.example.com"), "updated"),
        (
            piece("s", device(), device(), pool="other", driver="z.example.com"),
            "invalid",
        ),
    ],
)
def test_all_has_no_answer_while_any_pool_of_the_node_is_not_usable(broken, words):
    world = cluster(devices(*THREE), broken)

    with pytest.raises(AllocationError, match=f"z.example.com/other is .*{words}"):
        ask(world, wanted(everything()))


def test_all_under_a_constraint_that_cannot_hold_is_an_error():
    parts = [device(n, attributes={"a": string(n)}) for n in ("x", "y")]
    world = cluster(devices(*parts))

    with pytest.raises(AllocationError, match="constraint would not be satisfied"):
        ask(world, wanted(everything(), constraints=[match("a")]))


# --- pools and nodes ----------------------------------------------------------


def test_incomplete_pools_give_nothing():
    world = cluster(piece("s", device(), of=2))

    assert isinstance(ask(world, wanted(exactly())), DoesNotFit)


def test_an_invalid_pool_makes_a_missing_fit_an_error_of_this_node_only():
    world = cluster(piece("s", device(), device()))

    with pytest.raises(AllocationError, match="invalid resource pools") as caught:
        ask(world, wanted(exactly()))

    assert caught.value.node_only


def test_an_invalid_pool_does_not_matter_when_others_suffice():
    world = cluster(piece("s", device(), device()), piece("t", device(), pool="good"))

    assert given(ask(world, wanted(exactly()))) == ["r=gpu-0"]


def test_slices_of_other_nodes_are_not_for_this_one():
    world = cluster(node("n1"), node("n2"), devices(device(), nodeName="n2"))

    assert isinstance(ask(world, wanted(exactly())), DoesNotFit)


def test_devices_may_choose_their_nodes_themselves():
    world = cluster(
        node("n1", zone="a"),
        devices(
            device("far", nodeName="n2"),
            device("near", nodeSelector=in_zone("a")),
            perDeviceNodeSelection=True,
        ),
    )

    assert given(ask(world, wanted(exactly()))) == ["r=near"]


def in_zone(zone):
    term = {"key": "zone", "operator": "In", "values": [zone]}
    return {"nodeSelectorTerms": [{"matchExpressions": [term]}]}


def test_a_node_selector_that_cannot_be_read_is_an_error():
    bad = in_zone("a")
    bad["nodeSelectorTerms"][0]["matchExpressions"][0]["operator"] = "Bogus"
    world = cluster(devices(device(), nodeSelector=bad))

    with pytest.raises(AllocationError, match="gather pool information"):
        ask(world, wanted(exactly()))


def test_a_node_that_does_not_exist_is_an_error():
    with pytest.raises(AllocationError, match="node n1 does not exist"):
        ask(cluster(node("n2")), wanted(exactly()))


def test_selectors_without_an_expression_are_an_error():
    empty = exactly(selectors=[{}])

    with pytest.raises(AllocationError, match="CEL expression empty"):
        ask(cluster(devices(device())), wanted(empty))


def test_the_apis_defaults_are_filled_in():
    world = cluster(devices(*THREE))
    bare = {"name": "r", "exactly": {"deviceClassName": "gpu"}}

    assert given(ask(world, wanted(bare))) == ["r=gpu-0"]


def test_a_new_expression_of_the_same_class_is_not_answered_from_memory():
    piece_of_three = devices(*THREE)
    world = cluster(piece_of_three, device_class("gpu", f"{attribute('index')} == 1"))
    changed = world.edit(add=[device_class("gpu", f"{attribute('index')} == 2")])

    assert given(ask(world, wanted(exactly()))) == ["r=gpu-1"]
    assert given(ask(changed, wanted(exactly()))) == ["r=gpu-2"]


def test_what_is_remembered_of_a_slice_is_bounded():
    world = cluster(devices(*THREE))
    (made,) = world.slices.values()

    for i in range(MAX_CHAINS + 50):
        got = ask(
            world, wanted(exactly("r", 1, f"{attribute('index')} >= {i % 3} + {i} * 0"))
        )
        assert given(got) == [f"r=gpu-{i % 3}"]

    assert len(view_of(made).verdicts) <= MAX_CHAINS
