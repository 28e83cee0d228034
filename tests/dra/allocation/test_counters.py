"""Devices that draw from shared counters."""

from __future__ import annotations

import pytest

from dra.allocation import AllocationError, DoesNotFit, Features, Fits
from tests.dra.allocation.world import (
    ask,
    attribute,
    cluster,
    exactly,
    given,
    match,
    string,
    wanted,
)
from tests.dra.builders import (
    DRIVER,
    claim,
    consumes,
    counter_set,
    device,
    piece,
    result,
)


def pool(*devices, total="80Gi", driver=DRIVER, sets=None, name="pool"):
    """A pool of two slices: the counters and the devices."""
    sets = sets or [counter_set("gpu", memory=total)]
    return [
        piece(f"{driver}-1", pool=name, of=2, driver=driver, sharedCounters=sets),
        piece(f"{driver}-2", *devices, pool=name, of=2, driver=driver),
    ]


def part(name, memory, *, of="gpu", **fields):
    return device(name, consumesCounters=[consumes(of, memory=memory)], **fields)


PARTS = [part("full", "80Gi"), part("half-a", "40Gi"), part("half-b", "40Gi")]


def kind(name):
    return {"attributes": {"kind": string(name)}}


def test_parts_fit_until_the_counters_are_used_up():
    world = cluster(*pool(*PARTS[1:], part("more", "1Gi")))

    assert given(ask(world, wanted(exactly(count=2)))) == ["r=half-a", "r=half-b"]
    assert isinstance(ask(world, wanted(exactly(count=3))), DoesNotFit)


def test_a_part_in_use_leaves_no_room_for_the_whole():
    world = cluster(*pool(*PARTS), claim("other", result("half-a")))

    assert given(ask(world, wanted(exactly()))) == ["r=half-b"]


def test_the_reason_says_that_counters_are_short():
    world = cluster(*pool(PARTS[0], PARTS[1]), claim("other", result("half-a")))

    got = ask(world, wanted(exactly()))

    assert isinstance(got, DoesNotFit)
    assert got.reason == (
        "2 devices match request r on node n1, but none can be had: 1 in use, "
        "1 without the capacity or counters left."
    )


def test_giving_a_device_up_returns_its_counters():
    world = cluster(
        *pool(
            part("big", "60Gi", **kind("x")),
            part("small", "40Gi", **kind("x")),
            part("y", "40Gi", **kind("y")),
        )
    )

    got = ask(
        world, wanted(exactly("x"), exactly("y", 1, f"{attribute('kind')} == 'y'"))
    )

    assert given(got) == ["x=small", "y=y"]


def test_an_in_use_device_that_is_no_longer_published_draws_nothing():
    world = cluster(*pool(PARTS[0]), claim("other", result("half-a")))

    assert given(ask(world, wanted(exactly()))) == ["r=full"]


def test_devices_need_partitionable_devices_to_use_counters():
    world = cluster(piece("s", part("full", "80Gi"), device("plain")))

    got = ask(world, wanted(exactly()), features=Features())

    assert given(got) == ["r=plain"]


def test_a_pool_that_refers_to_unknown_counters_is_invalid():
    world = cluster(*pool(part("x", "1Gi", of="nope")))

    with pytest.raises(AllocationError, match='counter set "nope"'):
        ask(world, wanted(exactly()))


def test_counters_of_a_device_refused_by_a_taint_are_free_again():
    tainted = [{"key": "k", "effect": "NoSchedule"}]
    world = cluster(*pool(part("full", "80Gi", taints=tainted), *PARTS[1:]))
    two = wanted(exactly(count=2))

    assert given(ask(world, two)) == ["r=half-a", "r=half-b"]
    assert isinstance(ask(world, two, quirks="1.36"), DoesNotFit)


def test_equal_pool_names_of_two_drivers_do_not_mix():
    world = cluster(
        *pool(part("d", "80Gi")),
        *pool(part("e", "80Gi"), part("f", "80Gi"), driver="z.example.com"),
    )
    two, three = wanted(exactly(count=2)), wanted(exactly(count=3))

    assert given(ask(world, two)) == ["r=d", "r=e"]
    assert isinstance(ask(world, three), DoesNotFit)
    assert isinstance(ask(world, two, quirks="1.36"), DoesNotFit)


def test_an_overcommitted_set_does_not_block_another():
    sets = [counter_set("gpu", memory="10Gi"), counter_set("other", memory="10Gi")]
    devices = [part("a", "20Gi"), part("b", "10Gi", of="other")]
    world = cluster(*pool(*devices, sets=sets), claim("other", result("a")))

    assert given(ask(world, wanted(exactly()))) == ["r=b"]
    assert isinstance(ask(world, wanted(exactly()), quirks="1.36"), DoesNotFit)


def test_a_shared_device_draws_once():
    shared = part(
        "half",
        "40Gi",
        allowMultipleAllocations=True,
        capacity={"memory": {"value": "40Gi", "requestPolicy": {"default": "10Gi"}}},
    )
    share = result(
        "half",
        shareID="00000000-0000-4000-8000-000000000001",
        consumedCapacity={"memory": "10Gi"},
    )
    world = cluster(*pool(shared, part("full", "80Gi")), claim("other", share))

    assert given(ask(world, wanted(exactly()))) == ["r=half"]
    assert isinstance(ask(world, wanted(exactly(count=2))), DoesNotFit)


def test_counter_pools_of_other_nodes_do_not_disturb_unless_asked_as_1_36():
    broken = [
        piece(
            "x-1", pool="far", of=3, nodeName="n2", sharedCounters=[counter_set("c")]
        ),
        piece("x-2", device("d"), pool="far", of=3, nodeName="n2"),
    ]
    world = cluster(piece("s", device("here")), *broken)
    everything = {"deviceClassName": "gpu", "allocationMode": "All"}
    claim_all = wanted({"name": "r", "exactly": everything})

    assert given(ask(world, claim_all)) == ["r=here"]
    with pytest.raises(AllocationError, match="currently being updated"):
        ask(world, claim_all, quirks="1.36")


GROUPS = Features.preset("1.37").override({"deviceCompatibilityGroups": True})


def grouped(name, *groups):
    use = {**consumes("gpu", memory="1Gi"), "compatibilityGroups": list(groups)}
    return device(name, consumesCounters=[use])


def test_devices_on_one_counter_set_need_a_common_compatibility_group():
    world = cluster(*pool(grouped("a", "x"), grouped("b", "y"), grouped("c", "x", "y")))
    two, three = wanted(exactly(count=2)), wanted(exactly(count=3))

    assert given(ask(world, two, features=GROUPS)) == ["r=a", "r=c"]
    assert isinstance(ask(world, three, features=GROUPS), DoesNotFit)
    assert len(given(ask(world, three))) == 3, "without the gate groups mean nothing"


def test_the_common_group_is_one_for_all_not_one_per_pair():
    parts = [grouped("a", "x", "y"), grouped("b", "y", "z"), grouped("c", "z", "x")]

    got = ask(cluster(*pool(*parts)), wanted(exactly(count=3)), features=GROUPS)

    assert isinstance(got, DoesNotFit)


def test_a_device_without_groups_goes_only_with_others_without():
    world = cluster(*pool(grouped("a", "x"), grouped("b"), grouped("c")))
    taken = world.edit(add=[claim("other", result("a"))])

    assert given(ask(world, wanted(exactly(count=2)), features=GROUPS)) == [
        "r=b",
        "r=c",
    ]
    assert isinstance(ask(taken, wanted(exactly()), features=GROUPS), DoesNotFit)


@pytest.mark.parametrize(("consumed", "fits"), [({}, True), (None, False)])
def test_a_share_with_an_empty_amount_has_drawn_the_counters(consumed, fits):
    """A quirk: one without any amount has not, so nothing is left for the next."""
    held = result(
        "half-a",
        shareID="00000000-0000-4000-8000-000000000001",
        **({} if consumed is None else {"consumedCapacity": consumed}),
    )
    shareable = part("half-a", "40Gi", allowMultipleAllocations=True)
    world = cluster(*pool(shareable, total="40Gi"), claim("other", held))

    got = ask(world, wanted(exactly()), quirks="1.36")

    assert isinstance(got, Fits if fits else DoesNotFit)


def test_a_share_that_takes_nothing_has_drawn_the_counters_until_another_is_given_up():
    """A quirk: then they would have to be drawn again, and nothing is left for that."""
    shared = part(
        "shared",
        "40Gi",
        allowMultipleAllocations=True,
        capacity={"lanes": {"value": "10"}},
        attributes={"kind": string("shared")},
    )
    other = device(
        "spare",
        capacity={"lanes": {"value": "10"}},
        attributes={"kind": string("spare")},
    )
    world = cluster(*pool(shared, other, total="40Gi"))
    only_shared = f'{attribute("kind")} == "shared"'

    def lanes(name, amount, *selectors):
        capacity = {"requests": {"lanes": amount}}
        return exactly(name, 1, *selectors, capacity=capacity)

    claim_ = wanted(
        lanes("nothing", "0", only_shared),
        lanes("five", "5"),
        lanes("six", "6", only_shared),
    )

    assert given(ask(world, claim_)) == ["nothing=shared", "five=spare", "six=shared"]
    assert isinstance(ask(world, claim_, quirks="1.36"), DoesNotFit)


def test_the_older_allocator_books_counters_for_devices_in_every_order():
    """A quirk: each order that is tried leaves the counters of refused devices booked."""
    kinds = {"x": "odd", "y": "even", "z": "even"}
    parts = [
        part(name, "1", attributes={"kind": string(kind)})
        for name, kind in kinds.items()
    ]
    world = cluster(*pool(*parts, total="4"))
    pair = wanted(exactly(count=2), constraints=[match("kind")])
    stable = Features(admin_access=True, partitionable_devices=True)

    assert given(ask(world, pair, quirks="1.36")) == ["r=y", "r=z"]
    assert given(ask(world, pair, features=stable)) == ["r=y", "r=z"]
    got = ask(world, pair, features=stable, quirks="1.36")
    assert isinstance(got, DoesNotFit)
