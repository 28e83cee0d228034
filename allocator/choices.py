"""States of a run as a person says them (docs/architecture.md, "Runs")."""

from __future__ import annotations

from django.db import models


class RunState(models.TextChoices):
    QUEUED = "queued", "queued"
    PLANNING = "planning", "planning"
    WRITING = "writing", "writing"
    VERIFYING = "verifying", "verifying"
    DONE = "done", "done"
    NO_FIT = "no fit", "does not fit"
    CONFLICT = "conflict", "conflict"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


FINAL = frozenset(
    {
        RunState.DONE,
        RunState.NO_FIT,
        RunState.CONFLICT,
        RunState.FAILED,
        RunState.CANCELLED,
    }
)
OPEN = frozenset(set(RunState) - FINAL)
"""States in which somebody still has to do something."""
