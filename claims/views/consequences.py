"""What follows when a claim, template or class is deleted, in words.

From what the mirror knows; the rules are those of the API server and of the resource
claim controller.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from claims.choices import ClaimState
from claims.models import ClaimConsumer, Pod, ResourceClaim, ResourceClaimTemplate
from web.pages import cells

PROTECTION: Final = "resource.kubernetes.io/delete-protection"
_MEANINGS: Final = {
    PROTECTION: "Keeps the claim while somebody has it reserved. The cluster's "
    "controller removes it after the last consumer has ended.",
    "foregroundDeletion": "Waits until the objects that it owns are gone.",
    "orphan": "Waits until the objects that it owns are no longer tied to it.",
}
_UNKNOWN: Final = (
    "Whatever put it there removes it when it has tidied up. If that no longer runs, "
    "the object stays until somebody removes the finalizer by hand."
)


@dataclass(frozen=True, slots=True)
class Finalizer:
    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Consumer:
    """Who has a claim reserved. ``pod`` is None for other kinds and unknown pods."""

    words: str
    pod: Pod | None
    state: str


@dataclass(frozen=True, slots=True)
class Consequences:
    """``first`` comes on top; ``danger`` is empty or what nobody should overlook."""

    first: str
    more: Sequence[str] = ()
    danger: str = ""


def finalizers_of(raw: Any) -> list[Finalizer]:
    meta = raw.get("metadata") if isinstance(raw, dict) else None
    found = meta.get("finalizers") if isinstance(meta, dict) else None
    names = [str(name) for name in found] if isinstance(found, list) else []
    return [Finalizer(name, _MEANINGS.get(name, _UNKNOWN)) for name in names]


def consumers_of(claim: ResourceClaim) -> list[Consumer]:
    """With the state of each pod: what has to end before the claim can go."""
    rows = list(claim.consumers.all())
    uids = [row.uid for row in rows if _is_pod(row) and row.uid]
    pods = {
        pod.uid: pod
        for pod in Pod.objects.filter(cluster=claim.cluster_id, uid__in=uids).defer(
            "raw"
        )
    }
    return [_consumer(row, pods.get(row.uid)) for row in rows]


def of_claim(claim: ResourceClaim, consumers: Sequence[Consumer]) -> Consequences:
    names = {each.name for each in finalizers_of(claim.raw)}
    if claim.state == ClaimState.DELETING:
        return _leaving(names, consumers, _of_owner(claim))
    if not consumers:
        return Consequences(_unused(claim, names), _of_owner(claim))
    users = cells.count(len(consumers), "consumer")
    use = f"{users} still {'uses' if len(consumers) == 1 else 'use'} it."
    if PROTECTION in names:
        return Consequences(
            "It is marked for deletion now and goes when its last consumer has ended: "
            f"{use}",
            [
                "Pods that use it run on and keep its devices. A pod that is not "
                "reserved for it yet cannot use it any more. There is no way back.",
                *_of_owner(claim),
            ],
        )
    return Consequences(
        f"It goes at once, although {use}",
        _of_owner(claim),
        danger="It has no delete-protection: the cluster may give its devices to "
        "somebody else while pods still use them. End the pods first.",
    )


def _leaving(
    names: set[str], consumers: Sequence[Consumer], more: Sequence[str]
) -> Consequences:
    first = "It is being deleted already"
    if consumers:
        return Consequences(f"{first} and goes when its last consumer has ended.", more)
    return Consequences(f"{first}. It waits for: {_listed(names)}.", more)


def _unused(claim: ResourceClaim, names: set[str]) -> str:
    when = "It goes at once"
    if PROTECTION in names and claim.allocated:
        when = (
            "It goes as soon as the cluster's controller has taken its allocation back"
        )
    elif others := names - {PROTECTION}:
        when = f"It is marked now and goes when its finalizers are gone ({_listed(others)})"
    if not claim.device_count:
        return f"{when}."
    held = cells.count(claim.device_count, "device")
    return f"{when}, and the {held} that it holds can be used again."


def of_template(
    template: ResourceClaimTemplate, claims: int, pods: int
) -> Consequences:
    made = "The claim that was" if claims == 1 else f"The {claims:,} claims that were"
    more = [
        "Pods that name it and have no claim yet, and pods made later by a workload "
        "that names it, wait until there is a template of this name again."
    ]
    if pods:
        more.append(
            f"{cells.count(pods, 'pod')} {'names' if pods == 1 else 'name'} it now; "
            "those that have their claim run on."
        )
    if not claims:
        return Consequences("It goes at once. No claim was made from it.", more)
    return Consequences(f"It goes at once. {made} made from it stay.", more)


def of_class(
    claims_waiting: int, claims_holding: int, templates: int, resource: str
) -> Consequences:
    more = []
    if claims_holding:
        more.append(
            f"{cells.count(claims_holding, 'claim')} of this class "
            f"{'holds' if claims_holding == 1 else 'hold'} devices and "
            f"{'keeps' if claims_holding == 1 else 'keep'} them."
        )
    if templates:
        more.append(
            f"{cells.count(templates, 'template')} {'asks' if templates == 1 else 'ask'} "
            "for it: claims made from them will wait."
        )
    if resource:
        more.append(
            f"Pods can no longer ask for the extended resource {resource} through it."
        )
    if claims_waiting:
        return Consequences(
            "It goes at once. "
            f"{cells.count(claims_waiting, 'claim')} that "
            f"{'waits asks' if claims_waiting == 1 else 'wait ask'} for it and cannot be "
            "allocated until there is a class of this name again.",
            more,
        )
    if not (claims_holding or templates or resource):
        return Consequences("It goes at once. Nothing in the cluster refers to it.")
    return Consequences("It goes at once. No claim waits for it.", more)


def _of_owner(claim: ResourceClaim) -> list[str]:
    if not claim.owner_name:
        return []
    owner = f"{claim.owner_kind} {claim.owner_name}"
    if claim.owner_kind == "Pod":
        return [
            f"It was made for the pod {claim.owner_name} and goes with it: delete the pod "
            "instead. As long as the pod has not started, the cluster's controller makes "
            "a new claim in place of this one."
        ]
    return [f"It belongs to the {owner}, which may make a new one in its place."]


def _consumer(row: ClaimConsumer, pod: Pod | None) -> Consumer:
    if row.is_pin:
        state = (
            "no workload; deallocate the claim here first, nobody else takes it away"
        )
        return Consumer("the portal's pin", None, state)
    if not _is_pod(row):
        kind = f"{row.resource}.{row.api_group}".rstrip(".")
        state = "not a pod: whoever reserved it has to release it"
        return Consumer(f"{kind} {row.name}", None, state)
    if pod is None:
        state = "gone: the controller will remove its reservation"
        return Consumer(f"pod {row.name}", None, state)
    return Consumer(f"pod {row.name}", pod, _state_of(pod))


def _state_of(pod: Pod) -> str:
    if pod.deleting:
        return "ending"
    return pod.phase.lower() or "unknown"


def _is_pod(row: ClaimConsumer) -> bool:
    return row.resource == "pods" and not row.api_group


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "the API server"
