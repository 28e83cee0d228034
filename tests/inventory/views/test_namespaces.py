"""Namespaces: the list and the page of one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.test import Client

from allocator import snapshots
from claims.models import AllocatedDevice, Pod, ResourceClaim, ResourceClaimTemplate
from inventory.models import Cluster, Namespace
from tests.allocator import builders as build
from tests.mirrored import mirror_demo

type CountQueries = Callable[[int], AbstractContextManager[Any]]
type Rows = dict[str, dict[str, Any]]


def table(viewer: Client, query: str = "") -> Rows:
    answer = viewer.get(f"/c/demo/namespaces/?format=json{query}")
    return {row["name"]: row for row in json.loads(answer.getvalue())}


def test_the_list_says_what_claims_hold_and_wait_for(
    viewer: Client, demo: Cluster
) -> None:
    rows = table(viewer)
    assert set(rows) == set(Namespace.objects.values_list("name", flat=True))
    for name, row in rows.items():
        claims = ResourceClaim.objects.filter(namespace=name)
        assert row["claims"] == claims.count()
        held = AllocatedDevice.objects.filter(claim__in=claims, admin_access=False)
        assert row["held"] == held.count()
        waits = Pod.objects.filter(namespace=name, node_name="").count()
        assert row["waiting"] == waits
        for state, number in Counter(claims.values_list("state", flat=True)).items():
            assert f"{number} {state}" in row["states"]
    assert sum(row["held"] for row in rows.values()) > 0


def test_devices_are_told_by_the_class_of_their_request(
    viewer: Client, demo: Cluster
) -> None:
    """As the snapshot says it, request by request."""
    expected: Counter[tuple[str, str]] = Counter()
    for claim in snapshots.current(demo).claims.values():
        classes = {}
        for request in claim.spec.devices.requests or ():
            if request.exactly is not None:
                classes[request.name] = request.exactly.device_class_name
            for sub in request.first_available or ():
                classes[f"{request.name}/{sub.name}"] = sub.device_class_name
        allocation = claim.status.allocation
        for result in (allocation.devices.results or ()) if allocation else ():
            if not result.admin_access:
                expected[claim.metadata.namespace, classes[result.request]] += 1
    found: Counter[tuple[str, str]] = Counter()
    for name, row in table(viewer).items():
        for part in filter(None, row["classes"].split(", ")):
            class_name, _, number = part.rpartition(": ")
            found[name, class_name] += int(number)
    assert found == expected


@pytest.mark.parametrize("sort", ["claims", "held", "waiting", "name"])
def test_it_sorts_by_what_it_counts(sort: str, viewer: Client, demo: Cluster) -> None:
    up = [row[sort] for row in table(viewer, f"&sort={sort}").values()]
    down = [row[sort] for row in table(viewer, f"&sort=-{sort}").values()]
    assert up == sorted(up)
    assert down == sorted(down, reverse=True)


def test_a_namespace_has_its_claims_templates_pods_and_chart(
    viewer: Client, demo: Cluster
) -> None:
    claim = ResourceClaim.objects.filter(state="in use").first()
    assert claim is not None
    here = f"/c/demo/namespaces/{claim.namespace}/"
    page = viewer.get(here).text
    assert f'href="/c/demo/claims/{claim.namespace}/{claim.name}/"' in page
    assert f'hx-get="/c/demo/usage/?by=namespace&amp;name={claim.namespace}"' in page
    assert f"?release={claim.namespace}" in page
    assert 'href="/c/demo/namespaces/"' in page
    template = ResourceClaimTemplate.objects.filter(namespace=claim.namespace).first()
    if template is not None:
        assert template.name in viewer.get(f"{here}?tab=templates").text
    for tab in ("templates", "pods", "findings", "changes"):
        assert viewer.get(f"{here}?tab={tab}").status_code == 200


def test_a_new_claim_begins_in_the_namespace(
    client_of: Callable[..., Client], demo: Cluster
) -> None:
    name = Namespace.objects.values_list("name", flat=True)[0]
    here = f"/c/demo/namespaces/{name}/"
    assert "New claim" not in client_of("viewer").get(here).text
    operator = client_of("operator")
    assert "New claim" in operator.get(here).text
    begun = {"from": "blank", "kind": "ResourceClaim", "namespace": name}
    draft = operator.post("/c/demo/claims/new/", begun, follow=True)
    assert f"namespace: {name}" in draft.text


def test_what_is_wrong_and_what_happened_stand_on_its_page(
    client_of: Callable[..., Client], db: None
) -> None:
    lab = build.Mirror()
    lab.replace(build.lab())
    lab.put(build.allocated("one", build.result("n0", "gpu-0")))
    viewer = client_of("viewer")
    page = viewer.get("/c/lab/namespaces/lab/?tab=changes").text
    assert "Allocated 1 device" in page
    assert (
        "Nothing is wrong here"
        in viewer.get("/c/lab/namespaces/lab/?tab=findings").text
    )


def test_a_dump_without_namespaces_names_those_of_its_claims(
    client_of: Callable[..., Client], db: None
) -> None:
    lab = build.Mirror()
    objects = [one for one in build.lab() if one["kind"] != "Namespace"]
    lab.replace([*objects, build.claim("old")])
    viewer = client_of("viewer")
    text = viewer.get("/c/lab/namespaces/").text
    assert "Not in this list, but in claims" in text
    assert 'href="/c/lab/namespaces/lab/"' in text
    page = viewer.get("/c/lab/namespaces/lab/").text
    assert "It has 1 claim" in page
    assert "/namespaces/lab/yaml/" not in page
    assert viewer.get("/c/lab/namespaces/nowhere/").status_code == 404


def test_search_finds_it(viewer: Client, demo: Cluster) -> None:
    assert "/c/demo/namespaces/team-a/" in viewer.get("/c/demo/search/?q=team-a").text


def test_the_page_takes_a_fixed_number_of_queries(
    viewer: Client, demo: Cluster, django_assert_max_num_queries: CountQueries
) -> None:
    mirror_demo(nodes=14, name="larger")
    for cluster in ("demo", "larger"):
        viewer.get(f"/c/{cluster}/namespaces/team-a/")
        for tab in ("claims", "templates", "pods", "findings", "changes"):
            with django_assert_max_num_queries(20):
                viewer.get(f"/c/{cluster}/namespaces/team-a/?tab={tab}")
