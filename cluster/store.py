"""Where a reflector puts what it reads: five verbs, no knowledge of HTTP.

The reflector promises: ``replace`` with a whole consistent list first, then
events in the order of the server, each once; after a ``replace`` everything
that the list no longer has is gone. A store that raises ends the stream, and
the reflector lists anew: an event is never lost (as client-go's reflector and
store do).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

Json = dict[str, Any]


class EventType(StrEnum):
    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Event:
    """One change. ``object`` is in v1 form with ``apiVersion`` and ``kind`` set."""

    type: EventType
    object: Json


class State(StrEnum):
    """What the watch of one kind is doing, in words a page can show."""

    STARTING = "starting"
    LISTING = "listing"
    LIVE = "live"
    RETRYING = "retrying"
    NOT_SERVED = "not served"
    FORBIDDEN = "forbidden"
    STATIC = "static"
    """Read once from a dump; never changes."""
    STOPPED = "stopped"


class Store(Protocol):
    """The mirror of one kind of one cluster."""

    def resume_from(self) -> str | None:
        """The resourceVersion saved with the last change, or None: list first."""

    def replace(self, objects: Sequence[Json], resource_version: str) -> None:
        """Make the mirror equal to ``objects`` and save the version, in one step."""

    def apply(self, events: Sequence[Event], resource_version: str) -> None:
        """Apply ``events`` in order and save the version, in one step."""

    def bookmark(self, resource_version: str) -> None:
        """Nothing changed up to this version."""

    def report(self, state: State, *, api_version: str = "", error: str = "") -> None:
        """What the watch is doing now; ``error`` is one sentence, empty when well."""
