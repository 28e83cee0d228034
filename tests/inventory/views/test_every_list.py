"""What holds for each list of the inventory: doors, fragment, empty, number of queries."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.test import Client

from inventory.models import Cluster, Node
from tests.mirrored import mirror_demo

# Of the whole page, whatever the number of rows: session, user, role, cluster, mark,
# clusters of the frame and watch states are 7; the rest is the list's own.
QUERIES = {
    "nodes/": 17,
    "pools/": 14,
    "slices/": 10,
    "devices/": 12,
    "classes/": 10,
    "taint-rules/": 11,
    "namespaces/": 13,
    "map/": 16,
}
LISTS = sorted(QUERIES)
HTMX = {"HX-Request": "true", "HX-Target": "results"}

CountQueries = Callable[[int], AbstractContextManager[Any]]


@pytest.mark.parametrize("path", LISTS)
def test_a_stranger_is_sent_to_the_login(path: str, client: Client, db: None) -> None:
    response = client.get(f"/c/demo/{path}")
    assert response["Location"] == f"/login/?next=/c/demo/{path}"


@pytest.mark.parametrize("path", LISTS)
def test_a_user_without_a_role_is_refused(
    path: str, client_of: Callable[..., Client]
) -> None:
    assert client_of(None).get(f"/c/demo/{path}").status_code == 403


@pytest.mark.parametrize("path", LISTS)
def test_a_viewer_sees_page_and_fragment(
    path: str, viewer: Client, demo: Cluster
) -> None:
    page = viewer.get(f"/c/demo/{path}")
    assert page.status_code == 200
    assert 'id="results"' in page.text
    assert 'aria-current="page"' in page.text
    fragment = viewer.get(f"/c/demo/{path}", headers=HTMX)
    assert "<html" not in fragment.text
    assert 'id="results"' in fragment.text


@pytest.mark.parametrize("path", LISTS)
def test_an_empty_cluster_says_what_is_missing(
    path: str, viewer: Client, db: None
) -> None:
    Cluster.objects.create(name="empty", source="kubeconfig")
    page = viewer.get(f"/c/empty/{path}")
    assert page.status_code == 200
    assert 'class="empty"' in page.text


@pytest.mark.parametrize("path", LISTS)
def test_the_number_of_queries_does_not_grow_with_the_rows(
    path: str,
    viewer: Client,
    demo: Cluster,
    django_assert_num_queries: CountQueries,
) -> None:
    mirror_demo(nodes=14, name="larger")
    for cluster in ("demo", "larger"):
        viewer.get(f"/c/{cluster}/{path}")  # notes the cluster in the session
        with django_assert_num_queries(QUERIES[path]):
            viewer.get(f"/c/{cluster}/{path}")


@pytest.mark.parametrize("path", [path for path in LISTS if path != "map/"])
def test_every_list_is_exported(path: str, viewer: Client, demo: Cluster) -> None:
    response = viewer.get(f"/c/demo/{path}?format=csv")
    table = list(csv.reader(io.StringIO(response.getvalue().decode())))
    page = viewer.get(f"/c/demo/{path}")
    assert page.context["list"].paginator.count == len(table) - 1 > 0
    assert all(len(row) == len(table[0]) for row in table)


@pytest.mark.parametrize("path", LISTS)
def test_every_column_sorts_both_ways(path: str, viewer: Client, demo: Cluster) -> None:
    page = viewer.get(f"/c/demo/{path}").context["list"]
    for column in page.available_columns():
        if column.sort:
            for sign in ("", "-"):
                address = f"/c/demo/{path}?sort={sign}{column.name}"
                assert viewer.get(address).status_code == 200, column.name


def test_lists_show_one_cluster_alone(viewer: Client, demo: Cluster) -> None:
    other = Cluster.objects.create(name="other", source="kubeconfig")
    Node.objects.create(cluster=other, name="foreign", raw={})
    assert "foreign" not in viewer.get("/c/demo/nodes/").text
    assert "foreign" in viewer.get("/c/other/nodes/").text
