"""Is everything all right, what is left? The first page of a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, F, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.generic import View

from allocator import queries as run_queries
from allocator.choices import FINAL
from allocator.findings import queries as finding_queries
from allocator.findings.wording import in_short
from allocator.models import AllocationRun
from claims.choices import ClaimState
from claims.models import ResourceClaim
from claims.queries import claims as claim_queries
from claims.views.verdicts import waiting_cell, waiting_line
from inventory import clients
from inventory.choices import DeviceState
from inventory.models import Cluster, Device, Node, Pool, WatchState
from inventory.views import links
from inventory.views.class_use import ClassUse, class_uses
from inventory.views.kit import InCluster
from web.doors import RequiresRole
from web.pages import cells
from web.pages.addresses import asking

WAITING_SHOWN = 8
POOLS_SHOWN = 8
PROBLEMS_SHOWN = 5
GOOD_WATCH = ("live", "static", "not served")


def home(request: HttpRequest) -> HttpResponse:
    """To the only (or first) cluster, or to the page that says how to add one."""
    followed_first = Cluster.objects.order_by(
        F("left_at").asc(nulls_first=True), "name"
    )
    first = followed_first.values_list("name", flat=True).first()
    return redirect("overview", first) if first else redirect("clusters")


@dataclass(frozen=True, slots=True)
class Usage:
    """Devices of one driver (or class) by state."""

    name: str
    href: str
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def free(self) -> int:
        return self.counts.get(DeviceState.FREE, 0)


def device_counts(cluster: Cluster) -> dict[str, Counter[str]]:
    """By driver: devices in each state."""
    rows = (
        Device.objects.filter(cluster=cluster)
        .values_list("driver", "state")
        .annotate(Count("pk"))
        .order_by("driver")
    )
    found: dict[str, Counter[str]] = {}
    for driver, state, count in rows:
        found.setdefault(driver, Counter())[state] = count
    return found


def sentence_of(
    devices: Mapping[str, int], claims: Mapping[str, int], broken_pools: int
) -> str:
    """ "412 of 1,024 devices free. 6 claims wait. 1 pool incomplete." """
    total = sum(devices.values())
    if not total:
        return "No driver has published a device in this cluster yet."
    parts = [
        f"{devices.get(DeviceState.FREE, 0):,} of {cells.count(total, 'device')} free."
    ]
    waiting = claims[ClaimState.PENDING]
    if waiting:
        parts.append(
            f"{cells.count(waiting, 'claim')} {'waits' if waiting == 1 else 'wait'}."
        )
    else:
        parts.append("No claim waits.")
    if broken_pools:
        parts.append(f"{cells.count(broken_pools, 'pool')} cannot be used.")
    return " ".join(parts)


def waiting_claims(cluster: Cluster) -> list[tuple[ResourceClaim, str]]:
    """The claims that have waited longest, each with one line on why (HTML)."""
    rows = list(
        claim_queries.claim_rows(cluster)
        .filter(state=ClaimState.PENDING)
        .order_by("created_at", "pk")[:WAITING_SHOWN]
    )
    said = claim_queries.scheduler_messages(rows)
    reasons = run_queries.waiting_reasons(cluster, rows)
    found: list[tuple[ResourceClaim, str]] = []
    for row in rows:
        reason = reasons.get(row.pk)
        line = waiting_line(reason, said.get((row.namespace, row.name), ""))
        found.append((row, waiting_cell(row.problem or line, reason)))
    return found


class Overview(RequiresRole, InCluster, View):
    """The page and its two live parts."""

    template_name = "portal/overview.html"
    fragments = ("overview-body",)

    def get(self, request: HttpRequest, **_: str) -> HttpResponse:
        htmx = getattr(request, "htmx", None)
        target = htmx.target if htmx and not htmx.history_restore_request else None
        name = self.template_name
        if target in self.fragments:
            name = f"{name}#{target}"
        return render(request, name, self.context())

    def context(self) -> dict[str, object]:
        cluster = self.cluster
        by_driver = device_counts(cluster)
        devices: Counter[str] = Counter()
        for counts in by_driver.values():
            devices.update(counts)
        claims = claim_queries.claim_counts(cluster)
        pools = Pool.objects.filter(cluster=cluster).filter(
            Q(complete=False) | Q(valid=False)
        )
        broken = pools.count()
        nodes = Node.objects.filter(cluster=cluster).aggregate(
            all=Count("pk"),
            cordoned=Count("pk", filter=Q(unschedulable=True)),
            unready=Count("pk", filter=Q(ready=False)),
        )
        runs = AllocationRun.objects.filter(cluster=cluster)
        looked = finding_queries.last_pass(cluster)
        return {
            "title": "Overview",
            "cluster": cluster,
            "sentence": " ".join(
                filter(None, (sentence_of(devices, claims, broken), in_short(looked)))
            ),
            "looked": looked,
            "kinds": finding_queries.by_kind(cluster),
            "devices": devices,
            "device_total": sum(devices.values()),
            "drivers": [
                Usage(
                    driver,
                    asking(reverse("devices", args=[cluster.name]), driver=driver),
                    counts,
                )
                for driver, counts in by_driver.items()
            ],
            "claims": claims,
            "waiting": waiting_claims(cluster),
            "reasons": run_queries.waiting_pass(cluster),
            "waiting_total": claims[ClaimState.PENDING],
            "pools": [
                (pool, links.pool_badge(pool))
                for pool in pools.order_by("driver", "name")[:POOLS_SHOWN]
            ],
            "broken_pools": broken,
            "nodes": nodes,
            "open_runs": runs.exclude(state__in=FINAL).count(),
            "watch_problems": watch_problems(cluster),
            "rule_risk": clients.rule_risks().get(cluster.name, ""),
        }


def watch_problems(cluster: Cluster) -> list[str]:
    """Sentences about what the mirror cannot see or read now."""
    problems = [cluster.error] if cluster.error else []
    for watch in WatchState.objects.filter(cluster=cluster):
        if watch.state not in GOOD_WATCH and watch.error:
            problems.append(f"{watch.kind}: {watch.error}")
        if watch.problem_count:
            problems.append(
                f"{watch.kind}: {cells.count(watch.problem_count, 'object')} cannot be read; "
                "they are shown and take no part in allocation."
            )
    return problems[:PROBLEMS_SHOWN]


class OverviewClasses(RequiresRole, InCluster, View):
    """The card "what can be asked for": devices per class, counted on the snapshot."""

    def get(self, request: HttpRequest, **_: str) -> HttpResponse:
        uses = class_uses(self.cluster)
        return render(
            request,
            "portal/overview_classes.html",
            {"cluster": self.cluster, "classes": self.rows(uses)},
        )

    def rows(self, uses: Mapping[str, ClassUse]) -> list[tuple[Usage, str]]:
        """Each class with its devices by state, and why its selector fails, if so."""
        return [
            (
                Usage(
                    name, reverse("class", args=[self.cluster.name, name]), use.counts
                ),
                use.problem,
            )
            for name, use in sorted(uses.items())
        ]
