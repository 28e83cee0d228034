"""The mirror of one kind: a set difference for lists, batches for events.

Both end in one transaction that holds the rows, everything derived from them, the
tombstones, the cluster's ``seq`` and the resourceVersion to go on from. So after a
crash at any line the tables are those of an earlier moment, and the watch goes on
from exactly that moment.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from itertools import batched
from typing import Any, ClassVar

import structlog
from django.db.models import Case, F, Value, When
from django.db.models.functions import Now

from cluster.store import Event, EventType, State
from dra import objects
from inventory.mirror.columns import Columns
from inventory.mirror.derivation import Derivation, Known, Written
from inventory.mirror.reading import (
    Json,
    Key,
    Reading,
    fit,
    key_of,
    meta_columns,
    read_object,
    storable,
    version_of,
)
from inventory.mirror.writing import ALWAYS, Guard, Writer, writing
from inventory.models import MirroredObject, NamespacedObject, Tombstone, WatchState

log = structlog.get_logger("inventory.mirror")

BATCH = 500
"""Rows per statement."""


class MirrorStore:
    """Implements ``cluster.store.Store`` over one table. Subclasses name the kind.

    ``compare_raw`` is for dumps: people edit them and leave resourceVersion alone.
    """

    kind: ClassVar[str]
    model: ClassVar[type[MirroredObject]]
    remember: ClassVar[tuple[str, ...]] = ()
    """Columns of the row before that ``derivation`` needs."""

    def __init__(
        self, cluster_id: int, *, guard: Guard = ALWAYS, compare_raw: bool = False
    ) -> None:
        self.cluster_id = cluster_id
        self.guard = guard
        self.compare_raw = compare_raw
        self.namespaced = issubclass(self.model, NamespacedObject)

    # --- what a kind decides ---------------------------------------------------

    def keeps(self, _raw: Json) -> bool:
        """Whether this object belongs into the table at all."""
        return True

    def wants(self, _raw: Json) -> bool:
        """Whether a reflector should collect ``raw``, not yet in v1 form, at all."""
        return True

    def outdated(self) -> bool:
        """Whether what the store keeps depends on something that has changed since it
        was made: then a new one has to list everything."""
        return False

    def read(self, raw: Json) -> Reading[Any]:
        return read_object(raw, objects.KINDS[self.kind])

    def columns(self, _reading: Reading[Any]) -> Columns:
        """Columns of a readable object beyond those of ``metadata``."""
        return {}

    def salvage(self, _raw: Json) -> Columns:
        """Columns of an object that cannot be read: what can be told all the same."""
        return {}

    def derivation(self, _writer: Writer) -> Derivation:
        return Derivation()

    # --- cluster.store.Store -----------------------------------------------------

    def resume_from(self) -> str | None:
        version = self._state().values_list("resource_version", flat=True).first()
        return version or None

    def replace(self, objects: Sequence[Json], resource_version: str) -> None:
        """Make the table equal to ``objects``: changed, gone and new rows are written."""
        with self._writing() as writer:
            step = _Step(self, writer, self._known_all())
            seen: set[Key] = set()
            for chunk in batched(objects, BATCH):
                writer.guard.check()
                kept = {
                    key: raw
                    for raw in chunk
                    if (key := step.key(raw)) is not None and self.keeps(raw)
                }
                seen.update(kept)
                step.upsert(kept)
            step.delete([key for key in step.known if key not in seen])
            step.derivation.finish()
            self._save_state(
                resource_version=resource_version,
                object_count=len(step.known),
                problem_count=sum(1 for known in step.known.values() if known.problem)
                + step.unusable,
                listed_at=Now(),
                alive_at=Now(),
                relists=Case(
                    When(listed_at__isnull=True, then=Value(0)),
                    default=F("relists") + 1,
                ),
            )

    def apply(self, events: Sequence[Event], resource_version: str) -> None:
        """Apply ``events``; of several on one object only the last one is written."""
        with self._writing() as writer:
            last: dict[Key, Json | None] = {}
            unusable = 0
            for event in events:
                key = key_of(event.object)
                if key is None:
                    unusable += 1
                    continue
                gone = event.type is EventType.DELETED or not self.keeps(event.object)
                last.pop(key, None)
                last[key] = None if gone else event.object
            step = _Step(self, writer, self._known(last))
            before = step.counts()
            step.delete([key for key, raw in last.items() if raw is None])
            present = ((key, raw) for key, raw in last.items() if raw is not None)
            for chunk in batched(present, BATCH):
                writer.guard.check()
                step.upsert(dict(chunk))
            step.derivation.finish()
            after = step.counts()
            self._save_state(
                resource_version=resource_version,
                object_count=F("object_count") + after[0] - before[0],
                problem_count=F("problem_count") + after[1] - before[1] + unusable,
                event_at=Now(),
                alive_at=Now(),
            )

    def bookmark(self, resource_version: str) -> None:
        came = time.monotonic()
        with self._writing():
            # It says what was so when it came, not when others had written.
            at = Now() - timedelta(seconds=time.monotonic() - came)
            self._save_state(
                resource_version=resource_version, event_at=at, alive_at=at
            )

    def report(self, state: State, *, api_version: str = "", error: str = "") -> None:
        values: dict[str, Any] = {"state": state.value, "error": error}
        if api_version:
            values["api_version"] = api_version
        if state is State.LIVE:
            values["alive_at"] = Now()
        with self._writing():
            self._save_state(**values)

    # --- helpers -------------------------------------------------------------------

    def _writing(self) -> AbstractContextManager[Writer]:
        return writing(self.cluster_id, self.guard)

    def _state(self) -> Any:
        return WatchState.objects.filter(cluster_id=self.cluster_id, kind=self.kind)

    def _save_state(self, **values: Any) -> None:
        if not self._state().update(**values):
            WatchState.objects.create(cluster_id=self.cluster_id, kind=self.kind)
            self._state().update(**values)

    def _rows(self) -> Any:
        return self.model._default_manager.filter(cluster_id=self.cluster_id)

    def _known_all(self) -> dict[Key, Known]:
        return self._read_known(self._rows())

    def _known(self, keys: Iterable[Key]) -> dict[Key, Known]:
        keys = list(keys)
        rows = self._rows().filter(name__in={name for _, name in keys})
        if self.namespaced:
            rows = rows.filter(namespace__in={namespace for namespace, _ in keys})
        known = self._read_known(rows)
        return {key: known[key] for key in keys if key in known}

    def _read_known(self, rows: Any) -> dict[Key, Known]:
        names = ["namespace", "name"] if self.namespaced else ["name"]
        found = rows.values_list(
            *names, "pk", "uid", "resource_version", "problem", *self.remember
        )
        known = {}
        for values in found.iterator(chunk_size=2000):
            namespace, rest = (
                (values[0], values[1:]) if self.namespaced else ("", values)
            )
            name, pk, uid, version, problem, *remembered = rest
            known[namespace, name] = Known(pk, uid, version, problem, tuple(remembered))
        return known


class _Step:
    """The rows of one transaction: knows what is there and keeps that true."""

    def __init__(
        self, store: MirrorStore, writer: Writer, known: dict[Key, Known]
    ) -> None:
        self.store = store
        self.writer = writer
        self.known = known
        self.unusable = 0
        self.derivation = store.derivation(writer)

    def counts(self) -> tuple[int, int]:
        """How many of the known rows there are, and how many have a problem."""
        problems = sum(1 for known in self.known.values() if known.problem)
        return len(self.known), problems

    def key(self, raw: Json) -> Key | None:
        key = key_of(raw)
        if key is None:
            self.unusable += 1
            log.warning(
                "mirror.object_unusable",
                cluster=self.store.cluster_id,
                kind=self.store.kind,
                reason="The object has no usable name.",
            )
        return key

    def upsert(self, wanted: Mapping[Key, Json]) -> None:
        """Insert or update the rows of those objects that differ from the table."""
        changed = {key: raw for key, raw in wanted.items() if self._differs(key, raw)}
        if self.store.compare_raw:
            changed = self._without_equal(changed)
        if not changed:
            return
        readings = [self.store.read(storable(raw)) for raw in changed.values()]
        rows = [
            self._row(key, reading)
            for key, reading in zip(changed, readings, strict=True)
        ]
        keys = ["namespace", "name"] if self.store.namespaced else ["name"]
        self.derivation.prepare(
            [(row, r.object) for row, r in zip(rows, readings, strict=True)]
        )
        self._forget_tombstones([key for key in changed if key not in self.known])
        self.store.model._default_manager.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["cluster", *keys],
            update_fields=[
                field.name
                for field in self.store.model._meta.concrete_fields
                if not field.primary_key and field.name not in {"cluster", *keys}
            ],
        )
        written = []
        for key, row, reading in zip(changed, rows, readings, strict=True):
            before = self.known.get(key)
            self._log_problem(row, before)
            written.append(Written(row, reading.object, before))
            self.known[key] = Known(
                row.pk,
                row.uid,
                row.resource_version,
                row.problem,
                tuple(getattr(row, name) for name in self.store.remember),
            )
        self.derivation.written(written)

    def delete(self, keys: Sequence[Key]) -> None:
        """Delete the rows that are there and leave a tombstone for each."""
        gone = [(key, self.known.pop(key)) for key in keys if key in self.known]
        for chunk in batched(gone, BATCH):
            self.writer.guard.check()
            self.derivation.deleting([known for _, known in chunk])
            self.store._rows().filter(pk__in=[known.pk for _, known in chunk]).delete()
            Tombstone.objects.bulk_create(
                Tombstone(
                    cluster_id=self.writer.cluster_id,
                    kind=self.store.kind,
                    namespace=namespace,
                    name=name,
                    uid=known.uid,
                    seq=self.writer.next_seq(self.store.kind),
                )
                for (namespace, name), known in chunk
            )

    def _differs(self, key: Key, raw: Json) -> bool:
        known = self.known.get(key)
        if known is None or self.store.compare_raw:
            return True
        # Without a resourceVersion nothing says that two states are the same.
        same = version_of(raw) == (known.uid, known.resource_version)
        return not same or not known.resource_version

    def _without_equal(self, wanted: Mapping[Key, Json]) -> dict[Key, Json]:
        pks = {self.known[key].pk: key for key in wanted if key in self.known}
        stored = self.store._rows().filter(pk__in=pks).values_list("pk", "raw")
        equal = {pks[pk] for pk, raw in stored if raw == storable(wanted[pks[pk]])}
        return {key: raw for key, raw in wanted.items() if key not in equal}

    def _row(self, key: Key, reading: Reading[Any]) -> MirroredObject:
        store = self.store
        readable = reading.object is not None
        columns = {
            **meta_columns(reading.raw),
            **(store.columns(reading) if readable else store.salvage(reading.raw)),
            "problem": reading.problem,
        }
        if store.namespaced:
            columns["namespace"] = key[0]
        return store.model(
            cluster_id=self.writer.cluster_id,
            name=key[1],
            seq=self.writer.next_seq(store.kind),
            raw=reading.raw,
            **fit(store.model, columns),
        )

    def _forget_tombstones(self, keys: Sequence[Key]) -> None:
        """An object is either a row or a tombstone: readers need no order of the two."""
        if not keys:
            return
        graves = Tombstone.objects.filter(
            cluster_id=self.writer.cluster_id, kind=self.store.kind
        ).filter(name__in={name for _, name in keys})
        wanted = set(keys)
        found = graves.values_list("pk", "namespace", "name")
        pks = [pk for pk, namespace, name in found if (namespace, name) in wanted]
        if pks:
            Tombstone.objects.filter(pk__in=pks).delete()

    def _log_problem(self, row: MirroredObject, before: Known | None) -> None:
        if row.problem and (before is None or before.problem != row.problem):
            log.warning(
                "mirror.object_problem",
                cluster=self.writer.cluster_id,
                kind=self.store.kind,
                name=str(row),
                problem=row.problem,
            )
