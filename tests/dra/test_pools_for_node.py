"""What the allocator sees of pools for one node (allocator.md section 2)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from dra.errors import SelectorError
from dra.node_pools import pools_for_node
from dra.snapshot import Snapshot
from tests.dra.builders import consumes, counter_set, device, node, piece

ZONE_A = {
    "nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    ]
}
BROKEN = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone"}]}]}


@dataclass(frozen=True)
class Gates:
    partitionable_devices: bool = True


def seen(*slices, on="n1", partitionable=True, **options):
    snapshot = Snapshot.build(
        [node("n1", zone="a"), node("n2", zone="b"), *slices],
    )
    gates = Gates(partitionable)
    return pools_for_node(snapshot, snapshot.nodes[on], gates, **options)


def names(pools):
    return [pool.name for pool in pools]


def devices(pools):
    return [
        d.name
        for pool in pools
        if pool.usable
        for s in pool.slices
        for d in s.spec.devices or ()
    ]


@pytest.mark.parametrize(
    ("selection", "on_n1", "on_n2"),
    [
        ({"nodeName": "n1"}, True, False),
        ({"allNodes": True}, True, True),
        ({"nodeSelector": ZONE_A}, True, False),
        ({"nodeName": "n2", "nodeSelector": ZONE_A}, False, True),
        ({"nodeName": "", "allNodes": True, "nodeSelector": ZONE_A}, True, True),
        ({"nodeName": "", "allNodes": False}, False, False),
    ],
)
def test_a_slice_is_relevant_where_it_says(selection, on_n1, on_n2):
    raw = piece("a", device(), **selection)
    assert bool(seen(raw, on="n1")) is on_n1
    assert bool(seen(raw, on="n2")) is on_n2


def test_a_slice_with_selection_per_device_is_relevant_for_the_nodes_of_its_devices():
    raw = piece(
        "a",
        device("x", nodeName="n1"),
        device("y", nodeSelector=ZONE_A),
        perDeviceNodeSelection=True,
    )
    assert devices(seen(raw)) == ["x", "y"], "the search leaves out single devices"
    assert seen(raw, on="n2") == ()


def test_a_selector_that_cannot_be_read_names_its_slice():
    with pytest.raises(SelectorError, match=r"slice a: .* is not a valid"):
        seen(piece("a", device(), nodeSelector=BROKEN))


def test_pools_come_by_driver_then_name_and_slices_by_name():
    found = seen(
        piece("1", device("b2"), driver="b", pool="2"),
        piece("2", device("b1"), driver="b", pool="1"),
        piece("4", device("a3z"), driver="a", pool="3", of=2),
        piece("3", device("a3y"), driver="a", pool="3", of=2),
    )
    assert devices(found) == ["a3y", "a3z", "b1", "b2"]


@pytest.mark.parametrize("conditions", [["ready"], []])
def test_pools_with_binding_conditions_come_last(conditions):
    found = seen(
        piece("1", device(bindingConditions=conditions), pool="a"),
        piece("2", device(), pool="b"),
        piece("3", device(), pool="c"),
    )
    assert names(found) == ["b", "c", "a"]


def test_an_incomplete_pool_is_remembered_and_has_no_devices():
    (found,) = seen(piece("a", device(), of=2))
    assert found.incomplete == "1 of 2 slices of generation 1"
    assert not found.usable


def test_the_first_slice_to_arrive_says_how_many_are_wanted():
    two, seven = piece("t", device("1"), of=2), piece("s", device("0"), of=7)
    assert devices(seen(two, seven)) == ["0", "1"]
    assert devices(seen(seven, two)) == []


def test_a_newer_generation_on_other_nodes_goes_unnoticed_by_a_complete_pool():
    found = seen(
        piece("a", device("old"), generation=1),
        piece("b", device("new"), generation=2, nodeName="n2"),
    )
    assert devices(found) == ["old"]


def test_a_partial_pool_with_a_newer_generation_elsewhere_is_dropped():
    found = seen(
        piece("a", device("old"), generation=1, of=2),
        piece("b", device("new"), generation=2, nodeName="n2"),
    )
    assert found == ()


def test_a_pool_is_completed_by_slices_of_other_nodes():
    (found,) = seen(
        piece("a", device("x"), of=2), piece("b", device("y"), of=2, nodeName="n2")
    )
    assert found.usable
    assert [s.metadata.name for s in found.slices] == ["a"]
    assert [s.metadata.name for s in found.elsewhere] == ["b"]


def test_too_many_slices_are_incomplete():
    (found,) = seen(piece("a", device()), piece("b", device("x")))
    assert found.incomplete == "2 slices of generation 1 present, 1 announced"


def test_an_older_generation_on_the_node_is_left_out():
    found = seen(
        piece("a", device("old"), generation=1), piece("b", device("new"), generation=2)
    )
    assert devices(found) == ["new"]


def test_a_device_name_on_two_slices_of_the_node_is_invalid():
    (found,) = seen(piece("a", device("x"), of=2), piece("b", device("x"), of=2))
    assert found.invalid == 'device "x" is published twice'


def test_the_same_device_name_on_another_node_is_no_contradiction():
    (found,) = seen(
        piece("a", device("x"), of=2), piece("b", device("x"), of=2, nodeName="n2")
    )
    assert found.usable


COUNTERS = piece("c", of=2, sharedCounters=[counter_set("s", m="2")])
CONSUMER = piece("d", device("x", consumesCounters=[consumes("s", m="1")]), of=2)


def test_counter_slices_are_relevant_for_every_node():
    (found,) = seen(COUNTERS, CONSUMER, on="n2")
    assert (found.slices, len(found.counter_slices)) == ((), 1)
    assert [s.metadata.name for s in found.elsewhere] == ["d"]


def test_pools_without_devices_for_the_node_can_be_left_out():
    assert seen(COUNTERS, CONSUMER, on="n2", foreign_counters=False) == ()
    assert len(seen(COUNTERS, CONSUMER, foreign_counters=False)) == 1


def test_counter_slices_on_another_node_complete_a_pool_all_the_same():
    counters = piece("c", of=2, nodeName="n2", sharedCounters=[counter_set("s", m="2")])
    (found,) = seen(counters, CONSUMER, foreign_counters=False)
    assert found.usable
    assert len(found.counter_slices) == 1


def test_a_consumer_elsewhere_that_names_no_known_counter_spoils_the_pool():
    bad = piece(
        "d",
        device("x", consumesCounters=[consumes("s", nope="1")]),
        of=2,
        nodeName="n2",
    )
    (found,) = seen(COUNTERS, bad)
    assert found.invalid.startswith('device "x" consumes counter "nope"')


@pytest.mark.parametrize("value", [True, False])
def test_without_partitionable_devices_such_slices_are_skipped(value):
    raw = piece("a", device(nodeName="n1"), perDeviceNodeSelection=value)
    if not value:
        raw["spec"]["nodeName"] = "n1"
    assert len(seen(raw)) == 1
    assert seen(raw, partitionable=False) == ()
    (found,) = seen(COUNTERS, CONSUMER, partitionable=False)
    assert found.counter_slices == ()


def test_an_unreadable_quantity_makes_the_pool_invalid_for_the_node():
    bad = piece("a", device("x", capacity={"memory": {"value": "?"}}))
    (found,) = seen(bad)
    assert found.invalid.startswith("slice a: spec.devices[0].capacity[memory].value:")
    assert not found.usable


@pytest.mark.parametrize("present", [1, 2])
def test_an_incomplete_pool_keeps_its_place_whatever_it_binds(present):
    bound = piece("1", device(bindingConditions=["c"]), pool="a", of=2)
    more = [piece("2", pool="a", of=2)][: present - 1]

    pools = seen(bound, *more, piece("3", device("z"), pool="b"))

    assert names(pools) == (["a", "b"] if present == 1 else ["b", "a"])
