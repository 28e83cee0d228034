"""What would become of a draft, over REST."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client

from claims.api import authoring
from claims.authoring import previewing
from inventory.models import Cluster, WatchState
from tests.allocator import builders as build
from tests.allocator.builders import Json
from tests.mirrored import mirror
from web import tokens
from web.doors import Role

DOCUMENT: dict[str, Any] = yaml.safe_load(
    (Path(__file__).resolve().parents[2] / "openapi.yaml").read_text("utf-8")
)
HERE = "/api/v1/clusters/demo/claims"

Post = Callable[..., Any]


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    previewing.forget()
    yield
    previewing.forget()


@pytest.fixture
def lab(db: None) -> Cluster:
    """Two nodes with two GPUs each, one of which is in use."""
    held = build.allocated("holder", build.result("n0", "gpu-0"))
    return mirror([*build.lab(), held])


@pytest.fixture
def post(lab: Cluster, client_of: Callable[..., Client]) -> Post:
    """``post("validate", object=…)`` as a viewer; the body of a 200 is as documented."""
    client = client_of("viewer")

    def send(name: str, *, raw: str = "", **body: Any) -> Any:
        answer = client.post(
            f"{HERE}/{name}", raw or body, content_type="application/json"
        )
        if answer.status_code == 200:
            valid(name, answer.json())
        return answer

    return send


def valid(name: str, body: Any) -> None:
    operation = DOCUMENT["paths"][f"/api/v1/clusters/{{name}}/claims/{name}/"]["post"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(body, schema | {"components": DOCUMENT["components"]})


def new(obj: Json) -> Json:
    """As somebody would write it, without what the server fills in."""
    obj = copy.deepcopy(obj)
    for name in ("uid", "resourceVersion", "creationTimestamp"):
        obj["metadata"].pop(name, None)
    obj.pop("status", None)
    return obj


def text(*objects: Json) -> str:
    return yaml.safe_dump_all([new(obj) for obj in objects], sort_keys=False)


def selecting(expression: str) -> Json:
    selectors = [{"cel": {"expression": expression}}]
    return build.claim("mine", build.request(selectors=selectors))


# --- validate ---


def test_a_good_claim_is_accepted(post: Post, lab: Cluster) -> None:
    body = post("validate", object=new(build.claim("mine"))).json()
    assert body["accepted"] is True
    assert (body["cluster"], body["seq"], body["problem"]) == ("demo", lab.seq, None)
    (document,) = body["documents"]
    assert document["sentence"] == "The API server would accept it."
    assert (document["kind"], document["namespace"], document["name"]) == (
        "ResourceClaim",
        "lab",
        "mine",
    )


def test_what_is_wrong_is_an_answer_with_fields(post: Post) -> None:
    body = post("validate", object=new(selecting('device.drivr == "x"'))).json()
    assert body["accepted"] is False
    (cause,) = body["documents"][0]["causes"]
    field = "spec.devices.requests[0].exactly.selectors[0].cel.expression"
    assert (cause["field"], cause["reason"]) == (field, "FieldValueInvalid")
    assert cause["issues"][0]["start"] == 6
    assert (cause["line"], cause["column"]) == (0, 0)


def test_each_document_of_a_manifest_has_its_answer_and_lines(post: Post) -> None:
    bad = build.claim("Bad Name")
    manifest = text(build.template("t"), bad, build.pod("p", "x"))
    body = post("validate", manifest=manifest).json()
    template, claim, pod = body["documents"]
    assert [d["accepted"] for d in (template, claim, pod)] == [True, False, None]
    assert body["accepted"] is False
    assert [d["index"] for d in body["documents"]] == [0, 1, 2]
    (cause,) = claim["causes"]
    assert cause["field"] == "metadata.name"
    line = manifest.splitlines()[cause["line"] - 1]
    assert line[cause["column"] - 1 :] == "Bad Name"
    assert template["last_line"] < claim["first_line"] <= cause["line"]


def test_a_manifest_that_cannot_be_read_is_an_answer(post: Post) -> None:
    body = post("validate", manifest="a: [1").json()
    assert body["accepted"] is False
    assert body["problem"]["line"] == 1
    assert body["problem"]["message"]


def test_what_the_text_brings_along_is_taken_into_account(post: Post) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fresh"}}
    cls = build.device_class("new.acme.test")
    claim = build.claim(
        "mine", build.request(deviceClassName="new.acme.test"), namespace="fresh"
    )
    alone = post("validate", manifest=text(claim)).json()
    assert alone["accepted"] is False
    body = post("validate", manifest=text(namespace, cls, claim)).json()
    assert body["accepted"] is True
    assert body["documents"][2]["advice"] == []
    (preview,) = post("preview", manifest=text(namespace, cls, claim)).json()[
        "previews"
    ]
    assert preview["verdict"] == "fits"
    (gone,) = post("preview", manifest=text(claim)).json()["previews"]
    assert gone["verdict"] == "refused"


def test_a_namespace_of_the_text_keeps_the_labels_that_others_gave_it(
    db: None, client_of: Callable[..., Client]
) -> None:
    """Applying a manifest takes away no label that it never had."""
    label = {"resource.kubernetes.io/admin-access": "true"}
    there: Json = {"apiVersion": "v1", "kind": "Namespace"}
    there["metadata"] = {"name": "ops"}
    labelled = copy.deepcopy(there)
    labelled["metadata"] |= {"labels": label, "uid": "uid-ops"}
    mirror([*build.lab(), labelled])
    claim = build.claim("mine", build.request(adminAccess=True), namespace="ops")
    body = {"manifest": text(there, claim)}
    url = f"{HERE}/validate/"
    answer = client_of("viewer").post(url, body, content_type="application/json")
    assert answer.json()["accepted"] is True


def test_a_claim_that_asks_for_nothing_is_no_question(post: Post) -> None:
    """Neither here nor in the editor: a template with its requests in the wrong place."""
    misplaced = new(build.template("t"))
    misplaced["spec"] = misplaced["spec"]["spec"]
    (preview,) = post("preview", object=misplaced).json()["previews"]
    assert preview["problem"] == "It asks for no device."
    assert preview["node"] == ""


def test_an_old_layout_comes_back_converted(post: Post) -> None:
    old = new(build.claim("mine", {"name": "gpu", "deviceClassName": build.GPU}))
    (document,) = post("validate", object=old).json()["documents"]
    assert document["accepted"] is False
    assert document["advice"][0]["code"] == "old-layout"
    assert post("validate", object=document["converted"]).json()["accepted"] is True


def served(cluster: Cluster, *, release: str, newest: str) -> None:
    Cluster.objects.filter(pk=cluster.pk).update(version=release)
    WatchState.objects.filter(cluster=cluster).update(api_version=newest)


def advised(answer: Any) -> list[list[tuple[str, str]]]:
    """Of each document what is said of its version, with what to put there."""
    return [
        [
            (advice["message"], advice["suggestion"])
            for advice in document["advice"]
            if advice["code"] == "version-not-served"
        ]
        for document in answer.json()["documents"]
    ]


def test_a_version_that_the_cluster_does_not_serve_is_told_with_what_it_serves(
    lab: Cluster, post: Post
) -> None:
    served(lab, release="v1.33.4", newest="resource.k8s.io/v1beta1")
    claim = new(build.claim("mine")) | {"apiVersion": "resource.k8s.io/v1beta2"}
    ((found,),) = advised(post("validate", object=claim))
    assert found[0].startswith(
        "This cluster does not serve resource.k8s.io/v1beta2 for a ResourceClaim: the "
        "newest version that it serves is resource.k8s.io/v1beta1."
    )
    assert post("validate", object=claim).json()["documents"][0]["accepted"] is True


def test_nothing_is_said_of_a_version_where_nobody_knows_what_is_served(
    lab: Cluster, post: Post
) -> None:
    served(lab, release="", newest="")
    for version in ("v1", "v1beta2"):
        claim = new(build.claim("mine")) | {"apiVersion": f"resource.k8s.io/{version}"}
        assert advised(post("validate", object=claim)) == [[]]


def test_what_is_served_is_asked_once_for_all_documents(
    lab: Cluster, post: Post, django_assert_num_queries: Callable[..., Any]
) -> None:
    newest = "resource.k8s.io/v1beta2"
    for release, version, asked, said in (
        ("v1.36.2", "v1", 0, 0),
        ("v1.33.4", "v1", 1, 1),
        ("v1.33.4", "v1beta2", 1, 0),
    ):
        served(lab, release=release, newest=newest)
        header = {"apiVersion": f"resource.k8s.io/{version}"}
        documents = [new(build.claim(name)) | header for name in ("a", "b", "c")]
        text = yaml.safe_dump_all(documents)
        post("validate", manifest=text)
        with django_assert_num_queries(VALIDATE_QUERIES + asked):
            answer = post("validate", manifest=text)
        assert [len(found) for found in advised(answer)] == [said] * 3


VALIDATE_QUERIES = 5


# --- preview ---


def test_a_preview_says_where_it_fits_and_with_what(post: Post) -> None:
    body = post("preview", object=new(build.claim("mine"))).json()
    (preview,) = body["previews"]
    assert preview["verdict"] == "fits"
    assert preview["sentence"] == "Fits now on 2 nodes; first: n0 with gpu-1."
    (device,) = preview["devices"]
    assert device["device"] == {"driver": build.GPU, "pool": "n0", "device": "gpu-1"}
    (request,) = preview["requests"]
    assert (request["matching"], request["free"]) == (4, 3)
    assert (preview["claims"], preview["documents"]) == (["mine"], [0])
    assert body["documents"][0]["accepted"] is True


def test_a_preview_says_why_not_and_what_would_help(post: Post) -> None:
    asked = new(build.claim("mine", build.request(count=3)))
    (preview,) = post("preview", object=asked).json()["previews"]
    assert preview["sentence"] == (
        "Fits nowhere: 4 devices match, no node has 3 free. Nearest: n1 has 2."
    )
    assert preview["relaxations"] == []
    (preview,) = post("preview", object=asked, relax=True).json()["previews"]
    (change,) = preview["relaxations"]
    assert (change["code"], change["claim"]) == ("fewer", "mine")


def test_one_node_can_be_asked_about(post: Post) -> None:
    asked = new(build.claim("mine", build.request(count=2)))
    found = post("preview", object=asked, node="n0").json()["previews"][0]
    assert (found["verdict"], found["nodes"]) == ("full", 1)
    found = post("preview", object=asked, node="n1").json()["previews"][0]
    assert found["verdict"] == "fits"


def test_shares_say_what_they_consume(post: Post, lab: Cluster) -> None:
    asked = build.request(capacity={"requests": {"memory": "5Gi"}})
    (preview,) = post("preview", object=new(build.claim("mine", asked))).json()[
        "previews"
    ]
    (capacity,) = preview["requests"][0]["capacity"]
    assert capacity["sentence"] == "asks 5Gi, gets the whole device with its 80Gi"


def test_a_claim_that_cannot_be_read_has_no_preview_but_a_reason(post: Post) -> None:
    odd = new(build.claim("mine")) | {"spec": {"devices": 7}}
    (preview,) = post("preview", object=odd).json()["previews"]
    assert (preview["verdict"], preview["requests"]) == ("refused", [])
    assert "spec.devices" in preview["problem"]


def test_the_number_of_previews_is_bounded(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authoring, "MOST_PREVIEWS", 2)
    manifest = text(*(build.claim(f"c{number}") for number in range(5)))
    body = post("preview", manifest=manifest).json()
    assert (len(body["previews"]), body["more"]) == (2, 3)


def test_what_the_time_cut_short_says_so(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authoring, "SECONDS", 0.0)
    (preview,) = post("preview", object=new(build.claim("mine"))).json()["previews"]
    assert preview["verdict"] == "undecided"
    assert preview["sentence"]


# --- pods ---


def deployment(*entries: Json, replicas: int = 3, **container: Any) -> Json:
    names = [{"name": entry["name"]} for entry in entries]
    resources = {"claims": names} | container
    pod = {
        "resourceClaims": list(entries),
        "containers": [{"name": "main", "image": "x", "resources": resources}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "lab"},
        "spec": {"replicas": replicas, "template": {"spec": pod}},
    }


def from_template(name: str) -> Json:
    return {"name": f"my-{name}", "resourceClaimTemplateName": name}


def test_what_a_pod_needs_is_asked_together(post: Post) -> None:
    web = deployment(from_template("a"), from_template("b"))
    manifest = text(build.template("a"), build.template("b"), web)
    body = post("preview", manifest=manifest).json()
    (preview,) = body["previews"]
    assert [d["accepted"] for d in body["documents"]] == [True, True, None]
    assert len(preview["claims"]) == 2
    assert preview["documents"] == [0, 1, 2]
    workload = preview["workload"]
    assert (workload["kind"], workload["name"], workload["copies"]) == (
        "Deployment",
        "web",
        3,
    )
    assert workload["remarks"] == []
    # n0 has one of its two devices in use.
    assert (preview["verdict"], preview["node"], preview["fitting"]) == (
        "fits",
        "n1",
        1,
    )


def test_a_claim_that_no_pod_uses_is_asked_alone(post: Post) -> None:
    web = deployment(from_template("a"))
    manifest = text(build.template("a"), web, build.claim("lonely"))
    pod, alone = post("preview", manifest=manifest).json()["previews"]
    assert pod["workload"]["name"] == "web"
    assert (alone["workload"], alone["claims"]) == (None, ["lonely"])


def test_a_claim_that_is_not_there_is_told(post: Post) -> None:
    manifest = text(deployment(from_template("nowhere")))
    (preview,) = post("preview", manifest=manifest).json()["previews"]
    assert (preview["verdict"], preview["claims"]) == ("refused", [])
    assert "my-nowhere" in preview["problem"]
    (remark,) = preview["workload"]["remarks"]
    assert remark["error"] is True
    assert remark["field"].startswith("spec.template.spec.resourceClaims[0]")


def test_a_claim_that_holds_devices_decides_about_the_node(
    db: None, client_of: Callable[..., Client]
) -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["n0"]}
    held = build.allocated("holder", build.result("n0", "gpu-0"))
    held["status"]["allocation"]["nodeSelector"] = {
        "nodeSelectorTerms": [{"matchFields": [field]}]
    }
    mirror([*build.lab(), held])
    web = deployment({"name": "old", "resourceClaimName": "holder"}, from_template("a"))
    body = client_of("viewer").post(
        f"{HERE}/preview/",
        {"manifest": text(build.template("a"), web)},
        content_type="application/json",
    )
    (preview,) = body.json()["previews"]
    assert preview["only_nodes"] == ["n0"]
    assert preview["workload"]["allocated"] == ["holder"]
    assert (preview["verdict"], preview["nodes"]) == ("fits", 1)


def test_extended_resources_of_a_pod_are_asked_about(
    db: None, client_of: Callable[..., Client]
) -> None:
    cls = build.device_class()
    cls["spec"]["extendedResourceName"] = "acme.test/gpu"
    mirror([*build.lab()[:-1], cls])
    web = deployment(limits={"acme.test/gpu": "3"})
    body = client_of("viewer").post(
        f"{HERE}/preview/",
        {"manifest": text(web)},
        content_type="application/json",
    )
    valid("preview", body.json())
    (preview,) = body.json()["previews"]
    assert preview["verdict"] == "hopeless"
    assert "no node has 3 free" in preview["sentence"]


# --- input and doors ---


@pytest.mark.parametrize("name", ["validate", "preview"])
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "object"),
        ({"object": {}, "manifest": ""}, "object"),
        ({"manifest": 7}, "manifest"),
        ({"manifest": None}, "manifest"),
        ({"object": {}, "namespace": ["x"]}, "namespace"),
        ({"object": {}, "namespace": "x" * 300}, "namespace"),
        ({"object": {}, "namespce": "x"}, "namespce"),
    ],
)
def test_bad_input_names_its_field(
    post: Post, name: str, body: Json, field: str
) -> None:
    answer = post(name, **body)
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["errors"][0]["field"] == field


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"node": "none"}, "node"),
        ({"node": 7.5}, "node"),
        ({"relax": "perhaps"}, "relax"),
        ({"quirks": "1.35"}, "quirks"),
    ],
)
def test_what_only_a_preview_takes_is_checked_too(
    post: Post, body: Json, field: str
) -> None:
    answer = post("preview", object=new(build.claim("mine")), **body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == field


@pytest.mark.parametrize("value", [7, "text", [], [[]], {}, {"kind": "ResourceClaim"}])
def test_any_json_is_answered(post: Post, value: Any) -> None:
    for name in ("validate", "preview"):
        answer = post(name, object=value)
        assert answer.status_code == 200
        assert answer.json()["documents"][0]["accepted"] is False


def test_an_object_may_not_nest_without_end(post: Post) -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = {"a": deep}
    answer = post("validate", object=deep)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "object"
    spec = {"kind": "ResourceClaim", "spec": deep["a"]}
    assert post("validate", object=spec).status_code == 400


@pytest.mark.parametrize("value", ["\ud800", {"\ud800": 1}, float("inf")])
def test_what_no_json_can_say_is_refused(post: Post, value: Any) -> None:
    body = json.dumps({"object": {"kind": "ResourceClaim", "metadata": value}})
    body = body.replace("Infinity", "1e400")
    for name in ("validate", "preview"):
        answer = post(name, raw=body)
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["field"] == "object"


@pytest.mark.parametrize("field", ["quirks", "namespace", "manifest"])
def test_half_a_character_in_any_field_is_an_answer(post: Post, field: str) -> None:
    body = {"object": new(build.claim("mine")), field: "\ud800"}
    found = post("preview", raw=json.dumps(body))
    assert found.status_code == 400
    assert found.json()["errors"]


def test_a_number_beyond_all_sizes_is_an_answer(post: Post) -> None:
    asked = build.claim("mine", build.request(count=10**26))
    body = post("preview", object=new(asked)).json()
    assert body["documents"][0]["accepted"] is False
    assert body["previews"][0]["verdict"] == "refused"


def test_a_text_that_is_too_long_is_an_answer(post: Post) -> None:
    body = post("validate", manifest="#" * 300_000).json()
    assert "longer than 256 KiB" in body["problem"]["message"]


def test_a_slash_at_the_end_makes_no_difference(
    lab: Cluster, client_of: Callable[..., Client]
) -> None:
    client = client_of("viewer")
    for address in (f"{HERE}/validate", f"{HERE}/validate/", f"{HERE}/preview/"):
        answer = client.post(
            address, {"object": new(build.claim("a"))}, content_type="application/json"
        )
        assert answer.status_code == 200


def test_a_viewer_may_ask_and_a_stranger_may_not(
    lab: Cluster, client_of: Callable[..., Client], person: Callable[..., User]
) -> None:
    question = {"object": new(build.claim("mine"))}
    for client, status in ((Client(), 401), (client_of(None), 403)):
        for name in ("validate", "preview"):
            answer = client.post(
                f"{HERE}/{name}", question, content_type="application/json"
            )
            assert answer.status_code == status
    _, secret = tokens.create(user=person("viewer"), name="ci", role=Role.VIEWER)
    strict = Client(enforce_csrf_checks=True)
    by_token = strict.post(
        f"{HERE}/preview",
        question,
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert by_token.status_code == 200
    strict.force_login(person("viewer", "another"))
    by_session = strict.post(
        f"{HERE}/preview", question, content_type="application/json"
    )
    assert by_session.status_code == 403
    assert strict.get(f"{HERE}/preview").status_code == 405


def test_no_such_cluster_is_a_404(
    lab: Cluster, client_of: Callable[..., Client]
) -> None:
    answer = client_of("viewer").post(
        "/api/v1/clusters/none/claims/validate/",
        {"object": {}},
        content_type="application/json",
    )
    assert answer.status_code == 404


def test_a_class_is_told_with_what_it_would_match(post: Post) -> None:
    written = build.device_class(
        expression='device.attributes["gpu.acme.test"].index == 1'
    )
    for question in ("validate", "preview"):
        (document,) = post(question, object=written).json()["documents"]
        found = document["class_preview"]
        assert found["sentence"] == "It would match 2 of 4 devices (2 free)."
        assert found["counts"]["matching"] == 2
        assert [s["counts"]["free"] for s in found["selectors"]] == [2]
        assert (found["change"]["claims"], found["change"]["held_lost"]) == (1, 1)
        assert found["change"]["examples"][0]["claim"] == "holder"
    (claim,) = post("validate", object=build.claim("mine")).json()["documents"]
    assert claim["class_preview"] is None
