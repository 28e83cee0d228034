"""Whatever stands in an address, it does not end in a failure of ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from inventory.models import Cluster
from tests.mirrored import mirror_demo

PARTS = {"uuid": "00000000-0000-0000-0000-000000000001", "int": "1"}
ODD = ("x", "a%00b", "%ED%A0%80", "%F0%9F%98%80", "%")


def routes(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[str]:
    for entry in (resolver or get_resolver()).url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver) and entry.namespace != "admin":
            yield from routes(entry, route)
        elif isinstance(entry, URLPattern) and "<" in route:
            yield route


def address(route: str, odd: str) -> str:
    """The address with the demo's cluster, and ``odd`` in every other part."""

    def part(found: re.Match[str]) -> str:
        kind, name = found.groups()
        of_cluster = name == "name" and kind == "slug"
        return "demo" if name == "cluster" or of_cluster else PARTS.get(kind, odd)

    return "/" + re.sub(r"<(\w+):(\w+)>", part, route)


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo()


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("method", ["get", "post"])
def test_no_address_fails(
    odd: str, method: str, demo: Cluster, client_of: Callable[..., Client]
) -> None:
    admin = client_of("admin")
    admin.raise_request_exception = False
    found = {
        path: getattr(admin, method)(path).status_code
        for path in sorted({address(route, odd) for route in routes()})
        if "events" not in path  # a stream that does not end
    }
    assert len(found) > 100
    assert {path: code for path, code in found.items() if code >= 500} == {}


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/c/demo/claims/created/?o=ResourceClaim/a%00/b", None),
        (
            "/c/demo/claims/new/",
            {"from": "edit", "kind": "ResourceClaim", "name": "\0"},
        ),
        ("/c/demo/claims/new/", {"from": "copy", "kind": "DeviceClass", "name": "\0"}),
    ],
)
def test_no_object_is_looked_for_by_what_no_name_holds(
    path: str,
    fields: dict[str, str] | None,
    demo: Cluster,
    client_of: Callable[..., Client],
) -> None:
    author = client_of("author")
    found = author.get(path) if fields is None else author.post(path, fields)
    assert found.status_code in (200, 404)
