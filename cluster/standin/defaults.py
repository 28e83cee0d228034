"""What the API server fills in when an object is written."""

from __future__ import annotations

from typing import Any

from cluster.standin.kinds import Kind
from cluster.standin.store import now

Json = dict[str, Any]


def fill(kind: Kind, body: Json) -> None:
    """Add the defaults of ``resource.k8s.io`` to a stored-form body, in place."""
    if kind.name == "ResourceClaim":
        _claim_spec(_part(body, "spec"))
        body.setdefault("status", {})
    elif kind.name == "ResourceClaimTemplate":
        _claim_spec(_part(_part(body, "spec"), "spec"))
    elif kind.name == "ResourceSlice":
        for device in _list(body.get("spec"), "devices"):
            _taints(device)
    elif kind.name == "DeviceTaintRule":
        spec = body.get("spec")
        taint = spec.get("taint") if isinstance(spec, dict) else None
        if isinstance(taint, dict):
            taint.setdefault("timeAdded", now())
    elif kind.name == "Namespace":
        body.setdefault("status", {"phase": "Active"})
        name = str(body["metadata"].get("name"))
        labels = body["metadata"].setdefault("labels", {})
        labels.setdefault("kubernetes.io/metadata.name", name)
    elif kind.name == "Pod":
        body.setdefault("status", {"phase": "Pending"})
        _gated(body)


def _part(holder: Any, key: str) -> Any:
    """An object that is there with its defaults even where nobody sent it. What is no
    object stays, for the check that refuses it."""
    if not isinstance(holder, dict):
        return None
    if holder.get(key) is None:
        holder[key] = {}
    return holder[key]


def _list(holder: Any, key: str) -> list[Json]:
    found = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(found, list):
        return []
    return [item for item in found if isinstance(item, dict)]


def _gated(pod: Json) -> None:
    """A pod with scheduling gates says so itself; no scheduler has looked at it."""
    spec, status = pod.get("spec"), pod["status"]
    if not isinstance(spec, dict) or not spec.get("schedulingGates"):
        return
    if isinstance(status, dict) and not status.get("conditions"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]


def _claim_spec(spec: Any) -> None:
    devices = _part(spec, "devices")
    if not isinstance(devices, dict):
        return
    if devices.get("requests") == []:
        devices["requests"] = None
    for request in _list(devices, "requests"):
        if isinstance(request.get("exactly"), dict):
            _request(request["exactly"])
        for alternative in _list(request, "firstAvailable"):
            _request(alternative)


def _request(request: Json) -> None:
    if not request.get("allocationMode"):
        request["allocationMode"] = "ExactCount"
    if request["allocationMode"] == "ExactCount" and not request.get("count"):
        request["count"] = 1
    for toleration in _list(request, "tolerations"):
        if not toleration.get("operator"):
            toleration["operator"] = "Equal"


def _taints(device: Json) -> None:
    for taint in _list(device, "taints"):
        taint.setdefault("timeAdded", now())
