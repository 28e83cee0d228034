"""Celery tasks of use over time: each calls one service, and that is all."""

from __future__ import annotations

from celery import shared_task

from allocator import sampling
from inventory.history import happenings, rolling


@shared_task(name="allocator.tasks.sample_usage")
def sample_usage() -> int:
    """Count devices by state, for the charts. Meant for every minute."""
    return sampling.sample_usage()


@shared_task(name="allocator.tasks.prune_usage")
def prune_usage() -> int:
    """Sum up hours and days, forget what is old. Meant for every hour."""
    return rolling.prune_usage() + happenings.prune_happenings()
