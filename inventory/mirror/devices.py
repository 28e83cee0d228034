"""One device of a slice → its row. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dra import objects
from dra.names import DeviceID, qualified_name
from dra.taints import TaintRules, prevents_allocation
from inventory.mirror.columns import Columns

Json = dict[str, Any]

_VALUES = ("ints", "bools", "strings", "versions", "int", "bool", "string", "version")


def device_columns(
    slice_: objects.ResourceSlice, position: int, raw: Json | None, rules: TaintRules
) -> Columns:
    """The columns of device number ``position`` of ``slice_``, its state left out.

    ``raw`` is that device as published: attributes keep fields we do not know. Null
    is what it is for Kubernetes: a device, an attribute, a taint with nothing in it.
    """
    raw = raw or {}
    spec = slice_.spec
    assert spec.devices is not None
    device = spec.devices[position]
    by_rules = rules.for_device(DeviceID(spec.driver, spec.pool.name, device.name))
    taints = [
        *(taint or {} for taint in raw.get("taints") or ()),
        *({**objects.write(found.taint), "rule": found.rule} for found in by_rules),
    ]
    attributes = _qualified(raw.get("attributes"), spec.driver)
    capacity = _qualified(raw.get("capacity"), spec.driver)
    return {
        "position": position,
        "driver": spec.driver,
        "pool": spec.pool.name,
        "name": device.name,
        "node_name": spec.node_name or device.node_name or "",
        "shareable": bool(device.allow_multiple_allocations),
        "tainted": any(map(prevents_allocation, device.taints or ()))
        or any(prevents_allocation(found.taint) for found in by_rules),
        "attributes": attributes,
        "capacity": capacity,
        "counters": [use or {} for use in raw.get("consumesCounters") or ()],
        "taints": taints,
        "facts": facts(attributes, capacity),
    }


def facts(attributes: Mapping[str, Json], capacity: Mapping[str, Json]) -> str:
    """What text search reads: a line ``name=value`` per value, each framed by newlines."""
    lines = [
        f"{name}={_text(value)}"
        for name, attribute in attributes.items()
        for value in attribute_values(attribute)
    ]
    lines += [f"{name}={_text(item.get('value'))}" for name, item in capacity.items()]
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def attribute_values(attribute: Json) -> Sequence[Any]:
    """The values of an attribute; a scalar is one value, an unknown type none."""
    for member in _VALUES:
        value = attribute.get(member)
        if value is not None:
            return value if isinstance(value, list) else [value]
    return []


def _qualified(named: Json | None, driver: str) -> dict[str, Json]:
    """``named`` by qualified name; a name written out wins (allocator.md section 6).

    Null, as a whole or as a member, counts as nothing.
    """
    items = sorted((named or {}).items(), key=lambda item: "/" in item[0])
    return {qualified_name(name, driver): value or {} for name, value in items}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).replace("\n", " ")
