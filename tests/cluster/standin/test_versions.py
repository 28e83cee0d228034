"""The same cluster, served as older Kubernetes releases serve it."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.convert import to_v1
from cluster.standin.generator import generate
from cluster.standin.server import StandinServer
from cluster.standin.versions import to_stored
from tests.cluster.standin.http_client import ALLOCATION, Http, claim, piece

Json = Any
BETA1 = "/apis/resource.k8s.io/v1beta1"


def test_v1beta1_has_flat_requests_and_basic_devices() -> None:
    with StandinServer(
        [claim(), piece("s-0")], served={"resource.k8s.io": ("v1beta1",)}
    ) as server:
        http = Http(server.port)
        assert http.get("/apis/resource.k8s.io/v1").status == 404
        shown = http.get(f"{BETA1}/namespaces/default/resourceclaims/c1").json
        assert shown["apiVersion"] == "resource.k8s.io/v1beta1"
        assert shown["spec"]["devices"]["requests"] == [
            {"name": "gpu", "deviceClassName": "gpu"}
        ]
        device = http.get(f"{BETA1}/resourceslices/s-0").json["spec"]["devices"][0]
        assert device == {
            "name": "d0",
            "basic": {"attributes": {"model": {"string": "X100"}}},
        }


def test_what_a_v1beta1_client_writes_is_stored_as_v1() -> None:
    with StandinServer(served={"resource.k8s.io": ("v1beta1",)}) as server:
        http = Http(server.port)
        sent = {
            "apiVersion": "resource.k8s.io/v1beta1",
            "kind": "ResourceClaim",
            "metadata": {"name": "old"},
            "spec": {
                "devices": {"requests": [{"name": "r", "deviceClassName": "gpu"}]}
            },
        }
        path = f"{BETA1}/namespaces/default/resourceclaims"
        assert http.post(path, sent).status == 201
        stored = server.store.get("ResourceClaim", "old", "default")
        assert stored is not None
        assert stored["apiVersion"] == "resource.k8s.io/v1"
        assert stored["spec"]["devices"]["requests"][0]["exactly"]["count"] == 1
        patch = {"status": {"allocation": ALLOCATION}}
        assert http.patch(f"{path}/old/status", patch).status == 200
        label = {"metadata": {"labels": {"a": "b"}}}
        assert http.patch(f"{path}/old", label).status == 200
        changed = server.store.get("ResourceClaim", "old", "default")
        assert changed is not None
        assert changed["spec"] == stored["spec"]


def test_several_versions_are_served_side_by_side() -> None:
    served = {"resource.k8s.io": ("v1", "v1beta2", "v1beta1")}
    with StandinServer([claim()], served=served) as server:
        for version in served["resource.k8s.io"]:
            path = f"/apis/resource.k8s.io/{version}/namespaces/default/resourceclaims"
            shown = Http(server.port).get(f"{path}/c1").json
            assert shown["apiVersion"] == f"resource.k8s.io/{version}"


def test_taint_rules_appear_only_where_they_are_served() -> None:
    rule = {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": {"taint": {"key": "k", "effect": "NoSchedule"}},
    }
    with StandinServer([rule], served={"resource.k8s.io": ("v1", "v1beta2")}) as server:
        http = Http(server.port)
        path = "/apis/resource.k8s.io/{}/devicetaintrules"
        assert http.get(path.format("v1")).status == 404
        assert http.get(path.format("v1beta2")).names == ["r"]


def test_a_version_nobody_knows_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="v7"):
        StandinServer(served={"resource.k8s.io": ("v7",)})
    with pytest.raises(ValueError, match=r"nothing\.example\.com"):
        StandinServer(served={"nothing.example.com": ("v1",)})


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_a_whole_cluster_survives_the_way_out_and_back(version: str) -> None:
    objects = generate(nodes=4)
    served = {"resource.k8s.io": (version,)}
    with StandinServer(objects, served=served) as server:
        http = Http(server.port)
        for kind, plural in (
            ("ResourceSlice", "resourceslices"),
            ("ResourceClaim", "resourceclaims"),
            ("ResourceClaimTemplate", "resourceclaimtemplates"),
            ("DeviceClass", "deviceclasses"),
        ):
            listed = http.get(f"/apis/resource.k8s.io/{version}/{plural}").json
            api_version = listed["apiVersion"]
            back = [
                to_v1(item, kind=kind, api_version=api_version)
                for item in listed["items"]
            ]
            assert back == server.store.objects(kind)


@pytest.mark.parametrize(
    ("obj", "words"),
    [
        ({"kind": "Gadget", "metadata": {"name": "x"}}, "Gadget"),
        ({"kind": "Node"}, "metadata.name"),
        ({}, "(none)"),
    ],
)
def test_what_is_no_known_object_is_refused(obj: Json, words: str) -> None:
    with pytest.raises(ValueError) as error:
        to_stored(obj)
    assert words in str(error.value)
