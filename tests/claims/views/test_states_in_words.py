"""What pages say of claims and pods that go away."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from claims.queries.namespaces import waiting_pods
from inventory.models import Cluster
from tests.inventory.views.conftest import claim, named, slice_
from tests.mirrored import mirror

Json = dict[str, Any]


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def words(client: Client, address: str) -> str:
    page = client.get(address).content.decode()
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)))


def leaving(obj: Json, *finalizers: str) -> Json:
    obj["metadata"] |= {
        "deletionTimestamp": "2026-01-15T08:00:00Z",
        "finalizers": list(finalizers),
    }
    return obj


def pod(name: str, phase: str, **more: Any) -> Json:
    entry = {"name": "a", "resourceClaimName": "held"}
    made = named("Pod", name, {"resourceClaims": [entry], **more}, namespace="team")
    return made | {"status": {"phase": phase}}


@pytest.fixture
def lab(db: None) -> Cluster:
    devices = [{"name": name} for name in ("d0", "d1")]
    user = {"resource": "pods", "name": "p", "uid": "uid-p"}
    used = leaving(claim("used", {"device": "d1"}), "x.example/keep")
    used["status"]["reservedFor"] = [user]
    return mirror(
        [
            named("Node", "n1", {}),
            named("Namespace", "team", {}),
            slice_("s1", devices),
            leaving(claim("stuck", {"device": "d0"}), "x.example/keep"),
            used,
            claim("waits"),
            pod("waits", "Pending"),
            pod("ended", "Failed"),
            pod("placed", "Pending", nodeName="n1"),
            leaving(pod("going", "Pending"), "x.example/keep"),
        ],
        name="lab",
    )


def test_a_claim_that_is_being_deleted_holds_its_devices_still(
    lab: Cluster, viewer: Client
) -> None:
    said = words(viewer, "/c/lab/claims/")
    assert "2 of 3 claims hold devices; 1 waits." in said


def test_a_claim_that_nobody_uses_and_that_does_not_go_says_what_keeps_it(
    lab: Cluster, viewer: Client
) -> None:
    said = words(viewer, "/c/lab/claims/team/stuck/")
    assert (
        "It is being deleted and still holds 1 device. Nobody has it reserved: it goes "
        "when its finalizers are gone (x.example/keep)." in said
    )
    said = words(viewer, "/c/lab/claims/team/used/")
    assert "It is being deleted and goes when its last consumer has ended." in said


def test_a_pod_that_has_ended_or_goes_away_waits_for_no_node(
    lab: Cluster, viewer: Client
) -> None:
    url = "/api/v1/pods/?cluster=lab&waiting="
    waiting = viewer.get(f"{url}true").json()["results"]
    assert [found["name"] for found in waiting] == ["waits"]
    others = viewer.get(f"{url}false").json()["results"]
    assert {found["name"] for found in others} == {"ended", "placed", "going"}
    assert waiting_pods(lab, ["team"]) == {"team": 1}
