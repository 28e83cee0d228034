"""One claim: what was written to it, who uses it, and what it asks for."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from dra.allocation.features import Features
from dra.audits.ages import LONG, age_of, in_words
from dra.audits.codes import Code
from dra.audits.finding import Finding, counted, finding, of_claim
from dra.names import DeviceID, ObjectKey, PoolKey
from dra.objects import (
    AllocationResult,
    ConsumerReference,
    DeviceClass,
    DeviceResult,
    Pod,
    ResourceClaim,
    ResourceClaimSpec,
)
from dra.pools import Pool

FINALIZER: Final = "resource.kubernetes.io/delete-protection"
MOST_CONSUMERS: Final = 256
NEARLY: Final = 230
"""Consumers from which on a claim is nearly full: nine tenths."""
ENDED: Final = frozenset({"Succeeded", "Failed"})
"""Phases of pods that use nothing any more."""


def claim_findings(
    claim: ResourceClaim,
    *,
    pools: Mapping[PoolKey, Pool],
    pods: Mapping[tuple[str, str], Pod] | None,
    used: bool,
    classes: Mapping[str, DeviceClass],
    unreadable: Container[ObjectKey],
    features: Features,
    now: datetime,
) -> Iterator[Finding]:
    """``pods`` is None where no pod is known: then nothing is said about them.

    ``used``: some pod or pod group names the claim. ``unreadable`` objects exist,
    whatever they are.
    """
    key = (claim.metadata.namespace, claim.metadata.name)
    name = f"Claim {key[0]}/{key[1]}"
    allocation = claim.status.allocation
    if allocation is None:
        missing = missing_classes(claim.spec, classes, unreadable)
        yield from _waiting(claim, key, name, missing, used=used or pods is None)
    else:
        yield from _written(claim, allocation, key, name, pools, features)
    yield from _consumers(claim, key, name, pods, unreadable, now)
    admin = [_named(r) for r in _results(allocation) if r.admin_access]
    if admin:
        yield finding(
            Code.CLAIM_ADMIN_ACCESS,
            of_claim(key),
            f"{name} has admin access to {counted(len(admin), 'device')}.",
            devices=", ".join(admin),
        )
    elif asks_admin(claim.spec):
        yield finding(
            Code.CLAIM_ADMIN_ACCESS, of_claim(key), f"{name} asks for admin access."
        )


def _waiting(
    claim: ResourceClaim,
    key: tuple[str, str],
    name: str,
    missing: Sequence[str],
    *,
    used: bool,
) -> Iterator[Finding]:
    if claim.metadata.deletion_timestamp:
        return
    for class_name in missing:
        yield finding(
            Code.CLAIM_MISSING_CLASS,
            of_claim(key, detail=class_name),
            f"{name} asks for class {class_name}, which does not exist.",
            device_class=class_name,
        )
    if not used and not missing:
        yield finding(
            Code.CLAIM_UNUSED, of_claim(key), f"{name} waits for a pod that uses it."
        )


def missing_classes(
    spec: ResourceClaimSpec,
    classes: Mapping[str, DeviceClass],
    unreadable: Container[ObjectKey],
) -> list[str]:
    """Classes that a spec names and that do not exist, in order, each once."""
    return [
        name
        for name in class_names(spec)
        if name not in classes and ObjectKey("DeviceClass", "", name) not in unreadable
    ]


def class_names(spec: ResourceClaimSpec) -> list[str]:
    found: dict[str, None] = {}
    for request in spec.devices.requests or ():
        parts = request.first_available or (request.exactly,)
        for part in parts:
            if part is not None and part.device_class_name:
                found.setdefault(part.device_class_name)
    return list(found)


def _asks_admin(spec: ResourceClaimSpec) -> Iterator[bool]:
    for request in spec.devices.requests or ():
        yield request.exactly is not None and bool(request.exactly.admin_access)


def asks_admin(spec: ResourceClaimSpec) -> bool:
    """Whether a request of a spec wants admin access."""
    return any(_asks_admin(spec))


def _results(allocation: AllocationResult | None) -> Sequence[DeviceResult]:
    return (allocation.devices.results or ()) if allocation is not None else ()


def _devices(allocation: AllocationResult | None) -> list[str]:
    return list(map(_named, _results(allocation)))


def _named(result: DeviceResult) -> str:
    return str(DeviceID(result.driver, result.pool, result.device))


# --- the allocation -------------------------------------------------------------


def _written(
    claim: ResourceClaim,
    allocation: AllocationResult,
    key: tuple[str, str],
    name: str,
    pools: Mapping[PoolKey, Pool],
    features: Features,
) -> Iterator[Finding]:
    if FINALIZER not in (claim.metadata.finalizers or ()):
        yield finding(
            Code.CLAIM_WITHOUT_FINALIZER,
            of_claim(key),
            f"{name} is allocated and has no finalizer {FINALIZER}.",
            devices=_few(allocation),
        )
    if allocation.node_selector is None:
        home = _home(allocation, pools)
        if home:
            yield finding(
                Code.CLAIM_WITHOUT_NODE_SELECTOR,
                of_claim(key),
                f"{name} holds devices of {home}, but its allocation has no node selector.",
                devices=_few(allocation),
            )
    timeless = not allocation.allocation_timestamp and not _is_of_one_pod(claim)
    if features.device_binding_and_status and timeless:
        yield finding(
            Code.CLAIM_WITHOUT_TIMESTAMP,
            of_claim(key),
            f"{name} is allocated without allocationTimestamp.",
            devices=_few(allocation),
        )


def _is_of_one_pod(claim: ResourceClaim) -> bool:
    """Whether the only pod that can use a claim, for which it was made, has it already.

    So are all that ran when a cluster came to 1.36, whose older scheduler wrote no time:
    no pod is ever added to them.
    """
    uids = {reference.uid for reference in claim.status.reserved_for or ()}
    return any(
        owner.controller and owner.kind == "Pod" and owner.uid in uids
        for owner in claim.metadata.owner_references or ()
        if owner.uid
    )


def _few(allocation: AllocationResult) -> str:
    return ", ".join(_devices(allocation)[:5])


def _home(allocation: AllocationResult, pools: Mapping[PoolKey, Pool]) -> str:
    """Where devices are that not every node can reach, in words; empty: anywhere."""
    for result in _results(allocation):
        pool = pools.get(PoolKey(result.driver, result.pool))
        for piece in pool.current if pool is not None else ():
            for device in piece.spec.devices or ():
                if device.name != result.device:
                    continue
                spec = device if piece.spec.per_device_node_selection else piece.spec
                if spec.node_name:
                    return f"node {spec.node_name}"
                if spec.node_selector is not None and not spec.all_nodes:
                    return "some nodes only"
    return ""


# --- who uses it ----------------------------------------------------------------


def _consumers(
    claim: ResourceClaim,
    key: tuple[str, str],
    name: str,
    pods: Mapping[tuple[str, str], Pod] | None,
    unreadable: Container[ObjectKey],
    now: datetime,
) -> Iterator[Finding]:
    reserved = claim.status.reserved_for or []
    if len(reserved) >= NEARLY:
        yield finding(
            Code.CLAIM_NEARLY_FULL,
            of_claim(key),
            f"{name} has {len(reserved)} of {MOST_CONSUMERS} consumers"
            f"{'; the next pod will not be scheduled' if len(reserved) >= MOST_CONSUMERS else ''}.",
            consumers=len(reserved),
        )
    deleting = age_of(claim.metadata.deletion_timestamp, now)
    for reference in reserved:
        gone = "" if pods is None else why_gone(key[0], reference, pods, unreadable)
        if gone:
            words = (
                f" and is being deleted for {in_words(deleting)}" if deleting else ""
            )
            yield finding(
                Code.CLAIM_RESERVED_BY_GONE_POD,
                of_claim(key, detail=reference.name),
                f"{name} is reserved by pod {reference.name}, which {gone}{words}.",
                pod=reference.name,
                uid=reference.uid,
            )
    if reserved:
        return
    if deleting is not None:
        if deleting > LONG:
            finalizers = ", ".join(claim.metadata.finalizers or ())
            yield finding(
                Code.CLAIM_STUCK_IN_DELETION,
                of_claim(key),
                f"{name} is being deleted for {in_words(deleting)}; nobody uses it.",
                finalizers=finalizers,
            )
    elif claim.status.allocation is not None:
        yield from _idle(claim, claim.status.allocation, key, name, now)


def _idle(
    claim: ResourceClaim,
    allocation: AllocationResult,
    key: tuple[str, str],
    name: str,
    now: datetime,
) -> Iterator[Finding]:
    devices = _devices(allocation)
    stamp = allocation.allocation_timestamp or claim.metadata.creation_timestamp
    age = age_of(stamp, now)
    if age is not None and age <= LONG:
        return
    since = f" for {in_words(age)}" if age is not None else ""
    held = ", ".join(devices[:3]) + (" and more" if len(devices) > 3 else "")
    yield finding(
        Code.CLAIM_IDLE,
        of_claim(key),
        f"{name} holds {held or 'an allocation without devices'}{since} and is used by "
        "nobody.",
        devices=", ".join(devices),
        since=stamp or "",
    )


def why_gone(
    namespace: str,
    reference: ConsumerReference,
    pods: Mapping[tuple[str, str], Pod],
    unreadable: Container[ObjectKey],
) -> str:
    """What has become of a pod that can no longer use what it has reserved, told by its
    uid; empty for one that can and for what is no pod."""
    if reference.resource != "pods" or reference.api_group:
        return ""
    pod = pods.get((namespace, reference.name))
    if pod is None:
        known = ObjectKey("Pod", namespace, reference.name) in unreadable
        return "" if known else "does not exist"
    uid = pod.metadata.uid
    if uid and reference.uid and uid != reference.uid:
        return "does not exist"
    return "has ended" if pod.status.phase in ENDED else ""


def is_timed(claim: ResourceClaim) -> bool:
    """Whether what is found about a claim changes as time goes by."""
    if claim.metadata.deletion_timestamp:
        return True
    return claim.status.allocation is not None and not claim.status.reserved_for
