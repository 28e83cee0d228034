"""From stored (v1) form to the version a client asks for, and back.

``v1beta2`` has the layout of v1. ``v1beta1`` has flat requests and keeps what a
device publishes under ``basic``. Claims are ``cluster.convert``'s matter;
slices on their way out are here, for only a server sends them.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from cluster.convert import from_v1, to_v1
from cluster.standin.kinds import KINDS, Kind

Json = dict[str, Any]

_FLAT: Final = frozenset({"v1beta1", "v1alpha3"})


def clone(body: Json) -> Json:
    """A deep copy of JSON data; dates that YAML made become text again."""
    return msgspec.json.decode(msgspec.json.encode(body))  # type: ignore[no-any-return]  # an object stays an object


def encode_as(kind: Kind, version: str, body: Json) -> bytes:
    """The JSON text of a stored body in API version ``version``."""
    return msgspec.json.encode(as_version(kind, version, body))


def as_version(kind: Kind, version: str, body: Json) -> Json:
    """``body`` in API version ``version``. Parts are shared with ``body``."""
    if version not in _FLAT:
        return body
    if kind.name == "ResourceSlice" and isinstance(body.get("spec"), dict):
        return {**body, "spec": _slice_spec(body["spec"])}
    return from_v1(kind.name, body, version)


def from_version(kind: Kind, version: str, obj: Json) -> Json:
    """``obj`` as a client of ``version`` sent it, in stored form; a copy.

    ``apiVersion`` and ``kind`` are left out.
    """
    api_version = f"{kind.group}/{version}" if kind.group else version
    given = {k: v for k, v in obj.items() if k not in ("apiVersion", "kind")}
    read = to_v1(given, kind=kind.name, api_version=api_version)
    return clone({k: v for k, v in read.items() if k not in ("apiVersion", "kind")})


def to_stored(obj: Json) -> tuple[Kind, Json]:
    """Kind and stored body (a copy) of a whole object of any readable version.

    ValueError says what is wrong with it.
    """
    name = str(obj.get("kind") or "")
    kind = KINDS.get(name)
    if kind is None:
        raise ValueError(f"kind {name or '(none)'} is not one the stand-in knows")
    version = str(obj.get("apiVersion") or "").rpartition("/")[2] or "v1"
    body = from_version(kind, version, obj)
    meta = body.get("metadata")
    if not isinstance(meta, dict) or not isinstance(meta.get("name"), str):
        raise ValueError(f"{name} without metadata.name")  # noqa: TRY004 bad data
    if kind.namespaced:
        meta.setdefault("namespace", "default")
    return kind, body


def _slice_spec(spec: Json) -> Json:
    devices = spec.get("devices")
    if not isinstance(devices, list):
        return spec
    return {**spec, "devices": [_basic_device(device) for device in devices]}


def _basic_device(device: Any) -> Any:
    if not isinstance(device, dict):
        return device
    basic = {key: value for key, value in device.items() if key != "name"}
    return {"name": device.get("name"), "basic": basic}
