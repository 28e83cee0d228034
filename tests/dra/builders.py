"""Kubernetes objects as JSON, short: only what a test is about."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

DRIVER = "gpu.example.com"


def device(name: str = "gpu-0", **fields: Any) -> Json:
    return {"name": name, **fields}


def consumes(counter_set: str, **counters: str) -> Json:
    values = {name: {"value": value} for name, value in counters.items()}
    return {"counterSet": counter_set, "counters": values}


def counter_set(name: str, **counters: str) -> Json:
    values = {name: {"value": value} for name, value in counters.items()}
    return {"name": name, "counters": values}


def piece(
    name: str = "slice-a",
    *devices: Json,
    pool: str = "pool",
    generation: int = 1,
    of: int = 1,
    driver: str = DRIVER,
    **spec: Any,
) -> Json:
    """A ResourceSlice (``slice`` is taken) of ``of`` slices; on node ``n1`` unless told."""
    if not spec.keys() & {"nodeName", "nodeSelector", "allNodes"} and not spec.get(
        "perDeviceNodeSelection"
    ):
        spec["nodeName"] = "n1"
    if devices:
        spec["devices"] = list(devices)
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "pool": {
                "name": pool,
                "generation": generation,
                "resourceSliceCount": of,
            },
            **spec,
        },
    }


def result(
    device: str = "gpu-0", *, pool: str = "pool", driver: str = DRIVER, **fields: Any
) -> Json:
    return {
        "request": "r",
        "driver": driver,
        "pool": pool,
        "device": device,
        **fields,
    }


def claim(name: str = "claim", *results: Json, namespace: str = "default") -> Json:
    """A claim, allocated when it has ``results``."""
    made: Json = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}"},
        "spec": {
            "devices": {
                "requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]
            }
        },
    }
    if results:
        made["status"] = {"allocation": {"devices": {"results": list(results)}}}
    return made


def node(name: str = "n1", **labels: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
    }


def taint_rule(
    name: str = "rule", *, effect: str = "NoSchedule", **selector: str
) -> Json:
    spec: Json = {"taint": {"key": "k", "effect": effect}}
    if selector:
        spec["deviceSelector"] = selector
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": spec,
    }
