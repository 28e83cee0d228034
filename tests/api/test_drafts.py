"""Drafts over REST: one's own, and never overwritten unseen."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from claims.services import drafts
from inventory.models import Cluster

LIST = "/api/v1/drafts/"


@pytest.fixture(autouse=True)
def cluster(db: None) -> Cluster:
    return Cluster.objects.create(name="lab", source="kubeconfig")


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def post(client: Client, **body: Any) -> Any:
    sent = json.dumps({"cluster": "lab"} | body)
    return client.post(LIST, sent, content_type="application/json")


def put(client: Client, path: str, etag: str | None, **body: Any) -> Any:
    headers = {} if etag is None else {"If-Match": etag}
    return client.put(
        path, json.dumps(body), content_type="application/json", headers=headers
    )


def begun(client: Client, text: str = "a: 1\n", **body: Any) -> str:
    """The address of a new draft."""
    answer = post(client, text=text, **body)
    assert answer.status_code == 201
    return str(answer["Location"]).removeprefix("http://testserver")


def test_a_draft_begins_is_read_saved_listed_and_discarded(viewer: Client) -> None:
    base = {"kind": "ResourceClaim", "namespace": "ml", "name": "x", "uid": "u"}
    path = begun(viewer, title="mine", base=base | {"resource_version": "7"})
    read = viewer.get(path)
    assert read["ETag"] == '"1"'
    assert (read.json()["text"], read.json()["base"]["name"]) == ("a: 1\n", "x")
    saved = put(viewer, path, read["ETag"], text="a: 2\n", selected=1)
    assert (saved.status_code, saved["ETag"]) == (200, '"2"')
    assert (saved.json()["title"], saved.json()["selected"]) == ("mine", 1)
    (listed,) = viewer.get(LIST).json()["results"]
    assert listed["revision"] == 2
    assert "text" not in listed
    assert viewer.get(LIST, {"cluster": "nope"}).status_code == 400
    assert viewer.delete(path, headers={"If-Match": '"1"'}).status_code == 412
    assert viewer.delete(path, headers={"If-Match": '"2"'}).status_code == 204
    assert viewer.get(path).status_code == viewer.delete(path).status_code == 404


def test_the_second_of_two_savers_gets_the_stored_text(viewer: Client) -> None:
    path = begun(viewer)
    assert put(viewer, path, '"1"', text="first").status_code == 200
    answer = put(viewer, path, '"1"', text="second")
    assert answer.status_code == 412
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["draft"]["text"] == "first"
    assert put(viewer, path, None, text="third").status_code == 428
    assert put(viewer, path, '"x"', text="third").status_code == 400
    assert viewer.get(path).json()["text"] == "first"


def test_nobody_sees_the_drafts_of_somebody_else(
    viewer: Client, client_of: Callable[..., Client]
) -> None:
    path = begun(viewer)
    admin = client_of("admin")
    assert admin.get(path).status_code == 404
    assert put(admin, path, '"1"', text="mine").status_code == 404
    assert admin.delete(path).status_code == 404
    assert admin.get(LIST).json()["results"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"cluster": "nope"}, "cluster"),
        ({"text": 7}, "text"),
        ({"text": "x" * (drafts.MAX_TEXT_BYTES + 1)}, "text"),
        ({"text": "\0"}, "text"),
        ({"selected": -1}, "selected"),
        ({"selected": 10**12}, "selected"),
        ({"title": "x" * 201}, "title"),
        ({"base": {"kind": 7, "colour": 1}}, "base.colour"),
        ({"colour": 1}, "colour"),
    ],
)
def test_what_cannot_be_kept_is_400_with_its_field(
    viewer: Client, body: Any, field: str
) -> None:
    answer = post(viewer, **body)
    assert answer.status_code == 400
    assert [e["field"] for e in answer.json()["errors"]] == [field]


def test_too_many_drafts_are_409_in_words(viewer: Client) -> None:
    for _ in range(drafts.MAX_DRAFTS):
        begun(viewer)
    answer = post(viewer)
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith("You have 50 drafts")
    assert viewer.get(f"{LIST}{uuid4()}/").status_code == 404
