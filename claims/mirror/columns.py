"""Claims, templates and pods → columns and the rows below them. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple

from claims.choices import ClaimState
from claims.wording import ALL, requests_text
from dra import objects
from dra.container_asks import CLASS_PREFIX, amounts
from dra.pod_needs import EXTENDED_RESOURCES
from inventory.mirror import Columns, moment

RESOURCES_KEPT: Final = 64
"""Extended resources of one pod that are kept; one claim serves at most half of them."""
_ENDED: Final = frozenset({"Succeeded", "Failed"})
_MOST: Final = 2**63 - 1


def claim_columns(claim: objects.ResourceClaim) -> Columns:
    """``state`` and ``template_name`` are left out: they depend on pods."""
    allocation = claim.status.allocation
    owner = _owner(claim.metadata)
    results = (allocation.devices.results if allocation else None) or []
    return {
        "requests_text": requests_text(claim.spec),
        "allocated": allocation is not None,
        "node_name": _only_node(allocation.node_selector) if allocation else "",
        "device_count": len(results),
        "consumer_count": len(claim.status.reserved_for or ()),
        "admin_access": any(
            request.exactly is not None and bool(request.exactly.admin_access)
            for request in claim.spec.devices.requests or ()
        ),
        "owner_kind": owner.kind if owner else "",
        "owner_name": owner.name if owner else "",
        "allocated_at": moment(allocation.allocation_timestamp) if allocation else None,
    }


def claim_state(
    *, deleting: bool, allocated: bool, reserved: bool, running: bool
) -> ClaimState:
    """``running``: a pod that reserved the claim is bound to a node and runs there.

    An allocation without devices is an allocation all the same: the scheduler asks
    no more than whether it is set.
    """
    if deleting:
        return ClaimState.DELETING
    if not allocated:
        return ClaimState.PENDING
    if not reserved:
        return ClaimState.ALLOCATED
    return ClaimState.IN_USE if running else ClaimState.RESERVED


def request_rows(spec: objects.ResourceClaimSpec) -> Iterator[Columns]:
    """One row per request, or per alternative of a ``firstAvailable``."""
    position = 0
    for request in spec.devices.requests or ():
        choices: list[objects.ExactRequest | objects.SubRequest]
        if request.exactly is not None:
            choices = [request.exactly]
        else:
            choices = [*(request.first_available or ())] or [objects.SubRequest()]
        for choice in choices:
            is_all = choice.allocation_mode == ALL
            yield {
                "position": position,
                "name": request.name,
                "subrequest": getattr(choice, "name", ""),
                "class_name": choice.device_class_name,
                "mode": choice.allocation_mode or "ExactCount",
                "count": 0 if is_all else max(choice.count, 1),
                "admin_access": bool(getattr(choice, "admin_access", None)),
            }
            position += 1


def device_rows(claim: objects.ResourceClaim) -> list[Columns]:
    """One row per allocated device, in the order of the results."""
    allocation = claim.status.allocation
    results = (allocation.devices.results if allocation else None) or []
    return [
        {
            "position": position,
            "request": result.request,
            "driver": result.driver,
            "pool": result.pool,
            "device": result.device,
            "admin_access": bool(result.admin_access),
            "share_id": result.share_id or "",
            "consumed_capacity": result.consumed_capacity or {},
        }
        for position, result in enumerate(results)
    ]


def consumer_rows(claim: objects.ResourceClaim) -> list[Columns]:
    return [
        {
            "api_group": consumer.api_group,
            "resource": consumer.resource,
            "name": consumer.name,
            "uid": consumer.uid,
        }
        for consumer in claim.status.reserved_for or ()
    ]


def template_columns(template: objects.ResourceClaimTemplate) -> Columns:
    return {"requests_text": requests_text(template.spec.spec)}


def pod_columns(pod: objects.Pod) -> Columns:
    unscheduled = (
        condition.message
        for condition in pod.status.conditions or ()
        if condition.type == "PodScheduled" and condition.status == "False"
    )
    return {
        "phase": pod.status.phase,
        "node_name": pod.spec.node_name,
        "scheduling_message": next(unscheduled, ""),
    }


def has_claims(raw: dict[str, Any]) -> bool:
    """Whether a pod names claims or got one for its extended resources."""
    spec, status = raw.get("spec"), raw.get("status")
    named = isinstance(spec, dict) and bool(spec.get("resourceClaims"))
    return named or bool(extended_claim_name(status))


def is_of_a_group(raw: dict[str, Any]) -> bool:
    """Whether a pod belongs to a PodGroup: a gang counts its pods without claims too."""
    spec = raw.get("spec")
    group = spec.get("schedulingGroup") if isinstance(spec, dict) else None
    return isinstance(group, dict) and bool(group.get("podGroupName"))


def extended_claim_name(status: Any) -> str:
    """The claim that the scheduler made for a pod's extended resources, or ""."""
    found = status.get("extendedResourceClaimStatus") if isinstance(status, dict) else 0
    name = found.get("resourceClaimName") if isinstance(found, dict) else None
    return name if isinstance(name, str) else ""


def awaits_extended(raw: dict[str, Any], served: Collection[str]) -> bool:
    """Whether a pod without a node asks for an extended resource of DRA: one of
    ``served``, which classes name, or one that every class has.

    A pod that has got a node without a claim for it was served by a device plugin.
    """
    spec, status = raw.get("spec"), raw.get("status")
    if not isinstance(spec, dict) or spec.get("nodeName"):
        return False
    if isinstance(status, dict) and status.get("phase") in _ENDED:
        return False
    return any(name.startswith(CLASS_PREFIX) or name in served for name in _asked(spec))


def resource_rows(raw: dict[str, Any]) -> Iterator[Columns]:
    """One row per extended resource that the pod asks for, by whomever it is served."""
    spec = raw.get("spec")
    found = amounts(spec) if isinstance(spec, dict) else {}
    for name, amount in list(found.items())[:RESOURCES_KEPT]:
        yield {"name": name, "amount": min(amount, _MOST)}


def _asked(spec: dict[str, Any]) -> Iterator[str]:
    """Names of resources that containers ask, quickly: every pod of a cluster passes."""
    for key in ("containers", "initContainers"):
        listed = spec.get(key)
        for container in listed if isinstance(listed, list) else ():
            resources = container.get("resources") if isinstance(container, dict) else 0
            for part in ("limits", "requests"):
                named = resources.get(part) if isinstance(resources, dict) else 0
                yield from named if isinstance(named, dict) else ()


class PodClaimEntry(NamedTuple):
    """One claim of one pod; ``claim_name`` is empty until it has been generated."""

    entry: str
    claim_name: str
    template_name: str


def pod_claims(pod: objects.Pod, raw: dict[str, Any]) -> list[PodClaimEntry]:
    generated = {
        status.name: status.resource_claim_name or ""
        for status in pod.status.resource_claim_statuses or ()
    }
    entries = [
        PodClaimEntry(
            entry.name,
            entry.resource_claim_name or generated.get(entry.name, ""),
            entry.resource_claim_template_name or "",
        )
        for entry in pod.spec.resource_claims or ()
    ]
    extended = extended_claim_name(raw.get("status"))
    if extended:
        entries.append(PodClaimEntry(EXTENDED_RESOURCES, extended, ""))
    return entries


def _owner(meta: objects.Meta) -> objects.OwnerReference | None:
    owners = meta.owner_references or []
    return next((o for o in owners if o.controller), owners[0] if owners else None)


def _only_node(selector: objects.NodeSelector | None) -> str:
    """The node that the selector names, when it names exactly one."""
    terms = (selector.node_selector_terms if selector else None) or []
    if len(terms) != 1 or terms[0].match_expressions:
        return ""
    fields = terms[0].match_fields or []
    if len(fields) != 1 or fields[0].key != "metadata.name":
        return ""
    values = fields[0].values or []
    return values[0] if fields[0].operator == "In" and len(values) == 1 else ""
