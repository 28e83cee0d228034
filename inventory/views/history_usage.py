"""Use over time: the card with a chart, as a page of its own and as a part of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import batched
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.generic import View

from inventory.choices import DeviceState, UsageKind
from inventory.history.numbers import FIELDS, Key
from inventory.history.reading import Point, Usage, usage
from inventory.models import Cluster
from inventory.views.kit import InCluster
from web.doors import RequiresRole
from web.pages import Crumb, cells

HOUR: Final = 3_600
DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class Range:
    """``seconds`` back from now, a point every ``step`` seconds."""

    name: str
    words: str
    seconds: int
    step: int


RANGES: Final = {
    found.name: found
    for found in (
        Range("1h", "1 hour", HOUR, 60),
        Range("24h", "24 hours", DAY, 300),
        Range("7d", "7 days", 7 * DAY, HOUR),
        Range("30d", "30 days", 30 * DAY, 6 * HOUR),
        Range("1y", "1 year", 365 * DAY, DAY),
    )
}
DEFAULT: Final = "24h"
_STEPS: Final = {
    60: "a minute",
    300: "5 minutes",
    900: "15 minutes",
    HOUR: "an hour",
    6 * HOUR: "6 hours",
    DAY: "a day",
}
MOST_ROWS: Final = 48
"""Rows of the table below the chart: neighbours are put together."""
MOST_NAME: Final = 253

_LAYERS: Final = (
    ("in_use", DeviceState.IN_USE),
    ("shared", DeviceState.SHARED),
    ("blocked", DeviceState.BLOCKED),
    ("tainted", DeviceState.TAINTED),
    ("incomplete", DeviceState.INCOMPLETE),
    ("invalid", DeviceState.INVALID),
    ("free", DeviceState.FREE),
)
"""From the bottom of the chart to its top."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One series of the chart. ``key`` is the class of its colour."""

    name: str
    label: str
    stack: bool = True

    @property
    def key(self) -> str:
        return f"part-{self.name.replace('_', '-')}"

    @property
    def place(self) -> int:
        return FIELDS.index(self.name)


class UsageCard(RequiresRole, InCluster, View):
    """``?by=class&name=…&range=7d``: a page; for htmx the card alone."""

    def get(self, request: HttpRequest, **_: str) -> HttpResponse:
        key = self._key(request)
        chosen = RANGES.get(request.GET.get("range", ""), RANGES[DEFAULT])
        title = f"Use of {key.kind} {key.name}" if key.name else "Use over time"
        context = {
            **card(self.cluster, key, chosen, timezone.now()),
            "cluster": self.cluster,
            "title": title,
            "crumbs": [self.cluster_crumb(), Crumb(title)],
        }
        htmx = getattr(request, "htmx", None)
        alone = htmx is not None and bool(htmx) and not htmx.history_restore_request
        name = "history_usage_card" if alone else "history_usage"
        return render(request, f"inventory/{name}.html", context)

    def _key(self, request: HttpRequest) -> Key:
        kind = request.GET.get("by", UsageKind.CLUSTER)
        name = request.GET.get("name", "")
        if kind not in UsageKind.values or (kind == UsageKind.CLUSTER) == bool(name):
            raise Http404(
                "Use is counted by cluster, or by class, driver, node or namespace "
                "with a name."
            )
        if len(name) > MOST_NAME or "\0" in name:
            raise Http404("Nothing has such a name.")
        return Key(kind, name)


def card_href(cluster: str, key: Key, range_name: str = DEFAULT) -> str:
    """The address of the card."""
    asked = {"by": key.kind, "name": key.name, "range": range_name}
    query = urlencode({name: value for name, value in asked.items() if value})
    return f"{reverse('usage', args=[cluster])}?{query}"


def card(cluster: Cluster, key: Key, chosen: Range, now: datetime) -> dict[str, Any]:
    """What the card's template needs."""
    since = now - timedelta(seconds=chosen.seconds)
    found = usage(cluster, key, since, now, chosen.step)
    layers = _layers(key, found.points)
    return {
        "key": key,
        "chosen": chosen,
        "ranges": [
            (one.words, card_href(cluster.name, key, one.name), one == chosen)
            for one in RANGES.values()
        ],
        "href": card_href(cluster.name, key, chosen.name),
        "found": found,
        "layers": layers,
        "chart": _chart(found, layers),
        "rows": _rows(found, layers),
        "sentence": sentence_of(key, found, chosen),
        "resolution": resolution_of(found, chosen),
    }


def _layers(key: Key, points: Sequence[Point]) -> list[Layer]:
    """The states that occur; of a namespace, what it holds and what waits."""
    if key.kind == UsageKind.NAMESPACE:
        return [
            Layer("in_use", "devices held"),
            Layer("pending", "claims pending", stack=False),
        ]
    known = [point.averages for point in points if point.averages]
    return [
        Layer(name, str(state.label))
        for name, state in _LAYERS
        if name in {"in_use", "free"} or any(one[FIELDS.index(name)] for one in known)
    ]


def _chart(found: Usage, layers: Sequence[Layer]) -> dict[str, Any]:
    """The data that ``charts.js`` draws; averages with two digits."""
    return {
        "step": found.step,
        "times": [int(point.at.timestamp()) for point in found.points],
        "series": [
            {
                "name": layer.name,
                "label": layer.label,
                "stack": layer.stack,
                "values": [
                    None if p.averages is None else _short(p.averages[layer.place])
                    for p in found.points
                ],
            }
            for layer in layers
        ],
    }


def _rows(
    found: Usage, layers: Sequence[Layer]
) -> list[tuple[datetime, list[float] | None]]:
    """The newest first; None where nobody looked."""
    size = -(-len(found.points) // MOST_ROWS)
    rows: list[tuple[datetime, list[float] | None]] = []
    for some in batched(found.points, max(1, size)):
        averages = _average(some)
        shown = None
        if averages is not None:
            shown = [_short(averages[layer.place]) for layer in layers]
        rows.append((some[0].at, shown))
    return rows[::-1]


def _average(points: Sequence[Point]) -> list[float] | None:
    """Of neighbours, each weighed by how much of it is known."""
    known = [(p.averages, p.covered) for p in points if p.averages is not None]
    weight = sum(covered for _, covered in known)
    if not weight:
        return None
    return [
        sum(averages[place] * covered for averages, covered in known) / weight
        for place in range(len(FIELDS))
    ]


def sentence_of(key: Key, found: Usage, chosen: Range) -> str:
    """What the chart says, in words."""
    if not found.known and key.kind != UsageKind.CLUSTER:
        return f"No {key.kind} of this name had a device or a claim in any sample yet."
    if not found.known:
        return (
            "Nothing has been counted yet. A worker counts once a minute while the "
            "watch is live: see that worker and beat are running."
        )
    if not found.has_any:
        return (
            f"Nothing is known of the last {chosen.words}. If counting has only begun, "
            "the first numbers are here in a minute; else see that worker, beat and "
            "watch are running."
        )
    known = [p for p in found.points if p.averages is not None]
    held = [_held(key, p) for p in known]
    total = max(sum((p.averages or ())[:-1]) for p in known)
    average = _average(known) or [0.0] * len(FIELDS)
    mean = average[FIELDS.index("in_use")] + average[FIELDS.index("shared")]
    of = (
        ""
        if key.kind == UsageKind.NAMESPACE
        else f" of {cells.count(round(total), 'device')}"
    )
    noun = " devices" if key.kind == UsageKind.NAMESPACE else ""
    least, most = _worded(min(held)), _worded(max(held))
    words = f"In the last {chosen.words} {least}{noun}{of} were held all the time."
    if least != most:
        words = (
            f"In the last {chosen.words} between {least} and {most}{noun}{of} were "
            f"held, {_worded(mean)} on average."
        )
    unknown = chosen.seconds - sum(p.covered * found.step for p in found.points)
    if unknown > max(300, found.step):
        words = words.replace(" all the time.", " as far as it is known.")
        words += f" Of {cells.span_words(unknown)} of it nothing is known."
    return words


def resolution_of(found: Usage, chosen: Range) -> str:
    """How fine the points are, and why not finer; numbers of settings are days."""
    words = f"Each point is the average of {_STEPS[found.step]}."
    if found.step == chosen.step:
        return words
    detail, hours = settings.USAGE_DETAIL_DAYS, settings.USAGE_HOURS_DAYS
    if found.key.kind == UsageKind.NODE:
        return f"{words} Of nodes minutes are kept for {detail:n} days, then days."
    return (
        f"{words} Minutes are kept for {detail:n} days, hours for {hours:n}, then days."
    )


def _held(key: Key, point: Point) -> float:
    averages = point.averages or ()
    return averages[FIELDS.index("in_use")] + averages[FIELDS.index("shared")]


def _short(value: float) -> float:
    rounded = round(value, 2)
    return int(rounded) if rounded == int(rounded) else rounded


def _worded(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) or value >= 100 else f"{value:,.1f}"
