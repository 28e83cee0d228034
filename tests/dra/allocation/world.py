"""Small worlds for the engine: what a test says about a cluster and a claim."""

from __future__ import annotations

from typing import Any

from dra.allocation import Fits, Outcome, allocate
from dra.objects import AllocationResult, DeviceResult, ResourceClaim, read
from dra.snapshot import Snapshot
from tests.dra.builders import DRIVER, Json, claim, node, piece

CLASS = "gpu"


def string(value: str) -> Json:
    return {"string": value}


def selector(expression: str) -> Json:
    return {"cel": {"expression": expression}}


def attribute(name: str) -> str:
    return f'device.attributes["{DRIVER}"].{name}'


def device_class(name: str = CLASS, *expressions: str, **spec: Any) -> Json:
    """A class of every device, or of those that pass the ``expressions``."""
    if expressions:
        spec["selectors"] = [selector(e) for e in expressions]
    return {"kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def exactly(
    name: str = "r", count: int = 1, *expressions: str, cls: str = CLASS, **fields: Any
) -> Json:
    """One request for ``count`` devices."""
    return {"name": name, "exactly": _body(count, expressions, cls, fields)}


def everything(name: str = "r", *expressions: str, **fields: Any) -> Json:
    """One request for all devices."""
    fields["allocationMode"] = "All"
    return {"name": name, "exactly": _body(0, expressions, CLASS, fields)}


def first_of(name: str, *alternatives: Json) -> Json:
    """One request with alternatives, themselves made like requests."""
    subs = [{"name": a["name"], **a["exactly"]} for a in alternatives]
    return {"name": name, "firstAvailable": subs}


def _body(
    count: int, expressions: tuple[str, ...], cls: str, fields: dict[str, Any]
) -> Json:
    body = {"deviceClassName": cls, "allocationMode": "ExactCount", **fields}
    if body["allocationMode"] == "ExactCount":
        body["count"] = count
    if expressions:
        body["selectors"] = [selector(e) for e in expressions]
    return body


def wanted(
    *requests: Json,
    name: str = "wanted",
    constraints: list[Json] | None = None,
    config: list[Json] | None = None,
) -> ResourceClaim:
    """A claim that waits."""
    devices: Json = {"requests": list(requests)}
    if constraints:
        devices["constraints"] = constraints
    if config:
        devices["config"] = config
    raw = {**claim(name), "spec": {"devices": devices}}
    return read(raw, ResourceClaim)


def match(attribute: str, *requests: str) -> Json:
    return {
        "matchAttribute": f"{DRIVER}/{attribute}",
        **({"requests": list(requests)} if requests else {}),
    }


def distinct(attribute: str, *requests: str) -> Json:
    return {
        "distinctAttribute": f"{DRIVER}/{attribute}",
        **({"requests": list(requests)} if requests else {}),
    }


def cluster(*objects: Json) -> Snapshot:
    """The objects, with node ``n1`` and a class of every device unless there are some."""
    kinds = {o["kind"] for o in objects}
    more = []
    if "Node" not in kinds:
        more.append(node("n1"))
    if "DeviceClass" not in kinds:
        more.append(device_class())
    return Snapshot.build([*more, *objects])


def devices(*made: Json, **spec: Any) -> Json:
    """One slice with these devices, a whole pool on node ``n1``."""
    return piece("slice-a", *made, **spec)


def results(allocation: AllocationResult) -> list[DeviceResult]:
    return allocation.devices.results or []


def given(outcome: Outcome) -> list[str]:
    """``request=device`` of all claims in order; the outcome must fit."""
    assert isinstance(outcome, Fits), outcome
    return [
        f"{r.request}={r.device}"
        for allocation in outcome.allocations
        for r in results(allocation)
    ]


def ask(snapshot: Snapshot, *claims: ResourceClaim, **options: Any) -> Outcome:
    return allocate(snapshot, claims, "n1", **options)
