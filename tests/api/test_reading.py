"""Lists and details over REST."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.test import Client

from inventory.models import Cluster
from tests.mirrored import mirror_demo

LISTS = [
    "clusters",
    "nodes",
    "pools",
    "slices",
    "devices",
    "classes",
    "claims",
    "templates",
    "pods",
    "taint-rules",
    "runs",
]


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo(nodes=4)


@pytest.mark.parametrize("name", LISTS)
def test_a_stranger_is_turned_away(name: str, client: Client, db: None) -> None:
    answer = client.get(f"/api/v1/{name}/")
    assert answer.status_code == 401
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["title"] == "Not signed in"


@pytest.mark.parametrize("name", LISTS)
def test_a_user_without_a_role_may_not_read(
    name: str, client_of: Callable[..., Client]
) -> None:
    answer = client_of(None).get(f"/api/v1/{name}/")
    assert answer.status_code == 403
    assert "viewer" in answer.json()["detail"]


@pytest.mark.parametrize("name", [name for name in LISTS if name != "runs"])
def test_a_viewer_reads_every_list(
    name: str, demo: Cluster, client_of: Callable[..., Client]
) -> None:
    answer = client_of("viewer").get(f"/api/v1/{name}/", {"cluster": demo.name})
    assert answer.status_code == 200
    assert answer.json()["results"]


@pytest.mark.parametrize(
    "name", ["nodes", "slices", "classes", "claims", "templates", "pods", "taint-rules"]
)
def test_every_listed_object_has_a_detail_with_the_raw_object(
    name: str, demo: Cluster, client_of: Callable[..., Client]
) -> None:
    client = client_of("viewer")
    row = client.get(f"/api/v1/{name}/", {"cluster": demo.name}).json()["results"][0]
    key = [
        row["cluster"],
        *([row["namespace"]] if "namespace" in row else []),
        row["name"],
    ]
    detail = client.get(f"/api/v1/{name}/{'/'.join(key)}/")
    assert detail.status_code == 200
    assert detail.json()["raw"]["metadata"]["name"] == row["name"]


def test_a_device_is_found_by_driver_pool_and_name(
    demo: Cluster, client_of: Callable[..., Client]
) -> None:
    client = client_of("viewer")
    row = client.get("/api/v1/devices/", {"cluster": demo.name}).json()["results"][0]
    detail = client.get(
        f"/api/v1/devices/{demo.name}/{row['driver']}/{row['pool']}/{row['name']}/"
    )
    assert detail.json() == row


def test_pages_follow_each_other_by_cursor_without_gap_or_repeat(
    demo: Cluster, client_of: Callable[..., Client]
) -> None:
    client = client_of("viewer")
    whole = client.get("/api/v1/devices/", {"limit": "1000"}).json()["results"]
    seen, address = [], "/api/v1/devices/?limit=7"
    while address:
        page = client.get(address).json()
        seen += page["results"]
        address = page["next"]
    assert seen == whole
    assert len(seen) > 7


def test_an_unchanged_cluster_answers_304(
    demo: Cluster, client_of: Callable[..., Client]
) -> None:
    client = client_of("viewer")
    first = client.get("/api/v1/claims/", {"cluster": demo.name})
    again = client.get(
        "/api/v1/claims/",
        {"cluster": demo.name},
        headers={"If-None-Match": first["ETag"]},
    )
    assert again.status_code == 304
    assert again.content == b""
    Cluster.objects.update(seq=demo.seq + 1)
    changed = client.get(
        "/api/v1/claims/",
        {"cluster": demo.name},
        headers={"If-None-Match": first["ETag"]},
    )
    assert changed.status_code == 200


def test_an_unknown_cluster_is_a_clear_error(
    demo: Cluster, client_of: Callable[..., Client]
) -> None:
    answer = client_of("viewer").get("/api/v1/claims/", {"cluster": "nope"})
    assert answer.status_code == 400
    assert answer.json()["errors"] == [
        {
            "field": "cluster",
            "code": "invalid",
            "message": "There is no cluster named 'nope'.",
        }
    ]


def test_a_bad_filter_value_names_its_field(
    demo: Cluster, client_of: Callable[..., Client]
) -> None:
    answer = client_of("viewer").get("/api/v1/claims/", {"state": "sleeping"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "state"


def test_filters_are_those_of_the_page(
    demo: Cluster, client_of: Callable[..., Client]
) -> None:
    answer = client_of("viewer").get(
        "/api/v1/claims/", {"cluster": demo.name, "state": "pending", "limit": "500"}
    )
    states = {row["state"] for row in answer.json()["results"]}
    assert states == {"pending"}


@pytest.mark.parametrize("name", ["claims", "devices", "nodes", "pods"])
def test_a_list_costs_the_same_queries_for_any_number_of_rows(
    name: str,
    demo: Cluster,
    client_of: Callable[..., Client],
    django_assert_max_num_queries: Callable[..., AbstractContextManager[object]],
) -> None:
    client = client_of("viewer")
    with django_assert_max_num_queries(
        9
    ):  # session, user, groups, cluster, page, prefetches
        client.get(f"/api/v1/{name}/", {"cluster": demo.name, "limit": "1000"})


def test_nobody_writes_to_a_mirror(
    demo: Cluster, client_of: Callable[..., Client]
) -> None:
    client = client_of("admin")
    for method in (client.post, client.put, client.patch, client.delete):
        assert method("/api/v1/claims/").status_code == 405
