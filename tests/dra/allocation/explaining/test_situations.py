"""What people ran into, and the reason they should have been given."""

from __future__ import annotations

import pytest

from dra.allocation import DoesNotFit, GaveUp, allocate
from dra.allocation.explaining import explain
from dra.allocation.features import Features
from dra.allocation.outcome import Budget
from dra.allocation.placing import Question
from tests.dra.allocation.explaining.test_explain import losses, on, relaxed, stage
from tests.dra.allocation.world import (
    ask,
    attribute,
    cluster,
    device_class,
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

FEATURES = Features.preset("1.36")


def why(world, *claims, **options):
    return explain(world, claims, features=FEATURES, **options)


def test_a_constraint_on_an_attribute_nobody_has_offers_those_that_are_there():
    parts = [
        device(
            f"gpu-{i}",
            attributes={
                "parentDeviceID": string(f"99491394031886849{i // 2}"),
                "parentPciAddr": string(f"0000:0{1 + i // 2}:00.0"),
                "cardIndex": {"int": i},
            },
        )
        for i in range(4)
    ]
    pair = (exactly("p0"), exactly("p1"))

    found = why(
        cluster(on("n1", *parts)),
        wanted(*pair, constraints=[match("deviceID", "p0", "p1")]),
    )

    (agreement,) = found.requests[0].agreements
    assert (agreement.most, agreement.without, agreement.split) == (0, 4, ())
    offered = [r.after for r in found.relaxations if r.code == "other attribute"]
    assert offered == [f"{DRIVER}/parentDeviceID", f"{DRIVER}/parentPciAddr"]


def test_each_request_alone_can_be_served_where_the_combination_cannot():
    gpus = [device(f"gpu-{i}", attributes={"pciRoot": string("r0")}) for i in range(2)]
    nics = [
        device(f"nic-{i}", attributes={"resource.kubernetes.io/pcieRoot": string("r0")})
        for i in range(2)
    ]
    world = cluster(
        on("n1", *gpus),
        piece("nics", *nics, driver="nic.example.com", pool="nics"),
        device_class("gpu", f'device.driver == "{DRIVER}"'),
        device_class("nic", 'device.driver == "nic.example.com"'),
    )
    together = [{"matchAttribute": "resource.kubernetes.io/pcieRoot"}]

    found = why(
        world,
        wanted(exactly("gpu"), exactly("nic", cls="nic"), constraints=together),
    )

    gpu, nic = found.requests
    assert stage(found, "counters").devices == 2
    assert gpu.agreements[0].without == 2
    assert (nic.nodes, nic.agreements[0].without) == (1, 0)
    assert "attribute" in found.sentence
    dropped = ("drop constraint", "matchAttribute: resource.kubernetes.io/pcieRoot", "")
    assert dropped in relaxed(found)


def test_minus_one_is_an_ordinary_number_that_two_devices_can_share():
    nics = [device(f"e{i}", attributes={"numa_node": {"int": -1}}) for i in range(2)]

    found = ask(
        cluster(on("n1", *nics)),
        wanted(exactly("r", 2), constraints=[match("numa_node")]),
    )

    assert given(found) == ["r=e0", "r=e1"]


def test_all_devices_of_a_node_without_any_is_no_fit():
    found = why(cluster(node("n1")), wanted(everything("r")))

    assert found.verdict == "hopeless"
    assert "No usable device is published" in found.sentence


def test_all_devices_are_not_to_be_had_while_one_is_held_but_with_admin_access():
    world = cluster(
        on("n1", device("a"), device("b")), claim("h", result("b", pool="n1"))
    )

    assert why(world, wanted(everything("r"))).verdict == "full"
    watching = wanted(everything("r", adminAccess=True))
    assert given(ask(world, watching, features=FEATURES)) == ["r=a", "r=b"]


def test_slices_by_name_and_devices_in_their_order_decide_who_is_first():
    world = cluster(
        piece("00001-x", device("cpu-b"), device("cpu-a"), of=2),
        piece("00000-x", device("cpu-z"), of=2),
    )

    assert given(ask(world, wanted(exactly("r", 3)))) == [
        "r=cpu-z",
        "r=cpu-b",
        "r=cpu-a",
    ]


@pytest.mark.parametrize(
    ("requests", "problem"),
    [
        ([exactly("r", 33)], "33 exceeds the claim limit of 32"),
        ([exactly("a", 20), exactly("b", 20)], "40 exceeds the claim limit of 32"),
        ([everything("r")], "40 exceeds the claim limit of 32"),
        ([exactly("r", 32)], ""),
        ([exactly("r", 20)], ""),
        ([first_of("r", exactly("many", 33), exactly("few", 20))], ""),
    ],
)
def test_a_claim_holds_32_devices_at_most(requests, problem):
    world = cluster(on("n1", *(device(f"cpu-{n:03}") for n in range(40))))

    found = why(world, wanted(*requests))

    assert found.verdict == ("refused" if problem else "fits")
    assert problem in found.sentence


def test_the_whole_of_a_cut_gpu_waits_for_the_claim_that_draws_on_its_counters():
    world = cluster(
        piece(
            "counters",
            pool="n1",
            of=2,
            sharedCounters=[
                counter_set("gpu-0", memory="40320Mi", multiprocessors="98")
            ],
        ),
        on(
            "n1",
            device(
                "full",
                consumesCounters=[
                    consumes("gpu-0", memory="40320Mi", multiprocessors="98")
                ],
            ),
            device(
                "half",
                consumesCounters=[
                    consumes("gpu-0", memory="19968Mi", multiprocessors="42")
                ],
            ),
            of=2,
        ),
        device_class("gpu"),
        device_class("whole", 'device.driver == "gpu.example.com"'),
        claim("holder", result("half", pool="n1")),
    )

    found = why(world, wanted(exactly()))

    short = {x.name: x.note for x in stage(found, "counters").losses}
    assert short == {
        "memory of gpu-0": "19968Mi short",
        "multiprocessors of gpu-0": "42 short",
    }
    assert losses(found, "not in use") == [("claim", "default/holder", 1)]
    assert relaxed(found) == {("wait", "default/holder", ""): "n1"}


def test_counters_are_charged_once_for_a_shared_device():
    policy = {"default": "10Gi", "validRange": {"min": "1Gi", "max": "40Gi"}}
    shared = {"value": "40Gi", "requestPolicy": policy}
    share: Json = {"shareID": "s", "consumedCapacity": {"memory": "10Gi"}}
    world = cluster(
        piece("counters", pool="n1", of=2, sharedCounters=[counter_set("g", m="80Gi")]),
        on(
            "n1",
            device(
                "half",
                allowMultipleAllocations=True,
                capacity={"memory": shared},
                consumesCounters=[consumes("g", m="40Gi")],
                attributes={"kind": string("half")},
            ),
            device(
                "full",
                consumesCounters=[consumes("g", m="80Gi")],
                attributes={"kind": string("full")},
            ),
            of=2,
        ),
        claim("sharer", result("half", pool="n1", **share)),
    )

    full = why(world, wanted(exactly("r", 1, f'{attribute("kind")} == "full"')))
    half = ask(
        world,
        wanted(exactly("r", 1, f'{attribute("kind")} == "half"')),
        features=FEATURES,
    )

    assert full.verdict == "full"
    assert ("wait", "default/sharer", "") in relaxed(full)
    assert given(half) == ["r=half"]


def nic(name):
    policy = {
        "default": "1G",
        "validRange": {"min": "100M", "max": "10G", "step": "100M"},
    }
    return device(
        name,
        allowMultipleAllocations=True,
        capacity={"bandwidth": {"value": "10G", "requestPolicy": policy}},
    )


def nics():
    share: Json = {"shareID": "s", "consumedCapacity": {"bandwidth": "10G"}}
    return cluster(
        on("n1", nic("nic-0"), nic("nic-1")),
        claim("used", result("nic-0", pool="n1", **share)),
    )


def asked_for(**requests):
    return wanted(exactly("r", 1, capacity={"requests": requests}))


def test_a_full_shared_device_does_not_hide_the_next_one():
    (fits,) = [ask(nics(), asked_for(bandwidth="1050M"), features=FEATURES)]

    assert given(fits) == ["r=nic-1"]


@pytest.mark.parametrize(
    ("requests", "name", "note"),
    [
        (
            {"bandwidth": "11G"},
            "bandwidth",
            "11G wanted, more than the most it gives, 10G",
        ),
        ({"bandwith": "1G"}, "bandwith", "not published by the device"),
    ],
)
def test_an_amount_that_cannot_be_had_is_named(requests, name, note):
    found = why(nics(), asked_for(**requests))

    (loss,) = stage(found, "capacity").losses
    assert (loss.what, loss.name, loss.note, loss.devices) == (
        "capacity",
        name,
        note,
        2,
    )


def test_a_share_that_does_not_fit_says_what_is_left():
    share: Json = {"shareID": "s", "consumedCapacity": {"bandwidth": "9G"}}
    world = cluster(
        on("n1", nic("nic-0")), claim("used", result("nic-0", pool="n1", **share))
    )

    found = why(world, asked_for(bandwidth="2G"))

    (loss,) = stage(found, "capacity").losses
    assert loss.note == "2G wanted, 1G left"
    assert ("wait", "default/used", "") in relaxed(found)


def test_80gi_that_is_not_80gi_is_a_near_miss_with_a_way_out():
    cards = [
        device(f"gpu-{i}", capacity={"memory": {"value": "81559Mi"}}) for i in range(3)
    ]
    at_least = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("80Gi")) >= 0'

    found = why(cluster(on("n1", *cards)), wanted(exactly("r", 1, at_least)))

    (miss,) = found.requests[0].misses
    assert (miss.devices, miss.values) == (3, (("81559Mi", 3),))
    loosened = [r for r in found.relaxations if r.code == "loosen term"]
    assert loosened, found.relaxations


def impossible():
    gpus = [device(f"gpu-{i}", attributes={"group": {"int": 0}}) for i in range(24)]
    card = device("nic-0", attributes={f"{DRIVER}/group": {"int": 1}})
    world = cluster(
        on("n1", *gpus),
        piece("nics", card, driver="nic.example.com", pool="nics"),
        device_class("gpu", f'device.driver == "{DRIVER}"'),
        device_class("nic", 'device.driver == "nic.example.com"'),
    )
    return world, wanted(
        exactly("gpus", 8),
        exactly("nic", cls="nic"),
        constraints=[match("group")],
    )


@pytest.mark.parametrize("quirks", ["none", "1.36"])
def test_a_small_claim_with_a_huge_search_is_decided_in_few_steps(quirks):
    world, both = impossible()
    question = Question(
        world, [both], features=FEATURES, quirks=quirks, budget=Budget(steps=5_000)
    )

    assert isinstance(question.on_node("n1"), DoesNotFit)


def test_giving_up_is_not_the_same_as_not_fitting():
    world, both = impossible()

    outcome = allocate(world, [both], "n1", features=FEATURES, budget=Budget(steps=5))
    found = explain(world, [both], features=FEATURES, stop=lambda: True)

    assert isinstance(outcome, GaveUp)
    assert found.verdict == "undecided"
    assert found.sentence.startswith("Undecided")
