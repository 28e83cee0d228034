"""Overview, clusters and search."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.test import Client

from claims.models import ResourceClaimTemplate
from inventory.models import Cluster, Device, DeviceTaintRule, Node, WatchState
from tests.mirrored import mirror, mirror_demo

Queries = Callable[[int], AbstractContextManager[object]]


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo()


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def page(client: Client, path: str) -> str:
    answer = client.get(path, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_first_page_says_what_is_left(demo: Cluster, viewer: Client) -> None:
    free = Device.objects.filter(state="free").count()
    everything = Device.objects.count()
    assert f"{free:,} of {everything:,} devices free." in page(viewer, "/")


def test_the_overview_lists_claims_that_wait_and_pools_that_cannot_be_used(
    demo: Cluster, viewer: Client
) -> None:
    shown = page(viewer, "/c/demo/")
    assert "team-a/train-4gpu" in shown
    assert "of generation" in shown


def test_the_overview_costs_the_same_queries_for_any_cluster(
    demo: Cluster, viewer: Client, django_assert_max_num_queries: Queries
) -> None:
    with django_assert_max_num_queries(25):
        viewer.get("/c/demo/")


def test_without_a_cluster_the_portal_says_how_to_add_one(
    db: None, viewer: Client
) -> None:
    assert "clusters.yaml" in page(viewer, "/")


def test_a_cluster_without_devices_says_so(db: None, viewer: Client) -> None:
    mirror([])
    assert "No driver has published a device" in page(viewer, "/c/demo/")


def test_a_watch_that_fails_is_told_with_its_reason(
    demo: Cluster, viewer: Client
) -> None:
    WatchState.objects.filter(kind="Pod").update(
        state="forbidden", error="The API server refuses to list pods."
    )
    assert "refuses to list pods" in page(viewer, "/c/demo/")
    assert "refuses to list pods" in page(viewer, "/clusters/")


def test_a_cluster_that_cannot_be_reached_is_told(
    demo: Cluster, viewer: Client
) -> None:
    Cluster.objects.update(error="The server refuses the connection.")
    assert "refuses the connection" in page(viewer, "/clusters/")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("train-4gpu", "/c/demo/claims/team-a/train-4gpu/"),
        ("gpu-h100-01", "/c/demo/nodes/gpu-h100-01/"),
        ("H100 80GB", "/c/demo/devices/gpu.nvidia.com/"),
        ("nvidia.com/gpu", "/c/demo/classes/gpu.nvidia.com/"),
    ],
)
def test_search_finds_names_and_attribute_values(
    text: str, found: str, demo: Cluster, viewer: Client
) -> None:
    assert found in viewer.get("/c/demo/search/", {"q": text}).content.decode()


def test_search_finds_what_pages_write_as_identifiers(
    demo: Cluster, viewer: Client
) -> None:
    device = Device.objects.first()
    node = Node.objects.exclude(uid="").first()
    assert device is not None
    assert node is not None
    for text, found in [
        (str(device), f"/devices/{device}/"),
        (f"{device.driver}/{device.pool}", f"/pools/{device.driver}/{device.pool}/"),
        ("team-a/train-4gpu", "/claims/team-a/train-4gpu/"),
        (node.uid, f"/nodes/{node.name}/"),
    ]:
        shown = page(viewer, f"/c/demo/search/?q={text}")
        assert f'href="/c/demo{found}"' in shown


def test_search_finds_taint_rules(demo: Cluster, viewer: Client) -> None:
    rule = DeviceTaintRule.objects.first()
    assert rule is not None
    shown = page(viewer, f"/c/demo/search/?q={rule.name}")
    assert f'href="/c/demo/taint-rules/{rule.name}/"' in shown


def test_the_list_behind_all_matches_has_what_search_found(
    demo: Cluster, viewer: Client
) -> None:
    """A template was found by its namespace, and the list does not look there."""
    template = ResourceClaimTemplate.objects.first()
    assert template is not None
    for number in range(12):
        template.pk = None
        template.name = f"more-{number}"
        template.namespace = "many"
        template.requests_text = "a gpu"
        template.save(force_insert=True)
    shown = page(viewer, "/c/demo/search/?q=many")
    assert "/templates/?q=many" not in shown
    shown = page(viewer, "/c/demo/search/?q=more-")
    assert "/templates/?q=more-" in shown
    assert "12 templates" in page(viewer, "/c/demo/templates/?q=more-")


@pytest.mark.parametrize(
    "text", ["", "x", "zzzzzz", "%' OR 1=1 --", "x" * 5000, "\x00a"]
)
def test_search_takes_any_text(text: str, demo: Cluster, viewer: Client) -> None:
    assert viewer.get("/c/demo/search/", {"q": text}).status_code == 200
