"""One line for each task of a worker, with the id of the request that asked for it."""

from __future__ import annotations

import time
from typing import Any, Final

import structlog
from celery.signals import (
    before_task_publish,
    task_postrun,
    task_prerun,
    task_revoked,
)

from web import metrics

log = structlog.get_logger("dra_portal.tasks")

HEADER: Final = "dra_portal_request_id"
_BEGAN: Final = "_dra_portal_began"


@before_task_publish.connect(dispatch_uid="dra_portal.give_request_id")
def give_request_id(headers: dict[str, Any] | None = None, **_: Any) -> None:
    """The id of the request that is being answered goes along with the task."""
    asked = structlog.contextvars.get_contextvars().get("request_id")
    if asked and headers is not None:
        headers.setdefault(HEADER, asked)


@task_prerun.connect(dispatch_uid="dra_portal.begin_task_log")
def begin(task_id: str, task: Any, **_: Any) -> None:
    """What is logged until the end of the task carries its ids."""
    setattr(task.request, _BEGAN, time.monotonic())
    structlog.contextvars.bind_contextvars(task_id=task_id)
    if asked := getattr(task.request, HEADER, None):
        structlog.contextvars.bind_contextvars(request_id=asked)


@task_postrun.connect(dispatch_uid="dra_portal.end_task_log")
def end(task: Any, state: str | None = None, **_: Any) -> None:
    began = getattr(task.request, _BEGAN, None)
    seconds = time.monotonic() - began if began is not None else 0.0
    outcome = (state or "unknown").lower()
    metrics.TASK_SECONDS.labels(task.name, outcome).observe(seconds)
    log.info("task.done", task=task.name, outcome=outcome, seconds=round(seconds, 4))
    structlog.contextvars.unbind_contextvars("task_id", "request_id")


@task_revoked.connect(dispatch_uid="dra_portal.revoked_task_log")
def revoked(request: Any, expired: bool | None = None, **_: Any) -> None:
    """Nobody took it in time, so its successor does its work."""
    log.info("task.dropped", task=request.task, expired=bool(expired))
