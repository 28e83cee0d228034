"""What is asked about together: one claim, or all that a pod waits for."""

from __future__ import annotations

import pytest

from claims.explaining import (
    NotWaiting,
    subject_of,
    subject_of_pod,
    waiting_claims,
)
from dra.snapshot import Snapshot
from tests.allocator import builders as build
from tests.allocator.builders import Json


def pod(name: str, *claims: str, **status: object) -> Json:
    made = build.pod(name, "")
    made["spec"]["resourceClaims"] = [
        {"name": f"entry-{place}", "resourceClaimName": claim}
        for place, claim in enumerate(claims)
    ]
    made["status"] |= status
    return made


def held_on(node: str, name: str) -> Json:
    claim = build.allocated(name, build.result(node, "gpu-0"))
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    claim["status"]["allocation"]["nodeSelector"] = {
        "nodeSelectorTerms": [{"matchFields": [field]}]
    }
    return claim


def world(*objects: Json) -> Snapshot:
    return Snapshot.build([*build.lab(3), *objects])


def names(snapshot: Snapshot, name: str) -> list[str]:
    return [c.metadata.name for c in subject_of(snapshot, "lab", name).claims]


def test_a_claim_that_no_pod_names_is_asked_about_alone() -> None:
    snapshot = world(build.claim("a"), build.claim("b"))
    subject = subject_of(snapshot, "lab", "a")
    assert names(snapshot, "a") == ["a"]
    assert (subject.pod, subject.sentence, subject.node_names) == ("", "", None)


def test_claims_of_one_pod_are_asked_about_in_its_order() -> None:
    snapshot = world(build.claim("a"), build.claim("b"), pod("p", "b", "a"))
    assert names(snapshot, "a") == names(snapshot, "b") == ["b", "a"]
    sentence = subject_of(snapshot, "lab", "a").sentence
    assert sentence == (
        "Pod p needs 2 claims on one node; they are asked about together, in the "
        "pod's order: b, a."
    )


def test_a_claim_that_two_entries_name_counts_once() -> None:
    assert names(world(build.claim("a"), pod("p", "a", "a")), "a") == ["a"]


def test_pods_that_have_ended_do_not_count() -> None:
    snapshot = world(
        build.claim("a"), build.claim("b"), pod("p", "a", "b", phase="Failed")
    )
    assert names(snapshot, "a") == ["a"]


def test_of_several_pods_one_without_a_node_counts_then_the_first_by_name() -> None:
    placed = pod("a-placed", "a", "b")
    placed["spec"]["nodeName"] = "n0"
    snapshot = world(
        *map(build.claim, "abcd"), placed, pod("z", "a", "d"), pod("m", "a", "c")
    )
    assert names(snapshot, "a") == ["a", "c"]


def test_allocated_claims_of_the_pod_say_which_nodes_are_left() -> None:
    snapshot = world(build.claim("a"), held_on("n1", "b"), pod("p", "a", "b"))
    subject = subject_of(snapshot, "lab", "a")
    assert subject.node_names == ("n1",)
    assert subject.sentence == (
        "b of the same pod is allocated already, so only node n1 can be chosen."
    )


def test_allocations_on_different_nodes_leave_none() -> None:
    snapshot = world(
        build.claim("a"), held_on("n1", "b"), held_on("n2", "c"), pod("p", *"abc")
    )
    subject = subject_of(snapshot, "lab", "a")
    assert subject.node_names == ()
    assert "only nodes that take no pods now can be chosen" in subject.sentence


def test_an_entry_whose_claim_is_not_made_yet_is_left_out_and_named() -> None:
    made = pod("p", "a")
    made["spec"]["resourceClaims"].append(
        {"name": "later", "resourceClaimTemplateName": "t"}
    )
    subject = subject_of(world(build.claim("a"), made), "lab", "a")
    assert subject.absent == ("later",)
    assert "Left out: later" in subject.sentence


def test_a_generated_claim_is_found_by_the_status_of_the_pod() -> None:
    made = pod("p", "a")
    made["spec"]["resourceClaims"].append(
        {"name": "made", "resourceClaimTemplateName": "t"}
    )
    made["status"]["resourceClaimStatuses"] = [
        {"name": "made", "resourceClaimName": "p-made-x"}
    ]
    snapshot = world(build.claim("a"), build.claim("p-made-x"), made)
    assert names(snapshot, "p-made-x") == ["a", "p-made-x"]


def test_only_claims_without_an_allocation_wait() -> None:
    going = build.claim("going")
    going["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z"
    snapshot = world(build.claim("a"), held_on("n0", "b"), going)
    assert [c.metadata.name for c in waiting_claims(snapshot)] == ["a"]
    with pytest.raises(NotWaiting, match="is allocated"):
        subject_of(snapshot, "lab", "b")
    with pytest.raises(NotWaiting, match="being deleted"):
        subject_of(snapshot, "lab", "going")


def test_a_claim_that_cannot_be_read_says_so_and_an_unknown_one_is_none() -> None:
    odd = build.claim("odd")
    odd["spec"] = {"devices": {"requests": [{"name": 7}]}}
    snapshot = world(odd)
    with pytest.raises(NotWaiting, match="cannot be read"):
        subject_of(snapshot, "lab", "odd")
    with pytest.raises(KeyError):
        subject_of(snapshot, "lab", "none")


def test_a_changed_claim_is_another_question() -> None:
    one, two = (subject_of(world(build.claim("a")), "lab", "a") for _ in range(2))
    assert one.key != two.key
    assert one.key == one.key


# --- extended resources and the pod's own rules ------------------------------

RESOURCE = "acme.test/gpu"


def asking(
    name: str, amount: int = 1, *claims: str, resource: str = RESOURCE, **spec: object
) -> Json:
    made = pod(name, *claims)
    asked = {"limits": {resource: str(amount)}, "requests": {resource: str(amount)}}
    made["spec"] |= {"containers": [{"name": "c", "resources": asked}]} | spec
    return made


def serving(resource: str = RESOURCE, created: str = "", **names: str) -> Json:
    made = build.device_class(**names)
    made["spec"]["extendedResourceName"] = resource
    if created:
        made["metadata"]["creationTimestamp"] = created
    return made


def served(*objects: Json) -> Snapshot:
    return world(*objects).edit(add=[serving()])


def with_plugin(name: str, resource: str = RESOURCE) -> Json:
    made = build.node(name)
    made["status"]["allocatable"] = {resource: "4"}
    return made


def test_a_pod_waits_for_the_claim_that_is_made_of_its_extended_resources() -> None:
    subject = subject_of_pod(served(asking("p", 2)), "lab", "p")
    [claim] = subject.claims
    assert subject.to_be_made == claim
    assert not subject.existing
    assert claim.spec.devices.requests is not None
    [request] = claim.spec.devices.requests
    assert request.exactly is not None
    assert (request.exactly.device_class_name, request.exactly.count) == (build.GPU, 2)
    assert subject.sentence == (
        "Pod p asks for extended resources (acme.test/gpu): the scheduler makes one "
        "claim of them, for class gpu.acme.test."
    )


def test_the_claim_of_extended_resources_comes_behind_the_pods_own() -> None:
    snapshot = served(build.claim("a"), build.claim("b"), asking("p", 1, "b", "a"))
    by_claim = subject_of(snapshot, "lab", "a")
    assert [c.metadata.name for c in by_claim.claims] == [
        "b",
        "a",
        "p-extended-resources",
    ]
    assert by_claim == subject_of_pod(snapshot, "lab", "p")
    assert "behind them: b, a." in by_claim.sentence


def test_without_the_gate_extended_resources_are_not_drawn_from_dra() -> None:
    snapshot = served(build.claim("a"), asking("p", 1, "a"))
    subject = subject_of_pod(snapshot, "lab", "p", extended_resources=False)
    assert [c.metadata.name for c in subject.claims] == ["a"]


def test_nodes_whose_device_plugin_serves_the_resource_are_left_out() -> None:
    snapshot = served(asking("p")).edit(add=[with_plugin("n1")])
    subject = subject_of_pod(snapshot, "lab", "p")
    assert (subject.plugin_nodes, subject.node_names) == (("n1",), ("n0", "n2"))
    assert "Left out: node n1, which serves such a resource by a device" in (
        subject.sentence
    )


def test_of_two_classes_with_one_name_the_newest_then_the_first_by_name_wins() -> None:
    """Two vendors' charts name the same extended resource."""
    older = serving(created="2026-03-01T10:00:00Z", name="gpu.vendor.test")
    newer = serving(created="2026-05-01T10:00:00Z", name="shared.vendor.test")
    snapshot = world(asking("p")).edit(add=[older, newer])
    subject = subject_of_pod(snapshot, "lab", "p")
    assert subject.extended is not None
    assert subject.extended.served_by[RESOURCE].class_name == "shared.vendor.test"
    same = serving(created="2026-03-01T10:00:00Z", name="shared.vendor.test")
    subject = subject_of_pod(snapshot.edit(add=[same]), "lab", "p")
    assert "for class gpu.vendor.test." in subject.sentence


def test_the_name_that_every_class_has_is_never_ambiguous() -> None:
    name = "deviceclass.resource.kubernetes.io/gpu.vendor.test"
    older = serving(created="2026-03-01T10:00:00Z", name="gpu.vendor.test")
    newer = serving(created="2026-05-01T10:00:00Z", name="shared.vendor.test")
    snapshot = world(asking("p", resource=name)).edit(add=[older, newer])
    assert "for class gpu.vendor.test." in subject_of_pod(snapshot, "lab", "p").sentence


def test_the_claim_that_the_scheduler_made_is_one_of_the_pod() -> None:
    made = asking("p")
    made["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": "p-x"}
    subject = subject_of_pod(served(build.claim("p-x"), made), "lab", "p")
    assert [c.metadata.name for c in subject.claims] == ["p-x"]
    assert subject.to_be_made is None
    held = served(held_on("n1", "p-x"), made)
    with pytest.raises(NotWaiting, match="hold their devices"):
        subject_of_pod(held, "lab", "p")


def test_a_pods_own_rules_decide_which_nodes_are_tried() -> None:
    selector = {"nodeSelector": {"zone": "west"}}
    west = build.node("n1")
    west["metadata"]["labels"] = {"zone": "west"}
    picky = pod("p", "a")
    picky["spec"] |= selector
    snapshot = world(build.claim("a"), picky).edit(add=[west])
    subject = subject_of(snapshot, "lab", "a")
    assert subject.node_names == ("n1",)
    assert subject.sentence == (
        "Pod p may run on node n1 only: its node selector, node affinity and "
        "tolerations of node taints decide that."
    )
    nowhere = pod("p", "a")
    nowhere["spec"]["nodeSelector"] = {"zone": "moon"}
    subject = subject_of(snapshot.edit(add=[nowhere]), "lab", "a")
    assert subject.node_names == ()
    assert subject.sentence.startswith("No node that takes pods is left for pod p")


def test_tainted_nodes_are_tried_only_for_pods_that_tolerate_the_taint() -> None:
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    tolerant = pod("p", "a")
    tolerant["spec"]["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    snapshot = world(build.claim("a"), pod("p", "a"))
    snapshot = snapshot.edit(add=[build.node("n2", taints=[taint])])
    assert subject_of(snapshot, "lab", "a").node_names == ("n0", "n1")
    snapshot = snapshot.edit(add=[tolerant])
    assert subject_of(snapshot, "lab", "a").node_names == ("n0", "n1", "n2")


def test_rules_that_cannot_be_read_leave_no_node_and_say_so() -> None:
    odd = pod("p", "a")
    term = {"matchExpressions": [{"key": "zone", "operator": "Odd"}]}
    rule = {"nodeSelectorTerms": [term]}
    path = "requiredDuringSchedulingIgnoredDuringExecution"
    odd["spec"]["affinity"] = {"nodeAffinity": {path: rule}}
    subject = subject_of(world(build.claim("a"), odd), "lab", "a")
    assert subject.node_names == ()
    assert "No node can be chosen, because the pod's spec.affinity" in subject.sentence


def test_there_are_pods_about_which_nothing_can_be_asked() -> None:
    placed = asking("placed")
    placed["spec"]["nodeName"] = "n0"
    later = pod("later")
    later["spec"]["resourceClaims"] = [
        {"name": "gpu", "resourceClaimTemplateName": "t"}
    ]
    other = asking("other", resource="example.com/nic")
    many = asking("many", 33)
    ended = asking("ended")
    ended["status"]["phase"] = "Succeeded"
    unreadable = pod("odd") | {"spec": {"nodeName": 7}}
    snapshot = served(placed, later, other, many, ended, unreadable)
    for name, why in {
        "placed": "is on node n0",
        "later": "no claim yet to ask about for gpu",
        "other": "asks for no device of DRA",
        "ended": "has ended",
        "odd": "cannot be read",
    }.items():
        with pytest.raises(NotWaiting, match=why):
            subject_of_pod(snapshot, "lab", name)
    assert "33 devices in one claim" in subject_of_pod(snapshot, "lab", "many").sentence
    with pytest.raises(KeyError):
        subject_of_pod(snapshot, "lab", "none")


def test_a_changed_extended_resource_is_another_question() -> None:
    one, two = (subject_of_pod(served(asking("p", n)), "lab", "p") for n in (1, 2))
    assert one.key != two.key
    assert one.key == subject_of_pod(served(asking("p", 1)), "lab", "p").key
