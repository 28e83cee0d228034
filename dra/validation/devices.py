"""Rules for one device of a ResourceSlice."""

from __future__ import annotations

from typing import Any, Final

from dra.quantity import ZERO, Quantity
from dra.validation import formats
from dra.validation.causes import (
    Causes,
    all_invalid,
    forbidden,
    invalid,
    not_found,
    plain,
    required,
    size,
    too_long,
)
from dra.validation.dropping import LISTS
from dra.validation.parts import NODE_SELECTOR, TAINT, binding_conditions
from dra.validation.policies import check_policy
from dra.validation.rules import (
    Rule,
    Scope,
    all_of,
    each,
    entries,
    fields,
    itself,
    needed,
    nothing,
    text,
)
from dra.validation.schema.shapes import ListOf
from dra.validation.schema.shared import TAINT as TAINT_SHAPE
from dra.validation.schema.slices import DEVICE as DEVICE_SHAPE

VALUE_LENGTH: Final = 64
_NAMES_LIMIT: Final = 32
_VALUES_LIMIT: Final = 48

NODE_NAME: Final[Rule] = text(formats.dns_subdomain)

# --- attributes ----------------------------------------------------------------------------


def _qualified(value: Any, path: str, scope: Scope) -> Causes:
    return formats.qualified_name(value, path, strict=scope.gates.strict)


def _string(value: str, path: str) -> Causes:
    if size(value) > VALUE_LENGTH:
        yield too_long(path, VALUE_LENGTH)


def _version(value: str, path: str) -> Causes:
    if not formats.is_semver(value):
        detail = "must be a string compatible with semver.org spec 2.0.0"
        yield invalid(path, value, detail)
    yield from _string(value, path)


def _attribute(value: Any, path: str, _scope: Scope) -> Causes:
    """Exactly one member, and what it holds."""
    if "string" in value:
        yield from _string(value["string"], f"{path}.string")
    if "version" in value:
        yield from _version(value["version"], f"{path}.version")
    for name in ("bools", "ints", "strings", "versions"):
        values = value.get(name)
        if values is None:
            continue
        if not values:
            yield invalid(f"{path}.{name}", values, "must not be empty if specified")
        check = {"strings": _string, "versions": _version}.get(name)
        if check is not None:
            for index, found in enumerate(values):
                yield from check(found, f"{path}.{name}[{index}]")
    if len(value) != 1:
        yield invalid(path, value or "", "exactly one value must be specified")


def _totals(device: Any, path: str, _scope: Scope) -> Causes:
    attributes = device.get("attributes") or {}
    names = len(attributes) + len(device.get("capacity") or {})
    if names > _NAMES_LIMIT:
        yield invalid(
            path,
            names,
            "the total number of attributes and capacities must not exceed "
            f"{_NAMES_LIMIT}",
        )
    values = sum(
        sum(len(attribute.get(name) or ()) for name in LISTS) or 1
        for attribute in attributes.values()
    )
    if values > _VALUES_LIMIT:
        yield invalid(
            path,
            values,
            f"the total number of attribute values must not exceed {_VALUES_LIMIT}",
        )


# --- capacity --------------------------------------------------------------------------------


def _shared_capacity(value: Any, path: str, scope: Scope) -> Causes:
    policy = value.get("requestPolicy")
    if policy is not None:
        whole: Quantity = value.get("value", ZERO)
        yield from check_policy(policy, f"{path}.requestPolicy", whole, scope)


def _whole_capacity(value: Any, path: str, _scope: Scope) -> Causes:
    if "requestPolicy" in value:
        yield forbidden(
            f"{path}.requestPolicy", "allowMultipleAllocations must be true"
        )


_ATTRIBUTES: Final = entries(_qualified, _attribute, key_length=formats.KEY_LENGTH)
_SHARED: Final = entries(_qualified, _shared_capacity, key_length=formats.KEY_LENGTH)
_WHOLE: Final = entries(_qualified, _whole_capacity, key_length=formats.KEY_LENGTH)


_CAPACITY_MAP: Final = DEVICE_SHAPE.fields["capacity"].shape


def _capacity(device: Any, path: str, scope: Scope) -> Causes:
    """After 1.36, a capacity that is as it was stored is not looked at."""
    found = device.get("capacity")
    old = scope.old_devices.get(device.get("name", "")) if scope.gates.strict else None
    if old is None or not _CAPACITY_MAP.same(old.get("capacity"), found):
        rule = _SHARED if device.get("allowMultipleAllocations") else _WHOLE
        yield from rule(found, f"{path}.capacity", scope)


# --- taints and counters -----------------------------------------------------------------------

_TAINTS: Final = each(TAINT, at_most=16)
_TAINT_LIST: Final = ListOf(TAINT_SHAPE)


def _taints(device: Any, path: str, scope: Scope) -> Causes:
    """Taints that are as they were stored are not looked at."""
    old = scope.old_devices.get(device.get("name", ""))
    if old is None or not _TAINT_LIST.same(old.get("taints"), device.get("taints")):
        yield from _TAINTS(device.get("taints"), f"{path}.taints", scope)


def counter_name(value: Any, path: str, _scope: Scope) -> Causes:
    return all_invalid(path, value, formats.dns_label(value))


COUNTERS: Final[Rule] = needed(
    entries(counter_name, nothing, at_most=32, key_length=formats.LABEL_LENGTH)
)


_GROUPS: Final = each(text(formats.dns_label), at_most=2, key=itself)
"""1.37, alpha: from its source, there was no reference to run."""

_CONSUMED: Final = each(
    fields(
        {
            "counterSet": needed(text(formats.dns_label)),
            "counters": COUNTERS,
            "compatibilityGroups": _GROUPS,
        }
    ),
    at_most=2,
    key=lambda use: use.get("counterSet", ""),
)

# --- nodes ---------------------------------------------------------------------------------------

_NODES: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
    "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)


def _node_selection(device: Any, path: str, scope: Scope) -> Causes:
    node, selector = device.get("nodeName"), device.get("nodeSelector")
    all_nodes = device.get("allNodes")
    if not scope.per_device:
        if not (node is None and selector is None and all_nodes is None):
            yield invalid(
                path,
                None,
                "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                "`perDeviceNodeSelection` is set to true in the ResourceSlice spec",
            )
        return
    if node:
        yield from NODE_NAME(node, f"{path}.nodeName", scope)
    elif node is not None:
        yield invalid(f"{path}.nodeName", node, "must not be empty")
    yield from NODE_SELECTOR(selector, f"{path}.nodeSelector", scope)
    if all_nodes is False:
        detail = "must be either unset or set to true"
        yield invalid(f"{path}.allNodes", all_nodes, detail)
    chosen = [
        f"`{name}`"
        for name, is_set in (
            ("nodeName", bool(node)),
            ("nodeSelector", selector is not None),
            ("allNodes", bool(all_nodes)),
        )
        if is_set
    ]
    if not chosen:
        yield required(path, _NODES)
    elif len(chosen) > 1:
        yield invalid(path, f"{{{', '.join(chosen)}}}", _NODES)


# --- resources of the node -----------------------------------------------------------------------


def _mappings(device: Any, path: str, _scope: Scope) -> Causes:
    """Up to 1.36: every name that is no extended resource was good enough."""
    capacities = device.get("capacity") or {}
    mappings = device.get("nodeAllocatableResourceMappings") or {}
    for name, mapping in mappings.items():
        field = f"{path}.nodeAllocatableResourceMappings[{name}]"
        if not formats.is_native(name):
            yield invalid(field, name, "must be a node allocatable resource name")
        yield from _capacity_key(mapping, field, capacities)
        yield from _positive(mapping, field, "allocationMultiplier")


def _node_resources(device: Any, path: str, _scope: Scope) -> Causes:
    """After 1.36 (alpha): from its source, there was no reference to run."""
    capacities = device.get("capacity") or {}
    for name, resource in (device.get("nodeAllocatableResources") or {}).items():
        field = f"{path}.nodeAllocatableResources[{name}]"
        mapping, overhead = resource.get("mapping"), resource.get("overhead")
        if not formats.is_node_allocatable(name):
            yield invalid(field, name, "must be a node allocatable resource name")
        if mapping is None and overhead is None:
            yield required(field, "at least one of mapping or overhead must be set")
        if mapping is not None:
            yield from _mapping(mapping, f"{field}.mapping", capacities)
        if overhead is not None:
            yield from _overhead(overhead, f"{field}.overhead")


def _mapping(mapping: Any, field: str, capacities: Any) -> Causes:
    """By capacity or by device, one of the two."""
    by_capacity = "capacityKey" in mapping
    if by_capacity == ("deviceMultiplier" in mapping):
        detail = "must specify exactly one of: `capacityKey`, `deviceMultiplier`"
        yield invalid(field, plain(mapping), detail)
    if by_capacity and "capacityMultiplier" not in mapping:
        detail = "capacityMultiplier is required when capacityKey is set"
        yield required(f"{field}.capacityMultiplier", detail)
    if not by_capacity and "capacityMultiplier" in mapping:
        detail = "capacityKey is required when capacityMultiplier is set"
        yield required(f"{field}.capacityKey", detail)
    yield from _capacity_key(mapping, field, capacities)
    if by_capacity:
        yield from _positive(mapping, field, "capacityMultiplier")
    yield from _positive(mapping, field, "deviceMultiplier")


def _overhead(overhead: Any, field: str) -> Causes:
    if not overhead:
        yield invalid(field, "", "at least one of perPod or perContainer must be set")
    for name, amount in overhead.items():
        if amount.sign < 0:
            yield invalid(f"{field}.{name}", amount, "must be non-negative")


def _capacity_key(mapping: Any, field: str, capacities: Any) -> Causes:
    key = mapping.get("capacityKey")
    if key == "":
        detail = "capacityKey must not be an empty string"
        yield invalid(f"{field}.capacityKey", key, detail)
    elif key is not None and key not in capacities:
        yield not_found(f"{field}.capacityKey", key)


def _positive(mapping: Any, field: str, name: str) -> Causes:
    amount = mapping.get(name)
    if amount is not None and amount.sign <= 0:
        yield invalid(f"{field}.{name}", amount, "must be positive")


DEVICE: Final[Rule] = all_of(
    fields({"name": text(formats.dns_label)}),
    _totals,
    fields({"attributes": _ATTRIBUTES}),
    _capacity,
    _taints,
    fields({"consumesCounters": _CONSUMED}),
    _node_selection,
    binding_conditions,
    _mappings,
    _node_resources,
)
