"""The form of what is written: unknown fields, types, rules, and the namespace's labels."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.standin.server import StandinServer
from tests.cluster.standin.http_client import CLAIMS, Http, Reply, claim

CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
TEMPLATES = CLAIMS.replace("claims", "claimtemplates")
RULES = "/apis/resource.k8s.io/v1beta2/devicetaintrules"
C1 = f"{CLAIMS}/c1"


def bad(**exactly: Any) -> Any:
    wanted = claim()
    wanted["spec"]["devices"]["requests"][0]["exactly"].update(exactly)
    return wanted


def fields(reply: Reply) -> list[str]:
    return [cause["field"] for cause in reply.json["details"]["causes"]]


def test_a_claim_that_breaks_a_rule_is_refused_at_its_field(http: Http) -> None:
    reply = http.post(CLAIMS, bad(count=-1))
    assert reply.status == 422
    assert fields(reply) == ["spec.devices.requests[0].exactly.count"]
    assert http.get(C1).status == 404


def test_a_claim_that_cannot_be_read_is_a_bad_request(http: Http) -> None:
    reply = http.post(CLAIMS, bad(count="two"))
    assert reply.status == 400
    assert "cannot be handled as a ResourceClaim" in reply.json["message"]


@pytest.mark.parametrize("path", [CLAIMS, TEMPLATES, CLASSES])
@pytest.mark.parametrize("odd", [None, "text", 7, [], [{}]])
def test_a_spec_that_is_no_object_is_refused_and_no_failure(
    http: Http, path: str, odd: Any
) -> None:
    """Null is no spec, which is wrong for some kinds and right for a class."""
    reply = http.post(path, {"metadata": {"name": "odd"}, "spec": odd})
    assert reply.status in ({201, 422} if odd is None else {400})


@pytest.mark.parametrize("odd", ["text", 7, []])
def test_a_claim_of_a_template_that_is_no_object_is_refused(
    http: Http, odd: Any
) -> None:
    reply = http.post(TEMPLATES, {"metadata": {"name": "odd"}, "spec": {"spec": odd}})
    assert reply.status == 400


@pytest.mark.parametrize("odd", [None, "text", 7, []])
def test_a_taint_rule_without_a_spec_is_no_failure(http: Http, odd: Any) -> None:
    reply = http.post(RULES, {"metadata": {"name": "odd"}, "spec": odd})
    assert reply.status < 500


def test_an_unknown_field_is_an_error_only_where_that_was_asked_for(http: Http) -> None:
    wanted = bad(classname="gpu")
    wanted["spec"]["devices"]["x"] = 1
    reply = http.post(f"{CLAIMS}?fieldValidation=Strict", wanted)
    assert (reply.status, reply.json["reason"]) == (400, "BadRequest")
    assert reply.json["message"] == (
        'ResourceClaim in version "v1" cannot be handled as a ResourceClaim: strict '
        'decoding error: unknown field "spec.devices.requests[0].exactly.classname", '
        'unknown field "spec.devices.x"'
    )
    for how in ("Warn", "Ignore"):
        path = f"{CLAIMS}?fieldValidation={how}&dryRun=All"
        assert http.post(path, wanted).status == 201
    assert http.put(f"{C1}?fieldValidation=Strict", wanted).status == 400


def test_another_way_to_look_at_fields_is_not_known(http: Http) -> None:
    reply = http.post(f"{CLAIMS}?fieldValidation=Sternly", claim())
    assert reply.status == 422
    assert fields(reply) == ["fieldValidation"]


def test_a_class_is_checked_when_it_is_changed_too(http: Http) -> None:
    wanted: Any = {"metadata": {"name": "gpu"}, "spec": {}}
    made = http.post(CLASSES, wanted).json
    made["spec"] = {"selectors": [{"cel": {"expression": "device.driver =="}}]}
    reply = http.put(f"{CLASSES}/gpu", made)
    assert reply.status == 422
    assert fields(reply) == ["spec.selectors[0].cel.expression"]


def test_what_is_invalid_is_not_asked_whether_it_exists(http: Http) -> None:
    assert http.post(CLAIMS, claim()).status == 201
    assert http.post(CLAIMS, bad(count=-1)).status == 422
    assert http.post(CLAIMS, claim()).status == 409


@pytest.mark.parametrize(("value", "status"), [("true", 201), ("false", 422)])
def test_admin_access_needs_a_namespace_that_says_so(
    server: StandinServer, http: Http, value: str, status: int
) -> None:
    labels = {"resource.kubernetes.io/admin-access": value}
    server.store.put(
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "default", "labels": labels},
        }
    )
    assert http.post(CLAIMS, bad(adminAccess=True)).status == status


def test_what_the_store_was_given_is_not_judged(
    server: StandinServer, http: Http
) -> None:
    odd = bad(count=-1)
    odd |= {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}
    odd["metadata"]["namespace"] = "default"
    server.store.put(odd)
    assert http.get(C1).status == 200
