"""Each edit changes what it says, or is refused with its field."""

from __future__ import annotations

from typing import Any

import pytest

from dra.allocation import Features
from dra.whatif import ScenarioError, read_scenario, simulate
from dra.whatif.text import as_text
from tests.dra.allocation.world import device_class, selector
from tests.dra.builders import consumes, counter_set, device, node, piece
from tests.dra.whatif.world import ask, asking_for, cluster, held, home, pod

ONE = {"place": "claim", "claim": asking_for(1)}


def places(result):
    return [
        (p.node, [d.device for c in p.claims for d in c.devices])
        for p in result.placements
    ]


def test_a_cordoned_node_gets_nothing_and_an_uncordoned_one_does():
    snapshot = cluster(home("n1"), home("n2"))

    cordoned = ask(snapshot, {"edit": "cordon", "nodes": ["n1"]}, workload=[ONE])
    both = ask(
        snapshot,
        {"edit": "cordon", "labels": "rack=r1"},
        {"edit": "uncordon", "nodes": ["n2"]},
        workload=[ONE],
    )

    assert places(cordoned) == places(both) == [("n2", ["gpu-0"])]


def test_nodes_like_an_existing_one_bring_its_devices_without_their_taints():
    bad = device("gpu-0", taints=[{"key": "bad", "effect": "NoSchedule"}])
    slices = piece("n1-slice", bad, pool="n1", nodeName="n1")
    sick = {
        **node("n1", host="n1"),
        "spec": {"unschedulable": True},
        "status": {"conditions": [{"type": "Ready", "status": "False"}]},
    }
    snapshot = cluster(sick, slices)

    found: Any = simulate(
        snapshot,
        read_scenario(
            {
                "edits": [{"edit": "addNodes", "like": "n1", "count": 2}],
                "workload": [{**ONE, "copies": 3}],
            }
        ),
    )

    assert [p.node for p in found.result.placements] == ["n1-copy-1", "n1-copy-2"]
    assert found.result.items[0].placed == 2
    assert found.after.nodes["n1-copy-2"].metadata.labels == {"host": "n1-copy-2"}
    assert ("gpu.example.com", "n1-copy-1") in found.after.pools
    assert {c.name: c.after.devices for c in found.result.difference.nodes} == {
        "n1-copy-1": 1,
        "n1-copy-2": 1,
    }


def test_nodes_like_an_existing_one_have_the_taints_of_its_kind_only():
    kind = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    passing = [
        {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
        {"key": "node.cloudprovider.kubernetes.io/shutdown", "effect": "NoSchedule"},
        {"key": "dra-portal.io/quarantine-1", "effect": "NoSchedule"},
    ]
    like = {
        **node("n1"),
        "spec": {"unschedulable": True, "taints": [kind, *passing]},
    }
    snapshot = cluster(like, piece("n1-slice", device("x"), pool="n1", nodeName="n1"))

    found = simulate(
        snapshot, read_scenario({"edits": [{"edit": "addNodes", "like": "n1"}]})
    )

    made = found.after.nodes["n1-copy-1"].spec
    assert not made.unschedulable
    assert [(t.key, t.value) for t in made.taints or ()] == [
        ("nvidia.com/gpu", "present")
    ]


def test_pools_of_several_nodes_are_not_copied_and_that_is_said():
    snapshot = cluster(
        node("n1"), node("n2"),
        piece("a", device("x"), pool="both", nodeName="n1", of=2),
        piece("b", device("y"), pool="both", nodeName="n2", of=2),
    )  # fmt: skip

    found = ask(snapshot, {"edit": "addNodes", "like": "n1"})

    assert found.notes == (
        "Pools that span several nodes are not copied for nodes like n1: "
        "gpu.example.com/both.",
    )


def test_tainted_devices_are_passed_over_and_untainted_ones_are_not():
    snapshot = cluster(home("n1", 3))
    taint = {
        "edit": "taint",
        "devices": {"pool": "n1", "device": "gpu-0"},
        "taint": {"key": "bad"},
    }
    by_cel = {
        "edit": "taint",
        "devices": {"cel": 'device.driver == "gpu.example.com"'},
        "taint": {"key": "other"},
    }
    back = {"edit": "untaint", "devices": {"node": "n1"}, "key": "other"}

    first = ask(snapshot, taint, workload=[ONE])
    none = ask(snapshot, by_cel, workload=[ONE])
    again = ask(snapshot, taint, by_cel, back, workload=[ONE])

    assert places(first) == places(again) == [("n1", ["gpu-1"])]
    assert none.items[0].verdict == "does not fit"
    assert "tainted" in none.items[0].reason


def test_a_taint_rule_taints_what_it_means():
    snapshot = cluster(home("n1"), home("n2"))
    rule = {
        "edit": "taintByRule", "name": "r", "pool": "n1", "taint": {"key": "bad"},
    }  # fmt: skip

    assert places(ask(snapshot, rule, workload=[ONE])) == [("n2", ["gpu-0"])]


def test_another_driver_release_changes_what_selectors_see():
    model = 'device.attributes["gpu.example.com"].model == "B"'
    big = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("10Gi")) >= 0'
    old = device(
        "gpu-0",
        attributes={"gpu.example.com/model": {"string": "A"}, "index": {"int": 0}},
        capacity={"memory": {"value": "8Gi"}},
    )
    snapshot = cluster(
        node("n1"),
        piece("s", old, pool="n1"),
        device_class("gpu", model, big),
    )

    change = {
        "edit": "changeDevices",
        "devices": {"driver": "gpu.example.com"},
        "attributes": {"model": {"string": "B"}},
        "capacity": {"memory": "16Gi"},
        "drop": ["gpu.example.com/index"],
    }
    found: Any = simulate(
        snapshot, read_scenario({"edits": [change], "workload": [ONE]})
    )

    assert found.result.fits
    (changed,) = found.after.slices["s"].spec.devices
    assert set(changed.attributes) == {"gpu.example.com/model"}
    (only,) = found.result.difference.classes
    assert (only.before.devices, only.after.devices) == (0, 1)


def test_released_claims_give_back_what_they_hold():
    snapshot = cluster(
        home("n1", 2), held("a", "gpu-0", on="n1"), held("b", "gpu-1", on="n1")
    )

    one = ask(snapshot, {"edit": "release", "claims": ["default/b"]}, workload=[ONE])
    all_ = ask(
        snapshot,
        {"edit": "release", "namespace": "default"},
        workload=[{**ONE, "copies": 2}],
    )

    assert places(one) == [("n1", ["gpu-1"])]
    assert all_.fits
    assert all_.losses == ()


def test_classes_come_go_and_change():
    snapshot = cluster(home("n1"))
    narrow = {
        "edit": "setClass",
        "name": "gpu",
        "spec": {"selectors": [{"cel": {"expression": 'device.driver == "other"'}}]},
    }

    gone = ask(snapshot, {"edit": "removeClass", "name": "gpu"}, workload=[ONE])
    changed = ask(snapshot, narrow, workload=[ONE])

    assert gone.items[0].verdict == "refused"
    assert "does not exist" in gone.items[0].reason
    assert changed.items[0].verdict == "does not fit"
    assert changed.difference.classes[0].before.devices == 2
    assert changed.difference.classes[0].after.devices == 0
    assert gone.difference.classes[0].after is None


def test_classes_that_select_others_are_part_of_the_answer():
    snapshot = cluster(home("n1", 2), device_class(), device_class("other"))
    fails = 'device.attributes["gpu.example.com"].none == 1'
    edits = {
        "narrow": {
            "edit": "setClass",
            "name": "gpu",
            "spec": spec_of('device.driver == ""'),
        },
        "fails": {"edit": "setClass", "name": "gpu", "spec": spec_of(fails)},
        "new": {"edit": "setClass", "name": "new", "spec": {}},
        "gone": {"edit": "removeClass", "name": "other"},
        "same": {"edit": "setClass", "name": "gpu", "spec": spec_of("true")},
    }

    said = {name: ask(snapshot, edit).sentence for name, edit in edits.items()}

    assert said == {
        "narrow": "Class gpu selects 0 devices instead of 2.",
        "fails": "Class gpu selects 0 devices and its selector fails on 2 devices.",
        "new": "Class new selects 2 devices.",
        "gone": "Class other is gone.",
        "same": "No claim loses its devices and no pool breaks.",
    }


def spec_of(expression):
    return {"selectors": [selector(expression)]}


def test_gates_and_versions_are_switched():
    tainted = device("gpu-0", taints=[{"key": "bad", "effect": "NoSchedule"}])
    snapshot = cluster(node("n1"), piece("s", tainted, pool="n1"))

    off = ask(
        snapshot,
        {"edit": "features", "gates": {"DRADeviceTaints": False}},
        workload=[ONE],
    )
    old = ask(snapshot, {"edit": "features", "version": "1.34"}, workload=[ONE])
    on = ask(
        snapshot,
        {"edit": "features", "version": "1.37"},
        workload=[ONE],
        features=Features(),
    )

    assert (off.fits, old.fits, on.fits) == (True, True, False)


def test_objects_are_added_replaced_and_removed():
    snapshot = cluster(home("n1", 1), held("a", "gpu-0", on="n1"))
    more = {"edit": "add", "objects": home("n2", 1)}
    remove = {
        "edit": "remove",
        "objects": [{"kind": "ResourceClaim", "namespace": "default", "name": "a"}],
    }

    assert places(ask(snapshot, more, workload=[ONE])) == [("n2", ["gpu-0"])]
    assert places(ask(snapshot, remove, workload=[ONE])) == [("n1", ["gpu-0"])]


def test_a_removed_pod_frees_the_claims_that_only_it_used():
    snapshot = cluster(
        home("n1", 2),
        held("own", "gpu-0", on="n1", pods=["p"]),
        held("both", "gpu-1", on="n1", pods=["p", "q"]),
        pod("p", "own", "both", on="n1"),
        pod("q", "both", on="n1"),
    )

    found = ask(
        snapshot,
        {
            "edit": "remove",
            "objects": [{"kind": "Pod", "namespace": "default", "name": "p"}],
        },
    )

    (loss,) = found.losses
    assert (loss.claim, loss.outcome) == ("own", "released")
    assert found.fits
    assert loss.sentence == (
        "Claim default/own loses gpu.example.com/n1/gpu-0: the last pod that uses it is "
        "removed. Nothing else uses it."
    )


def test_drafted_slices_are_checked_as_the_server_would():
    """An added slice that announces no slices would never make a whole pool."""
    bad = piece("new", device("gpu-9"), pool="new", nodeName="n1", of=0)

    with pytest.raises(ScenarioError) as refused:
        ask(cluster(home("n1")), {"edit": "add", "objects": [bad]})

    assert refused.value.path == "edits[0].objects[0].spec.pool.resourceSliceCount"
    assert "greater than zero" in refused.value.reason


@pytest.mark.parametrize(
    ("edit", "path", "words"),
    [
        ({"edit": "drain"}, "edits[0]", "no node is named"),
        ({"edit": "drain", "nodes": ["n1", "n9"]}, "edits[0].nodes[1]", "no node n9"),
        ({"edit": "cordon", "labels": "rack=r9"}, "edits[0].labels", "no node has"),
        ({"edit": "cordon", "labels": "a in b"}, "edits[0].labels", "parentheses"),
        ({"edit": "addNodes", "like": "n9"}, "edits[0].like", "no node n9"),
        (
            {"edit": "taint", "devices": {}, "taint": {"key": "k"}},
            "edits[0].devices",
            "no device is chosen",
        ),
        (
            {"edit": "taint", "devices": {"pool": "x"}, "taint": {"key": "k"}},
            "edits[0].devices",
            "no such device",
        ),
        (
            {"edit": "taint", "devices": {"cel": "device."}, "taint": {"key": "k"}},
            "edits[0].devices.cel",
            "",
        ),
        (
            {"edit": "changeDevices", "devices": {"node": "n1"}},
            "edits[0]",
            "changes nothing",
        ),
        (
            {
                "edit": "changeDevices",
                "devices": {"node": "n1"},
                "attributes": {"a": {"string": "x", "int": 1}},
            },
            "edits[0].attributes[a]",
            "exactly one",
        ),
        (
            {
                "edit": "changeDevices",
                "devices": {"node": "n1"},
                "capacity": {"memory": "lots"},
            },
            "edits[0].capacity[memory]",
            "lots",
        ),
        (
            {
                "edit": "changeDevices",
                "devices": {"node": "n1"},
                "attributes": {"a": {"version": "1.2.3.4"}},
            },
            "edits[0].attributes[a].version",
            "semver",
        ),
        (
            {
                "edit": "changeDevices",
                "devices": {"node": "n1"},
                "capacity": {"two words": "1"},
            },
            "edits[0].capacity",
            "two words",
        ),
        (
            {
                "edit": "taint",
                "devices": {"node": "n1"},
                "taint": {"key": "k", "effect": "NoScedule"},
            },
            "edits[0].taint.effect",
            "NoScedule",
        ),
        (
            {"edit": "taintByRule", "name": "r", "taint": {"key": "two words"}},
            "edits[0].taint.key",
            "two words",
        ),
        ({"edit": "release"}, "edits[0]", "no claim is named"),
        ({"edit": "release", "claims": ["a/b"]}, "edits[0].claims[0]", "no claim a/b"),
        ({"edit": "release", "namespace": "x"}, "edits[0].namespace", "has no claim"),
        ({"edit": "removeClass", "name": "x"}, "edits[0].name", "no class x"),
        (
            {
                "edit": "setClass",
                "name": "x",
                "spec": {"selectors": [{"cel": {"expression": "device."}}]},
            },
            "edits[0].spec.selectors[0].cel.expression",
            "",
        ),
        (
            {"edit": "setClass", "name": "x", "spec": {"selector": []}},
            "edits[0]",
            "unknown",
        ),
        ({"edit": "features"}, "edits[0]", "switches nothing"),
        ({"edit": "features", "version": "new"}, "edits[0].version", "new"),
        ({"edit": "features", "gates": {"X": True}}, "edits[0].gates", "X"),
        ({"edit": "add", "objects": [{}]}, "edits[0].objects[0].kind", "missing"),
        (
            {"edit": "add", "objects": [{"kind": "Job", "metadata": {"name": "x"}}]},
            "edits[0].objects[0].kind",
            "none of",
        ),
        (
            {"edit": "add", "objects": [{"kind": "Node"}]},
            "edits[0].objects[0].metadata.name",
            "missing",
        ),
        (
            {
                "edit": "add",
                "objects": [{"kind": "Node", "metadata": {"name": "x"}, "spec": 5}],
            },
            "edits[0].objects[0].spec",
            "object",
        ),
        (
            {"edit": "remove", "objects": [{"kind": "Node", "name": "n9"}]},
            "edits[0].objects[0]",
            "no Node n9",
        ),
        (
            {"edit": "remove", "objects": [{"kind": "Job", "name": "n9"}]},
            "edits[0].objects[0].kind",
            "none of",
        ),
        (
            {"edit": "taintByRule", "name": "old", "taint": {"key": "k"}},
            "edits[0].name",
            "already",
        ),
    ],
)
def test_an_edit_that_cannot_be_is_refused_with_its_field(edit, path, words):
    rule = {"kind": "DeviceTaintRule", "metadata": {"name": "old"}, "spec": {}}
    snapshot = cluster(home("n1"), rule)

    with pytest.raises(ScenarioError) as refused:
        ask(snapshot, edit)

    assert refused.value.path == path
    assert words in refused.value.reason


def test_a_pool_that_loses_a_slice_breaks_and_that_is_said():
    snapshot = cluster(
        node("n1"),
        piece("a", device("x"), pool="n1", of=2),
        piece("b", device("y"), pool="n1", of=2),
    )

    found = ask(
        snapshot,
        {"edit": "remove", "objects": [{"kind": "ResourceSlice", "name": "b"}]},
    )

    (pool,) = found.pools
    assert (pool.before, pool.after) == (
        "complete",
        "1 of 2 slices of generation 1",
    )
    assert found.sentence == (
        "1 pool becomes unusable (1 of 2 slices of generation 1); class gpu selects 1 "
        "device instead of 2."
    )


def test_counters_and_capacity_are_told_before_and_after():
    half = [
        device(f"half-{n}", consumesCounters=[consumes("set", memory="4Gi")])
        for n in range(2)
    ]
    plain = device("gpu-0", capacity={"memory": {"value": "80Gi"}})
    snapshot = cluster(
        node("n1"),
        piece("n1-a", *half, pool="n1", of=2),
        piece(
            "n1-b", pool="n1", of=2, sharedCounters=[counter_set("set", memory="8Gi")]
        ),
        piece("n1-c", plain, pool="whole", driver="whole.example.com"),
    )

    found = ask(snapshot, workload=[{**ONE, "copies": 3}])

    (counter,) = found.difference.counters
    (one_set,) = found.difference.counter_sets
    (capacity,) = found.difference.capacities
    assert (counter.name, counter.taken_before, counter.taken_after) == (
        "memory",
        "0",
        "8Gi",
    )
    assert (one_set.pool, one_set.counter_set, one_set.total_after) == (
        "n1",
        "set",
        "8Gi",
    )
    assert (capacity.name, capacity.taken_after) == ("whole.example.com/memory", "80Gi")
    assert [(d.device, d.before, d.after) for d in found.difference.devices] == [
        ("half-0", "free", "in use"),
        ("half-1", "free", "in use"),
        ("gpu-0", "free", "in use"),
    ]
    (namespace,) = found.difference.namespaces
    assert (namespace.name, namespace.before, namespace.after) == ("default", 0, 3)
    assert namespace.difference == 3
    assert (counter.taken_difference, counter.total_difference) == ("8Gi", "0")
    assert (one_set.taken_difference, capacity.taken_difference) == ("8Gi", "80Gi")
    (of_class,) = found.difference.classes
    (of_node,) = [n for n in found.difference.nodes if n.name == "n1"]
    for one in (of_class, of_node):
        assert (one.difference.in_use, one.difference.free) == (3, -3)
    text = as_text(found)
    assert "  default: 0 → 3 (+3)" in text
    assert "  gpu: free 3 → 0 (-3), in use 0 → 3 (+3)" in text
    assert "  n1: free 3 → 0 (-3), in use 0 → 3 (+3)" in text
    assert "memory: 0 of 8Gi → 8Gi of 8Gi (+8Gi of 0)" in text
    assert "/n1 set memory: 0 of 8Gi → 8Gi of 8Gi" in text
    assert "whole.example.com/memory: 0 of 80Gi → 80Gi of 80Gi (+80Gi of 0)" in text
