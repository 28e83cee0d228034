"""Pages of claims, templates and pods on the demo's cluster."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.test import Client

from claims.models import Pod, ResourceClaim, ResourceClaimTemplate
from inventory.models import Cluster
from tests.mirrored import mirror, mirror_demo

HTMX = {"HX-Request": "true"}
LISTS = ["claims", "templates", "pods"]
Queries = Callable[[int], AbstractContextManager[object]]


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo()


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def text(client: Client, path: str, target: str = "") -> str:
    headers = HTMX | {"HX-Target": target} if target else {}
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_a_whole_page_and_its_fragment_is_not(
    name: str, demo: Cluster, viewer: Client
) -> None:
    page = text(viewer, f"/c/demo/{name}/")
    fragment = text(viewer, f"/c/demo/{name}/", "results")
    assert "<html" in page
    assert "<html" not in fragment
    assert 'id="results"' in fragment


def test_every_column_that_may_be_chosen_has_a_name(
    demo: Cluster, client_of: Callable[..., Client]
) -> None:
    page = text(client_of("operator"), "/c/demo/claims/")
    names = re.findall(r'name="cols"[^>]*><span>([^<]*)</span>', page)
    assert len(names) > 5
    assert all(names)


def test_a_pod_of_a_group_says_why_it_is_there_without_a_claim(
    db: None, viewer: Client
) -> None:
    meta = {"name": "member", "namespace": "team", "uid": "uid-member"}
    spec = {"schedulingGroup": {"podGroupName": "gang"}, "containers": []}
    mirror([{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}])
    page = text(viewer, f"/c/{Cluster.objects.get().name}/pods/team/member/")
    assert 'its pod group <span class="mono">gang</span> counts it' in page


@pytest.mark.parametrize("name", LISTS)
def test_an_empty_cluster_says_so(name: str, db: None, viewer: Client) -> None:
    mirror([])
    assert "No " in text(viewer, f"/c/demo/{name}/")


@pytest.mark.parametrize(
    ("name", "queries"), [("claims", 17), ("templates", 12), ("pods", 14)]
)
def test_a_list_costs_the_same_queries_for_any_number_of_rows(
    name: str,
    queries: int,
    demo: Cluster,
    viewer: Client,
    django_assert_num_queries: Queries,
) -> None:
    with django_assert_num_queries(queries):
        text(viewer, f"/c/demo/{name}/?size=200")


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_list_is_exported(
    name: str, form: str, demo: Cluster, viewer: Client
) -> None:
    answer = viewer.get(f"/c/demo/{name}/?format={form}")
    body = b"".join(answer.streaming_content)  # type: ignore[attr-defined]  # a streamed answer
    assert b"team-a/" in body


def test_who_uses_a_claim_and_why_one_waits_share_a_column(
    demo: Cluster, viewer: Client
) -> None:
    shown = text(viewer, "/c/demo/claims/")
    assert "Used by, or why it waits" in shown
    assert ">Used by</th>" not in shown
    pending = text(viewer, "/c/demo/claims/?state=pending")
    assert ">Holds</th>" not in pending
    answer = viewer.get("/c/demo/claims/?format=csv")
    body = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]  # a streamed answer
    header = body.splitlines()[0].split(",")
    assert {"devices", "consumers", "waiting"} <= set(header)
    assert "use" not in header


def test_every_claim_template_and_pod_has_a_page_and_its_yaml(
    demo: Cluster, viewer: Client
) -> None:
    rows = [
        *[("claims", row) for row in ResourceClaim.objects.all()],
        *[("templates", row) for row in ResourceClaimTemplate.objects.all()],
        *[("pods", row) for row in Pod.objects.all()[:10]],
    ]
    for name, row in rows:
        address = f"/c/demo/{name}/{row.namespace}/{row.name}/"
        assert row.name in text(viewer, address)
        assert "apiVersion" in text(viewer, f"{address}yaml/")


@pytest.mark.parametrize(
    "page", ["claims/team-a/none/", "pods/x/y/", "templates/x/y/yaml/"]
)
def test_something_that_is_gone_is_a_clear_404(
    page: str, demo: Cluster, viewer: Client
) -> None:
    answer = viewer.get(f"/c/demo/{page}")
    assert answer.status_code == 404
    assert "any more" in answer.content.decode()


def test_only_an_operator_sees_the_button(
    demo: Cluster, viewer: Client, client_of: Callable[..., Client]
) -> None:
    path = "/c/demo/claims/team-a/train-4gpu/"
    assert "runs/start/" not in text(viewer, path)
    operator = text(client_of("operator"), path)
    assert "runs/start/" in operator
    assert ">Allocate</button>" in operator


def test_a_read_only_cluster_offers_a_plan_and_no_write(
    demo: Cluster, client_of: Callable[..., Client]
) -> None:
    Cluster.objects.update(read_only=True)
    page = text(client_of("operator"), "/c/demo/claims/team-a/train-4gpu/")
    assert ">Allocate</button>" not in page
    assert ">Show the plan</button>" in page


def test_a_live_fragment_brings_the_state_on_top_along(
    demo: Cluster, viewer: Client
) -> None:
    fragment = text(viewer, "/c/demo/claims/team-a/train-4gpu/", "claim-body")
    assert 'id="claim-body"' in fragment
    assert 'id="heading-badges"' in fragment
    assert 'hx-swap-oob="true"' in fragment


def test_an_allocated_claim_shows_each_request_beside_its_devices(
    demo: Cluster, viewer: Client
) -> None:
    claim = ResourceClaim.objects.filter(device_count__gt=0, state="in use").first()
    assert claim is not None
    page = text(viewer, f"/c/demo/claims/{claim.namespace}/{claim.name}/")
    for result in claim.devices.all():
        assert f"/devices/{result.driver}/{result.pool}/{result.device}/" in page
    for consumer in claim.consumers.all():
        assert consumer.name in page


@pytest.mark.parametrize("name", ["%00", "%2500", "a%2500b"])
def test_a_name_with_nul_is_nothing(name: str, demo: Cluster, viewer: Client) -> None:
    assert viewer.get(f"/c/demo/claims/team-a/{name}/").status_code == 404
