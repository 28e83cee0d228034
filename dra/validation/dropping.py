"""Fields of features that are off: dropped silently, unless they were in use before.

Follows ``dropDisabledFields`` of the strategies in ``pkg/registry/resource`` and
``pkg/api/resourceclaimspec``. Works on decoded objects and changes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from dra.validation.gates import Gates

type _Value = dict[str, Any]

LISTS: Final = ("ints", "bools", "strings", "versions")
"""The members of an attribute that need DRAListTypeAttributes."""


def drop_from_claim_spec(spec: _Value, old: _Value | None, gates: Gates) -> None:
    requests = _requests(spec)
    if not gates.prioritized_list and not _any_request(old, _has_alternatives):
        for request in requests:
            request.pop("firstAvailable", None)
    for on, name in (
        (gates.device_taints, "tolerations"),
        (gates.admin_access, "adminAccess"),
        (gates.derived_attributes, "derivedAttributes"),
    ):
        if not on and not _details_use(old, name):
            _drop_detail(spec, name)
    if not gates.consumable_capacity and not _consumable_in_spec(old):
        for constraint in _devices(spec).get("constraints") or ():
            constraint.pop("distinctAttribute", None)
        _drop_detail(spec, "capacity")


def drop_from_claim_status(claim: _Value, old: _Value, gates: Gates) -> None:
    """Of a status update; devices that are no longer allocated lose their status, too."""
    status, before = claim.setdefault("status", {}), old.get("status") or {}
    results = list(_results(status))
    if not gates.device_status and not before.get("devices"):
        status.pop("devices", None)
    if not gates.admin_access and not (
        _details_use(old.get("spec"), "adminAccess")
        or any("adminAccess" in result for result in _results(before))
    ):
        for result in results:
            result.pop("adminAccess", None)
    if not gates.consumable_capacity and not _consumable_in_use(old):
        for result in results:
            result.pop("shareID", None)
            result.pop("consumedCapacity", None)
        for device in status.get("devices") or ():
            device.pop("shareID", None)
    if not gates.device_binding_and_status and not any(
        name in result for result in _results(before) for name in _BINDING
    ):
        for result in results:
            for name in _BINDING:
                result.pop(name, None)
    if gates.device_status or before.get("devices"):
        _forget_released(status, before)


_BINDING: Final = ("bindingConditions", "bindingFailureConditions")


def _forget_released(status: _Value, before: _Value) -> None:
    released = {device_id(result) for result in _results(before)}
    released -= {device_id(result) for result in _results(status)}
    kept = [d for d in status.get("devices") or () if device_id(d) not in released]
    if kept:
        status["devices"] = kept
    else:
        status.pop("devices", None)


def device_id(result: _Value) -> tuple[str, str, str, str]:
    """Driver, pool, device and share of a result or a device's status."""
    return (
        result.get("driver", ""),
        result.get("pool", ""),
        result.get("device", ""),
        result.get("shareID") or "",
    )


def drop_from_class_spec(spec: _Value, old: _Value | None, gates: Gates) -> None:
    if not gates.extended_resource and (old or {}).get("extendedResourceName") is None:
        spec.pop("extendedResourceName", None)


def drop_from_slice_spec(spec: _Value, old: _Value | None, gates: Gates) -> None:
    devices = spec.get("devices") or []
    before = (old or {}).get("devices") or []

    def drop(names: tuple[str, ...]) -> None:
        for device in devices:
            for name in names:
                device.pop(name, None)

    if not gates.device_taints and not any(d.get("taints") for d in before):
        drop(("taints",))
    if not gates.partitionable_devices and not _partitions_in_use(old or {}):
        spec.pop("sharedCounters", None)
        spec.pop("perDeviceNodeSelection", None)
        drop(("consumesCounters", *_NODE_SELECTION))
    if not (
        gates.device_binding_and_status and gates.device_status
    ) and not _binding_in_use(before):
        drop((*_BINDING, "bindsToNode"))
    if not gates.consumable_capacity and not _sharing_in_use(before):
        drop(("allowMultipleAllocations",))
        for capacity in _entries(devices, "capacity"):
            capacity.pop("requestPolicy", None)
    mapped, other = _MAPPED if gates.strict else reversed(_MAPPED)
    drop((other,))
    if not gates.node_allocatable_resources and not any(d.get(mapped) for d in before):
        drop((mapped,))
    if not gates.list_type_attributes and not any(
        name in attribute
        for attribute in _entries(before, "attributes")
        for name in LISTS
    ):
        for attribute in _entries(devices, "attributes"):
            for name in LISTS:
                attribute.pop(name, None)
    if not gates.device_compatibility_groups and not any(
        use.get("compatibilityGroups") for use in _uses(before)
    ):
        for use in _uses(devices):
            use.pop("compatibilityGroups", None)


_MAPPED: Final = ("nodeAllocatableResources", "nodeAllocatableResourceMappings")
"""The first took the place of the second in 1.37."""
_NODE_SELECTION: Final = ("nodeName", "nodeSelector", "allNodes")


def _partitions_in_use(spec: _Value) -> bool:
    devices = spec.get("devices") or ()
    return (
        bool(spec.get("sharedCounters"))
        or "perDeviceNodeSelection" in spec
        or any(d.get("consumesCounters") for d in devices)
        or any(name in d for d in devices for name in _NODE_SELECTION)
    )


def _binding_in_use(devices: list[_Value]) -> bool:
    return any(
        d.get("bindsToNode") is not None or any(d.get(name) for name in _BINDING)
        for d in devices
    )


def _sharing_in_use(devices: list[_Value]) -> bool:
    return any("allowMultipleAllocations" in d for d in devices) or any(
        "requestPolicy" in capacity for capacity in _entries(devices, "capacity")
    )


def _entries(devices: list[_Value], name: str) -> Iterator[_Value]:
    for device in devices:
        yield from (device.get(name) or {}).values()


def _uses(devices: list[_Value]) -> Iterator[_Value]:
    for device in devices:
        yield from device.get("consumesCounters") or ()


# --- claims ------------------------------------------------------------------------


def _devices(spec: _Value | None) -> _Value:
    devices: _Value = (spec or {}).get("devices") or {}
    return devices


def _requests(spec: _Value | None) -> list[_Value]:
    requests: list[_Value] = _devices(spec).get("requests") or []
    return requests


def _any_request(spec: _Value | None, holds: Callable[[_Value], bool]) -> bool:
    return any(holds(request) for request in _requests(spec))


def _has_alternatives(request: _Value) -> bool:
    return bool(request.get("firstAvailable"))


def _details(spec: _Value | None) -> Iterator[_Value]:
    """The details of every request and every subrequest."""
    for request in _requests(spec):
        if request.get("exactly") is not None:
            yield request["exactly"]
        yield from request.get("firstAvailable") or ()


def _details_use(spec: _Value | None, name: str) -> bool:
    pointer = name in {"adminAccess", "capacity"}
    return any(
        name in details if pointer else details.get(name) for details in _details(spec)
    )


def _drop_detail(spec: _Value, name: str) -> None:
    for details in _details(spec):
        details.pop(name, None)


def _consumable_in_spec(spec: _Value | None) -> bool:
    constraints = _devices(spec).get("constraints") or ()
    return _details_use(spec, "capacity") or any(
        "distinctAttribute" in constraint for constraint in constraints
    )


def _consumable_in_use(claim: _Value) -> bool:
    status = claim.get("status") or {}
    return (
        _consumable_in_spec(claim.get("spec"))
        or any("shareID" in r or "consumedCapacity" in r for r in _results(status))
        or any("shareID" in device for device in status.get("devices") or ())
    )


def _results(status: _Value) -> Iterator[_Value]:
    allocation = status.get("allocation") or {}
    yield from (allocation.get("devices") or {}).get("results") or ()
