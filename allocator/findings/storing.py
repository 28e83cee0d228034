"""From what a look found to rows: what is new, what differs, what has ended."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import batched
from typing import Any, Final

from django.db.models import Count, Q

from allocator import models
from allocator.findings.concerned import concerned
from allocator.findings.settling import delay_of, settle_time
from dra.audits import SEVERITIES, Finding
from dra.snapshot import Snapshot
from inventory.mirror import fit
from inventory.models import Cluster

SEEN_EVERY: Final = timedelta(minutes=1)
"""How often rows of what is still wrong are told that it is."""

_BATCH: Final = 500


@dataclass
class Changes:
    """What :func:`store` did. ``shown``: what people see has changed."""

    shown: bool = False
    next_visible: datetime | None = None
    """When the next one is old enough to be shown."""
    opened: int = 0
    ended: int = 0
    changed: int = field(default=0)


def key_of(found: Finding) -> str:
    """The same for the same finding, as long as a subject may be."""
    subject = found.subject
    parts = (
        found.code,
        subject.kind,
        subject.namespace,
        subject.name,
        subject.device,
        subject.detail,
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def store(
    cluster: Cluster,
    found: Sequence[Finding],
    snapshot: Snapshot,
    *,
    now: datetime,
    before: datetime | None,
) -> Changes:
    """Make the open rows those of ``found``; ``before`` is when that was last done.

    In the caller's transaction, which must be the only one that does this.
    """
    wanted = {key_of(one): one for one in found}
    table = models.Finding.objects.filter(cluster=cluster)
    known = {row.key: row for row in table.filter(ended_at=None)}
    changes = Changes()
    _end(known, wanted, now, changes)
    same = {key: row for key, row in known.items() if key in wanted}
    _update(same, wanted, snapshot, now, changes)
    new = {key: one for key, one in wanted.items() if key not in known}
    opened = _open(cluster, new, snapshot, now, changes)
    _tell_seen(table, now, before)
    for row in (*same.values(), *opened):
        if row.visible_from > now:
            later = changes.next_visible
            changes.next_visible = min(later or row.visible_from, row.visible_from)
        elif before is None or row.visible_from > before:
            changes.shown = True
    return changes


def _end(
    known: Mapping[str, models.Finding],
    wanted: Mapping[str, Finding],
    now: datetime,
    changes: Changes,
) -> None:
    over = [row for key, row in known.items() if key not in wanted]
    shown = [row.pk for row in over if row.visible_from <= now]
    hidden = [row.pk for row in over if row.visible_from > now]
    for pks in batched(shown, _BATCH):
        models.Finding.objects.filter(pk__in=pks).update(ended_at=now)
    for pks in batched(hidden, _BATCH):
        models.Finding.objects.filter(pk__in=pks).delete()
    changes.ended = len(shown)
    changes.shown |= bool(shown)


def _update(
    rows: Mapping[str, models.Finding],
    wanted: Mapping[str, Finding],
    snapshot: Snapshot,
    now: datetime,
    changes: Changes,
) -> None:
    changed: list[models.Finding] = []
    for key, row in rows.items():
        one = wanted[key]
        said = (one.sentence, one.evidence, one.severity)
        if said == (row.sentence, row.evidence, row.severity):
            continue
        row.sentence, row.evidence, row.severity = said
        row.rank = SEVERITIES.index(one.severity)
        row.last_seen = now
        changed.append(row)
    models.Finding.objects.bulk_update(
        changed,
        ["sentence", "evidence", "severity", "rank", "last_seen"],
        batch_size=_BATCH,
    )
    _name_objects(changed, wanted, snapshot, replace=True)
    changes.changed = len(changed)
    changes.shown |= any(row.visible_from <= now for row in changed)


def _open(
    cluster: Cluster,
    new: Mapping[str, Finding],
    snapshot: Snapshot,
    now: datetime,
    changes: Changes,
) -> list[models.Finding]:
    back = _come_back(cluster, new, now)
    models.Finding.objects.filter(pk__in=[row.pk for row in back.values()]).update(
        ended_at=None, last_seen=now
    )
    changes.shown |= bool(back)
    fresh = [
        models.Finding(**_columns(cluster, key, one, now))
        for key, one in new.items()
        if key not in back
    ]
    made = models.Finding.objects.bulk_create(fresh, batch_size=_BATCH)
    _name_objects(made, new, snapshot, replace=False)
    changes.opened = len(made) + len(back)
    return [*made, *back.values()]


def _come_back(
    cluster: Cluster, new: Mapping[str, Finding], now: datetime
) -> dict[str, models.Finding]:
    """Rows of what ended a moment ago and is there again."""
    recent = models.Finding.objects.filter(
        cluster=cluster, ended_at__gt=now - settle_time()
    )
    return {row.key: row for row in recent.order_by("ended_at") if row.key in new}


def _columns(cluster: Cluster, key: str, one: Finding, now: datetime) -> dict[str, Any]:
    subject = one.subject
    columns = fit(
        models.Finding,
        {
            "key": key,
            "code": one.code.value,
            "severity": one.severity,
            "kind": subject.kind,
            "namespace": subject.namespace,
            "name": subject.name,
            "device": subject.device,
            "detail": subject.detail,
            "sentence": one.sentence,
        },
    )
    return columns | {
        "cluster": cluster,
        "rank": SEVERITIES.index(one.severity),
        "evidence": one.evidence,
        "since": now,
        "last_seen": now,
        "visible_from": now + delay_of(one.code),
    }


def _name_objects(
    rows: Iterable[models.Finding],
    found: Mapping[str, Finding],
    snapshot: Snapshot,
    *,
    replace: bool,
) -> None:
    """Write down on whose pages these rows are shown."""
    rows = list(rows)
    if replace and rows:
        models.FindingObject.objects.filter(finding__in=rows).delete()
    models.FindingObject.objects.bulk_create(
        (
            models.FindingObject(
                finding=row,
                cluster_id=row.cluster_id,
                **fit(models.FindingObject, ref._asdict()),
            )
            for row in rows
            for ref in concerned(found[row.key], snapshot)
        ),
        batch_size=_BATCH,
    )


def _tell_seen(table: Any, now: datetime, before: datetime | None) -> None:
    if before is None or _minute(before) != _minute(now):
        table.filter(ended_at=None).update(last_seen=now)


def _minute(at: datetime) -> int:
    return int(at.timestamp() // SEEN_EVERY.total_seconds())


def open_counts(cluster: Cluster, now: datetime) -> dict[str, int]:
    """Shown and not acknowledged, by the columns of a pass."""
    shown = Q(ended_at=None, visible_from__lte=now, acknowledged_at=None)
    rows = (
        models.Finding.objects.filter(shown, cluster=cluster)
        .order_by()
        .values_list("severity")
        .annotate(Count("pk"))
    )
    by_severity = dict(rows)
    return {f"{s}s": by_severity.get(s, 0) for s in SEVERITIES}
