"""The generated cluster: valid, the same each time, and with room where it should be."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from cluster.standin.generator import generate
from cluster.standin.generator.waiting import WAITING
from dra.allocation import Fits, place
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot

Json = Any
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
OBJECTS = generate(now=NOW)
SNAPSHOT = Snapshot.build(OBJECTS)


def of_kind(kind: str) -> list[Json]:
    return [obj for obj in OBJECTS if obj["kind"] == kind]


def waiting(name: str) -> ResourceClaim:
    return next(c for c in SNAPSHOT.claims.values() if c.metadata.name == name)


def test_the_same_seed_and_moment_make_the_same_cluster() -> None:
    assert generate(now=NOW) == OBJECTS
    assert generate(now=NOW, seed=2) != OBJECTS


def test_every_object_can_be_read_and_has_its_own_name() -> None:
    assert SNAPSHOT.problems == ()
    names = Counter(
        (o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"])
        for o in OBJECTS
    )
    assert max(names.values()) == 1


def test_a_device_is_held_once_unless_it_is_shared_or_watched_over() -> None:
    held = Counter(
        (result["driver"], result["pool"], result["device"])
        for claim in of_kind("ResourceClaim")
        for result in claim["status"]
        .get("allocation", {})
        .get("devices", {})
        .get("results", [])
        if not result.get("adminAccess") and "shareID" not in result
    )
    assert held
    assert max(held.values()) == 1


def test_what_is_held_is_published() -> None:
    published = {
        (piece["spec"]["driver"], piece["spec"]["pool"]["name"], device["name"])
        for piece in of_kind("ResourceSlice")
        for device in piece["spec"].get("devices", [])
    }
    for claim in of_kind("ResourceClaim"):
        allocation = claim["status"].get("allocation", {"devices": {"results": []}})
        for result in allocation["devices"]["results"]:
            assert (result["driver"], result["pool"], result["device"]) in published


def test_slices_keep_the_limits_of_the_api() -> None:
    for piece in of_kind("ResourceSlice"):
        devices = piece["spec"].get("devices", [])
        special = any(d.get("taints") or d.get("consumesCounters") for d in devices)
        assert len(devices) <= (64 if special else 128)
        assert not (devices and piece["spec"].get("sharedCounters"))
        for device in devices:
            fields = {**device["attributes"], **device.get("capacity", {})}
            assert len(fields) <= 32
            for value in device["attributes"].values():
                assert len(value.get("string", "").encode()) <= 64


def test_one_pool_is_incomplete_and_one_device_tainted() -> None:
    incomplete = [key.name for key, pool in SNAPSHOT.pools.items() if not pool.complete]
    assert incomplete == ["gpu-a100-04"]
    tainted = [
        (piece["spec"]["pool"]["name"], device["name"])
        for piece in of_kind("ResourceSlice")
        for device in piece["spec"].get("devices", [])
        if device.get("taints")
    ]
    assert tainted == [("gpu-h100-03", "gpu-5")]


@pytest.mark.parametrize(
    "name", ["train-4gpu", "gpu-near-nic", "any-accelerator", "tokenizer-48cpus"]
)
def test_these_waiting_claims_fit(name: str) -> None:
    assert isinstance(place(SNAPSHOT, [waiting(name)]), Fits)


@pytest.mark.parametrize("name", ["blackwell-preview", "mega-train-16gpu"])
def test_these_waiting_claims_fit_nowhere(name: str) -> None:
    assert not isinstance(place(SNAPSHOT, [waiting(name)]), Fits)


def test_there_is_a_waiting_claim_of_each_sort() -> None:
    unallocated = {
        (namespace, name)
        for (namespace, name), claim in SNAPSHOT.claims.items()
        if claim.status.allocation is None
    }
    assert unallocated == {(namespace, name) for namespace, name, _, _ in WAITING}


def test_references_lead_to_objects() -> None:
    claims = {
        (c["metadata"]["namespace"], c["metadata"]["name"])
        for c in of_kind("ResourceClaim")
    }
    templates = {
        (t["metadata"]["namespace"], t["metadata"]["name"])
        for t in of_kind("ResourceClaimTemplate")
    }
    nodes = {node["metadata"]["name"] for node in of_kind("Node")}
    for pod in of_kind("Pod"):
        namespace = pod["metadata"]["namespace"]
        assert pod["spec"].get("nodeName") in (*nodes, None)
        for entry in pod["spec"]["resourceClaims"]:
            if "resourceClaimName" in entry:
                assert (namespace, entry["resourceClaimName"]) in claims
            else:
                assert (namespace, entry["resourceClaimTemplateName"]) in templates
        for entry in pod["status"].get("resourceClaimStatuses", []):
            assert (namespace, entry["resourceClaimName"]) in claims


def test_a_claim_asks_for_what_its_template_says() -> None:
    templates = {
        (t["metadata"]["namespace"], t["metadata"]["name"]): t["spec"]["spec"]
        for t in of_kind("ResourceClaimTemplate")
    }
    claims = {
        (c["metadata"]["namespace"], c["metadata"]["name"]): c["spec"]
        for c in of_kind("ResourceClaim")
    }
    for pod in of_kind("Pod"):
        namespace = pod["metadata"]["namespace"]
        made = {
            s["name"]: s["resourceClaimName"]
            for s in pod["status"].get("resourceClaimStatuses", [])
        }
        for entry in pod["spec"]["resourceClaims"]:
            template = entry.get("resourceClaimTemplateName")
            if template:
                claim = claims[namespace, made[entry["name"]]]
                assert claim == templates[namespace, template]


def test_ages_lie_between_minutes_and_months_before_now() -> None:
    for obj in OBJECTS:
        born = datetime.fromisoformat(obj["metadata"]["creationTimestamp"])
        assert 60 < (NOW - born).total_seconds() < 120 * 86400


@pytest.mark.parametrize("nodes", [0, 1, 3, 60])
def test_any_size_can_be_made(nodes: int) -> None:
    objects = generate(nodes=nodes, now=NOW)
    assert sum(obj["kind"] == "Node" for obj in objects) == nodes
    assert Snapshot.build(objects).problems == ()
