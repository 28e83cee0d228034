"""A small cluster of two drivers, as a snapshot."""

from __future__ import annotations

from typing import Any

from dra.cel import CelFeatures
from dra.snapshot import Snapshot

Json = dict[str, Any]
FEATURES = CelFeatures()


def slice_(name: str, driver: str, devices: list[Json], **spec: Any) -> Json:
    pool = {"name": spec.pop("pool", name), "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {"driver": driver, "pool": pool, "devices": devices, **spec},
    }


def gpu(name: str, model: str, memory: str, **more: Json) -> Json:
    attributes = {"model": {"string": model}, **more}
    return {
        "name": name,
        "attributes": attributes,
        "capacity": {"memory": {"value": memory}},
    }


def device_class(name: str, *expressions: str) -> Json:
    selectors = [{"cel": {"expression": each}} for each in expressions]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {"selectors": selectors},
    }


def claim_on(driver: str, pool: str, device: str) -> Json:
    result = {"request": "r", "driver": driver, "pool": pool, "device": device}
    request = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "held", "namespace": "team", "uid": "uid-held"},
        "spec": {"devices": {"requests": [request]}},
        "status": {"allocation": {"devices": {"results": [result]}}},
    }


def objects() -> list[Json]:
    """Five devices in table order: nic-0; a/gpu-0, a/gpu-1; b/gpu-0, b/gpu-1."""
    return [
        slice_(
            "a",
            "gpu.example",
            [gpu("gpu-0", "big", "80Gi"), gpu("gpu-1", "small", "8Gi")],
            nodeName="n1",
        ),
        slice_(
            "b",
            "gpu.example",
            [gpu("gpu-0", "big", "80Gi"), {"name": "gpu-1"}],
            nodeName="n2",
        ),
        slice_("fabric", "a-nic.example", [{"name": "nic-0"}], allNodes=True),
        device_class("gpu", 'device.driver == "gpu.example"'),
        device_class("never", "device.driver"),
        claim_on("gpu.example", "a", "gpu-0"),
    ]


def snapshot(*more: Json) -> Snapshot:
    return Snapshot.build([*objects(), *more], seq=7)
