"""Rows → ``dra.Snapshot``; the only translator.

Each process keeps the newest snapshot of every cluster it was asked for and
refreshes it with the rows whose ``seq`` is greater than its own. What makes that
lose nothing, without one transaction around many reads:

1. ``Cluster.seq`` is read before any table and becomes the snapshot's ``seq``. The
   mirror commits a change together with its ``seq``, and one after the other, so
   everything up to that number is visible to the reads that follow.
2. A change that is committed meanwhile may be read already or not; its ``seq`` is
   greater, so the next refresh reads it (again).
3. Tombstones are read before the tables: a row seen afterwards is newer than any
   tombstone of its name.
4. Tombstones that are pruned before we read them are missed, so ``pruned_seq`` is
   looked at after them; a snapshot older than that is built anew.

Each table is read by one statement: slices of a pool are seen together. Between
kinds a snapshot may be as askew as the watches of the kinds are anyway. What changed
since an older snapshot is little, and is read from all tables by one statement.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from django.db import connection

from claims.models import Pod, PodGroup, ResourceClaim, ResourceClaimTemplate
from dra.names import ObjectKey
from dra.snapshot import EMPTY, Snapshot
from inventory.models import (
    Cluster,
    DeviceClass,
    DeviceTaintRule,
    MirroredObject,
    Namespace,
    Node,
    ResourceSlice,
    Tombstone,
)

Json = dict[str, Any]

MIRRORED: Final[tuple[type[MirroredObject], ...]] = (
    Namespace,
    Node,
    DeviceClass,
    DeviceTaintRule,
    ResourceSlice,
    ResourceClaimTemplate,
    PodGroup,
    Pod,
    ResourceClaim,
)
"""Claims last: what they hold is then never older than the slices read."""

_CHUNK: Final = 500

_SELECT_CHANGED: Final = (
    "SELECT {place} AS place, seq, name, raw FROM {table} "
    "WHERE cluster_id = %s AND seq > %s"
)
_SELECTS: Final = (
    _SELECT_CHANGED.format(place=place, table=model._meta.db_table)
    for place, model in enumerate(MIRRORED)
)
_CHANGED: Final = " UNION ALL ".join(_SELECTS) + " ORDER BY place, seq, name"
"""As text: composing it anew took longer than running it, at each change of a cluster."""


class _Mark(NamedTuple):
    seq: int
    pruned_seq: int


class _Slot:
    """The newest snapshot of one cluster in this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.snapshot: Snapshot | None = None


_slots: dict[int, _Slot] = {}
_slots_lock = threading.Lock()


def current(cluster: Cluster) -> Snapshot:
    """The snapshot of ``cluster`` as the database has it now.

    It contains every change up to ``snapshot.seq`` and perhaps later ones. One query
    when nothing changed. Threads that ask while it is being refreshed wait for it.
    Raises Cluster.DoesNotExist when the cluster is gone.
    """
    with _slots_lock:
        slot = _slots.setdefault(cluster.pk, _Slot())
    with slot.lock:
        try:
            slot.snapshot = _brought_up(slot.snapshot, cluster.pk)
        except Cluster.DoesNotExist:
            forget(cluster)
            raise
        return slot.snapshot


def forget(cluster: Cluster | None = None) -> None:
    """Drop what this process keeps of ``cluster``, or of all clusters."""
    with _slots_lock:
        if cluster is None:
            _slots.clear()
        else:
            _slots.pop(cluster.pk, None)


def kept() -> dict[int, int]:
    """Per cluster id the ``seq`` of the snapshot that this process has; asks nobody."""
    with _slots_lock:
        slots = list(_slots.items())
    return {pk: slot.snapshot.seq for pk, slot in slots if slot.snapshot is not None}


def _brought_up(old: Snapshot | None, cluster_id: int) -> Snapshot:
    mark = _mark(cluster_id)
    # A smaller seq than ours: the database is another one (a backup was restored).
    if old is None or old.seq > mark.seq:
        return _built(cluster_id, mark.seq)
    if old.seq == mark.seq:
        return old
    deleted = [
        ObjectKey(*key)
        for key in Tombstone.objects.filter(cluster_id=cluster_id, seq__gt=old.seq)
        .order_by("seq")
        .values_list("kind", "namespace", "name")
    ]
    if _mark(cluster_id).pruned_seq > old.seq:
        return _built(cluster_id, mark.seq)
    return old.refresh(_changed(cluster_id, after=old.seq), deleted, seq=mark.seq)


def _built(cluster_id: int, seq: int) -> Snapshot:
    return EMPTY.refresh(_objects(cluster_id), (), seq=seq)


def _objects(cluster_id: int) -> Iterator[Json]:
    """Objects of all kinds, in the order in which the mirror got them; streamed."""
    for model in MIRRORED:
        rows = model._default_manager.filter(cluster_id=cluster_id)
        ordered = rows.order_by("seq", "name").values_list("raw", flat=True)
        for raw in ordered.iterator(chunk_size=_CHUNK):
            yield _of_kind(model, raw)


def _changed(cluster_id: int, *, after: int) -> list[Json]:
    """Those that the mirror got after ``after``, in the same order."""
    with connection.cursor() as cursor:
        cursor.execute(_CHANGED, [cluster_id, after] * len(MIRRORED))
        return [
            _of_kind(MIRRORED[place], json.loads(raw))
            for place, _, _, raw in cursor.fetchall()
        ]


def _of_kind(model: type[MirroredObject], raw: Json) -> Json:
    return raw if raw.get("kind") else raw | {"kind": model.__name__}


def _mark(cluster_id: int) -> _Mark:
    found = Cluster.objects.values_list("seq", "pruned_seq").get(pk=cluster_id)
    return _Mark(*found)
