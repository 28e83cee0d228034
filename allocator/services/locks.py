"""One writer per device pool at a time: rows with an owner, which end by themselves.

Plans that contradict each other are kept apart by their tickets already
(:mod:`allocator.services.reservations`); the lock keeps guards and carriers of two runs
from getting into each other's way on the same devices. As leases do, locks go by the
database's clock.
"""

from __future__ import annotations

import time

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from allocator.models import AllocationRun, PoolLock
from allocator.services import leases
from dra.objects import AllocationResult


class PoolLocks:
    """The locks of one worker for one run."""

    def __init__(self, run: AllocationRun) -> None:
        self._run = run
        self._owner = run.worker  # which a run that is over has no more
        self._renew_at: float | None = None
        """By the monotonic clock; None while we have none."""
        self._held: tuple[str, str] | None = None
        self._have_rows: set[tuple[str, str]] = set()

    def take(self, plan: AllocationResult) -> bool:
        """Whether all pools of ``plan`` are ours now; else somebody has one of them."""
        pools = sorted(
            {
                (r.driver, r.pool)
                for r in plan.devices.results or ()
                if not r.admin_access
            }
        )
        if not pools:
            return True
        renew_at = _in_half_the_time()
        self._held = self._take_all(pools)
        if self._held is not None and self._make_rows(pools):
            self._held = self._take_all(pools)
        if self._held is None:
            self._renew_at = renew_at
        return self._held is None

    def _take_all(self, pools: list[tuple[str, str]]) -> tuple[str, str] | None:
        """All or none; the pool that somebody has, or that has no row yet."""
        with transaction.atomic():
            held = next((p for p in pools if not self._take_one(p)), None)
            if held is not None:
                transaction.set_rollback(True)
        return held

    def renew(self) -> None:
        """Keep them for another while, once half of the time is over."""
        if self._renew_at is None or time.monotonic() < self._renew_at:
            return
        self._renew_at = _in_half_the_time()
        self._ours().update(until=leases.until())

    def release(self) -> None:
        """Let others have them; what is not ours any more stays as it is."""
        if self._renew_at is not None:
            self._renew_at = None
            self._ours().update(owner="", run=None, until=Now())

    def _ours(self) -> QuerySet[PoolLock]:
        return PoolLock.objects.filter(run=self._run, owner=self._owner)

    def _make_rows(self, pools: list[tuple[str, str]]) -> bool:
        """Whether there were pools without a row."""
        if self._have_rows.issuperset(pools):
            return False
        self._have_rows.update(pools)
        cluster = self._run.cluster_id
        known = set(
            PoolLock.objects.filter(
                cluster_id=cluster, pool__in=[pool for _, pool in pools]
            ).values_list("driver", "pool")
        )
        missing = [pool for pool in pools if pool not in known]
        if missing:
            PoolLock.objects.bulk_create(
                (
                    PoolLock(cluster_id=cluster, driver=driver, pool=pool, until=Now())
                    for driver, pool in missing
                ),
                ignore_conflicts=True,
            )
        return bool(missing)

    def _take_one(self, pool: tuple[str, str]) -> bool:
        # We have the run's lease, so who held a lock for it before is gone.
        free = Q(until__lt=Now()) | Q(owner="") | Q(run=self._run)
        return bool(
            PoolLock.objects.filter(
                free, cluster_id=self._run.cluster_id, driver=pool[0], pool=pool[1]
            ).update(owner=self._owner, run=self._run, until=leases.until())
        )

    def holder(self) -> str:
        """Who had one of the pools when they were asked for last."""
        driver, pool = self._held or ("", "")
        lock = (
            PoolLock.objects.filter(
                cluster_id=self._run.cluster_id, driver=driver, pool=pool
            )
            .select_related("run")
            .first()
        )
        other = lock.run if lock is not None else None
        if other is None:
            return "another run"
        return f"the run of claim {other.namespace}/{other.claim_name}"


def _in_half_the_time() -> float:
    return time.monotonic() + leases.length().total_seconds() / 2
