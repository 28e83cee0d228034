"""Kubernetes objects that DRA is about, read from JSON in ``v1`` form.

Reading is tolerant and typed: unknown fields are ignored here (the mirror keeps
the raw object), absent fields take the API's zero value, a field of the wrong
type is an :class:`~dra.errors.ObjectError` with its path. Quantities and
versions stay text until somebody computes with them, so one unreadable value
does not hide the rest of a slice.

Field names are Kubernetes' own in snake case; the shapes follow
``resource.k8s.io/v1`` (older versions are converted by ``cluster.convert``
before they come here).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dra.errors import ObjectError
from dra.reading import convert, spelled_out, where

Json = dict[str, Any]
RawQuantity = str | int | float


class Base(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Immutable, compared by value, camelCase on the outside."""


class OwnerReference(Base, frozen=True):
    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool | None = None


class Meta(Base, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    owner_references: list[OwnerReference] | None = None


# --- selectors -------------------------------------------------------------


class SelectorRequirement(Base, frozen=True):
    """One requirement of a node selector term."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class NodeSelectorTerm(Base, frozen=True):
    match_expressions: list[SelectorRequirement] | None = None
    match_fields: list[SelectorRequirement] | None = None


class NodeSelector(Base, frozen=True):
    node_selector_terms: list[NodeSelectorTerm] | None = None


class CELExpression(Base, frozen=True):
    expression: str = ""


class DeviceSelector(Base, frozen=True):
    cel: CELExpression | None = None


# --- ResourceSlice ---------------------------------------------------------


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


class DeviceTaint(Base, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


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


# --- DeviceClass -----------------------------------------------------------


class OpaqueConfig(Base, frozen=True):
    driver: str = ""
    parameters: Any = None


class ClassConfig(Base, frozen=True):
    opaque: OpaqueConfig | None = None


class DeviceClassSpec(Base, frozen=True):
    selectors: list[DeviceSelector] | None = None
    config: list[ClassConfig] | None = None
    extended_resource_name: str | None = None


class DeviceClass(Base, frozen=True):
    metadata: Meta = Meta()
    spec: DeviceClassSpec = DeviceClassSpec()


# --- ResourceClaim, ResourceClaimTemplate ----------------------------------


class Toleration(Base, frozen=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


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


# --- DeviceTaintRule -------------------------------------------------------


class TaintRuleSelector(Base, frozen=True):
    """All set members must equal; none set (or no selector) means every device."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(Base, frozen=True):
    device_selector: TaintRuleSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRule(Base, frozen=True):
    metadata: Meta = Meta()
    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()


# --- Node, Namespace, Pod, PodGroup ----------------------------------------


class NodeTaint(Base, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(Base, frozen=True):
    unschedulable: bool = False
    taints: list[NodeTaint] | None = None


class Condition(Base, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class NodeStatus(Base, frozen=True):
    conditions: list[Condition] | None = None


class Node(Base, frozen=True):
    metadata: Meta = Meta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Namespace(Base, frozen=True):
    metadata: Meta = Meta()


class PodResourceClaim(Base, frozen=True):
    """One entry of a pod's or pod group's ``spec.resourceClaims``."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class SchedulingGroup(Base, frozen=True):
    pod_group_name: str = ""


class PodSpec(Base, frozen=True):
    node_name: str = ""
    resource_claims: list[PodResourceClaim] | None = None
    scheduling_group: SchedulingGroup | None = None


class PodResourceClaimStatus(Base, frozen=True):
    name: str = ""
    resource_claim_name: str | None = None


class PodStatus(Base, frozen=True):
    phase: str = ""
    conditions: list[Condition] | None = None
    resource_claim_statuses: list[PodResourceClaimStatus] | None = None


class Pod(Base, frozen=True):
    metadata: Meta = Meta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class PodGroupSpec(Base, frozen=True):
    resource_claims: list[PodResourceClaim] | None = None


class PodGroupStatus(Base, frozen=True):
    resource_claim_statuses: list[PodResourceClaimStatus] | None = None


class PodGroup(Base, frozen=True):
    metadata: Meta = Meta()
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


KINDS: Final[dict[str, type[Base]]] = {
    cls.__name__: cls
    for cls in (
        DeviceClass,
        DeviceTaintRule,
        Namespace,
        Node,
        Pod,
        PodGroup,
        ResourceClaim,
        ResourceClaimTemplate,
        ResourceSlice,
    )
}


def read[T: Base](raw: Any, cls: type[T]) -> T:
    """Read one JSON object (a ``dict``) as ``cls``.

    Null counts as absent, as in Kubernetes. Raises
    :class:`~dra.errors.ObjectError` with the field path when a field has the
    wrong type.
    """
    try:
        return convert(raw, cls)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        meta = raw.get("metadata") if isinstance(raw, dict) else None
        meta = meta if isinstance(meta, dict) else {}
        if isinstance(error, UnicodeEncodeError):
            path, reason = "", "holds a text that is not Unicode (half a character)"
        else:
            path, reason = where(error)
        raise ObjectError(
            kind=cls.__name__,
            namespace=str(meta.get("namespace") or ""),
            name=str(meta.get("name") or "(no name)"),
            path=spelled_out(raw, cls, path),
            reason=reason,
        ) from error


def write(value: Base) -> Json:
    """The JSON object of ``value``, default fields left out."""
    return msgspec.to_builtins(value)  # type: ignore[no-any-return]
