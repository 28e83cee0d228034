"""Findings over REST and as numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from allocator.findings import queries
from allocator.findings.queries import Number
from allocator.models import Finding
from dra.audits import Code
from tests.allocator.findings.conftest import World
from tests.dra.audits.faults import planted
from tests.dra.audits.world import clean, running

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
API = "/api/v1/findings/"


@pytest.fixture
def row(world: World) -> Finding:
    world.show(planted(Code.DEVICE_BOOKED_TWICE))
    world.look()
    return Finding.objects.get()


def get(client: Client, path: str = "") -> Json:
    answer = client.get(f"{API}{path}")
    assert answer.status_code == 200
    found: Json = answer.json()
    return found


def post(client: Client, row: Finding, **body: str) -> Any:
    address = f"{API}{row.pk}/acknowledge/"
    return client.post(address, body, content_type="application/json")


def test_the_list_tells_what_where_since_when_why_and_what_to_do(
    row: Finding, viewer: Client
) -> None:
    (found,) = get(viewer)["results"]
    assert found["code"] == "device-booked-twice"
    assert found["severity"] == "error"
    assert (found["kind"], found["name"]) == ("Pool", "gpu.example.com/n1")
    assert found["device"] == "gpu.example.com/n1/gpu-0"
    assert found["since"]
    assert found["why"].startswith("Two workloads use one device")
    assert found["evidence"]["claims"] == "default/a, default/again"


def test_one_tells_whom_it_concerns_and_the_steps(row: Finding, viewer: Client) -> None:
    found = get(viewer, f"{row.pk}/")
    concerned = {(one["kind"], one["name"]) for one in found["concerned"]}
    assert {
        ("ResourceClaim", "a"),
        ("ResourceClaim", "again"),
        ("Node", "n1"),
        ("Device", "gpu.example.com/n1/gpu-0"),
    } <= concerned
    assert found["steps"][0]["command"] == "kubectl cordon n1"


def test_pages_follow_each_other(world: World, viewer: Client) -> None:
    more = [o for n in range(1, 6) for o in running(f"z{n}", "gpu-9", on=f"n{n}")]
    world.show([*clean(), *more])
    world.look()
    first = get(viewer, "?limit=2&cluster=lab")
    assert len(first["results"]) == 2
    second = viewer.get(first["next"]).json()
    assert len(second["results"]) == 2
    assert second["results"][0]["id"] not in {one["id"] for one in first["results"]}


@pytest.mark.parametrize("query", ["severity=bad", "code=x", "cluster=none", "state=x"])
def test_a_filter_that_cannot_be_is_refused(
    query: str, row: Finding, viewer: Client
) -> None:
    assert viewer.get(f"{API}?{query}").status_code == 400


def test_the_list_takes_the_same_queries_for_any_number(
    row: Finding,
    world: World,
    viewer: Client,
    django_assert_num_queries: Callable[[int], AbstractContextManager[object]],
) -> None:
    with django_assert_num_queries(4):
        get(viewer)
    more = [o for n in range(1, 6) for o in running(f"z{n}", "gpu-9", on=f"n{n}")]
    world.show([*clean(), *more])
    world.look()
    with django_assert_num_queries(4):
        get(viewer)


def test_an_operator_acknowledges_and_takes_it_back(
    row: Finding, operator: Client
) -> None:
    answer = post(operator, row, reason="known")
    assert answer.status_code == 200
    assert answer.json()["acknowledged_by"] == "a-operator"
    assert get(operator, "?acknowledged=false")["results"] == []
    answer = operator.delete(f"{API}{row.pk}/acknowledge/")
    assert answer.json()["acknowledged_at"] is None


def test_acknowledging_needs_the_role_a_reason_and_something_that_lasts(
    row: Finding, world: World, viewer: Client, operator: Client
) -> None:
    assert post(viewer, row, reason="known").status_code == 403
    for body in ({}, {"reason": " "}, {"reason": "x" * 1001}):
        answer = post(operator, row, **body)
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["field"] == "reason"
    world.show(clean())
    world.look()
    answer = post(operator, row, reason="known")
    assert answer.status_code == 409
    assert "has ended" in answer.json()["detail"]


def test_numbers_count_by_code_and_severity(
    row: Finding, operator: Client, world: World
) -> None:
    code = "device-booked-twice"
    assert queries.open_by_code() == [Number("lab", code, "error", False, 1)]
    post(operator, row, reason="known")
    assert queries.open_by_code() == [Number("lab", code, "error", True, 1)]
    text = operator.get("/metrics").content.decode()
    samples = {
        sample.name: sample
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["dra_portal_findings"].value == 1
    assert samples["dra_portal_findings"].labels["acknowledged"] == "true"
    assert samples["dra_portal_findings_age_seconds"].value < 60
