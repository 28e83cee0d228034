"""Telling the workers that a step of a repair waits for them."""

from __future__ import annotations

from typing import Final

import structlog

from allocator.services.queueing import QueueError, send

TASK: Final = "allocator.tasks.repair_step"

log = structlog.get_logger("allocator.repairs")


def tell_workers(step_id: int) -> bool:
    """Whether the queue took it; what it did not take, the periodic sweep finds."""
    try:
        send(TASK, step_id)
    except QueueError as error:
        log.warning("repair.not_enqueued", step=step_id, error=str(error))
        return False
    return True
