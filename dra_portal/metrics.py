"""``/metrics`` in Prometheus' text: what this process counted, and what rows tell.

Web processes answer under an address of the portal, to whoever may look at it.
Worker, watch and beat have no address: they listen at ``DRA_PORTAL_METRICS_LISTEN``,
which belongs into a network of one's own, and tell only what they counted themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count, Min
from django.http import HttpResponse
from django.utils import timezone
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    generate_latest,
    start_http_server,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from rest_framework.request import Request
from rest_framework.views import APIView

from allocator import snapshots
from allocator.choices import OPEN, RunState
from allocator.findings import queries as finding_queries
from allocator.models import AllocationRun, FindingPass, RunTransition
from claims.models import ResourceClaim
from cluster.store import State
from dra_portal import broker
from inventory.models import Cluster, Device, WatchState
from web import metrics as _counted  # noqa: F401  # its numbers are there before they grow

log = structlog.get_logger("dra_portal.metrics")

_GOOD: Final = (State.LIVE, State.LISTING, State.STATIC)


class Metrics(APIView):
    """``GET /metrics``, for the role viewer: a session, or an API token as Bearer."""

    schema = None

    def get(self, _request: Request) -> HttpResponse:
        text = generate_latest(counted()) + generate_latest(stored())
        return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def counted() -> CollectorRegistry:
    """What this process counted, with its children where there is a directory."""
    if not settings.METRICS_DIR:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=settings.METRICS_DIR)  # type: ignore[no-untyped-call]  # registers itself
    return registry


def stored() -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(Stored())
    return registry


def begin() -> None:
    """At the start of a process: drop what an earlier one left in the directory."""
    if not settings.METRICS_DIR:
        return
    mine = f"_{os.getpid()}.db"
    for path in Path(settings.METRICS_DIR).glob("*.db"):
        if not path.name.endswith(mine):
            path.unlink(missing_ok=True)


def listen() -> None:
    """Serve :func:`counted` at ``DRA_PORTAL_METRICS_LISTEN``, if that is set."""
    if not settings.METRICS_LISTEN:
        return
    host, _, port = settings.METRICS_LISTEN.rpartition(":")
    try:
        start_http_server(int(port), host.strip("[]") or "::", registry=counted())
    except OSError as error:
        # A second process on this machine: numbers are no reason not to work.
        log.warning("metrics.not_served", at=settings.METRICS_LISTEN, reason=str(error))


class Stored(Collector):
    """Read at each scrape, in a fixed number of queries whatever there is."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        up = _family("up", "1 while it answers.", "part")
        try:
            families = [
                *_runs(),
                *_refused(),
                *_watches(),
                *_clusters(),
                *_findings(),
                *_by_state("claims", "Claims by state.", ResourceClaim),
                *_by_state("devices", "Devices by state.", Device),
            ]
            up.add_metric(["database"], 1)
        except DatabaseError as error:
            log.warning("metrics.database_failed", reason=type(error).__name__)
            families = []
            up.add_metric(["database"], 0)
        depths = broker.depths()
        up.add_metric(["broker"], int(depths is not None))
        queue = _family("queue_messages", "Tasks that wait for a worker.", "queue")
        for name, depth in (depths or {}).items():
            queue.add_metric([name], depth)
        yield from (up, queue, *families)


def _family(name: str, help_text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"dra_portal_{name}", help_text, labels=labels)


def _runs() -> Iterable[GaugeMetricFamily]:
    runs = _family("runs", "Runs that are kept, by state.", "cluster", "state")
    oldest = _family(
        "oldest_open_run_seconds", "Age of the oldest run without an end.", "cluster"
    )
    began: dict[str, Any] = {}
    rows = AllocationRun.objects.order_by().values_list("cluster__name", "state")
    for cluster, state, count, first in rows.annotate(Count("pk"), Min("created_at")):
        runs.add_metric([cluster, state], count)
        if state in OPEN:
            began[cluster] = min(began.get(cluster, first), first)
    for cluster, first in began.items():
        oldest.add_metric([cluster], (timezone.now() - first).total_seconds())
    return runs, oldest


def _refused() -> Iterable[GaugeMetricFamily]:
    """Sentences are for people; the kind of a refusal is one of a few words."""
    family = _family(
        "runs_ended_badly",
        "Runs that are kept and ended as conflict or failed, by the kind of refusal.",
        "cluster",
        "state",
        "reason",
    )
    rows = (
        RunTransition.objects.filter(to_state__in=(RunState.CONFLICT, RunState.FAILED))
        .order_by()
        .values_list("run__cluster__name", "to_state", "details__refusal")
        .annotate(Count("pk"))
    )
    for cluster, state, refusal, count in rows:
        family.add_metric([cluster, state, str(refusal or "other")], count)
    return (family,)


def _watches() -> Iterable[GaugeMetricFamily]:
    labels = ("cluster", "kind")
    live = _family("watch_live", "1 while the mirror follows this kind.", *labels)
    lag = _family("watch_lag_seconds", "Since the watch was last heard of.", *labels)
    objects = _family("objects", "Objects in the mirror.", *labels)
    lists = _family("watch_lists", "Lists made since the watch began.", *labels)
    now = timezone.now()
    rows = WatchState.objects.filter(cluster__left_at=None)
    for watch in rows.select_related("cluster"):
        if watch.state == State.NOT_SERVED:
            continue
        key = [watch.cluster.name, watch.kind]
        live.add_metric(key, int(watch.state in _GOOD))
        objects.add_metric(key, watch.object_count)
        lists.add_metric(key, watch.relists)
        if watch.alive_at and watch.state != State.STATIC:
            lag.add_metric(key, (now - watch.alive_at).total_seconds())
    return live, lag, objects, lists


def _clusters() -> Iterable[GaugeMetricFamily]:
    """Snapshots only of clusters that this process was asked about."""
    behind = _family(
        "snapshot_behind_changes",
        "Changes of the mirror that this process' snapshot does not have yet.",
        "cluster",
    )
    left = _family(
        "cluster_left_seconds", "Since clusters.yaml named it last.", "cluster"
    )
    kept = snapshots.kept()
    rows = Cluster.objects.values_list("pk", "name", "seq", "left_at")
    for pk, name, seq, left_at in rows:
        if left_at is not None:
            left.add_metric([name], (timezone.now() - left_at).total_seconds())
        elif pk in kept:
            behind.add_metric([name], max(0, seq - kept[pk]))
    return behind, left


def _findings() -> Iterable[GaugeMetricFamily]:
    """What is wrong, and how old the last look is: an old one tells of no worker."""
    findings = _family(
        "findings",
        "What is wrong now, by what it is.",
        "cluster",
        "code",
        "severity",
        "acknowledged",
    )
    for one in finding_queries.open_by_code():
        known = "true" if one.acknowledged else "false"
        findings.add_metric([one.cluster, one.code, one.severity, known], one.count)
    age = _family(
        "findings_age_seconds", "Since a worker last looked for findings.", "cluster"
    )
    ended = FindingPass.objects.filter(cluster__left_at=None).exclude(ended_at=None)
    for cluster, at in ended.values_list("cluster__name", "ended_at"):
        if at is not None:
            age.add_metric([cluster], (timezone.now() - at).total_seconds())
    return findings, age


def _by_state(
    name: str, help_text: str, model: type[ResourceClaim | Device]
) -> Iterable[GaugeMetricFamily]:
    family = _family(name, help_text, "cluster", "state")
    followed = model._default_manager.filter(cluster__left_at=None)
    rows = followed.order_by().values_list("cluster__name", "state")
    for cluster, state, count in rows.annotate(Count("pk")):
        family.add_metric([cluster, state], count)
    return (family,)
