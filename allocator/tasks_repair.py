"""Celery tasks of repairs: each carries an id, calls one function, and that is all."""

from __future__ import annotations

from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from allocator.repairs import doing
from allocator.repairs.telling import TASK


@shared_task(name=TASK, acks_late=True, max_retries=0)
def repair_step(step_id: int) -> bool:
    """Put a quarantine on, or take it off."""
    return doing.do_step(step_id)


@shared_task(name="allocator.tasks.sweep_repairs")
def sweep_repairs() -> int:
    """Tell workers again of steps whose task was lost."""
    return doing.sweep_steps()


@worker_ready.connect
def sweep_repairs_at_start(**_: Any) -> None:
    """The queue may have been lost."""
    sweep_repairs.delay()
