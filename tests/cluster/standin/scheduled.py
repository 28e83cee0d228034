"""A small cluster whose pods are scheduled, and what tests ask about it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from cluster.standin.store import Store

Json = dict[str, Any]
DRIVER = "gpu.acme.test"
PATIENCE = 60.0


def node(name: str, **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": spec,
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


def gpus(node_name: str, count: int) -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node_name}-gpus"},
        "spec": {
            "driver": DRIVER,
            "nodeName": node_name,
            "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"gpu-{n}"} for n in range(count)],
        },
    }


def claim(name: str, *, count: int = 1, **request: Any) -> Json:
    exactly = {
        "deviceClassName": DRIVER,
        "allocationMode": "ExactCount",
        "count": count,
        **request,
    }
    requests = [{"name": "gpu", "exactly": exactly}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "lab", "name": name},
        "spec": {"devices": {"requests": requests}},
    }


def pod(name: str, claim_name: str = "", **spec: Any) -> Json:
    claims = [{"name": "devices", "resourceClaimName": claim_name}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "lab", "name": name},
        "spec": {
            "containers": [{"name": "main", "image": "x"}],
            "resourceClaims": claims if claim_name else [],
            **spec,
        },
        "status": {"phase": "Pending"},
    }


def small_cluster(*, nodes: int = 1, devices: int = 1) -> list[Json]:
    names = [f"n{n}" for n in range(1, nodes + 1)]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "dra-portal"}},
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": DRIVER},
            "spec": {
                "selectors": [
                    {"cel": {"expression": f'device.driver == "{DRIVER}"'}},
                ]
            },
        },
        *map(node, names),
        *(gpus(name, devices) for name in names),
    ]


def devices_of(store: Store, name: str, namespace: str = "lab") -> list[str]:
    """``pool/device`` of what the claim holds; empty when it is absent or free."""
    found = store.get("ResourceClaim", name, namespace) or {}
    allocation = (found.get("status") or {}).get("allocation") or {"devices": {}}
    results = allocation["devices"].get("results") or []
    return [f"{r['pool']}/{r['device']}" for r in results]


def booked_twice(store: Store) -> list[str]:
    """Devices that more than one claim holds."""
    held = Counter(
        device
        for found in store.objects("ResourceClaim")
        for device in devices_of(store, found["metadata"]["name"])
    )
    return [device for device, count in held.items() if count > 1]


def scheduled(store: Store, name: str, namespace: str = "lab") -> str:
    """``True`` or ``False`` of the pod's condition PodScheduled, ``""`` without one."""
    found = store.get("Pod", name, namespace) or {}
    conditions = (found.get("status") or {}).get("conditions") or []
    return next((c["status"] for c in conditions if c["type"] == "PodScheduled"), "")


def eventually(question: Callable[[], object], what: str = "it") -> None:
    deadline = time.monotonic() + PATIENCE
    while not question():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.005)
