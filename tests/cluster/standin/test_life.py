"""Life: what one step does, and that the cluster neither grows nor breaks."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from cluster.standin.generator import generate
from cluster.standin.life import LABEL, TAINT_KEY, Life
from cluster.standin.store import Store
from dra.snapshot import Snapshot

Json = Any
FINALIZER = "resource.kubernetes.io/delete-protection"


@pytest.fixture
def store() -> Store:
    filled = Store()
    filled.load(generate())
    return filled


def own_pods(store: Store) -> list[Json]:
    return [
        pod
        for pod in store.objects("Pod")
        if LABEL in (pod["metadata"].get("labels") or {})
    ]


def quiet(store: Store, *, seed: int = 1) -> Life:
    """Life in which nothing happens by itself."""
    life = Life(store, seed=seed)
    life._act = lambda: ""  # type: ignore[method-assign]  # steps without events of their own
    return life


def claims_of(store: Store, pod: Json) -> list[Json]:
    names = {s["resourceClaimName"] for s in pod["status"]["resourceClaimStatuses"]}
    found = [store.get("ResourceClaim", n, pod["metadata"]["namespace"]) for n in names]
    return [claim for claim in found if claim]


def test_a_pod_gets_its_claim_its_devices_and_its_node(store: Store) -> None:
    life = quiet(store)
    life.arrive()
    life.step()
    life.step()
    (pod,) = own_pods(store)
    assert pod["status"]["phase"] == "Running"
    assert pod["spec"]["nodeName"]
    (claim,) = claims_of(store, pod)
    meta = claim["metadata"]
    assert meta["name"].startswith(f"{pod['metadata']['name']}-devices-")
    assert meta["annotations"] == {"resource.kubernetes.io/pod-claim-name": "devices"}
    assert meta["ownerReferences"][0]["uid"] == pod["metadata"]["uid"]
    assert meta["finalizers"] == [FINALIZER]
    allocation = claim["status"]["allocation"]
    assert allocation["allocationTimestamp"]
    assert claim["status"]["reservedFor"] == [
        {
            "resource": "pods",
            "name": pod["metadata"]["name"],
            "uid": pod["metadata"]["uid"],
        }
    ]


def test_when_the_pod_ends_its_claim_goes_too(store: Store) -> None:
    life = quiet(store)
    before = len(store.objects("ResourceClaim"))
    life.arrive()
    life.step()
    life.step()
    assert len(store.objects("ResourceClaim")) == before + 1
    life.leave()
    life.step()
    assert own_pods(store) == []
    assert len(store.objects("ResourceClaim")) == before


def test_claims_that_no_pod_refers_to_are_left_to_people(store: Store) -> None:
    life = Life(store, seed=5)
    for _ in range(30):
        life.step()
    for name in ("train-4gpu", "gpu-near-nic"):
        claim = store.get("ResourceClaim", name, "team-a")
        assert claim is not None
        assert claim["status"] == {}


def test_an_allocation_by_hand_is_used_and_not_replaced(store: Store) -> None:
    result = {
        "request": "gpus",
        "driver": "gpu.nvidia.com",
        "pool": "gpu-h100-08",
        "device": "gpu-7",
    }
    field = {"key": "metadata.name", "operator": "In", "values": ["gpu-h100-08"]}
    allocation = {
        "devices": {"results": [result]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
        "allocationTimestamp": "2026-12-01T00:00:00Z",
    }
    claim = store.get("ResourceClaim", "train-4gpu", "team-a")
    assert claim is not None
    store.put({**claim, "status": {"allocation": allocation}})
    life = quiet(store)
    life.step()
    kept = store.get("ResourceClaim", "train-4gpu", "team-a")
    assert kept is not None
    assert kept["status"] == {"allocation": allocation}
    ref = {"name": "gpus", "resourceClaimName": "train-4gpu"}
    store.put(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "user", "namespace": "team-a"},
            "spec": {"resourceClaims": [ref]},
            "status": {"phase": "Pending"},
        }
    )
    life.step()
    pod = store.get("Pod", "user", "team-a")
    assert pod is not None
    assert pod["spec"]["nodeName"] == "gpu-h100-08"
    store.delete("Pod", "user", "team-a")
    claim["metadata"]["finalizers"] = []
    life.step()
    left = store.get("ResourceClaim", "train-4gpu", "team-a")
    assert left is not None
    assert "reservedFor" not in left["status"]


def test_a_pod_that_fits_nowhere_is_told_so_once(store: Store) -> None:
    ref = {"name": "gpus", "resourceClaimName": "mega-train-16gpu"}
    store.put(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "hopeless", "namespace": "team-b"},
            "spec": {"resourceClaims": [ref]},
        }
    )
    life = quiet(store)
    life.step()
    pod = store.get("Pod", "hopeless", "team-b")
    assert pod is not None
    (condition,) = pod["status"]["conditions"]
    assert condition["reason"] == "Unschedulable"
    assert condition["message"].startswith("0/20 nodes are available: ")
    version = store.version
    life.step()
    assert store.version == version


def test_a_device_is_tainted_and_well_again(store: Store) -> None:
    life = quiet(store)

    def tainted() -> int:
        return sum(
            taint["key"] == TAINT_KEY
            for piece in store.objects("ResourceSlice")
            for device in piece["spec"].get("devices", [])
            for taint in device.get("taints", [])
        )

    life.taint()
    assert tainted() == 1
    life.taint()
    assert tainted() == 0


def test_a_pool_is_republished_in_two_steps(store: Store) -> None:
    def incomplete() -> set[str]:
        pools = Snapshot.build(store.objects("ResourceSlice")).pools
        return {key.name for key, pool in pools.items() if not pool.complete}

    life = Life(store)
    assert incomplete() == {"gpu-a100-04"}
    life.republish()
    assert len(incomplete()) == 2
    life.step()
    assert incomplete() == {"gpu-a100-04"}


def test_a_long_life_stays_bounded_and_books_nothing_twice() -> None:
    store = Store()
    store.load(generate(nodes=8))
    life = Life(store, seed=11, max_pods=4)
    before = Counter(
        obj["kind"]
        for kind in ("Pod", "ResourceClaim", "ResourceSlice")
        for obj in store.objects(kind)
    )
    for _ in range(150):
        life.step()
        assert len(own_pods(store)) <= 4
    after = Counter(
        obj["kind"]
        for kind in ("Pod", "ResourceClaim", "ResourceSlice")
        for obj in store.objects(kind)
    )
    assert after["ResourceSlice"] == before["ResourceSlice"]
    assert after["Pod"] <= before["Pod"] + 4
    assert after["ResourceClaim"] <= before["ResourceClaim"] + 4
    held = Counter(
        (result["driver"], result["pool"], result["device"])
        for claim in store.objects("ResourceClaim")
        for result in claim["status"]
        .get("allocation", {})
        .get("devices", {})
        .get("results", [])
        if not result.get("adminAccess") and "shareID" not in result
    )
    assert max(held.values()) == 1


def test_life_in_an_empty_cluster_does_nothing() -> None:
    life = Life(Store())
    for _ in range(5):
        assert life.step() == []


def test_life_as_a_thread_stops_when_told(store: Store) -> None:
    life = Life(store, interval=0.01)
    before = store.version
    life.start()
    while store.version == before:
        time.sleep(0.01)
    life.stop()
    settled = store.version
    assert settled > before


def test_life_can_leave_the_scheduling_to_a_control_plane(store: Store) -> None:
    life = Life(store, interval=3600, scheduling=False)
    life.arrive()
    with ControlPlane(store, Habits(delay=0.01)):
        deadline = time.monotonic() + 60
        while not own_pods(store)[0]["spec"].get("nodeName"):
            assert time.monotonic() < deadline
            life._act = lambda: ""  # type: ignore[method-assign]  # nothing of its own
            assert life.step() == []
            time.sleep(0.01)
    (pod,) = own_pods(store)
    (claim,) = claims_of(store, pod)
    assert claim["status"]["reservedFor"][0]["uid"] == pod["metadata"]["uid"]
