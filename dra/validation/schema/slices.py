"""DeviceClass, ResourceSlice and DeviceTaintRule, field by field, as 1.36 and 1.37 have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dra.quantity import parse
from dra.validation.schema.shapes import Field, ListOf, MapOf, Reading, Shape, Struct
from dra.validation.schema.shared import (
    AMOUNT,
    BOOLEAN,
    CONDITION,
    CONFIGURATION,
    INTEGER,
    NODE_SELECTOR,
    SELECTOR,
    TAINT,
    TEXT,
    always,
    kind,
    optional,
    pointer,
)

type _Value = dict[str, Any]


CLASS: Final = kind(
    "DeviceClass",
    spec=always(
        Struct(
            "DeviceClassSpec",
            {
                "selectors": optional(ListOf(SELECTOR)),
                "config": optional(
                    ListOf(Struct("DeviceClassConfiguration", CONFIGURATION))
                ),
                "extendedResourceName": pointer(TEXT),
            },
        )
    ),
)

_COUNTERS = MapOf(Struct("Counter", {"value": always(AMOUNT)}))
_POLICY = Struct(
    "CapacityRequestPolicy",
    {
        "default": Field(AMOUNT, always=True, pointer=True),
        "validValues": optional(ListOf(AMOUNT)),
        "validRange": pointer(
            Struct(
                "CapacityRequestPolicyRange",
                {
                    "min": pointer(AMOUNT),
                    "max": pointer(AMOUNT),
                    "step": pointer(AMOUNT),
                },
            )
        ),
    },
)
_ATTRIBUTE = Struct(
    "DeviceAttribute",
    {
        "int": pointer(INTEGER),
        "bool": pointer(BOOLEAN),
        "string": pointer(TEXT),
        "version": pointer(TEXT),
        "ints": optional(ListOf(INTEGER)),
        "bools": optional(ListOf(BOOLEAN)),
        "strings": optional(ListOf(TEXT)),
        "versions": optional(ListOf(TEXT)),
    },
)
_MAPPING = Struct(
    "NodeAllocatableResourceMapping",
    {"capacityKey": pointer(TEXT), "allocationMultiplier": pointer(AMOUNT)},
)


_RESOURCE = Struct(
    "NodeAllocatableResource",
    {
        "mapping": pointer(
            Struct(
                "NodeAllocatableMapping",
                {
                    "capacityKey": pointer(TEXT),
                    "capacityMultiplier": pointer(AMOUNT),
                    "deviceMultiplier": pointer(AMOUNT),
                },
            )
        ),
        "overhead": pointer(
            Struct(
                "NodeAllocatableOverhead",
                {"perPod": pointer(AMOUNT), "perContainer": pointer(AMOUNT)},
            )
        ),
    },
)


def _device_default(device: _Value, _reading: Reading) -> None:
    for mapping in (device.get("nodeAllocatableResourceMappings") or {}).values():
        mapping.setdefault("allocationMultiplier", parse("1"))


_DEVICE_DETAILS = {
    "attributes": optional(MapOf(_ATTRIBUTE, "v1.QualifiedName")),
    "capacity": optional(
        MapOf(
            Struct(
                "DeviceCapacity",
                {"value": always(AMOUNT), "requestPolicy": pointer(_POLICY)},
            ),
            "v1.QualifiedName",
        )
    ),
    "consumesCounters": optional(
        ListOf(
            Struct(
                "DeviceCounterConsumption",
                {
                    "counterSet": always(TEXT),
                    "counters": optional(_COUNTERS),
                    "compatibilityGroups": optional(ListOf(TEXT)),
                },
            )
        )
    ),
    "nodeName": pointer(TEXT),
    "nodeSelector": pointer(NODE_SELECTOR),
    "allNodes": pointer(BOOLEAN),
    "taints": optional(ListOf(TAINT)),
    "bindsToNode": pointer(BOOLEAN),
    "bindingConditions": optional(ListOf(TEXT)),
    "bindingFailureConditions": optional(ListOf(TEXT)),
    "allowMultipleAllocations": pointer(BOOLEAN),
    "nodeAllocatableResourceMappings": optional(MapOf(_MAPPING, "v1.ResourceName")),
    "nodeAllocatableResources": optional(MapOf(_RESOURCE, "v1.ResourceName")),
}
DEVICE: Final = Struct(
    "Device", {"name": always(TEXT), **_DEVICE_DETAILS}, _device_default
)
BASIC_DEVICE: Final = Struct(
    "Device",
    {
        "name": always(TEXT),
        "basic": pointer(Struct("BasicDevice", _DEVICE_DETAILS, _device_default)),
    },
)


def slice_(device: Struct, *, selection: Callable[[Shape], Field] = pointer) -> Struct:
    """A ResourceSlice of such devices.

    ``selection`` tells how ``spec.nodeName`` and ``spec.allNodes`` are kept: v1beta1
    has no pointers there, so an empty name and false are the same as not set.
    """
    pool = Struct(
        "ResourcePool",
        {
            "name": always(TEXT),
            "generation": always(INTEGER),
            "resourceSliceCount": always(INTEGER),
        },
    )
    counter_set = Struct(
        "CounterSet", {"name": always(TEXT), "counters": optional(_COUNTERS)}
    )
    spec = Struct(
        "ResourceSliceSpec",
        {
            "driver": always(TEXT),
            "pool": always(pool),
            "nodeName": selection(TEXT),
            "nodeSelector": pointer(NODE_SELECTOR),
            "allNodes": selection(BOOLEAN),
            "devices": optional(ListOf(device)),
            "perDeviceNodeSelection": pointer(BOOLEAN),
            "sharedCounters": optional(ListOf(counter_set)),
        },
    )
    return kind("ResourceSlice", spec=always(spec))


RULE: Final = kind(
    "DeviceTaintRule",
    spec=always(
        Struct(
            "DeviceTaintRuleSpec",
            {
                "deviceSelector": pointer(
                    Struct(
                        "DeviceTaintSelector",
                        {
                            "driver": pointer(TEXT),
                            "pool": pointer(TEXT),
                            "device": pointer(TEXT),
                        },
                    )
                ),
                "taint": optional(TAINT),
            },
        )
    ),
    status=optional(
        Struct("DeviceTaintRuleStatus", {"conditions": optional(ListOf(CONDITION))})
    ),
)
