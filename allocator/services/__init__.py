"""Everything that changes a run. See ``running`` for a run's way through its states."""

from __future__ import annotations

from allocator.services.leases import RunBusyError
from allocator.services.running import execute_run
from allocator.services.starting import RunRefused, cancel_run, start_run
from allocator.services.states import RunMovedError
from allocator.services.sweeping import sweep_runs

__all__ = [
    "RunBusyError",
    "RunMovedError",
    "RunRefused",
    "cancel_run",
    "execute_run",
    "start_run",
    "sweep_runs",
]
