"""Kubernetes objects of a small lab, and a mirror to put them into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from claims.mirror import store_for
from cluster.resources import RESOURCES
from cluster.store import Event, EventType, State
from inventory.choices import Source
from inventory.models import Cluster

Json = dict[str, Any]
DRA = "resource.k8s.io/v1"
GPU = "gpu.acme.test"

_versions = iter(range(1000, 10_000_000))


def _object(kind: str, name: str, namespace: str = "", **parts: Any) -> Json:
    api = "v1" if kind in {"Node", "Namespace", "Pod"} else DRA
    version = str(next(_versions))
    meta = {"name": name, "uid": f"uid-{version}", "resourceVersion": version}
    meta["creationTimestamp"] = "2026-11-29T12:00:00Z"
    if namespace:
        meta["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": meta, **parts}


def node(name: str, **spec: Any) -> Json:
    ready = [{"type": "Ready", "status": "True"}]
    return _object("Node", name, spec=spec, status={"conditions": ready})


def device(name: str, **more: Any) -> Json:
    return {
        "name": name,
        "attributes": {
            "model": {"string": "A1"},
            "index": {"int": int(name.rsplit("-", 1)[-1])},
        },
        "capacity": {"memory": {"value": "80Gi"}},
        **more,
    }


def slice_(
    node_name: str, devices: int | list[Json] = 2, *, generation: int = 1, **more: Any
) -> Json:
    found = (
        [device(f"gpu-{i}") for i in range(devices)]
        if isinstance(devices, int)
        else devices
    )
    pool = {"name": node_name, "generation": generation, "resourceSliceCount": 1}
    spec = {"driver": GPU, "nodeName": node_name, "pool": pool, "devices": found}
    return _object("ResourceSlice", f"{node_name}-{GPU}", spec=spec | more)


def device_class(name: str = GPU, expression: str = "") -> Json:
    text = expression or f'device.driver == "{GPU}"'
    config = {"opaque": {"driver": GPU, "parameters": {"mode": "exclusive"}}}
    spec = {"selectors": [{"cel": {"expression": text}}], "config": [config]}
    return _object("DeviceClass", name, spec=spec)


def request(name: str = "gpu", count: int = 1, **more: Any) -> Json:
    exactly = {"deviceClassName": GPU, "allocationMode": "ExactCount", "count": count}
    return {"name": name, "exactly": exactly | more}


def claim(name: str, *requests: Json, namespace: str = "lab", **status: Any) -> Json:
    spec = {"devices": {"requests": list(requests) or [request()]}}
    return _object("ResourceClaim", name, namespace, spec=spec, status=status)


def result(node_name: str, device_name: str, **more: Any) -> Json:
    return {
        "request": "gpu",
        "driver": GPU,
        "pool": node_name,
        "device": device_name,
        **more,
    }


def allocated(name: str, *results: Json, namespace: str = "lab") -> Json:
    allocation = {
        "devices": {"results": list(results)},
        "allocationTimestamp": "2026-11-29T12:00:00Z",
    }
    return claim(name, namespace=namespace, allocation=allocation)


def template(name: str, namespace: str = "lab") -> Json:
    spec = {"spec": {"devices": {"requests": [request()]}}}
    return _object("ResourceClaimTemplate", name, namespace, spec=spec)


def pod(name: str, claim_name: str, namespace: str = "lab") -> Json:
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimName": claim_name}]}
    return _object("Pod", name, namespace, spec=spec, status={"phase": "Pending"})


def taint_rule(name: str, device_name: str) -> Json:
    taint = {"key": "acme.test/broken", "effect": "NoSchedule"}
    selector = {"driver": GPU, "device": device_name}
    return _object(
        "DeviceTaintRule", name, spec={"deviceSelector": selector, "taint": taint}
    )


def lab(nodes: int = 2) -> list[Json]:
    names = [f"n{i}" for i in range(nodes)]
    return [
        _object("Namespace", "lab"),
        *(node(name) for name in names),
        *(slice_(name) for name in names),
        device_class(),
    ]


def touched(obj: Json) -> Json:
    """The same object with a newer resourceVersion."""
    meta = obj["metadata"] | {"resourceVersion": str(next(_versions))}
    return obj | {"metadata": meta}


class Mirror:
    """A cluster's row and the real stores of all its kinds."""

    def __init__(self, name: str = "lab", **columns: Any) -> None:
        columns = {"source": Source.KUBECONFIG, "version": "v1.36.2"} | columns
        self.cluster = Cluster.objects.create(name=name, **columns)
        self.stores = {r.kind: store_for(r.kind, self.cluster.pk) for r in RESOURCES}

    def replace(self, objects: Iterable[Json]) -> None:
        """As after a list of every kind."""
        found: dict[str, list[Json]] = {kind: [] for kind in self.stores}
        for obj in objects:
            found[obj["kind"]].append(obj)
        for kind, items in found.items():
            self.stores[kind].replace(items, str(next(_versions)))
            self.stores[kind].report(State.LIVE)

    def put(self, *objects: Json) -> None:
        """As after an event for each, all of one kind."""
        self._apply(EventType.MODIFIED, objects)

    def delete(self, *objects: Json) -> None:
        self._apply(EventType.DELETED, objects)

    def _apply(self, type_: EventType, objects: Iterable[Json]) -> None:
        for obj in objects:
            version = obj["metadata"]["resourceVersion"]
            self.stores[obj["kind"]].apply([Event(type_, obj)], version)
