"""Sums of whole hours and days, packing, and forgetting what is old.

Every change is kept for ``USAGE_DETAIL_DAYS``, hours of everything but nodes for
``USAGE_HOURS_DAYS``, days for ``USAGE_DAYS``. Of a day that is summed up the changes
are packed: a row for each series in place of one for each change. Nothing is forgotten
before it is summed up and packed. Doing it twice, or at the same time, ends in the
same rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import batched
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from inventory.choices import UsageKind
from inventory.history import spans
from inventory.history.kept import (
    BLOCK,
    DAY,
    HOUR,
    MINUTE,
    covers_of,
    moment,
    seconds,
    starts_of,
    steps_of,
)
from inventory.history.numbers import FIELDS, NOTHING
from inventory.history.packing import pack_changes, pack_sums, unpack_sums
from inventory.history.spans import Span, Total
from inventory.models import Cluster
from inventory.models_history import (
    UsageChange,
    UsageCover,
    UsagePack,
    UsageSeries,
    UsageTrack,
)

AT_ONCE: Final = 72
"""Hours (and days) that one call sums up or packs at most; the next one goes on."""
_BATCH: Final = 1_000
_UNTIL: Final = {HOUR: "hours_until", DAY: "days_until"}

type Block = dict[int, dict[int, Total]]
"""By series, then by place in the block."""


def prune_usage(now: datetime | None = None) -> int:
    """Sum up and pack what is complete, then forget what is old; how many rows went."""
    now = now or timezone.now()
    gone = 0
    for cluster in Cluster.objects.all():
        roll_up(cluster, now)
        gone += _forget_changes(cluster, now)
        gone += _forget_series(cluster)
    for span, days in (
        (MINUTE, settings.USAGE_DETAIL_DAYS),
        (HOUR, settings.USAGE_HOURS_DAYS),
        (DAY, settings.USAGE_DAYS),
    ):
        # A pack goes when the last thing in it is old.
        oldest = now - timedelta(days=days) - timedelta(seconds=BLOCK[span])
        gone += _delete(UsagePack.objects.filter(span=span, at__lt=oldest))
    return gone


def roll_up(cluster: Cluster, now: datetime) -> None:
    """Sum up the hours and days that have ended, then pack the days' changes."""
    for width in (HOUR, DAY):
        with transaction.atomic():
            if (track := _locked(cluster)) is not None:
                _sum_up(cluster, track, width, seconds(now))
    with transaction.atomic():
        if (track := _locked(cluster)) is not None:
            _pack(cluster, track)


def _locked(cluster: Cluster) -> UsageTrack | None:
    return UsageTrack.objects.select_for_update().filter(cluster=cluster).first()


# --- sums --------------------------------------------------------------------------


def _sum_up(cluster: Cluster, track: UsageTrack, width: int, now: int) -> None:
    first = UsageCover.objects.filter(cluster=cluster).order_by("begin").first()
    if first is None:
        return
    until = getattr(track, _UNTIL[width]) or first.begin
    at = spans.floor(seconds(until), width)
    blocks: dict[int, Block] = defaultdict(lambda: defaultdict(dict))
    for _ in range(AT_ONCE):
        # A sample may still come that says what was true up to its time.
        if at + width + 300 > now:
            break
        begin = spans.floor(at, BLOCK[width])
        for pk, total in _sums(cluster, (at, at + width), width):
            blocks[begin][pk][(at - begin) // width] = total
        at += width
    for begin, block in blocks.items():
        add_sums(block, width, begin)
    UsageTrack.objects.filter(pk=track.pk).update(**{_UNTIL[width]: moment(at)})


def _sums(cluster: Cluster, span: Span, width: int) -> Iterator[tuple[int, Total]]:
    """By series; of the cluster always, of others where they had anything."""
    covers = covers_of(cluster, span)
    if not covers:
        return
    series = UsageSeries.objects.filter(cluster=cluster)
    if width == HOUR:
        series = series.exclude(kind=UsageKind.NODE)
    starts = starts_of(series, span[0])
    steps = steps_of(series, span)
    always = set(series.filter(kind=UsageKind.CLUSTER).values_list("pk", flat=True))
    for pk in starts.keys() | steps.keys() | always:
        found = spans.total(span, starts.get(pk, NOTHING), steps.get(pk, ()), covers)
        if any(found.sums) or pk in always:
            yield pk, found


def add_sums(block: Block, width: int, begin: int) -> None:
    """Write sums into the packs of a block; what is there already stays."""
    for some in batched(sorted(block), _BATCH):
        known = UsagePack.objects.filter(
            series_id__in=some, span=width, at=moment(begin)
        )
        for pk, data in known.values_list("series_id", "data"):
            block[pk] |= unpack_sums(data, width)
        UsagePack.objects.bulk_create(
            (
                UsagePack(
                    series_id=pk,
                    span=width,
                    at=moment(begin),
                    data=pack_sums(block[pk], width),
                )
                for pk in some
            ),
            update_conflicts=True,
            unique_fields=["series", "span", "at"],
            update_fields=["data"],
        )


# --- packing -----------------------------------------------------------------------


def _pack(cluster: Cluster, track: UsageTrack) -> None:
    """The changes of days that are summed up, one row for each series and day."""
    first = UsageCover.objects.filter(cluster=cluster).order_by("begin").first()
    if first is None or track.hours_until is None or track.days_until is None:
        return
    at = spans.floor(seconds(track.packed_until or first.begin), DAY)
    until = seconds(min(track.hours_until, track.days_until))
    series = UsageSeries.objects.filter(cluster=cluster)
    for _ in range(AT_ONCE):
        if at + DAY > until:
            break
        if covers_of(cluster, (at, at + DAY)):
            packs = _packed_day(series, at)
            UsagePack.objects.bulk_create(packs, _BATCH, ignore_conflicts=True)
        at += DAY
    UsageTrack.objects.filter(pk=track.pk).update(packed_until=moment(at))


def _packed_day(series: QuerySet[UsageSeries], at: int) -> Iterator[UsagePack]:
    starts, steps = starts_of(series, at), steps_of(series, (at + 1, at + DAY))
    for pk in starts.keys() | steps.keys():
        start, changes = starts.get(pk, NOTHING), steps.get(pk, ())
        if changes or any(start):
            data = pack_changes(start, changes, at)
            yield UsagePack(series_id=pk, span=MINUTE, at=moment(at), data=data)


# --- forgetting --------------------------------------------------------------------


def _forget_changes(cluster: Cluster, now: datetime) -> int:
    """Changes that are packed, but the one that is still true; covers that are old."""
    track = UsageTrack.objects.filter(cluster=cluster).first()
    if track is None or track.packed_until is None:
        return 0
    limit = track.packed_until
    later = UsageChange.objects.filter(
        series=OuterRef("series"), at__gt=OuterRef("at"), at__lte=limit
    )
    old = UsageChange.objects.filter(Exists(later), series__cluster=cluster)
    gone = _delete(old.filter(at__lt=limit))
    oldest = min(limit, now - timedelta(days=settings.USAGE_DETAIL_DAYS))
    return gone + _delete(UsageCover.objects.filter(cluster=cluster, end__lt=oldest))


def _forget_series(cluster: Cluster) -> int:
    """Series that have vanished and of which nothing is known any more."""
    zeros = Q(**dict.fromkeys(FIELDS, 0))
    some = UsageChange.objects.filter(series=OuterRef("pk")).exclude(zeros)
    empty = UsageSeries.objects.filter(
        zeros,
        ~Exists(some),
        ~Exists(UsagePack.objects.filter(series=OuterRef("pk"))),
        cluster=cluster,
    )
    return _delete(empty.exclude(kind=UsageKind.CLUSTER))


def _delete(
    rows: QuerySet[UsageChange]
    | QuerySet[UsageCover]
    | QuerySet[UsageSeries]
    | QuerySet[UsagePack],
) -> int:
    """In portions, so that no transaction is long."""
    gone = 0
    while pks := list(_pks(rows)):
        rows.model._default_manager.filter(pk__in=pks).delete()
        gone += len(pks)
    return gone


def _pks(
    rows: QuerySet[UsageChange]
    | QuerySet[UsageCover]
    | QuerySet[UsageSeries]
    | QuerySet[UsagePack],
) -> Iterable[int]:
    return rows.order_by("pk").values_list("pk", flat=True)[:_BATCH]
