"""What a claim has got, and who uses it: ``status`` of a ResourceClaim."""

from __future__ import annotations

import msgspec

from dra.objects.base import Base, RawQuantity
from dra.objects.classes import OpaqueConfig
from dra.objects.selectors import NodeSelector
from dra.objects.taints import Toleration


class DeviceResult(Base, frozen=True):
    """One allocated device: ``status.allocation.devices.results[]``."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: list[Toleration] | None = None
    binding_conditions: list[str] | None = None
    binding_failure_conditions: list[str] | None = None
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: dict[str, RawQuantity] | None = None


class AllocationConfig(Base, frozen=True):
    source: str = ""
    requests: list[str] | None = None
    opaque: OpaqueConfig | None = None


class AllocationDevices(Base, frozen=True):
    results: list[DeviceResult] | None = None
    config: list[AllocationConfig] | None = None


class AllocationResult(Base, frozen=True):
    devices: AllocationDevices = AllocationDevices()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class ConsumerReference(Base, frozen=True):
    """One entry of ``status.reservedFor``."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""
