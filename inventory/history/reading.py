"""Use over time as a chart needs it: averages per step, gaps as gaps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from inventory.choices import UsageKind
from inventory.history import spans
from inventory.history.kept import (
    DAY,
    HOUR,
    changes_of,
    covers_of,
    moment,
    packed_until,
    seconds,
    sums_of,
)
from inventory.history.numbers import NOTHING, WHOLE, Key
from inventory.history.spans import Span, Total
from inventory.models import Cluster
from inventory.models_history import UsageSeries

STEPS: Final = (60, 300, 900, HOUR, 6 * HOUR, DAY)
"""Seconds between two points; all of them divide a day."""
MOST_POINTS: Final = 1_500


@dataclass(frozen=True, slots=True)
class Point:
    """``averages`` in the order of ``FIELDS``; None where nobody looked.

    ``covered`` is the share of the step that is known, 0 to 1.
    """

    at: datetime
    averages: tuple[float, ...] | None
    covered: float


@dataclass(frozen=True, slots=True)
class Usage:
    """``step`` is the one that was asked for, or what is still kept of old times.

    ``known`` tells whether there is such a series at all.
    """

    key: Key
    step: int
    points: tuple[Point, ...]
    known: bool

    @property
    def has_any(self) -> bool:
        return self.known and any(point.averages for point in self.points)


def usage(
    cluster: Cluster, key: Key, since: datetime, until: datetime, step: int
) -> Usage:
    """Of one class, driver, node, namespace or the cluster; a bounded number of queries.

    ``step`` is one of :data:`STEPS`; it is raised to hours or days where the time
    reaches back beyond what is kept in detail. Raises ValueError for another one, an
    empty time, or more than :data:`MOST_POINTS`.
    """
    if step not in STEPS:
        raise ValueError(f"must be one of {', '.join(map(str, STEPS))} seconds")
    if since >= until:
        raise ValueError("must be before the end")
    step = _kept_step(key, since, step)
    begin, end = spans.floor(seconds(since), step), seconds(until)
    if (end - begin) / step > MOST_POINTS:
        raise ValueError(f"makes more than {MOST_POINTS:,} points: take a greater step")
    found = _totals(cluster, key, (begin, end), step)
    points = tuple(
        _point(at, step, found.get(at, Total())) for at in range(begin, end, step)
    )
    known = UsageSeries.objects.filter(cluster=cluster, **key._asdict()).exists()
    return Usage(key, step, points, known)


def detail_from(now: datetime | None = None) -> datetime:
    """Since when every change is kept."""
    return (now or timezone.now()) - timedelta(days=settings.USAGE_DETAIL_DAYS)


def _kept_step(key: Key, since: datetime, step: int) -> int:
    now = timezone.now()
    if since >= detail_from(now):
        return step
    hours_from = now - timedelta(days=settings.USAGE_HOURS_DAYS)
    if key.kind == UsageKind.NODE or since < hours_from:
        return DAY
    return max(step, HOUR)


def _point(at: int, step: int, total: Total) -> Point:
    return Point(moment(at), total.average(), total.seconds / step)


def _totals(cluster: Cluster, key: Key, span: Span, step: int) -> dict[int, Total]:
    """By step: sums of hours or days as far back as they are needed, then changes."""
    series = UsageSeries.objects.filter(cluster=cluster, **key._asdict())
    border = _border(span, step)
    found = _from_sums(cluster, series, (span[0], border), step)
    recent = (border, span[1])
    mine = series.first()
    start, steps = (
        (NOTHING, [])
        if mine is None
        else changes_of(mine, recent, packed_until(cluster))
    )
    covers = covers_of(cluster, recent)
    changes = spans.buckets(recent, step, start, steps, covers)
    for at, total in changes.items():
        found[at] = found[at].plus(total) if at in found else total
    return found


def _border(span: Span, step: int) -> int:
    """From when changes are read; before it, sums."""
    detail = seconds(detail_from())
    if span[0] >= detail:
        return span[0]
    width = max(step, HOUR)
    return min(span[1], spans.floor(detail, width) + width)


def _from_sums(
    cluster: Cluster, series: QuerySet[UsageSeries], span: Span, step: int
) -> dict[int, Total]:
    if span[0] >= span[1]:
        return {}
    whole = UsageSeries.objects.filter(cluster=cluster, **WHOLE._asdict())
    width = DAY if step == DAY else HOUR
    own = sums_of(series, span, width)
    found: dict[int, Total] = {}
    # A series that had nothing has no row: how long was looked is in the cluster's.
    for at, total in sums_of(whole, span, width).items():
        mine = own.get(at, Total(total.seconds))
        bucket = spans.floor(at, step)
        found[bucket] = found[bucket].plus(mine) if bucket in found else mine
    return found
