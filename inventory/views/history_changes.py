"""What changed in a cluster between two times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.generic import View

from inventory.history.differences import LISTED, Section, counted, differences
from inventory.history.happenings import first_list
from inventory.history.moments import earlier, moment
from inventory.history.words import Html, object_link, sentence
from inventory.models_history import Happening
from inventory.views.kit import InCluster
from web.doors import RequiresRole
from web.pages import Crumb

RANGES: Final = {"1h": "1 hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days"}
SECONDS: Final = {"1h": 3_600, "24h": 86_400, "7d": 604_800, "30d": 2_592_000}
DEFAULT: Final = "1h"


@dataclass(frozen=True, slots=True)
class Change:
    at: datetime
    link: Html
    words: Html


@dataclass(frozen=True, slots=True)
class Listed:
    """A section for the template; ``more`` are not listed."""

    title: str
    count: int
    changes: Sequence[Change]
    more: int


class Changes(RequiresRole, InCluster, View):
    """``?from=&to=`` (UTC), or ``?range=24h``; without any, the last hour."""

    def get(self, request: HttpRequest, **_: str) -> HttpResponse:
        now = timezone.now()
        since, until, problem = asked(request, now)
        sections = [] if problem else differences(self.cluster.pk, since, until)
        begun = first_list(self.cluster.pk, "ResourceClaim")
        here = self.url("changes")
        chosen = request.GET.get("range", "")
        if not chosen and not request.GET.get("from"):
            chosen = DEFAULT
        context = {
            "cluster": self.cluster,
            "title": "What changed",
            "crumbs": [self.cluster_crumb(), Crumb("What changed")],
            "sections": [listed(self.cluster.name, section) for section in sections],
            "since": since,
            "until": until,
            "problem": problem,
            "ranges": [
                (words, f"{here}?{urlencode({'range': name})}", name == chosen)
                for name, words in RANGES.items()
            ],
            "begun": begun if begun and begun > since else None,
        }
        return render(request, "inventory/history_changes.html", context)


class ChangesCard(RequiresRole, InCluster, View):
    """The last hour in counts: a part of the overview."""

    def get(self, request: HttpRequest, **_: str) -> HttpResponse:
        until = timezone.now()
        counts = counted(self.cluster.pk, until - timedelta(hours=1), until)
        context: dict[str, Any] = {"cluster": self.cluster, "counts": counts}
        return render(request, "inventory/history_changes_card.html", context)


def asked(request: HttpRequest, now: datetime) -> tuple[datetime, datetime, str]:
    """From when until when, and a sentence if that cannot be read."""
    name = request.GET.get("range", DEFAULT)
    span = timedelta(seconds=SECONDS.get(name, SECONDS[DEFAULT]))
    texts = (request.GET.get("from", ""), request.GET.get("to", ""))
    if "range" in request.GET or not any(texts):
        return now - span, now, ""
    until = moment(texts[1]) if texts[1] else now
    since = moment(texts[0]) if texts[0] else earlier(until or now, span)
    if until is None or since is None:
        text = "A time is written like 2026-11-30T07:00, in UTC."
        return now - span, now, text
    if since >= until:
        return since, until, "“From” must be before “to”."
    return since, until, ""


def listed(cluster: str, section: Section) -> Listed:
    """At most :data:`LISTED` of them, in words."""
    changes = [change_of(cluster, row) for row in section.rows]
    more = max(0, section.count - len(changes)) if len(changes) >= LISTED else 0
    return Listed(section.topic.title, section.count, changes, more)


def change_of(cluster: str, row: Happening) -> Change:
    """One thing that happened, in words with links."""
    return Change(row.at, object_link(cluster, row), sentence(cluster, row))
