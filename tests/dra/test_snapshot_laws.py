"""Laws of snapshots: how they came about does not show."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dra.names import ObjectKey
from dra.node_pools import gather
from dra.objects import ResourceClaim, ResourceSlice, read
from dra.snapshot import EMPTY, Snapshot
from tests.dra.builders import claim, device, node, piece, result, taint_rule

NAMES = st.sampled_from(["a", "b", "c"])
POOLS = st.sampled_from(["p", "q"])
ATTRIBUTES = st.dictionaries(
    NAMES,
    st.sampled_from(
        [
            {"int": 1},
            {"bool": True},
            {"string": "1"},
            {"version": "1.0.0"},
            {"ints": [1]},
        ]
    ),
    max_size=2,
)
CAPACITY = st.dictionaries(
    NAMES, st.sampled_from([{"value": "1"}, {"value": 1}, {"value": 1.0}]), max_size=1
)
DEVICES = st.lists(
    st.builds(device, NAMES, attributes=ATTRIBUTES, capacity=CAPACITY), max_size=2
)
SELECTIONS = st.sampled_from(
    [
        {"nodeName": "a"},
        {"nodeName": "b"},
        {"allNodes": True},
        {"sharedCounters": [{"name": "s", "counters": {"m": {"value": "1"}}}]},
        {"sharedCounters": [{"name": "s", "counters": {"m": {"value": "?"}}}]},
    ]
)


@st.composite
def pieces(draw):
    return piece(
        draw(NAMES),
        *draw(DEVICES),
        pool=draw(POOLS),
        generation=draw(st.integers(1, 2)),
        of=draw(st.integers(1, 2)),
        **draw(SELECTIONS),
    )


@st.composite
def claims(draw):
    results = st.builds(
        result,
        NAMES,
        pool=POOLS,
        adminAccess=st.booleans(),
        shareID=st.none() | st.sampled_from(["1", "2"]),
    )
    return claim(draw(NAMES), *draw(st.lists(results, max_size=3)))


BROKEN = st.builds(
    lambda raw, spec, status: raw | {"spec": spec} | status,
    claims(),
    st.just({"devices": "x"}),
    st.sampled_from([{}, {"status": 7}, {"status": {"allocation": {"devices": 1}}}]),
)
OBJECTS = st.one_of(
    pieces(), claims(), BROKEN, NAMES.map(node), NAMES.map(lambda n: taint_rule(n))
)


def key_of(raw):
    meta = raw["metadata"]
    return ObjectKey(raw["kind"], meta.get("namespace", ""), meta["name"])


PUTS = OBJECTS.map(lambda raw: (key_of(raw), raw))
REMOVALS = OBJECTS.map(lambda raw: (key_of(raw), None))
HISTORIES = st.lists(st.lists(PUTS | REMOVALS, max_size=6), max_size=6)


def outcome(history):
    """The objects that are there at the end."""
    final: dict[ObjectKey, Any] = {}
    for batch in history:
        for key, raw in batch:
            final.pop(key, None)
            if raw is not None:
                final[key] = raw
    return final


def played(history, start=EMPTY):
    """Refreshed batch by batch; of one object in a batch the last change counts."""
    snapshot = start
    for seq, batch in enumerate(history, start=1):
        last = dict(batch)
        snapshot = snapshot.refresh(
            [raw for raw in last.values() if raw is not None],
            [key for key, raw in last.items() if raw is None],
            seq=seq,
        )
    return snapshot


class _Gates:
    partitionable_devices = True


def views(snapshot):
    """Which pools each node sees, and what of them."""
    nodes = Snapshot.build(map(node, "abc")).nodes.values()
    return {
        n.metadata.name: {
            key: gather(snapshot.pools[key], n, _Gates())
            for key in snapshot.pool_keys_for_node(n.metadata.name)
        }
        for n in nodes
    }


@given(HISTORIES)
def test_refreshing_step_by_step_equals_building_from_the_outcome(history):
    assert played(history) == Snapshot.build(outcome(history).values())


@given(HISTORIES)
def test_every_snapshot_on_the_way_stays_as_it_was(history):
    snapshots = [EMPTY]
    for batch in history:
        snapshots.append(played([batch], snapshots[-1]))
    for n, snapshot in enumerate(snapshots):
        assert snapshot == Snapshot.build(outcome(history[:n]).values())


@given(st.lists(OBJECTS, max_size=12).flatmap(lambda raws: st.permutations(raws)))
def test_the_order_of_different_objects_does_not_matter(raws):
    by_key = {key_of(raw): raw for raw in raws}
    forwards = Snapshot.build(by_key.values())
    backwards = Snapshot.build(reversed(by_key.values()))
    assert forwards == backwards


@given(HISTORIES)
def test_nodes_are_pointed_at_the_same_pools(history):
    """The index of pools by node is as if it were made anew."""
    refreshed = played(history)
    built = Snapshot.build(outcome(history).values())
    for name in "abc":
        for foreign in (True, False):
            ask = {"foreign_counters": foreign}
            assert sorted(refreshed.pool_keys_for_node(name, **ask)) == sorted(
                built.pool_keys_for_node(name, **ask)
            )


@given(st.lists(pieces(), max_size=6, unique_by=lambda raw: raw["metadata"]["name"]))
def test_nodes_without_a_reason_see_nothing(raws):
    """A pool that the index leaves out has nothing for the node."""
    snapshot = Snapshot.build(raws)
    for name, seen in views(snapshot).items():
        (other,) = Snapshot.build([node(name)]).nodes.values()
        for key in snapshot.pools.keys() - seen.keys():
            assert gather(snapshot.pools[key], other, _Gates()) is None


@given(st.lists(OBJECTS, max_size=8))
def test_equal_objects_give_equal_snapshots(raws):
    copies = json.loads(json.dumps(raws))
    assert Snapshot.build(raws) == Snapshot.build(copies)


@given(st.lists(pieces() | claims(), max_size=8))
def test_sharing_parts_does_not_change_an_object(raws):
    snapshot = Snapshot.build(raws)
    for raw in {key_of(raw): raw for raw in raws}.values():
        name, namespace = raw["metadata"]["name"], raw["metadata"].get("namespace")
        if namespace:
            assert snapshot.claims[namespace, name] == read(raw, ResourceClaim)
        else:
            assert snapshot.slices[name] == read(raw, ResourceSlice)


@given(st.lists(OBJECTS, max_size=8), st.lists(OBJECTS, max_size=4))
def test_an_edit_is_undone_by_the_opposite_edit(raws, more):
    first = Snapshot.build(raws)
    have = {key_of(raw) for raw in raws}
    new = [raw for raw in more if key_of(raw) not in have]
    there_and_back = first.edit(add=new).edit(remove=map(key_of, new))
    assert there_and_back == first
