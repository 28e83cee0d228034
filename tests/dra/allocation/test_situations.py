"""What people ran into, and the answer they should have got."""

from __future__ import annotations

import pytest

from dra.allocation import AllocationError, DoesNotFit, Fits, allocate, place
from dra.objects import write
from tests.dra.allocation.world import (
    ask,
    attribute,
    cluster,
    device_class,
    devices,
    everything,
    exactly,
    first_of,
    given,
    match,
    string,
    wanted,
)
from tests.dra.builders import (
    DRIVER,
    Json,
    claim,
    consumes,
    counter_set,
    device,
    node,
    piece,
    result,
)


@pytest.mark.parametrize(
    "spelling", ["6.19.14.31400000", "580.159.04", "1.2", "", "v1.2.3"]
)
def test_a_version_that_is_none_fails_every_selector_of_its_device(spelling):
    bad = device(attributes={"driverVersion": {"version": spelling}})
    world = cluster(devices(bad), device_class("gpu", f'device.driver == "{DRIVER}"'))

    with pytest.raises(
        AllocationError, match=r"class gpu: .*attribute driverVersion: "
    ):
        ask(world, wanted(exactly()))


def test_an_attribute_that_the_new_driver_dropped_is_named():
    world = cluster(devices(device(attributes={"productName": string("GB200")})))
    name, index = attribute("productName"), attribute("index")

    with pytest.raises(
        AllocationError, match=r"claim default/wanted.*no such key: index"
    ):
        ask(world, wanted(exactly("gpu", 1, f'{name} == "GB200" && {index} == 1')))
    safe = f"{attribute('?index')}.orValue(-1) == 1"
    assert isinstance(ask(world, wanted(exactly("gpu", 1, safe))), DoesNotFit)


def by_driver(gpu_driver: str, count: int):
    """A class of everything, and a selector that only GPUs can answer."""
    world = cluster(
        piece(
            "g",
            device("gpu-0", attributes={"gpu.example.com/model": string("A")}),
            driver=gpu_driver,
        ),
        piece(
            "n",
            device("eth1", attributes={"speed": {"int": 100}}),
            driver="nic.example.com",
        ),
    )
    expression = 'device.attributes["gpu.example.com"].model == "A"'
    return ask(world, wanted(exactly("r", count, expression)))


def test_a_selector_that_fails_on_another_drivers_devices_works_only_by_order():
    assert given(by_driver("gpu.example.com", 1)) == ["r=gpu-0"]
    with pytest.raises(AllocationError, match="no such key: model"):
        by_driver("gpu.example.com", 2)
    with pytest.raises(AllocationError, match="no such key: model"):
        by_driver("z.example.com", 1)


def test_partitions_of_one_parent_need_the_name_that_the_driver_publishes():
    parts = [
        device(f"gpu-{i}", attributes={"parentPciAddr": string(f"0000:0{1 + i // 2}")})
        for i in range(4)
    ]
    world = cluster(devices(*parts))
    pair = (exactly("p0"), exactly("p1"))

    wrong = ask(world, wanted(*pair, constraints=[match("deviceID", "p0", "p1")]))
    right = ask(world, wanted(*pair, constraints=[match("parentPciAddr", "p0", "p1")]))

    assert isinstance(wrong, DoesNotFit)
    assert "none of its 4 free devices has that attribute" in wrong.reason
    assert given(right) == ["p0=gpu-0", "p1=gpu-1"]


def test_a_pool_that_announces_no_slices_is_never_complete():
    assert isinstance(
        ask(cluster(piece("s", device(), of=0)), wanted(exactly())), DoesNotFit
    )


def test_of_a_half_done_update_nothing_is_allocated():
    world = cluster(
        piece("s-new", device("gpu-0"), generation=2, of=2),
        piece("s-old", device("gpu-1"), generation=1, of=2),
    )

    assert isinstance(ask(world, wanted(exactly())), DoesNotFit)


def test_all_devices_on_the_node_next_to_one_that_is_being_updated():
    world = cluster(
        node("n1"),
        node("n2"),
        piece("a", device("gpu-0"), pool="n1", generation=5, of=2),
        piece("b", device("gpu-0"), device("gpu-1"), pool="n2", nodeName="n2"),
    )
    all_gpus = [wanted(everything())]

    with pytest.raises(AllocationError, match="n1 is currently being updated"):
        allocate(world, all_gpus, "n1")
    assert given(place(world, all_gpus)) == ["r=gpu-0", "r=gpu-1"]
    with pytest.raises(AllocationError, match="currently being updated"):
        place(world, all_gpus, quirks="1.36")


def mig_pool() -> list[Json]:
    def part(name: str, kind: str, memory: str, processors: str) -> Json:
        return device(
            name,
            attributes={"type": string(kind)},
            consumesCounters=[consumes("set", memory=memory, processors=processors)],
        )

    counters = counter_set("set", memory="40320Mi", processors="98")
    return [
        piece("counters", of=2, sharedCounters=[counters]),
        piece(
            "devices",
            part("whole", "gpu", "40320Mi", "98"),
            part("third-0", "mig", "19968Mi", "42"),
            part("third-4", "mig", "19968Mi", "42"),
            of=2,
        ),
        device_class("gpu", f'{attribute("type")} == "gpu"'),
        device_class("mig", f'{attribute("type")} == "mig"'),
    ]


def test_partitions_and_the_whole_are_alternatives():
    world = cluster(*mig_pool(), claim("used", result("third-0")))

    assert isinstance(ask(world, wanted(exactly())), DoesNotFit)
    assert given(ask(world, wanted(exactly(cls="mig")))) == ["r=third-4"]
    assert isinstance(ask(world, wanted(exactly(count=2, cls="mig"))), DoesNotFit)


def test_a_monitoring_claim_gets_devices_in_use_too():
    world = cluster(
        devices(device("gpu-0"), device("gpu-1")), claim("job", result("gpu-0"))
    )

    got = ask(world, wanted(everything(adminAccess=True)))

    assert given(got) == ["r=gpu-0", "r=gpu-1"]


def test_pods_placed_one_after_another_do_not_look_ahead():
    world = cluster(*mig_pool())
    either = first_of("r", exactly("full"), exactly("part", cls="mig"))
    one, two = wanted(either, name="one"), wanted(either, name="two")

    alone = ask(world, one)
    assert given(alone) == ["r/full=whole"]
    assert isinstance(alone, Fits)
    status = {"status": {"allocation": write(alone.allocations[0])}}
    later = world.edit(add=[{**claim("one"), **status}])

    assert isinstance(ask(later, two), DoesNotFit)
    assert given(ask(world, one, two)) == ["r/part=third-0", "r/part=third-4"]


def test_an_allocation_without_devices_holds_nothing():
    empty = {**claim("empty"), "status": {"allocation": {}}}
    nulls = {
        **claim("nulls"),
        "status": {"allocation": {"devices": {"results": None, "config": None}}},
    }

    assert given(ask(cluster(devices(device()), empty, nulls), wanted(exactly()))) == [
        "r=gpu-0"
    ]
