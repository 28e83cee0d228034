"""What happened to one object, from its own rows and from those of taint rules."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from inventory.history import rules
from inventory.history.happenings import DEVICE, of_object
from inventory.models_history import Happening


class Place(NamedTuple):
    """Where a part of a timeline ended: rows are in the order of time, then key."""

    at: datetime
    pk: int


def timeline(
    cluster_id: int,
    kind: str,
    name: str,
    namespace: str = "",
    *,
    most: int,
    before: Place | None = None,
) -> list[Happening]:
    """At most ``most`` things, the newest first, those before a place alone.

    Of a device at most five queries, of others one. Rows that come from a rule are not
    in the table.
    """
    own = of_object(cluster_id, kind, name, namespace)
    if before is not None:
        own = own.filter(Q(at__lt=before.at) | Q(at=before.at, pk__lt=before.pk))
    rows = list(own[:most])
    if kind != DEVICE:
        return rows
    since = rows[-1].at if len(rows) == most else None
    theirs = rules.of_device(cluster_id, name, since)
    if before is not None:
        theirs = [row for row in theirs if (row.at, row.pk) < before]
    both = sorted([*rows, *theirs], key=lambda row: (row.at, row.pk), reverse=True)
    return both[:most]
