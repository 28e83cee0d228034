"""The nodes on which a pod may run: its own fields, taints, and what its claims hold."""

from __future__ import annotations

from typing import Any

import pytest

from dra.errors import ObjectError
from dra.objects import ResourceClaim, read
from dra.pod_nodes import nodes_of
from dra.snapshot import Snapshot

Json = dict[str, Any]


def node(name: str, *taints: Json, **labels: str) -> Json:
    ready = [{"type": "Ready", "status": "True"}]
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": list(taints)},
        "status": {"conditions": ready},
    }


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> Json:
    return {"key": key, "effect": effect, "value": value}


CLUSTER = Snapshot.build(
    [
        node("a", zone="west"),
        node("b", taint("gpu", value="yes"), zone="west"),
        node("c", taint("slow", "PreferNoSchedule"), zone="east"),
        node("d", taint("fire", "NoExecute"), zone="east"),
    ]
)
PLAIN = Snapshot.build([node("a"), node("c")])


def required(*terms: Json) -> Json:
    rule = {"nodeSelectorTerms": [{"matchExpressions": [term]} for term in terms]}
    path = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"affinity": {"nodeAffinity": {path: rule}}}


def test_a_pod_that_requires_nothing_takes_every_node_that_takes_pods() -> None:
    assert nodes_of({}, PLAIN) is None


def test_taints_keep_pods_off_unless_they_are_tolerated_or_only_a_preference() -> None:
    assert nodes_of({}, CLUSTER) == ("a", "c")
    some = {"tolerations": [{"key": "gpu", "operator": "Equal", "value": "yes"}]}
    assert nodes_of(some, CLUSTER) == ("a", "b", "c")
    other = {"tolerations": [{"key": "gpu", "value": "no"}]}
    assert nodes_of(other, CLUSTER) == ("a", "c")
    every = {"tolerations": [{"operator": "Exists"}]}
    assert nodes_of(every, CLUSTER) == ("a", "b", "c", "d")


def test_node_selector_and_required_affinity_both_hold() -> None:
    east = {"key": "zone", "operator": "In", "values": ["east"]}
    assert nodes_of({"nodeSelector": {"zone": "west"}}, CLUSTER) == ("a",)
    assert nodes_of(required(east), CLUSTER) == ("c",)
    assert nodes_of({"nodeSelector": {"zone": "west"}} | required(east), CLUSTER) == ()


def test_a_pod_that_names_its_node_is_not_asked_about_taints() -> None:
    assert nodes_of({"nodeName": "d"}, CLUSTER) == ("d",)


def test_allocations_and_left_out_nodes_narrow_further() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["c"]}
    selector = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    held = read({"status": {"allocation": {"nodeSelector": selector}}}, ResourceClaim)
    assert nodes_of({}, CLUSTER, [held]) == ("c",)
    assert nodes_of({}, PLAIN, (), ["a"]) == ("c",)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"tolerations": [{"key": 7}]}, "spec.tolerations[0].key"),
        (
            required({"key": "zone", "operator": "Odd"}),
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
        ),
        (
            required(7),  # type: ignore[arg-type]  # as a person might write it
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            ".nodeSelectorTerms[0].matchExpressions[0]",
        ),
    ],
)
def test_what_cannot_be_read_is_named_by_its_path(spec: Json, path: str) -> None:
    with pytest.raises(ObjectError) as found:
        nodes_of(spec, CLUSTER)
    assert found.value.path == path


def test_another_set_of_nodes_is_another_answer() -> None:
    spec = {"nodeSelector": {"zone": "west"}}
    assert nodes_of(spec, CLUSTER) == ("a",)
    grown = CLUSTER.edit(add=[node("z", zone="west")])
    assert nodes_of(spec, grown) == ("a", "z")
