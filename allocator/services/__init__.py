"""Everything that changes a run (``running`` has its way), and why claims wait."""

from __future__ import annotations

from allocator.services.leases import RunBusyError
from allocator.services.running import execute_run
from allocator.services.starting import RunRefused, cancel_run, start_run
from allocator.services.states import RunMovedError
from allocator.services.sweeping import sweep_runs
from allocator.services.waiting import explain_waiting

__all__ = [
    "RunBusyError",
    "RunMovedError",
    "RunRefused",
    "cancel_run",
    "execute_run",
    "explain_waiting",
    "start_run",
    "sweep_runs",
]
