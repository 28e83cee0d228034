"""The kinds of objects that the editor knows, and blank ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from claims.authoring.form.paths import Path

API_VERSION: Final = "resource.k8s.io/v1"
_FLAT: Final = ("resource.k8s.io/v1alpha3", "resource.k8s.io/v1beta1")


@dataclass(frozen=True, slots=True)
class Kind:
    """``devices`` is the path of what a claim asks for; empty where there is none."""

    name: str
    word: str
    devices: Path
    namespaced: bool = True


KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind("ResourceClaim", "claim", ("spec", "devices")),
        Kind("ResourceClaimTemplate", "template", ("spec", "spec", "devices")),
        Kind("DeviceClass", "class", (), namespaced=False),
    )
}


def kind_of(value: Any) -> Kind | None:
    """The kind of an object; None for those without a form."""
    name = value.get("kind") if isinstance(value, dict) else None
    return KINDS.get(name) if isinstance(name, str) else None


def has_flat_layout(value: Any) -> bool:
    """Whether a claim or template is written as before v1beta2, where a request's details
    have no ``exactly`` around them. There is no form for that: it would write v1."""
    kind = kind_of(value)
    version = value.get("apiVersion") if isinstance(value, dict) else None
    return kind is not None and bool(kind.devices) and version in _FLAT


def devices_path(value: Any) -> Path:
    """Where requests, constraints and config stand. Raises ValueError for other kinds."""
    kind = kind_of(value)
    if kind is None or not kind.devices:
        raise ValueError("the object asks for no devices")
    return kind.devices


def blank(kind: str, namespace: str = "", class_name: str = "") -> dict[str, Any]:
    """A new object: a claim or template of one request, or a class without selectors."""
    known = KINDS[kind]
    meta: dict[str, Any] = {"name": f"my-{known.word}"}
    if known.namespaced:
        meta["namespace"] = namespace or "default"
    value: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": meta,
    }
    if not known.devices:
        return value | {"spec": {"selectors": [{"cel": {"expression": ""}}]}}
    asked: dict[str, Any] = {"requests": [new_request("devices", class_name)]}
    for step in reversed(known.devices):
        asked = {str(step): asked}
    value |= asked
    return value


def new_request(name: str, class_name: str = "") -> dict[str, Any]:
    """One device of a class."""
    return {"name": name, "exactly": {"deviceClassName": class_name}}
