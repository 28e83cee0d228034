"""Watches: what a stream starts with, which changes it shows, when it ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import batched
from queue import Empty
from typing import Any, Final

import msgspec

from cluster.standin import answers
from cluster.standin.answers import Cause, StatusError, forbidden, invalid_options
from cluster.standin.listing import Query, Scope, read_number
from cluster.standin.store import Change, Cut, Entry, Feed, Store, api_version

Json = dict[str, Any]

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
_LONGEST: Final = 1800.0
"""Seconds that a watch without timeoutSeconds lasts."""
_AT_ONCE: Final = 50
"""Existing objects sent in one chunk."""
_LAST_BOOKMARK: Final = 2.0
"""Seconds before the end at which a bookmark comes."""


class BrokenOffError(Exception):
    """The stream has to end without its last chunk, as when a server dies."""


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What a watch request asks for. ``since`` None: existing objects first."""

    since: int | None
    bookmarks: bool
    end_marker: bool
    """Whether a bookmark marks the end of the existing objects."""
    seconds: float


def read_options(query: Query) -> WatchOptions:
    """Raises 422 for options that contradict each other, 500 for a bad version."""
    asked = query.get("resourceVersion", "")
    match = query.get("resourceVersionMatch", "")
    initial = query.get("sendInitialEvents", "") in ("true", "1")
    bookmarks = query.get("allowWatchBookmarks", "") in ("true", "1")
    if asked and not asked.isdigit():
        raise StatusError(
            500,
            "",
            f'resourceVersion: Invalid value: "{asked}": '
            f'strconv.ParseUint: parsing "{asked}": invalid syntax',
        )
    _check_initial(match, sent="sendInitialEvents" in query)
    from_cache = initial or asked in ("", "0")
    return WatchOptions(
        since=None if from_cache else int(asked),
        bookmarks=bookmarks,
        end_marker=bookmarks and (initial or asked == "0"),
        seconds=float(read_number(query, "timeoutSeconds") or _LONGEST),
    )


def _check_initial(match: str, *, sent: bool) -> None:
    field = "resourceVersionMatch"
    causes: list[Cause] = []
    if sent and match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(forbidden(field, why))
    elif match and not sent:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is"
        causes.append(forbidden(field, f"{why} provided"))
    if sent and match not in ("", "NotOlderThan"):
        message = f'Unsupported value: "{match}": supported values: "NotOlderThan"'
        causes.append(Cause("FieldValueNotSupported", message, field))
    if causes:
        raise invalid_options("ListOptions", causes)


class WatchStream:
    """One watch; iterate over :meth:`lines`, then call :meth:`close`."""

    def __init__(
        self,
        store: Store,
        scope: Scope,
        options: WatchOptions,
        *,
        bookmark_seconds: float,
    ) -> None:
        self._store = store
        self._scope = scope
        self._options = options
        self._every = bookmark_seconds
        subscribed = store.subscribe(scope.kind, options.since)
        self._feed: Feed = subscribed[0]
        self._version = subscribed[1]
        self._initial: list[Entry] = subscribed[2]
        self._oldest = subscribed[3]

    def close(self) -> None:
        self._store.unsubscribe(self._scope.kind, self._feed)

    def lines(self) -> Iterator[bytes]:
        """Events, one JSON line each; several in one where objects exist already.

        Raises :class:`BrokenOffError` on a rude cut."""
        since = self._options.since
        if since is not None and since < self._oldest:
            status = answers.too_old(since, self._oldest).body()
            yield _line("ERROR", msgspec.json.encode(status))
            return
        shown = [entry for entry in self._initial if self._scope.holds(entry)]
        self._initial = []
        for part in batched(shown, _AT_ONCE):
            yield b"".join(
                _line("ADDED", entry.whole(self._scope.version)) for entry in part
            )
        if self._options.end_marker:
            yield self._bookmark(end=True)
        yield from self._live()

    def _live(self) -> Iterator[bytes]:
        started = time.monotonic()
        end = started + self._options.seconds
        bookmarks = _BookmarkTimes(started, end, self._every)
        while (left := end - time.monotonic()) > 0:
            wait = left
            if self._options.bookmarks:
                wait = min(left, bookmarks.next - time.monotonic())
            try:
                change = self._feed.get(timeout=max(wait, 0.001))
            except Empty:
                if self._options.bookmarks and bookmarks.due():
                    yield self._bookmark()
                continue
            if isinstance(change, Cut):
                if not change.clean:
                    raise BrokenOffError
                return
            if line := self._seen(change):
                yield line
        yield from self._left_over()

    def _left_over(self) -> Iterator[bytes]:
        """What came in time, and was not sent because this thread was late."""
        for _ in range(self._feed.qsize()):
            change = self._feed.get_nowait()
            if isinstance(change, Cut):
                return
            if line := self._seen(change):
                yield line

    def _seen(self, change: Change) -> bytes | None:
        self._version = change.version
        if change.version <= (self._options.since or 0):
            return None
        return self._event(change)

    def _event(self, change: Change) -> bytes | None:
        """The line for a change as this scope sees it, or None: not its business."""
        after, before = change.after, change.before
        version = self._scope.version
        had = before is not None and self._scope.holds(before)
        if change.type == "DELETED":
            return _line("DELETED", after.whole(version)) if had else None
        if self._scope.holds(after):
            return _line("MODIFIED" if had else "ADDED", after.whole(version))
        if had and before is not None:
            return _line("DELETED", _left(before, change.version).whole(version))
        return None

    def _bookmark(self, *, end: bool = False) -> bytes:
        kind = self._scope.kind
        with self._store.lock:
            if self._feed.empty():
                self._version = max(self._version, self._store.version)
        meta: Json = {"resourceVersion": str(self._version)}
        if end:
            meta["annotations"] = {INITIAL_EVENTS_END: "true"}
        body: Json = {
            "kind": kind.name,
            "apiVersion": api_version(kind, self._scope.version),
            "metadata": meta,
        }
        if kind.name == "ResourceSlice":
            body["spec"] = {
                "driver": "",
                "pool": {"name": "", "generation": 0, "resourceSliceCount": 0},
            }
        return _line("BOOKMARK", msgspec.json.encode(body))


class _BookmarkTimes:
    """One bookmark soon after the start, then regularly, and one before the end."""

    def __init__(self, start: float, end: float, every: float) -> None:
        self._every = every
        self._last = end - _LAST_BOOKMARK
        self.next = start + min(every, 1.0)
        if self.next > self._last > start:
            self.next = self._last

    def due(self) -> bool:
        current = time.monotonic()
        if current < self.next:
            return False
        following = current + self._every
        if current < self._last < following:
            following = self._last
        self.next = following
        return True


def _left(entry: Entry, version: int) -> Entry:
    """The last matching state, with the version of the change that ended it."""
    meta = {**entry.body["metadata"], "resourceVersion": str(version)}
    return Entry(entry.kind, {**entry.body, "metadata": meta}, version)


def _line(event: str, body: bytes) -> bytes:
    return b'{"type":"' + event.encode() + b'","object":' + body + b"}\n"
