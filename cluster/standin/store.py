"""The objects of the stand-in, in memory: versions, history, subscriptions.

One lock guards everything. Stored objects are never changed in place: a change
stores a new :class:`Entry`, so a list or a watch may read an entry without the
lock. ``resourceVersion`` is one counter for all kinds, as in etcd.
"""

from __future__ import annotations

import threading
import uuid
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any

import msgspec

from cluster.standin.kinds import KINDS, Kind
from cluster.standin.versions import clone, encode_as, to_stored

Json = dict[str, Any]


@dataclass(slots=True, eq=False)
class Entry:
    """One version of one object. ``body`` is v1 form without apiVersion and kind."""

    kind: Kind
    body: Json
    version: int
    _encoded: dict[str, bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.body["metadata"].get("namespace") or "")

    @property
    def key(self) -> str:
        """Sorts as etcd sorts: by namespace, then name."""
        return object_key(self.namespace, self.name)

    def item(self, version: str) -> bytes:
        """The JSON of the object in API version ``version``, as lists hold it."""
        found = self._encoded.get(version)
        if found is None:
            found = encode_as(self.kind, version, self.body)
            self._encoded[version] = found
        return found

    def whole(self, version: str) -> bytes:
        """The JSON with ``kind`` and ``apiVersion`` in front."""
        head = {"kind": self.kind.name, "apiVersion": api_version(self.kind, version)}
        return msgspec.json.encode(head)[:-1] + b"," + self.item(version)[1:]

    def json(self) -> Json:
        """A copy in stored (v1) form, ``apiVersion`` and ``kind`` included."""
        head = {"apiVersion": self.kind.stored, "kind": self.kind.name}
        return {**head, **clone(self.body)}


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One step of the history: ``before`` is None for ADDED.

    For DELETED ``after`` is the last state with the resourceVersion of the
    deletion.
    """

    type: str
    version: int
    before: Entry | None
    after: Entry


@dataclass(frozen=True, slots=True)
class Cut:
    """Ends a watch from outside; ``clean`` sends the last chunk, else it breaks."""

    clean: bool


Feed = SimpleQueue[Change | Cut]


def object_key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def api_version(kind: Kind, version: str) -> str:
    return f"{kind.group}/{version}" if kind.group else version


def now() -> str:
    """The time as Kubernetes writes it, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class _Table:
    """The objects of one kind with their history."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.ordered: list[Entry] | None = None
        self.history: deque[Change] = deque()
        self.oldest = 0
        self.feeds: list[Feed] = []

    def in_order(self) -> list[Entry]:
        if self.ordered is None:
            self.ordered = [self.entries[key] for key in sorted(self.entries)]
        return self.ordered


class Store:
    """Objects by kind. Every public method takes the lock itself.

    ``history_size``: changes kept per kind; a watch that starts before them gets
    ERROR 410.
    """

    def __init__(self, *, history_size: int = 10_000) -> None:
        self.lock = threading.RLock()
        self._changed = threading.Condition(self.lock)
        self.history_size = history_size
        self._version = 1
        self._tables = {name: _Table() for name in KINDS}

    # --- for tests and the demo -------------------------------------------

    def objects(self, kind: str) -> list[Json]:
        """All objects of a kind, v1 form, by namespace and name. Copies."""
        with self.lock:
            return [entry.json() for entry in self._tables[kind].in_order()]

    def get(self, kind: str, name: str, namespace: str = "") -> Json | None:
        """A copy of one object in v1 form, or None."""
        entry = self.find(KINDS[kind], namespace, name)
        return entry.json() if entry else None

    def put(self, obj: Json) -> Json:
        """Create or replace an object as it is given, status included.

        No validation and no defaults beyond uid, creationTimestamp and
        resourceVersion; the change goes to watches. Returns the stored object.
        """
        kind, body = to_stored(obj)
        with self.lock:
            meta = body.setdefault("metadata", {})
            before = self.find(kind, str(meta.get("namespace") or ""), meta["name"])
            if before is not None:
                old = before.body["metadata"]
                meta.setdefault("uid", old["uid"])
                meta.setdefault("creationTimestamp", old["creationTimestamp"])
            return self.commit(kind, body).json()

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        """Remove an object at once, whatever its finalizers. KeyError if absent."""
        with self.lock:
            entry = self.find(KINDS[kind], namespace, name)
            if entry is None:
                raise KeyError(f"{kind} {object_key(namespace, name)}")
            self.remove(entry)

    def load(self, objects: Iterable[Json]) -> int:
        """Put many objects, keeping uids and resourceVersions as far as given.

        The counter moves past the highest resourceVersion. History starts anew:
        watches that run are cut and find theirs expired. Returns how many.
        """
        count = 0
        with self.lock:
            for obj in objects:
                kind, body = to_stored(obj)
                self._place(kind, body, self._wanted_version(body))
                count += 1
            self.expire_history()
            self.cut(clean=False)
        return count

    def _wanted_version(self, body: Json) -> int:
        wanted = str(body.get("metadata", {}).get("resourceVersion") or "")
        if wanted.isdigit() and int(wanted) > 0:
            self._version = max(self._version, int(wanted))
            return int(wanted)
        self._version += 1
        return self._version

    # --- reading ----------------------------------------------------------

    @property
    def version(self) -> int:
        """The newest resourceVersion given out."""
        return self._version

    def reaches(self, version: int, *, within: float) -> bool:
        """Wait up to ``within`` seconds until the counter is at ``version``."""
        with self._changed:
            return self._changed.wait_for(lambda: self._version >= version, within)

    def find(self, kind: Kind, namespace: str, name: str) -> Entry | None:
        with self.lock:
            return self._tables[kind.name].entries.get(object_key(namespace, name))

    def current(self, kind: Kind) -> tuple[int, list[Entry]]:
        """The newest version and all entries in order. Do not change the list."""
        with self.lock:
            return self._version, self._tables[kind.name].in_order()

    def oldest(self, kind: Kind) -> int:
        with self.lock:
            return self._tables[kind.name].oldest

    def at(self, kind: Kind, version: int) -> list[Entry] | None:
        """The entries as they were at ``version``, or None: history is cut."""
        with self.lock:
            table = self._tables[kind.name]
            if version < table.oldest:
                return None
            newer: list[Change] = []
            for change in reversed(table.history):
                if change.version <= version:
                    break
                newer.append(change)
            if not newer:
                return table.in_order()
            entries = dict(table.entries)
            for change in newer:
                if change.before is None:
                    entries.pop(change.after.key, None)
                else:
                    entries[change.before.key] = change.before
            return [entries[key] for key in sorted(entries)]

    # --- watching ---------------------------------------------------------

    def subscribe(
        self, kind: Kind, since: int | None
    ) -> tuple[Feed, int, list[Entry], int]:
        """Start a watch: ``(feed, version, initial entries, oldest)`` at one moment.

        With ``since`` the feed first holds every change after it; the caller has
        to see to it that ``since`` is not older than ``oldest``.
        """
        feed: Feed = SimpleQueue()
        with self.lock:
            table = self._tables[kind.name]
            if since is not None:
                for change in _after(table.history, since):
                    feed.put(change)
            table.feeds.append(feed)
            initial = table.in_order() if since is None else []
            return feed, self._version, initial, table.oldest

    def unsubscribe(self, kind: Kind, feed: Feed) -> None:
        with self.lock:
            feeds = self._tables[kind.name].feeds
            if feed in feeds:
                feeds.remove(feed)

    def cut(self, *, clean: bool) -> int:
        """End every watch now; returns how many there were."""
        with self.lock:
            count = 0
            for table in self._tables.values():
                count += len(table.feeds)
                for feed in table.feeds:
                    feed.put(Cut(clean))
                table.feeds = []
            return count

    @property
    def watches(self) -> int:
        """How many watches run now."""
        with self.lock:
            return sum(len(table.feeds) for table in self._tables.values())

    # --- changing ---------------------------------------------------------

    def commit(self, kind: Kind, body: Json) -> Entry:
        """Store ``body`` as the next version of its object and tell the watches.

        The caller gives the body away: it must not change it any more.
        """
        with self.lock:
            self._version += 1
            before, entry = self._place(kind, body, self._version)
            what = "ADDED" if before is None else "MODIFIED"
            change = Change(what, entry.version, before, entry)
            self._record(self._tables[kind.name], change)
            return entry

    def _place(
        self, kind: Kind, body: Json, version: int
    ) -> tuple[Entry | None, Entry]:
        meta = body["metadata"]
        meta.setdefault("uid", str(uuid.uuid4()))
        meta.setdefault("creationTimestamp", now())
        meta["resourceVersion"] = str(version)
        entry = Entry(kind, body, version)
        table = self._tables[kind.name]
        before = table.entries.get(entry.key)
        table.entries[entry.key] = entry
        table.ordered = None
        return before, entry

    def remove(self, entry: Entry) -> Entry:
        """Delete; returns the last state with the resourceVersion of the deletion."""
        with self.lock:
            table = self._tables[entry.kind.name]
            del table.entries[entry.key]
            table.ordered = None
            self._version += 1
            version = self._version
            meta = {**entry.body["metadata"], "resourceVersion": str(version)}
            last = Entry(entry.kind, {**entry.body, "metadata": meta}, version)
            self._record(table, Change("DELETED", version, entry, last))
            return last

    def expire_history(self) -> None:
        """Forget every change: what started before now gets 410."""
        with self.lock:
            for table in self._tables.values():
                table.history.clear()
                table.oldest = self._version

    def _record(self, table: _Table, change: Change) -> None:
        table.history.append(change)
        while len(table.history) > self.history_size:
            table.oldest = table.history.popleft().version
        for feed in table.feeds:
            feed.put(change)
        self._changed.notify_all()


def _after(history: deque[Change], version: int) -> Iterator[Change]:
    newer = []
    for change in reversed(history):
        if change.version <= version:
            break
        newer.append(change)
    return reversed(newer)
