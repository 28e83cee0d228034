"""Liveness and readiness, for load balancers. They tell nothing about the clusters.

Readiness fails for what makes this process useless: no database, or one without our
tables. A broker that is away or a mirror that is old is told and does not fail it:
pages still show everything, and say themselves how old it is, which no answer at all
could not. ``?strict`` fails for these too, for whoever wants an alarm.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from cluster.store import State
from dra_portal import broker
from inventory.models import WatchState
from inventory.queries.leaving import followed

_WELL: Final = (State.LIVE, State.LISTING, State.STATIC, State.NOT_SERVED)
_migrated = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One part; ``problem`` is empty when all is well."""

    part: str
    problem: str
    fatal: bool

    def __str__(self) -> str:
        return f"{self.part}: {self.problem or 'ok'}"


@login_not_required
@require_GET
def live(request: HttpRequest) -> HttpResponse:
    """200 while the process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@require_GET
def ready(request: HttpRequest) -> HttpResponse:
    """A line for each part; 503 when one is broken that nothing works without."""
    found = findings()
    strict = "strict" in request.GET
    broken = any(one.problem and (one.fatal or strict) for one in found)
    text = "".join(f"{one}\n" for one in found)
    response = HttpResponse(
        text, status=503 if broken else 200, content_type="text/plain"
    )
    response["Cache-Control"] = "no-store"
    return response


def findings() -> list[Finding]:
    """Database, migrations, broker, mirror; the rest is left out without a database."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        found = [
            Finding("database", "", fatal=True),
            Finding("migrations", _unmigrated(), fatal=True),
        ]
        mirror = "" if found[1].problem else _mirror()
    except DatabaseError:
        return [Finding("database", "does not answer", fatal=True)]
    away = "" if broker.answers() else "does not answer; runs wait until it does"
    return [
        *found,
        Finding("broker", away, fatal=False),
        Finding("mirror", mirror, fatal=False),
    ]


def _unmigrated() -> str:
    """Once applied they stay so: a process looks until they are."""
    global _migrated
    if not _migrated:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if missing:
            return f"{len(missing)} not applied; run manage.py migrate"
        _migrated = True
    return ""


def _mirror() -> str:
    """How many clusters are not as current as a run would need them."""
    oldest = Now() - timedelta(seconds=settings.RUN_MIRROR_MAX_AGE)
    watches = WatchState.objects.filter(cluster__left_at=None)
    silent = watches.exclude(state__in=(State.STATIC, State.NOT_SERVED))
    old = {
        *watches.exclude(state__in=_WELL).values_list("cluster", flat=True),
        *silent.filter(alive_at__lt=oldest).values_list("cluster", flat=True),
    }
    if not old:
        return ""
    return f"{len(old)} of {followed().count()} clusters not current"
