from __future__ import annotations

from typing import Any

import pytest

from dra.names import ObjectKey, PoolKey
from dra.objects import Node, read, write
from dra.snapshot import EMPTY, Snapshot
from tests.dra.builders import (
    DRIVER,
    claim,
    device,
    node,
    piece,
    result,
    taint_rule,
)

CLAIM = ObjectKey("ResourceClaim", "default", "claim")


def device_of(piece) -> Any:
    """The only device of a slice."""
    (device,) = piece.spec.devices
    return device


def test_objects_are_found_by_name_and_namespace():
    pod = {"kind": "Pod", "metadata": {"name": "p", "namespace": "team"}}
    group = {"kind": "PodGroup", "metadata": {"name": "g", "namespace": "team"}}
    template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "team"},
    }
    snapshot = Snapshot.build(
        [
            node("n1"),
            {"kind": "Namespace", "metadata": {"name": "team"}},
            {"kind": "DeviceClass", "metadata": {"name": "gpu"}},
            piece("s", device()),
            claim("c"),
            taint_rule("r"),
            pod,
            group,
            template,
        ],
        seq=7,
    )
    assert snapshot.seq == 7
    assert set(snapshot.nodes) == {"n1"}
    assert set(snapshot.namespaces) == {"team"}
    assert set(snapshot.classes) == {"gpu"}
    assert set(snapshot.slices) == {"s"}
    assert set(snapshot.claims) == {("default", "c")}
    assert set(snapshot.taint_rules) == {"r"}
    assert set(snapshot.pods) == {("team", "p")}
    assert set(snapshot.pod_groups) == {("team", "g")}
    assert set(snapshot.templates) == {("team", "t")}
    assert set(snapshot.pools) == {(DRIVER, "pool")}
    assert snapshot.problems == ()


def test_an_empty_snapshot_is_empty():
    assert Snapshot.build([]) == EMPTY
    assert not EMPTY.pools


def test_other_kinds_are_passed_over():
    raw = {"kind": "Deployment", "metadata": {"name": "x"}}
    assert Snapshot.build([raw, node("n1")]) == Snapshot.build([node("n1")])


def test_objects_that_are_already_read_may_be_given():
    assert Snapshot.build([read(node("n1"), Node)]) == Snapshot.build([node("n1")])


def test_an_object_that_does_not_read_is_a_problem_and_the_rest_goes_on():
    broken = piece("b") | {"spec": {"devices": "many"}}
    snapshot = Snapshot.build([broken, piece("a", device()), node("n1")])
    assert [str(p) for p in snapshot.problems] == [
        "ResourceSlice b: spec.devices: Expected `array | null`, got `str`"
    ]
    assert set(snapshot.slices) == {"a"}


def test_what_is_no_object_at_all_is_a_problem():
    things: list[Any] = [
        None,
        1,
        "x",
        [],
        {},
        {"kind": None},
        {"kind": "Node"},
        {"kind": ["Node"]},
    ]
    snapshot = Snapshot.build(things)
    assert [str(p) for p in snapshot.problems] == [
        "(no kind) (no name): this is no Kubernetes object",
        "Node (no name): metadata.name: is missing",
    ]


def test_a_problem_goes_when_the_object_is_repaired_or_deleted():
    broken = claim() | {"spec": {"devices": 1}}
    first = Snapshot.build([broken])
    assert len(first.problems) == 1
    assert first.refresh([claim()], (), seq=2) == Snapshot.build([claim()])
    assert first.refresh((), [CLAIM], seq=2) == EMPTY


def test_an_object_that_no_longer_reads_takes_no_part():
    first = Snapshot.build([claim("claim", result("x"))])
    second = first.refresh([claim() | {"spec": {"devices": 1}}], (), seq=2)
    assert not second.claims
    assert not second.in_use.by_pool
    assert len(second.problems) == 1


def test_a_slice_with_a_bad_value_exists_and_spoils_its_pool():
    bad = piece("s", device(capacity={"memory": {"value": "80 GB"}}))
    snapshot = Snapshot.build([bad])
    assert set(snapshot.slices) == {"s"}
    assert snapshot.problems == ()
    (pool,) = snapshot.pools.values()
    assert not pool.valid


def test_a_refresh_deletes_first_and_then_puts():
    """A deletion and the creation of the same name come in one batch."""
    first = Snapshot.build([claim()])
    key = ObjectKey("ResourceClaim", "default", "claim")
    second = first.refresh([claim("claim", result())], [key], seq=2)
    assert second.claims["default", "claim"].status.allocation is not None


def test_deleting_what_is_not_there_is_no_error():
    keys = [
        CLAIM,
        ObjectKey("Deployment", "a", "b"),
        ObjectKey("ResourceSlice", "", "s"),
    ]
    assert EMPTY.refresh((), keys, seq=3) == EMPTY


def test_a_refresh_leaves_the_old_snapshot_as_it_was():
    first = Snapshot.build([piece("s", device("x")), claim("c", result("x"))])
    first.refresh(
        [piece("s", device("y")), piece("t", device("z"), pool="other")],
        [ObjectKey("ResourceClaim", "default", "c")],
        seq=2,
    )
    assert first == Snapshot.build([piece("s", device("x")), claim("c", result("x"))])


def test_a_refresh_shares_what_did_not_change():
    objects = [
        node("n1"),
        piece("a", device(), pool="a"),
        piece("b", device(), pool="b"),
        claim("a", result(pool="a")),
        claim("b", result(pool="b")),
    ]
    first = Snapshot.build(objects)
    second = first.refresh([claim("a", result("x", pool="a"))], (), seq=2)
    assert second.nodes is first.nodes
    assert second.pools is first.pools
    assert second.claims["default", "b"] is first.claims["default", "b"]
    key_a, key_b = PoolKey(DRIVER, "a"), PoolKey(DRIVER, "b")
    assert second.in_use.pool(key_b) is first.in_use.pool(key_b)
    assert second.in_use.pool(key_a) != first.in_use.pool(key_a)
    third = second.refresh([piece("a", device("y"), pool="a")], (), seq=3)
    assert third.in_use is second.in_use
    assert third.pools[key_b] is first.pools[key_b]
    assert third.pools[key_a] != first.pools[key_a]


def test_an_object_that_came_again_unchanged_changes_nothing():
    first = Snapshot.build([piece("s", device()), claim("c", result())])
    again = first.refresh([piece("s", device()), claim("c", result())], (), seq=2)
    assert again.pools is first.pools
    assert again.in_use is first.in_use
    assert again.seq == 2


def test_a_slice_may_move_to_another_pool():
    first = Snapshot.build([piece("s", device(), pool="a")])
    second = first.refresh([piece("s", device(), pool="b")], (), seq=2)
    assert set(second.pools) == {(DRIVER, "b")}
    assert list(second.pool_keys_for_node("n1")) == [(DRIVER, "b")]


def test_a_pool_goes_with_its_last_slice():
    first = Snapshot.build([piece("s", device())])
    second = first.refresh((), [ObjectKey("ResourceSlice", "", "s")], seq=2)
    assert second == EMPTY
    assert list(second.pool_keys_for_node("n1")) == []


def test_an_edit_makes_another_world_with_the_same_seq():
    first = Snapshot.build([node("n1"), claim("c")], seq=5)
    other = first.edit(
        add=[node("n2")], remove=[ObjectKey("ResourceClaim", "default", "c")]
    )
    assert (set(other.nodes), other.claims, other.seq) == ({"n1", "n2"}, {}, 5)
    assert set(first.nodes) == {"n1"}


def test_a_node_asks_for_its_own_pools_and_those_on_the_network():
    counters = [{"name": "c", "counters": {}}]
    snapshot = Snapshot.build(
        [
            piece("a", device(), pool="mine"),
            piece("b", device(), pool="theirs", nodeName="n2"),
            piece("c", device(), pool="net", allNodes=True),
            piece("d", pool="counters", nodeName="n2", sharedCounters=counters),
        ]
    )
    assert {k.name for k in snapshot.pool_keys_for_node("n1")} == {
        "mine",
        "net",
        "counters",
    }
    keys = snapshot.pool_keys_for_node("n1", foreign_counters=False)
    assert {k.name for k in keys} == {"mine", "net"}
    assert {k.name for k in snapshot.pool_keys_for_node("new")} == {"net", "counters"}


def test_equal_parts_of_objects_are_kept_once():
    attributes = {"type": {"string": "gpu"}}
    snapshot = Snapshot.build(
        [
            piece("a", device(attributes=attributes), pool="a"),
            piece("b", device(attributes=dict(attributes)), pool="b"),
            claim("c1"),
            claim("c2"),
        ]
    )
    first, second = (device_of(s) for s in snapshot.slices.values())
    assert first.attributes["type"] is second.attributes["type"]
    one, two = snapshot.claims.values()
    assert one.spec is two.spec


def test_parts_that_look_alike_and_differ_in_type_are_not_mixed_up():
    def attribute(**value):
        return piece(f"s-{next(iter(value))}", device(attributes={"a": value}))

    pieces = [attribute(int=1), attribute(bool=True), attribute(string="1")]
    snapshot = Snapshot.build(pieces)
    for raw in pieces:
        kept = device_of(snapshot.slices[raw["metadata"]["name"]])
        assert write(kept)["attributes"] == raw["spec"]["devices"][0]["attributes"]


@pytest.mark.parametrize(
    "parameters",
    [10**40, "\ud800", {1: 2, None: 3}, float("nan"), {"a": {1}}, object()],
    ids=["big", "surrogate", "keys", "nan", "set", "object"],
)
def test_free_form_parameters_may_hold_anything(parameters):
    raw = claim("c")
    opaque = {"driver": "d", "parameters": parameters}
    raw["spec"]["devices"]["config"] = [{"opaque": opaque}]
    (kept,) = Snapshot.build([raw]).claims.values()
    devices: Any = kept.spec.devices
    assert devices.config[0].opaque.parameters is parameters


@pytest.mark.parametrize("value", [10**40, 1e400, float("nan"), "\ud800", ""])
def test_any_capacity_can_be_held(value):
    raw = piece("s", device(capacity={"m": {"value": value}}))
    (pool,) = Snapshot.build([raw]).pools.values()
    assert pool.valid is (value == 10**40)


def test_a_snapshot_says_what_it_is_in_short():
    assert repr(EMPTY) == "<Snapshot seq=0 nodes=0 slices=0 claims=0>"
