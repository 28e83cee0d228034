"""What the editor of expressions completes from."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from django.test import Client

from inventory.models import Cluster
from tests.inventory.views.conftest import slice_

Small = Callable[..., Cluster]
ADDRESS = "/c/lab/cel/catalog/"


def test_it_names_what_devices_publish(viewer: Client, small: Small) -> None:
    small(
        slice_(
            "s",
            [
                {
                    "name": "a",
                    "attributes": {
                        "model": {"string": "big"},
                        "other.example/rank": {"int": 3},
                    },
                    "capacity": {"memory": {"value": "80Gi"}},
                },
                {"name": "b", "attributes": {"model": {"string": "big"}}},
            ],
        )
    )
    answer = viewer.get(ADDRESS)
    assert answer["Content-Type"] == "application/json"
    assert answer.json() == {
        "devices": 2,
        "attributes": [
            {
                "domain": "d.example",
                "name": "model",
                "types": ["string"],
                "devices": 2,
                "distinct": 1,
                "examples": ["big"],
            },
            {
                "domain": "other.example",
                "name": "rank",
                "types": ["int"],
                "devices": 1,
                "distinct": 1,
                "examples": ["3"],
            },
        ],
        "capacity": [
            {
                "domain": "d.example",
                "name": "memory",
                "types": ["quantity"],
                "devices": 1,
                "distinct": 1,
                "examples": ["80Gi"],
            }
        ],
    }


def test_an_unchanged_cluster_is_not_read_again(
    viewer: Client,
    small: Small,
    django_assert_num_queries: Callable[[int], AbstractContextManager[object]],
) -> None:
    cluster = small(slice_("s", [{"name": "a"}]))
    first = viewer.get(ADDRESS)
    with django_assert_num_queries(5):  # session, user, groups, cluster, newest run
        again = viewer.get(ADDRESS, headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304
    assert again.content == b""
    Cluster.objects.filter(pk=cluster.pk).update(seq=cluster.seq + 1)
    changed = viewer.get(ADDRESS, headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


def test_strangers_do_not_get_it(
    client: Client, client_of: Callable[..., Client], small: Small
) -> None:
    small(slice_("s", [{"name": "a"}]))
    assert client.get(ADDRESS).status_code == 302
    assert client_of(None).get(ADDRESS).status_code == 403
    assert client_of("viewer").get("/c/nope/cel/catalog/").status_code == 404
