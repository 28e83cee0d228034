"""Authors at every door that writes: REST, the editor, the pages that delete."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.claims.services.conftest import Writable, claim, device_class
from web import tokens
from web.doors import Role
from web.models import NamespaceGrant

Json = dict[str, Any]
CREATE = "/api/v1/clusters/lab/claims/"
ONE = "/api/v1/claims/lab/lab/one/"
OTHER = "/api/v1/claims/lab/other/two/"
HEAD = {"apiVersion": "v1", "kind": "Namespace"}


def template(name: str, namespace: str = "lab") -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"spec": claim()["spec"]},
    }


@pytest.fixture
def writable(tmp_path: Path, settings: Any, db: None) -> Iterator[Writable]:
    more = [
        HEAD | {"metadata": {"name": "other"}},
        claim("two", namespace="other"),
        template("t1"),
        template("t2", "other"),
    ]
    made = Writable(tmp_path, settings, more=more)
    yield made
    made.close()


@pytest.fixture
def author(person: Callable[..., User]) -> User:
    """May write in the namespace lab."""
    user = person("author")
    NamespaceGrant.objects.create(user=user, namespaces="la*")
    return user


@pytest.fixture
def client(author: User) -> Client:
    client = Client()
    client.force_login(author)
    return client


def send(client: Client, body: Any, path: str = CREATE, method: str = "post") -> Any:
    how = {"content_type": "application/json"}
    return getattr(client, method)(path, json.dumps(body), **how)


def seen(obj: Json) -> dict[str, str]:
    meta = obj["metadata"]
    return {"uid": meta["uid"], "resource_version": meta["resourceVersion"]}


def detail(answer: Any) -> str:
    assert answer.status_code == 403
    return str(answer.json()["detail"])


# --- REST ---------------------------------------------------------------------------


def test_an_author_creates_where_it_is_given_to_them(
    writable: Writable, client: Client
) -> None:
    assert send(client, {"object": claim("new")}).status_code == 201
    assert send(client, {"object": template("fresh")}).status_code == 201
    elsewhere = {"object": claim("new", namespace="other")}
    assert "you may write in la*, not in other" in detail(send(client, elsewhere))
    unnamed = claim("unnamed")
    del unnamed["metadata"]["namespace"]
    assert "not in default" in detail(send(client, {"object": unnamed}))
    where = {"object": unnamed, "namespace": "lab"}
    assert send(client, where).status_code == 201


def test_of_several_objects_none_is_written_if_one_is_elsewhere(
    writable: Writable, client: Client
) -> None:
    text = "\n---\n".join(
        json.dumps(o) for o in (claim("a"), claim("b", namespace="other"))
    )
    assert "not in other" in detail(send(client, {"manifest": text}))
    assert writable.stored("a") is None


def test_a_dry_run_is_refused_in_the_same_words(
    writable: Writable, client: Client
) -> None:
    body = {"object": claim("new", namespace="other"), "dry_run": True}
    assert "not in other" in detail(send(client, body))


def test_an_author_changes_and_deletes_what_is_in_these_namespaces(
    writable: Writable, client: Client
) -> None:
    there = writable.the()
    there["metadata"]["labels"] = {"a": "b"}
    assert send(client, {"object": there}, ONE, "put").status_code == 200
    answer = client.delete(ONE, query_params=seen(writable.the()))
    assert answer.status_code == 200
    two = client.get(OTHER).json()["raw"]
    assert "not in other" in detail(send(client, {"object": two}, OTHER, "put"))
    assert "not in other" in detail(client.delete(OTHER, query_params=seen(two)))
    path = "/api/v1/templates/lab/other/t2/"
    two = client.get(path).json()["raw"]
    assert "not in other" in detail(send(client, {"object": two}, path, "put"))
    assert "not in other" in detail(client.delete(path, query_params=seen(two)))


def test_an_author_writes_no_class_and_starts_no_run(
    writable: Writable, client: Client
) -> None:
    answer = send(client, {"object": device_class("new.acme.test")})
    assert "takes the role admin" in detail(answer)
    wanted = {"cluster": "lab", "namespace": "lab", "claim": "one"}
    assert "role operator" in detail(send(client, wanted, "/api/v1/runs/"))
    start = {"namespace": "lab", "claim_name": "one"}
    assert client.post(reverse("run-start", args=["lab"]), start).status_code == 403


def test_a_token_of_that_role_writes_where_its_user_is_given_to(
    writable: Writable, author: User, person: Callable[..., User]
) -> None:
    operator = person("operator")
    for user, status in ((author, 201), (operator, 403)):
        _, secret = tokens.create(user=user, name="ci", role=Role.AUTHOR)
        answer = Client().post(
            CREATE,
            json.dumps({"object": claim(f"of-{user.username}")}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}"},
        )
        assert answer.status_code == status


# --- pages ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("allowed", "refused"),
    [
        ("claims/lab/one", "claims/other/two"),
        ("templates/lab/t1", "templates/other/t2"),
    ],
)
def test_pages_offer_to_delete_only_what_may_be_deleted(
    writable: Writable, client: Client, allowed: str, refused: str
) -> None:
    assert f"{allowed}/delete/" in client.get(f"/c/lab/{allowed}/").text
    assert f"{refused}/delete/" not in client.get(f"/c/lab/{refused}/").text
    assert client.get(f"/c/lab/{allowed}/delete/").status_code == 200
    for answer in (
        client.get(f"/c/lab/{refused}/delete/"),
        client.post(f"/c/lab/{refused}/delete/", {"uid": "x"}),
    ):
        assert answer.status_code == 403
        assert "you may write in la*, not in other" in answer.text


def test_an_author_deletes_from_the_page(writable: Writable, client: Client) -> None:
    answer = client.post("/c/lab/claims/lab/one/delete/", seen(writable.the()))
    assert answer.status_code == 302
    assert writable.stored("one") is None


def test_an_author_deletes_no_class(writable: Writable, client: Client) -> None:
    path = "/c/lab/classes/gpu.acme.test/delete/"
    assert client.get(path).status_code == 403
    assert client.post(path, {"uid": "x"}).status_code == 403


# --- the editor -------------------------------------------------------------------------


def draft(client: Client, text: str) -> str:
    answer = client.post("/c/lab/claims/new/", {"from": "text", "text": text})
    return str(answer["Location"])


def press(client: Client, address: str, step: str, text: str) -> Any:
    sent = {"do": step, "text": text, "source": "text", "revision": "1", "doc": "0"}
    return client.post(address, sent)


def test_the_editor_creates_in_namespaces_of_the_author(
    writable: Writable, client: Client
) -> None:
    text = json.dumps(claim("written"))
    address = draft(client, text)
    assert 'value="create"' in client.get(address).text
    assert press(client, address, "create", text).status_code == 302
    assert writable.stored("written") is not None


@pytest.mark.parametrize("step", ["dry-run", "create"])
def test_the_editor_refuses_other_namespaces_in_words(
    writable: Writable, client: Client, step: str
) -> None:
    text = json.dumps(claim("written", namespace="other"))
    address = draft(client, text)
    page = client.get(address).text
    assert 'value="create"' not in page
    assert "you may write in la*, not in other" in page
    answer = press(client, address, step, text)
    assert answer.status_code == 403
    assert "not in other" in answer.text
    assert writable.server.store.get("ResourceClaim", "written", "other") is None


def test_the_editor_proposes_namespaces_of_the_author_first(
    writable: Writable, author: User, client: Client
) -> None:
    NamespaceGrant.objects.update(namespaces="other")
    page = client.get(draft(client, json.dumps(claim("written")))).text
    listed = page[page.index('id="ed-namespaces"') :]
    assert listed.index('value="other"') < listed.index('value="lab"')
    assert "not given to you" in listed
