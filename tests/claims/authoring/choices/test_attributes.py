"""Attributes for a constraint: only those that make sense, and what they would do."""

from __future__ import annotations

from claims.authoring.choices import Ask, AttributeChoice, attribute_choices
from dra.allocation import Features
from dra.snapshot import Snapshot
from tests.dra.allocation.world import cluster, device_class, string
from tests.dra.builders import Json, device, node, piece

ROOT = "resource.kubernetes.io/pcieRoot"
NUMA = "resource.kubernetes.io/numaNode"
PAIR = [Ask("gpu.nvidia.com", name="gpu"), Ask("rdma.dra.net", name="nic")]


def found(snapshot: Snapshot, *asks: Ask) -> dict[str, AttributeChoice]:
    return {choice.name: choice for choice in attribute_choices(snapshot, asks)}


def one_node(*devices: Json) -> Snapshot:
    return cluster(piece("s", *devices, pool="p"))


def with_attributes(name: str, **attributes: Json) -> Json:
    return device(name, attributes=attributes)


def test_a_gpu_and_a_nic_can_share_what_drivers_agree_on(demo: Snapshot) -> None:
    choices = attribute_choices(demo, PAIR)
    assert [choice.name for choice in choices] == [
        NUMA,
        ROOT,
        "resource.kubernetes.io/pciBusID",
    ]
    numa, root, _ = choices
    assert [c.text for c in root.coverage] == ["84 of 84", "64 of 64"]
    assert [c.request for c in root.coverage] == ["gpu", "nic"]
    assert root.good_for_match
    assert root.nodes == root.match_nodes == 8
    assert numa.is_standard
    assert "Match it to keep devices near the same memory" in numa.meaning
    assert root.sentence.startswith(
        "Match: enough devices have the same value on all 8"
    )


def test_an_address_is_no_good_for_match(demo: Snapshot) -> None:
    address = found(demo, *PAIR)["resource.kubernetes.io/pciBusID"]
    assert (address.match_nodes, address.good_for_match) == (0, False)
    assert address.good_for_distinct


def test_what_every_device_has_for_itself_is_good_for_distinct_only(
    demo: Snapshot,
) -> None:
    uuid = found(demo, Ask("gpu.nvidia.com", count=2))["gpu.nvidia.com/uuid"]
    assert uuid.unique
    assert (uuid.good_for_match, uuid.good_for_distinct) == (False, True)
    assert uuid.sentence.startswith(
        "Every device has a value of its own. Match can never be met."
    )


def test_partitions_of_one_gpu_share_its_uuid(demo: Snapshot) -> None:
    parent = found(demo, Ask("mig.nvidia.com", count=2))["gpu.nvidia.com/parentUUID"]
    assert (parent.unique, parent.good_for_match) == (False, True)


def test_what_is_the_same_on_a_whole_node_says_nothing(demo: Snapshot) -> None:
    product = found(demo, Ask("gpu.amd.com", count=2))["gpu.amd.com/productName"]
    assert not product.good_for_match
    assert not product.good_for_distinct
    assert product.sentence == (
        "All devices of a node have one value: match changes nothing, distinct can "
        "never be met."
    )


def test_requests_must_publish_it_with_the_same_type() -> None:
    world = cluster(
        device_class("a", 'device.driver == "a.example"'),
        device_class("b", 'device.driver == "b.example"'),
        piece(
            "s1",
            with_attributes(
                "d", **{"x.example/n": {"int": 1}, "x.example/s": string("a")}
            ),
            driver="a.example",
        ),
        piece(
            "s2",
            with_attributes(
                "d", **{"x.example/n": string("1"), "x.example/s": string("a")}
            ),
            driver="b.example",
        ),
    )
    assert found(world, Ask("a"), Ask("b")).keys() == {"x.example/s"}


def test_coverage_says_how_many_of_each_request_have_it() -> None:
    world = one_node(
        with_attributes("d0", at=string("a")),
        with_attributes("d1", at=string("a")),
        with_attributes("d2", at=string("b")),
        device("d3"),
    )
    at = found(world, Ask("gpu", count=2))["gpu.example.com/at"]
    assert at.coverage[0].text == "3 of 4"
    assert at.values == (("a", 2), ("b", 1))
    assert at.distinct == 2


def test_lists_are_marked() -> None:
    features = Features.preset("1.36").override({"listTypeAttributes": True})
    world = one_node(
        with_attributes("d0", at={"strings": ["a", "b"]}),
        with_attributes("d1", at={"strings": ["b", "c"]}),
    )
    (at,) = attribute_choices(world, [Ask("gpu", count=2)], features)
    assert (at.is_list, at.type) == (True, "string")
    assert (at.match_nodes, at.distinct_nodes) == (1, None)
    assert "have a value in common" in at.sentence


def test_two_requests_may_have_shares_of_one_device() -> None:
    world = one_node(
        {**with_attributes("d0", uuid=string("x")), "allowMultipleAllocations": True},
        {**with_attributes("d1", uuid=string("y")), "allowMultipleAllocations": True},
    )
    uuid = found(world, Ask("gpu", name="a"), Ask("gpu", name="b"))[
        "gpu.example.com/uuid"
    ]
    assert uuid.good_for_match
    assert "every request gets a share of the same device" in uuid.sentence


def test_one_device_has_nothing_to_agree_with() -> None:
    world = one_node(
        with_attributes("d0", at=string("a")), with_attributes("d1", at=string("b"))
    )
    at = found(world, Ask("gpu"))["gpu.example.com/at"]
    assert not at.good_for_match
    assert at.sentence == "One device has nothing to agree with: ask for more than one."


def test_too_few_devices_are_too_few_with_any_constraint() -> None:
    world = one_node(with_attributes("d0", at=string("a")))
    at = found(world, Ask("gpu", count=3))["gpu.example.com/at"]
    assert (at.nodes, at.match_nodes) == (0, 0)
    assert at.sentence == (
        "No node has enough devices for the requests, with or without a constraint."
    )


def test_nothing_is_offered_without_devices(demo: Snapshot) -> None:
    assert attribute_choices(demo, []) == []
    assert attribute_choices(demo, [*PAIR, Ask("no-such-class")]) == []
    assert attribute_choices(demo, [Ask("gpu.amd.com", ("false",))]) == []


def test_new_devices_are_seen() -> None:
    world = one_node(with_attributes("d0", at=string("a")))
    assert found(world, Ask("gpu", count=2))["gpu.example.com/at"].nodes == 0
    more = world.refresh(
        [
            node("n2"),
            piece(
                "t",
                with_attributes("d0", at=string("a")),
                with_attributes("d1", at=string("a")),
                pool="q",
                nodeName="n2",
            ),
        ],
        (),
        seq=2,
    )
    assert found(more, Ask("gpu", count=2))["gpu.example.com/at"].match_nodes == 1
