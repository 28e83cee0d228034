"""What exists and cannot be read, what has ended, and what was made anew."""

from __future__ import annotations

import pytest

from dra.audits import Code
from tests.dra.audits.world import (
    HOURS_AGO,
    bound,
    clean,
    found_in,
    one,
    pod,
    slices_of,
    template,
)
from tests.dra.builders import claim, device, node, piece


def codes(*objects):
    return [found.code for found in found_in(*objects)]


def wanting(name, class_name):
    made = claim(name)
    made["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = class_name
    return made


UNREADABLE = {
    "Pod": [
        bound("x", "gpu-0", on="n3"),
        {**pod("p-x"), "spec": {"resourceClaims": 5}},
    ],
    "ResourceClaimTemplate": [
        pod("p", on="", resourceClaimTemplateName="t"),
        {**template("t"), "spec": {"spec": 5}},
    ],
    "Node": [*slices_of("n9"), {**node("n9"), "status": 5}],
    "DeviceClass": [
        wanting("w", "odd"),
        template("t", deviceClassName="odd"),
        pod("p-w", "w", on=""),
        {
            "kind": "DeviceClass",
            "metadata": {"name": "odd"},
            "spec": {"selectors": 5},
        },
    ],
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_is_not_missing(kind):
    assert codes(*clean(), *UNREADABLE[kind]) == [Code.OBJECT_UNREADABLE]


def test_devices_of_a_slice_that_cannot_be_read_may_be_published():
    objects = clean()
    broken = one(objects, "ResourceSlice", "n2-gpu")
    broken["spec"]["devices"] = 5
    held = [bound("x", "gpu-9", on="n3"), pod("p-x", "x", on="n3")]

    found = found_in(*objects, *held)

    assert [(one.code, one.subject.name) for one in found] == [
        (Code.DEVICE_UNPUBLISHED, "x"),  # the pool of n3 is complete
        (Code.OBJECT_UNREADABLE, "n2-gpu"),
        (Code.NODE_DRIVER_MISSING, "n2"),
    ]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_ended_uses_nothing_any_more(phase):
    ended = pod("p-x", "x", "waits", on="n3")
    ended["status"]["phase"] = phase

    found = found_in(*clean(), bound("x", "gpu-0", on="n3"), claim("waits"), ended)

    assert [one.sentence for one in found] == [
        "Claim default/x is reserved by pod p-x, which has ended.",
        "Claim default/waits waits for a pod that uses it.",
    ]


def test_slices_of_single_devices_name_nodes_too():
    rack = piece(
        "rack",
        device("gpu-0", nodeName="n77"),
        device("gpu-1", nodeName="n1"),
        pool="rack",
        perDeviceNodeSelection=True,
    )

    (found,) = found_in(*clean(), rack)

    assert found.code == Code.POOL_NODE_GONE
    assert "publishes 1 device of node n77" in found.sentence


def test_a_node_that_was_made_anew_does_not_own_the_slices_of_the_former_one():
    objects = clean()
    one(objects, "Node", "n2")["metadata"]["uid"] = "new"
    one(objects, "ResourceSlice", "n2-gpu")["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Node", "name": "n2", "uid": "old"}
    ]
    one(objects, "ResourceSlice", "n2-nic")["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Node", "name": "n2", "uid": "new"}
    ]

    (found,) = found_in(*objects)

    assert found.code == Code.POOL_NODE_GONE
    assert "1 slice of a former node n2" in found.sentence
    assert found.evidence["slices"] == "n2-gpu"


def test_the_claim_of_extended_resources_that_a_pod_names_has_to_exist():
    asks = pod("p", on="")
    asks["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": "gone"}

    (found,) = found_in(*clean(), asks)

    assert found.code == Code.POD_MISSING_CLAIM
    assert found.evidence["claim"] == "gone"


def test_a_pod_group_that_points_to_missing_objects_is_told():
    entries = [
        {"name": "a", "resourceClaimName": "gone"},
        {"name": "b", "resourceClaimTemplateName": "gone"},
        {"name": "c", "resourceClaimTemplateName": "fine"},
    ]
    group = {
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {"resourceClaims": entries},
    }

    found = found_in(*clean(), group)

    assert [(one.code, str(one.subject), one.subject.detail) for one in found] == [
        (Code.POD_MISSING_CLAIM, "PodGroup default/g", "a"),
        (Code.POD_MISSING_TEMPLATE, "PodGroup default/g", "b"),
    ]


def timeless(owner):
    made = bound("x", "gpu-0", on="n3")
    del made["status"]["allocation"]["allocationTimestamp"]
    made["metadata"]["ownerReferences"] = [
        {"kind": "Pod", "controller": True, "name": owner, "uid": f"uid-{owner}"}
    ]
    return made


def test_a_claim_made_for_the_pod_that_has_it_needs_no_timestamp():
    user = pod("p-x", "x", on="n3")

    assert codes(*clean(), timeless("p-x"), user) == []
    assert codes(*clean(), timeless("p-y"), user) == [Code.CLAIM_WITHOUT_TIMESTAMP]


def test_only_devices_with_admin_access_count_as_such():
    mixed = bound("x", "gpu-0", "gpu-1", on="n3")
    results = mixed["status"]["allocation"]["devices"]["results"]
    results[0]["adminAccess"] = True
    asks = claim("y")
    asks["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = True

    found = found_in(
        *clean(), mixed, pod("p-x", "x", on="n3"), asks, pod("p-y", "y", on="")
    )

    assert [one.sentence for one in found] == [
        "Claim default/x has admin access to 1 device.",
        "Claim default/y asks for admin access.",
    ]


def test_a_type_that_a_distribution_gives_to_all_nodes_makes_no_kind():
    objects = [o for o in clean() if o["metadata"]["name"] not in ("n4-gpu", "n4-nic")]
    for number in range(1, 6):
        labels = one(objects, "Node", f"n{number}")["metadata"]["labels"]
        labels["node.kubernetes.io/instance-type"] = "k3s"

    assert codes(*objects) == []


def test_a_terminating_pod_may_name_what_is_gone():
    going = pod("p", "gone", on="")
    going["metadata"]["deletionTimestamp"] = HOURS_AGO

    assert codes(*clean(), going) == []
