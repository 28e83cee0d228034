"""After the write: wait for the watch, and look whether a device is held twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from allocator.models import AllocationRun
from allocator.services import freshness
from allocator.services.pausing import pauses
from claims.models import AllocatedDevice
from claims.models import ResourceClaim as ClaimRow
from cluster.writeback import allocation_of, holds
from dra.errors import ObjectError
from dra.objects import AllocationResult, read

_LOOKS: Final = (0.05, 0.25)
"""Seconds between two looks at the claim's row, from the first pair to the last."""
_LOOK_SECONDS = 1.0
"""Between two looks whether the claims are followed at all."""
DO_NOT_RELEASE = (
    "Do not release either of them yet; keep other pods away from the device first "
    "(cordon or taint it)."
)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The mirror shows the allocation, and nobody else holds a device of it."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One sentence about what is not as it should be, and what to do.

    ``booked_twice``: devices, as ``driver/pool/device``, that another claim holds too.
    """

    reason: str
    booked_twice: tuple[str, ...] = ()


def verify(run: AllocationRun, *, beat: Callable[[], None]) -> Confirmed | Wrong:
    """Wait (bounded) until the claim's row has the plan. Reads tables only.

    The portal never writes a mirror row, so what it sees here came through the
    watch. ``beat`` is called while waiting and stops it by raising. Raises RunBusyError
    while no watch follows the claims, for as long as a run may wait for one.
    """
    plan = read(run.plan, AllocationResult)

    def judge(row: ClaimRow | None) -> Confirmed | Wrong | None:
        if row is None:
            return Wrong(
                "The allocation was written, but then the claim was deleted; its devices "
                "are free again."
            )
        if holds(row.raw, plan):
            return alone(run, row, plan)
        if allocation_of(row.raw) is not None:
            return Wrong(
                "The allocation was written, but the claim now holds another one: somebody "
                "else changed it. Look at the claim."
            )
        return None

    return _await(
        run,
        judge,
        beat=beat,
        late=f"The API server accepted the allocation (resourceVersion "
        f"{run.written_resource_version}), but the watch did not show it within "
        f"{settings.RUN_VERIFY_SECONDS} seconds. See the watch on the cluster's page; the "
        "claim itself is allocated unless somebody released it.",
    )


def verify_rewritten(
    run: AllocationRun, *, beat: Callable[[], None]
) -> Confirmed | Wrong:
    """Wait (bounded) until the claim's row is as it was written anew.

    Raises as :func:`verify`.
    """
    plan = read(run.plan, AllocationResult)

    def judge(row: ClaimRow | None) -> Confirmed | Wrong | None:
        if row is None:
            return Wrong("It was written anew, but then the claim was deleted.")
        if row.resource_version == run.seen_version:
            return None  # from before it was taken away
        if holds(row.raw, plan):
            return alone(run, row, plan)
        if allocation_of(row.raw) is not None:
            return Wrong(
                "It was written anew, but the claim now holds another allocation: "
                "somebody else changed it. Look at the claim."
            )
        return None

    return _await(
        run,
        judge,
        beat=beat,
        late="The API server accepted the allocation (resourceVersion "
        f"{run.written_resource_version}), but the watch did not show it within "
        f"{settings.RUN_VERIFY_SECONDS} seconds: it was freed since, or see the watch on "
        "the cluster's page.",
    )


def verify_released(
    run: AllocationRun, *, beat: Callable[[], None]
) -> Confirmed | Wrong:
    """Wait (bounded) until the claim's row no longer holds ``run.plan``.

    Raises as :func:`verify`.
    """
    try:
        plan = read(run.plan, AllocationResult)
    except ObjectError:
        plan = None

    def judge(row: ClaimRow | None) -> Confirmed | Wrong | None:
        if row is None or allocation_of(row.raw) is None:
            return Confirmed()
        if plan is not None and not holds(row.raw, plan):
            return Confirmed()  # allocated anew meanwhile, by whoever wanted it
        return None

    return _await(
        run,
        judge,
        beat=beat,
        late="The API server took the allocation back, but the watch did not show it "
        f"within {settings.RUN_VERIFY_SECONDS} seconds. See the watch on the cluster's "
        "page.",
    )


def _await(
    run: AllocationRun,
    judge: Callable[[ClaimRow | None], Confirmed | Wrong | None],
    *,
    beat: Callable[[], None],
    late: str,
) -> Confirmed | Wrong:
    """What ``judge`` says of the claim's row (None: it is gone) at last, or ``late``."""
    deadline = time.monotonic() + settings.RUN_VERIFY_SECONDS
    look_at = time.monotonic() + _LOOK_SECONDS
    began, pause = timezone.now(), pauses(*_LOOKS)
    while True:
        row = ClaimRow.objects.filter(
            cluster_id=run.cluster_id,
            namespace=run.namespace,
            name=run.claim_name,
            uid=run.claim_uid,
        ).first()
        if (found := judge(row)) is not None:
            return found
        if time.monotonic() >= look_at:
            look_at = time.monotonic() + _LOOK_SECONDS
            stale = freshness.claims_are_followed(run.cluster)
            freshness.hold_up(run, stale, began=began)
        if time.monotonic() >= deadline:
            return Wrong(late)
        time.sleep(next(pause))
        beat()


def alone(
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
    device = f"{other.driver}/{other.pool}/{other.device}"
    return Wrong(
        f"The device {device} is booked twice: the claim "
        f"{other.claim} holds it as well. {DO_NOT_RELEASE}",
        booked_twice=(device,),
    )
