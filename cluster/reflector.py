"""Keeps a :class:`~cluster.store.Store` equal to one kind of one cluster.

What it promises to the store:

1. ``replace`` with one consistent list first, unless ``resume_from`` names a
   version that the server can still continue from.
2. Then every change in the order of the server, each once: ``apply`` gets batches
   of at most 500 events, 100 ms after the first of them at the latest, with the
   version after the last one; ``bookmark`` says that nothing happened up to a
   version.
3. An event is never lost. When the stream breaks, it is continued from the last
   version that the store took; when the store raises, or the server no longer
   has that version (410), everything is listed and replaced.
4. Objects are in v1 form with ``apiVersion`` and ``kind``, without
   ``managedFields``, everything else as served.
5. ``report`` tells every change of state, with one sentence about what is wrong.

Not promised: order between kinds; every state between two lists; that an object
of the same name is the same object (compare the uid).

What it does to the server: bookmarks are asked for and not relied upon; a watch
lasts a random time, so that many clients do not come back together; failures
wait 0.8 to 10 s (:class:`~cluster.backoff.Backoff`), and a watch that was live for
2 s makes the next failure a first one again, so that a connection which is cut now
and then costs a second each time and not ten; a 429 is waited out as the
server asks and needs no new list; a kind that is refused (403) or not served
(404) is asked for again every minute or so.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import structlog

from cluster.backoff import Backoff, Clock, Uniform
from cluster.client import ClusterClient, Page, RawEvent, WatchStream
from cluster.convert import to_v1
from cluster.errors import (
    ApiError,
    Forbidden,
    Gone,
    NotFound,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from cluster.event_batch import EventBatch
from cluster.resources import ServedResource
from cluster.store import Event, EventType, State, Store
from cluster.storing import StoreError, saving_failed, storing
from cluster.streams import Ended, Reader

Json = dict[str, Any]
Wait = Callable[[threading.Event, float], object]

log = structlog.get_logger("cluster.reflector")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Times in seconds."""

    page_size: int = 500
    batch_size: int = 500
    batch_seconds: float = 0.1
    watch_seconds: tuple[float, float] = (300.0, 600.0)
    """A watch is asked to last a random time in this range."""
    refused_seconds: float = 60.0
    """Until a kind that is forbidden or not served is tried again."""
    longest_retry_after: float = 300.0
    """What a server may make us wait at most."""
    poll_seconds: float = 0.5
    """How late a stop may be noticed."""
    proven_seconds: float = 2.0
    """After which a live watch shows that the server is well."""


class Reflector:
    """One kind of one cluster; ``run`` it in a thread of its own.

    ``keep`` leaves out objects that the mirror does not want, before they are
    collected; it must depend on fields only that never change.
    ``clock``, ``uniform`` and ``wait`` are arguments for tests.
    """

    def __init__(
        self,
        client: ClusterClient,
        served: ServedResource,
        store: Store,
        *,
        keep: Callable[[Json], bool] | None = None,
        options: Options | None = None,
        backoff: Backoff | None = None,
        clock: Clock = time.monotonic,
        uniform: Uniform = random.uniform,
        wait: Wait = threading.Event.wait,
    ) -> None:
        self._client = client
        self._served = served
        self._store = store
        self._keep = keep
        self._options = options or Options()
        self._backoff = backoff or Backoff(clock=clock, uniform=uniform)
        self._clock = clock
        self._uniform = uniform
        self._wait = wait
        self._version: str | None = None
        self._suspect = True
        self._reported: tuple[State, str] | None = None
        self._told = ""
        """The error that was logged last: it is logged once until the watch is live."""
        self._log = log.bind(cluster=client.config.name, kind=served.resource.kind)

    def run(self, stop: threading.Event) -> None:
        """Mirror until ``stop`` is set; returns within a second then.

        Only a store that is busy with a batch can take longer. Never raises.
        """
        self._report(State.STARTING)
        self._version = self._saved_version()
        while not stop.is_set():
            delay = self.step(stop)
            if delay > 0 and not stop.is_set():
                self._wait(stop, delay)
        self._report(State.STOPPED)

    def step(self, stop: threading.Event) -> float:
        """One list or one watch, whichever is due; the seconds to wait after it."""
        try:
            if self._version is None:
                self._list(stop)
                return 0.0
            return self._watch(stop)
        except StoreError as failure:
            return self._store_failed(failure)
        except ApiError as error:
            return self._refused(error)
        except Unreachable as error:
            self._suspect = True
            return self._retry(str(error))
        # A fault of ours must not end the mirror of this kind for good.
        except Exception as error:
            self._log.exception("reflector failed")
            self._version = None
            return self._retry(f"internal error ({type(error).__name__})")

    # --- list --------------------------------------------------------------

    def _list(self, stop: threading.Event) -> None:
        self._report(State.LISTING)
        objects: list[Json] = []
        version = ""
        for page in self._pages(stop, self._options.page_size):
            version = page.resource_version
            objects += self._readable(page.items)
        if stop.is_set():
            return
        if not version:
            raise Unreachable("the server sent a list without a resourceVersion")
        with storing():
            self._store.replace(objects, version)
        self._version = version
        self._suspect = False
        self._log.debug("listed", objects=len(objects))

    def _pages(
        self, stop: threading.Event, limit: int, most: int | None = None
    ) -> Iterator[Page]:
        """The pages of a list (``most`` at most); at ``stop`` it waits for none."""
        pages = islice(self._client.list_pages(self._served, limit), most)
        reader = Reader(pages, name=f"list {self._served.resource.plural}", size=2)
        try:
            while not stop.is_set():
                page = reader.read(self._options.poll_seconds)
                if page is not None:
                    yield page
        except Ended:
            return
        finally:
            reader.close()

    def _readable(self, items: list[Json]) -> Iterator[Json]:
        for item in items:
            if not isinstance(item, dict):
                raise Unreachable(
                    "the server sent a list of something else than objects"
                )
            if self._keep is None or self._keep(item):
                yield self._to_v1(item)

    def _to_v1(self, obj: Json) -> Json:
        meta = obj.get("metadata")
        if isinstance(meta, dict):
            meta.pop("managedFields", None)
        return to_v1(
            obj, kind=self._served.resource.kind, api_version=self._served.api_version
        )

    # --- watch -------------------------------------------------------------

    def _watch(self, stop: threading.Event) -> float:
        assert self._version is not None
        if self._suspect and self._server_went_back(stop):
            self._log.warning("server is older than the mirror")
            self._version = None
            return 0.0
        stream = self._client.watch(
            self._served,
            resource_version=self._version,
            timeout_seconds=int(self._uniform(*self._options.watch_seconds)),
        )
        began = self._clock()
        any_event = self._follow(stream, stop)
        if not any_event and self._clock() - began < 1:
            # Ended at once without a reason: do not ask again as fast as we can.
            return self._backoff.next()
        return 0.0

    def _server_went_back(self, stop: threading.Event) -> bool:
        """True when the server's newest version is below ours.

        A server that was restored from a backup, or another one at the same
        address, would accept our version and stay silent until it is reached. Both
        versions are compared as numbers, which they are in every Kubernetes; where
        they are not, we trust the server. Listing needlessly would be harmless.
        """
        page = next(self._pages(stop, 1, most=1), None)
        self._suspect = False
        ours, theirs = self._version or "", page.resource_version if page else ""
        return ours.isdecimal() and theirs.isdecimal() and int(theirs) < int(ours)

    def _follow(self, stream: WatchStream, stop: threading.Event) -> bool:
        """Hand the events of ``stream`` to the store until it ends; any at all?"""
        reader = Reader(stream, name=f"watch {self._served.resource.plural}")
        batch = EventBatch(
            self._options.batch_size, self._options.batch_seconds, self._clock
        )
        any_event = False
        live_since: float | None = None
        try:
            while not stop.is_set():
                event = reader.read(batch.patience(self._options.poll_seconds))
                if stream.opened:
                    live_since = live_since or self._clock()
                    self._report(State.LIVE)
                if event is not None:
                    any_event = True
                    self._take(event, batch)
                if batch.due():
                    self._flush(batch)
        except Ended:
            pass
        except (ApiError, Unreachable):
            # What came before the break is good.
            self._flush(batch)
            raise
        finally:
            reader.close()
            self._proven(live_since)
        self._flush(batch)
        return any_event

    def _proven(self, live_since: float | None) -> None:
        if live_since is None:
            return
        if self._clock() - live_since >= self._options.proven_seconds:
            self._backoff.worked()

    def _take(self, event: RawEvent, batch: EventBatch) -> None:
        meta = event.object.get("metadata")
        version = meta.get("resourceVersion") if isinstance(meta, dict) else None
        if not isinstance(version, str) or not version:
            self._flush(batch)
            self._version = None
            raise Unreachable("the server sent an event without a resourceVersion")
        if event.type == "BOOKMARK":
            self._flush(batch)
            with storing():
                self._store.bookmark(version)
            self._version = version
        elif event.type in EventType and (
            self._keep is None or self._keep(event.object)
        ):
            obj = self._to_v1(event.object)
            batch.add(Event(EventType(event.type), obj), version)

    def _flush(self, batch: EventBatch) -> None:
        if not batch.events:
            return
        with storing():
            self._store.apply(batch.events, batch.version)
        self._version = batch.version
        batch.clear()

    # --- when something is wrong -------------------------------------------

    def _saved_version(self) -> str | None:
        try:
            saved = self._store.resume_from() or ""
        # A store that cannot say where it was gets everything anew.
        except Exception as error:
            self._log.exception("store failed", operation="resume_from")
            self._report(State.RETRYING, saving_failed(error))
            return None
        # Versions are numbers in every Kubernetes. Anything else was saved for
        # something else (a dump under the same name), and a watch from it would be
        # answered with a server error for ever.
        return saved if saved.isdecimal() else None

    def _refused(self, error: ApiError) -> float:
        if isinstance(error, Gone):
            self._version = None
            return self._backoff.next()
        if isinstance(error, TooManyRequests):
            self._report(State.RETRYING, "the server is busy and asked us to wait")
            return self._asked(error) or self._backoff.next()
        if isinstance(error, (Forbidden, Unauthorized)):
            self._report(State.FORBIDDEN, str(error))
            return self._long()
        if isinstance(error, NotFound):
            self._version = None
            name = f"{self._served.resource.plural} in {self._served.api_version}"
            self._report(State.NOT_SERVED, f"the server does not serve {name}")
            return self._long()
        if not isinstance(error, ServerError):
            self._version = None
        return max(self._retry(str(error)), self._asked(error))

    def _asked(self, error: ApiError) -> float:
        """How long the server asked us to wait, within reason."""
        return min(error.retry_after or 0.0, self._options.longest_retry_after)

    def _store_failed(self, failure: StoreError) -> float:
        self._log.error("store failed", exc_info=failure.cause)
        self._version = None
        return self._retry(saving_failed(failure.cause))

    def _retry(self, error: str) -> float:
        self._report(State.RETRYING, error)
        return self._backoff.next()

    def _long(self) -> float:
        seconds = self._options.refused_seconds
        return self._uniform(seconds, seconds * 1.2)

    def _report(self, state: State, error: str = "") -> None:
        if self._reported == (state, error):
            return
        self._tell(state, error)
        try:
            self._store.report(state, api_version=self._served.api_version, error=error)
        # Only a notice for people; told again with the next change.
        except Exception:
            self._log.exception("store failed", operation="report")
            self._reported = None
        else:
            self._reported = (state, error)

    def _tell(self, state: State, error: str) -> None:
        if error and error != self._told:
            self._told = error
            self._log.warning("watch state", state=state.value, error=error)
        elif error or (self._told and state is State.LISTING):
            self._log.debug("watch state", state=state.value, error=error)
        else:
            self._told = ""
            self._log.info("watch state", state=state.value)
