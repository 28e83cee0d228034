"""Claims, templates and pods → columns and rows below them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from claims.mirror.columns import (
    claim_columns,
    claim_state,
    consumer_rows,
    device_rows,
    has_claims,
    pod_claims,
    pod_columns,
    request_rows,
)
from dra import objects

Json = dict[str, Any]


def read_claim(**fields: Any) -> objects.ResourceClaim:
    return objects.read(fields, objects.ResourceClaim)


def allocated(**allocation: Any) -> objects.ResourceClaim:
    return read_claim(status={"allocation": allocation})


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ("", "pending"),
        ("reserved", "pending"),
        ("allocated", "allocated"),
        ("allocated reserved", "reserved"),
        ("allocated reserved running", "in use"),
        ("allocated reserved running deleting", "deleting"),
        ("deleting", "deleting"),
    ],
)
def test_the_state_is_the_furthest_that_the_claim_got(facts: str, state: str) -> None:
    words = facts.split()
    found = claim_state(
        deleting="deleting" in words,
        allocated="allocated" in words,
        reserved="reserved" in words,
        running="running" in words,
    )
    assert found == state


@pytest.mark.parametrize(
    "allocation", [{}, {"devices": {}}, {"devices": {"results": None, "config": None}}]
)
def test_an_allocation_without_devices_is_one(allocation: Json) -> None:
    found = claim_columns(allocated(**allocation))
    assert (found["allocated"], found["device_count"]) == (True, 0)
    assert device_rows(allocated(**allocation)) == []


@pytest.mark.parametrize(
    "status", [None, {}, {"allocation": None, "reservedFor": None}]
)
def test_an_empty_status_is_pending(status: Json | None) -> None:
    raw = {} if status is None else {"status": status}
    found = claim_columns(read_claim(**raw))
    assert (found["allocated"], found["consumer_count"]) == (False, 0)


def test_a_claim_may_ask_for_nothing_at_all() -> None:
    claim = read_claim(spec={"devices": {}})
    assert claim_columns(claim)["requests_text"] == "no requests"
    assert list(request_rows(claim.spec)) == []


def term(*fields: Json, **more: Any) -> Json:
    return {"matchFields": list(fields), **more}


def named(*names: str, operator: str = "In", key: str = "metadata.name") -> Json:
    return {"key": key, "operator": operator, "values": list(names)}


@pytest.mark.parametrize(
    ("terms", "node"),
    [
        ([term(named("n1"))], "n1"),
        ([term(named("n1", "n2"))], ""),
        ([term(named("n1")), term(named("n2"))], ""),
        ([term(named("n1", operator="NotIn"))], ""),
        ([term(named("n1", key="other"))], ""),
        ([term(named("n1"), matchExpressions=[named("a", key="zone")])], ""),
        ([], ""),
        (None, ""),
    ],
)
def test_the_node_is_told_only_when_the_selector_names_one(
    terms: list[Json] | None, node: str
) -> None:
    found = claim_columns(allocated(nodeSelector={"nodeSelectorTerms": terms}))
    assert found["node_name"] == node


def test_a_claim_tells_owner_time_and_admin_access() -> None:
    owners = [
        {"kind": "Job", "name": "j", "uid": "1"},
        {"kind": "Pod", "name": "p", "uid": "2", "controller": True},
    ]
    requests = [{"name": "r", "exactly": {"deviceClassName": "c", "adminAccess": True}}]
    found = claim_columns(
        read_claim(
            metadata={"ownerReferences": owners},
            spec={"devices": {"requests": requests}},
            status={"allocation": {"allocationTimestamp": "2026-01-15T08:00:00Z"}},
        )
    )
    assert (found["owner_kind"], found["owner_name"]) == ("Pod", "p")
    assert found["allocated_at"] == datetime(2026, 1, 15, 8, tzinfo=UTC)
    assert found["admin_access"]


def test_each_alternative_is_a_row() -> None:
    spec = objects.read(
        {
            "devices": {
                "requests": [
                    {
                        "name": "any",
                        "firstAvailable": [
                            {"name": "a", "deviceClassName": "x", "count": 2},
                            {"name": "b", "deviceClassName": "y"},
                        ],
                    },
                    {
                        "name": "all",
                        "exactly": {"deviceClassName": "z", "allocationMode": "All"},
                    },
                    {"name": "future"},
                ]
            }
        },
        objects.ResourceClaimSpec,
    )
    rows = [
        (r["position"], r["name"], r["subrequest"], r["class_name"], r["count"])
        for r in request_rows(spec)
    ]
    assert rows == [
        (0, "any", "a", "x", 2),
        (1, "any", "b", "y", 1),
        (2, "all", "", "z", 0),
        (3, "future", "", "", 1),
    ]


def test_shares_keep_their_id_and_what_they_consume() -> None:
    result = {
        "request": "r",
        "driver": "d",
        "pool": "p",
        "device": "x",
        "shareID": "s",
        "consumedCapacity": {"cpu": "16"},
    }
    (row,) = device_rows(allocated(devices={"results": [result]}))
    assert (row["share_id"], row["consumed_capacity"]) == ("s", {"cpu": "16"})


def test_consumers_may_be_of_any_kind() -> None:
    consumer = {
        "apiGroup": "scheduling.k8s.io",
        "resource": "podgroups",
        "name": "g",
        "uid": "u",
    }
    (row,) = consumer_rows(read_claim(status={"reservedFor": [consumer]}))
    assert (row["api_group"], row["resource"]) == ("scheduling.k8s.io", "podgroups")


def read_pod(**fields: Any) -> objects.Pod:
    return objects.read(fields, objects.Pod)


def test_a_pod_tells_what_the_scheduler_said() -> None:
    conditions = [
        {"type": "Ready", "status": "False", "message": "no"},
        {"type": "PodScheduled", "status": "False", "message": "0/3 nodes"},
    ]
    found = pod_columns(read_pod(status={"phase": "Pending", "conditions": conditions}))
    assert found["scheduling_message"] == "0/3 nodes"
    conditions[1]["status"] = "True"
    found = pod_columns(read_pod(status={"conditions": conditions}))
    assert found["scheduling_message"] == ""


def test_a_claim_of_a_template_has_no_name_until_it_is_generated() -> None:
    entries = [
        {"name": "a", "resourceClaimTemplateName": "t"},
        {"name": "b", "resourceClaimName": "c"},
    ]
    raw: Json = {"spec": {"resourceClaims": entries}, "status": {}}
    assert pod_claims(read_pod(**raw), raw) == [("a", "", "t"), ("b", "c", "")]
    raw["status"] = {
        "resourceClaimStatuses": [{"name": "a", "resourceClaimName": "p-a-x"}],
        "extendedResourceClaimStatus": {"resourceClaimName": "p-ext"},
    }
    assert pod_claims(read_pod(**raw), raw) == [
        ("a", "p-a-x", "t"),
        ("b", "c", ""),
        ("extended resources", "p-ext", ""),
    ]


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ({}, False),
        ({"spec": None, "status": None}, False),
        ({"spec": {"resourceClaims": []}}, False),
        ({"spec": {"resourceClaims": [{"name": "a"}]}}, True),
        ({"status": {"extendedResourceClaimStatus": None}}, False),
        ({"status": {"extendedResourceClaimStatus": {"resourceClaimName": "x"}}}, True),
    ],
)
def test_only_pods_with_claims_are_kept(raw: Json, *, kept: bool) -> None:
    assert has_claims(raw) is kept
