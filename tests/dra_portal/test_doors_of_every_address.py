"""Every address of the portal asks who is there; new ones are found by walking the URLs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from inventory.models import Cluster
from tests.mirrored import mirror_demo

OPEN_TO_ALL = {"login", "healthz", "readyz"}
NEEDS_NO_ROLE = {"logout", "password_change", "password_change_done"}
ARGUMENTS: dict[str, object] = {
    "cluster": "demo",
    "namespace": "team-a",
    "name": "x",
    "driver": "d",
    "pool": "p",
    "device": "x",
    "kind": "Node",
    "pk": uuid.UUID(int=1),
    "draft": uuid.UUID(int=1),
}


def addresses(
    resolver: URLResolver | None = None, prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """(name, path with arguments filled in) of every address outside the admin site."""
    for entry in (resolver or get_resolver()).url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            if entry.namespace != "admin":
                yield from addresses(entry, route)
        elif isinstance(entry, URLPattern):
            if route.startswith("admin/"):
                continue
            for argument, converter in entry.pattern.converters.items():
                value = ARGUMENTS.get(argument)
                if type(converter).__name__ == "IntConverter":
                    value = 1
                text = f"{type(converter).__name__.removesuffix('Converter').lower()}"
                for form in (f"<{text}:{argument}>", f"<{argument}>"):
                    route = route.replace(form, str(value))
                route = route.replace(f"<str:{argument}>", str(value))
            yield entry.name or route, f"/{route}"


ADDRESSES = sorted(set(addresses()))


def test_the_walk_finds_the_addresses() -> None:
    names = {name for name, _ in ADDRESSES}
    assert {"claim", "api-claims", "run-start", "events", "api-docs"} <= names
    assert not [path for _, path in ADDRESSES if "<" in path]


def refused(client: Client, path: str) -> set[int]:
    """The statuses of GET and POST, addresses that do not take the method left out."""
    answers = [client.get(path), client.post(path, {}, content_type="application/json")]
    return {answer.status_code for answer in answers if answer.status_code != 405}


@pytest.mark.parametrize(
    ("name", "path"), [pair for pair in ADDRESSES if pair[0] not in OPEN_TO_ALL]
)
def test_a_stranger_gets_nothing(
    name: str, path: str, client: Client, db: None
) -> None:
    assert refused(client, path) <= {302, 401}
    answer = client.get(path)
    if answer.status_code == 302:
        assert answer["Location"].startswith("/login/")


@pytest.mark.parametrize(
    ("name", "path"),
    [pair for pair in ADDRESSES if pair[0] not in OPEN_TO_ALL | NEEDS_NO_ROLE],
)
def test_a_user_without_a_role_gets_nothing(
    name: str, path: str, client_of: Callable[..., Client]
) -> None:
    Cluster.objects.create(name="demo", source="dump")
    statuses = refused(client_of(None), path)
    if name == "overview-home":
        statuses -= {302}
    assert statuses <= {403}, path


WRITES = [
    ("run-start", "/c/demo/runs/start/"),
    ("run-cancel", f"/c/demo/runs/{uuid.UUID(int=1)}/cancel/"),
    ("api-runs", "/api/v1/runs/"),
    ("api-run-cancel", f"/api/v1/runs/{uuid.UUID(int=1)}/cancel/"),
    ("api-objects-create", "/api/v1/clusters/demo/claims/"),
]


@pytest.mark.parametrize(("name", "path"), WRITES)
def test_a_viewer_changes_nothing(
    name: str, path: str, client_of: Callable[..., Client]
) -> None:
    mirror_demo(nodes=1)
    answer = client_of("viewer").post(path, {}, content_type="application/json")
    assert answer.status_code == 403
