"""Celery tasks of what-ifs and headroom: each calls one service, and that is all."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import worker_ready

from allocator.whatif.headroom import sample_headroom as sampled
from allocator.whatif.queueing import TASK
from allocator.whatif.running import execute_what_if, prune_what_ifs
from allocator.whatif.running import sweep_what_ifs as swept


@shared_task(name=TASK, acks_late=True, max_retries=0)
def run_what_if(run_id: str) -> None:
    """Answer one what-if. Delivered twice it is answered once: the row has a lease."""
    execute_what_if(UUID(run_id))


@shared_task(name="allocator.tasks.sweep_what_ifs")
def sweep_what_ifs() -> int:
    """Take up what lost its worker, forget what is old. Meant for every minute or so."""
    prune_what_ifs()
    return swept()


@shared_task(name="allocator.tasks.sample_headroom")
def sample_headroom() -> int:
    """How many more of each shape fit, for the charts. Meant for every few minutes."""
    return sampled()


@worker_ready.connect
def sweep_at_start(**_: Any) -> None:
    """The queue may have been lost with the last worker."""
    sweep_what_ifs.delay()
