"""Pods that ask for extended resources get the claims that the scheduler would make."""

from __future__ import annotations

import pytest

from dra.extended_resources import CLAIM_ANNOTATION
from tests.dra.allocation.world import device_class
from tests.dra.builders import claim, node
from tests.dra.whatif.world import ask, asking_for, cluster, held, home, pod

GPU = "example.com/gpu"
SERVED = device_class(extendedResourceName=GPU)
WAITING = {"workload": [{"place": "waiting"}]}


def asking_pod(name, amount=1, *claims, on="", resource=GPU, **spec):
    """A pod whose one container asks for an extended resource."""
    made = pod(name, *claims, on=on)
    limits = {resource: str(amount)}
    made["spec"]["containers"] = [{"name": "main", "resources": {"limits": limits}}]
    made["spec"] |= spec
    return made


def with_claim(raw, name):
    """The pod as one for which the scheduler has made a claim."""
    raw["status"] = {"extendedResourceClaimStatus": {"resourceClaimName": name}}
    return raw


def made_claim(name, *devices, on, pods, cls="gpu"):
    made = held(name, *devices, on=on, pods=pods)
    made["metadata"]["annotations"] = {CLAIM_ANNOTATION: "true"}
    request = {
        "name": "container-0-request-0",
        "exactly": {
            "deviceClassName": cls,
            "allocationMode": "ExactCount",
            "count": len(devices),
        },
    }
    made["spec"] = {"devices": {"requests": [request]}}
    return made


def plugin_node(name):
    return node(name) | {"status": {"allocatable": {GPU: "8"}}}


def given(found):
    return [
        (p.name, p.node, [c.name for c in p.claims], [d.device for d in c.devices])
        for p in found.placements
        for c in p.claims[-1:]
    ]


def test_a_pod_that_waits_gets_a_claim_for_them():
    snapshot = cluster(home("n1", 1), home("n2", 2), SERVED, asking_pod("p", 2))

    found = ask(snapshot, **WAITING)

    assert found.fits
    assert given(found) == [
        ("p", "n2", ["p-extended-resources"], ["gpu-0", "gpu-1"]),
    ]


def test_its_own_claims_and_that_one_go_to_one_node():
    own = {**claim("own"), "spec": asking_for()["spec"]}
    snapshot = cluster(
        home("n1", 2), home("n2", 3), SERVED, own, asking_pod("p", 2, "own")
    )

    (placement,) = ask(snapshot, **WAITING).placements

    assert placement.node == "n2"
    assert [c.name for c in placement.claims] == ["own", "p-extended-resources"]


def test_nodes_with_a_device_plugin_for_it_are_left_out_and_that_is_said():
    plugin = [plugin_node("n1"), *home("n1", 2)[1:]]
    snapshot = cluster(plugin, home("n2", 1), SERVED, asking_pod("p"))

    found = ask(snapshot, **WAITING)

    assert [p.node for p in found.placements] == ["n2"]
    assert found.notes == (
        "1 node with a device plugin for example.com/gpu is left out for pods that ask "
        "for it: what is free there is not known here.",
    )


def test_a_pod_that_asks_for_what_only_a_plugin_serves_goes_where_one_is():
    other = asking_pod("p")
    limits = other["spec"]["containers"][0]["resources"]["limits"]
    limits["example.com/nic"] = "1"
    with_nic = home("n2", 1)[0] | {"status": {"allocatable": {"example.com/nic": "1"}}}
    snapshot = cluster(home("n1", 1), [with_nic, *home("n2", 1)[1:]], SERVED, other)

    found = ask(snapshot, **WAITING)

    assert [p.node for p in found.placements] == ["n2"]


def test_pods_of_the_workload_ask_for_them_too():
    snapshot = cluster(home("n1", 2), home("n2", 2), SERVED)
    work = {"place": "pod", "name": "p", "copies": 9, "resources": {GPU: 1}}

    found = ask(snapshot, workload=[work])

    assert found.items[0].placed == 4
    assert given(found)[1] == ("p-2", "n1", ["p-2-extended-resources"], ["gpu-1"])
    assert found.items[0].sentence == "Add 9 × pod p with 1 × example.com/gpu."
    (asked,) = found.items[0].asked
    assert asked.name == "p-5-extended-resources"


def test_in_a_group_they_count_together():
    snapshot = cluster(home("n1", 2), home("n2", 1), SERVED)
    some = {"name": "w", "copies": 2, "resources": {GPU: 2}}

    found = ask(snapshot, workload=[{"place": "group", "name": "g", "pods": [some]}])

    assert found.items[0].placed == 0
    assert found.placements == ()


@pytest.mark.parametrize("edit", ["drain", "removeNodes"])
def test_a_pod_that_moves_gets_its_claim_anew(edit):
    snapshot = cluster(
        home("n1", 2),
        home("n2", 2),
        SERVED,
        made_claim("p-x7f2k", "gpu-1", on="n1", pods=["p"]),
        with_claim(asking_pod("p", on="n1"), "p-x7f2k"),
    )

    found = ask(snapshot, {"edit": edit, "nodes": ["n1"]})

    (loss,) = found.losses
    assert (loss.outcome, loss.new_node) == ("fits", "n2")
    assert loss.new_devices == ("gpu.example.com/n2/gpu-0",)
    assert given(found) == [("p", "n2", ["p-x7f2k"], ["gpu-0"])]


def test_an_evicted_pod_asks_the_class_that_stands_for_it_then():
    snapshot = cluster(
        home("n1", 1),
        home("n2", 1),
        home("n3", 1),
        SERVED,
        made_claim("p-x7f2k", "gpu-0", on="n1", pods=["p"]),
        with_claim(asking_pod("p", on="n1"), "p-x7f2k"),
    )
    evict = {
        "edit": "taint",
        "devices": {"node": "n1"},
        "taint": {"key": "k", "effect": "NoExecute"},
    }
    selector = 'device.attributes["gpu.example.com"].none == 1'
    nothing = {
        "extendedResourceName": GPU,
        "selectors": [{"cel": {"expression": f"false && {selector}"}}],
    }

    as_it_is = ask(snapshot, evict)
    changed = ask(snapshot, {"edit": "setClass", "name": "gpu", "spec": nothing}, evict)
    gone = ask(snapshot, {"edit": "removeClass", "name": "gpu"}, evict)

    assert [loss.new_node for loss in as_it_is.losses] == ["n2"]
    assert [loss.outcome for loss in changed.losses] == ["waits"]
    assert "none of" in changed.losses[0].why.lower()
    assert gone.losses[0].why == (
        "It asks for example.com/gpu, which no class and no node's device plugin serves."
    )


def test_with_the_gate_off_classes_do_not_stand_for_them():
    snapshot = cluster(home("n1", 1), SERVED, asking_pod("p"))
    off = {"edit": "features", "gates": {"DRAExtendedResource": False}}
    old = {"edit": "features", "version": "1.35"}

    for edit in (off, old):
        (item,) = ask(snapshot, edit, **WAITING).items
        assert item.verdict == "refused"
        assert "DRAExtendedResource is off" in item.reason


def test_what_no_claim_can_hold_is_told():
    snapshot = cluster(home("n1", 1), SERVED, asking_pod("p", 33))

    (item,) = ask(snapshot, **WAITING).items

    assert (item.verdict, item.placed) == ("refused", 0)
    assert "33 devices in one claim, which can hold 32" in item.reason


def test_every_class_has_a_resource_of_its_own():
    implicit = "deviceclass.resource.kubernetes.io/gpu"
    snapshot = cluster(home("n1", 1), asking_pod("p", resource=implicit))

    assert ask(snapshot, **WAITING).fits
