"""Equal parts of many objects, kept once.

A cluster's objects repeat themselves: 40,000 devices have 8 product names, claims
made from one template have one spec. What has just been read and is not seen by
anybody else yet is changed here to hold the part that an earlier object holds.
Nothing may change a value once it is shared, lists and dicts in it included.

The memory of parts is bounded: when it is full it is emptied, and later objects
share among themselves.
"""

from __future__ import annotations

from sys import intern
from typing import Any, Final

import msgspec
from msgspec.structs import force_setattr

from dra.objects import (
    AllocationResult,
    Base,
    Device,
    DeviceAttribute,
    Meta,
    Node,
    Pod,
    ResourceClaim,
    ResourceSlice,
)

_LIMIT: Final = 1 << 15
_UNSERIALISABLE: Final = (ArithmeticError, TypeError, ValueError, RecursionError)
"""Free-form parameters may hold what msgpack has no form for; those stay unshared."""
_encode: Final = msgspec.msgpack.Encoder().encode


_POD_PARTS: Final = (
    "containers",
    "init_containers",
    "node_selector",
    "affinity",
    "tolerations",
)
"""Equal in all pods of a workload."""


class _Parts:
    """One table of parts, found by their serialised form."""

    def __init__(self) -> None:
        self.known: dict[bytes, Any] = {}

    def put(self, owner: Base, name: str) -> None:
        """Let ``owner`` hold the part that was first seen, if its own is equal."""
        own = getattr(owner, name)
        if own is None:
            return
        try:
            key = _encode(own)
        except _UNSERIALISABLE:
            return
        first = self.known.get(key)
        if first is None:
            if len(self.known) >= _LIMIT:
                self.known.clear()
            self.known[key] = own
        else:
            force_setattr(owner, name, first)


_allocatable: Final = _Parts()
_annotations: Final = _Parts()
_capacity: Final = _Parts()
_claim_specs: Final = _Parts()
_conditions: Final = _Parts()
_configs: Final = _Parts()
_consumption: Final = _Parts()
_finalizers: Final = _Parts()
_labels: Final = _Parts()
_node_selectors: Final = _Parts()
_pod_claims: Final = _Parts()
_pod_parts: Final = _Parts()
_attributes: Final[dict[DeviceAttribute, DeviceAttribute]] = {}


def share_parts(value: Base) -> None:
    """Replace parts of ``value``, which nobody else holds yet, with known ones."""
    if isinstance(value, ResourceSlice):
        _intern(value.spec, "driver")
        _share_meta(value.metadata)
        for device in value.spec.devices or ():
            _share_device(device)
    elif isinstance(value, ResourceClaim):
        _share_meta(value.metadata)
        _claim_specs.put(value, "spec")
        if value.status.allocation is not None:
            _share_allocation(value.status.allocation)
    elif isinstance(value, Pod):
        _share_meta(value.metadata)
        _intern(value.spec, "node_name")
        _intern(value.status, "phase")
        _pod_claims.put(value.spec, "resource_claims")
        for part in _POD_PARTS:
            _pod_parts.put(value.spec, part)
        _conditions.put(value.status, "conditions")
    elif isinstance(value, Node):
        _intern(value.metadata, "name")
        _conditions.put(value.status, "conditions")
        _allocatable.put(value.status, "allocatable")


def _intern(owner: Base, name: str) -> None:
    force_setattr(owner, name, intern(getattr(owner, name)))


def _share_meta(meta: Meta) -> None:
    _intern(meta, "namespace")
    if meta.creation_timestamp is not None:
        _intern(meta, "creation_timestamp")
    _finalizers.put(meta, "finalizers")
    _annotations.put(meta, "annotations")
    _labels.put(meta, "labels")
    for owner in meta.owner_references or ():
        _intern(owner, "kind")
        _intern(owner, "api_version")


def _share_device(device: Device) -> None:
    _intern(device, "name")
    if device.attributes is not None:
        attributes = {
            intern(name): _share_attribute(attribute)
            for name, attribute in device.attributes.items()
        }
        force_setattr(device, "attributes", attributes)
    _capacity.put(device, "capacity")
    _consumption.put(device, "consumes_counters")
    _node_selectors.put(device, "node_selector")


def _share_attribute(attribute: DeviceAttribute) -> DeviceAttribute:
    try:
        known = _attributes.get(attribute)
    except TypeError:  # a list attribute has no hash
        return attribute
    if known is None:
        if len(_attributes) >= _LIMIT:
            _attributes.clear()
        known = _attributes[attribute] = attribute
    return known


def _share_allocation(allocation: AllocationResult) -> None:
    _node_selectors.put(allocation, "node_selector")
    _configs.put(allocation.devices, "config")
    for result in allocation.devices.results or ():
        _intern(result, "request")
        _intern(result, "driver")
        _intern(result, "pool")
        _intern(result, "device")
        _capacity.put(result, "consumed_capacity")
