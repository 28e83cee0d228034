"""Which pods of the cluster are tried, when it is their turn, and with which claims."""

from __future__ import annotations

import pytest

from dra.portal import ROLE
from dra.whatif import read_scenario, simulate
from tests.dra.allocation.world import device_class
from tests.dra.builders import claim, result
from tests.dra.whatif.test_gangs import group, member
from tests.dra.whatif.world import ask, asking_for, cluster, held, home, pod

WAITING = [{"place": "waiting"}]
EARLY, LATE = "2026-11-30T01:00:00Z", "2026-11-30T02:00:00Z"


def placed(found):
    return [(p.pod, p.node) for p in found.placements]


def template(name):
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"spec": asking_for()["spec"]},
    }


def from_template(name, of, **meta):
    made = pod(name, **meta)
    entry = {"name": "gpu", "resourceClaimTemplateName": of}
    made["spec"]["resourceClaims"] = [entry]
    return made


def test_pods_of_a_higher_priority_go_first():
    urgent = pod("urgent", "b", creationTimestamp=LATE)
    urgent["spec"]["priority"] = 1000
    usual = pod("usual", "a", creationTimestamp=EARLY)

    found = ask(
        cluster(home("n1", 1), claim("a"), claim("b"), usual, urgent), workload=WAITING
    )

    assert placed(found) == [("urgent", "n1")]


def test_a_pod_that_a_scenario_adds_waits_for_those_that_are_there():
    old = pod("old", "a", creationTimestamp=LATE)
    add = {"edit": "add", "objects": [pod("new", "b")]}

    found = ask(
        cluster(home("n1", 1), claim("a"), claim("b"), old), add, workload=WAITING
    )

    assert placed(found) == [("old", "n1")]


def test_nobody_schedules_a_pod_with_gates():
    gated = pod("gated", "a")
    gated["spec"]["schedulingGates"] = [{"name": "kueue.x-k8s.io/admission"}]

    found = ask(cluster(home("n1"), claim("a"), gated), workload=WAITING)

    assert (found.items[0].copies, placed(found)) == (0, [])
    assert found.notes == (
        "1 pod is held back by scheduling gates (kueue.x-k8s.io/admission) and not tried.",
    )


def test_a_carrier_of_a_portal_is_not_tried():
    """It wants the device of the pod whose claim it is to have allocated."""
    carrier = pod("dra-portal-carrier-1", "a", labels={ROLE: "carrier"})

    found = ask(
        cluster(home("n1", 2), claim("a"), carrier, pod("train", "a")), workload=WAITING
    )

    assert placed(found) == [("train", "n1")]
    assert found.items[0].copies == 1


def test_a_gang_waits_for_those_that_gates_hold_back():
    gated = member("b", "g")
    gated[1]["spec"]["schedulingGates"] = [{"name": "example.com/quota"}]

    found = ask(
        cluster(home("n1"), group("g", 2), member("a", "g"), gated), workload=WAITING
    )

    assert placed(found) == []
    assert "1 of its 2 are held back by gates" in found.items[0].reason


def test_a_gang_counts_members_that_need_no_devices():
    launcher = pod("launcher")
    launcher["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    gang = [*member("a", "g"), *member("b", "g"), launcher]

    found = ask(cluster(home("n1", 2), group("g", 3), gang), workload=WAITING)

    assert placed(found) == [("a", "n1"), ("b", "n1")]


def test_a_pod_that_comes_with_a_template_gets_claims_made_of_it():
    pods = [from_template("a", "t"), from_template("b", "t")]

    found = ask(
        cluster(home("n1", 1), template("t")),
        {"edit": "add", "objects": pods},
        workload=WAITING,
    )

    assert placed(found) == [("a", "n1")]
    assert [c.name for c in found.placements[0].claims] == ["a-gpu"]
    assert found.items[0].reason.startswith("Pod b: It does not fit now")


def test_claims_of_templates_have_names_of_their_own():
    first, second = from_template("a", "t"), from_template("a-b", "t")
    first["spec"]["resourceClaims"][0]["name"] = "b-c"
    second["spec"]["resourceClaims"][0]["name"] = "c"

    found = ask(cluster(home("n1"), template("t"), first, second), workload=WAITING)

    assert [p.claims[0].name for p in found.placements] == ["a-b-c", "a-b-c-1"]


@pytest.mark.parametrize("made", [True, False])
def test_pods_share_a_claim_that_is_made_for_their_group(made):
    entry = {"name": "gpu", "resourceClaimTemplateName": "t"}
    both = group("g")
    both["spec"]["resourceClaims"] = [entry]
    pods = [from_template("a", "t"), from_template("b", "t")]
    for one in pods:
        one["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    objects = [both, template("t"), *pods]
    if made:
        status = {"name": "gpu", "resourceClaimName": "g-gpu"}
        both["status"] = {"resourceClaimStatuses": [status]}
        objects.append(claim("g-gpu"))

    found = ask(cluster(home("n1", 1), *objects), workload=WAITING)

    assert placed(found) == [("a", "n1"), ("b", "n1")]
    assert [len(p.claims) for p in found.placements] == [1, 0]


def test_a_pod_whose_template_is_missing_is_told():
    found = ask(cluster(home("n1"), from_template("a", "t")), workload=WAITING)

    assert found.items[0].reason == "Pod a: Its claim template t does not exist."


def test_a_claim_that_a_pod_names_twice_is_one_claim():
    twice = pod("p", "c")
    again = {"name": "again", "resourceClaimName": "c"}
    twice["spec"]["resourceClaims"].append(again)
    work = {"place": "pod", "name": "q", "claims": [{"claimName": "c"}] * 2}
    snapshot = cluster(home("n1"), claim("c"), twice)

    waits, drafted = ask(snapshot, workload=WAITING), ask(snapshot, workload=[work])

    for found in (waits, drafted):
        ((made,),) = (p.claims for p in found.placements)
        assert [d.device for d in made.devices] == ["gpu-0"]


def bound_to(node, **fields):
    made = claim("c", result("gpu-0", pool=node))
    only = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [only]}]}
    made["status"]["allocation"]["nodeSelector"] = terms
    made["status"] |= fields
    return made


CORDON = {"edit": "cordon", "nodes": ["n1"]}


def test_a_claim_that_nobody_else_uses_is_taken_back_for_a_pod_that_cannot_go_there():
    snapshot = cluster(home("n1", 1), home("n2", 1), bound_to("n1"), pod("p", "c"))

    found = simulate(snapshot, read_scenario({"edits": [CORDON], "workload": WAITING}))

    assert placed(found.result) == [("p", "n2")]
    assert found.result.notes[0].startswith("Claim default/c is allocated where pod p")
    assert not found.after.in_use.pool(("gpu.example.com", "n1")).holders


def test_one_that_fits_nowhere_else_keeps_what_it_has():
    snapshot = cluster(home("n1", 1), bound_to("n1"), pod("p", "c"))

    found = simulate(snapshot, read_scenario({"edits": [CORDON], "workload": WAITING}))

    assert not found.result.fits
    assert found.result.notes == ()
    assert found.after.in_use.pool(("gpu.example.com", "n1")).holders


def test_a_claim_that_another_pod_uses_is_not_taken_back():
    other = [{"resource": "pods", "name": "other", "uid": "uid-other"}]
    snapshot = cluster(
        home("n1", 1),
        home("n2", 1),
        bound_to("n1", reservedFor=other),
        pod("p", "c"),
        pod("other", "c", on="n1"),
    )

    found = ask(snapshot, CORDON, workload=WAITING)

    assert found.items[0].reason.startswith("Pod p: Its claims are allocated already")


def test_a_pod_has_its_own_place_among_256_consumers():
    full = held("c", "gpu-0", on="n1", pods=[f"p-{n}" for n in range(256)])

    found = ask(cluster(home("n1"), full, pod("p-7", "c")), workload=WAITING)

    assert placed(found) == [("p-7", "n1")]


SERVED = {"extendedResourceName": "example.com/gpu"}
NEW_CLASS = {
    "edit": "setClass",
    "name": "none",
    "spec": {"selectors": [{"cel": {"expression": "false"}}], **SERVED},
}


def asks_extended():
    made = pod("p")
    limits = {"example.com/gpu": "1"}
    made["spec"]["containers"] = [{"name": "main", "resources": {"limits": limits}}]
    return made


def test_a_new_class_takes_an_extended_resource_from_an_older_one():
    old = device_class("gpu", **SERVED)
    old["metadata"]["creationTimestamp"] = EARLY
    snapshot = cluster(home("n1"), old, asks_extended())

    before, after = (
        ask(snapshot, workload=WAITING),
        ask(snapshot, NEW_CLASS, workload=WAITING),
    )

    assert before.fits
    assert "(class none)" in after.items[0].reason


def test_a_class_that_changes_stays_as_old_as_it_was():
    none = device_class("none", "false", **SERVED)
    none["metadata"]["creationTimestamp"] = EARLY
    newer = device_class("gpu", **SERVED)
    newer["metadata"]["creationTimestamp"] = LATE
    snapshot = cluster(home("n1"), none, newer, asks_extended())

    found = ask(snapshot, NEW_CLASS, workload=WAITING)

    assert placed(found) == [("p", "n1")]
