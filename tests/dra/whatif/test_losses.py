"""Drains, failures and taints: who loses devices, and where they fit then."""

from __future__ import annotations

import pytest

from dra.objects import DeviceTaint, Toleration
from dra.whatif.taking_away import Eviction, eviction_of
from tests.dra.builders import claim, device, node, piece, result
from tests.dra.whatif.world import ask, asking_for, cluster, held, home, pod

DRAIN = {"edit": "drain", "nodes": ["n1"]}
FAIL = {"edit": "removeNodes", "nodes": ["n1"]}
DAEMONS = [{"kind": "DaemonSet", "name": "d", "uid": "u", "controller": True}]


def outcomes(found):
    return {loss.claim: (loss.outcome, loss.new_node) for loss in found.losses}


@pytest.mark.parametrize("edit", [DRAIN, FAIL])
def test_pods_of_a_node_take_their_claims_elsewhere(edit):
    snapshot = cluster(
        home("n1", 2),
        home("n2", 1),
        held("a", "gpu-0", on="n1", pods=["p"]),
        held("b", "gpu-1", on="n1", pods=["q"]),
        pod("p", "a", on="n1"),
        pod("q", "b", on="n1"),
    )

    found = ask(snapshot, edit)

    assert outcomes(found) == {"a": ("fits", "n2"), "b": ("waits", "")}
    assert not found.fits
    assert found.sentence == (
        "2 claims lose their devices: 1 fits elsewhere and 1 has to wait."
    )
    fits, waits = found.losses
    assert fits.pods == ("p",)
    assert fits.new_devices == ("gpu.example.com/n2/gpu-0",)
    assert "It has to wait. It does not fit now" in waits.sentence


def test_a_dump_without_pods_tells_the_same():
    """A reservation names a pod that only the devices place on the node."""
    snapshot = cluster(
        home("n1", 2), home("n2", 2),
        held("a", "gpu-0", on="n1", pods=["p"]),
        held("b", "gpu-1", on="n1", pods=["p"]),
        held("nobody", "gpu-0", on="n2"),
    )  # fmt: skip

    found = ask(snapshot, DRAIN)

    # The claims of one pod go to one node or to none.
    assert outcomes(found) == {"a": ("waits", ""), "b": ("waits", "")}


def test_a_claim_that_nobody_uses_cannot_stay_on_a_drained_node():
    snapshot = cluster(home("n1", 1), home("n2", 1), held("idle", "gpu-0", on="n1"))

    assert outcomes(ask(snapshot, DRAIN)) == {"idle": ("fits", "n2")}


def test_claims_of_one_pod_stay_together():
    snapshot = cluster(
        home("n1", 2),
        home("n2", 1),
        home("n3", 2),
        held("a", "gpu-0", on="n1", pods=["p"]),
        held("b", "gpu-1", on="n1", pods=["p"]),
        pod("p", "a", "b", on="n1"),
    )

    found = ask(snapshot, DRAIN)

    assert outcomes(found) == {"a": ("fits", "n3"), "b": ("fits", "n3")}
    (placement,) = found.placements
    assert (placement.item, placement.pod, placement.node) == (-1, "p", "n3")


def test_pods_of_a_daemon_set_stay_on_a_drained_node_and_end_with_a_failed_one():
    snapshot = cluster(
        home("n1", 1),
        home("n2", 1),
        held("monitor", "gpu-0", on="n1", pods=["p"]),
        pod("p", "monitor", on="n1", ownerReferences=DAEMONS),
    )

    drained, failed = ask(snapshot, DRAIN), ask(snapshot, FAIL)

    assert drained.losses == ()
    assert drained.notes == ("Pods of a DaemonSet stay on a drained node: p.",)
    assert outcomes(failed) == {"monitor": ("released", "")}


@pytest.mark.parametrize(
    "state",
    [
        {"status": {"phase": "Succeeded"}},
        {"status": {"phase": "Failed"}},
        {"metadata": {"deletionTimestamp": "2026-11-30T01:00:00Z"}},
    ],
)
@pytest.mark.parametrize("edit", [DRAIN, FAIL])
def test_nothing_comes_in_the_place_of_a_pod_that_has_ended_or_is_going(edit, state):
    over = pod("p", "c", on="n1", **state.get("metadata", {}))
    over |= {k: v for k, v in state.items() if k != "metadata"}
    snapshot = cluster(
        home("n1", 1), home("n2", 1), held("c", "gpu-0", on="n1", pods=["p"]), over
    )

    found = ask(snapshot, edit)

    assert outcomes(found) == {"c": ("released", "")}
    assert found.placements == ()


def test_a_pod_that_is_not_bound_yet_looks_elsewhere_when_its_node_fails():
    snapshot = cluster(
        home("n1", 1),
        home("n2", 1),
        held("c", "gpu-0", on="n1", pods=["p"]),
        pod("p", "c"),
    )

    found = ask(snapshot, FAIL, workload=[{"place": "waiting"}])

    assert outcomes(found) == {"c": ("fits", "n2")}
    assert [placement.pod for placement in found.placements] == ["p"]


def test_pods_without_a_controller_are_told_when_their_node_is_drained():
    snapshot = cluster(
        home("n1", 1),
        home("n2", 1),
        held("c", "gpu-0", on="n1", pods=["p"]),
        pod("p", "c", on="n1"),
    )

    found = ask(snapshot, DRAIN)

    (note,) = found.notes
    assert note.endswith("kubectl drain needs --force for them: p.")


def test_a_device_that_the_pool_had_stays_while_a_driver_replaces_it():
    newer = piece(
        "n1-new", device("gpu-0"), pool="n1", nodeName="n1", generation=2, of=2
    )
    snapshot = cluster(
        home("n1", 2),
        home("n2", 1),
        held("c", "gpu-1", on="n1", pods=["p"]),
        pod("p", "c", on="n1"),
    )

    found = ask(snapshot, {"edit": "add", "objects": [newer]})

    assert found.losses == ()
    assert [p.pool for p in found.pools] == ["n1"]


def test_a_consumer_that_is_no_pod_keeps_a_claim_on_a_failed_node():
    fixed = held("fixed", "gpu-0", on="n1")
    fixed["status"]["reservedFor"] = [
        {"apiGroup": "acme.test", "resource": "widgets", "name": "w", "uid": "u"}
    ]
    snapshot = cluster(home("n1", 1), home("n2", 1), fixed)

    found = ask(snapshot, FAIL)

    (loss,) = found.losses
    assert loss.outcome == "stays"
    assert "reserved for widgets w" in loss.sentence
    assert not found.fits


def test_a_claim_shared_with_other_nodes_keeps_its_devices():
    network = piece("net", device("nic"), pool="net", allNodes=True)
    shared = claim("shared", result("nic", pool="net"))
    shared["status"]["reservedFor"] = [
        {"resource": "pods", "name": name, "uid": f"uid-{name}"} for name in ("p", "q")
    ]
    snapshot = cluster(
        node("n1"), node("n2"), network, shared,
        pod("p", "shared", on="n1"), pod("q", "shared", on="n2"),
    )  # fmt: skip

    found = ask(snapshot, DRAIN)

    assert found.losses == ()
    assert [(p.pod, p.node) for p in found.placements] == [("p", "n2")]


def test_a_pod_made_anew_under_the_same_name_does_not_count():
    """Pods are told apart by uid, not by name."""
    other = held("other", "gpu-1", on="n2", pods=["p"])
    other["status"]["reservedFor"][0]["uid"] = "uid-of-an-older-p"
    snapshot = cluster(
        home("n1", 1), home("n2", 2),
        held("own", "gpu-0", on="n1", pods=["p"]), other, pod("p", "own", on="n1"),
    )  # fmt: skip

    assert outcomes(ask(snapshot, DRAIN)) == {"own": ("fits", "n2")}


def test_claims_whose_devices_a_driver_no_longer_publishes_lose_them():
    snapshot = cluster(
        home("n1", 2), home("n2", 1),
        held("a", "gpu-1", on="n1", pods=["p"]), pod("p", "a", on="n1"),
    )  # fmt: skip
    gone = {
        "edit": "changeDevices",
        "devices": {"pool": "n1", "device": "gpu-1"},
        "remove": True,
    }

    found = ask(snapshot, gone)

    (loss,) = found.losses
    assert (loss.reason, loss.outcome, loss.new_node) == ("vanished", "fits", "n1")
    assert loss.sentence == (
        "Claim default/a loses gpu.example.com/n1/gpu-1: no slice publishes them any "
        "more. It fits on node n1."
    )


# --- NoExecute -----------------------------------------------------------------


def taint_first(key="bad", effect="NoExecute"):
    return {
        "edit": "taint",
        "devices": {"pool": "n1", "device": "gpu-0"},
        "taint": {"key": key, "effect": effect},
    }


def tolerating(**fields):
    return {"tolerations": [{"key": "bad", "operator": "Exists", **fields}]}


@pytest.mark.parametrize(
    ("tolerations", "after"),
    [
        ({}, 0),
        (tolerating(effect="NoExecute", tolerationSeconds=300), 300),
        (tolerating(effect="NoExecute"), None),
        # Any effect is enough to be allocated, but not to stay.
        (tolerating(), 0),
        (tolerating(effect="NoSchedule"), 0),
    ],
)
def test_a_taint_evicts_unless_it_is_tolerated_for_ever(tolerations, after):
    snapshot = cluster(
        home("n1", 1), home("n2", 1),
        held("a", "gpu-0", on="n1", pods=["p"], **tolerations), pod("p", "a", on="n1"),
    )  # fmt: skip

    found = ask(snapshot, taint_first())

    assert [loss.after for loss in found.losses] == ([] if after is None else [after])
    for loss in found.losses:
        assert (loss.reason, loss.detail) == ("evicted", "bad:NoExecute")
        assert outcomes(found) == {"a": ("fits", "n2")}


def test_a_claim_that_nobody_uses_is_not_evicted():
    """Only pods are deleted; the claim stays allocated."""
    snapshot = cluster(home("n1", 1), held("idle", "gpu-0", on="n1"))

    assert ask(snapshot, taint_first()).losses == ()


def test_no_schedule_evicts_nobody():
    snapshot = cluster(home("n1", 1), held("a", "gpu-0", on="n1", pods=["p"]))

    assert ask(snapshot, taint_first(effect="NoSchedule")).losses == ()


def test_who_tolerates_for_a_while_may_come_back_to_the_same_device():
    wanted = {
        **held("a", "gpu-0", on="n1", pods=["p"],
               **tolerating(effect="NoExecute", tolerationSeconds=5)),
        "spec": asking_for(1, **tolerating(effect="NoExecute", tolerationSeconds=5))["spec"],
    }  # fmt: skip
    snapshot = cluster(home("n1", 1), wanted, pod("p", "a", on="n1"))

    (loss,) = ask(snapshot, taint_first()).losses

    assert loss.sentence.endswith(
        "taint bad:NoExecute evicts its pods after 5 seconds. It comes back to the same "
        "device and is evicted again."
    )


def test_a_rule_evicts_and_earlier_evictions_are_no_news():
    old = {
        "kind": "DeviceTaintRule",
        "metadata": {"name": "old"},
        "spec": {
            "deviceSelector": {"pool": "n2"},
            "taint": {"key": "k", "effect": "NoExecute"},
        },
    }
    snapshot = cluster(
        home("n1", 1), home("n2", 1), home("n3", 1), old,
        held("a", "gpu-0", on="n1", pods=["p"]),
        held("b", "gpu-0", on="n2", pods=["q"]),
    )  # fmt: skip
    rule = {
        "edit": "taintByRule",
        "name": "new",
        "pool": "n1",
        "taint": {"key": "bad", "effect": "NoExecute"},
    }

    assert outcomes(ask(snapshot, rule)) == {"a": ("fits", "n3")}


def test_of_several_taints_and_tolerations_the_soonest_counts():
    taints = [
        DeviceTaint(key="slow", effect="NoExecute"),
        DeviceTaint(key="fast", effect="NoExecute", value="1"),
        DeviceTaint(key="other", effect="NoSchedule"),
    ]

    def for_(key, seconds):
        return Toleration(
            key=key, operator="Exists", effect="NoExecute", toleration_seconds=seconds
        )

    found = eviction_of(taints, [for_("slow", 60), for_("fast", 9), for_("fast", -3)])

    assert found == Eviction(0, "fast=1:NoExecute")
    assert eviction_of(taints[2:], []) is None
