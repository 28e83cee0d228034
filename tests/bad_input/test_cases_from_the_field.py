"""Oddities that real drivers and clusters have shown: mirror, pages and API agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from claims.models import ResourceClaim
from cluster.dump import read_dump
from inventory.models import Device, DeviceClass, Pool
from inventory.queries.devices import devices_of_pool
from tests.inventory.mirror.worlds import Json, claim, make, slice_
from tests.mirrored import mirror

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def page(viewer: Client, address: str) -> str:
    answer = viewer.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def api(viewer: Client, address: str) -> list[Json]:
    found: list[Json] = viewer.get(f"/api/v1/{address}").json()["results"]
    return found


def test_values_of_an_old_driver_are_found_as_they_were_published(
    viewer: Client, tmp_path: Path
) -> None:
    attributes = {
        "alias": {"string": ""},
        "numa_node": {"int": -1},
        "bus": {"string": "00"},
        "rdma": {"bool": False},
    }
    old = slice_("net", devices=[{"name": "eth", "basic": {"attributes": attributes}}])
    old["apiVersion"] = "resource.k8s.io/v1beta1"
    (tmp_path / "dump.json").write_text(json.dumps(old))
    dump = read_dump([tmp_path / "dump.json"])
    mirror(dump.objects["ResourceSlice"])
    (device,) = Device.objects.all()
    assert device.attributes["gpu.example.com/alias"] == {"string": ""}
    for condition in ("numa_node=-1", "alias=", "bus=00", "rdma=false"):
        address = f"devices/?cluster=demo&attr=gpu.example.com/{condition}"
        assert [d["name"] for d in api(viewer, address)] == ["eth"]
    assert not api(viewer, "devices/?cluster=demo&attr=gpu.example.com/bus=0")


def test_one_uuid_on_two_devices_is_two_devices(viewer: Client) -> None:
    uuid = {"uuid": {"string": "tpu-25541d5c"}}
    devices = [{"name": f"accel{i}", "attributes": uuid} for i in range(2)]
    mirror([slice_("tpu", devices=devices)])
    found = api(viewer, "devices/?cluster=demo&q=tpu-25541d5c")
    assert [d["name"] for d in found] == ["accel0", "accel1"]
    text = page(viewer, "/c/demo/search/?q=tpu-25541d5c")
    assert "accel0" in text
    assert "accel1" in text


def test_a_pool_without_devices_is_a_pool(viewer: Client) -> None:
    mirror([slice_("empty", devices=[])])
    pool = Pool.objects.get()
    assert (pool.complete, pool.valid, pool.device_count) == (True, True, 0)
    page(viewer, "/c/demo/pools/gpu.example.com/node-1/")


def test_a_pool_of_several_slices_is_one_pool_in_its_order(viewer: Client) -> None:
    pieces = [
        slice_(f"{i}-part", count=3, devices=[f"cpu-{i * 64 + n}" for n in range(64)])
        for i in (2, 0, 1)
    ]
    mirror(pieces)
    pool = Pool.objects.get()
    assert (pool.complete, pool.device_count, pool.slices_present) == (True, 192, 3)
    page(viewer, "/c/demo/pools/gpu.example.com/node-1/")
    found = devices_of_pool(pool.cluster, pool.driver, pool.name)
    assert [d.name for d in found] == [f"cpu-{n}" for n in range(192)]


def test_slices_that_announce_different_counts_make_no_free_device() -> None:
    mirror([slice_("a", count=1), slice_("b", count=2, devices=["gpu-9"])])
    pool = Pool.objects.get()
    assert not pool.complete
    assert "announce different counts: 1 and 2" in pool.problem
    assert set(Device.objects.values_list("state", flat=True)) == {"incomplete"}


def test_a_claim_shared_by_256_consumers_names_those_that_are_no_pods(
    viewer: Client,
) -> None:
    shared = claim("fabric", "gpu-0")
    group = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups"}
    pods = [
        {"resource": "pods", "name": f"late-{i}", "uid": f"u{i}"} for i in range(255)
    ]
    shared["status"]["reservedFor"] = [group | {"name": "training", "uid": "g"}, *pods]
    mirror([slice_("s"), shared])
    assert ResourceClaim.objects.get().consumer_count == 256
    text = page(viewer, "/c/demo/claims/default/fabric/")
    assert "training" in text
    assert "podgroups" in text
    page(viewer, "/c/demo/claims/")


def test_claims_that_are_never_released_count_as_the_scheduler_counts(
    viewer: Client,
) -> None:
    zombie = claim("zombie", "gpu-0", deletionTimestamp="2026-11-28T01:00:00Z")
    zombie["status"]["reservedFor"] = [{"resource": "pods", "name": "gone", "uid": "4"}]
    orphan = claim("orphan") | {"status": {}}
    mirror([slice_("s"), zombie, claim("unreserved", "gpu-1"), orphan])
    assert dict(ResourceClaim.objects.values_list("name", "state")) == {
        "zombie": "deleting",
        "unreserved": "allocated",
        "orphan": "pending",
    }
    assert set(Device.objects.values_list("state", flat=True)) == {"in use"}
    for name in ("zombie", "unreserved", "orphan"):
        page(viewer, f"/c/demo/claims/default/{name}/")


def test_admin_access_leaves_its_device_free() -> None:
    watching = claim("monitor", "gpu-0", "gpu-1")
    for result in watching["status"]["allocation"]["devices"]["results"]:
        result["adminAccess"] = True
    mirror([slice_("s"), claim("job", "gpu-0"), watching])
    states = Device.objects.order_by("position").values_list("state", "holder_count")
    assert list(states) == [("in use", 1), ("free", 0)]


def test_two_classes_of_one_extended_resource_name_each_other(viewer: Client) -> None:
    for_gpu = {"extendedResourceName": "nvidia.com/gpu"}
    mirror([make("DeviceClass", n, spec=for_gpu) for n in ("gpu.nvidia.com", "hami")])
    assert DeviceClass.objects.count() == 2
    assert "hami" in page(viewer, "/c/demo/classes/gpu.nvidia.com/")
    assert "gpu.nvidia.com" in page(viewer, "/c/demo/classes/hami/")
