"""The one way in which a run changes its state.

A change is an update that expects the state the caller believes in; the row count
says whether it was still so (somebody may have cancelled the run, or another worker
may have taken it over). The transition's record is in the same transaction.
"""

from __future__ import annotations

from typing import Any

import structlog
from django.db import transaction
from django.utils import timezone

from allocator.choices import FINAL, RunState
from allocator.models import AllocationRun, RunTransition

log = structlog.get_logger("allocator.runs")


class RunMovedError(Exception):
    """The run is not in the state, or no longer with the worker, that we thought."""


def move(
    run: AllocationRun,
    to: RunState,
    *,
    actor: str,
    reason: str = "",
    details: dict[str, Any] | None = None,
    **changes: Any,
) -> None:
    """Bring ``run`` from the state it is in (as loaded) to ``to``, all or nothing.

    ``changes`` are further columns; ``run`` gets them too. A final state gets the
    time and ``reason`` as the run's own. Raises RunMovedError when the row is not as
    ``run`` says.
    """
    came_from = run.state
    if to in FINAL:
        changes |= {
            "finished_at": timezone.now(),
            "reason": reason,
            "worker": "",
            "lease_until": None,
        }
    changes["state"] = to
    with transaction.atomic():
        moved = AllocationRun.objects.filter(
            pk=run.pk, state=came_from, worker=run.worker
        ).update(**changes)
        if not moved:
            raise RunMovedError(f"run {run.pk} is no longer {came_from}")
        RunTransition.objects.create(
            run=run,
            from_state=came_from,
            to_state=to,
            actor=actor,
            reason=reason,
            details=details or {},
        )
    for name, value in changes.items():
        setattr(run, name, value)
    log.info(
        "run.moved",
        run=str(run.pk),
        from_state=str(came_from),
        to_state=str(to),
        reason=reason,
    )
