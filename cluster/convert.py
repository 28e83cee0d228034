"""Older versions of ``resource.k8s.io`` to v1 form and back. Fields move, none is dropped.

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

from typing import Any, Final

from cluster.resources import BY_KIND, DRA
from dra.old_layout import find_old_layout, in_new_layout

Json = dict[str, Any]

_FLAT_VERSIONS: Final = ("v1beta1", "v1alpha3")


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
        body = in_new_layout(kind, body, version)
    if kind in BY_KIND:
        api_version = f"{group}/v1" if group else "v1"
    return {"apiVersion": api_version, "kind": kind, **body}


def from_v1(kind: str, body: Json, version: str) -> Json:
    """The body of a v1 claim, template or class in the layout of ``version``.

    ``apiVersion`` and ``kind`` are the caller's matter. Parts that need no change
    are shared with ``body``; so are those of an unexpected type.
    """
    if version not in _FLAT_VERSIONS:
        return body
    if kind == "ResourceClaim":
        return {**body, "spec": _flat_spec(body.get("spec"))}
    spec = body.get("spec")
    if kind == "ResourceClaimTemplate" and isinstance(spec, dict):
        return {**body, "spec": {**spec, "spec": _flat_spec(spec.get("spec"))}}
    return body


def _flat_spec(spec: Any) -> Any:
    if not isinstance(spec, dict) or not isinstance(spec.get("devices"), dict):
        return spec
    devices = spec["devices"]
    requests = devices.get("requests")
    if not isinstance(requests, list):
        return spec
    flat = [_flat_request(request) for request in requests]
    return {**spec, "devices": {**devices, "requests": flat}}


def _flat_request(request: Any) -> Any:
    if not isinstance(request, dict) or not isinstance(request.get("exactly"), dict):
        return request
    rest = {key: value for key, value in request.items() if key != "exactly"}
    return {**rest, **request["exactly"]}


def old_layout_problem(obj: Json) -> str | None:
    """One sentence when ``obj`` has a v1 (or v1beta2) header and a v1beta1 body."""
    found = find_old_layout(obj)
    return None if found is None else f"{found.field}: {found.advice}"
