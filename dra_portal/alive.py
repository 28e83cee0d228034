"""Signs of life of processes without an address: a file that each of them touches.

A container's health check looks at the file's age, which costs nothing; asking a
worker over the broker would start Django every few seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

import structlog
from celery import bootsteps
from django.conf import settings

log = structlog.get_logger("dra_portal.alive")

Process = Literal["watch", "worker", "beat"]
SECONDS: Final = 10.0
"""At least so often while all is well."""


def path_of(process: Process) -> Path:
    return Path(settings.VAR_DIR) / f"{process}.alive"


def touch(process: Process) -> None:
    """Say that this process goes on. Never raises: a full disk must not stop it."""
    path = path_of(process)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        log.warning("alive.not_told", path=str(path), reason=str(error))


class WorkerAlive(bootsteps.StartStopStep):
    """Touches the file while the worker is connected and its loop turns."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, parent: Any) -> None:
        # Anew after each loss of the broker: the timer is emptied then.
        touch("worker")
        parent.timer.call_repeatedly(SECONDS, touch, ("worker",))
