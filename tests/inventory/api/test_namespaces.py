"""Namespaces over REST: the numbers of the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.test import Client

from claims.models import ResourceClaim
from inventory.models import Cluster, Namespace
from tests.allocator import builders as build
from tests.mirrored import mirror_demo

API = "/api/v1/clusters"


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def test_the_list_has_the_numbers_of_the_page(db: None, viewer: Client) -> None:
    cluster = mirror_demo(nodes=6)
    answer = viewer.get(f"{API}/{cluster.name}/namespaces/").json()
    rows = {row["name"]: row for row in answer["results"]}
    assert set(rows) == set(Namespace.objects.values_list("name", flat=True))
    page = json.loads(viewer.get("/c/demo/namespaces/?format=json").getvalue())
    for shown in page:
        row = rows[shown["name"]]
        assert sum(row["claims"].values()) == shown["claims"]
        assert row["devices_held"] == shown["held"]
        assert row["devices_held"] == sum(one["devices"] for one in row["held"])
        assert row["pods_waiting"] == shown["waiting"]
    one = viewer.get(f"{API}/demo/namespaces/team-a/").json()
    assert one == rows["team-a"]
    found = viewer.get(f"{API}/demo/namespaces/?q=team-a").json()["results"]
    assert [row["name"] for row in found] == ["team-a"]


def test_one_that_only_claims_name_is_found(db: None, viewer: Client) -> None:
    lab = build.Mirror()
    objects = [one for one in build.lab() if one["kind"] != "Namespace"]
    lab.replace([*objects, build.claim("old")])
    assert ResourceClaim.objects.count() == 1
    answer = viewer.get(f"{API}/lab/namespaces/lab/").json()
    assert answer["claims"] == {"pending": 1}
    assert viewer.get(f"{API}/lab/namespaces/other/").status_code == 404


def test_the_number_of_queries_does_not_grow(
    db: None,
    viewer: Client,
    django_assert_num_queries: Callable[[int], AbstractContextManager[Any]],
) -> None:
    for nodes, name in ((4, "demo"), (14, "larger")):
        assert isinstance(mirror_demo(nodes=nodes, name=name), Cluster)
        with django_assert_num_queries(9):
            viewer.get(f"{API}/{name}/namespaces/")
