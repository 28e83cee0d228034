"""What state a node is in decides about work too, by its taints."""

from __future__ import annotations

import pytest

from dra.snapshot import Snapshot
from dra.whatif import Shape, headroom, read_scenario, simulate
from tests.dra.builders import claim, device, node, piece
from tests.dra.whatif.world import ask, asking_for, cluster, held, home, pod

CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
KIND = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
WAITING = [{"place": "waiting"}]


def tainted(name, *taints, gpus=1, **spec):
    """A node with its pool, and with taints."""
    made = home(name, gpus)
    made[0]["spec"] = {"taints": list(taints), **spec}
    return made


def nodes(found):
    return [placement.node for placement in found.placements]


def test_an_uncordoned_node_has_no_longer_the_taint_of_a_cordoned_one():
    snapshot = cluster(
        tainted("n1", CORDONED, unschedulable=True), claim("c"), pod("p", "c")
    )

    found = ask(snapshot, {"edit": "uncordon", "nodes": ["n1"]}, workload=WAITING)

    assert nodes(found) == ["n1"]


def test_a_cordoned_node_has_the_taint_that_a_controller_gives_it():
    edits = [{"edit": "cordon", "nodes": ["n1"]}] * 2

    found = simulate(cluster(home("n1")), read_scenario({"edits": edits}))

    (taint,) = found.after.nodes["n1"].spec.taints or []
    assert (taint.key, taint.effect) == (CORDONED["key"], CORDONED["effect"])


@pytest.mark.parametrize(
    "key",
    [
        "node.kubernetes.io/disk-pressure",
        "ToBeDeletedByClusterAutoscaler",
        "karpenter.sh/disrupted",
        "dra-portal.io/quarantine",
    ],
)
def test_work_keeps_off_nodes_that_are_in_trouble_or_about_to_go(key):
    trouble = {"key": key, "effect": "NoSchedule"}
    snapshot = cluster(tainted("n1", trouble), tainted("n2", KIND))
    want = {"place": "claim", "claim": asking_for()}

    anywhere = ask(snapshot, workload=[want])
    named = ask(snapshot, workload=[want | {"on": {"nodes": ["n1"]}}])

    assert nodes(anywhere) == ["n2"]
    assert not named.fits


def test_headroom_counts_no_devices_of_such_nodes():
    trouble = {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}
    snapshot = cluster(tainted("n1", trouble), tainted("n2", KIND, gpus=3))
    wanted = Snapshot.build([claim("one")]).claims["default", "one"]

    (found,) = headroom(snapshot, [Shape("one", (wanted,))])

    assert (found.fits, found.nodes) == (3, 1)


def test_headroom_of_what_is_shared_without_limit_is_not_counted():
    shared = device("d", allowMultipleAllocations=True)
    snapshot = cluster(node("n1"), piece("s", shared, pool="n1", nodeName="n1"))
    wanted = Snapshot.build([claim("one")]).claims["default", "one"]

    (found,) = headroom(snapshot, [Shape("one", (wanted,))])

    assert found.reason == "It takes no device away, so any number of it fits."


def test_a_pod_that_tolerates_the_state_of_a_node_goes_there():
    trouble = {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}
    bold = pod("p", "c")
    bold["spec"]["tolerations"] = [{"operator": "Exists"}]

    found = ask(cluster(tainted("n1", trouble), claim("c"), bold), workload=WAITING)

    assert nodes(found) == ["n1"]


def test_the_next_node_of_a_kind_is_not_about_to_be_taken_away():
    going = [
        {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"},
        {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"},
        {"key": "DeletionCandidateOfClusterAutoscaler", "effect": "PreferNoSchedule"},
    ]
    edit = {"edit": "addNodes", "like": "n1"}

    found = simulate(
        cluster(tainted("n1", KIND, *going)), read_scenario({"edits": [edit]})
    )

    taints = found.after.nodes["n1-copy-1"].spec.taints or ()
    assert [taint.key for taint in taints] == [KIND["key"]]


def test_new_nodes_do_not_mix_their_slices_with_those_that_a_gone_node_left():
    left = piece("left", device("gpu-0"), pool="n-1", nodeName="n-1")
    edit = {"edit": "addNodes", "like": "n1", "prefix": "n", "count": 1}

    found = simulate(cluster(home("n1"), left), read_scenario({"edits": [edit]}))

    assert sorted(found.after.nodes) == ["n-2", "n1"]


def test_pools_that_name_nodes_device_by_device_are_not_copied_and_that_is_said():
    rack = piece(
        "s", device("a", nodeName="n1"), pool="rack", perDeviceNodeSelection=True
    )

    found = ask(cluster(node("n1"), rack), {"edit": "addNodes", "like": "n1"})

    (note,) = found.notes
    assert note.endswith("nodes like n1: gpu.example.com/rack.")


def test_a_removed_node_object_takes_its_pods_and_slices_with_it():
    snapshot = cluster(
        home("n1", 1),
        home("n2", 1),
        held("c", "gpu-0", on="n1", pods=["p"]),
        pod("p", "c", on="n1"),
    )
    gone = {"edit": "remove", "objects": [{"kind": "Node", "name": "n1"}]}

    found = ask(snapshot, gone)

    (loss,) = found.losses
    assert (loss.reason, loss.new_node) == ("node removed", "n2")
    assert [p.pool for p in found.pools] == ["n1"]
