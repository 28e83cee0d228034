"""Which request asked for a run: its id leads through the logs of every process.

A task carries it too, but a run that a sweep or the next worker goes on with came by
another task.
"""

from __future__ import annotations

from uuid import UUID

import structlog

from allocator.models import RunTransition

_KEY = "request_id"


def asking() -> dict[str, str]:
    """Of the request that is being answered, for the details of a first transition."""
    found = structlog.contextvars.get_contextvars().get(_KEY)
    return {_KEY: str(found)} if found else {}


def asked_by(run_id: UUID) -> dict[str, str]:
    """As :func:`asking` gave it when the run was asked for; one query."""
    first = RunTransition.objects.filter(run=run_id).order_by("id")
    details = first.values_list("details", flat=True).first() or {}
    return {_KEY: str(details[_KEY])} if details.get(_KEY) else {}


def for_logs(run_id: UUID) -> dict[str, str]:
    """What to bind for a run's lines; no query where the task brought the id."""
    return asking() or asked_by(run_id)
