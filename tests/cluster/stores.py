"""A mirror in memory that checks the reflector's promises while it is used."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from cluster.store import Event, EventType, State

Json = dict[str, Any]
Key = tuple[str, str]
PATIENCE = 60.0
"""Seconds for what is there in a moment, on a machine that is busy."""


def key_of(obj: Json) -> Key:
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


class MemoryStore:
    """Holds objects by key. ``before`` is called first in every verb and may raise."""

    def __init__(self, saved: str | None = None) -> None:
        self.objects: dict[Key, Json] = {}
        self.version: str | None = saved
        self.replaced = 0
        self.batches: list[list[Event]] = []
        self.bookmarks: list[str] = []
        self.states: list[tuple[State, str]] = []
        self.problems: list[str] = []
        self.before: Callable[[str], None] = lambda verb: None
        self.changed = threading.Condition()

    # --- the port ---

    def resume_from(self) -> str | None:
        self.before("resume_from")
        return self.version

    def replace(self, objects: Sequence[Json], resource_version: str) -> None:
        self.before("replace")
        with self.changed:
            self.objects = {key_of(obj): obj for obj in objects}
            if len(self.objects) != len(objects):
                self.problems.append("a list held a key twice")
            self.version = resource_version
            self.replaced += 1
            self.changed.notify_all()

    def apply(self, events: Sequence[Event], resource_version: str) -> None:
        self.before("apply")
        with self.changed:
            for event in events:
                self._apply(event)
            if events[-1].object["metadata"]["resourceVersion"] != resource_version:
                self.problems.append("the version is not that of the last event")
            self.version = resource_version
            self.batches.append(list(events))
            self.changed.notify_all()

    def _apply(self, event: Event) -> None:
        """An event that was applied before, or that comes too late, shows itself."""
        key = key_of(event.object)
        known = self.objects.get(key)
        new = int(event.object["metadata"]["resourceVersion"])
        old = int(known["metadata"]["resourceVersion"]) if known else -1
        if new <= old:
            self.problems.append(f"{event.type} {key} of {new} after {old}")
        if event.type is EventType.ADDED and known is not None:
            self.problems.append(f"ADDED {key}, which is there")
        if event.type is not EventType.ADDED and known is None:
            self.problems.append(f"{event.type} {key}, which is not there")
        if event.type is EventType.DELETED:
            self.objects.pop(key, None)
        else:
            self.objects[key] = event.object

    def bookmark(self, resource_version: str) -> None:
        self.before("bookmark")
        with self.changed:
            self.version = resource_version
            self.bookmarks.append(resource_version)
            self.changed.notify_all()

    def report(self, state: State, *, api_version: str = "", error: str = "") -> None:
        with self.changed:
            self.states.append((state, error))
            self.changed.notify_all()
        self.before("report")

    # --- for tests ---

    @property
    def state(self) -> State | None:
        return self.states[-1][0] if self.states else None

    @property
    def events(self) -> list[Event]:
        return [event for batch in self.batches for event in batch]

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that a verb changes; fails the test when it never comes."""
        end = time.monotonic() + PATIENCE
        with self.changed:
            while not condition():
                left = end - time.monotonic()
                assert left > 0, f"not within {PATIENCE} s; states: {self.states[-5:]}"
                # Some conditions look at the server too, so do not only wait for us.
                self.changed.wait(min(left, 0.05))
