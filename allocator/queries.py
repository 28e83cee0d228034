"""Reads of runs, and of why claims wait, for pages and the API."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.db.models import OuterRef, Q, QuerySet, Subquery

from allocator.choices import NodePolicy
from allocator.models import (
    AllocationRule,
    AllocationRun,
    RunBatch,
    RunStep,
    RunTransition,
    WaitingPass,
    WaitingReason,
)
from claims.models import AllocatedDevice, ResourceClaim
from inventory.models import Cluster


def runs(cluster: Cluster | None = None) -> QuerySet[AllocationRun]:
    """Runs of one cluster, or of all, newest first, with cluster and user."""
    found = AllocationRun.objects.select_related("cluster", "created_by", "rule")
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


NODE_POLICIES: Final = tuple(NodePolicy.choices)
"""Value and label of each."""


@dataclass(frozen=True, slots=True)
class StoryLine:
    """A transition, or a request within a state, and how long it took until the next.

    ``state`` is empty for a request; ``took`` is None for the last line.
    """

    at: datetime
    state: str
    text: str
    actor: str = ""
    after: timedelta | None = None
    """Since the line before; None for the first."""
    took: timedelta | None = None


def story(run: AllocationRun) -> list[StoryLine]:
    """A run in the order in which things happened; uses what was prefetched."""
    found = [
        StoryLine(t.at, t.to_state, t.reason, t.actor) for t in run.transitions.all()
    ]
    found += [StoryLine(s.at, "", _said(s)) for s in run.steps.all()]
    found.sort(key=lambda line: line.at)
    return [
        replace(
            line,
            after=line.at - found[i - 1].at if i else None,
            took=found[i + 1].at - line.at if i + 1 < len(found) else None,
        )
        for i, line in enumerate(found)
    ]


def _said(step: RunStep) -> str:
    request = step.request.get("request", "") if isinstance(step.request, dict) else ""
    return f"{step.step}: {request}" if request else step.step


def batches(cluster: Cluster) -> QuerySet[RunBatch]:
    """Batches of a cluster, newest first, with who started them."""
    found = RunBatch.objects.filter(cluster=cluster)
    return found.select_related("created_by").order_by("-created_at")


def rules(cluster: Cluster | None = None) -> QuerySet[AllocationRule]:
    """Rules by namespace, with who changed them last."""
    found = AllocationRule.objects.select_related("cluster", "changed_by")
    if cluster is not None:
        found = found.filter(cluster=cluster)
    return found.order_by("cluster__name", "namespace")


@dataclass(frozen=True, slots=True)
class BookedTwice:
    """A device of a claim that another claim holds as well."""

    driver: str
    pool: str
    device: str
    namespace: str
    claim_name: str
    node_name: str

    @property
    def name(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


def booked_twice(
    cluster: Cluster, namespace: str, claim_name: str
) -> list[BookedTwice]:
    """Devices of the claim that others hold too, as the mirror has it; two queries.

    Admin access holds nothing, and shares of one device may stand side by side.
    """
    alone = AllocatedDevice.objects.filter(
        cluster=cluster, admin_access=False, share_id=""
    )
    mine = alone.filter(claim__namespace=namespace, claim__name=claim_name)
    wanted = Q()
    for key in mine.values_list("driver", "pool", "device"):
        wanted |= Q(driver=key[0], pool=key[1], device=key[2])
    if not wanted:
        return []
    others = (
        alone.filter(wanted)
        .exclude(claim__namespace=namespace, claim__name=claim_name)
        .select_related("claim")
        .order_by("driver", "pool", "device", "claim__namespace", "claim__name")
    )
    return [
        BookedTwice(
            other.driver,
            other.pool,
            other.device,
            other.claim.namespace,
            other.claim.name,
            other.claim.node_name,
        )
        for other in others[:20]
    ]


def newest_changes(cluster: Cluster) -> tuple[int, int]:
    """Two numbers: one grows with every transition of every run of the cluster, one
    whenever what is shown of its findings changes. One query."""
    newest = RunTransition.objects.filter(run__cluster=OuterRef("pk")).order_by("-pk")
    runs, findings = (
        Cluster.objects.filter(pk=cluster.pk)
        .values_list(Subquery(newest.values("pk")[:1]), "finding_pass__changes")
        .first()
    ) or (0, 0)
    return runs or 0, findings or 0


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
