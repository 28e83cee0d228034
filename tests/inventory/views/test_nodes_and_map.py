"""Nodes and the device map."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape, unescape

import pytest
from django.test import Client

from inventory.models import Cluster, Device, Node
from inventory.views import device_map
from tests.inventory.views.conftest import claim, named, slice_

Small = Callable[..., Cluster]


def test_a_node_says_what_is_left_of_it(viewer: Client, small: Small) -> None:
    small(slice_("s", [{"name": "a"}, {"name": "b"}]), claim("c", {"device": "a"}))
    text = viewer.get("/c/lab/nodes/").text
    assert '<span class="num">1 / 2</span>' in text
    assert 'aria-label="1 in use, 1 free of 2"' in text
    assert "1 of 2 devices free." in text


def test_nodes_sort_by_what_is_free(viewer: Client, demo: Cluster) -> None:
    page = viewer.get("/c/demo/nodes/?sort=-free")
    names = re.findall(r'class="mono">([\w-]+)</a></td>', page.text)
    names = [name for name in names if Node.objects.filter(name=name).exists()]
    free = [Device.objects.filter(node_name=n, state="free").count() for n in names]
    assert free == sorted(free, reverse=True)
    assert len(free) == 6


def test_nodes_are_filtered_by_driver(viewer: Client, demo: Cluster) -> None:
    with_driver = set(
        Device.objects.filter(driver="gpu.amd.com").values_list("node_name", flat=True)
    )
    page = viewer.get("/c/demo/nodes/?driver=gpu.amd.com").context["list"]
    assert set(page.rows.values_list("name", flat=True)) == with_driver != set()


def test_a_driver_that_names_the_node_of_each_device_is_found_by_it(
    viewer: Client, small: Small
) -> None:
    small(per_device("s", {"name": "a", "nodeName": "n1"}))
    text = viewer.get("/c/lab/nodes/?driver=d.example").text
    assert "/c/lab/nodes/n1/" in text
    assert "1 node<" in text


def test_a_node_shows_the_pools_that_have_a_device_on_it(
    viewer: Client, small: Small
) -> None:
    there, elsewhere = (
        {"name": "a", "nodeName": "n1"},
        {"name": "b", "nodeName": "n2"},
    )
    small(per_device("s", there, elsewhere), named("Node", "n2", {}))
    text = viewer.get("/c/lab/nodes/n1/").text
    assert "No pool on this node" not in text
    assert 'href="/c/lab/pools/d.example/p1/"' in text
    assert '<span class="num">1 / 1</span>' in text


def test_pools_of_one_driver_are_counted_apart_on_their_node(
    viewer: Client, small: Small
) -> None:
    second = {"name": "p2", "generation": 1, "resourceSliceCount": 1}
    small(
        slice_("s1", [{"name": "a"}, {"name": "b"}]),
        slice_("s2", [{"name": "c"}], pool=second),
        claim("c", {"device": "a"}),
    )
    text = viewer.get("/c/lab/nodes/n1/").text
    table = text[text.index("<tbody>") :]
    assert re.findall(r'class="num">(\d+ / \d+)<', table) == ["1 / 2", "1 / 1"]
    assert '<span class="num">2 / 3</span>' in text


def test_links_of_a_node_hold_any_name(viewer: Client, small: Small) -> None:
    small(
        named("Node", "a&b#c", {}),
        slice_("s", [{"name": "x"}], driver="d+e", nodeName="a&b#c"),
        claim("c", {"device": "x", "driver": "d+e"}),
    )
    text = viewer.get("/c/lab/nodes/").text
    assert "/c/lab/devices/?node_name=a%26b%23c&amp;driver=d%2Be" in text


def test_a_cordoned_node_says_how_to_undo_it(viewer: Client, small: Small) -> None:
    small(named("Node", "n2", {"unschedulable": True}))
    text = viewer.get("/c/lab/nodes/n2/").text
    assert "kubectl uncordon n2" in text
    assert "No driver has published a device on this node" in text
    assert "1 cordoned" in viewer.get("/c/lab/nodes/").text


def test_a_node_lists_claims_and_pods(viewer: Client, demo: Cluster) -> None:
    held = Device.objects.filter(holder_count=1).exclude(node_name="")[0]
    text = viewer.get(f"/c/demo/nodes/{held.node_name}/?tab=claims").text
    assert f"/pools/{held.driver}/{held.pool}/" not in text
    assert "/c/demo/claims/" in text
    assert "/c/demo/pods/" in text


@pytest.mark.parametrize("fragment", ["node-map", "node-claims"])
def test_a_fragment_of_a_node_comes_alone(
    fragment: str, viewer: Client, demo: Cluster
) -> None:
    name = Node.objects.first().name  # type: ignore[union-attr]  # there are six
    headers = {"HX-Request": "true", "HX-Target": fragment}
    response = viewer.get(f"/c/demo/nodes/{name}/?tab=claims", headers=headers)
    assert response.text.lstrip().startswith("<section")
    assert f'id="{fragment}"' in response.text
    assert "<html" not in response.text


def test_an_unknown_fragment_is_the_whole_page(viewer: Client, demo: Cluster) -> None:
    name = Node.objects.first().name  # type: ignore[union-attr]  # there are six
    headers = {"HX-Request": "true", "HX-Target": "nonsense"}
    assert "<html" in viewer.get(f"/c/demo/nodes/{name}/", headers=headers).text


def test_a_missing_node_is_named(viewer: Client, demo: Cluster) -> None:
    page = viewer.get("/c/demo/nodes/nope/")
    assert page.status_code == 404
    assert "The cluster has no node named “nope” (any more)." in page.text


def test_raw_yaml_is_shown_and_downloaded(viewer: Client, small: Small) -> None:
    small(named("Node", "n2", {"futureField": {"x": ["=1"]}}))
    page = viewer.get("/c/lab/nodes/n2/yaml/")
    assert '<span class="hl-key">futureField</span>' in page.text
    download = viewer.get("/c/lab/nodes/n2/yaml/?format=yaml")
    assert download["Content-Disposition"] == 'attachment; filename="node-n2.yaml"'
    assert "futureField:\n    x:\n    - =1" in download.text


def per_device(name: str, *devices: dict[str, str]) -> dict[str, object]:
    """A slice that names the node of each device."""
    return slice_(name, list(devices), nodeName=None, perDeviceNodeSelection=True)


COUNTERS = [{"name": "card", "counters": {"memory": {"value": "80Gi"}}}]


def partition(name: str, memory: str) -> dict[str, object]:
    use = {"counterSet": "card", "counters": {"memory": {"value": memory}}}
    return {"name": name, "consumesCounters": [use]}


def test_partitions_stand_in_the_frame_of_their_device(
    viewer: Client, small: Small
) -> None:
    small(
        slice_("counters", [], count=2, sharedCounters=COUNTERS),
        slice_("devices", [partition("half", "40Gi"), {"name": "nic"}], count=2),
        slice_("more", [], count=2) | {"metadata": {"name": "unused"}},
    )
    Device.objects.filter(name="nic").update(state="in use")
    text = viewer.get("/c/lab/map/").text
    assert 'class="cell in-use"' in text
    assert 'title="nic: in use"' in text


def test_a_cell_says_who_holds_the_device(viewer: Client, small: Small) -> None:
    small(
        slice_("counters", [], count=2, sharedCounters=COUNTERS),
        slice_("s", [partition("whole", "80Gi"), partition("half", "40Gi")], count=2),
        claim("c", {"device": "half"}),
    )
    text = viewer.get("/c/lab/map/").text
    assert '<span class="nest" title="card">' in text
    assert 'title="half: in use, held by team/c"' in text
    assert 'title="whole: blocked by counters"' in text


def exported(viewer: Client) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(
        viewer.get("/c/lab/devices/?format=json").getvalue()
    )
    return found


def test_who_may_only_look_holds_no_device(viewer: Client, small: Small) -> None:
    small(
        slice_("s", [{"name": "seen"}, {"name": "used"}]),
        claim("monitor", {"device": "seen", "adminAccess": True}),
        claim("worker", {"device": "used"}),
    )
    assert 'title="seen: free"' in viewer.get("/c/lab/map/").text
    rows = exported(viewer)
    held = {row["name"]: (row["state"], row["holders"]) for row in rows}
    assert held == {"seen": ("free", ""), "used": ("in use", "team/worker")}


def test_a_claim_with_two_shares_of_a_device_is_named_once(
    viewer: Client, small: Small
) -> None:
    share = {"device": "a", "consumedCapacity": {}}
    small(
        slice_("s", [{"name": "a", "allowMultipleAllocations": True}]),
        claim("c", share | {"shareID": "one"}, share | {"shareID": "two"}),
    )
    (row,) = exported(viewer)
    assert (row["state"], row["holders"]) == ("shared", "team/c")


@pytest.mark.parametrize("name", ["a%20b", "yaml", "x/y", "\\", "..", "é?#"])
def test_a_cell_leads_to_its_device_whatever_its_name(
    name: str, viewer: Client, small: Small
) -> None:
    small(slice_("s", [{"name": name}]))
    found = re.search(
        r'<a class="cell free" href="([^"]+)"', viewer.get("/c/lab/map/").text
    )
    assert found is not None
    page = viewer.get(unescape(found[1]))
    assert page.status_code == 200
    assert f"</span> {escape(name)}</h1>" in page.text


def test_a_map_that_cannot_draw_all_still_counts_all(
    viewer: Client, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_map, "NETWORK_SHOWN", 2)
    far = [{"name": name} for name in "abc"]
    first = slice_("s1", far, nodeName=None, allNodes=True)
    pool = {"name": "p2", "generation": 1, "resourceSliceCount": 1}
    second = slice_("s2", far, nodeName=None, allNodes=True, pool=pool)
    small(first, second)
    text = viewer.get("/c/lab/map/").text
    assert text.count('<a class="cell free"') == 2
    assert text.count("3 / 3 free") == 2
    assert "1 more device, not drawn here" in text
    assert "3 more devices, not drawn here" in text
    text = viewer.get("/c/lab/pools/d.example/p2/").text
    assert "1 more device, not drawn here" in text


def test_devices_without_a_node_are_on_the_map(viewer: Client, small: Small) -> None:
    piece = slice_("s", [{"name": "far"}], allNodes=True)
    del piece["spec"]["nodeName"]
    small(piece)
    text = viewer.get("/c/lab/map/").text
    assert "Not on one node" in text
    assert 'title="far: free"' in text


def test_the_map_shows_a_page_of_nodes_at_a_time(viewer: Client, small: Small) -> None:
    cluster = small()
    Node.objects.bulk_create(
        Node(cluster=cluster, name=f"node-{n:03}", raw={}) for n in range(60)
    )
    page = viewer.get("/c/lab/map/?page=4")
    assert "61–61 of 61 nodes" in page.text
    assert page.text.count('class="map-row"') == 1
