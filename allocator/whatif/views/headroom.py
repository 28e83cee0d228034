"""How many more of each shape fit now, how that went, and the list of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.generic import View

from allocator.models import HeadroomSample
from allocator.whatif import documents
from allocator.whatif.headroom import (
    Known,
    Look,
    history,
    look,
    read_shapes,
    save_shapes,
)
from dra.whatif import Headroom, ScenarioError
from inventory.views.kit import InCluster
from web.doors import RequiresRole, Role, check
from web.pages import Crumb

PERIODS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
WIDTH: Final = 300
HEIGHT: Final = 48


@dataclass(frozen=True, slots=True)
class Chart:
    """A line in a picture of :data:`WIDTH` × :data:`HEIGHT`; ``area`` is below it."""

    line: str
    area: str
    least: int
    most: int
    words: str


@dataclass(frozen=True, slots=True)
class ShapeRow:
    known: Known
    answer: Headroom
    chart: Chart | None


class HeadroomPage(InCluster, RequiresRole, View):
    """GET shows the answers; POST (operators) replaces the list of shapes."""

    required_role = Role.VIEWER
    request: HttpRequest
    template_name = "allocator/whatif/headroom.html"

    def get(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        return self._page(look(self.cluster))

    def post(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        check(request.user, Role.OPERATOR)
        text = request.POST.get("shapes", "").replace("\r\n", "\n")
        try:
            raw = documents.plain(text)
            save_shapes(self.cluster, read_shapes(raw or []))
        except ScenarioError as error:
            return self._page(look(self.cluster), text=text, problem=str(error))
        messages.success(request, "The list of shapes is saved.")
        return redirect(self.url("what-if-headroom"))

    def _page(self, found: Look, *, text: str = "", problem: str = "") -> HttpResponse:
        period = self.request.GET.get("period", "day")
        days = PERIODS.get(period, 1)
        since = timezone.now() - timedelta(days=days)
        lines = history(self.cluster, [one.digest for one in found.shapes], since)
        listed = [{"name": s.name, "claims": s.claims} for s in found.shapes]
        context: dict[str, Any] = {
            "cluster": self.cluster,
            "title": "Headroom",
            "crumbs": [
                self.cluster_crumb(),
                Crumb("What-if", self.url("what-if")),
                Crumb("Headroom"),
            ],
            "found": found,
            "rows": [
                ShapeRow(known, answer, chart_of(lines[known.digest]))
                for known, answer in zip(found.shapes, found.answers, strict=True)
            ],
            "periods": [(name, name == period) for name in PERIODS],
            "text": text or documents.to_yaml(listed),
            "problem": problem,
            "width": WIDTH,
            "height": HEIGHT,
        }
        return render(self.request, self.template_name, context)


def chart_of(samples: Sequence[HeadroomSample]) -> Chart | None:
    """None where there is too little for a line."""
    if len(samples) < 2:
        return None
    first, last = samples[0].at, samples[-1].at
    span = (last - first).total_seconds() or 1.0
    least, most = min(s.least for s in samples), max(s.most for s in samples)
    top = most or 1
    points = [
        (
            (s.at - first).total_seconds() / span * WIDTH,
            HEIGHT - 2 - s.fits / top * (HEIGHT - 4),
        )
        for s in samples
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    words = f"Between {least:,} and {most:,}, last {samples[-1].fits:,.0f}"
    return Chart(line, f"0,{HEIGHT} {line} {WIDTH},{HEIGHT}", least, most, words)
