"""Older versions of ``resource.k8s.io`` into v1 form. Fields only move; none is dropped.

============  =====  ===================================================
version       since  what differs from v1
============  =====  ===================================================
``v1beta2``   1.33   nothing
``v1beta1``   1.32   requests are flat, without ``exactly``; the fields of
                     a device stand under ``basic``
``v1alpha3``  1.31   as v1beta1; besides, a capacity is a bare quantity
============  =====  ===================================================

The shape that the header announces decides, never a guess from the body: an
object with a v1 header and a v1beta1 body is wrong, and
:func:`old_layout_problem` says so. Values of an unexpected type stay where they
are; reading them with ``dra.objects`` gives the error with its path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from cluster.resources import BY_KIND, DRA

Json = dict[str, Any]

_FLAT_VERSIONS: Final = ("v1beta1", "v1alpha3")
_REQUEST_LEVEL: Final = ("name", "exactly", "firstAvailable")


def to_v1(obj: Json, *, kind: str = "", api_version: str = "") -> Json:
    """``obj`` in v1 form, ``apiVersion`` and ``kind`` set; ``obj`` stays as it is.

    ``kind`` and ``api_version`` say what it is where the object itself does not
    (items of a list). A v1 object comes back equal; other groups keep their body
    and get the version that the portal calls v1. Parts that need no change are
    shared with ``obj``.
    """
    kind = str(obj.get("kind") or kind)
    api_version = str(obj.get("apiVersion") or api_version)
    group, _, version = api_version.rpartition("/")
    body = {k: v for k, v in obj.items() if k not in ("apiVersion", "kind")}
    if group == DRA and version in _FLAT_VERSIONS:
        convert = _CONVERTERS.get(kind)
        body = convert(body, version) if convert is not None else body
    if kind in BY_KIND:
        api_version = f"{group}/v1" if group else "v1"
    return {"apiVersion": api_version, "kind": kind, **body}


def old_layout_problem(obj: Json) -> str | None:
    """One sentence when ``obj`` has a v1 (or v1beta2) header and a v1beta1 body.

    Under v1 those fields are unknown: a claim would ask for nothing and a device
    would have no attributes, silently. To be called on what people hand in and
    on dumps; an API server drops such fields before it stores.
    """
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    if group != DRA or version not in ("v1", "v1beta2"):
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


# --- moving fields ---------------------------------------------------------


def _claim(body: Json, _version: str) -> Json:
    return _at(body, ("spec", "devices", "requests"), _requests)


def _template(body: Json, _version: str) -> Json:
    return _at(body, ("spec", "spec", "devices", "requests"), _requests)


def _slice(body: Json, version: str) -> Json:
    def devices(found: list[Any]) -> list[Any]:
        return [_device(device, version) for device in found]

    return _at(body, ("spec", "devices"), devices)


_CONVERTERS: Final[dict[str, Callable[[Json, str], Json]]] = {
    "ResourceClaim": _claim,
    "ResourceClaimTemplate": _template,
    "ResourceSlice": _slice,
}


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


def _old_requests(spec: Any, path: str, version: str) -> str | None:
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
            return (
                f"{at}.{field}: this is the v1beta1 layout under a {version} header; "
                f"write it under {at}.exactly, or set apiVersion to {DRA}/v1beta1"
            )
    return None


def _old_devices(spec: Any, version: str) -> str | None:
    devices = spec.get("devices") if isinstance(spec, dict) else None
    for index, device in enumerate(devices if isinstance(devices, list) else ()):
        if isinstance(device, dict) and "basic" in device:
            at = f"spec.devices[{index}]"
            return (
                f"{at}.basic: this is the v1beta1 layout under a {version} header; "
                f"move its fields to {at}, or set apiVersion to {DRA}/v1beta1"
            )
    return None
