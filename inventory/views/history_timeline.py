"""What happened to one object, the newest first: a part of its page, and a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.views.generic import View

from inventory.choices import Happened
from inventory.history.happenings import DEVICE, RULE, first_list
from inventory.history.timelines import timeline
from inventory.history.words import Html, sentence, timeline_href
from inventory.models_history import Happening
from inventory.views.kit import InCluster
from web.doors import RequiresRole
from web.pages import Crumb, cells

SHOWN: Final = 30
MOST: Final = 500
WATCHED: Final = {
    "ResourceClaim": "ResourceClaim",
    DEVICE: "ResourceSlice",
    "Node": "Node",
    "DeviceClass": "DeviceClass",
    RULE: RULE,
}
"""Kinds that have a timeline, and the kind whose watch tells of them."""
_REFRESH: Final = {
    "ResourceClaim": "ResourceClaim Pod",
    DEVICE: "ResourceSlice ResourceClaim DeviceTaintRule",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that happened."""

    at: datetime
    words: Html


class Timeline(RequiresRole, InCluster, View):
    """``?kind=Device&name=driver/pool/device``; ``all`` for more than the newest."""

    def get(self, request: HttpRequest, **_: str) -> HttpResponse:
        kind, name = request.GET.get("kind", ""), request.GET.get("name", "")
        namespace = request.GET.get("namespace", "")
        if kind not in WATCHED or not name or "\0" in name + namespace:
            raise Http404(
                "Claims, devices, nodes, classes and taint rules have a timeline."
            )
        most = MOST if "all" in request.GET else SHOWN
        found = timeline(self.cluster.pk, kind, name, namespace, most=most + 1)
        title = f"History of {namespace}/{name}" if namespace else f"History of {name}"
        context = {
            "cluster": self.cluster,
            "title": title,
            "crumbs": [self.cluster_crumb(), Crumb(title)],
            "lines": lines_of(self.cluster.name, found)[:most],
            "begun": first_list(self.cluster.pk, WATCHED[kind]),
            "href": timeline_href(self.cluster.name, kind, name, namespace),
            "more": len(found) > most and most == SHOWN,
            "whole": most == MOST,
            "refresh_on": _REFRESH.get(kind, kind),
        }
        htmx = getattr(request, "htmx", None)
        alone = htmx is not None and bool(htmx) and not htmx.history_restore_request
        page = "history_timeline_card" if alone else "history_timeline"
        return render(request, f"inventory/{page}.html", context)


def lines_of(cluster: str, rows: Sequence[Happening]) -> list[Line]:
    """In the order of ``rows``, the newest first; who let go says for how long it held."""
    since: dict[tuple[str, ...], datetime] = {}
    lines = []
    for row in reversed(rows):
        words = sentence(cluster, row)
        holder = (*row.detail.get("claim", ()), row.detail.get("share", ""))
        if row.what == Happened.HELD:
            since[holder] = row.at
        elif row.what == Happened.LET_GO and holder in since:
            held = (row.at - since.pop(holder)).total_seconds()
            words = format_html("{} It held it for {}.", words, cells.span_words(held))
        lines.append(Line(row.at, words))
    return lines[::-1]
