"""Beyond the recordings: pages, order, selectors over several namespaces."""

from __future__ import annotations

import pytest

from cluster.standin.server import StandinServer
from tests.cluster.standin.http_client import CLAIMS, SLICES, Http, claim, piece

ALL_CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"


def test_pages_show_every_object_once_whatever_happens_between_them(
    server: StandinServer, http: Http
) -> None:
    for number in range(10):
        server.store.put(piece(f"s-{number}"))
    first = http.get(f"{SLICES}?limit=4").json
    server.store.delete("ResourceSlice", "s-7")
    server.store.put(piece("s-55"))
    names = [item["metadata"]["name"] for item in first["items"]]
    token = first["metadata"]["continue"]
    while token:
        page = http.get(f"{SLICES}?limit=4&continue={token}").json
        assert (
            page["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        )
        names += [item["metadata"]["name"] for item in page["items"]]
        token = page["metadata"].get("continue")
    assert names == [f"s-{number}" for number in range(10)]


def test_several_namespaces_are_listed_by_namespace_then_name(
    server: StandinServer, http: Http
) -> None:
    for namespace, name in (("b", "x"), ("a-b", "y"), ("a", "z"), ("a", "y")):
        server.store.put(claim(name, namespace=namespace))
    listed = http.get(ALL_CLAIMS).json["items"]
    found = [(i["metadata"]["namespace"], i["metadata"]["name"]) for i in listed]
    assert found == [("a-b", "y"), ("a", "y"), ("a", "z"), ("b", "x")]


def test_pages_cross_namespaces(server: StandinServer, http: Http) -> None:
    for namespace in ("a", "b", "c"):
        for name in ("x", "y"):
            server.store.put(claim(name, namespace=namespace))
    first = http.get(f"{ALL_CLAIMS}?limit=3")
    token = first.json["metadata"]["continue"]
    second = http.get(f"{ALL_CLAIMS}?limit=3&continue={token}")
    assert first.names + second.names == ["x", "y"] * 3


def test_a_namespace_sees_only_its_own(server: StandinServer, http: Http) -> None:
    server.store.put(claim("mine"))
    server.store.put(claim("theirs", namespace="other"))
    assert http.get(CLAIMS).names == ["mine"]


def test_a_continue_token_outlives_the_history_as_an_inconsistent_list(
    server: StandinServer, http: Http
) -> None:
    for number in range(6):
        server.store.put(piece(f"s-{number}"))
    token = http.get(f"{SLICES}?limit=2").json["metadata"]["continue"]
    server.store.put(piece("s-9"))
    server.faults.expire_history()
    gone = http.get(f"{SLICES}?limit=2&continue={token}")
    assert (gone.status, gone.json["reason"]) == (410, "Expired")
    replacement = gone.json["metadata"]["continue"]
    rest = http.get(f"{SLICES}?continue={replacement}")
    assert rest.names == ["s-2", "s-3", "s-4", "s-5", "s-9"]


def test_a_version_just_ahead_is_waited_for(server: StandinServer, http: Http) -> None:
    server.store.put(piece("s-0"))
    ahead = server.store.version + 1
    late = http.get(f"{SLICES}?resourceVersion={ahead}")
    assert (late.status, late.headers["retry-after"]) == (504, "1")
    server.store.put(piece("s-1"))
    assert http.get(f"{SLICES}?resourceVersion={ahead}").names == ["s-0", "s-1"]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("tier%3Da", ["s-a"]),
        ("tier%3D%3Da", ["s-a"]),
        ("tier!%3Da", ["s-b", "s-none"]),
        ("tier%20in%20(a,b)", ["s-a", "s-b"]),
        ("tier%20notin%20(a,b)", ["s-none"]),
        ("tier", ["s-a", "s-b"]),
        ("!tier", ["s-none"]),
        ("tier,tier!%3Da", ["s-b"]),
        ("example.com/tier%3Dx", []),
    ],
)
def test_label_selectors(
    server: StandinServer, http: Http, selector: str, names: list[str]
) -> None:
    for tier in ("a", "b"):
        made = piece(f"s-{tier}")
        made["metadata"]["labels"] = {"tier": tier}
        server.store.put(made)
    server.store.put(piece("s-none"))
    assert http.get(f"{SLICES}?labelSelector={selector}").names == names


def test_a_label_selector_that_cannot_be_read_is_a_bad_request(http: Http) -> None:
    for selector in ("tier%20in%20(a", "-tier", "a,,b"):
        answer = http.get(f"{SLICES}?labelSelector={selector}")
        assert answer.status == 400
        assert answer.json["message"].startswith("unable to parse requirement: ")


def test_pods_are_found_by_node(server: StandinServer, http: Http) -> None:
    for name, node in (("p1", "n1"), ("p2", "")):
        spec = {"nodeName": node} if node else {}
        server.store.put(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": "a"},
                "spec": spec,
            }
        )
    assert http.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1").names == ["p1"]
    assert http.get("/api/v1/pods?fieldSelector=spec.nodeName%3D").names == ["p2"]


def test_items_carry_no_kind_and_objects_do(server: StandinServer, http: Http) -> None:
    server.store.put(piece("s-0"))
    listed = http.get(SLICES).json
    assert listed["kind"] == "ResourceSliceList"
    assert "kind" not in listed["items"][0]
    assert http.get(f"{SLICES}/s-0").json["kind"] == "ResourceSlice"


def test_fields_that_nobody_knows_are_kept(server: StandinServer, http: Http) -> None:
    made = piece("s-0")
    made["spec"]["devices"][0]["futureField"] = {"a": [1, 2]}
    server.store.put(made)
    spec = http.get(f"{SLICES}/s-0").json["spec"]
    assert spec["devices"][0]["futureField"] == {"a": [1, 2]}
