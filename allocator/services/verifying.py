"""After the write: wait for the watch, and look whether a device is held twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Q

from allocator.models import AllocationRun
from claims.models import AllocatedDevice
from claims.models import ResourceClaim as ClaimRow
from cluster.writeback import allocation_of, holds
from dra.objects import AllocationResult, read

_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The mirror shows the allocation, and nobody else holds a device of it."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One sentence about what is not as it should be, and what to do."""

    reason: str


def verify(run: AllocationRun, *, beat: Callable[[], None]) -> Confirmed | Wrong:
    """Wait (bounded) until the claim's row has the plan. Reads tables only.

    The portal never writes a mirror row, so what it sees here came through the
    watch. ``beat`` is called while waiting and stops it by raising.
    """
    plan = read(run.plan, AllocationResult)
    deadline = time.monotonic() + settings.RUN_VERIFY_SECONDS
    while True:
        row = ClaimRow.objects.filter(
            cluster_id=run.cluster_id, namespace=run.namespace, name=run.claim_name
        ).first()
        if row is None or row.uid != run.claim_uid:
            return Wrong(
                "The allocation was written, but then the claim was deleted; its devices "
                "are free again."
            )
        if holds(row.raw, plan):
            return _alone(run, row, plan)
        if allocation_of(row.raw) is not None:
            return Wrong(
                "The allocation was written, but the claim now holds another one: somebody "
                "else changed it. Look at the claim."
            )
        if time.monotonic() >= deadline:
            return Wrong(
                "The API server accepted the allocation (resourceVersion "
                f"{run.written_resource_version}), but the watch did not show it within "
                f"{settings.RUN_VERIFY_SECONDS} seconds. See the watch on the cluster's "
                "page; the claim itself is allocated unless somebody released it."
            )
        time.sleep(_POLL_SECONDS)
        beat()


def _alone(
    run: AllocationRun, row: ClaimRow, plan: AllocationResult
) -> Confirmed | Wrong:
    """Whether another claim of the mirror holds one of these devices.

    Claims come through one stream in the order of their writes, so every allocation
    older than ours is here by now. Admin access and shares hold nothing alone.
    """
    mine = Q()
    for r in plan.devices.results or ():
        if not r.admin_access and r.share_id is None:
            mine |= Q(driver=r.driver, pool=r.pool, device=r.device)
    if not mine:
        return Confirmed()
    other = (
        AllocatedDevice.objects.filter(mine, cluster_id=run.cluster_id)
        .filter(admin_access=False, share_id="")
        .exclude(claim=row)
        .select_related("claim")
        .order_by("claim__namespace", "claim__name", "position")
        .first()
    )
    if other is None:
        return Confirmed()
    return Wrong(
        f"The device {other.driver}/{other.pool}/{other.device} is booked twice: the claim "
        f"{other.claim} holds it as well. Do not release either of them yet; keep other "
        "pods away from the device first (cordon or taint it)."
    )
