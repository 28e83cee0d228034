"""Reads of findings for pages, REST and metrics; nothing that is not old enough to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from allocator.findings.concerned import ObjectRef, claim_ref, device_ref, pool_ref
from allocator.models import Finding, FindingObject, FindingPass
from dra.audits import MEANINGS, SEVERITIES, Code
from inventory.models import Cluster

__all__ = [
    "ObjectRef",
    "OnObject",
    "Open",
    "by_kind",
    "claim_ref",
    "device_ref",
    "earlier",
    "findings",
    "last_pass",
    "numbers",
    "of_objects",
    "open_by_code",
    "pool_ref",
]

MOST_ON_A_PAGE: Final = 10
"""Findings on top of the page of one object."""
MOST_REFS: Final = 50
"""Objects that one page is about: a pod and its claims."""


def findings(cluster: Cluster | None = None) -> QuerySet[Finding]:
    """Open and ended ones of one cluster, or of all, worst first."""
    shown = Finding.objects.filter(visible_from__lte=timezone.now())
    if cluster is not None:
        shown = shown.filter(cluster=cluster)
    return shown.select_related("cluster", "acknowledged_by")


def last_pass(cluster: Cluster) -> FindingPass | None:
    """None: nobody has looked yet."""
    return FindingPass.objects.filter(cluster=cluster).first()


def earlier(finding: Finding) -> QuerySet[Finding]:
    """When the same was wrong before, newest first."""
    same = findings(finding.cluster).filter(key=finding.key)
    return same.exclude(pk=finding.pk).order_by("-since")


def of_objects(
    cluster: Cluster, refs: Iterable[ObjectRef]
) -> tuple[list[Finding], int]:
    """Open ones that concern any of some objects, worst first, and how many; one query.

    At most ``MOST_ON_A_PAGE`` of them. Those that were acknowledged come last.
    """
    wanted = Q(pk__in=[])
    for ref in refs:
        wanted |= Q(kind=ref.kind, namespace=ref.namespace, name=ref.name)
    named = FindingObject.objects.filter(wanted, cluster=cluster).values("finding")
    rows = list(
        findings(cluster)
        .filter(ended_at=None, pk__in=named)
        .order_by("rank", "code", "pk")[:500]
    )
    rows.sort(key=lambda row: row.acknowledged_at is not None)
    return rows[:MOST_ON_A_PAGE], len(rows)


class OnObject:
    """The findings of what one page is about; asked for when the page shows them."""

    def __init__(self, cluster: Cluster, refs: Sequence[ObjectRef]) -> None:
        self.cluster = cluster
        self.refs = refs[:MOST_REFS]

    @cached_property
    def found(self) -> tuple[list[Finding], int]:
        return of_objects(self.cluster, self.refs)

    @property
    def rows(self) -> list[Finding]:
        return self.found[0]

    @property
    def more(self) -> int:
        return self.found[1] - len(self.found[0])

    @property
    def refresh_url(self) -> str:
        """Gives the lines anew."""
        address = reverse("object-findings", args=[self.cluster.name])
        parts = [pair for ref in self.refs for pair in ref._asdict().items()]
        return f"{address}?{urlencode(parts)}"


@dataclass(frozen=True, slots=True)
class Open:
    """What is open of one code, acknowledged ones not counted."""

    code: str
    severity: str
    count: int

    @property
    def title(self) -> str:
        return MEANINGS[Code(self.code)].title

    @property
    def why(self) -> str:
        return MEANINGS[Code(self.code)].why

    @property
    def repair(self) -> str:
        return MEANINGS[Code(self.code)].repair


def by_kind(cluster: Cluster) -> list[Open]:
    """Worst first, then most; one query."""
    codes = {code.value for code in Code}
    rows = (
        findings(cluster)
        .filter(ended_at=None, acknowledged_at=None)
        .order_by()
        .values_list("code", "severity")
        .annotate(Count("pk"))
    )
    found = [Open(*row) for row in rows if row[0] in codes]
    return sorted(
        found,
        key=lambda one: (SEVERITIES.index(one.severity), -one.count, one.code),
    )


@dataclass(frozen=True, slots=True)
class Number:
    """One line of the metric of open findings."""

    cluster: str
    code: str
    severity: str
    acknowledged: bool
    count: int


def open_by_code() -> list[Number]:
    """Open findings of every cluster that is followed, by code and severity, for
    metrics; one query."""
    rows = (
        findings()
        .filter(ended_at=None, cluster__left_at=None)
        .order_by()
        .values_list("cluster__name", "code", "severity")
        .annotate(
            fresh=Count("pk", filter=Q(acknowledged_at=None)),
            known=Count("pk", filter=~Q(acknowledged_at=None)),
        )
    )
    found = []
    for cluster, code, severity, fresh, known in rows:
        for acknowledged, count in ((False, fresh), (True, known)):
            if count:
                found.append(Number(cluster, code, severity, acknowledged, count))
    return found


def numbers(cluster: Cluster) -> tuple[FindingPass | None, int]:
    """The last look with its counts, and how many open ones are acknowledged."""
    known = findings(cluster).filter(ended_at=None).exclude(acknowledged_at=None)
    return last_pass(cluster), known.count()
