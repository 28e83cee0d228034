"""What an expression does, over REST."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client

from inventory.models import Cluster
from tests.mirrored import mirror_demo
from web import tokens
from web.doors import Role

DOCUMENT: dict[str, Any] = yaml.safe_load(
    (Path(__file__).resolve().parents[2] / "openapi.yaml").read_text("utf-8")
)
HERE = "/api/v1/clusters/demo/cel"
H100 = 'device.attributes["gpu.nvidia.com"].architecture == "Hopper"'
IS_GPU = 'device.driver == "gpu.nvidia.com"'

Post = Callable[..., Any]


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo(nodes=4)


@pytest.fixture
def post(demo: Cluster, client_of: Callable[..., Client]) -> Post:
    """``post("evaluate", expression=…)`` as a viewer."""
    client = client_of("viewer")

    def send(name: str, **body: Any) -> Any:
        return client.post(f"{HERE}/{name}", body, content_type="application/json")

    return send


def a_device(client: Client) -> dict[str, str]:
    row = client.get(
        "/api/v1/devices/", {"cluster": "demo", "driver": "gpu.nvidia.com"}
    ).json()["results"][0]
    return {"driver": row["driver"], "pool": row["pool"], "device": row["name"]}


def valid(name: str, body: Any) -> None:
    """``body`` is what openapi.yaml says of a 200."""
    operation = DOCUMENT["paths"][f"/api/v1/clusters/{{name}}/cel/{name}/"]["post"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(body, schema | {"components": DOCUMENT["components"]})


def test_an_expression_is_counted_and_explained(post: Post, demo: Cluster) -> None:
    answer = post("evaluate", expression=f"{IS_GPU} && {H100}", first=3)
    assert answer.status_code == 200
    body = answer.json()
    valid("evaluate", body)
    assert body["valid"] is True
    assert body["errors"] == []
    assert body["cost"]["limit"] == 1_000_000
    assert body["cost"]["too_expensive"] is False
    counts = body["counts"]
    assert counts["devices"] == counts["true"] + counts["false"] + counts["error"] > 0
    assert body["terms"]["kind"] == "and"
    assert [term["text"] for term in body["terms"]["terms"]] == [IS_GPU, H100]
    assert body["seq"] == demo.seq
    assert body["incomplete"] == ""
    assert len(body["devices"]["false"]) == 3
    first = body["devices"]["false"][0]
    assert first["why"] in (IS_GPU, H100)
    assert {"driver", "pool", "device", "node"} < set(first)


def test_a_slash_at_the_end_makes_no_difference(
    demo: Cluster, client_of: Callable[..., Client]
) -> None:
    client = client_of("viewer")
    for address in (f"{HERE}/evaluate", f"{HERE}/evaluate/"):
        answer = client.post(
            address, {"expression": "true"}, content_type="application/json"
        )
        assert answer.status_code == 200


def test_a_refused_expression_is_an_answer(post: Post) -> None:
    answer = post("evaluate", expression='true &&\n  device.drivr == "x"')
    assert answer.status_code == 200
    body = answer.json()
    valid("evaluate", body)
    assert body["valid"] is False
    assert body["errors"] == [
        {
            "message": "undefined field 'drivr'",
            "line": 2,
            "column": 9,
            "start": 16,
            "end": 17,
        }
    ]
    assert body["hints"][0]["suggestion"] == "driver"
    assert body["counts"] is body["terms"] is body["cost"] is None
    traced = post("explain", expression="device.", device=DEVICE_OF_NOBODY)
    assert traced.status_code == 404


DEVICE_OF_NOBODY = {"driver": "d", "pool": "p", "device": "x"}


@pytest.mark.parametrize(
    "expression", ["", "\x00", "\ud800", "(" * 5000, "a" * 20_000, "!(" * 100 + ")" * 9]
)
def test_any_text_is_answered(post: Post, expression: str) -> None:
    answer = post("evaluate", expression=expression)
    assert answer.status_code == 200
    valid("evaluate", answer.json())
    assert answer.json()["valid"] is False


def test_an_expression_may_nest_as_deep_as_the_api_server_allows(
    post: Post, demo: Cluster, client_of: Callable[..., Client]
) -> None:
    deep = "!(" * 100 + "true" + ")" * 100
    body = post("evaluate", expression=deep).json()
    assert body["valid"] is True
    chain = " && ".join(["true"] * 1000)
    assert post("evaluate", expression=chain).json()["valid"] is True
    device = body["devices"]["true"][0]
    key = {part: device[part] for part in ("driver", "pool", "device")}
    traced = post("explain", expression=deep, device=key).json()
    valid("explain", traced)
    assert traced["result"] is True


def test_class_and_scope_narrow_what_is_asked(post: Post, demo: Cluster) -> None:
    everything = post("evaluate", expression="true").json()["counts"]
    class_ = post("evaluate", expression="true", **{"class": "gpu.nvidia.com"}).json()
    assert 0 < class_["counts"]["devices"] < everything["devices"]
    scope = {"driver": "gpu.nvidia.com", "state": "free"}
    free = post("evaluate", expression="true", scope=scope).json()["counts"]
    driver = post("evaluate", expression=IS_GPU).json()["counts"]["true"]
    assert 0 < free["devices"] < driver


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "expression"),
        ({"expression": None}, "expression"),
        ({"expression": 7}, "expression"),
        ({"expression": "true", "first": -1}, "first"),
        ({"expression": "true", "first": 1001}, "first"),
        ({"expression": "true", "scope": "everything"}, "scope"),
        ({"expression": "true", "scope": {"state": "tired"}}, "scope.state"),
        ({"expression": "true", "scope": {"node": ["n"]}}, "scope.node"),
        ({"expression": "true", "scope": {"nodes": "n"}}, "scope.nodes"),
        ({"expression": "true", "clas": "x"}, "clas"),
        ({"expression": "true", "class": "x" * 300}, "class"),
    ],
)
def test_bad_input_names_its_field(post: Post, body: Any, field: str) -> None:
    answer = post("evaluate", **body)
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert [error["field"] for error in answer.json()["errors"]] == [field]


@pytest.mark.parametrize(
    "body",
    ["[]", "7", "{", '{"expression": "true"', "[" * 100_000, '"' + "x" * 4_000_000],
)
def test_what_is_no_question_is_refused(
    demo: Cluster, client_of: Callable[..., Client], body: str
) -> None:
    client = client_of("viewer")
    answer = client.post(f"{HERE}/evaluate", body, content_type="application/json")
    assert answer.status_code == (413 if len(body) > 3_000_000 else 400)
    assert answer["Content-Type"] == "application/problem+json"


def test_what_is_not_there_is_not_found(
    post: Post, demo: Cluster, client_of: Callable[..., Client]
) -> None:
    answer = post("evaluate", expression="true", **{"class": "nope"})
    assert answer.status_code == 404
    assert "no device class “nope”" in answer.json()["detail"]
    client = client_of("operator")
    for name in ("evaluate", "explain"):
        gone = client.post(
            f"/api/v1/clusters/nope/cel/{name}", {}, content_type="application/json"
        )
        assert gone.status_code == 404
    lost = post("explain", expression="true", device=DEVICE_OF_NOBODY)
    assert lost.status_code == 404
    assert "does not publish a device “x”" in lost.json()["detail"]


def test_every_part_is_shown_on_one_device(
    post: Post, demo: Cluster, client_of: Callable[..., Client]
) -> None:
    key = a_device(client_of("operator"))
    answer = post(
        "explain", expression=f"{IS_GPU} && device.driver.size() > 3", device=key
    )
    body = answer.json()
    valid("explain", body)
    assert answer.status_code == 200
    assert body["valid"] is True
    assert body["result"] is True
    assert body["device"] == key
    assert body["seq"] == demo.seq
    assert [step["text"] for step in body["steps"]["steps"]] == [
        IS_GPU,
        "device.driver.size() > 3",
    ]
    refused = post("explain", expression="device.", device=key).json()
    valid("explain", refused)
    assert refused["valid"] is False
    assert refused["steps"] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"expression": "true"}, "device"),
        ({"expression": "true", "device": {"driver": "d"}}, "device.pool"),
        ({"device": DEVICE_OF_NOBODY}, "expression"),
    ],
)
def test_a_trace_needs_a_whole_key(post: Post, body: Any, field: str) -> None:
    answer = post("explain", **body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == field


def test_a_viewer_may_ask_and_a_stranger_may_not(
    demo: Cluster, client_of: Callable[..., Client], person: Callable[..., User]
) -> None:
    question = {"expression": "true"}
    for client, status in ((Client(), 401), (client_of(None), 403)):
        answer = client.post(
            f"{HERE}/evaluate", question, content_type="application/json"
        )
        assert answer.status_code == status
    _, secret = tokens.create(user=person("viewer"), name="ci", role=Role.VIEWER)
    strict = Client(enforce_csrf_checks=True)
    by_token = strict.post(
        f"{HERE}/evaluate",
        question,
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert by_token.status_code == 200
    strict.force_login(person("viewer", "another"))
    by_session = strict.post(
        f"{HERE}/evaluate", question, content_type="application/json"
    )
    assert by_session.status_code == 403
    assert "CSRF" in by_session.json()["detail"]
    assert strict.get(f"{HERE}/evaluate").status_code == 405


def test_an_answer_that_takes_too_long_says_how_far_it_got(
    post: Post, settings: Any
) -> None:
    settings.CEL_SECONDS = 0
    body = post("evaluate", expression=f"{IS_GPU} && 1 < 2").json()
    valid("evaluate", body)
    assert body["valid"] is True
    assert body["counts"] is None
    assert "different combinations of values were evaluated" in body["incomplete"]


def test_asking_again_costs_the_database_only_a_look(
    post: Post,
    django_assert_max_num_queries: Callable[..., AbstractContextManager[object]],
) -> None:
    post("evaluate", expression="true")
    # session, user, groups, cluster, its seq
    with django_assert_max_num_queries(5):
        post("evaluate", expression=IS_GPU, **{"class": "gpu.nvidia.com"})
