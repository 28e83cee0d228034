"""Asks the workers why pending claims wait, after the mirror has changed."""

from __future__ import annotations

import time
from typing import Final

import structlog
from django.conf import settings
from django.db.models import F, Q
from django.db.models.functions import Now

from allocator.models import WaitingPass
from allocator.services.queueing import QueueError, enqueue_waiting
from inventory.queries.leaving import followed

log = structlog.get_logger("dra_portal.watch")

_REST: Final = 60.0
"""Seconds until a queue that was away is tried again: trying may take seconds."""


class ReasonNudge:
    """At most one task per cluster every ``settings.WAITING_EVERY`` seconds."""

    def __init__(self) -> None:
        self._asked: dict[int, float] = {}
        self._not_before = float("-inf")

    def step(self) -> None:
        """Enqueue what is due. A queue that is away is left alone for a minute."""
        now = time.monotonic()
        if now < self._not_before:
            return
        every = settings.WAITING_EVERY
        for cluster_id in self.behind():
            if now - self._asked.get(cluster_id, float("-inf")) < every:
                continue
            self._asked[cluster_id] = now
            try:
                enqueue_waiting(cluster_id, expires=max(30.0, 4.0 * every))
            except QueueError as error:
                log.warning("waiting.queue_away", reason=str(error))
                self._not_before = time.monotonic() + _REST
                return

    def behind(self) -> list[int]:
        """Clusters that changed since their reasons were worked out; one query."""
        passes = WaitingPass.objects.all()
        busy = Q(busy_until__gt=Now())
        current = passes.filter(busy | Q(open=0, seq=F("cluster__seq")))
        others = followed().exclude(pk__in=current.values("cluster"))
        return list(others.filter(seq__gt=0).values_list("pk", flat=True))
