"""ResourceClaim and ResourceClaimTemplate: what is asked for."""

from __future__ import annotations

from typing import Any

from dra.objects.allocations import AllocationResult, ConsumerReference
from dra.objects.base import Base, Meta, RawQuantity
from dra.objects.classes import OpaqueConfig
from dra.objects.selectors import DeviceSelector
from dra.objects.taints import Toleration


class CapacityRequirements(Base, frozen=True):
    requests: dict[str, RawQuantity] | None = None


class DerivedAttribute(Base, frozen=True):
    name: str = ""
    expression: str = ""


class SubRequest(Base, frozen=True):
    """One alternative of ``firstAvailable``."""

    name: str = ""
    device_class_name: str = ""
    selectors: list[DeviceSelector] | None = None
    allocation_mode: str = ""
    count: int = 0
    tolerations: list[Toleration] | None = None
    capacity: CapacityRequirements | None = None
    derived_attributes: list[DerivedAttribute] | None = None


class ExactRequest(Base, frozen=True):
    device_class_name: str = ""
    selectors: list[DeviceSelector] | None = None
    allocation_mode: str = ""
    count: int = 0
    admin_access: bool | None = None
    tolerations: list[Toleration] | None = None
    capacity: CapacityRequirements | None = None
    derived_attributes: list[DerivedAttribute] | None = None


class Request(Base, frozen=True):
    name: str = ""
    exactly: ExactRequest | None = None
    first_available: list[SubRequest] | None = None


class Constraint(Base, frozen=True):
    requests: list[str] | None = None
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class ClaimConfig(Base, frozen=True):
    requests: list[str] | None = None
    opaque: OpaqueConfig | None = None


class DeviceClaim(Base, frozen=True):
    requests: list[Request] | None = None
    constraints: list[Constraint] | None = None
    config: list[ClaimConfig] | None = None


class ResourceClaimSpec(Base, frozen=True):
    devices: DeviceClaim = DeviceClaim()


class ResourceClaimStatus(Base, frozen=True):
    allocation: AllocationResult | None = None
    reserved_for: list[ConsumerReference] | None = None
    devices: list[Any] | None = None


class ResourceClaim(Base, frozen=True):
    metadata: Meta = Meta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ClaimTemplateSpec(Base, frozen=True):
    metadata: Meta = Meta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(Base, frozen=True):
    metadata: Meta = Meta()
    spec: ClaimTemplateSpec = ClaimTemplateSpec()
