"""Every example of the gallery works in the cluster that it is made for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from claims.authoring import manifests
from claims.authoring.checking import checked
from claims.authoring.gallery import Example, forget, gallery
from claims.authoring.workloads import workloads
from dra.allocation import AllocationError, Features, Fits, place
from dra.extended_resources import claim_for
from dra.objects import ResourceClaim, read
from dra.snapshot import EMPTY, Snapshot
from inventory.models import Cluster
from tests.claims.authoring.gallery.worlds import KINDS, snapshot, unused
from tests.dra.builders import claim, result

Json = dict[str, Any]

VERSIONS = ("v1.36.2", "v1.34.1")


def cluster(version: str = "v1.36.2") -> Cluster:
    return Cluster(pk=1, name="lab", version=version)


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    forget()


def codes(examples: list[Example]) -> list[str]:
    return [example.code for example in examples]


def found(kind: str, version: str = "v1.36.2") -> dict[str, Example]:
    forget()
    return {e.code: e for e in gallery(cluster(version), snapshot(kind))}


def claims_of(example: Example, world: Snapshot) -> list[ResourceClaim]:
    """The claims of the documents, read as anybody would."""
    made: list[ResourceClaim] = []
    for number, document in enumerate(example.documents):
        meta = {"namespace": "default", "uid": str(number), **document["metadata"]}
        if document["kind"] == "ResourceClaim":
            made.append(read({**document, "metadata": meta}, ResourceClaim))
        elif document["kind"] == "ResourceClaimTemplate":
            spec = document["spec"]["spec"]
            raw = {"kind": "ResourceClaim", "metadata": meta, "spec": spec}
            made.append(read(raw, ResourceClaim))
        elif document["kind"] == "Pod":
            extended = claim_for(document["spec"], world)
            if extended is not None and extended.claim is not None:
                made.append(extended.claim)
    return made


def references(example: Example) -> Iterator[tuple[str, str]]:
    """Kind and name of every claim or template that a pod of the example names."""
    for document in example.documents:
        spec = document["spec"]
        if document["kind"] == "Deployment":
            spec = spec["template"]["spec"]
        for entry in spec.get("resourceClaims") or ():
            for field, kind in (
                ("resourceClaimName", "ResourceClaim"),
                ("resourceClaimTemplateName", "ResourceClaimTemplate"),
            ):
                if field in entry:
                    yield kind, entry[field]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_api_server_accepts_every_document(kind: str, version: str) -> None:
    world = snapshot(kind)
    for example in gallery(cluster(version), world):
        for document in example.documents:
            answer = checked(cluster(version), world, document)
            assert answer.accepted is not False, (example.code, answer.sentence)
            assert not answer.dropped, example.code
            assert {advice.code for advice in answer.advice} <= {
                "selector:matches-everything",
                "class-everything",
            }, example.code


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_example_fits_where_nothing_is_in_use(kind: str, version: str) -> None:
    world, features = unused(kind), Features.of_server(version)
    examples = gallery(cluster(version), snapshot(kind))
    # Without the gate of partitions, nothing of a pool with counters can be had.
    assert examples or (kind, version) == ("mig", "v1.34.1")
    for example in examples:
        claims = claims_of(example, world)
        assert claims, example.code
        on_node = place(
            world, claims, node_names=[example.proof.node], features=features
        )
        assert isinstance(on_node, Fits), example.code
        assert example.proof.devices


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_what_fits_now(kind: str) -> None:
    world = snapshot(kind)
    for example in gallery(cluster(), world):
        if example.code.startswith("deployment"):
            continue  # its copies are asked about together
        claims = claims_of(example, world)
        try:
            now = isinstance(place(world, claims), Fits)
        except AllocationError:
            now = False
        assert example.proof.fits_now is now, example.code
        if now:
            named = [example.proof.now_node]
            assert isinstance(place(world, claims, node_names=named), Fits)


@pytest.mark.parametrize("kind", KINDS)
def test_examples_hang_together(kind: str) -> None:
    examples = gallery(cluster(), snapshot(kind))
    assert len(set(codes(examples))) == len(examples) <= 32
    assert len({e.title for e in examples}) == len(examples)
    for example in examples:
        assert json.loads(json.dumps(example.documents)) == list(example.documents)
        assert example.kinds == tuple(
            dict.fromkeys(d["kind"] for d in example.documents)
        )
        there = {(d["kind"], d["metadata"]["name"]) for d in example.documents}
        assert set(references(example)) <= there
        assert example.sentence.endswith(".")
        assert example.proof.sentence.endswith(".")
        assert example.tags


@pytest.mark.parametrize("kind", ["demo", "odd"])
def test_as_text_an_example_says_the_same(kind: str) -> None:
    world = snapshot(kind)
    for example in gallery(cluster(), world):
        text = ""
        for document in example.documents:
            text = manifests.appended(text, document)
        written = manifests.read(text)
        assert tuple(d.value for d in written.documents) == example.documents
        pods = workloads(written.documents, world)
        assert bool(pods) is ("pod" in example.tags)
        for pod in pods:
            assert not pod.remarks, (example.code, pod.remarks)
            assert pod.claims


def test_it_is_the_same_every_time() -> None:
    first = gallery(cluster(), snapshot("demo"))
    forget()
    assert gallery(cluster(), Snapshot.build(_shuffled("demo"), seq=1)) == first


def _shuffled(kind: str) -> list[Any]:
    world = snapshot(kind)
    return [
        *reversed(list(world.claims.values())),
        *reversed(list(world.classes.values())),
        *world.nodes.values(),
        *world.namespaces.values(),
        *world.slices.values(),
        *world.taint_rules.values(),
        *world.templates.values(),
        *world.pods.values(),
    ]


def test_the_demo_shows_what_its_drivers_can() -> None:
    assert list(found("demo")) == [
        "one:gpu.nvidia.com",
        "one:gpu.amd.com",
        "one:rdma.dra.net",
        "one:shared-gpu.example.com",
        "one:dra.cpu",
        "one:mig.nvidia.com",
        "near:gpu.nvidia.com",
        "near:rdma.dra.net",
        "pair:gpu.nvidia.com+rdma.dra.net",
        "pair:gpu.nvidia.com+dra.cpu",
        "alternatives:gpu.nvidia.com",
        "all:gpu.nvidia.com",
        "product:gpu.nvidia.com",
        "product:gpu.amd.com",
        "size:gpu.nvidia.com",
        "apart:dra.cpu",
        "partition:mig.nvidia.com:1g.5gb",
        "partition:mig.nvidia.com:3g.20gb",
        "partitions:mig.nvidia.com",
        "share:dra.cpu",
        "config:gpu.nvidia.com",
        "toleration:gpu.nvidia.com",
        "admin:gpu.nvidia.com",
        "pod:gpu.nvidia.com",
        "two-pods:gpu.nvidia.com",
        "deployment:gpu.nvidia.com",
        "resource:nvidia.com/gpu",
    ]


def test_older_releases_get_what_they_know() -> None:
    old = found("demo", "v1.34.1")
    assert "alternatives:gpu.nvidia.com" in old
    assert not [
        code
        for code in old
        if code.startswith(("share", "toleration", "apart", "resource", "partition"))
    ]


def test_a_gpu_and_its_nic_are_on_one_root() -> None:
    pair = found("demo")["pair:gpu.nvidia.com+rdma.dra.net"]
    (wanted,) = pair.documents
    assert wanted["spec"]["devices"] == {
        "requests": [
            {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}},
            {"name": "rdma", "exactly": {"deviceClassName": "rdma.dra.net"}},
        ],
        "constraints": [
            {
                "requests": ["gpu", "rdma"],
                "matchAttribute": "resource.kubernetes.io/pcieRoot",
            }
        ],
    }
    assert {device.driver for device in pair.proof.devices} == {
        "gpu.nvidia.com",
        "dra.net",
    }


def test_partitions_are_cut_out_of_one_gpu() -> None:
    two = found("mig")["partitions:mig.nvidia.com"]
    (wanted,) = two.documents
    devices = wanted["spec"]["devices"]
    assert devices["constraints"] == [{"matchAttribute": "gpu.nvidia.com/parentUUID"}]
    names = [device.device for device in two.proof.devices]
    assert [name.split("-mig-")[0] for name in names] == ["gpu-0", "gpu-0"]


def test_devices_near_each_other_may_be_known_by_the_drivers_own_word() -> None:
    (wanted,) = found("odd")["near:chips"].documents
    devices = wanted["spec"]["devices"]
    assert devices["constraints"] == [{"matchAttribute": "vendor.example/group4"}]
    assert devices["requests"][0]["exactly"]["count"] == 4


def test_the_better_product_comes_first() -> None:
    (wanted,) = found("gpu")["alternatives:gpu.nvidia.com"].documents
    (request,) = wanted["spec"]["devices"]["requests"]
    texts = [
        sub["selectors"][0]["cel"]["expression"] for sub in request["firstAvailable"]
    ]
    assert "H200" in texts[0]
    assert "H100" in texts[1]


def test_a_share_is_the_least_that_there_is() -> None:
    amounts = {
        code: example.documents[0]["spec"]["devices"]["requests"][0]["exactly"][
            "capacity"
        ]
        for kind in ("cap", "odd", "demo")
        for code, example in found(kind).items()
        if code.startswith("share")
    }
    assert amounts == {
        "share:gpu.nvidia.com": {"requests": {"cores": "10", "memory": "1Gi"}},
        "share:shared.nics": {
            "requests": {"memory": "2Gi", "bandwidth": "10", "slots": "1"}
        },
        "share:dra.cpu": {"requests": {"dra.cpu/cpu": "8"}},
    }


def test_configuration_is_what_somebody_uses_already() -> None:
    example = found("odd")["config:vendor.example"]
    (entry,) = example.documents[0]["spec"]["devices"]["config"]
    assert entry["opaque"] == {
        "driver": "vendor.example",
        "parameters": {"mode": "fast"},
    }
    assert "those of the claim default/tuned" in example.sentence


def test_admin_access_is_for_a_namespace_that_may() -> None:
    example = found("odd")["admin:chips"]
    assert example.documents[0]["metadata"]["namespace"] == "watch"
    assert not [code for code in found("gpu") if code.startswith("admin")]


def test_tainted_devices_can_be_had_all_the_same() -> None:
    example = found("odd")["toleration:fabric"]
    (request,) = example.documents[0]["spec"]["devices"]["requests"]
    assert request["exactly"]["tolerations"] == [
        {"key": "k", "operator": "Exists", "effect": "NoSchedule"}
    ]
    assert "keeps new claims off 3 devices" in example.sentence


def test_a_class_that_breaks_gives_no_example() -> None:
    assert not [code for code in found("odd") if "broken" in code or "nothing" in code]


def test_what_is_all_in_use_is_an_example_still() -> None:
    held = claim(
        "holder",
        *(
            result(f"gpu-{n}", pool="node-00000", driver="gpu.nvidia.com")
            for n in range(8)
        ),
    )
    world = snapshot("gpu").edit(
        add=[
            held,
            *(
                {
                    **node_,
                    "spec": {"unschedulable": True},
                }
                for node_ in _others()
            ),
        ]
    )
    example = next(e for e in gallery(cluster(), world) if e.code.startswith("one"))
    assert example.proof.fits_now is False
    assert example.proof.now_node == ""
    assert example.proof.sentence == (
        "Does not fit now: what it could take is in use or unusable. With nothing in use it fits, "
        "for instance on node-00000 with gpu-0."
    )


def _others() -> list[Json]:
    return [
        {"kind": "Node", "metadata": {"name": f"node-0000{number}"}}
        for number in (1, 2)
    ]


def test_a_cluster_without_devices_has_no_gallery() -> None:
    assert gallery(cluster(), EMPTY) == []


def test_claims_that_come_and_go_change_what_fits_now_only() -> None:
    world = snapshot("gpu")
    before = gallery(cluster(), world)
    taken = [
        claim(
            f"c{n}",
            *(
                result(f"gpu-{g}", pool=f"node-0000{n}", driver="gpu.nvidia.com")
                for g in range(8)
            ),
        )
        for n in range(3)
    ]
    forget()
    after = gallery(cluster(), world.refresh(taken, (), seq=2))
    assert codes(after) == codes(before)
    assert [e.documents for e in after] == [e.documents for e in before]
    assert all(example.proof.fits_now for example in before)
    assert not any(example.proof.fits_now for example in after)
