"""ResourceClaim and ResourceClaimTemplate, field by field, as 1.36 and 1.37 have them."""

from __future__ import annotations

from typing import Any, Final

from dra.validation.schema.shapes import ListOf, MapOf, Reading, Struct
from dra.validation.schema.shared import (
    AMOUNT,
    BOOLEAN,
    CONDITION,
    CONFIGURATION,
    INTEGER,
    META,
    NODE_SELECTOR,
    RAW,
    SELECTOR,
    TEXT,
    TIME,
    TOLERATION,
    always,
    kind,
    optional,
    pointer,
)

type _Value = dict[str, Any]


def _count_default(request: _Value, _reading: Reading) -> None:
    mode = request.setdefault("allocationMode", "ExactCount")
    if mode == "ExactCount":
        request.setdefault("count", 1)


def _flat_count_default(request: _Value, reading: Reading) -> None:
    """In v1beta1 a request without a class has subrequests instead."""
    if request.get("deviceClassName"):
        _count_default(request, reading)


_DERIVED = Struct(
    "DeviceDerivedAttribute", {"name": always(TEXT), "expression": always(TEXT)}
)
_DETAILS = {
    "deviceClassName": always(TEXT),
    "selectors": optional(ListOf(SELECTOR)),
    "derivedAttributes": optional(ListOf(_DERIVED)),
    "allocationMode": optional(TEXT),
    "count": optional(INTEGER),
    "adminAccess": pointer(BOOLEAN),
    "tolerations": optional(ListOf(TOLERATION)),
    "capacity": pointer(
        Struct(
            "CapacityRequirements",
            {"requests": optional(MapOf(AMOUNT, "v1.QualifiedName"))},
        )
    ),
}
_SUBREQUEST = Struct(
    "DeviceSubRequest",
    {
        "name": always(TEXT),
        **{name: of for name, of in _DETAILS.items() if name != "adminAccess"},
    },
    _count_default,
)
REQUEST: Final = Struct(
    "DeviceRequest",
    {
        "name": always(TEXT),
        "exactly": pointer(Struct("ExactDeviceRequest", _DETAILS, _count_default)),
        "firstAvailable": optional(ListOf(_SUBREQUEST)),
    },
)
FLAT_REQUEST: Final = Struct(
    "DeviceRequest",
    {
        "name": always(TEXT),
        **_DETAILS,
        "deviceClassName": optional(TEXT),
        "firstAvailable": optional(ListOf(_SUBREQUEST)),
    },
    _flat_count_default,
)


def claim_spec(request: Struct) -> Struct:
    constraint = Struct(
        "DeviceConstraint",
        {
            "requests": optional(ListOf(TEXT)),
            "matchAttribute": pointer(TEXT),
            "distinctAttribute": pointer(TEXT),
        },
    )
    configuration = Struct(
        "DeviceClaimConfiguration",
        {"requests": optional(ListOf(TEXT)), **CONFIGURATION},
    )
    devices = Struct(
        "DeviceClaim",
        {
            "requests": always(ListOf(request)),
            "constraints": optional(ListOf(constraint)),
            "config": optional(ListOf(configuration)),
        },
    )
    return Struct("ResourceClaimSpec", {"devices": always(devices)})


_RESULT = Struct(
    "DeviceRequestAllocationResult",
    {
        "request": always(TEXT),
        "driver": always(TEXT),
        "pool": always(TEXT),
        "device": always(TEXT),
        "adminAccess": pointer(BOOLEAN),
        "tolerations": optional(ListOf(TOLERATION)),
        "bindingConditions": optional(ListOf(TEXT)),
        "bindingFailureConditions": optional(ListOf(TEXT)),
        "shareID": pointer(TEXT),
        "consumedCapacity": optional(MapOf(AMOUNT, "v1.QualifiedName")),
    },
)
ALLOCATION: Final = Struct(
    "AllocationResult",
    {
        "devices": optional(
            Struct(
                "DeviceAllocationResult",
                {
                    "results": optional(ListOf(_RESULT)),
                    "config": optional(
                        ListOf(
                            Struct(
                                "DeviceAllocationConfiguration",
                                {
                                    "source": always(TEXT),
                                    "requests": optional(ListOf(TEXT)),
                                    **CONFIGURATION,
                                },
                            )
                        )
                    ),
                },
            )
        ),
        "nodeSelector": pointer(NODE_SELECTOR),
        "allocationTimestamp": pointer(TIME),
    },
)
_DEVICE_STATUS = Struct(
    "AllocatedDeviceStatus",
    {
        "driver": always(TEXT),
        "pool": always(TEXT),
        "device": always(TEXT),
        "shareID": pointer(TEXT),
        "conditions": always(ListOf(CONDITION)),
        "data": pointer(RAW),
        "networkData": pointer(
            Struct(
                "NetworkDeviceData",
                {
                    "interfaceName": optional(TEXT),
                    "ips": optional(ListOf(TEXT)),
                    "hardwareAddress": optional(TEXT),
                },
            )
        ),
    },
)
CLAIM_STATUS: Final = Struct(
    "ResourceClaimStatus",
    {
        "allocation": pointer(ALLOCATION),
        "reservedFor": optional(
            ListOf(
                Struct(
                    "ResourceClaimConsumerReference",
                    {
                        "apiGroup": optional(TEXT),
                        "resource": always(TEXT),
                        "name": always(TEXT),
                        "uid": always(TEXT),
                    },
                )
            )
        ),
        "devices": optional(ListOf(_DEVICE_STATUS)),
    },
)


def claim(request: Struct) -> Struct:
    return kind(
        "ResourceClaim",
        spec=always(claim_spec(request)),
        status=optional(CLAIM_STATUS),
    )


def template(request: Struct) -> Struct:
    spec = Struct(
        "ResourceClaimTemplateSpec",
        {"metadata": optional(META), "spec": always(claim_spec(request))},
    )
    return kind("ResourceClaimTemplate", spec=always(spec))
