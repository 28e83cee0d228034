"""What happened to objects: written by the mirrors, read by pages, forgotten in time.

A mirror makes one :class:`Recorder` per transaction and saves it at the end: what
happened is kept with the change or not at all. Rows are compared with what they were,
so a list after a lost watch tells what changed meanwhile, once, at the time when the
list came. The first list of a kind tells nothing but that it was the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, QuerySet
from django.utils import timezone

from inventory.choices import Happened
from inventory.models import WatchState
from inventory.models_history import Happening

DEVICE: Final = "Device"
RULE: Final = "DeviceTaintRule"
MOST_NAMED: Final = 32
"""Devices, nodes, keys that the detail of one row names; the rest is a number."""
_BATCH: Final = 1_000

type Detail = Mapping[str, Any]


class Recorder:
    """What happens in one transaction of one mirrored kind."""

    def __init__(self, cluster_id: int, watched: str) -> None:
        self.cluster_id = cluster_id
        self.watched = watched
        """The kind that is listed and watched; its first list tells nothing."""
        self._rows: list[Happening] = []
        self._is_first: bool | None = None

    def note(
        self,
        kind: str,
        name: str,
        what: Happened,
        *,
        namespace: str = "",
        uid: str = "",
        **detail: Any,
    ) -> None:
        if self.is_first_list:
            return
        self._rows.append(
            Happening(
                cluster_id=self.cluster_id,
                kind=kind,
                namespace=namespace,
                name=name[:381],
                uid=uid,
                what=what,
                detail={key: value for key, value in detail.items() if value},
            )
        )

    def save(self) -> None:
        """Call it once, before the watch state says that a list has been read."""
        rows, self._rows = self._rows, []
        if self._is_first:
            rows = [
                Happening(
                    cluster_id=self.cluster_id,
                    kind=self.watched,
                    name="",
                    what=Happened.BEGUN,
                )
            ]
        now = timezone.now()
        for row in rows:
            row.at = now
        if rows:
            Happening.objects.bulk_create(rows, batch_size=_BATCH)

    @property
    def is_first_list(self) -> bool:
        """Whether the kind has never been listed; asked for once, at the first change."""
        if self._is_first is None:
            listed = WatchState.objects.filter(
                cluster_id=self.cluster_id, kind=self.watched, listed_at__isnull=False
            )
            self._is_first = not listed.exists()
        return self._is_first


def few(names: Sequence[str]) -> list[str]:
    """As many as a detail names."""
    return list(names[:MOST_NAMED])


# --- reading -----------------------------------------------------------------------


def of_object(
    cluster_id: int, kind: str, name: str, namespace: str = ""
) -> QuerySet[Happening]:
    """What happened to an object, the newest first. Objects of one name share it."""
    return Happening.objects.filter(
        cluster_id=cluster_id, kind=kind, namespace=namespace, name=name
    ).order_by("-at", "-pk")


def of_namespace(cluster_id: int, namespace: str) -> QuerySet[Happening]:
    """What happened to the claims of a namespace, the newest first."""
    return Happening.objects.filter(
        cluster_id=cluster_id, kind="ResourceClaim", namespace=namespace
    ).order_by("-at", "-pk")


def first_list(cluster_id: int, kind: str) -> datetime | None:
    """Since when the watch of a kind is recorded; None: before there was a record."""
    begun = Happening.objects.filter(
        cluster_id=cluster_id, kind=kind, namespace="", name="", what=Happened.BEGUN
    )
    return begun.order_by("at").values_list("at", flat=True).first()


def between(cluster_id: int, since: datetime, until: datetime) -> QuerySet[Happening]:
    """Everything after ``since``, up to ``until``."""
    return Happening.objects.filter(cluster_id=cluster_id, at__gt=since, at__lte=until)


# --- forgetting --------------------------------------------------------------------


def prune_happenings(now: datetime | None = None) -> int:
    """Forget what is old, and what an object has beyond its share; how many."""
    now = now or timezone.now()
    oldest = now - timedelta(days=settings.HAPPENINGS_DAYS)
    old = Happening.objects.filter(at__lt=oldest).exclude(what=Happened.BEGUN)
    return _delete(old) + _forget_beyond(settings.HAPPENINGS_PER_OBJECT)


def _forget_beyond(most: int) -> int:
    names = ("cluster_id", "kind", "namespace", "name")
    full = Happening.objects.values(*names).annotate(n=Count("pk")).filter(n__gt=most)
    gone = 0
    for found in list(full):
        rows = Happening.objects.filter(**{name: found[name] for name in names})
        last = rows.order_by("-at", "-pk")[most:].values_list("pk", flat=True)
        gone += _delete(rows.filter(pk__in=list(last[: 10 * _BATCH])))
    return gone


def _delete(rows: QuerySet[Happening]) -> int:
    gone = 0
    while pks := list(rows.order_by("pk").values_list("pk", flat=True)[:_BATCH]):
        Happening.objects.filter(pk__in=pks).delete()
        gone += len(pks)
    return gone
