"""Looks again at a cluster after its mirror has changed, in a worker.

One look per cluster at a time, with a lease that ends by itself. Each process keeps an
auditor per cluster that looks only at what changed since it was last asked; where
another process had its turn meanwhile, it catches up from the snapshot. What a look
found is stored in one transaction that only the holder of the lease completes.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from allocator import snapshots
from allocator.findings import publishing
from allocator.findings.seeing import Sight, sight_of
from allocator.findings.storing import open_counts, store
from allocator.models import FindingPass
from dra.allocation.features import Features
from dra.audits import Auditor, Finding
from dra.audits.drift import DRIFT_CODES
from dra.audits.finding import worst_first
from dra.snapshot import Snapshot
from inventory.models import Cluster

log = structlog.get_logger("allocator.findings")

LEASE: Final = timedelta(minutes=3)
"""After which a look is taken for dead."""
AGAIN: Final = timedelta(minutes=1)
"""When to look again although nothing has changed: some things are wrong by age."""
_FREE: Final = Q(busy_until=None) | Q(busy_until__lte=Now())


@dataclass
class _Seat:
    """The auditor of one cluster in this process."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    auditor: Auditor | None = None

    def next(
        self, snapshot: Snapshot, features: Features, now: datetime
    ) -> list[Finding]:
        with self.lock:
            if self.auditor is None or self.auditor.features != features:
                self.auditor = Auditor(features=features)
            try:
                return self.auditor.next(snapshot, now=now)
            except BaseException:
                # It may have followed a part of the change: begin with all of it.
                self.auditor = None
                raise


_seats: dict[int, _Seat] = {}
_seats_lock = threading.Lock()


def forget() -> None:
    """Begin with a full look at every cluster, as after a restart."""
    with _seats_lock:
        _seats.clear()


def update_findings(cluster_id: int) -> int:
    """Bring the findings of a cluster up to date; how many there are.

    Does nothing where another look is under way, or where nothing is due.
    """
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    if cluster is None:
        with _seats_lock:
            _seats.pop(cluster_id, None)
        return 0
    if cluster.left_at is not None:
        return 0  # it was asked for before
    FindingPass.objects.get_or_create(cluster=cluster)
    if not due(FindingPass.objects.filter(cluster=cluster)).exists():
        return 0
    until = _begin(cluster)
    if until is None:
        return 0
    try:
        return _look(cluster, until)
    finally:
        # What did not end as it should does not stand in the way for minutes.
        _mine(cluster, until).update(busy_until=None)


def due(passes: Any) -> Any:
    """Of a queryset of passes: those of clusters that have to be looked at now."""
    return passes.filter(_FREE).exclude(
        Q(seq=F("cluster__seq")) & Q(due_at__gt=timezone.now())
    )


def _begin(cluster: Cluster) -> datetime | None:
    """Until when the look may take, by the database's clock; None: another one is under
    way."""
    passes = FindingPass.objects.filter(cluster=cluster)
    with transaction.atomic():
        if not passes.filter(_FREE).update(busy_until=Now() + LEASE):
            return None
        return passes.values_list("busy_until", flat=True).get()


def _mine(cluster: Cluster, until: datetime) -> Any:
    return FindingPass.objects.filter(cluster=cluster, busy_until=until)


def _look(cluster: Cluster, until: datetime) -> int:
    snapshot = snapshots.current(cluster)
    # Asked after the snapshot: what it has of a kind was listed before.
    sight = sight_of(cluster)
    if sight.waits_for:
        _mine(cluster, until).update(waits_for=sight.waits_for)
        return 0
    since = FindingPass.objects.values_list("seq", flat=True).get(cluster=cluster)
    drift = publishing.look(cluster, snapshot, since)
    found = _found(cluster, snapshot, sight, drift.findings)
    with transaction.atomic():
        passing = _mine(cluster, until).select_for_update().first()
        if passing is None:
            log.warning("findings.too_late", cluster=cluster.name)
            return 0
        _store(passing, found, snapshot, drift)
    return len(found)


def _found(
    cluster: Cluster, snapshot: Snapshot, sight: Sight, drift: Sequence[Finding]
) -> list[Finding]:
    """Worst first."""
    with _seats_lock:
        seat = _seats.setdefault(cluster.pk, _Seat())
    features = cluster.features
    seen = seat.next(snapshot, features, timezone.now())
    # The auditor's own drift knows only what this process has seen.
    mine = [
        one for one in seen if one.code not in DRIFT_CODES and sight.shows(one.code)
    ]
    return sorted([*mine, *drift], key=worst_first)


def _store(
    passing: FindingPass,
    found: Sequence[Finding],
    snapshot: Snapshot,
    drift: publishing.Publishing,
) -> None:
    cluster, now = passing.cluster, timezone.now()
    most = settings.FINDINGS_MOST
    drift.store(cluster, now)
    changes = store(cluster, found[:most], snapshot, now=now, before=passing.ended_at)
    if changes.shown or passing.waits_for:
        passing.changes += 1
    for column, count in open_counts(cluster, now).items():
        setattr(passing, column, count)
    passing.seq = snapshot.seq
    passing.due_at = min(now + AGAIN, changes.next_visible or now + AGAIN)
    passing.busy_until = None
    passing.ended_at = now
    passing.left_out = max(0, len(found) - most)
    passing.waits_for = ""
    passing.save()
    if changes.opened or changes.ended:
        log.info(
            "findings.changed",
            cluster=cluster.name,
            opened=changes.opened,
            ended=changes.ended,
            open=len(found),
        )
