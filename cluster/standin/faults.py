"""What can be made to go wrong, and for how many requests."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Final, Protocol

STATUSES: Final = (429, 500, 503, 504)
REFUSALS: Final = (403, 404, 409, 410, 422)
"""What else can be planned for one request."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What becomes of one request; ``status`` 0 breaks the connection.

    ``after``: the request is carried out first, and only its answer is lost.
    """

    status: int = 0
    after: bool = False


class Server(Protocol):
    """What faults need of the server they belong to."""

    def cut_streams(self, *, clean: bool) -> int: ...
    def expire_history(self) -> None: ...
    def refuse_connections(self) -> None: ...
    def accept_connections(self) -> None: ...
    def drop_connections(self) -> None: ...


class Faults:
    """Faults to come. Requests on ``/standin/`` and health checks are spared.

    ``latency``: seconds before every answer. Everything else happens once or for
    a number of requests and is then over.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._statuses: deque[int] = deque()
        self._after: deque[int] = deque()
        self._drops = 0
        self._planned: dict[int, Fault] = {}
        self.requests = 0
        """Requests that came, health checks and ``/standin/`` not counted."""
        self.latency = 0.0
        self.retry_after = 1
        """Seconds in the Retry-After header of a 429."""

    def answer(self, status: int, *, times: int = 1) -> None:
        """The next ``times`` requests are answered with this status, and not done."""
        if status not in STATUSES:
            raise ValueError(f"{status} is none of {STATUSES}")
        with self._lock:
            self._statuses.extend([status] * times)

    def drop(self, *, times: int = 1) -> None:
        """The next ``times`` requests lose their connection, and are not done."""
        with self._lock:
            self._drops += times

    def drop_after_write(self, *, times: int = 1) -> None:
        """The next ``times`` writes are done, and lose the connection unanswered."""
        with self._lock:
            self._after.extend([0] * times)

    def answer_after_write(self, status: int, *, times: int = 1) -> None:
        """The next ``times`` writes are done, and answered with this status."""
        if status not in STATUSES:
            raise ValueError(f"{status} is none of {STATUSES}")
        with self._lock:
            self._after.extend([status] * times)

    def plan(self, fault: Fault, *, position: int = 1) -> None:
        """Let ``fault`` happen to one request, counted from now, reads included."""
        if fault.status not in (0, *STATUSES, *REFUSALS):
            raise ValueError(f"{fault.status} is none of {(*STATUSES, *REFUSALS)}")
        with self._lock:
            self._planned[self.requests + position] = fault

    def cut_streams(self, *, clean: bool = True) -> int:
        """End all watches now, with or without the last chunk; how many ended."""
        return self._server.cut_streams(clean=clean)

    def expire_history(self) -> None:
        """Watches and continue tokens from before now get 410."""
        self._server.expire_history()

    def refuse_connections(self) -> None:
        """Drop every connection and refuse new ones until accepted again."""
        self._server.refuse_connections()

    def accept_connections(self) -> None:
        self._server.accept_connections()

    def drop_connections(self) -> None:
        """Break every open connection now; new ones are accepted."""
        self._server.drop_connections()

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        with self._lock:
            self._statuses.clear()
            self._after.clear()
            self._planned.clear()
            self._drops = 0
        self.latency = 0.0
        self._server.accept_connections()

    # --- asked by the server ----------------------------------------------

    def count(self) -> Fault | None:
        """Call once per request: the fault that was planned for it."""
        with self._lock:
            self.requests += 1
            return self._planned.pop(self.requests, None)

    def next_drop(self) -> bool:
        with self._lock:
            if not self._drops:
                return False
            self._drops -= 1
            return True

    def next_status(self) -> int | None:
        return self._next(self._statuses)

    def next_after_write(self) -> int | None:
        """A status, or 0 to drop the connection, or None."""
        return self._next(self._after)

    def _next(self, waiting: deque[int]) -> int | None:
        with self._lock:
            return waiting.popleft() if waiting else None
