"""Signs that a scheduler is about to allocate, and claims that no guard keeps away.

A scheduler decides in memory and writes later. Before the allocation it writes two
things that can be seen: the node it has chosen for a pod (status.nominatedNodeName) and
the finalizer of the claim. Under load these are late as well, so they say something
only after a barrier pod got its verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from cluster.writeback.admitted import scheduler_of
from cluster.writeback.requests import protected
from cluster.writeback.tags import OWNER
from cluster.writeback.values import Json, Order, allocation_of, meta_of
from dra.errors import DRAError
from dra.objects import DeviceTaint, ResourceClaim, Toleration, read
from dra.taints import tolerates


def marks(claims: Iterable[Json], pods: Iterable[Json], order: Order) -> list[str]:
    """What may become an allocation at any moment, in words.

    ``pods`` are the unbound ones, listed after ``claims``: a claim gets its finalizer
    for a pod that exists. The finalizer of a claim that another run of a portal is
    writing to means nothing unless a pod waits for that claim.
    """
    waiting = list(pods)
    wanted = {claim for pod in waiting for claim in _claims_of(pod)}
    return [
        *(f"the pod {_named(pod)}" for pod in waiting if _is_going(pod, order)),
        *(
            f"the claim {_named(claim)}"
            for claim in claims
            if _is_marked(claim, order)
            and (_named(claim) in wanted or not _is_portals(claim))
        ),
    ]


def _is_going(pod: Json, order: Order) -> bool:
    """Whether a pod has been given the node of the order, or some node."""
    status = pod.get("status")
    chosen = status.get("nominatedNodeName") if isinstance(status, dict) else None
    return bool(chosen) and order.node_name in ("", chosen)


def _is_marked(claim: Json, order: Order) -> bool:
    meta = meta_of(claim)
    return (
        meta.get("uid") != order.uid
        and protected(claim)
        and allocation_of(claim) is None
        and not meta.get("deletionTimestamp")
    )


def _is_portals(claim: Json) -> bool:
    return OWNER in (meta_of(claim).get("annotations") or {})


def of_unknown_schedulers(
    claims: Iterable[Json], pods: Iterable[Json], order: Order, known: Collection[str]
) -> list[str]:
    """Unbound pods that wait for devices of schedulers that no barrier is for, in words.

    What such a scheduler has decided and not yet written nobody can know. A pod with
    scheduling gates has not been looked at by any.
    """
    free = {
        _named(claim)
        for claim in claims
        if allocation_of(claim) is None and meta_of(claim).get("uid") != order.uid
    }
    return [
        f"{_named(pod)} ({scheduler_of(pod)})"
        for pod in pods
        if scheduler_of(pod) not in known
        and not (pod.get("spec") or {}).get("schedulingGates")
        and not free.isdisjoint(_claims_of(pod))
    ]


def unheeding_claims(
    claims: Iterable[Json], taint: DeviceTaint, order: Order
) -> list[str]:
    """Free claims with a request that tolerates the taint of a guard by rule."""
    return [
        _named(claim)
        for claim in claims
        if allocation_of(claim) is None
        and meta_of(claim).get("uid") != order.uid
        and any(tolerates(toleration, taint) for toleration in _tolerations(claim))
    ]


def unheeding_pods(pods: Iterable[Json], key: str) -> list[str]:
    """Unbound pods that may want devices and that a taint of a node does not keep away."""
    return [
        _named(pod)
        for pod in pods
        if _may_want_devices(pod)
        and any(
            t.get("operator") == "Exists"
            and t.get("key") in (None, "", key)
            and t.get("effect") in (None, "", "NoSchedule")
            for t in (pod.get("spec") or {}).get("tolerations") or ()
        )
    ]


def _may_want_devices(pod: Json) -> bool:
    """By a claim, or by an extended resource, of which the scheduler may make one."""
    spec = pod.get("spec") or {}
    if spec.get("resourceClaims"):
        return True
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    asked = ((c.get("resources") or {}).get("requests") or {} for c in containers)
    return any("/" in name for requests in asked for name in requests)


def _tolerations(claim: Json) -> Iterator[Toleration]:
    try:
        requests = read(claim, ResourceClaim).spec.devices.requests
    except DRAError:
        return
    for request in requests or ():
        if request.exactly is not None:
            yield from request.exactly.tolerations or ()
        for alternative in request.first_available or ():
            yield from alternative.tolerations or ()


def names_claim(pod: Json, claim: str) -> bool:
    """Whether the pod uses the claim ``namespace/name``."""
    return claim in _claims_of(pod)


def _claims_of(pod: Json) -> Iterator[str]:
    """``namespace/name`` of each claim that the pod uses, as far as it has a name."""
    namespace = meta_of(pod).get("namespace")
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    made = status.get("resourceClaimStatuses") or ()
    extended = status.get("extendedResourceClaimStatus") or {}
    for entry in (*(spec.get("resourceClaims") or ()), *made, extended):
        if name := entry.get("resourceClaimName"):
            yield f"{namespace}/{name}"


def _named(obj: Json) -> str:
    return f"{meta_of(obj).get('namespace')}/{meta_of(obj).get('name')}"
