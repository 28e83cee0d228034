"""Celery tasks of findings: each calls one service, and that is all."""

from __future__ import annotations

from celery import shared_task

from allocator.findings import passing
from allocator.findings.nudging import TASK


@shared_task(name=TASK, acks_late=False, max_retries=0)
def update_findings(cluster_id: int) -> int:
    """Look for what is wrong in a cluster. A lost task is asked for again."""
    return passing.update_findings(cluster_id)
