"""One sample of a cluster → rows: only what differs from the sample before.

The row of :class:`UsageTrack` is locked while a sample is kept, so of two samplers at
the same time the second finds that it is not needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from inventory.history.numbers import FIELDS, NOTHING, Key, Numbers
from inventory.models import Cluster
from inventory.models_history import (
    UsageChange,
    UsageCover,
    UsageSeries,
    UsageTrack,
)

TOO_SOON: Final = timedelta(seconds=20)
"""A sample so short after another one says nothing new."""
LONGEST: Final = timedelta(minutes=3)
"""Without a sample for longer there is a gap: what was true meanwhile is unknown."""
MOST: Final = 20_000
"""Series of a cluster in one sample; those with the smallest numbers are left out."""
_BATCH: Final = 500


def keep(cluster: Cluster, counts: Mapping[Key, Numbers], at: datetime) -> int | None:
    """Keep what was counted at a time; how many rows changed, None: too soon.

    A series that is not among ``counts`` has vanished and gets zeros.
    """
    at = at.replace(microsecond=0)
    counts = _bounded(counts)
    with transaction.atomic():
        UsageTrack.objects.get_or_create(cluster=cluster)
        track = UsageTrack.objects.select_for_update().get(cluster=cluster)
        if not _cover(cluster, at, track.lost_at):
            return None
        return _changes(cluster, counts, at)


def lose(cluster: Cluster, at: datetime) -> None:
    """The mirror was not live at a time: the sample after it does not reach back."""
    UsageTrack.objects.update_or_create(cluster=cluster, defaults={"lost_at": at})


def _bounded(counts: Mapping[Key, Numbers]) -> Mapping[Key, Numbers]:
    if len(counts) <= MOST:
        return counts
    greatest = sorted(counts, key=lambda key: (key.name != "", -sum(counts[key])))
    return {key: counts[key] for key in greatest[:MOST]}


def _cover(cluster: Cluster, at: datetime, lost_at: datetime | None) -> bool:
    """Say that somebody looked; False where that was so anyway."""
    newest = UsageCover.objects.filter(cluster=cluster).order_by("-end").first()
    if newest is not None and at - newest.end < TOO_SOON:
        return False
    broken = newest is not None and lost_at is not None and newest.end < lost_at
    if newest is None or broken or at - newest.end > LONGEST:
        UsageCover.objects.create(cluster=cluster, begin=at, end=at)
    else:
        UsageCover.objects.filter(pk=newest.pk).update(end=at)
    return True


def _changes(cluster: Cluster, counts: Mapping[Key, Numbers], at: datetime) -> int:
    rows = UsageSeries.objects.filter(cluster=cluster)
    known = {Key(row.kind, row.name): row for row in rows}
    changed = [
        _with(row, counts.get(key, NOTHING))
        for key, row in known.items()
        if Numbers.of(row) != counts.get(key, NOTHING)
    ]
    new = [
        _with(UsageSeries(cluster=cluster, **key._asdict()), numbers)
        for key, numbers in counts.items()
        if key not in known and any(numbers)
    ]
    UsageSeries.objects.bulk_create(new, batch_size=_BATCH)
    _update(changed)
    UsageChange.objects.bulk_create(
        (
            UsageChange(series=row, at=at, **Numbers.of(row)._asdict())
            for row in (*changed, *new)
        ),
        batch_size=_BATCH,
    )
    return len(changed) + len(new)


def _with(row: UsageSeries, numbers: Numbers) -> UsageSeries:
    for name, value in numbers._asdict().items():
        setattr(row, name, value)
    return row


def _update(rows: Iterable[UsageSeries]) -> None:
    UsageSeries.objects.bulk_create(
        list(rows),
        batch_size=_BATCH,
        update_conflicts=True,
        unique_fields=["pk"],
        update_fields=list(FIELDS),
    )
