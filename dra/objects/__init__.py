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

from dra.objects.allocations import (
    AllocationConfig,
    AllocationDevices,
    AllocationResult,
    ConsumerReference,
    DeviceResult,
)
from dra.objects.base import Base, Json, Meta, OwnerReference, RawQuantity
from dra.objects.claims import (
    CapacityRequirements,
    ClaimConfig,
    ClaimTemplateSpec,
    Constraint,
    DerivedAttribute,
    DeviceClaim,
    ExactRequest,
    Request,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceClaimTemplate,
    SubRequest,
)
from dra.objects.classes import ClassConfig, DeviceClass, DeviceClassSpec, OpaqueConfig
from dra.objects.nodes import (
    Condition,
    Namespace,
    Node,
    NodeSpec,
    NodeStatus,
    NodeTaint,
)
from dra.objects.pods import (
    Affinity,
    Container,
    ContainerResources,
    ExtendedResourceClaimStatus,
    GangPolicy,
    NodeAffinity,
    Pod,
    PodGroup,
    PodGroupPolicy,
    PodGroupSpec,
    PodGroupStatus,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSpec,
    PodStatus,
    SchedulingGate,
    SchedulingGroup,
)
from dra.objects.reading import KINDS, read, write
from dra.objects.selectors import (
    CELExpression,
    DeviceSelector,
    NodeSelector,
    NodeSelectorTerm,
    SelectorRequirement,
)
from dra.objects.slices import (
    CapacityRequestPolicy,
    CapacityValidRange,
    Counter,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    PoolRef,
    ResourceSlice,
    ResourceSliceSpec,
)
from dra.objects.taint_rules import (
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    TaintRuleSelector,
)
from dra.objects.taints import DeviceTaint, Toleration

__all__ = [
    "KINDS",
    "Affinity",
    "AllocationConfig",
    "AllocationDevices",
    "AllocationResult",
    "Base",
    "CELExpression",
    "CapacityRequestPolicy",
    "CapacityRequirements",
    "CapacityValidRange",
    "ClaimConfig",
    "ClaimTemplateSpec",
    "ClassConfig",
    "Condition",
    "Constraint",
    "ConsumerReference",
    "Container",
    "ContainerResources",
    "Counter",
    "CounterConsumption",
    "CounterSet",
    "DerivedAttribute",
    "Device",
    "DeviceAttribute",
    "DeviceCapacity",
    "DeviceClaim",
    "DeviceClass",
    "DeviceClassSpec",
    "DeviceResult",
    "DeviceSelector",
    "DeviceTaint",
    "DeviceTaintRule",
    "DeviceTaintRuleSpec",
    "ExactRequest",
    "ExtendedResourceClaimStatus",
    "GangPolicy",
    "Json",
    "Meta",
    "Namespace",
    "Node",
    "NodeAffinity",
    "NodeSelector",
    "NodeSelectorTerm",
    "NodeSpec",
    "NodeStatus",
    "NodeTaint",
    "OpaqueConfig",
    "OwnerReference",
    "Pod",
    "PodGroup",
    "PodGroupPolicy",
    "PodGroupSpec",
    "PodGroupStatus",
    "PodResourceClaim",
    "PodResourceClaimStatus",
    "PodSpec",
    "PodStatus",
    "PoolRef",
    "RawQuantity",
    "Request",
    "ResourceClaim",
    "ResourceClaimSpec",
    "ResourceClaimStatus",
    "ResourceClaimTemplate",
    "ResourceSlice",
    "ResourceSliceSpec",
    "SchedulingGate",
    "SchedulingGroup",
    "SelectorRequirement",
    "SubRequest",
    "TaintRuleSelector",
    "Toleration",
    "read",
    "write",
]
