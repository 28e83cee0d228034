"""What is asked about together: one claim, or all that a pod waits for."""

from __future__ import annotations

import pytest

from claims.explaining import NotWaiting, subject_of, waiting_claims
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
