"""Asks the workers to look for what is wrong, after the mirror has changed."""

from __future__ import annotations

import time
from typing import Final

import structlog
from django.conf import settings

from allocator.findings.passing import due
from allocator.models import FindingPass
from allocator.services.queueing import QueueError, send
from inventory.queries.leaving import followed

log = structlog.get_logger("allocator.findings")

TASK: Final = "allocator.tasks.update_findings"

_REST: Final = 60.0
"""Seconds until a queue that was away is tried again: trying may take seconds."""
_PATIENCE: Final = 15.0
"""Seconds until a task that nobody took is asked for again."""


class FindingNudge:
    """At most one task per cluster every ``settings.FINDINGS_EVERY`` seconds."""

    def __init__(self) -> None:
        self._asked: dict[int, tuple[float, object]] = {}
        self._not_before = float("-inf")

    def step(self) -> None:
        """Enqueue what is due. A queue that is away is left alone for a minute."""
        now = time.monotonic()
        if now < self._not_before:
            return
        for cluster_id, ended_at in behind():
            at, before = self._asked.get(cluster_id, (float("-inf"), None))
            wait = settings.FINDINGS_EVERY if ended_at != before else _PATIENCE
            if now - at < wait:
                continue
            self._asked[cluster_id] = (now, ended_at)
            try:
                send(TASK, cluster_id, again=False, expires=_PATIENCE)
            except QueueError as error:
                log.warning("findings.queue_away", reason=str(error))
                self._not_before = time.monotonic() + _REST
                return


def behind() -> list[tuple[int, object]]:
    """Clusters that a look is due for, each with the end of the last one."""
    passes = FindingPass.objects.filter(cluster__left_at=None)
    found: list[tuple[int, object]] = list(due(passes).values_list("pk", "ended_at"))
    never = followed().filter(seq__gt=0).exclude(pk__in=passes.values("pk"))
    return found + [(pk, None) for pk in never.values_list("pk", flat=True)]
