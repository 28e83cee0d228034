"""Objects in the layout of v1beta1, whatever their header says: told and put right.

In v1beta1 the details of a request stand in the request itself, and the fields of a
device under ``basic``. Works on JSON as it is and loses nothing: fields only move,
and values of an unexpected type stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

type Json = dict[str, Any]

GROUP: Final = "resource.k8s.io"
_REQUEST_LEVEL: Final = ("name", "exactly", "firstAvailable")


class OldLayout(NamedTuple):
    """Where an object has a v1 (or v1beta2) header and a v1beta1 body.

    ``field`` is the first such field, ``advice`` what to do about it.
    """

    field: str
    advice: str


def find_old_layout(obj: Json) -> OldLayout | None:
    """Under v1 such fields are unknown: a claim would ask for nothing and a device
    would have no attributes, silently. To be called on what people hand in and on
    dumps; an API server drops such fields before it stores.
    """
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    if group != GROUP or version not in ("v1", "v1beta2"):
        return None
    kind = str(obj.get("kind") or "")
    spec = obj.get("spec")
    if kind == "ResourceSlice":
        return _old_devices(spec, version)
    if kind == "ResourceClaim":
        return _old_requests(spec, "spec", version)
    if kind == "ResourceClaimTemplate":
        inner = spec.get("spec") if isinstance(spec, dict) else None
        return _old_requests(inner, "spec.spec", version)
    return None


def in_new_layout(kind: str, body: Json, version: str = "v1beta1") -> Json:
    """``body`` (spec and all) of an object of ``kind`` with its fields where v1 has them.

    ``version`` is the one whose layout it has; v1alpha3 is that of v1beta1 with
    capacities that are bare quantities. Parts that need no change are shared.
    """
    if kind == "ResourceClaim":
        return _at(body, ("spec", "devices", "requests"), _requests)
    if kind == "ResourceClaimTemplate":
        return _at(body, ("spec", "spec", "devices", "requests"), _requests)
    if kind == "ResourceSlice":

        def devices(found: list[Any]) -> list[Any]:
            return [_device(device, version) for device in found]

        return _at(body, ("spec", "devices"), devices)
    return body


def _at(
    body: Json, path: tuple[str, ...], change: Callable[[list[Any]], list[Any]]
) -> Json:
    """A copy of ``body`` with the list at ``path`` changed; as it is if there is none."""
    key, rest = path[0], path[1:]
    value = body.get(key)
    if rest and isinstance(value, dict):
        return {**body, key: _at(value, rest, change)}
    if not rest and isinstance(value, list):
        return {**body, key: change(value)}
    return body


def _requests(found: list[Any]) -> list[Any]:
    return [_request(request) for request in found]


def _request(request: Any) -> Any:
    if not isinstance(request, dict):
        return request
    kept = {k: v for k, v in request.items() if k in _REQUEST_LEVEL}
    flat = {k: v for k, v in request.items() if k not in _REQUEST_LEVEL}
    exactly = kept.get("exactly")
    if not flat or not (exactly is None or isinstance(exactly, dict)):
        return request
    if kept.get("firstAvailable") and not any(flat.values()):
        # v1beta1 has no way to leave deviceClassName out: empty means absent.
        return kept
    # A field that we do not know is one of the request's details: v1 has them all there.
    return {**kept, "exactly": {**flat, **(exactly or {})}}


def _device(device: Any, version: str) -> Any:
    if not isinstance(device, dict) or not isinstance(device.get("basic"), dict):
        return device
    basic = device["basic"]
    if version == "v1alpha3" and isinstance(basic.get("capacity"), dict):
        capacity = {
            name: value if isinstance(value, dict) else {"value": value}
            for name, value in basic["capacity"].items()
        }
        basic = {**basic, "capacity": capacity}
    outer = {k: v for k, v in device.items() if k != "basic"}
    lifted = {k: v for k, v in basic.items() if k not in outer}
    clashing = {k: v for k, v in basic.items() if k in outer}
    return {**outer, **lifted, **({"basic": clashing} if clashing else {})}


# --- recognising -----------------------------------------------------------


def _old_requests(spec: Any, path: str, version: str) -> OldLayout | None:
    devices = spec.get("devices") if isinstance(spec, dict) else None
    requests = devices.get("requests") if isinstance(devices, dict) else None
    for index, request in enumerate(requests if isinstance(requests, list) else ()):
        if not isinstance(request, dict):
            continue
        if "deviceClassName" in request or "allocationMode" in request:
            at = f"{path}.devices.requests[{index}]"
            field = next(
                k for k in request if k in ("deviceClassName", "allocationMode")
            )
            return OldLayout(
                f"{at}.{field}",
                f"this is the v1beta1 layout under a {version} header; "
                f"write it under {at}.exactly, or set apiVersion to {GROUP}/v1beta1",
            )
    return None


def _old_devices(spec: Any, version: str) -> OldLayout | None:
    devices = spec.get("devices") if isinstance(spec, dict) else None
    for index, device in enumerate(devices if isinstance(devices, list) else ()):
        if isinstance(device, dict) and "basic" in device:
            at = f"spec.devices[{index}]"
            return OldLayout(
                f"{at}.basic",
                f"this is the v1beta1 layout under a {version} header; "
                f"move its fields to {at}, or set apiVersion to {GROUP}/v1beta1",
            )
    return None
