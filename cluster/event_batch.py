"""Events of a watch that wait to be handed to the store together."""

from __future__ import annotations

from dataclasses import dataclass, field

from cluster.backoff import Clock
from cluster.store import Event


@dataclass(slots=True)
class EventBatch:
    """At most ``size`` events, due ``seconds`` after the first of them."""

    size: int
    seconds: float
    clock: Clock
    events: list[Event] = field(default_factory=list)
    version: str = ""
    """Of the newest event."""
    began: float = 0.0

    def add(self, event: Event, version: str) -> None:
        if not self.events:
            self.began = self.clock()
        self.events.append(event)
        self.version = version

    def clear(self) -> None:
        # A new list: the store may have kept the old one.
        self.events = []

    def patience(self, idle: float = 0.0) -> float:
        """Seconds to wait for the next event; ``idle`` while there is none."""
        if not self.events:
            return idle
        return max(0.0, self.began + self.seconds - self.clock())

    def due(self) -> bool:
        return bool(self.events) and (
            len(self.events) >= self.size or self.patience() <= 0
        )
