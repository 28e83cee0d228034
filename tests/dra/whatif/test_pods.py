"""Pods of the cluster go where their own rules allow, and wait no more when they are placed."""

from __future__ import annotations

from tests.dra.builders import claim, node
from tests.dra.whatif.world import ask, asking_for, cluster, held, home, pod

DRAIN = {"edit": "drain", "nodes": ["n1"]}
WAITING = {"workload": [{"place": "waiting"}]}


def waiting(name, **spec):
    one = {**claim(name), "spec": asking_for()["spec"]}
    made = pod(f"p-{name}", name)
    made["spec"] |= spec
    return [one, made]


def test_a_node_selector_and_taints_of_nodes_are_kept():
    tainted = home("n1", 9)[0] | {
        "spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}
    }
    tolerates = [{"key": "gpu", "operator": "Exists"}]
    snapshot = cluster(
        [tainted, *home("n1", 9)[1:]],
        home("n2", 9),
        [node("n3", zone="b"), *home("n3", 9)[1:]],
        waiting("any"),
        waiting("tolerant", tolerations=tolerates),
        waiting("zoned", nodeSelector={"zone": "b"}),
        waiting("lost", nodeSelector={"zone": "c"}),
    )

    found = ask(snapshot, **WAITING)

    assert {p.pod: p.node for p in found.placements} == {
        "p-any": "n2",
        "p-tolerant": "n1",
        "p-zoned": "n3",
    }
    assert found.items[0].verdict == "does not fit"


def test_one_that_has_to_move_keeps_its_rules():
    moving = pod("p", "a", on="n1")
    moving["spec"]["nodeSelector"] = {"zone": "b"}
    snapshot = cluster(
        home("n1", 1),
        home("n2", 1),
        [node("n3", zone="b"), *home("n3", 1)[1:]],
        held("a", "gpu-0", on="n1", pods=["p"]),
        moving,
    )

    (loss,) = ask(snapshot, DRAIN).losses

    assert loss.new_node == "n3"


def test_rules_that_cannot_be_read_are_told():
    bad = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "zone", "operator": "Near"}]}
                ]
            }
        }
    }
    snapshot = cluster(home("n1", 1), waiting("a", affinity=bad))

    (item,) = ask(snapshot, **WAITING).items

    assert item.verdict == "refused"
    assert "cannot be read" in item.reason


def test_what_has_moved_waits_no_more():
    snapshot = cluster(
        home("n1", 1),
        home("n2", 2),
        held("a", "gpu-0", on="n1", pods=["p"]),
        pod("p", "a", on="n1"),
        waiting("b"),
    )

    found = ask(snapshot, DRAIN, workload=[{"place": "waiting"}, {"place": "waiting"}])

    assert [(i.placed, i.copies) for i in found.items] == [(1, 1), (0, 0)]
    assert [p.pod for p in found.placements] == ["p", "p-b"]


def test_a_pod_of_a_daemon_set_on_a_failed_node_waits_for_nothing():
    daemons = [{"kind": "DaemonSet", "name": "d", "uid": "u", "controller": True}]
    snapshot = cluster(
        home("n1", 1),
        home("n2", 1),
        held("a", "gpu-0", on="n1", pods=["p"]),
        pod("p", "a", on="n1", ownerReferences=daemons),
    )

    found = ask(snapshot, {"edit": "removeNodes", "nodes": ["n1"]}, **WAITING)

    assert (found.items[0].copies, found.placements) == (0, ())
