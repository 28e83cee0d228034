"""Which devices a node reaches, and how: as the search sees it (allocator.md section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from dra.node_pools import pools_for_node
from dra.node_reach import WAYS, node_reach
from dra.snapshot import Snapshot
from tests.dra.builders import counter_set, device, node, piece

ZONE_A = {
    "nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    ]
}
BY_NAME = {
    "nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}
    ]
}
BROKEN = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone"}]}]}


@dataclass(frozen=True)
class Gates:
    partitionable_devices: bool = True


def world(*slices: dict[str, Any]) -> Snapshot:
    return Snapshot.build([node("n1", zone="a"), node("n2", zone="b"), *slices])


def ways(
    *slices: dict[str, Any], on: str = "n1", partitionable: bool = True
) -> dict[str, str]:
    """Device → way, for the devices that the node reaches."""
    snapshot = world(*slices)
    table = snapshot.devices()
    reach = node_reach(table, snapshot.nodes[on], Gates(partitionable))
    assert reach.troubles == []
    return {
        device.device: WAYS[code].value
        for device, code in zip(table.listing, reach.codes.tolist(), strict=True)
        if code
    }


@pytest.mark.parametrize(
    ("selection", "on_n1", "on_n2"),
    [
        ({"nodeName": "n1"}, "by name", None),
        ({"allNodes": True}, "every node", "every node"),
        ({"nodeSelector": ZONE_A}, "by selector", None),
        ({"nodeSelector": BY_NAME}, None, "by selector"),
        ({"nodeName": "n2", "nodeSelector": ZONE_A}, None, "by name"),
        ({"allNodes": True, "nodeSelector": BY_NAME}, "every node", "every node"),
        ({"allNodes": False}, None, None),
    ],
)
def test_a_slice_says_for_which_nodes_its_devices_are(
    selection: dict[str, Any], on_n1: str | None, on_n2: str | None
) -> None:
    raw = piece("a", device("x"), **selection)
    assert ways(raw, on="n1").get("x") == on_n1
    assert ways(raw, on="n2").get("x") == on_n2


MIXED = piece(
    "a",
    device("own", nodeName="n1"),
    device("other", nodeName="n2"),
    device("zone", nodeSelector=ZONE_A),
    device("all", allNodes=True),
    device("nobody"),
    perDeviceNodeSelection=True,
)


def test_each_device_says_it_itself_where_the_slice_leaves_it_to_them() -> None:
    assert ways(MIXED) == {
        "own": "by name",
        "zone": "per device",
        "all": "per device",
    }
    assert ways(MIXED, on="n2") == {"other": "by name", "all": "per device"}


def test_without_partitionable_devices_no_device_speaks_for_itself() -> None:
    assert ways(MIXED, partitionable=False) == {}


def test_a_slice_of_counters_gives_no_node_a_device() -> None:
    counters = piece("a", allNodes=True, of=2, sharedCounters=[counter_set("c", m="1")])
    devices = piece("b", device("x"), nodeName="n2", of=2)
    assert ways(counters, devices) == {}


def test_devices_of_an_incomplete_pool_are_reached_all_the_same() -> None:
    assert ways(piece("a", device("x"), allNodes=True, of=2)) == {"x": "every node"}


@pytest.mark.parametrize(
    "raw",
    [
        piece("a", device("x"), nodeSelector=BROKEN),
        piece("a", device("x", nodeSelector=BROKEN), perDeviceNodeSelection=True),
        piece(
            "a",
            device("x", allNodes=True),
            device("y", nodeSelector=BROKEN),
            perDeviceNodeSelection=True,
        ),
    ],
)
def test_a_selector_that_cannot_be_read_is_told_and_nothing_else_is_lost(
    raw: dict[str, Any],
) -> None:
    snapshot = world(raw, piece("z", device("z"), pool="zz", allNodes=True))
    reach = node_reach(snapshot.devices(), snapshot.nodes["n1"], Gates())
    (trouble,) = reach.troubles
    assert trouble.startswith("slice a")
    assert "is not a valid node selector operator" in trouble
    assert reach.any_way.tolist() == [*[False] * (len(reach.codes) - 1), True]


def test_what_is_reached_is_what_the_search_looks_at() -> None:
    slices = [
        piece("1", device("a"), pool="1", nodeName="n1"),
        piece("2", device("b"), pool="2", nodeName="n2"),
        piece("3", device("c"), pool="3", allNodes=True),
        piece("4", device("d"), pool="4", nodeSelector=ZONE_A),
        piece("5", device("e"), pool="5", nodeSelector=BY_NAME),
    ]
    snapshot = world(*slices)
    for name in ("n1", "n2"):
        pools = pools_for_node(snapshot, snapshot.nodes[name], Gates())
        searched = {
            d.name for pool in pools for s in pool.slices for d in s.spec.devices or ()
        }
        assert set(ways(*slices, on=name)) == searched
