"""What a node's page and the list of devices say of devices that several nodes reach."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.test import Client

from inventory.models import Cluster, Device
from inventory.views import shared_devices
from tests.inventory.views.conftest import claim, named, slice_

Json = dict[str, Any]
Small = Callable[..., Cluster]
CountQueries = Callable[[int], AbstractContextManager[Any]]
HTMX = {"HX-Request": "true", "HX-Target": "node-shared"}


def zone(name: str) -> Json:
    term = {"key": "zone", "operator": "In", "values": [name]}
    return {"nodeSelectorTerms": [{"matchExpressions": [term]}]}


def labelled(name: str, **labels: str) -> Json:
    node = named("Node", name, {})
    node["metadata"]["labels"] = labels
    return node


def shared(pool: str, *devices: str | Json, **selection: Any) -> Json:
    """A pool of one slice that names no node."""
    its = {"name": pool, "generation": 1, "resourceSliceCount": 1}
    published = [{"name": d} if isinstance(d, str) else d for d in devices]
    return slice_(f"s-{pool}", published, nodeName=None, pool=its, **selection)


@pytest.fixture
def fabric(small: Small) -> Cluster:
    """Node a1 is in zone a and has one device of its own, b1 is in zone b."""
    return small(
        labelled("a1", zone="a"),
        labelled("b1", zone="b"),
        slice_("own", [{"name": "own"}], nodeName="a1"),
        shared("everywhere", "e0", "e1", "e2", allNodes=True),
        shared("zone-a", "z0", nodeSelector=zone("a")),
        shared(
            "mixed",
            {"name": "m-a1", "nodeName": "a1"},
            {"name": "m-b1", "nodeName": "b1"},
            {"name": "m-zone", "nodeSelector": zone("a")},
            {"name": "m-all", "allNodes": True},
            perDeviceNodeSelection=True,
        ),
        claim("c", {"pool": "everywhere", "device": "e1"}),
    )


def section(viewer: Client, node: str) -> str:
    return viewer.get(f"/c/lab/nodes/{node}/", headers=HTMX).text


def rows(text: str) -> list[list[str]]:
    """The words in the cells of each row of a section's table."""
    body = re.search(r"<tbody>(.*?)</tbody>", text, re.S)
    found = re.findall(r"<tr>(.*?)</tr>", body[1], re.S) if body else []
    return [
        [
            " ".join(re.sub(r"<(title)>.*?</\1>|<[^>]+>", "", cell).split())
            for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)
        ]
        for row in found
    ]


def names(viewer: Client, query: str) -> set[str]:
    page = viewer.get(f"/c/lab/devices/?{query}")
    assert page.status_code == 200
    return set(page.context["list"].rows.values_list("name", flat=True))


@pytest.mark.usefixtures("fabric")
def test_a_node_shows_how_it_reaches_what_it_shares(viewer: Client) -> None:
    assert rows(section(viewer, "a1")) == [
        ["everywhere", "d.example", "every node", "complete", "2 / 3", "1"],
        ["mixed", "d.example", "per device", "complete", "2 / 2", "0"],
        ["zone-a", "d.example", "by selector", "complete", "1 / 1", "0"],
    ]
    assert rows(section(viewer, "b1")) == [
        ["everywhere", "d.example", "every node", "complete", "2 / 3", "1"],
        ["mixed", "d.example", "per device", "complete", "1 / 1", "0"],
    ]


@pytest.mark.usefixtures("fabric")
def test_a_node_counts_its_own_devices_and_shared_ones_apart(viewer: Client) -> None:
    text = viewer.get("/c/lab/nodes/a1/").text
    assert "2 of its own, 6 shared" in text
    assert "1 of its own, 4 shared" in viewer.get("/c/lab/nodes/b1/").text


@pytest.mark.usefixtures("fabric")
def test_numbers_of_a_shared_pool_lead_to_just_these_devices(viewer: Client) -> None:
    hrefs = re.findall(r'href="/c/lab/devices/\?([^"]+)"', section(viewer, "a1"))
    listed = [names(viewer, href.replace("&amp;", "&")) for href in hrefs]
    assert listed == [
        {"e0", "e1", "e2"},
        {"e1"},
        {"m-zone", "m-all"},
        {"z0"},
        {"own", "e0", "e1", "e2", "m-a1", "m-zone", "m-all", "z0"},
    ]


@pytest.mark.usefixtures("fabric")
def test_devices_are_listed_by_the_node_that_owns_or_reaches_them(
    viewer: Client,
) -> None:
    assert names(viewer, "node_name=b1") == {"m-b1"}
    assert names(viewer, "reaches=b1") == {"m-b1", "e0", "e1", "e2", "m-all"}
    assert names(viewer, "reaches=b1&state=in+use") == {"e1"}
    assert names(viewer, "reaches=b1&one_node=true") == {"m-b1"}
    assert names(viewer, "reaches=n1") == {"e0", "e1", "e2", "m-all"}


@pytest.mark.usefixtures("fabric")
def test_the_export_holds_what_the_filter_lets_through(viewer: Client) -> None:
    text = viewer.get("/c/lab/devices/?reaches=a1&format=csv").getvalue().decode()
    assert len(text.splitlines()) == 1 + 8


@pytest.mark.usefixtures("fabric")
def test_the_devices_of_one_node_lead_to_all_that_it_reaches(viewer: Client) -> None:
    text = viewer.get("/c/lab/devices/?node_name=a1&driver=d.example").text
    assert 'href="/c/lab/devices/?driver=d.example&amp;reaches=a1"' in text
    assert "reaches=a1" not in viewer.get("/c/lab/devices/?driver=d.example").text


@pytest.mark.usefixtures("fabric")
def test_a_node_that_is_not_there_reaches_nothing_and_says_so(viewer: Client) -> None:
    page = viewer.get("/c/lab/devices/?reaches=nope")
    assert "The cluster has no node named “nope” that can be read" in page.text
    export = viewer.get("/c/lab/devices/?reaches=nope&format=csv")
    assert export.status_code == 400


@pytest.mark.usefixtures("fabric")
def test_nodes_say_which_devices_no_row_counts(viewer: Client) -> None:
    text = viewer.get("/c/lab/nodes/").text
    assert "6 devices are not for one node alone and counted in no row" in text


def test_a_cluster_without_shared_devices_says_so(viewer: Client, small: Small) -> None:
    small(slice_("s", [{"name": "a"}]))
    assert "None. Every slice of this cluster is for one node." in section(viewer, "n1")
    text = viewer.get("/c/lab/nodes/n1/").text
    assert "1 of its own<" in text
    assert "counted in no row" not in viewer.get("/c/lab/nodes/").text
    assert "Show all that pods" not in viewer.get("/c/lab/devices/?node_name=n1").text


def test_a_node_that_no_selector_means_says_what_to_compare(
    viewer: Client, small: Small
) -> None:
    small(shared("zone-a", "z0", nodeSelector=zone("a")))
    assert "compare its labels with the node selectors" in section(viewer, "n1")


def test_a_node_with_shared_devices_alone_misses_no_driver(
    viewer: Client, small: Small
) -> None:
    small(shared("everywhere", "e0", allNodes=True))
    text = viewer.get("/c/lab/nodes/n1/").text
    assert "No driver has published a device on this node" not in text
    assert "No device is for this node alone." in text


def test_a_pool_that_cannot_be_used_says_so(viewer: Client, small: Small) -> None:
    piece = shared("half", "h0", allNodes=True)
    piece["spec"]["pool"]["resourceSliceCount"] = 2
    small(piece)
    (row,) = rows(section(viewer, "n1"))
    assert row[3:] == ["incomplete", "0 / 1", "0"]


def test_a_selector_that_cannot_be_read_is_named(viewer: Client, small: Small) -> None:
    broken = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone"}]}]}
    small(
        shared("broken", "b0", nodeSelector=broken),
        shared("everywhere", "e0", allNodes=True),
    )
    text = section(viewer, "n1")
    assert "slice s-broken: " in text
    assert [row[0] for row in rows(text)] == ["everywhere"]


def test_a_node_that_cannot_be_read_says_that_nobody_knows(
    viewer: Client, small: Small
) -> None:
    bad = named("Node", "bad", {"unschedulable": "perhaps"})
    small(bad, shared("everywhere", "e0", allNodes=True))
    assert "nobody knows which devices it reaches" in section(viewer, "bad")


def test_the_gate_of_the_cluster_decides_whether_devices_speak_for_themselves(
    viewer: Client, fabric: Cluster
) -> None:
    Cluster.objects.filter(pk=fabric.pk).update(
        feature_gates={"DRAPartitionableDevices": False}
    )
    assert [row[0] for row in rows(section(viewer, "b1"))] == ["everywhere"]


def test_many_pools_are_cut_and_counted(
    viewer: Client, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_devices, "POOLS_SHOWN", 2)
    small(*(shared(f"p{n}", f"d{n}", allNodes=True) for n in range(5)))
    text = section(viewer, "n1")
    assert len(rows(text)) == 2
    assert "3 more have devices for this node" in text
    assert '<span class="num">5 / 5</span>' in text


def test_the_number_of_queries_does_not_grow_with_what_is_shared(
    viewer: Client, small: Small, django_assert_num_queries: CountQueries
) -> None:
    fabric = [
        shared(f"p{n}", *(f"d{n}-{m}" for m in range(20)), allNodes=True)
        for n in range(20)
    ]
    small(*fabric)
    Device.objects.filter(name="d3-1").update(state="in use")
    viewer.get("/c/lab/nodes/n1/")
    with django_assert_num_queries(NODE_QUERIES):
        viewer.get("/c/lab/nodes/n1/")
    viewer.get("/c/lab/devices/?reaches=n1")
    with django_assert_num_queries(LIST_QUERIES):
        viewer.get("/c/lab/devices/?reaches=n1")


NODE_QUERIES = 17
LIST_QUERIES = 12
