"""Consumable capacity: amounts, policies, shares."""

from __future__ import annotations

import uuid

import pytest

from dra.allocation import AllocationError, DoesNotFit, Features, Fits
from tests.dra.allocation.world import (
    ask,
    cluster,
    devices,
    everything,
    exactly,
    given,
    results,
    wanted,
)
from tests.dra.builders import claim, device, result

RANGE = {"default": "1G", "validRange": {"min": "100M", "max": "10G", "step": "100M"}}


def nic(name="nic-0", value="10G", policy=None, **fields):
    capacity = {"value": value, **({"requestPolicy": policy} if policy else {})}
    fields.setdefault("allowMultipleAllocations", True)
    return device(name, capacity={"bandwidth": capacity}, **fields)


def share(device_name, amount, number=1):
    return result(
        device_name,
        shareID=f"00000000-0000-4000-8000-{number:012}",
        consumedCapacity={"bandwidth": amount},
    )


def wants(amount=None, name="r", capacity="bandwidth"):
    if amount is None:
        return wanted(exactly(name))
    return wanted(exactly(name, capacity={"requests": {capacity: amount}}))


def consumed(outcome):
    assert isinstance(outcome, Fits), outcome
    return [
        (r.consumed_capacity or {}).get("bandwidth")
        for a in outcome.allocations
        for r in results(a)
    ]


@pytest.mark.parametrize(
    ("policy", "asked", "taken"),
    [
        (None, None, "10G"),
        (None, "3G", "3G"),
        (RANGE, None, "1G"),
        (RANGE, "1050M", "1100000000"),
        (RANGE, "1", "100M"),
        (RANGE, "10G", "9765625Ki"),
        ({"default": "2", "validRange": {"min": "1"}}, "1500m", "1500m"),
        ({"default": "2", "validRange": {"min": "1", "step": "1"}}, "1500m", "2"),
        ({"default": "2G", "validValues": ["2G", "4G"]}, "3G", "4G"),
        ({"default": "20M", "validRange": {"min": "100M"}}, None, "20M"),
    ],
)
def test_the_amount_is_the_request_rounded_as_the_policy_says(policy, asked, taken):
    got = ask(cluster(devices(nic(policy=policy))), wants(asked))

    assert consumed(got) == [taken]


@pytest.mark.parametrize(
    ("policy", "asked"),
    [
        (None, "11G"),
        (RANGE, "11G"),
        ({"default": "2G", "validValues": ["2G", "4G"]}, "5G"),
        ({"default": "1", "validRange": {"min": "1", "step": "2", "max": "4"}}, "4"),
        ({"default": "20G"}, None),
    ],
)
def test_an_amount_that_the_policy_or_the_device_does_not_have_does_not_fit(
    policy, asked
):
    got = ask(cluster(devices(nic(policy=policy))), wants(asked))

    assert isinstance(got, DoesNotFit)


def test_a_full_device_is_passed_over_for_the_next():
    world = cluster(
        devices(nic("nic-0", policy=RANGE), nic("nic-1", policy=RANGE)),
        claim("other", share("nic-0", "10G")),
    )

    assert given(ask(world, wants())) == ["r=nic-1"]


def test_shares_of_several_claims_add_up():
    world = cluster(
        devices(nic(policy=RANGE)),
        claim("one", share("nic-0", "4G", 1)),
        claim("two", share("nic-0", "5G", 2)),
    )

    assert consumed(ask(world, wants("1G"))) == ["1000000000"]
    assert isinstance(ask(world, wants("1100M")), DoesNotFit)


def test_two_requests_share_one_device_but_one_request_never_takes_it_twice():
    world = cluster(devices(nic(policy=RANGE)))

    assert given(ask(world, wanted(exactly("x"), exactly("y")))) == [
        "x=nic-0",
        "y=nic-0",
    ]
    assert isinstance(ask(world, wanted(exactly(count=2))), DoesNotFit)


def test_every_share_has_an_id_of_its_own():
    got = ask(cluster(devices(nic(policy=RANGE))), wanted(exactly("x"), exactly("y")))

    assert isinstance(got, Fits)
    ids = {r.share_id for r in results(got.allocations[0])}
    assert len(ids) == 2
    assert all(uuid.UUID(i or "").version == 4 for i in ids)


def test_an_unknown_capacity_name_leaves_the_device_out():
    world = cluster(
        devices(nic("nic-0"), device("other", capacity={"x": {"value": "1"}}))
    )

    assert given(ask(world, wants("1", capacity="x"))) == ["r=other"]
    assert isinstance(ask(world, wants("1", capacity="bandwith")), DoesNotFit)


def test_a_device_of_one_claim_gets_neither_share_nor_consumed_capacity():
    got = ask(cluster(devices(nic(allowMultipleAllocations=False))), wants("1G"))

    assert isinstance(got, Fits)
    (only,) = results(got.allocations[0])
    assert (only.share_id, only.consumed_capacity) == (None, None)


def test_somebody_who_holds_a_shareable_device_alone_blocks_it():
    world = cluster(devices(nic(policy=RANGE)), claim("other", result("nic-0")))

    assert isinstance(ask(world, wants()), DoesNotFit)


def test_leftover_shares_keep_a_device_that_is_no_longer_shareable():
    world = cluster(
        devices(nic(allowMultipleAllocations=False)),
        claim("other", share("nic-0", "1G")),
    )

    assert isinstance(ask(world, wants("1G")), DoesNotFit)
    assert given(ask(world, wants("1G"), quirks="1.36")) == ["r=nic-0"]


def test_devices_without_room_are_no_part_of_all():
    world = cluster(
        devices(nic("nic-0", policy=RANGE), nic("nic-1", policy=RANGE)),
        claim("other", share("nic-0", "10G")),
    )

    assert given(ask(world, wanted(everything()))) == ["r=nic-1"]


def test_backtracking_returns_capacity():
    world = cluster(devices(nic("nic-0", policy=RANGE), nic("nic-1", value="2G")))
    big = exactly("big", capacity={"requests": {"bandwidth": "9500M"}})
    small = exactly("small", capacity={"requests": {"bandwidth": "2G"}})

    assert given(ask(world, wanted(small, big))) == ["small=nic-1", "big=nic-0"]


def test_without_the_gate_a_shareable_device_is_one_claims():
    off = Features.preset("1.36").override({"consumableCapacity": False})
    world = cluster(devices(nic()))

    got = ask(world, wants(), features=off)

    assert isinstance(got, Fits)
    (only,) = results(got.allocations[0])
    assert only.share_id is None
    used = world.edit(add=[claim("other", share("nic-0", "1G"))])
    assert isinstance(ask(used, wants(), features=off), DoesNotFit)
    with pytest.raises(AllocationError, match="DRAConsumableCapacity feature is disab"):
        ask(world, wants("1G"), features=off)


def test_a_capacity_that_is_no_quantity_is_an_error_of_this_node():
    with pytest.raises(AllocationError, match='"lots" is not a quantity') as caught:
        ask(cluster(devices(nic(value="lots"))), wants())

    assert caught.value.node_only


@pytest.mark.parametrize(
    ("default", "fits"), [("1G", True), ("1Gi", True), ("1.5Gi", False)]
)
def test_a_default_outside_the_range_serves_if_kubernetes_holds_it_in_64_bits(
    default, fits
):
    policy = {"default": default, "validRange": {"min": "10M", "max": "100M"}}

    got = ask(cluster(devices(nic(policy=policy))), wants())

    assert isinstance(got, Fits if fits else DoesNotFit)
