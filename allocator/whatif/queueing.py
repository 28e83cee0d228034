"""Telling the workers about what-ifs. A task carries an id and nothing else."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from allocator.services.queueing import send

TASK: Final = "allocator.tasks.run_what_if"


def enqueue_what_if(run_id: UUID) -> None:
    """Have a worker answer the run. Raises QueueError."""
    send(TASK, str(run_id))
