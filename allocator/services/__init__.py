"""Everything that changes a run (``running`` has its way), and why claims wait."""

from __future__ import annotations

from allocator.services.batches import MOST_CLAIMS, Started, plan_batch, start_batch
from allocator.services.cleaning import sweep_leftovers
from allocator.services.leases import RunBusyError
from allocator.services.pruning import prune_runs
from allocator.services.rules import follow_rules, set_rule
from allocator.services.running import execute_run
from allocator.services.starting import (
    RunRefused,
    cancel_run,
    retry_run,
    start_release,
    start_rewriting,
    start_run,
)
from allocator.services.states import RunMovedError
from allocator.services.sweeping import sweep_runs
from allocator.services.waiting import explain_waiting

__all__ = [
    "MOST_CLAIMS",
    "RunBusyError",
    "RunMovedError",
    "RunRefused",
    "Started",
    "cancel_run",
    "execute_run",
    "explain_waiting",
    "follow_rules",
    "plan_batch",
    "prune_runs",
    "retry_run",
    "set_rule",
    "start_batch",
    "start_release",
    "start_rewriting",
    "start_run",
    "sweep_leftovers",
    "sweep_runs",
]
