"""One claim: what was written to it, who uses it, and what it asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from dra.allocation.features import Features
from dra.audits.ages import LONG, age_of, in_words
from dra.audits.codes import Code
from dra.audits.finding import Finding, counted, finding, of_claim
from dra.names import DeviceID, PoolKey
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


def claim_findings(
    claim: ResourceClaim,
    *,
    pools: Mapping[PoolKey, Pool],
    pods: Mapping[tuple[str, str], Pod] | None,
    used: bool,
    classes: Mapping[str, DeviceClass],
    features: Features,
    now: datetime,
) -> Iterator[Finding]:
    """``pods`` is None where no pod is known: then nothing is said about them.

    ``used``: some pod or pod group names the claim.
    """
    key = (claim.metadata.namespace, claim.metadata.name)
    name = f"Claim {key[0]}/{key[1]}"
    allocation = claim.status.allocation
    if allocation is None:
        yield from _waiting(claim, key, name, classes, used=used or pods is None)
    else:
        yield from _written(claim, allocation, key, name, pools, features)
    yield from _consumers(claim, key, name, pods, now)
    if any(_asks_admin(claim.spec)) or _has_admin(allocation):
        yield finding(
            Code.CLAIM_ADMIN_ACCESS,
            of_claim(key),
            f"{name} has admin access to "
            f"{counted(len(_results(allocation)), 'device')}.",
            devices=", ".join(_devices(allocation)),
        )


def _waiting(
    claim: ResourceClaim,
    key: tuple[str, str],
    name: str,
    classes: Mapping[str, DeviceClass],
    *,
    used: bool,
) -> Iterator[Finding]:
    if claim.metadata.deletion_timestamp:
        return
    missing = missing_classes(claim.spec, classes)
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
    spec: ResourceClaimSpec, classes: Mapping[str, DeviceClass]
) -> list[str]:
    """Classes that a spec names and that do not exist, in order, each once."""
    return [name for name in class_names(spec) if name not in classes]


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


def _has_admin(allocation: AllocationResult | None) -> bool:
    return any(result.admin_access for result in _results(allocation))


def _results(allocation: AllocationResult | None) -> Sequence[DeviceResult]:
    return (allocation.devices.results or ()) if allocation is not None else ()


def _devices(allocation: AllocationResult | None) -> list[str]:
    return [str(DeviceID(r.driver, r.pool, r.device)) for r in _results(allocation)]


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
    if features.device_binding_and_status and not allocation.allocation_timestamp:
        yield finding(
            Code.CLAIM_WITHOUT_TIMESTAMP,
            of_claim(key),
            f"{name} is allocated without allocationTimestamp.",
            devices=_few(allocation),
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
        if pods is not None and is_gone(key[0], reference, pods):
            words = (
                f" and is being deleted for {in_words(deleting)}" if deleting else ""
            )
            yield finding(
                Code.CLAIM_RESERVED_BY_GONE_POD,
                of_claim(key, detail=reference.name),
                f"{name} is reserved by pod {reference.name}, which does not exist{words}.",
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


def is_gone(
    namespace: str,
    reference: ConsumerReference,
    pods: Mapping[tuple[str, str], Pod],
) -> bool:
    """Whether a reservation is that of a pod which does not exist, told by its uid."""
    if reference.resource != "pods" or reference.api_group:
        return False
    pod = pods.get((namespace, reference.name))
    if pod is None:
        return True
    uid = pod.metadata.uid
    return bool(uid and reference.uid and uid != reference.uid)


def is_timed(claim: ResourceClaim) -> bool:
    """Whether what is found about a claim changes as time goes by."""
    if claim.metadata.deletion_timestamp:
        return True
    return claim.status.allocation is not None and not claim.status.reserved_for
