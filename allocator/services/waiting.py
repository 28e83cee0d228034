"""Why pending claims wait, kept for lists: worked out beside the pages, never in them.

One pass looks at pending claims of one cluster until its time is over: first those
without a reason, newest first, then those whose reason is oldest. So a cluster with
more waiting claims than fit into one pass gets to all of them in turn. A claim that a
run is allocating is left for a later pass: it will have waited for nothing by then.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from allocator import snapshots
from allocator.choices import OPEN, RunKind
from allocator.models import AllocationRun, WaitingPass, WaitingReason
from claims import explaining
from claims.authoring.checking import gates_of
from dra.allocation.explaining import Explanation
from dra.names import NamespacedName
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot
from inventory.mirror import fit
from inventory.models import Cluster

log = structlog.get_logger("allocator.waiting")

_MARGIN = 30.0
"""Seconds after its time is over in which a pass must have ended."""


def explain_waiting(cluster_id: int) -> int:
    """Bring the reasons of a cluster up to date; how many were worked out.

    Does nothing where another pass is under way or nothing has changed since the
    last one that got to every claim.
    """
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    if cluster is None or cluster.left_at is not None:
        return 0
    passing, _ = WaitingPass.objects.get_or_create(cluster=cluster)
    if passing.seq == cluster.seq and not passing.open:
        return 0
    until = _begin(cluster)
    if until is None:
        return 0
    ended: dict[str, Any] = {"busy_until": None}
    try:
        snapshot = snapshots.current(cluster)
        done, left = _pass(cluster, snapshot)
        ended |= {"seq": snapshot.seq, "open": left, "ended_at": timezone.now()}
        return done
    finally:
        # Not where it took so long that another pass has begun.
        WaitingPass.objects.filter(cluster=cluster, busy_until=until).update(**ended)


def _begin(cluster: Cluster) -> datetime | None:
    """Until when the pass may run, by the database's clock; None: another one does."""
    until = Now() + timedelta(seconds=settings.WAITING_PASS_SECONDS + _MARGIN)
    free = Q(busy_until=None) | Q(busy_until__lte=Now())
    passes = WaitingPass.objects.filter(cluster=cluster)
    with transaction.atomic():
        if not passes.filter(free).update(busy_until=until):
            return None
        return passes.values_list("busy_until", flat=True).get()


def _pass(cluster: Cluster, snapshot: Snapshot) -> tuple[int, int]:
    """How many claims got a reason, and how many have to wait for the next pass."""
    pending = {
        (claim.metadata.namespace, claim.metadata.name): claim
        for claim in explaining.waiting_claims(snapshot)
    }
    known = _drop_others(cluster, pending)
    being_allocated = _being_allocated(cluster)
    extended = gates_of(cluster).extended_resource
    end = time.monotonic() + settings.WAITING_PASS_SECONDS
    found: dict[NamespacedName, Explanation] = {}
    for claim in _in_turn(pending, known):
        key = (claim.metadata.namespace, claim.metadata.name)
        if key in found or key in being_allocated:
            continue
        if time.monotonic() >= end or len(found) >= settings.WAITING_CLAIMS:
            break
        subject = explaining.subject_of(snapshot, *key, extended_resources=extended)
        reason = explaining.sentence_of(
            cluster, snapshot, subject, seconds=settings.WAITING_SECONDS
        )
        for each in subject.existing:
            of_pod = explaining.subject_of(
                snapshot, *_key(each), extended_resources=extended
            )
            if of_pod.key == subject.key:
                found[_key(each)] = reason
    _store(cluster, snapshot.seq, pending, found)
    current = {k for k, (_, seq) in known.items() if seq == snapshot.seq}
    left = len(pending.keys() - found.keys() - current)
    if left:
        log.info("waiting.not_all", cluster=cluster.name, done=len(found), left=left)
    return len(found), left


def _being_allocated(cluster: Cluster) -> set[NamespacedName]:
    runs = AllocationRun.objects.filter(
        cluster=cluster, kind=RunKind.ALLOCATE, state__in=OPEN, dry_run=False
    )
    return set(runs.values_list("namespace", "claim_name"))


def _key(claim: ResourceClaim) -> NamespacedName:
    return claim.metadata.namespace, claim.metadata.name


def _uid(claim: ResourceClaim) -> str:
    """As the mirror keeps it."""
    return str(fit(WaitingReason, {"claim_uid": claim.metadata.uid})["claim_uid"])


def _drop_others(
    cluster: Cluster, pending: Mapping[NamespacedName, ResourceClaim]
) -> dict[NamespacedName, tuple[datetime, int]]:
    """Delete reasons of claims that wait no more; the others' times and seqs."""
    known: dict[NamespacedName, tuple[datetime, int]] = {}
    gone: list[int] = []
    for row in WaitingReason.objects.filter(cluster=cluster).defer("sentence"):
        claim = pending.get((row.namespace, row.claim_name))
        if claim is None or _uid(claim) != row.claim_uid:
            gone.append(row.pk)
        else:
            known[row.namespace, row.claim_name] = (row.computed_at, row.seq)
    if gone:
        WaitingReason.objects.filter(pk__in=gone).delete()
    return known


def _in_turn(
    pending: Mapping[NamespacedName, ResourceClaim],
    known: Mapping[NamespacedName, tuple[datetime, int]],
) -> list[ResourceClaim]:
    newest = sorted(
        pending.values(),
        key=lambda claim: claim.metadata.creation_timestamp or "",
        reverse=True,
    )
    never = datetime.min.replace(tzinfo=timezone.get_default_timezone())
    return sorted(newest, key=lambda claim: known.get(_key(claim), (never, 0))[0])


def _store(
    cluster: Cluster,
    seq: int,
    pending: Mapping[NamespacedName, ResourceClaim],
    found: Mapping[NamespacedName, Explanation],
) -> None:
    now = timezone.now()
    rows: Iterable[WaitingReason] = (
        WaitingReason(
            cluster=cluster,
            namespace=key[0],
            claim_name=key[1],
            claim_uid=_uid(pending[key]),
            verdict=reason.verdict,
            sentence=reason.sentence,
            seq=seq,
            computed_at=now,
        )
        for key, reason in found.items()
    )
    WaitingReason.objects.bulk_create(
        rows,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["cluster", "namespace", "claim_name"],
        update_fields=["claim_uid", "verdict", "sentence", "seq", "computed_at"],
    )
