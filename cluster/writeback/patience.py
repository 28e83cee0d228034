"""How often a writer tries what only another try can settle."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from cluster.errors import ApiError, Gone, ServerError, TooManyRequests, Unreachable

PASSING: Final = (ServerError, TooManyRequests, Unreachable, Gone)
"""Errors after which the same thing may succeed: the server was busy, failed or was
not heard, or a list became too old between two pages."""


_MANY: Final = 1000
_DOUBLINGS: Final = 10


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a writer tries; the pauses between (seconds) double up to ``longest``.

    ``seconds``: the time since the first failure after which it does not try again.
    """

    attempts: int = 5
    delay: float = 0.2
    longest: float = 5.0
    sleep: Callable[[float], None] = time.sleep
    seconds: float = float("inf")

    @classmethod
    def lasting(cls, seconds: float) -> Patience:
        """As often as that takes ``seconds``, and once more."""
        return cls(attempts=_MANY, seconds=seconds)

    @property
    def worn(self) -> Patience:
        """What is left where the whole of it was in vain already."""
        return replace(self, attempts=min(self.attempts, 2))

    def waits(self) -> Iterator[float]:
        """One pause fewer than there are attempts; the time begins with the first."""
        end = time.monotonic() + self.seconds
        for n in range(self.attempts - 1):
            if time.monotonic() >= end:
                return
            yield min(self.delay * 2 ** min(n, _DOUBLINGS), self.longest)

    def pause(self, wait: float, error: ApiError | Unreachable) -> None:
        """Wait, or as long as the server asked for, though never without bound."""
        asked = error.retry_after if isinstance(error, ApiError) else None
        self.sleep(min(max(wait, float(asked or 0)), self.longest))

    def settle[T](
        self,
        attempt: Callable[[], T],
        *,
        also: tuple[type[ApiError], ...] = (),
        beat: Callable[[], None] = lambda: None,
    ) -> T:
        """What ``attempt`` returns at last.

        It is called again after one of :data:`PASSING` (and ``also``), so it must begin
        with a look: a write whose answer was lost may have happened. ``beat`` is called
        before each further attempt, and ends them by raising. Raises the last error.
        """
        waits = self.waits()
        passing: tuple[type[ApiError | Unreachable], ...] = (*PASSING, *also)
        while True:
            try:
                return attempt()
            except passing as error:
                if (wait := next(waits, None)) is None:
                    raise
                self.pause(wait, error)
                beat()
