"""The list kit, on the real list of nodes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from inventory.models import Cluster, Node
from web.pages.listing import ListPage

NODES = "/c/lab/nodes/"
HTMX = {"HX-Request": "true", "HX-Target": "results"}


@pytest.fixture
def cluster(db: None) -> Cluster:
    return Cluster.objects.create(name="lab", source="kubeconfig", seq=1)


@pytest.fixture
def viewer(client_of: Callable[..., Client], cluster: Cluster) -> Client:
    return client_of("viewer")


def add_nodes(cluster: Cluster, number: int, **columns: Any) -> None:
    Node.objects.bulk_create(
        Node(cluster=cluster, name=f"node-{n:04}", raw={}, **columns)
        for n in range(number)
    )


def names(page: Any) -> list[str]:
    return re.findall(
        r'<td class="mono"><a href="[^"]+" class="mono">([^<]+)', page.text
    )


def test_the_fragment_is_the_page_without_its_frame(
    viewer: Client, cluster: Cluster
) -> None:
    add_nodes(cluster, 3)
    page, fragment = viewer.get(NODES), viewer.get(NODES, headers=HTMX)
    assert names(page) == names(fragment) == ["node-0000", "node-0001", "node-0002"]
    assert "<html" in page.text
    assert fragment.text.lstrip().startswith('<section class="results" id="results"')
    assert "HX-Request" in fragment["Vary"]


def test_going_back_gets_the_whole_page(viewer: Client, cluster: Cluster) -> None:
    headers = {**HTMX, "HX-History-Restore-Request": "true"}
    assert "<html" in viewer.get(NODES, headers=headers).text


def test_paging_keeps_filters_and_survives_nonsense(
    viewer: Client, cluster: Cluster
) -> None:
    add_nodes(cluster, 230, zone="a")
    page = viewer.get(f"{NODES}?zone=a&page=2&sort=-name")
    assert names(page)[0] == "node-0179"
    assert "51–100 of 230 nodes" in page.text
    assert f'href="{NODES}?zone=a&amp;sort=-name&amp;page=3"' in page.text
    assert len(names(viewer.get(f"{NODES}?size=200"))) == 200
    for wrong in ("page=99", "page=x", "page=-1", "size=100000", "sort=raw", "sort=--"):
        assert viewer.get(f"{NODES}?{wrong}").status_code == 200


def test_only_listed_columns_sort(viewer: Client, cluster: Cluster) -> None:
    add_nodes(cluster, 2)
    assert names(viewer.get(f"{NODES}?sort=-name")) == ["node-0001", "node-0000"]
    assert names(viewer.get(f"{NODES}?sort=-cluster__origin")) == [
        "node-0000",
        "node-0001",
    ]


def test_the_sorted_column_says_so(viewer: Client, cluster: Cluster) -> None:
    add_nodes(cluster, 1)
    assert 'aria-sort="descending"' in viewer.get(f"{NODES}?sort=-zone").text


def test_filters_that_are_on_can_be_taken_away_one_by_one(
    viewer: Client, cluster: Cluster
) -> None:
    add_nodes(cluster, 2, zone="a")
    page = viewer.get(f"{NODES}?q=node&zone=a&ready=true&sort=-name")
    assert f'href="{NODES}?q=node&amp;ready=true&amp;sort=-name"' in page.text
    assert f'href="{NODES}?sort=-name">Clear filters' in page.text


def test_an_empty_list_says_why(viewer: Client, cluster: Cluster) -> None:
    assert "The watch has not seen a node" in viewer.get(NODES).text
    add_nodes(cluster, 1)
    assert "No match" in viewer.get(f"{NODES}?q=other").text


def test_a_filter_that_cannot_be_read_is_named_and_shows_nothing(
    viewer: Client, cluster: Cluster
) -> None:
    add_nodes(cluster, 1)
    page = viewer.get(NODES, {"ready": "perhaps"})
    assert "Ready: Select a valid choice" in page.text
    assert names(page) == []
    too_long = viewer.get(NODES, {"q": "x" * 300})
    assert "Search: Ensure this value has at most 253 characters" in too_long.text
    assert viewer.get(NODES, {"q": "a\x00b"}).status_code == 200


def test_a_filter_that_cannot_be_read_gives_no_empty_file(
    viewer: Client, cluster: Cluster
) -> None:
    add_nodes(cluster, 2)
    answer = viewer.get(f"{NODES}?ready=maybe&format=csv")
    assert answer.status_code == 400
    assert "Ready: " in answer.text
    assert f'class="chip" href="{NODES}"' in answer.text


def test_a_filter_that_is_on_stays_in_the_form_where_nothing_has_its_value(
    viewer: Client, cluster: Cluster
) -> None:
    add_nodes(cluster, 2, zone="a")
    text = viewer.get(f"{NODES}?zone=gone").text
    assert '<option value="gone" selected>gone</option>' in text


def test_words_of_a_search_must_all_occur(viewer: Client, cluster: Cluster) -> None:
    add_nodes(cluster, 3, zone="east")
    assert names(viewer.get(NODES, {"q": "0001 EAST"})) == ["node-0001"]
    assert names(viewer.get(NODES, {"q": "%"})) == []


def test_columns_are_chosen_in_the_address(viewer: Client, cluster: Cluster) -> None:
    add_nodes(cluster, 1, instance_type="big")
    page = viewer.get(f"{NODES}?cols=name&cols=instance_type&cols=nonsense")
    assert re.findall(r'<th scope="col"[^>]*>(?:<a [^>]+>)?([^<]+)', page.text) == [
        "Node",
        "Type",
    ]
    assert viewer.get(f"{NODES}?cols=nonsense").status_code == 200


def test_exports_follow_filters_and_columns(viewer: Client, cluster: Cluster) -> None:
    add_nodes(cluster, 620, zone="=cmd()")
    Node.objects.create(cluster=cluster, name="other", raw={})
    response = viewer.get(f"{NODES}?q=node-&cols=name,zone&format=csv&page=3")
    assert response["Content-Disposition"] == 'attachment; filename="nodes.csv"'
    table = list(csv.reader(io.StringIO(response.getvalue().decode())))
    assert table[0] == ["name", "zone"]
    assert len(table) == 621
    assert table[1] == ["node-0000", "'=cmd()"]
    response = viewer.get(f"{NODES}?q=other&cols=name,free&format=json")
    assert json.loads(response.getvalue()) == [{"name": "other", "free": 0}]


def test_a_list_works_without_scripts(viewer: Client, cluster: Cluster) -> None:
    add_nodes(cluster, 60)
    text = viewer.get(NODES).text
    for link in re.findall(r"<a [^>]*hx-get[^>]*>", text):
        assert re.search(r'href="([^"]+)"', link), link
    assert re.search(r'<form [^>]*id="filters"[^>]*method="get"', text)


def test_an_unknown_cluster_is_a_404_that_says_so(viewer: Client) -> None:
    page = viewer.get("/c/other/nodes/")
    assert page.status_code == 404
    assert "There is no cluster named “other” in clusters.yaml." in page.text


def test_a_list_without_a_queryset_is_a_mistake_of_ours(rf: Any) -> None:
    page: ListPage[Node] = ListPage()
    page.request = rf.get("/")
    with pytest.raises(NotImplementedError):
        page.queryset()
