"""Why a claim waits, over REST."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from django.test import Client

from claims import explaining
from claims.explaining import answering
from claims.models import ResourceClaim
from inventory.models import Cluster
from tests.allocator import builders as build
from tests.mirrored import mirror, mirror_demo

DOCUMENT: dict[str, Any] = yaml.safe_load(
    (Path(__file__).resolve().parents[2] / "openapi.yaml").read_text("utf-8")
)
PATH = "/api/v1/claims/{cluster}/{namespace}/{name}/explanation/"


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    explaining.forget()
    yield
    explaining.forget()


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo()


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def ask(client: Client, claim: str, **how: Any) -> Any:
    return client.get(f"/api/v1/claims/{claim}/explanation/", **how)


def valid(body: Any) -> None:
    """``body`` is what openapi.yaml says of a 200."""
    ok = DOCUMENT["paths"][PATH]["get"]["responses"]["200"]
    schema = ok["content"]["application/json"]["schema"]
    jsonschema.validate(body, schema | {"components": DOCUMENT["components"]})


def test_every_pending_claim_is_explained_as_the_document_says(
    demo: Cluster, viewer: Client
) -> None:
    verdicts = set()
    for claim in ResourceClaim.objects.filter(state="pending"):
        body = ask(viewer, f"demo/{claim}").json()
        valid(body)
        verdicts.add(body["verdict"])
        assert body["sentence"]
        assert body["seq"] == demo.seq
    assert {"fits", "hopeless"} <= verdicts


def test_a_hopeless_claim_says_what_is_missing_and_what_helps(
    demo: Cluster, viewer: Client
) -> None:
    body = ask(viewer, "demo/team-b/mega-train-16gpu").json()
    assert body["verdict"] == "hopeless"
    (request,) = body["requests"]
    assert [stage["code"] for stage in request["stages"]][:2] == [
        "published",
        "reachable",
    ]
    assert request["misses"][0]["values"][0] == {
        "value": "mig",
        "devices": request["misses"][0]["devices"],
    }
    (change,) = body["relaxations"]
    assert (change["code"], change["claim"]) == ("fewer", "mega-train-16gpu")
    assert change["spec"]["devices"]["requests"][0]["exactly"]["count"] == 6


def test_claims_of_one_pod_are_asked_about_together(db: None, viewer: Client) -> None:
    pod = build.pod("both", "a")
    pod["spec"]["resourceClaims"].append({"name": "b", "resourceClaimName": "b"})
    mirror([*build.lab(), build.claim("a"), build.claim("b"), pod])
    body = ask(viewer, "demo/lab/b").json()
    valid(body)
    assert (body["asked"]["pod"], body["asked"]["claims"]) == ("both", ["a", "b"])


def test_the_etag_stands_for_the_state_of_the_cluster_and_the_mode(
    demo: Cluster, viewer: Client
) -> None:
    claim = "demo/research/blackwell-preview"
    etag = ask(viewer, claim)["ETag"]
    again = {"headers": {"If-None-Match": etag}}
    assert ask(viewer, claim, **again).status_code == 304
    other = ask(viewer, claim, query_params={"quirks": "1.36"}, **again)
    assert other.status_code == 200
    assert other.json()["quirks"] == "1.36"
    Cluster.objects.update(seq=demo.seq + 1)
    assert ask(viewer, claim, **again).status_code == 200


def test_an_unknown_mode_is_refused_with_its_field(
    demo: Cluster, viewer: Client
) -> None:
    answer = ask(viewer, "demo/team-a/train-4gpu", query_params={"quirks": "1.35"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "quirks"


def test_a_claim_that_does_not_wait_is_a_conflict_with_the_reason(
    demo: Cluster, viewer: Client
) -> None:
    claim = ResourceClaim.objects.filter(state="in use").first()
    answer = ask(viewer, f"demo/{claim}")
    assert answer.status_code == 409
    assert answer["Content-Type"] == "application/problem+json"
    assert "is allocated" in answer.json()["detail"]


def test_a_claim_that_cannot_be_read_is_a_conflict_too(
    db: None, viewer: Client
) -> None:
    odd = build.claim("odd")
    odd["spec"] = {"devices": {"requests": [{"name": 7}]}}
    mirror([*build.lab(), odd])
    answer = ask(viewer, "demo/lab/odd")
    assert answer.status_code == 409
    assert "cannot be read" in answer.json()["detail"]


def test_a_wrong_claim_is_an_answer(db: None, viewer: Client) -> None:
    mirror([*build.lab(), build.claim("odd", build.request(deviceClassName="none"))])
    body = ask(viewer, "demo/lab/odd").json()
    valid(body)
    assert body["verdict"] == "refused"


def test_what_the_deadline_cut_short_says_so(
    db: None, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "deadline", lambda _: lambda: True)
    mirror([*build.lab(), build.claim("many", build.request(count=3))])
    body = ask(viewer, "demo/lab/many").json()
    valid(body)
    assert body["complete"] is False


def test_only_somebody_with_a_role_may_ask(
    demo: Cluster, client: Client, client_of: Callable[..., Client]
) -> None:
    assert ask(client, "demo/team-a/train-4gpu").status_code == 401
    assert ask(client_of(None), "demo/team-a/train-4gpu").status_code == 403


def test_no_such_claim_is_a_404(demo: Cluster, viewer: Client) -> None:
    for claim in ("demo/team-a/none", "none/team-a/train-4gpu"):
        assert ask(viewer, claim).status_code == 404


def test_a_known_answer_costs_few_queries(
    demo: Cluster,
    viewer: Client,
    django_assert_max_num_queries: Callable[..., AbstractContextManager[object]],
) -> None:
    ask(viewer, "demo/team-b/mega-train-16gpu")
    # session, user, groups, claim with cluster, seq
    with django_assert_max_num_queries(5):
        ask(viewer, "demo/team-b/mega-train-16gpu")


# --- pods ----------------------------------------------------------------------

POD_PATH = "/api/v1/pods/{cluster}/{namespace}/{name}/explanation/"


@pytest.fixture
def lab(db: None) -> Cluster:
    """Pods that ask for 1 and 9 GPUs as an extended resource; one of its own claims."""
    serving = build.device_class()
    serving["spec"]["extendedResourceName"] = "acme.test/gpu"
    pods = [build.pod("own", "a"), build.pod("one", ""), build.pod("nine", "")]
    for pod, amount in zip(pods[1:], ("1", "9"), strict=True):
        limits = {"limits": {"acme.test/gpu": amount}}
        pod["spec"] = {"containers": [{"name": "c", "resources": limits}]}
    return mirror([*build.lab(), build.claim("a"), serving, *pods])


def ask_pod(client: Client, pod: str, **how: Any) -> Any:
    return client.get(f"/api/v1/pods/demo/lab/{pod}/explanation/", **how)


def test_a_pod_is_explained_with_its_extended_resources(
    lab: Cluster, viewer: Client
) -> None:
    body = ask_pod(viewer, "one").json()
    ok = DOCUMENT["paths"][POD_PATH]["get"]["responses"]["200"]
    schema = ok["content"]["application/json"]["schema"]
    jsonschema.validate(body, schema | {"components": DOCUMENT["components"]})
    assert (body["namespace"], body["name"], body["verdict"]) == ("lab", "one", "fits")
    assert body["asked"]["claims"] == ["one-extended-resources"]
    assert body["asked"]["to_be_made"] == "one-extended-resources"
    assert ask_pod(viewer, "nine").json()["verdict"] == "hopeless"
    own = ask_pod(viewer, "own").json()["asked"]
    assert (own["claims"], own["to_be_made"]) == (["a"], "")


def test_before_1_36_nothing_is_made_of_extended_resources(
    lab: Cluster, viewer: Client
) -> None:
    Cluster.objects.update(version="v1.35.1")
    answer = ask_pod(viewer, "one")
    assert answer.status_code == 409
    assert "asks for no device of DRA" in answer.json()["detail"]


def test_pods_that_are_not_there_and_strangers_get_nothing(
    lab: Cluster, viewer: Client
) -> None:
    assert ask_pod(viewer, "none").status_code == 404
    assert ask_pod(Client(), "one").status_code in {401, 403}
    assert ask_pod(viewer, "one", query_params={"quirks": "2"}).status_code == 400


def test_the_pods_of_the_api_tell_what_they_ask_for(
    lab: Cluster, viewer: Client
) -> None:
    body = viewer.get("/api/v1/pods/demo/lab/nine/").json()
    assert body["resources"] == [{"name": "acme.test/gpu", "amount": 9}]
