"""The newest state of a few objects, as it comes, for whoever waits for one of them."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from cluster.convert import to_v1
from cluster.errors import ApiError, ClusterError, NotFound
from cluster.resources import ServedResource
from cluster.writeback.patience import PASSING
from cluster.writeback.values import Json, version_of

if TYPE_CHECKING:
    from cluster.client import ClusterClient
    from cluster.streams import WatchStream

_SECONDS: Final = 30
"""How long one watch lasts; then the object is read anew."""
_PAUSE: Final = 0.2
"""Seconds after an error of the server before it is asked again."""

_FAREWELL: Final = 0.5
"""Seconds that a thread gets to close its connection."""


@dataclass(frozen=True, slots=True)
class Followed:
    """One object to follow. Its watch is narrowed to its name."""

    served: ServedResource
    namespace: str | None
    name: str


class Following:
    """Reads each object, then watches it; a context manager.

    A watch that ends, breaks or is too old begins anew with a read, so no state that
    lasts is missed; states in between may be.
    """

    def __init__(self, client: ClusterClient, objects: Mapping[str, Followed]) -> None:
        self._client = client
        self._found: SimpleQueue[tuple[str, Json | ApiError | None]] = SimpleQueue()
        self._stop = threading.Event()
        self._streams: dict[str, WatchStream] = {}
        self._threads = [
            threading.Thread(
                target=self._follow, args=[key, one], name=f"follow-{key}", daemon=True
            )
            for key, one in objects.items()
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wakes the threads; one that hangs in a request ends by itself, later."""
        self._stop.set()
        for stream in list(self._streams.values()):
            stream.close()
        for thread in self._threads:
            thread.join(_FAREWELL)

    def next(self, timeout: float) -> tuple[str, Json | None] | None:
        """Key and newest state (None: gone), or None after ``timeout`` seconds.

        Raises ApiError when the server refuses to show an object.
        """
        try:
            key, found = self._found.get(timeout=max(timeout, 0.001))
        except Empty:
            return None
        if isinstance(found, ApiError):
            raise found
        return key, found

    def _follow(self, key: str, one: Followed) -> None:
        while not self._stop.is_set():
            try:
                with closing(self._states(key, one)) as states:
                    for state in states:
                        self._found.put((key, state))
                        if state is None:
                            return
            except PASSING:
                self._stop.wait(_PAUSE)
            except ApiError as error:
                self._found.put((key, error))
                return
            except ClusterError:
                self._stop.wait(_PAUSE)

    def _states(self, key: str, one: Followed) -> Generator[Json | None]:
        try:
            found = self._client.get(one.served, one.namespace, one.name)
        except NotFound:
            yield None
            return
        yield self._as_v1(one, found)
        stream = self._client.watch(
            one.served,
            namespace=one.namespace,
            field_selector=f"metadata.name={one.name}",
            resource_version=version_of(found),
            timeout_seconds=_SECONDS,
            stop=self._stop,
            bookmarks=False,
        )
        self._streams[key] = stream
        try:
            for event in stream:
                if event.type == "DELETED":
                    yield None
                    return
                if event.type in ("ADDED", "MODIFIED"):
                    yield self._as_v1(one, event.object)
        finally:
            stream.close()
            for _ in stream:  # it gives its connection back at its end only
                pass

    def _as_v1(self, one: Followed, found: Json) -> Json:
        kind = one.served.resource.kind
        return to_v1(found, kind=kind, api_version=one.served.api_version)
