"""Pod and PodGroup: what waits for claims."""

from __future__ import annotations

import msgspec

from dra.objects.base import Base, Meta, RawQuantity
from dra.objects.nodes import Condition
from dra.objects.selectors import NodeSelector
from dra.objects.taints import Toleration


class PodResourceClaim(Base, frozen=True):
    """One entry of a pod's or pod group's ``spec.resourceClaims``."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class SchedulingGroup(Base, frozen=True):
    pod_group_name: str = ""


class NodeAffinity(Base, frozen=True):
    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Base, frozen=True):
    node_affinity: NodeAffinity | None = None


class ContainerResources(Base, frozen=True):
    limits: dict[str, RawQuantity] | None = None
    requests: dict[str, RawQuantity] | None = None


class Container(Base, frozen=True):
    """What a container asks; ``restart_policy`` Always makes a sidecar of an init one."""

    name: str = ""
    restart_policy: str = ""
    resources: ContainerResources | None = None


class SchedulingGate(Base, frozen=True):
    """While a pod has one nobody tries to schedule it."""

    name: str = ""


class PodSpec(Base, frozen=True):
    """Of a pod what decides about its claims, on which nodes they are of use, and when
    its turn is: those of a higher ``priority`` first, None as 0."""

    node_name: str = ""
    resource_claims: list[PodResourceClaim] | None = None
    scheduling_group: SchedulingGroup | None = None
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    scheduling_gates: list[SchedulingGate] | None = None
    priority: int | None = None


class PodResourceClaimStatus(Base, frozen=True):
    name: str = ""
    resource_claim_name: str | None = None


class ExtendedResourceClaimStatus(Base, frozen=True):
    """The claim that the scheduler made for a pod's extended resources."""

    resource_claim_name: str = ""


class PodStatus(Base, frozen=True):
    phase: str = ""
    conditions: list[Condition] | None = None
    resource_claim_statuses: list[PodResourceClaimStatus] | None = None
    extended_resource_claim_status: ExtendedResourceClaimStatus | None = None


class Pod(Base, frozen=True):
    metadata: Meta = Meta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class GangPolicy(Base, frozen=True):
    min_count: int = 1


class PodGroupPolicy(Base, frozen=True):
    """``gang``: at least so many pods at once or none; else each pod by itself."""

    gang: GangPolicy | None = None


class PodGroupSpec(Base, frozen=True):
    resource_claims: list[PodResourceClaim] | None = None
    scheduling_policy: PodGroupPolicy | None = None


class PodGroupStatus(Base, frozen=True):
    resource_claim_statuses: list[PodResourceClaimStatus] | None = None


class PodGroup(Base, frozen=True):
    metadata: Meta = Meta()
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()
