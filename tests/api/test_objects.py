"""Creating, changing and deleting objects over REST."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client

from claims.api.objects_answers import created
from claims.authoring.manifests import read
from claims.models import ObjectWrite
from claims.services.batches import create_all, repeated
from cluster.standin.access import Rule
from cluster.standin.access import User as ClusterUser
from tests.claims.services.conftest import Writable, claim, device_class
from web import tokens
from web.doors import Role

DOCUMENT: dict[str, Any] = yaml.safe_load(
    (Path(__file__).resolve().parents[2] / "openapi.yaml").read_text("utf-8")
)
CREATE = "/api/v1/clusters/lab/claims/"
ONE = "/api/v1/claims/lab/lab/one/"
CLASS = "/api/v1/classes/lab/gpu.acme.test/"
FINALIZER = "resource.kubernetes.io/delete-protection"


@pytest.fixture
def writable_with(
    tmp_path: Path, settings: Any, db: None
) -> Iterator[Callable[..., Writable]]:
    made: list[Writable] = []

    def make(**how: Any) -> Writable:
        made.append(Writable(tmp_path, settings, **how))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def writable(writable_with: Callable[..., Writable]) -> Writable:
    return writable_with()


@pytest.fixture
def operator(client_of: Callable[..., Client]) -> Client:
    return client_of("operator")


def post(client: Client, body: Any, path: str = CREATE) -> Any:
    return client.post(path, json.dumps(body), content_type="application/json")


def put(client: Client, body: Any, path: str = ONE) -> Any:
    return client.put(path, json.dumps(body), content_type="application/json")


def delete(client: Client, obj: Any, path: str = ONE, **more: str) -> Any:
    meta = obj["metadata"]
    seen = {"uid": meta["uid"], "resource_version": meta["resourceVersion"]}
    return client.delete(path, query_params=seen | more)


def valid(answer: Any, path: str, method: str) -> Any:
    """The body, which is what openapi.yaml says of this status."""
    said = DOCUMENT["paths"][path][method]["responses"][str(answer.status_code)]
    schema = said["content"]["application/json"]["schema"]
    body = answer.json()
    jsonschema.validate(body, schema | {"components": DOCUMENT["components"]})
    return body


def valid_create(answer: Any) -> Any:
    return valid(answer, "/api/v1/clusters/{name}/claims/", "post")


# --- create -----------------------------------------------------------------------


def test_an_object_is_created_and_comes_back_as_stored(
    writable: Writable, operator: Client
) -> None:
    answer = post(operator, {"object": claim()})
    assert answer.status_code == 201
    body = valid_create(answer)
    (document,) = body["documents"]
    assert document["outcome"] == "created"
    assert (
        document["object"]["metadata"]["uid"] == writable.the("new")["metadata"]["uid"]
    )
    assert body["sentence"] == "Created the claim lab/new."
    assert ObjectWrite.objects.get().user == "a-operator"


def test_a_dry_run_is_200_and_writes_nothing(
    writable: Writable, operator: Client
) -> None:
    answer = post(operator, {"object": claim(), "dry_run": True})
    assert answer.status_code == 200
    assert valid_create(answer)["dry_run"]
    assert writable.stored("new") is None


def manifest(*objects: Any) -> str:
    return yaml.safe_dump_all(objects, sort_keys=False)


def test_the_documents_of_a_manifest_are_created_in_order(
    writable: Writable, operator: Client
) -> None:
    text = manifest(claim("a"), claim("b"))
    answer = post(operator, {"manifest": text})
    assert answer.status_code == 201
    body = valid_create(answer)
    assert [d["name"] for d in body["documents"]] == ["a", "b"]
    assert body["documents"][1]["line"] > 1
    assert body["sentence"] == "Created all 2."


def test_one_bad_document_keeps_all_from_being_written(
    writable: Writable, operator: Client
) -> None:
    bad = claim("b")
    bad["spec"]["devices"]["requests"][0]["exactly"]["count"] = -1
    answer = post(operator, {"manifest": manifest(claim("a"), bad, claim("one"))})
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert [d["outcome"] for d in body["documents"]] == [
        "created",
        "invalid",
        "already exists",
    ]
    assert body["documents"][0]["sentence"].endswith("nothing was written.")
    (error,) = body["errors"]
    assert error["field"] == "documents[1].spec.devices.requests[0].exactly.count"
    assert body["detail"].endswith("Nothing was written.")
    assert writable.stored("a") is None


def test_an_object_that_stands_in_a_manifest_twice_is_not_written_once(
    writable: Writable, operator: Client
) -> None:
    """A dry run of each alone finds nothing wrong with either."""
    elsewhere = claim("same", namespace="default")
    fine = [claim("same"), elsewhere, device_class("same")]
    text = yaml.safe_dump_all([claim("same"), elsewhere, claim("same")])
    answer = post(operator, {"manifest": text})
    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error["field"] == "manifest"
    assert "ResourceClaim same is there twice, first in line 1" in error["message"]
    assert writable.stored("same") is None
    assert repeated(fine) is None


def test_a_failure_on_the_way_says_what_exists_already(
    writable: Writable, person: Callable[..., User]
) -> None:
    """As when somebody takes a name between the dry run and the creation."""
    values = [claim("a"), claim("a"), claim("b")]
    documents = read(manifest(*values)).documents
    batch = create_all(writable.cluster, person("operator"), values)
    answer = created(batch, documents, single=False)
    assert answer.status_code == 409
    body = answer.data
    assert [d["outcome"] for d in body["documents"]] == [
        "created",
        "already exists",
        "not tried",
    ]
    assert body["detail"].endswith(
        "Created before it, and there now: ResourceClaim lab/a."
    )
    assert writable.stored("a") is not None
    assert writable.stored("b") is None


def test_an_object_without_a_namespace_goes_where_it_is_said(
    writable: Writable, operator: Client
) -> None:
    wanted = claim()
    del wanted["metadata"]["namespace"]
    assert post(operator, {"object": wanted, "namespace": "lab"}).status_code == 201
    assert writable.stored("new") is not None
    body = valid_create(post(operator, {"object": wanted}))
    assert body["documents"][0]["namespace"] == "default"


def test_what_is_wrong_with_one_object_is_told_at_its_path(
    writable: Writable, operator: Client
) -> None:
    wanted = claim()
    wanted["spec"]["devices"]["x"] = 1
    body = post(operator, {"object": wanted}).json()
    assert body["status"] == 422
    assert [e["field"] for e in body["errors"]] == ["object.spec.devices.x"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "object"),
        ({"object": {}, "manifest": ""}, "object"),
        ({"object": []}, "object"),
        ({"object": "claim"}, "object"),
        ({"manifest": "a: [1"}, "manifest"),
        ({"manifest": "- 1"}, "manifest"),
        ({"manifest": "---\n# nothing\n"}, "manifest"),
        ({"manifest": ""}, "manifest"),
        ({"manifest": "x" * 300_000}, "manifest"),
        ({"manifest": 7}, "manifest"),
        ({"object": claim(), "dryRun": True}, "dryRun"),
        ({"object": claim(), "dry_run": "perhaps"}, "dry_run"),
    ],
)
def test_a_question_that_cannot_be_understood_is_400_with_its_field(
    writable: Writable, operator: Client, body: Any, field: str
) -> None:
    answer = post(operator, body)
    assert answer.status_code == 400
    assert [e["field"].partition("[")[0] for e in answer.json()["errors"]] == [field]


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}},
        {"kind": 7},
        {"metadata": {"annotations": "x"}},
        claim() | {"metadata": {"name": "\ud800", "namespace": "\ud800/"}},
    ],
)
def test_odd_objects_are_refused_and_not_a_crash(
    writable: Writable, operator: Client, value: Any
) -> None:
    answer = post(operator, {"object": value})
    assert answer.status_code in (400, 422)
    assert answer.json()["errors"]


def test_a_cluster_that_is_not_there_is_404_and_a_read_only_one_409(
    writable: Writable, operator: Client
) -> None:
    answer = post(operator, {"object": claim()}, "/api/v1/clusters/none/claims/")
    assert answer.status_code == 404
    writable.cluster.read_only = True
    writable.cluster.save()
    answer = post(operator, {"object": claim(), "dry_run": True})
    assert (answer.status_code, answer.json()["code"]) == (409, "read only")


def test_an_api_server_that_is_away_is_503(
    writable: Writable, operator: Client
) -> None:
    writable.server.stop()
    answer = post(operator, {"object": claim()})
    assert answer.status_code == 503
    assert answer.json()["detail"].endswith("Nothing was written; try again later.")


def test_a_missing_right_in_the_cluster_is_403_with_the_grant(
    writable_with: Callable[..., Writable], operator: Client
) -> None:
    looks = Rule(("get", "list"), ("*",))
    writable_with(users={"t": ClusterUser("portal", (looks,))}, token="t")
    answer = post(operator, {"object": claim()})
    assert answer.status_code == 403
    assert answer.json()["missing"] == "create resourceclaims in the namespace lab"
    assert "kubectl create role " in answer.json()["grant"]


# --- who ----------------------------------------------------------------------------


def test_a_viewer_writes_nothing(
    writable: Writable, client_of: Callable[..., Client]
) -> None:
    viewer = client_of("viewer")
    one = writable.the()
    assert post(viewer, {"object": claim()}).status_code == 403
    assert put(viewer, {"object": one}).status_code == 403
    assert delete(viewer, one).status_code == 403
    assert writable.the() == one


def test_classes_take_an_administrator(
    writable: Writable, operator: Client, client_of: Callable[..., Client]
) -> None:
    wanted = device_class("new.acme.test")
    answer = post(operator, {"manifest": manifest(claim(), wanted)})
    assert answer.status_code == 403
    assert "takes the role admin" in answer.json()["detail"]
    assert writable.stored("new") is None
    there = writable.the("gpu.acme.test", "DeviceClass")
    assert put(operator, {"object": there}, CLASS).status_code == 403
    assert delete(operator, there, CLASS).status_code == 403
    admin = client_of("admin")
    assert post(admin, {"object": wanted}).status_code == 201
    assert put(admin, {"object": there}, CLASS).status_code == 200
    there = writable.the("gpu.acme.test", "DeviceClass")
    assert delete(admin, there, CLASS).status_code == 200


def test_a_class_cannot_be_reached_through_the_address_of_a_claim(
    writable: Writable, operator: Client
) -> None:
    there = writable.the("gpu.acme.test", "DeviceClass")
    answer = put(operator, {"object": there}, "/api/v1/claims/lab/lab/gpu.acme.test/")
    assert answer.status_code == 400
    assert [e["field"] for e in answer.json()["errors"]] == ["object.kind"]


def test_a_token_writes_no_more_than_its_own_role(
    writable: Writable, person: Callable[..., User]
) -> None:
    admin = person("admin")
    client = Client()
    for role, status in ((Role.VIEWER, 403), (Role.OPERATOR, 403), (Role.ADMIN, 201)):
        _, secret = tokens.create(user=admin, name=str(role), role=role)
        answer = client.post(
            CREATE,
            json.dumps({"object": device_class("new.acme.test")}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}"},
        )
        assert answer.status_code == status


def test_a_browser_without_the_csrf_token_writes_nothing(
    writable: Writable, person: Callable[..., User]
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person("operator"))
    assert post(client, {"object": claim()}).status_code == 403
    assert writable.stored("new") is None


# --- change and delete ----------------------------------------------------------------


def test_an_object_is_replaced_by_what_was_read_and_changed(
    writable: Writable, operator: Client
) -> None:
    wanted = writable.the()
    wanted["metadata"]["labels"] = {"team": "vision"}
    answer = put(operator, {"object": wanted})
    assert answer.status_code == 200
    body = valid(answer, "/api/v1/claims/{cluster}/{namespace}/{name}/", "put")
    assert body["changed"]
    assert writable.the()["metadata"]["labels"] == {"team": "vision"}


def test_who_comes_second_is_409_with_the_object_as_it_is_now(
    writable: Writable, operator: Client
) -> None:
    seen = writable.the()
    assert (
        put(
            operator,
            {"object": seen | {"metadata": {**seen["metadata"], "labels": {"a": "b"}}}},
        ).status_code
        == 200
    )
    for answer in (put(operator, {"object": seen}), delete(operator, seen)):
        assert answer.status_code == 409
        assert answer.json()["current"]["metadata"]["labels"] == {"a": "b"}


def test_nothing_is_replaced_or_deleted_unseen(
    writable: Writable, operator: Client
) -> None:
    answer = put(operator, {"object": claim("one")})
    assert answer.status_code == 422
    assert [e["field"] for e in answer.json()["errors"]] == [
        "object.metadata.uid",
        "object.metadata.resourceVersion",
    ]
    assert operator.delete(ONE).status_code == 422
    assert operator.delete(ONE, query_params={"force": "true"}).status_code == 400
    assert writable.stored("one") is not None


def test_another_name_than_that_of_the_address_is_refused(
    writable: Writable, operator: Client
) -> None:
    wanted = writable.the()
    wanted["metadata"]["name"] = "two"
    assert put(operator, {"object": wanted}).status_code == 422
    assert put(operator, {"object": 7}).status_code == 400


def test_what_is_deleted_is_gone_or_says_what_it_waits_for(
    writable: Writable, operator: Client
) -> None:
    path = "/api/v1/claims/{cluster}/{namespace}/{name}/"
    one = writable.the()
    answer = delete(operator, one, dry_run="true")
    assert valid(answer, path, "delete")["dry_run"]
    assert writable.stored("one") is not None
    body = valid(delete(operator, one), path, "delete")
    assert body["waits_for"] == []
    assert writable.stored("one") is None
    assert delete(operator, one).status_code == 404
    writable.server.store.put(claim("held", finalizers=[FINALIZER]))
    held = writable.the("held")
    answer = delete(operator, held, "/api/v1/claims/lab/lab/held/")
    assert answer.json()["waits_for"] == [FINALIZER]


def test_an_outcome_that_nobody_knows_is_502(
    writable: Writable, operator: Client
) -> None:
    assert post(operator, {"object": claim(), "dry_run": True}).status_code == 200
    writable.server.faults.answer(500, times=20)
    answer = post(operator, {"object": claim()})
    assert answer.status_code == 502
    assert "It is not known whether the write happened" in answer.json()["detail"]
