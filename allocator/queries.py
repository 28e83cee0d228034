"""Reads of runs, and of why claims wait, for pages and the API."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from allocator.choices import OPEN
from allocator.models import (
    AllocationRun,
    RunTransition,
    WaitingPass,
    WaitingReason,
)
from claims.models import ResourceClaim
from inventory.models import Cluster


def runs(cluster: Cluster | None = None) -> QuerySet[AllocationRun]:
    """Runs of one cluster, or of all, newest first, with cluster and user."""
    found = AllocationRun.objects.select_related("cluster", "created_by")
    if cluster is not None:
        found = found.filter(cluster=cluster)
    return found.order_by("-created_at", "pk")


def runs_of_claim(
    cluster: Cluster, namespace: str, claim_name: str
) -> QuerySet[AllocationRun]:
    """Every run for a claim of this name, newest first; plans and patches left out."""
    return (
        runs(cluster)
        .filter(namespace=namespace, claim_name=claim_name)
        .defer("plan", "patch")
    )


def latest_run(
    cluster: Cluster, namespace: str, claim_name: str
) -> AllocationRun | None:
    return runs_of_claim(cluster, namespace, claim_name).first()


def latest_runs(
    cluster: Cluster, claims: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], AllocationRun]:
    """The newest run of each claim ``(namespace, name)`` that has one; one query."""
    keys = set(claims)
    if not keys:
        return {}
    found = (
        runs(cluster)
        .filter(
            namespace__in={namespace for namespace, _ in keys},
            claim_name__in={name for _, name in keys},
        )
        .defer("plan", "patch")
        .order_by("created_at")
    )
    newest = {(run.namespace, run.claim_name): run for run in found}
    return {key: run for key, run in newest.items() if key in keys}


def open_runs(cluster: Cluster) -> QuerySet[AllocationRun]:
    """Runs that are not over."""
    return runs(cluster).filter(state__in=OPEN)


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """A transition, and how long after the one before it came."""

    transition: RunTransition
    elapsed: timedelta | None
    """None for the first."""


def timeline(run: AllocationRun) -> list[TimelineStep]:
    """The story of a run in order; uses transitions that were prefetched."""
    steps: list[TimelineStep] = []
    for transition in run.transitions.all():
        before = steps[-1].transition.at if steps else None
        elapsed = transition.at - before if before else None
        steps.append(TimelineStep(transition, elapsed))
    return steps


def newest_change(cluster: Cluster) -> int:
    """A number that grows with every transition of every run of the cluster."""
    newest = (
        RunTransition.objects.filter(run__cluster=cluster)
        .order_by("-pk")
        .values_list("pk", flat=True)
        .first()
    )
    return newest or 0


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a claim waits, as it was ``computed_at``."""

    verdict: str
    sentence: str
    computed_at: datetime


def waiting_reasons(
    cluster: Cluster, claims: Iterable[ResourceClaim]
) -> dict[int, Reason]:
    """By the claim's primary key: why it waits, where that was worked out; one query."""
    by_name = {(claim.namespace, claim.name): claim for claim in claims}
    if not by_name:
        return {}
    rows = WaitingReason.objects.filter(
        cluster=cluster,
        namespace__in={namespace for namespace, _ in by_name},
        claim_name__in={name for _, name in by_name},
    )
    found: dict[int, Reason] = {}
    for row in rows:
        claim = by_name.get((row.namespace, row.claim_name))
        if claim is not None and claim.uid == row.claim_uid:
            found[claim.pk] = Reason(row.verdict, row.sentence, row.computed_at)
    return found


def waiting_pass(cluster: Cluster) -> WaitingPass | None:
    """The last look at all claims that wait; None before the first."""
    return WaitingPass.objects.filter(cluster=cluster).first()
