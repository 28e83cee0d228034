"""Reads what is kept of use over time, in rows or packed: covers, changes, sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import batched
from typing import Final

from django.db.models import OuterRef, QuerySet, Subquery

from inventory.history.numbers import FIELDS, NOTHING, Numbers
from inventory.history.packing import unpack_changes, unpack_sums
from inventory.history.spans import Span, Step, Total, floor
from inventory.models import Cluster
from inventory.models_history import (
    UsageChange,
    UsageCover,
    UsagePack,
    UsageSeries,
    UsageTrack,
)

MINUTE: Final = 60
HOUR: Final = 3_600
DAY: Final = 86_400
BLOCK: Final = {MINUTE: DAY, HOUR: DAY, DAY: 32 * DAY}
"""Seconds that one pack is about, by its ``span``. All of them begin with a day."""
_BATCH: Final = 1_000


def seconds(at: datetime) -> int:
    return int(at.timestamp())


def moment(at: int) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def covers_of(cluster: Cluster, span: Span) -> list[Span]:
    """The times without gaps that touch ``span``, in order."""
    begin, end = map(moment, span)
    rows = UsageCover.objects.filter(cluster=cluster, end__gte=begin, begin__lt=end)
    found = rows.order_by("begin").values_list("begin", "end")
    return [(seconds(first), seconds(last)) for first, last in found]


def packed_until(cluster: Cluster) -> int:
    """Before it changes are packed; 0: none are."""
    rows = UsageTrack.objects.filter(cluster=cluster, packed_until__isnull=False)
    at = rows.values_list("packed_until", flat=True).first()
    return seconds(at) if at is not None else 0


def sums_of(series: QuerySet[UsageSeries], span: Span, width: int) -> dict[int, Total]:
    """Sums of one series by the time at which each hour or day begins."""
    block = BLOCK[width]
    rows = UsagePack.objects.filter(
        series__in=series,
        span=width,
        at__gt=moment(span[0] - block),
        at__lt=moment(span[1]),
    )
    found: dict[int, Total] = {}
    for at, data in rows.values_list("at", "data"):
        begin = seconds(at)
        for place, total in unpack_sums(data, width).items():
            if span[0] <= (start := begin + place * width) < span[1]:
                found[start] = total
    return found


def changes_of(
    series: UsageSeries, span: Span, packed: int
) -> tuple[Numbers, list[Step]]:
    """Of one series what is true at the beginning of ``span``, and its changes there.

    ``packed``: see :func:`packed_until`.
    """
    mine = UsageSeries.objects.filter(pk=series.pk)
    if span[0] >= packed:
        starts, later = starts_of(mine, span[0]), steps_of(mine, span)
        return starts.get(series.pk, NOTHING), list(later.get(series.pk, ()))
    steps = _packed_steps(series, (span[0], min(span[1], packed)))
    if span[1] > packed:
        start, later_steps = changes_of(series, (packed, span[1]), packed)
        steps += [(packed, start), *later_steps]
    before = [numbers for at, numbers in steps if at <= span[0]]
    start = before[-1] if before else NOTHING
    return start, [step for step in steps if span[0] <= step[0] < span[1]]


def _packed_steps(series: UsageSeries, span: Span) -> list[Step]:
    """From the beginning of the first day on, each day's own beginning as a step."""
    first = floor(span[0], DAY)
    rows = UsagePack.objects.filter(
        series=series, span=MINUTE, at__gte=moment(first), at__lt=moment(span[1])
    )
    packs = {seconds(at): data for at, data in rows.values_list("at", "data")}
    steps: list[Step] = []
    for day in range(first, span[1], DAY):
        if day not in packs:
            steps.append((day, NOTHING))
            continue
        start, changes = unpack_changes(packs[day], day)
        steps += [(day, start), *changes]
    return steps


# --- rows of changes, of any number of series; not for times that are packed ---------


def starts_of(series: QuerySet[UsageSeries], at: int) -> dict[int, Numbers]:
    """The numbers that are true at a time, by series; those without any are absent."""
    newest = (
        UsageChange.objects.filter(series=OuterRef("pk"), at__lte=moment(at))
        .order_by("-at")
        .values("pk")[:1]
    )
    pks = [pk for pk in series.values_list(Subquery(newest), flat=True) if pk]
    found: dict[int, Numbers] = {}
    for some in batched(pks, _BATCH):
        rows = UsageChange.objects.filter(pk__in=some)
        for pk, *numbers in rows.values_list("series_id", *FIELDS):
            found[pk] = Numbers(*numbers)
    return found


def steps_of(series: QuerySet[UsageSeries], span: Span) -> Mapping[int, list[Step]]:
    """The changes within ``span`` by series, in order."""
    rows = UsageChange.objects.filter(
        series__in=series, at__gte=moment(span[0]), at__lt=moment(span[1])
    ).order_by("series_id", "at")
    found: dict[int, list[Step]] = defaultdict(list)
    for pk, at, *numbers in rows.values_list("series_id", "at", *FIELDS):
        found[pk].append((seconds(at), Numbers(*numbers)))
    return found
