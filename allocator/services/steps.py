"""The requests of a run, each recorded before it is sent, and the way to stop them.

Whoever wants a writing run stopped sets ``stop_asked``; the worker sets ``committed``
ahead of the request that cannot be undone. Each is one update that goes by the other:
of the two, the first wins, and the second learns of it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from allocator.choices import RunState
from allocator.models import AllocationRun, RunStep
from allocator.services import leases
from allocator.services.states import RunMovedError
from cluster.writeback import Request, Step

FINAL_STEPS: Final = frozenset({Step.STATUS, Step.PIN, Step.RELEASE, Step.CLEARED})
"""Before them, what a writer did is taken away without a trace."""


class StopAskedError(Exception):
    """Somebody wants the run stopped; nothing final has been sent."""


def any_sent(run: AllocationRun) -> bool:
    """Whether a request of this attempt was, or may have been, sent."""
    return RunStep.objects.filter(run=run, attempt=run.attempts).exists()


def record(run: AllocationRun, step: Step, request: Request) -> None:
    """Keep the run, and note what is about to be sent.

    Raises StopAskedError, and RunMovedError when the run is not ours now.
    """
    final = step in FINAL_STEPS
    with transaction.atomic():
        _hold(run, committed=final)
        RunStep.objects.create(
            run=run, attempt=run.attempts, step=step, request=request.as_json()
        )


def alive(run: AllocationRun) -> None:
    """Keep the run for another while. Raises as :func:`record`."""
    _hold(run, committed=False)


def ask_to_stop(run: AllocationRun, asked_by: str) -> bool:
    """Whether the run, which is writing, will be stopped."""
    return bool(
        AllocationRun.objects.filter(
            pk=run.pk, state=RunState.WRITING, committed=False
        ).update(stop_asked=asked_by)
    )


def waited_too_long(run: AllocationRun) -> bool:
    """Whether the plan has been waiting longer than one may for a pool."""
    planned = run.transitions.filter(to_state=RunState.WRITING).order_by("pk").last()
    longest = timedelta(seconds=settings.RUN_LOCK_SECONDS)
    return planned is not None and timezone.now() - planned.at > longest


def _hold(run: AllocationRun, *, committed: bool) -> None:
    changes: dict[str, Any] = {"committed": True} if committed else {}
    kept = AllocationRun.objects.filter(
        Q(committed=True) | Q(stop_asked=""),
        pk=run.pk,
        worker=run.worker,
        state=run.state,
    ).update(**changes, lease_until=leases.until())
    if not kept:
        _why_not(run)
    for name, value in changes.items():
        setattr(run, name, value)


def _why_not(run: AllocationRun) -> None:
    row = AllocationRun.objects.filter(
        pk=run.pk, worker=run.worker, state=run.state
    ).first()
    if row is None or not row.stop_asked:
        raise RunMovedError(f"run {run.pk} is with somebody else or was cancelled")
    run.stop_asked = row.stop_asked
    raise StopAskedError
