"""Objects as a user writes them."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
VERSION = "resource.k8s.io/v1"


def device_class(name: str, *expressions: str, **spec: Any) -> Json:
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    return {
        "apiVersion": VERSION,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": selectors, **spec},
    }


def of_driver(name: str, driver: str) -> Json:
    return device_class(name, f'device.driver == "{driver}"')


def piece(driver: str, *devices: Json, node: str = "n1", **spec: Any) -> Json:
    if not spec:
        spec["nodeName"] = node
    return {
        "apiVersion": VERSION,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{driver}"},
        "spec": {
            "driver": driver,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": list(devices),
            **spec,
        },
    }


def namespace(name: str, **labels: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": labels},
    }


def request(name: str, class_name: str, *expressions: str, **details: Any) -> Json:
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    exactly = {"deviceClassName": class_name, **details}
    if selectors:
        exactly["selectors"] = selectors
    return {"name": name, "exactly": exactly}


def claim(*requests: Json, **devices: Any) -> Json:
    return {
        "apiVersion": VERSION,
        "kind": "ResourceClaim",
        "metadata": {"name": "claim", "namespace": "team"},
        "spec": {"devices": {"requests": list(requests), **devices}},
    }


def template(sent: Json) -> Json:
    return {**sent, "kind": "ResourceClaimTemplate", "spec": {"spec": sent["spec"]}}
