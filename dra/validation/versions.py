"""From v1beta1 to the form that rules look at, and back.

In v1beta1 the details of a request stand in the request itself, those of a device
under ``basic``. Both ways follow ``pkg/apis/resource/v1beta1/conversion.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

type _Value = dict[str, Any]

FLAT: Final = "v1beta1"


def to_newest(kind: str, version: str, value: _Value) -> _Value:
    """A decoded object in v1 form; itself where the version has that form."""
    return _converted(kind, version, value, _request_to_newest, _device_to_newest)


def from_newest(kind: str, version: str, value: _Value) -> _Value:
    """The way back, for what the API server answers with."""
    return _converted(kind, version, value, _request_from_newest, _device_from_newest)


def _converted(
    kind: str,
    version: str,
    value: _Value,
    request: Callable[[_Value], _Value],
    device: Callable[[_Value], _Value],
) -> _Value:
    if version != FLAT:
        return value
    if kind == "ResourceClaim":
        return _with_items(value, ("spec", "devices", "requests"), request)
    if kind == "ResourceClaimTemplate":
        return _with_items(value, ("spec", "spec", "devices", "requests"), request)
    if kind == "ResourceSlice":
        return _with_items(value, ("spec", "devices"), device)
    return value


def _with_items(
    value: _Value, path: tuple[str, ...], convert: Callable[[_Value], _Value]
) -> _Value:
    name, rest = path[0], path[1:]
    if value.get(name) is None:
        return value
    inner = value[name]
    changed = _with_items(inner, rest, convert) if rest else [convert(i) for i in inner]
    return {**value, name: changed}


def _request_to_newest(flat: _Value) -> _Value:
    kept: _Value = {
        name: flat[name] for name in ("name", "firstAvailable") if name in flat
    }
    details = {name: of for name, of in flat.items() if name not in kept}
    return {**kept, "exactly": details} if details else kept


def _request_from_newest(request: _Value) -> _Value:
    flat = {name: of for name, of in request.items() if name != "exactly"}
    return {**flat, **(request.get("exactly") or {})}


def _device_to_newest(device: _Value) -> _Value:
    name = {"name": device["name"]} if "name" in device else {}
    return {**name, **(device.get("basic") or {})}


def _device_from_newest(device: _Value) -> _Value:
    name = {"name": device["name"]} if "name" in device else {}
    details = {field: of for field, of in device.items() if field != "name"}
    return {**name, "basic": details}
