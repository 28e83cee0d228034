"""The claim that the scheduler makes of a pod's extended resources."""

from __future__ import annotations

from typing import Any

import pytest

from dra.container_asks import CLASS_PREFIX, amounts, is_extended_resource
from dra.extended_resources import claim_for, classes_by_resource, plugin_nodes
from dra.objects import DeviceClass, Node, read
from dra.snapshot import Snapshot

GPU = "example.com/gpu"
NIC = "example.com/nic"


def device_class(name, resource=None, created=None):
    spec = {"extendedResourceName": resource} if resource else {}
    metadata = {"name": name, "creationTimestamp": created}
    return read({"metadata": metadata, "spec": spec}, DeviceClass)


def node(name="n", **allocatable):
    status = {"allocatable": {k.replace("_", "/"): v for k, v in allocatable.items()}}
    return read({"metadata": {"name": name}, "status": status}, Node)


def container(name, resources=None, *, sidecar=False, **more):
    found = {"name": name, "resources": {"limits": resources or {}, **more}}
    return {**found, "restartPolicy": "Always"} if sidecar else found


def pod(*containers, init=()):
    return {"containers": list(containers), "initContainers": list(init)}


CLASSES = classes_by_resource(
    [device_class("gpus", GPU), device_class("nics", NIC), device_class("plain")]
)


def asked(spec, classes=CLASSES, node=None, **names) -> Any:
    found = claim_for(spec, classes, node, **names)
    assert found is not None
    return found


def requests(found):
    return {
        r.name: (r.exactly.device_class_name, r.exactly.count)
        for r in found.claim.spec.devices.requests
    }


def answers(found):
    return [(a.container, a.resource, a.request) for a in found.answers]


def problems(spec, classes=CLASSES):
    found = asked(spec, classes)
    assert found is not None
    return [(one.path, one.message) for one in found.problems]


# Which class a name means


def test_a_class_has_its_explicit_name_and_an_implicit_one():
    assert [(s.resource, s.class_name, s.implicit) for s in CLASSES.values()] == [
        (CLASS_PREFIX + "gpus", "gpus", True),
        (CLASS_PREFIX + "nics", "nics", True),
        (CLASS_PREFIX + "plain", "plain", True),
        (GPU, "gpus", False),
        (NIC, "nics", False),
    ]


def test_the_newer_of_two_classes_with_one_name_wins_and_both_keep_their_implicit_names():
    found = classes_by_resource(
        [
            device_class("gpu.nvidia.com", "nvidia.com/gpu", "2026-03-01T10:00:00Z"),
            device_class("hami.io", "nvidia.com/gpu", "2026-05-01T10:00:00Z"),
        ]
    )
    assert found["nvidia.com/gpu"].class_name == "hami.io"
    assert found["nvidia.com/gpu"].others == ("gpu.nvidia.com",)
    assert found[CLASS_PREFIX + "gpu.nvidia.com"].class_name == "gpu.nvidia.com"


@pytest.mark.parametrize("created", [None, "2026-03-01T10:00:00Z"])
def test_of_classes_of_one_age_the_lower_name_wins(created):
    found = classes_by_resource([device_class(n, GPU, created) for n in "cab"])
    assert (found[GPU].class_name, found[GPU].others) == ("a", ("b", "c"))


def test_a_class_without_a_time_is_older_than_any():
    classes = [device_class("a", GPU), device_class("b", GPU, "2026-03-01T10:00:00Z")]
    assert classes_by_resource(classes)[GPU].class_name == "b"


def test_a_snapshot_gives_its_classes():
    snapshot = Snapshot.build([device_class("gpus", GPU)])
    assert classes_by_resource(snapshot)[GPU].class_name == "gpus"


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        (GPU, True),
        (CLASS_PREFIX + "x", True),
        ("cpu", False),
        ("hugepages-2Mi", False),
        ("kubernetes.io/x", False),
        ("a.kubernetes.io/x", False),
        ("requests.example.com/x", False),
        ("example.com/not good", False),
    ],
)
def test_extended_resources_have_a_domain_of_their_own(name, is_one):
    assert is_extended_resource(name) is is_one


# Requests of containers


def test_a_pod_that_asks_no_extended_resource_gets_no_claim():
    assert (
        claim_for(pod(container("a", {"cpu": "1", "memory": "1Gi"})), CLASSES) is None
    )
    assert claim_for(pod(container("a", {GPU: 0})), CLASSES) is None
    assert claim_for({}, CLASSES) is None


def test_each_resource_of_a_container_is_a_request_for_so_many_of_the_class():
    found = asked(
        pod(container("a", {GPU: "1", NIC: 2})), CLASSES, pod_name="p", namespace="ns"
    )
    assert requests(found) == {
        "container-0-request-0": ("gpus", 1),
        "container-0-request-1": ("nics", 2),
    }
    assert answers(found) == [
        ("a", GPU, "container-0-request-0"),
        ("a", NIC, "container-0-request-1"),
    ]
    assert found.claim.metadata.name == "p-extended-resources"
    assert found.claim.metadata.namespace == "ns"
    request = found.claim.spec.devices.requests[0]
    assert request.exactly.allocation_mode == "ExactCount"


def test_requests_are_numbered_among_all_resources_of_the_container():
    found = asked(pod(container("a", {"cpu": 1, GPU: 1, "memory": "1"})), CLASSES)
    assert requests(found) == {"container-0-request-1": ("gpus", 1)}
    found = asked(pod(container("a", {GPU: 1}, requests={"a": 1, "b": 1})), CLASSES)
    assert requests(found) == {"container-0-request-2": ("gpus", 1)}


def test_each_container_asks_for_itself():
    found = asked(pod(container("a", {GPU: 1}), container("b", {GPU: 2})), CLASSES)
    assert requests(found) == {
        "container-0-request-0": ("gpus", 1),
        "container-1-request-0": ("gpus", 2),
    }


def test_implicit_names_work_for_classes_with_and_without_an_explicit_one():
    found = asked(
        pod(container("a", {CLASS_PREFIX + "gpus": 1, CLASS_PREFIX + "plain": 1})),
        CLASSES,
    )
    assert sorted(requests(found).values()) == [("gpus", 1), ("plain", 1)]


def test_explicit_and_implicit_name_of_one_class_are_two_requests():
    found = asked(pod(container("a", {GPU: 1, CLASS_PREFIX + "gpus": 2})), CLASSES)
    assert requests(found) == {
        "container-0-request-0": ("gpus", 2),
        "container-0-request-1": ("gpus", 1),
    }


def test_an_init_container_uses_what_later_containers_have_asked_for():
    found = asked(
        pod(container("main", {GPU: 2}), init=[container("init", {GPU: 2})]), CLASSES
    )
    assert requests(found) == {"container-1-request-0": ("gpus", 2)}
    assert answers(found) == [
        ("main", GPU, "container-1-request-0"),
        ("init", GPU, "container-1-request-0"),
    ]


def test_an_init_container_asks_for_what_is_missing():
    found = asked(
        pod(
            container("a", {GPU: 1}),
            container("b", {GPU: 1}),
            init=[container("init", {GPU: 5})],
        ),
        CLASSES,
    )
    assert requests(found) == {
        "container-0-request-0": ("gpus", 3),
        "container-1-request-0": ("gpus", 1),
        "container-2-request-0": ("gpus", 1),
    }
    assert [a for a in answers(found) if a[0] == "init"] == [
        ("init", GPU, "container-1-request-0"),
        ("init", GPU, "container-2-request-0"),
        ("init", GPU, "container-0-request-0"),
    ]


def test_init_containers_of_another_resource_ask_for_themselves():
    found = asked(
        pod(container("main", {GPU: 1}), init=[container("init", {NIC: 2})]), CLASSES
    )
    assert requests(found) == {
        "container-0-request-0": ("nics", 2),
        "container-1-request-0": ("gpus", 1),
    }


def test_init_containers_share_the_largest_request_among_them():
    found = asked(
        pod(
            container("main", {GPU: 1}),
            init=[container("first", {NIC: 1}), container("second", {NIC: 2})],
        ),
        CLASSES,
    )
    assert requests(found) == {
        "container-1-request-0": ("nics", 2),
        "container-2-request-0": ("gpus", 1),
    }
    assert ("first", NIC, "container-1-request-0") in answers(found)


def test_a_sidecar_keeps_its_devices_and_serves_init_containers_before_it_only():
    found = asked(
        pod(
            container("main", {GPU: 1}),
            init=[
                container("before", {NIC: 1}),
                container("sidecar", {NIC: 1}, sidecar=True),
                container("after", {NIC: 2}),
            ],
        ),
        CLASSES,
    )
    assert requests(found) == {
        "container-1-request-0": ("nics", 1),
        "container-2-request-0": ("nics", 2),
        "container-3-request-0": ("gpus", 1),
    }
    assert [a for a in answers(found) if a[1] == NIC] == [
        ("sidecar", NIC, "container-1-request-0"),
        ("before", NIC, "container-1-request-0"),
        ("after", NIC, "container-2-request-0"),
    ]


def test_answers_know_the_field_that_asks():
    found = asked(
        pod(container("a", {GPU: 1}, requests={GPU: 1}), container("b", {GPU: 1})),
        CLASSES,
    )
    assert [a.path for a in found.answers] == [
        f"spec.containers[0].resources.requests[{GPU}]",
        f"spec.containers[1].resources.limits[{GPU}]",
    ]


# Device plugins


def test_what_the_node_serves_itself_is_left_to_it():
    spec = pod(container("a", {GPU: 1, NIC: 1}))
    found = asked(spec, CLASSES, node(**{"example.com_gpu": "8"}))
    assert requests(found) == {"container-0-request-1": ("nics", 1)}
    assert found.by_plugin == (GPU,)
    found = asked(spec, CLASSES, node(**{"example.com_gpu": 8, "example.com_nic": 1}))
    assert found.claim is None


def test_a_plugin_without_devices_serves_nothing():
    found = asked(
        pod(container("a", {GPU: 1})), CLASSES, node(**{"example.com_gpu": "0"})
    )
    assert requests(found) == {"container-0-request-0": ("gpus", 1)}


def test_nodes_with_a_plugin_are_told():
    nodes = [node("b", **{"example.com_gpu": 1}), node("a", **{"example.com_gpu": 1})]
    nodes += [node("c"), node("d", **{"example.com_gpu": "what"})]
    assert plugin_nodes(nodes, GPU) == ("a", "b")


def test_a_name_that_no_class_stands_for_is_told_with_its_field():
    found = asked(pod(container("a", {"other.com/x": 1, GPU: 1})), CLASSES)
    assert found.without_class == {
        "other.com/x": "spec.containers[0].resources.limits[other.com/x]"
    }
    assert requests(found) == {"container-0-request-0": ("gpus", 1)}


# What is wrong


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        ("many", "no quantity"),
        (None, ""),
        (True, "no quantity"),
        ([1], "no quantity"),
        (-1, "less than 0"),
        ("500m", "no whole number"),
        ("2k", ""),
    ],
)
def test_amounts_are_whole_numbers(amount, words):
    found = asked(pod(container("a", {GPU: amount, NIC: 1})), CLASSES)
    said = [p for p in found.problems if p.path.endswith(f"limits[{GPU}]")]
    assert len(said) == (1 if words else 0)
    assert not said or words in said[0].message


def test_a_request_needs_a_limit_that_is_equal():
    spec = pod({"name": "a", "resources": {"requests": {GPU: 1}}})
    assert [path for path, _ in problems(spec)] == [
        "spec.containers[0].resources.limits"
    ]
    spec = pod(container("a", {GPU: 2}, requests={GPU: 1}))
    assert [path for path, _ in problems(spec)] == [
        f"spec.containers[0].resources.requests[{GPU}]"
    ]


def test_a_request_by_an_implicit_name_may_be_below_its_limit_but_not_above():
    name = CLASS_PREFIX + "plain"
    assert problems(pod(container("a", {name: 2}, requests={name: 1}))) == []
    assert problems(pod({"name": "a", "resources": {"requests": {name: 1}}})) == []
    assert len(problems(pod(container("a", {name: 1}, requests={name: 2})))) == 1


def test_one_claim_holds_32_devices():
    [(path, message)] = problems(pod(container("a", {GPU: 33})))
    assert path == "spec.containers"
    assert "33 devices" in message
    many = pod(*(container(f"c{i}", {GPU: 1}) for i in range(33)))
    assert len(problems(many)) == 2


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": "x"},
        {"containers": [1, {"resources": []}, {"resources": {"limits": "x"}}]},
        {"containers": None, "initContainers": {}},
    ],
)
def test_what_is_no_pod_asks_nothing(spec):
    assert claim_for(spec, CLASSES) is None


def test_what_a_pod_needs_at_once_counts_containers_that_run_together():
    spec = pod(
        container("a", {GPU: 1}),
        container("b", {GPU: 2, NIC: 1}),
        init=[
            container("side", {GPU: 1}, sidecar=True),
            container("setup", {GPU: 4}),
        ],
    )
    assert amounts(spec) == {GPU: 5, NIC: 1}
    assert amounts(pod(container("a", {GPU: "half", "cpu": 1}))) == {}
    assert amounts({"containers": "none"}) == {}
