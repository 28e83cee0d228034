"""Rules for the spec of a ResourceSlice."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from dra.validation import formats
from dra.validation.causes import IMMUTABLE, Causes, invalid, required
from dra.validation.devices import COUNTERS, DEVICE, NODE_NAME
from dra.validation.dropping import LISTS
from dra.validation.parts import NODE_SELECTOR
from dra.validation.rules import (
    Rule,
    Scope,
    all_of,
    checked,
    each,
    fields,
    needed,
    text,
)

type _Value = Mapping[str, Any]

MOST_DEVICES: Final = 128
MOST_ADVANCED_DEVICES: Final = 64
"""Where any device has taints, consumed counters or list attributes."""

_NODES: Final = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` "
    "is required"
)


def check_slice_spec(
    spec: _Value, old: _Value | None, path: str, scope: Scope
) -> Causes:
    yield from _IDENTITY(spec, path, scope)
    if old is not None:
        yield from _unchanged(spec, old, path)
    yield from _node_selection(spec, path, scope)
    if "sharedCounters" in spec and "devices" in spec:
        yield invalid(path, "", "only one of `sharedCounters` or `devices` is allowed")
    of_devices = dataclasses.replace(
        scope,
        per_device=bool(spec.get("perDeviceNodeSelection")),
        old_devices={_name(d): d for d in reversed((old or {}).get("devices") or [])},
    )
    devices = spec.get("devices")
    rule = _ADVANCED_DEVICES if _are_advanced(devices or ()) else _DEVICES
    yield from rule(devices, f"{path}.devices", of_devices)
    yield from _COUNTER_SETS(
        spec.get("sharedCounters"), f"{path}.sharedCounters", scope
    )


def _name(entry: Any) -> str:
    name: str = entry.get("name", "")
    return name


# --- driver and pool -----------------------------------------------------------------------


def _pool_numbers(value: Any, path: str, _scope: Scope) -> Causes:
    pool = value or {}
    count, generation = pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    if count <= 0:
        yield invalid(f"{path}.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        yield invalid(
            f"{path}.generation", generation, "must be greater than or equal to zero"
        )


_IDENTITY: Final[Rule] = fields(
    {
        "driver": checked(formats.driver_name),
        "pool": all_of(fields({"name": checked(formats.pool_name)}), _pool_numbers),
    }
)


def _unchanged(spec: _Value, old: _Value, path: str) -> Causes:
    pool = (spec.get("pool") or {}).get("name", "")
    if pool != (old.get("pool") or {}).get("name", ""):
        yield invalid(f"{path}.pool.name", pool, IMMUTABLE)
    for name, unset in (("driver", ""), ("nodeName", None)):
        found = spec.get(name, unset)
        if found != old.get(name, unset):
            yield invalid(f"{path}.{name}", found, IMMUTABLE)


# --- nodes -----------------------------------------------------------------------------------


def _node_selection(spec: _Value, path: str, scope: Scope) -> Causes:
    chosen: list[str] = []
    node = spec.get("nodeName")
    if node:
        chosen.append("`nodeName`")
        yield from NODE_NAME(node, f"{path}.nodeName", scope)
    elif node is not None:
        detail = "must be either unset or set to a non-empty string"
        yield invalid(f"{path}.nodeName", node, detail)
    selector = spec.get("nodeSelector")
    if selector is not None:
        chosen.append("`nodeSelector`")
        yield from NODE_SELECTOR(selector, f"{path}.nodeSelector", scope)
        terms = selector.get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            yield invalid(
                f"{path}.nodeSelector.nodeSelectorTerms",
                terms,
                "must have exactly one node selector term",
            )
    for name in ("allNodes", "perDeviceNodeSelection"):
        flag = spec.get(name)
        if flag:
            chosen.append(f"`{name}`")
        elif flag is not None:
            detail = "must be either unset or set to true"
            yield invalid(f"{path}.{name}", flag, detail)
    if not chosen:
        yield required(path, _NODES)
    elif len(chosen) > 1:
        yield invalid(
            path,
            f"{{{', '.join(chosen)}}}",
            f"{_NODES}, but multiple fields are set",
        )


# --- devices and counters ----------------------------------------------------------------------


def _are_advanced(devices: Any) -> bool:
    return any(
        device.get("taints")
        or device.get("consumesCounters")
        or any(
            name in attribute
            for attribute in (device.get("attributes") or {}).values()
            for name in LISTS
        )
        for device in devices
    )


_DEVICES: Final[Rule] = each(DEVICE, at_most=MOST_DEVICES, key=_name)
_ADVANCED_DEVICES: Final[Rule] = each(DEVICE, at_most=MOST_ADVANCED_DEVICES, key=_name)


_COUNTER_SETS: Final[Rule] = each(
    fields({"name": needed(text(formats.dns_label)), "counters": COUNTERS}),
    at_most=8,
    key=_name,
)
