"""Writes: what is stored, what is refused, and what keeps two writers apart."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from cluster.standin.server import StandinServer
from tests.cluster.standin.http_client import (
    ALLOCATION,
    CLAIMS,
    JSON_PATCH,
    SLICES,
    STRATEGIC,
    Http,
    claim,
    piece,
    reserved,
)

Json = Any
C1 = f"{CLAIMS}/c1"
STATUS = f"{C1}/status"
FINALIZER = "resource.kubernetes.io/delete-protection"


@pytest.fixture
def made(http: Http) -> Json:
    reply = http.post(CLAIMS, claim())
    assert reply.status == 201
    return reply.json


def test_a_created_claim_has_its_defaults(made: Json) -> None:
    request = made["spec"]["devices"]["requests"][0]["exactly"]
    assert (request["allocationMode"], request["count"]) == ("ExactCount", 1)
    assert made["status"] == {}
    assert made["metadata"]["namespace"] == "default"


def test_defaults_reach_alternatives_tolerations_and_taints(http: Http) -> None:
    wanted = claim("c2")
    alternative = {"name": "a", "deviceClassName": "gpu", "tolerations": [{"key": "k"}]}
    wanted["spec"]["devices"]["requests"] = [
        {"name": "r", "firstAvailable": [alternative]}
    ]
    stored = http.post(CLAIMS, wanted).json["spec"]["devices"]["requests"][0]
    assert stored["firstAvailable"][0]["count"] == 1
    assert stored["firstAvailable"][0]["tolerations"][0]["operator"] == "Equal"
    tainted = piece("s-0")
    tainted["spec"]["devices"][0]["taints"] = [{"key": "k", "effect": "NoSchedule"}]
    device = http.post(SLICES, tainted).json["spec"]["devices"][0]
    assert re.match(r"\d{4}-\d\d-\d\dT", device["taints"][0]["timeAdded"])


def test_a_status_sent_with_a_new_claim_is_dropped(http: Http) -> None:
    sent = {**claim(), "status": {"allocation": ALLOCATION}}
    assert http.post(CLAIMS, sent).json["status"] == {}


def test_a_namespace_that_does_not_exist_takes_no_objects(http: Http) -> None:
    path = "/apis/resource.k8s.io/v1/namespaces/nowhere/resourceclaims"
    reply = http.post(path, claim())
    assert reply.status == 404
    assert reply.json["message"] == 'namespaces "nowhere" not found'


def test_a_bad_name_is_invalid_and_no_name_too(http: Http) -> None:
    for name in ("Bad_Name", ""):
        reply = http.post(CLAIMS, claim(name))
        assert reply.status == 422
        assert reply.json["details"]["causes"][0]["field"] == "metadata.name"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"metadata": {"name": "other"}}, 400),
        ({"metadata": {"name": "c1", "namespace": "other"}}, 400),
        ({"kind": "DeviceClass"}, 400),
        ({"metadata": []}, 400),
    ],
)
def test_an_object_that_contradicts_its_url_is_refused(
    http: Http, made: Json, change: Json, status: int
) -> None:
    assert http.put(C1, {**made, **change}).status == status


def test_the_spec_of_a_claim_does_not_change(http: Http, made: Json) -> None:
    made["spec"]["devices"]["requests"] = None
    reply = http.put(C1, made)
    assert reply.status == 422
    assert reply.json["details"]["causes"][0]["field"] == "spec"


def test_a_changed_slice_spec_counts_its_generation_and_labels_do_not(
    http: Http,
) -> None:
    first = http.post(SLICES, piece("s-0")).json
    assert first["metadata"]["generation"] == 1
    labelled = http.patch(f"{SLICES}/s-0", {"metadata": {"labels": {"a": "b"}}}).json
    assert labelled["metadata"]["generation"] == 1
    pool = {"generation": 2}
    changed = http.patch(f"{SLICES}/s-0", {"spec": {"pool": pool}}).json
    assert changed["metadata"]["generation"] == 2
    moved = http.patch(f"{SLICES}/s-0", {"spec": {"nodeName": "n9"}})
    assert moved.status == 422


def test_of_two_patches_with_one_version_the_second_conflicts(
    http: Http, made: Json
) -> None:
    version = made["metadata"]["resourceVersion"]
    patch = {
        "metadata": {"resourceVersion": version},
        "status": {"allocation": ALLOCATION},
    }
    assert http.patch(STATUS, patch).status == 200
    late = http.patch(STATUS, patch)
    assert (late.status, late.json["reason"]) == (409, "Conflict")


def test_of_many_writers_at_once_exactly_one_wins(
    server: StandinServer, http: Http, made: Json
) -> None:
    version = made["metadata"]["resourceVersion"]
    statuses: list[int] = []

    def write(number: int) -> None:
        results = [{**ALLOCATION["devices"]["results"][0], "device": f"d{number}"}]
        patch = {
            "metadata": {"resourceVersion": version},
            "status": {"allocation": {"devices": {"results": results}}},
        }
        statuses.append(http.patch(STATUS, patch).status)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [409] * 7
    assert server.store.version == int(version) + 1


def test_a_write_that_changes_nothing_is_no_change(http: Http, made: Json) -> None:
    again = http.put(C1, made)
    assert again.json["metadata"] == made["metadata"]
    assert http.patch(STATUS, {"status": {}}).json["metadata"] == made["metadata"]


def test_dry_runs_answer_and_store_nothing(
    server: StandinServer, http: Http, made: Json
) -> None:
    before = server.store.version
    shown = http.patch(f"{STATUS}?dryRun=All", {"status": {"allocation": ALLOCATION}})
    assert shown.json["status"]["allocation"] == ALLOCATION
    assert http.delete(f"{C1}?dryRun=All").status == 200
    assert server.store.version == before
    assert server.store.get("ResourceClaim", "c1", "default") == made


def test_an_allocation_stays_until_it_is_removed(http: Http, made: Json) -> None:
    allocate = {"status": {"allocation": ALLOCATION}}
    assert http.patch(STATUS, allocate).status == 200
    other: Json = {
        "devices": {"results": []},
        "nodeSelector": {"nodeSelectorTerms": []},
    }
    changed = http.patch(STATUS, {"status": {"allocation": other}})
    assert changed.status == 422
    assert "field is immutable" in changed.json["message"]
    assert http.patch(STATUS, {"status": {"allocation": None}}).json["status"] == {}


def test_nobody_reserves_what_is_not_allocated(http: Http, made: Json) -> None:
    reply = http.patch(STATUS, {"status": {"reservedFor": [reserved("p", "u")]}})
    assert reply.status == 422
    assert reply.json["details"]["causes"][0]["field"] == "status.reservedFor"


def test_an_allocation_in_use_is_not_removed(http: Http, made: Json) -> None:
    status = {"allocation": ALLOCATION, "reservedFor": [reserved("p", "u")]}
    assert http.patch(STATUS, {"status": status}).status == 200
    assert http.patch(STATUS, {"status": {"allocation": None}}).status == 422


def test_257_reservations_are_too_many_and_a_uid_counts_once(
    http: Http, made: Json
) -> None:
    for users in (
        [reserved(f"p{n}", f"u{n}") for n in range(257)],
        [reserved("p", "u"), reserved("q", "u")],
    ):
        status = {"allocation": ALLOCATION, "reservedFor": users}
        assert http.patch(STATUS, {"status": status}).status == 422


def test_a_strategic_patch_takes_out_one_reservation(http: Http, made: Json) -> None:
    users = [reserved(f"p{n}", f"u{n}") for n in range(3)]
    status = {"allocation": ALLOCATION, "reservedFor": users}
    http.patch(STATUS, {"status": status})
    patch = {"status": {"reservedFor": [{"$patch": "delete", "uid": "u1"}]}}
    reply = http.patch(STATUS, patch, STRATEGIC)
    left = [user["uid"] for user in reply.json["status"]["reservedFor"]]
    assert left == ["u0", "u2"]


def test_a_strategic_patch_adds_a_finalizer_to_the_others(
    http: Http, made: Json
) -> None:
    for name in ("example.com/a", "example.com/b"):
        reply = http.patch(C1, {"metadata": {"finalizers": [name]}}, STRATEGIC)
    assert set(reply.json["metadata"]["finalizers"]) == {
        "example.com/a",
        "example.com/b",
    }


def test_json_patches_test_add_and_remove(http: Http, made: Json) -> None:
    patch = [
        {"op": "test", "path": "/metadata/uid", "value": made["metadata"]["uid"]},
        {"op": "add", "path": "/metadata/labels", "value": {"a/b": "c"}},
        {"op": "copy", "from": "/metadata/labels/a~1b", "path": "/metadata/labels/d"},
        {"op": "replace", "path": "/metadata/labels/d", "value": "e"},
        {"op": "move", "from": "/metadata/labels/d", "path": "/metadata/labels/f"},
    ]
    reply = http.patch(C1, patch, JSON_PATCH)
    assert reply.json["metadata"]["labels"] == {"a/b": "c", "f": "e"}


def test_a_claim_with_a_finalizer_stays_until_it_is_taken_off(
    server: StandinServer, http: Http, made: Json
) -> None:
    http.patch(C1, {"metadata": {"finalizers": [FINALIZER]}})
    marked = http.delete(C1).json
    assert marked["metadata"]["deletionTimestamp"]
    assert http.get(C1).status == 200
    assert http.patch(C1, {"metadata": {"finalizers": None}}).status == 200
    assert http.get(C1).status == 404
    assert server.store.objects("ResourceClaim") == []


def test_delete_checks_its_preconditions(http: Http, made: Json) -> None:
    wrong = {"preconditions": {"uid": "somebody-else"}}
    assert http.delete(C1, wrong).status == 409
    right = {"preconditions": {"uid": made["metadata"]["uid"]}}
    assert http.delete(C1, right).status == 200


def test_a_collection_is_deleted_by_selector(http: Http) -> None:
    for name in ("a", "b"):
        http.post(CLAIMS, claim(name, labels={"name": name}))
    deleted = http.send("DELETE", f"{CLAIMS}?labelSelector=name%3Da")
    assert deleted.names == ["a"]
    assert http.get(CLAIMS).names == ["b"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", C1),
        ("POST", "/apis/resource.k8s.io/v1/resourceclaims"),
        ("PUT", CLAIMS),
        ("DELETE", STATUS),
        ("POST", "/version"),
        ("OPTIONS", CLAIMS),
    ],
)
def test_methods_that_make_no_sense_are_405(
    http: Http, made: Json, method: str, path: str
) -> None:
    reply = http.send(method, path, claim())
    assert (reply.status, reply.json["reason"]) == (405, "MethodNotAllowed")


@pytest.mark.parametrize(
    "path",
    [
        "/apis/resource.k8s.io/v1/gadgets",
        "/apis/resource.k8s.io/v1/resourceclaims/c1",
        "/apis/resource.k8s.io/v1/namespaces/default/deviceclasses",
        f"{CLAIMS}/c1/binding",
        f"{SLICES}/s/status",
        "/apis/nothing.example.com/v1/things",
        "/nothing",
    ],
)
def test_paths_that_lead_nowhere_are_404_without_a_name(http: Http, path: str) -> None:
    reply = http.get(path)
    assert (reply.status, reply.json["details"]) == (404, {})


@pytest.mark.parametrize(
    "body",
    [b"{not json", b"[1]", b'"text"', b"\xff\xfe", b"", b"[" * 100_000],
    ids=["no json", "list", "text", "no utf-8", "nothing", "too deep"],
)
def test_bodies_that_are_no_object_are_400(http: Http, body: bytes) -> None:
    assert http.post(CLAIMS, body).status == 400
    assert http.send("PATCH", C1, body, content_type=STRATEGIC).status in (400, 404)


def test_a_failed_patch_of_a_missing_merge_key_is_400(http: Http, made: Json) -> None:
    patch = {"status": {"reservedFor": [{"name": "no uid"}]}}
    assert http.patch(STATUS, patch, STRATEGIC).status == 400
