"""ResourceSlice: what drivers publish."""

from __future__ import annotations

import msgspec

from dra.objects.base import Base, Meta, RawQuantity
from dra.objects.selectors import NodeSelector
from dra.objects.taints import DeviceTaint


class DeviceAttribute(Base, frozen=True):
    """Exactly one member is set (the list members need DRAListTypeAttributes)."""

    int_: int | None = msgspec.field(default=None, name="int")
    bool_: bool | None = msgspec.field(default=None, name="bool")
    string: str | None = None
    version: str | None = None
    ints: list[int] | None = None
    bools: list[bool] | None = None
    strings: list[str] | None = None
    versions: list[str] | None = None


class CapacityValidRange(Base, frozen=True):
    min: RawQuantity | None = None
    max: RawQuantity | None = None
    step: RawQuantity | None = None


class CapacityRequestPolicy(Base, frozen=True):
    default: RawQuantity | None = None
    valid_values: list[RawQuantity] | None = None
    valid_range: CapacityValidRange | None = None


class DeviceCapacity(Base, frozen=True):
    value: RawQuantity = "0"
    request_policy: CapacityRequestPolicy | None = None


class Counter(Base, frozen=True):
    value: RawQuantity = "0"


class CounterSet(Base, frozen=True):
    name: str = ""
    counters: dict[str, Counter] | None = None


class CounterConsumption(Base, frozen=True):
    counter_set: str = ""
    counters: dict[str, Counter] | None = None
    compatibility_groups: list[str] | None = None


class Device(Base, frozen=True):
    name: str = ""
    attributes: dict[str, DeviceAttribute] | None = None
    capacity: dict[str, DeviceCapacity] | None = None
    consumes_counters: list[CounterConsumption] | None = None
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: list[DeviceTaint] | None = None
    binds_to_node: bool | None = None
    binding_conditions: list[str] | None = None
    binding_failure_conditions: list[str] | None = None
    allow_multiple_allocations: bool | None = None


class PoolRef(Base, frozen=True):
    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class ResourceSliceSpec(Base, frozen=True):
    driver: str = ""
    pool: PoolRef = PoolRef()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: list[Device] | None = None
    shared_counters: list[CounterSet] | None = None


class ResourceSlice(Base, frozen=True):
    metadata: Meta = Meta()
    spec: ResourceSliceSpec = ResourceSliceSpec()
