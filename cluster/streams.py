"""Two kinds of blocking reading, made fit for a loop that must stop at once.

:class:`WatchStream` turns the body of a watch into events. :class:`Reader` runs
any iterator in a thread of its own, so that the loop can wait for the next item
with a deadline, which no blocking socket offers in the middle of a body.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import urllib3

from cluster.errors import Unreachable, from_status

Json = dict[str, Any]
MAX_LINE: Final = 64 * 1024 * 1024
"""A server stores at most a few MiB per object; more is not a watch."""


@dataclass(frozen=True, slots=True)
class RawEvent:
    """One line of a watch: ADDED, MODIFIED, DELETED or BOOKMARK, object as served."""

    type: str
    object: Json


class WatchStream(Iterator[RawEvent]):
    """The events of one watch; ends without an error when the server ends it.

    Opened by the first ``next``, so every error of the request is raised there:
    :class:`~cluster.errors.ApiError` (an ERROR event too, 410 as ``Gone``) or
    :class:`~cluster.errors.Unreachable` when the stream is cut: resume then from
    the last version seen. ``close`` may be called from another thread and wakes a
    blocked read; where nobody reads it gives the connection back. ``stop`` is looked at
    between events.
    """

    def __init__(
        self,
        open_: Callable[[], urllib3.BaseHTTPResponse],
        translate: Callable[[Exception], Exception],
        stop: threading.Event | None = None,
    ) -> None:
        self._open = open_
        self._translate = translate
        self._stop = stop
        self._closed = threading.Event()
        self._response: urllib3.BaseHTTPResponse | None = None
        self._events = self._read()

    @property
    def opened(self) -> bool:
        """True as soon as the server has accepted the watch."""
        return self._response is not None

    def __next__(self) -> RawEvent:
        return next(self._events)

    def close(self) -> None:
        self._closed.set()
        response = self._response
        if response is not None:
            # The reader may be just done with it, then there is nothing to wake.
            with contextlib.suppress(ValueError, RuntimeError, OSError):
                response.shutdown()
        # Another thread may be in the middle of it: it ends, and closes it then.
        with contextlib.suppress(ValueError):
            self._events.close()

    def _read(self) -> Generator[RawEvent]:
        response = self._open()
        self._response = response
        try:
            if self._ended():  # closed while it opened, when nothing could be woken
                return
            for line in _lines(response):
                if self._ended():
                    return
                yield _event(line)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if not self._ended():
                raise self._translate(error) from error
        finally:
            response.close()

    def _ended(self) -> bool:
        return self._closed.is_set() or (self._stop is not None and self._stop.is_set())


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = bytearray()
    for chunk in _chunks(response):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            rest += chunk[start:end]
            if rest:
                yield bytes(rest)
                rest.clear()
            start = end + 1
        rest += chunk[start:]
        if len(rest) > MAX_LINE:
            raise Unreachable(f"an event of more than {MAX_LINE:,} bytes came")
    if rest.strip():
        yield bytes(rest)


def _chunks(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """Bytes as they arrive, never waiting for a buffer to fill."""
    if response.chunked if isinstance(response, urllib3.HTTPResponse) else False:
        yield from response.read_chunked(decode_content=True)
    else:
        while chunk := response.read1(65536, decode_content=True):
            yield chunk


def _event(line: bytes) -> RawEvent:
    try:
        raw = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Unreachable("the stream broke in the middle of an event") from None
    kind = raw.get("type") if isinstance(raw, dict) else None
    found = raw.get("object") if isinstance(raw, dict) else None
    if not isinstance(kind, str) or not isinstance(found, dict):
        raise Unreachable("the server sent something that is not a watch event")
    if kind == "ERROR":
        raise from_status(found)
    return RawEvent(kind, found)


class Ended(Exception):  # noqa: N818 (a signal like StopIteration, not an error)
    """The iterator of a :class:`Reader` is exhausted."""


class Reader[T]:
    """Reads ``source`` in a daemon thread, at most ``size`` items ahead.

    ``read`` hands the items over in order; what the source raises is raised
    there after them. ``close`` never waits: a source with a ``close`` method is
    woken with it, any other is left alone after its current item.
    """

    def __init__(self, source: Iterator[T], *, name: str, size: int = 1000) -> None:
        self._source = source
        self._queue: queue.Queue[_Item[T] | _End] = queue.Queue(size)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def read(self, timeout: float) -> T | None:
        """The next item; None when none came in ``timeout`` seconds.

        Raises :class:`Ended` after the last item, or the error of the source.
        """
        try:
            item = (
                self._queue.get(timeout=timeout)
                if timeout > 0
                else self._queue.get_nowait()
            )
        except queue.Empty:
            return None
        if isinstance(item, _Item):
            return item.value
        # Whoever asks again gets the same answer.
        self._queue.put(item)
        raise item.error if item.error is not None else Ended

    def close(self) -> None:
        self._closed.set()
        self._close_source()

    def _close_source(self) -> None:
        if isinstance(self._source, WatchStream):
            self._source.close()

    def _run(self) -> None:
        end = _End(None)
        try:
            for value in self._source:
                if not self._put(_Item(value)):
                    break
        # Whatever it is, it is raised in the thread that reads.
        except Exception as error:
            end = _End(error)
        self._close_source()
        self._put(end)

    def _put(self, item: _Item[T] | _End) -> bool:
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._queue.put(item, timeout=0.5)
                return True
        return False


@dataclass(frozen=True, slots=True)
class _Item[T]:
    value: T


@dataclass(frozen=True, slots=True)
class _End:
    error: Exception | None
