"""Kubernetes objects that a scenario brings along, checked as the API server would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra.errors import ObjectError
from dra.objects import KINDS, Json, read
from dra.snapshot import EMPTY, Snapshot
from dra.snapshot_reading import NAMESPACED
from dra.validation import Request, validate
from dra.whatif.errors import ScenarioError

RESOURCE_API: Final = "resource.k8s.io/v1"
NAMESPACE: Final = "default"
"""Of a namespaced object that names none, as with kubectl."""
VALIDATED: Final = frozenset(
    {
        "DeviceClass",
        "DeviceTaintRule",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceSlice",
    }
)
_DEVICE: Final = ".spec.devices[0]."
_ADMIN: Final = {"resource.kubernetes.io/admin-access": "true"}
_OF_THE_SERVER: Final = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "selfLink",
    "managedFields",
)


def draft(
    kind: str,
    raw: Json,
    path: str,
    snapshot: Snapshot,
    *,
    name: str = "",
    namespace: str = "",
) -> Any:
    """The object of class ``KINDS[kind]`` in ``raw``, which may lack apiVersion, kind, name and namespace.

    Raises :class:`ScenarioError` with the path of the first field that the API
    server would refuse, unknown fields included. A status is taken as it is.
    """
    if kind not in KINDS:
        known = ", ".join(sorted(KINDS))
        raise ScenarioError(f"{path}.kind", f"{kind!r} is none of {known}")
    meta = raw.get("metadata")
    meta = dict(meta) if isinstance(meta, dict) else {}
    if name:
        meta.setdefault("name", name)
    if namespace or kind in NAMESPACED:
        meta.setdefault("namespace", namespace or NAMESPACE)
    if not meta.get("name"):
        raise ScenarioError(f"{path}.metadata.name", "is missing")
    body = {**raw, "kind": kind, "metadata": meta}
    if kind in VALIDATED:
        body.setdefault("apiVersion", RESOURCE_API)
        if body["apiVersion"] != RESOURCE_API:
            raise ScenarioError(f"{path}.apiVersion", f"must be {RESOURCE_API}")
        _check(kind, body, path, snapshot)
    try:
        return read(body, KINDS[kind])
    except ObjectError as error:
        raise ScenarioError(f"{path}.{error.path}", error.reason) from error


def check_device(part: Json, path: str, names: Mapping[str, str]) -> None:
    """Raises :class:`ScenarioError` for attributes, capacity or taints that the API
    server would not take in a device of a slice.

    ``names`` are the scenario's fields, below ``path``, for those of a device.
    """
    raw = {
        "spec": {
            "driver": "driver.example.com",
            "nodeName": "node",
            "pool": {"name": "node", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "device", **part}],
        }
    }
    try:
        draft("ResourceSlice", raw, "", EMPTY, name="slice")
    except ScenarioError as error:
        field = error.path.removeprefix(_DEVICE)
        for one, name in names.items():
            if field.startswith(one):
                field = name + field.removeprefix(one)
        raise ScenarioError(f"{path}.{field}", error.reason) from error


def _check(kind: str, body: Json, path: str, snapshot: Snapshot) -> None:
    meta = {k: v for k, v in body["metadata"].items() if k not in _OF_THE_SERVER}
    sent: dict[str, Any] = {**body, "metadata": meta}
    sent.pop("status", None)
    namespaces = None
    namespace = meta.get("namespace")
    if isinstance(namespace, str):
        known = snapshot.namespaces.get(namespace)
        labels = _ADMIN if known is None else known.metadata.labels or {}
        namespaces = {namespace: labels}
    outcome = validate(Request(kind, sent, namespaces=namespaces))
    for cause in outcome.problems:
        field = f"{path}.{cause.field}" if cause.field else path
        raise ScenarioError(field, cause.message)
    for warning in outcome.warnings:
        if warning.startswith("unknown field"):
            raise ScenarioError(path, warning)
