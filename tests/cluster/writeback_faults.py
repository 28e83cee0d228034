"""Every fault at every request of a write, one after the other.

``count`` runs the write once, undisturbed, to learn how many requests it takes;
``each`` then makes one fault happen to each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from cluster.standin.faults import Fault
from cluster.standin.server import StandinServer
from cluster.writeback import Request, Step

FAULTS: Final = {
    "refused with 429": Fault(429),
    "refused with 500": Fault(500),
    "connection lost before": Fault(0),
    "done and answered with 504": Fault(504, after=True),
    "done and connection lost": Fault(0, after=True),
}
REFUSALS: Final = {str(status): Fault(status) for status in (403, 404, 409, 410, 422)}
"""Answers after which a writer may give up, but in good order."""


class DiedError(BaseException):
    """Stands for kill -9: nothing of ours may catch it."""


@dataclass
class Death:
    """Dies ahead of the request with this number, counted over all calls."""

    at: int
    seen: int = 0

    def __call__(self, _step: Step, _request: Request) -> None:
        self.seen += 1
        if self.seen == self.at:
            raise DiedError


def requests_of(server: StandinServer, act: Callable[[], object]) -> int:
    """How many requests ``act`` sends, reads included."""
    before = server.faults.requests
    act()
    return server.faults.requests - before


def positions(count: int) -> Iterator[int]:
    """Each request, and two more: a fault leads to others."""
    return iter(range(1, count + 3))
