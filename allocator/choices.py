"""Words of runs as a person says them (docs/architecture.md, "Runs")."""

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


class RunKind(models.TextChoices):
    ALLOCATE = "allocate", "allocate"
    DEALLOCATE = "deallocate", "deallocate"
    REWRITE = "rewrite", "rewrite"
    """Take an allocation away and write it again as it was, so that a scheduler counts it."""


class NodePolicy(models.TextChoices):
    """Of several nodes on which a claim fits, which one it gets."""

    FIRST = "first", "first by name"
    SPREAD = "spread", "spread: fewest devices in use"
    PACK = "pack", "pack: most devices in use"


class RepairAction(models.TextChoices):
    """What somebody does about a device that is booked twice."""

    QUARANTINE = "quarantine", "quarantine"
    KEEP = "keep", "decide who keeps it"
    RELEASE = "release", "release"
    REWRITE = "rewrite", "rewrite"
    PUT_BACK = "put back", "put back"
    RESTARTED = "restarted", "schedulers restarted"
    WAIT = "wait", "wait"
    LIFT = "lift", "lift the quarantine"


BY_WORKERS = frozenset({RepairAction.QUARANTINE, RepairAction.LIFT})
"""Steps that a worker does itself; the others are runs, or done by being recorded. A step
that has lost its run is none of these."""


class StepState(models.TextChoices):
    ASKED = "asked", "asked for"
    DONE = "done", "done"
    FAILED = "failed", "failed"


class WhatIfState(models.TextChoices):
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    DONE = "done", "done"
    CANCELLED = "cancelled", "cancelled"
    FAILED = "failed", "failed"


OPEN_WHAT_IFS = frozenset({WhatIfState.QUEUED, WhatIfState.RUNNING})
