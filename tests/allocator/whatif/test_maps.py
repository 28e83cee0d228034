"""Nodes before and after: what is drawn may be cut, what is counted is not."""

from __future__ import annotations

from allocator.whatif.maps import MOST_DEVICES, node_maps
from allocator.whatif.views.shown import _map
from dra.whatif import simulate
from inventory.models import Cluster
from tests.allocator.whatif.conftest import scenario
from tests.dra.builders import device, node, piece
from tests.dra.whatif.world import asking_for, cluster

MANY = MOST_DEVICES + 20


def test_devices_that_are_not_drawn_are_counted() -> None:
    cards = piece(
        "s", *(device(f"vf-{n}") for n in range(MANY)), pool="n1", nodeName="n1"
    )
    before = cluster(node("n1"), cards)
    work = {"place": "claim", "claim": asking_for()}
    found = simulate(before, scenario({"workload": [work]}))

    (made,) = node_maps(before, found.after, found.result)

    assert [len(made["before"]), len(made["after"])] == [MOST_DEVICES] * 2
    assert made["counts"] == [[MANY, MANY], [MANY - 1, MANY]]
    side = _map(Cluster(name="c"), made).after
    assert side is not None
    assert (side.free, side.total, side.left_out) == (MANY - 1, MANY, 20)


def test_a_node_that_goes_has_no_counts_afterwards() -> None:
    slices = piece("s", device("vf-0"), pool="n1", nodeName="n1")
    before = cluster(node("n1"), slices)
    edit = {"edit": "removeNodes", "nodes": ["n1"]}
    found = simulate(before, scenario({"edits": [edit]}))

    (made,) = node_maps(before, found.after, found.result)

    assert (made["after"], made["counts"]) == (None, [[1, 1], None])
