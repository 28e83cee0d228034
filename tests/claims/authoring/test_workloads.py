"""What the pods of a text need: their claims, found in it and in the cluster."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from claims.authoring.manifests import read
from claims.authoring.workloads import workloads
from dra.allocation.explaining import explain
from dra.container_asks import CLASS_PREFIX
from dra.objects import write
from dra.snapshot import Snapshot


def node(name, labels=None, **allocatable):
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "status": {"allocatable": allocatable},
    }


def piece(node_name, devices=2):
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node_name}-slice"},
        "spec": {
            "driver": "d.example",
            "nodeName": node_name,
            "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"gpu-{i}"} for i in range(devices)],
        },
    }


def device_class(name="gpu", resource=None, created="2026-01-01T00:00:00Z"):
    spec: dict[str, Any] = {"selectors": []}
    if resource:
        spec["extendedResourceName"] = resource
    metadata = {"name": name, "creationTimestamp": created}
    return {"kind": "DeviceClass", "metadata": metadata, "spec": spec}


def claim(name, namespace="default", kind="ResourceClaim", devices=None, **status):
    asked = {
        "requests": [
            {"name": "r", "exactly": {"deviceClassName": "gpu", "count": devices or 1}}
        ]
    }
    spec = {"devices": asked}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"spec": spec} if kind == "ResourceClaimTemplate" else spec,
        "status": status,
    }


def held(name, node_name):
    """A claim of the cluster that holds a device of ``node_name``."""
    term = {"key": "metadata.name", "operator": "In", "values": [node_name]}
    result = {
        "request": "r",
        "driver": "d.example",
        "pool": node_name,
        "device": "gpu-0",
    }
    allocation = {
        "devices": {"results": [result]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [term]}]},
    }
    return claim(name, allocation=allocation)


CLUSTER = Snapshot.build(
    [
        *(node(name, {"zone": name[-1]}) for name in ("n1", "n2")),
        *(piece(name) for name in ("n1", "n2")),
        device_class("gpu", "example.com/gpu"),
        claim("there"),
        claim("foreign", "other"),
        claim("pattern", kind="ResourceClaimTemplate"),
        held("held", "n2"),
    ]
)

TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two-gpus}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 2}}]}}}
---
"""


def found(text, snapshot=CLUSTER, **more):
    manifest = read(dedent(text))
    assert manifest.problem is None
    return workloads(manifest.documents, snapshot, **more)


def only(text, snapshot=CLUSTER, **more):
    [one] = found(text, snapshot, **more)
    return one


def pod(entries, containers="[{name: c, resources: {claims: [{name: a}]}}]", more=""):
    return (
        f"kind: Pod\nmetadata: {{name: p}}\nspec:\n  containers: {containers}\n"
        f"  resourceClaims: {entries}\n{more}"
    )


def remarks(workload):
    return [(one.path, one.message, one.is_error) for one in workload.remarks]


def said(workload):
    [(path, message, is_error)] = remarks(workload)
    return path, message, is_error


# Which claims they use


def test_claims_are_those_of_the_text_and_of_the_cluster_in_the_order_of_the_pod():
    text = TEMPLATE + pod(
        "[{name: b, resourceClaimTemplateName: two-gpus}, "
        "{name: a, resourceClaimName: there}, "
        "{name: c, resourceClaimTemplateName: pattern}]",
        "[{name: c, resources: {claims: [{name: a}, {name: b}, {name: c}]}}]",
    )
    one = only(text)
    assert one.remarks == ()
    assert [(e.name, e.kind, e.refers_to, e.document) for e in one.entries] == [
        ("b", "ResourceClaimTemplate", "two-gpus", 0),
        ("a", "ResourceClaim", "there", None),
        ("c", "ResourceClaimTemplate", "pattern", None),
    ]
    assert [c.metadata.name for c in one.claims] == ["p-b", "there", "p-c"]
    assert [c.metadata.namespace for c in one.claims] == ["default"] * 3
    assert one.documents == (0, 1)
    assert one.node_names is None


def test_claims_of_a_workload_can_be_asked_about():
    entries = "[{name: a, resourceClaimTemplateName: two-gpus}]"
    one = only(TEMPLATE + pod(entries))
    assert explain(CLUSTER, one.claims).verdict == "fits"
    one = only(TEMPLATE.replace("count: 2", "count: 3") + pod(entries))
    assert explain(CLUSTER, one.claims).verdict != "fits"


def test_two_entries_for_one_claim_ask_for_it_once():
    one = only(
        pod(
            "[{name: a, resourceClaimName: there}, {name: b, resourceClaimName: there}]",
            "[{name: c, resources: {claims: [{name: a}, {name: b}]}}]",
        )
    )
    assert [c.metadata.name for c in one.claims] == ["there"]


def test_the_claim_of_the_text_goes_before_the_one_in_the_cluster():
    text = (
        "kind: ResourceClaim\napiVersion: resource.k8s.io/v1\nmetadata: {name: there}\n"
        "spec: {devices: {requests: [{name: x, exactly: {deviceClassName: gpu}}]}}\n---\n"
    ) + pod("[{name: a, resourceClaimName: there}]")
    one = only(text)
    assert one.entries[0].document == 0
    [asked] = one.claims
    assert write(asked.spec)["devices"]["requests"][0]["name"] == "x"


def test_a_claim_that_holds_devices_leaves_its_nodes():
    one = only(pod("[{name: a, resourceClaimName: held}]"))
    assert one.claims == ()
    assert [c.metadata.name for c in one.allocated] == ["held"]
    assert one.node_names == ("n2",)


def test_applying_a_claim_that_is_there_already_keeps_what_it_holds():
    text = (
        "kind: ResourceClaim\napiVersion: resource.k8s.io/v1\nmetadata: {name: held}\n"
        "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, "
        "allocationMode: ExactCount, count: 1}}]}}\n---\n"
    ) + pod("[{name: a, resourceClaimName: held}]")
    one = only(text)
    assert (one.claims, one.node_names) == ((), ("n2",))
    assert one.entries[0].document == 0


def test_claims_are_looked_for_in_the_namespace_of_the_pod():
    text = pod("[{name: a, resourceClaimName: foreign}]")
    assert only(text.replace("name: p", "name: p, namespace: other")).remarks == ()
    assert only(text, namespace="other").remarks == ()
    path, message, is_error = said(only(text))
    assert path == "spec.resourceClaims[0].resourceClaimName"
    assert "foreign is in namespace other" in message
    assert is_error


def test_old_layouts_are_read_too():
    text = (
        "kind: ResourceClaimTemplate\napiVersion: resource.k8s.io/v1beta1\n"
        "metadata: {name: old}\n"
        "spec: {spec: {devices: {requests: [{name: r, deviceClassName: gpu}]}}}\n---\n"
    ) + pod("[{name: a, resourceClaimTemplateName: old}]")
    [asked] = only(text).claims
    assert explain(CLUSTER, [asked]).verdict == "fits"


@pytest.mark.parametrize(
    ("entries", "path", "words"),
    [
        (
            "[{name: a, source: {resourceClaimName: there}}]",
            "spec.resourceClaims[0].source",
            "without source",
        ),
        ("[{name: a}]", "spec.resourceClaims[0]", "add resourceClaimName"),
        (
            "[{name: a, resourceClaimName: x, resourceClaimTemplateName: y}]",
            "spec.resourceClaims[0]",
            "not both",
        ),
        (
            "[{name: a, resourceClaimName: 7}]",
            "spec.resourceClaims[0].resourceClaimName",
            "name of an object",
        ),
        (
            "[{name: a, resourceClaimName: nope}]",
            "spec.resourceClaims[0].resourceClaimName",
            "add it to the text",
        ),
        (
            "[{name: a, resourceClaimName: theer}]",
            "spec.resourceClaims[0].resourceClaimName",
            "Is there meant?",
        ),
        (
            "[{name: a, resourceClaimName: pattern}]",
            "spec.resourceClaims[0].resourceClaimName",
            "write resourceClaimTemplateName instead",
        ),
        (
            "[{name: a, resourceClaimTemplateName: there}]",
            "spec.resourceClaims[0].resourceClaimTemplateName",
            "write resourceClaimName instead",
        ),
    ],
)
def test_an_entry_that_leads_nowhere_says_what_to_do(entries, path, words):
    one = only(pod(entries))
    assert one.claims == ()
    assert one.absent == ("a",)
    found_path, message, is_error = said(one)
    assert found_path == path
    assert words in message
    assert is_error


def test_a_pod_of_an_old_version_is_told_what_to_change_and_works_after_it():
    text = """\
        apiVersion: v1
        kind: Pod
        metadata: {name: pod-0, namespace: default}
        spec:
          containers: [{name: c, image: busybox, resources: {claims: [{name: single-gpu}]}}]
          resourceClaims:
          - name: single-gpu
            source: {resourceClaimName: single-gpu}
        ---
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaim
        metadata: {name: single-gpu, namespace: default}
        spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
        """
    path, message, is_error = said(only(text))
    assert path == "spec.resourceClaims[0].source"
    assert "write what it holds directly into the entry" in message
    assert is_error
    changed = text.replace(
        "source: {resourceClaimName: single-gpu}", "resourceClaimName: single-gpu"
    )
    one = only(changed)
    assert one.remarks == ()
    assert [c.metadata.name for c in one.claims] == ["single-gpu"]


def test_paths_are_those_of_the_document():
    text = (
        "kind: CronJob\nspec: {jobTemplate: {spec: {template: {spec: {containers: [], "
        "resourceClaims: [{name: a}]}}}}}\n"
    )
    paths = {path for path, _, _ in remarks(only(text))}
    assert paths == {"spec.jobTemplate.spec.template.spec.resourceClaims[0]"}


def test_entries_need_names_of_their_own():
    one = only(
        pod(
            "[{resourceClaimName: there}, 3, {name: a, resourceClaimName: there}, "
            "{name: a, resourceClaimName: held}]"
        )
    )
    assert [path for path, _, _ in remarks(one)] == [
        "spec.resourceClaims[0].name",
        "spec.resourceClaims[1]",
        "spec.resourceClaims[3].name",
    ]


def test_a_claim_that_goes_away_is_an_error():
    going = claim("going")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    snapshot = CLUSTER.edit(add=[going])
    _, message, is_error = said(
        only(pod("[{name: a, resourceClaimName: going}]"), snapshot)
    )
    assert "being deleted" in message
    assert is_error


def test_a_claim_that_cannot_be_read_is_named_with_the_reason():
    broken = claim("broken")
    broken["spec"]["devices"]["requests"] = 3
    snapshot = CLUSTER.edit(add=[broken])
    text = pod("[{name: a, resourceClaimName: broken}]")
    assert "cannot be read" in said(only(text, snapshot))[1]
    here = "kind: ResourceClaim\nmetadata: {name: broken}\nspec: {devices: 3}\n---\n"
    assert "of this text cannot be read" in said(only(here + text))[1]


# Who uses the entries


def test_a_container_that_names_no_entry_is_an_error():
    containers = (
        "[{name: c, resources: {claims: [{name: a}]}}, "
        "{name: d, resources: {claims: [{name: a}, {name: b}]}}]"
    )
    path, message, is_error = said(
        only(pod("[{name: a, resourceClaimName: there}]", containers))
    )
    assert path == "spec.containers[1].resources.claims[1].name"
    assert "no entry b" in message
    assert "There are: a." in message
    assert is_error


def test_init_containers_may_use_an_entry():
    more = "  initContainers: [{name: i, resources: {claims: [{name: a}]}}]\n"
    assert only(pod("[{name: a, resourceClaimName: there}]", "[]", more)).remarks == ()


def test_an_entry_that_no_container_uses_is_no_error():
    path, message, is_error = said(
        only(pod("[{name: a, resourceClaimName: there}]", "[{name: c}]"))
    )
    assert path == "spec.resourceClaims[0]"
    assert "No container uses a" in message
    assert not is_error


def test_a_request_of_a_container_is_one_of_its_claim():
    containers = "[{name: c, resources: {claims: [{name: a, request: %s}]}}]"
    entries = "[{name: a, resourceClaimName: there}]"
    assert only(pod(entries, containers % "r")).remarks == ()
    path, message, _ = said(only(pod(entries, containers % "s")))
    assert path == "spec.containers[0].resources.claims[0].request"
    assert "has no request s; it has r" in message


@pytest.mark.parametrize(("copies", "is_error"), [(2, False), (257, True)])
def test_many_pods_of_one_claim_are_told(copies, is_error):
    text = (
        f"kind: Deployment\nspec: {{replicas: {copies}, template: {{spec: {{containers: "
        "[{name: c, resources: {claims: [{name: a}]}}], "
        "resourceClaims: [{name: a, resourceClaimName: there}]}}}\n"
    )
    path, message, found_error = said(only(text))
    assert path == "spec.template.spec.resourceClaims[0]"
    assert "resourceClaimTemplateName" in message
    assert found_error is is_error


# Pod groups

GROUP = """\
kind: PodGroup
metadata: {name: g}
spec: {resourceClaims: [{name: a, resourceClaimTemplateName: pattern}]}
---
"""


@pytest.mark.parametrize("in_text", [True, False])
def test_an_entry_of_the_group_is_one_claim_for_all_of_its_pods(in_text):
    text = pod(
        "[{name: a, resourceClaimTemplateName: pattern}, "
        "{name: b, resourceClaimTemplateName: pattern}]",
        "[{name: c, resources: {claims: [{name: a}, {name: b}]}}]",
        "  schedulingGroup: {podGroupName: g}\n",
    )
    snapshot = CLUSTER
    if in_text:
        text = GROUP + text
    else:
        [group] = read(GROUP).documents
        value = group.value | {"metadata": {"name": "g", "namespace": "default"}}
        snapshot = CLUSTER.edit(add=[value])
    one = found(text, snapshot)[-1]
    assert [c.metadata.name for c in one.claims] == ["g-a", "p-b"]
    assert [e.group for e in one.entries] == ["g", ""]
    assert "made from pattern for its group g" in one.sentence


def test_a_group_is_told_with_its_claims_too():
    one = only(GROUP)
    assert (one.kind, one.name) == ("PodGroup", "g")
    assert [c.metadata.name for c in one.claims] == ["g-a"]
    assert one.sentence == (
        "PodGroup g: a pod group with the claim made from pattern for its group g."
    )


# Extended resources


def asking(limits, more=""):
    return (
        "kind: Pod\nmetadata: {name: p}\nspec:\n"
        f"  containers: [{{name: c, resources: {{limits: {limits}}}}}]\n{more}"
    )


def test_extended_resources_are_one_more_claim_behind_the_others():
    text = asking(
        "{example.com/gpu: 2}",
        "  resourceClaims: [{name: a, resourceClaimName: there}]\n",
    )
    one = only(text)
    assert [c.metadata.name for c in one.claims] == ["there", "p-extended-resources"]
    assert explain(CLUSTER, one.claims).verdict != "fits"
    assert (
        explain(CLUSTER, only(asking("{example.com/gpu: 2}")).claims).verdict == "fits"
    )
    assert only(asking("{example.com/gpu: 2}")).sentence == (
        "Pod p: 1 pod with extended resources (example.com/gpu)."
    )


def test_without_the_gate_extended_resources_are_none_of_our_business():
    assert only(asking("{example.com/gpu: 2}"), extended_resources=False).claims == ()


def test_a_class_of_the_text_counts_and_is_the_newest():
    text = (
        "kind: DeviceClass\napiVersion: resource.k8s.io/v1\nmetadata: {name: mine}\n"
        "spec: {extendedResourceName: example.com/gpu}\n---\n"
    ) + asking("{example.com/gpu: 1}")
    one = only(text)
    assert one.extended.served_by["example.com/gpu"].class_name == "mine"


@pytest.mark.parametrize(
    ("limits", "path", "words", "is_error"),
    [
        ("{example.com/gpu: 33}", "spec.containers", "33 devices", True),
        (
            f"{{{CLASS_PREFIX}nope: 1}}",
            f"spec.containers[0].resources.limits[{CLASS_PREFIX}nope]",
            "no DeviceClass nope",
            True,
        ),
        (
            "{other.com/x: 1}",
            "spec.containers[0].resources.limits[other.com/x]",
            "no node has it",
            True,
        ),
    ],
)
def test_what_no_class_or_node_can_give_is_told(limits, path, words, is_error):
    found_path, message, found_error = said(only(asking(limits)))
    assert found_path == path
    assert words in message
    assert found_error is is_error


def test_of_two_classes_with_one_name_the_newer_is_told():
    snapshot = CLUSTER.edit(
        add=[device_class("newer", "example.com/gpu", "2026-05-01T10:00:00Z")]
    )
    one = only(asking("{example.com/gpu: 1}"), snapshot)
    path, message, is_error = said(one)
    assert path == "spec.containers[0].resources.limits[example.com/gpu]"
    assert "means the class newer, the newest; gpu claims the same name" in message
    assert not is_error
    implicit = only(asking(f"{{{CLASS_PREFIX}gpu: 1}}"), snapshot)
    assert implicit.remarks == ()


def test_nodes_with_a_device_plugin_are_left_out_and_told():
    snapshot = CLUSTER.edit(add=[node("n1", **{"example.com/gpu": "8"})])
    one = only(asking("{example.com/gpu: 1}"), snapshot)
    assert one.plugin_nodes == ("n1",)
    assert one.node_names == ("n2",)
    _, message, is_error = said(one)
    assert "On 1 of 2 nodes a device plugin serves example.com/gpu (n1)" in message
    assert not is_error


def test_a_resource_that_only_device_plugins_serve_is_none_of_ours():
    snapshot = CLUSTER.edit(add=[node("n1", **{"other.com/x": "8"})])
    one = only(asking("{other.com/x: 1}"), snapshot)
    assert (one.claims, one.remarks, one.node_names) == ((), (), None)


# Where they may run


@pytest.mark.parametrize(
    ("more", "nodes"),
    [
        ("  nodeName: n1\n", ("n1",)),
        ("  nodeSelector: {zone: '2'}\n", ("n2",)),
        ("  nodeSelector: {zone: '3'}\n", ()),
        (
            "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
            "{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: NotIn, "
            "values: ['1']}]}]}}}\n",
            ("n2",),
        ),
        ("  affinity: {nodeAffinity: {}}\n", None),
    ],
)
def test_the_pod_narrows_its_nodes(more, nodes):
    one = only(pod("[{name: a, resourceClaimName: there}]", more=more))
    assert one.node_names == nodes


@pytest.mark.parametrize(
    "terms", ["3", "[{matchExpressions: [{key: a, operator: Odd}]}]"]
)
def test_requirements_that_cannot_be_read_are_told(terms):
    more = (
        "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        f"{{nodeSelectorTerms: {terms}}}}}}}\n"
    )
    one = only(pod("[{name: a, resourceClaimName: there}]", more=more))
    path, message, is_error = said(one)
    assert path.startswith("spec.affinity.nodeAffinity.required")
    assert "cannot be read" in message
    assert is_error
    assert one.node_names is None


# Sentences


def test_a_deployment_with_two_templates_says_what_each_pod_needs():
    text = (
        TEMPLATE
        + """\
        kind: Deployment
        metadata: {name: web}
        spec:
          replicas: 3
          template:
            spec:
              containers: [{name: c, resources: {claims: [{name: a}, {name: b}]}}]
              resourceClaims:
              - {name: a, resourceClaimTemplateName: two-gpus}
              - {name: b, resourceClaimTemplateName: pattern}
        """.replace("        ", "", 1).replace("\n        ", "\n")
    )
    one = only(text)
    assert one.sentence == (
        "Deployment web: 3 pods each with a claim made from two-gpus and a claim made "
        "from pattern on one node."
    )
    assert [c.metadata.name for c in one.claims] == ["web-a", "web-b"]


def test_pods_without_devices_say_so():
    one = only(
        "kind: DaemonSet\nmetadata: {generateName: d-}\nspec: {template: {spec: {}}}\n"
    )
    assert one.sentence == "DaemonSet d: one pod on each node, without devices."
    assert not one.asks_devices


# Odd input


@pytest.mark.parametrize(
    "spec",
    [
        "{resourceClaims: 3, containers: 4, initContainers: x}",
        "{resourceClaims: {a: b}, containers: [1, {resources: {claims: [2, {name: 3}]}}]}",
        "{schedulingGroup: {podGroupName: 7}, nodeSelector: [], affinity: 3}",
        "[]",
        "x",
    ],
)
def test_nothing_raises(spec):
    for one in found(f"kind: Pod\nmetadata: [x]\nspec: {spec}\n"):
        assert one.claims == ()
        assert one.sentence


def test_a_pod_on_each_node_with_one_claim_starts_where_the_devices_are():
    """The claim is allocated once, and so are its devices."""

    def daemons(entry):
        return only(
            "kind: DaemonSet\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n"
            "      containers: [{name: c, resources: {claims: [{name: a}]}}]\n"
            f"      resourceClaims: [{entry}]\n"
        )

    [(path, message, is_error)] = remarks(
        daemons("{name: a, resourceClaimName: there}")
    )
    assert path == "spec.template.spec.resourceClaims[0]"
    assert message.startswith("The pods of all nodes share the one claim there")
    assert not is_error
    assert not remarks(daemons("{name: a, resourceClaimTemplateName: pattern}"))
